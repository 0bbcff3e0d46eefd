// analyze_energy.tsx - energy: of ranks, kinds of kernels and steps.

import { useMemo } from 'preact/hooks';
import type { Finding, Table } from '../source/contract';
import type { App } from '../state/app';
import { percent, si, time } from '../text/format';
import { plain } from '../text/label';
import { Chart } from '../ui/chart';
import { Verdict } from '../ui/findings';
import { Grid } from '../ui/grid';
import { cell } from '../ui/kit';
import { useSheet } from '../ui/load';
import { Card, Overview, Power, Sheets, TOOL, joules, num, pick, rows, share, worst } from './analyze_parts';
import { selectStep } from './analyze_steps';

/* Kernels added up by what they do. */
function byKind(t: Table): Table {
	const sums = new Map<string, { calls: number; total: number; energy: number | null }>();

	for (const r of rows(t)) {
		const kind = String(cell(t, r, 'kind')),
			s = sums.get(kind) ?? { calls: 0, total: 0, energy: null };

		s.calls += num(t, r, 'calls');
		s.total += num(t, r, 'total');
		if (cell(t, r, 'energy') !== null) s.energy = (s.energy ?? 0) + num(t, r, 'energy');
		sums.set(kind, s);
	}
	const all = [...sums.values()];

	return {
		columns: [
			{ key: 'kind', title: 'Kind', type: 'text' },
			{ key: 'energy', title: 'Energy', type: 'number', unit: 'J' },
			{
				key: 'power',
				title: 'Power',
				type: 'number',
				unit: 'W',
				hint: 'mean while such a kernel runs',
			},
			{ key: 'total', title: 'Total', type: 'time' },
			{ key: 'calls', title: 'Calls', type: 'count' },
		],
		data: [
			[...sums.keys()],
			all.map(s => s.energy),
			all.map(s => (s.energy !== null && s.total > 0 ? (s.energy / s.total) * 1e9 : null)),
			all.map(s => s.total),
			all.map(s => s.calls),
		],
		rows: all.length,
	};
}

function energyVerdict(o: Overview, t: Table, kernels: Table | null): Finding {
	const inKernels = rows(t).reduce((s, r) => s + num(t, r, 'compute'), 0),
		known = kernels ? rows(kernels).filter(r => cell(kernels, r, 'energy') !== null) : [];
	const say = `The job used ${joules(o.energy)}, ${share(inKernels, o.energy ?? 0)} of it while kernels ran.`;

	if (!kernels || !known.length) return { tone: '', say, why: 'Of no kernel is it known by itself.' };
	const top = worst(kernels, known, 'energy'),
		name = plain(String(cell(kernels, top, 'name'))).slice(0, 120);

	return {
		tone: '',
		say,
		why: `${name} of rank ${num(kernels, top, 'rank')} used the most: ${joules(num(kernels, top, 'energy'))}, ${percent(num(kernels, top, 'energy_share'))} of its rank.`,
	};
}

function PowerChart({ p }: { p: Power }) {
	const greatest = p.ranks.reduce((m, r) => Math.max(m, ...r.watts), 0);

	return (
		<Card title="Power over time" hint="watts of each rank; a point is the mean of a stretch">
			<div class="body">
				<Chart
					label={`Power of ${p.ranks.length} ranks over time, at most ${si(greatest, 'W')}`}
					series={p.ranks.map(r => ({ label: `rank ${r.rank}`, counts: r.watts }))}
					low={p.begin}
					high={p.end}
					log={false}
					logCount={false}
					unit={v => time(v, 3)}
					times
					value={v => si(v, 'W', 3)}
				/>
			</div>
		</Card>
	);
}

function EnergyTables({ app, t }: { app: App; t: Table }) {
	const { value: steps } = useSheet<Table>(app, TOOL, 'steps'),
		{ value: kernels } = useSheet<Table>(app, TOOL, 'kernels'),
		kinds = useMemo(() => kernels && byKind(kernels), [kernels]);

	return (
		<div class="two">
			<Card title="Energy by rank" hint="the power counter summed over time">
				<Grid app={app} table={t} label="Energy by rank" file="energy" sort="energy" />
			</Card>
			{kinds && (
				<Card title="Energy by kind of kernel">
					<Grid app={app} table={kinds} label="Energy by kind" file="energy-kinds" sort="energy" />
				</Card>
			)}
			{steps && (
				<Card title="Energy by step" hint="double click: show it in the timeline">
					<Grid
						app={app}
						table={pick(steps, ['rank', 'step', 'energy', 'length', 'begin'])}
						label="Energy by step"
						file="energy-steps"
						sort="energy"
						onOpen={r => {
							selectStep(app, steps, r);
							app.tab.value = 'timeline';
						}}
					/>
				</Card>
			)}
			{kernels && (
				<Card title="Energy by kernel" hint="those that run at the same time are each charged all">
					<Grid
						app={app}
						table={pick(kernels, [
							'name',
							'rank',
							'energy',
							'energy_share',
							'power',
							'total',
							'calls',
						])}
						label="Energy by kernel"
						file="energy-kernels"
						sort="energy"
					/>
				</Card>
			)}
		</div>
	);
}

export function Energy({ app }: { app: App }) {
	const { value: t, error } = useSheet<Table>(app, TOOL, 'energy'),
		{ value: p } = useSheet<Power>(app, TOOL, 'power'),
		{ value: o } = useSheet<Overview>(app, TOOL, 'overview'),
		{ value: kernels } = useSheet<Table>(app, TOOL, 'kernels');

	return (
		<Sheets app={app} error={error} ready={!!t && !!o && !!p}>
			{() => (
				<>
					<Verdict app={app} finding={energyVerdict(o!, t!, kernels)} />
					{p!.ranks.length > 0 && <PowerChart p={p!} />}
					<EnergyTables app={app} t={t!} />
				</>
			)}
		</Sheets>
	);
}
