// analyze_steps.tsx - steps: how long each took and where it went; communication behind computation.

import { useMemo } from 'preact/hooks';
import type { Finding, Table } from '../source/contract';
import type { App } from '../state/app';
import { count, percent, time } from '../text/format';
import { Chart, type Series } from '../ui/chart';
import { Verdict } from '../ui/findings';
import { Grid, type Piece } from '../ui/grid';
import { cell, type TileProps } from '../ui/kit';
import { useSheet } from '../ui/load';
import {
	Card,
	type Overview,
	PARTS,
	PART_LEGEND,
	Sheets,
	TOOL,
	Tiles,
	most,
	num,
	partsOf,
	pick,
	rows,
	share,
	tracksOf,
	worst,
	UNEVEN,
	PART_KEYS,
	EXPOSED,
	PICTURE,
} from './analyze_parts';

const WORDS: Record<string, string> = {
	run: 'The whole run is one step: nothing in it repeats.',
	iterations: 'A step is one turn of the repeating sequence of kernels.',
	profiler: 'A step is a ProfilerStep.',
};

/* The step that takes the longest beyond what is usual for its rank. */
function worstStep(t: Table): Finding {
	const single = rows(t).filter(r => num(t, r, 'steps') === 1);
	const at = worst(t, single.length ? single : rows(t), 'over');
	const over = num(t, at, 'over'),
		length = num(t, at, 'length'),
		median = length - over,
		part = PARTS.reduce((a, b) => (num(t, at, b[0]) > num(t, at, a[0]) ? b : a));

	if (over <= 0)
		return {
			tone: '',
			say: `No step is longer than the median of its rank: ${time(median)}.`,
			why: `Most of a step is ${part[1]}: ${time(num(t, at, part[0]))}.`,
		};
	return {
		tone: over > UNEVEN * median ? 'warn' : '',
		say: `The slowest is step ${count(num(t, at, 'step'))} of rank ${num(t, at, 'rank')}: ${time(length)}, ${percent(over / median)} longer than the median of its rank.`,
		why: `The median is ${time(median)}. Most of this step is ${part[1]}: ${time(num(t, at, part[0]))}.`,
		range: [num(t, at, 'begin'), num(t, at, 'end')],
	};
}

/* Lengths by number of the step: of the slowest rank, the median one, the quickest. */
function lengths(t: Table): { high: number; series: Series[] } {
	const byStep = new Map<number, number[]>();
	let high = 0;

	for (const r of rows(t)) {
		const step = num(t, r, 'step'),
			of = byStep.get(step);

		if (of) of.push(num(t, r, 'length'));
		else byStep.set(step, [num(t, r, 'length')]);
		high = Math.max(high, step + num(t, r, 'steps'));
	}
	const sorted = [...byStep].sort((a, b) => a[0] - b[0]).map(([, v]) => v.sort((a, b) => b - a));
	const of = (label: string, nth: (v: number[]) => number): Series => ({
		label,
		counts: sorted.map(v => v[nth(v)]),
	});

	return {
		high,
		series: sorted.some(v => v.length > 1)
			? [
					of('slowest rank', () => 0),
					of('median rank', v => v.length >> 1),
					of('quickest rank', v => v.length - 1),
				]
			: [of('length', () => 0)],
	};
}

function StepsChart({ t }: { t: Table }) {
	const { high, series } = useMemo(() => lengths(t), [t]),
		n = series[0].counts.length;

	if (n < 2) return null;
	return (
		<Card title="Length of steps" hint="by number of the step">
			<div class="body">
				<Chart
					label={`Length of ${n} steps, at most ${time(Math.max(...series[0].counts))}`}
					series={series}
					low={-0.5} // a bar stands around its number
					high={high - 0.5}
					log={false}
					logCount={false}
					unit={v => (Number.isInteger(v) ? count(v) : '')}
					value={v => time(v, 3)}
					height={150}
				/>
			</div>
		</Card>
	);
}

const stepTiles = (o: Overview, ranks: Table): TileProps[] => [
	{
		title: 'Steps',
		value: count(most(ranks, 'steps')),
		say: `${count(o.ranks)} rank${o.ranks === 1 ? '' : 's'}, ${time(most(ranks, 'length'))} the longest`,
	},
	{ title: 'Median step', value: time(most(ranks, 'median')), say: 'of the slowest rank' },
	{ title: 'Longest step', value: time(most(ranks, 'max')), say: 'of all ranks' },
	{
		title: 'Computes',
		value: share(o.compute, o.length),
		say: `${time(o.compute)} of ${time(o.length)}, all ranks`,
	},
	{
		title: 'Exposed comm.',
		value: share(o.exposed, o.length),
		say: `${time(o.exposed)}: no kernel hides it`,
	},
	{ title: 'Idle', value: share(o.idle, o.length), say: `${time(o.idle)}: nothing goes on` },
];

/* Marks a step in the timeline, on the tracks of its rank. */
export function selectStep(app: App, t: Table, row: number): void {
	const t0 = num(t, row, 'begin'),
		t1 = num(t, row, 'end');

	app.setArea({ t0, t1, tracks: tracksOf(app, num(t, row, 'rank')) });
	app.show(t0 - (t1 - t0) * 0.1, t1 + (t1 - t0) * 0.1);
}

function StepGrid({ app, t }: { app: App; t: Table }) {
	const area = app.area.value,
		picture = useMemo(() => partsOf(t), [t]);
	const table = useMemo(() => {
		const bars = t.data[t.columns.findIndex(c => c.key === 'steps')].some(n => n !== 1);

		return pick(t, [
			'rank',
			'step',
			'length',
			'picture',
			...(bars ? ['steps'] : []),
			'over',
			...PART_KEYS,
			'energy',
			'begin',
		]);
	}, [t]);

	return (
		<Card
			title="Where each step went"
			hint="click: select it in the timeline; double click: go there"
			legend={PART_LEGEND}>
			<Grid
				app={app}
				table={table}
				label="Steps"
				file="steps"
				sort="length"
				picture={picture}
				selected={r =>
					!!area &&
					area.t0 === num(t, r, 'begin') &&
					area.t1 === num(t, r, 'end') &&
					(area.tracks?.[0] ?? -1) === (tracksOf(app, num(t, r, 'rank'))?.[0] ?? -1)
				}
				onPick={r => selectStep(app, t, r)}
				onOpen={r => {
					selectStep(app, t, r);
					app.tab.value = 'timeline';
				}}
			/>
		</Card>
	);
}

function RankGrid({ app, ranks }: { app: App; ranks: Table }) {
	const picture = useMemo(() => partsOf(ranks), [ranks]),
		table = useMemo(
			() =>
				pick(ranks, [
					'rank',
					'length',
					'median',
					'picture',
					...PART_KEYS,
					'steps',
					'mean',
					'min',
					'max',
					'begin',
					'source',
				]),
			[ranks],
		);

	return (
		<Card title="Ranks" hint="from the first work of each to its last" legend={PART_LEGEND}>
			<Grid
				app={app}
				table={table}
				label="Ranks"
				file="ranks"
				sort="length"
				picture={picture}
				onOpen={r => app.visit({ query: `rank:${num(ranks, r, 'rank')}` })}
			/>
		</Card>
	);
}

export function Steps({ app }: { app: App }) {
	const { value: t, error } = useSheet<Table>(app, TOOL, 'steps'),
		{ value: ranks } = useSheet<Table>(app, TOOL, 'ranks'),
		{ value: o } = useSheet<Overview>(app, TOOL, 'overview');

	return (
		<Sheets app={app} error={error} ready={!!t && !!ranks && !!o}>
			{() => (
				<>
					<Verdict app={app} finding={worstStep(t!)} />
					<Tiles of={stepTiles(o!, ranks!)} />
					<StepsChart t={t!} />
					<StepGrid app={app} t={t!} />
					<RankGrid app={app} ranks={ranks!} />
					<p class="muted">
						{WORDS[String(cell(ranks!, 0, 'source'))]} Every part is what no part before it
						covers, so the parts add up to the step. The last iteration ends with the last work of
						its rank and may be incomplete.
					</p>
				</>
			)}
		</Sheets>
	);
}

/* ---- overlap -------------------------------------------------------------------------------- */

const overlapVerdict = (o: Overview): Finding => ({
	tone: o.exposed >= EXPOSED * o.length ? 'warn' : '',
	say: `${share(o.exposed, o.length)} of the time is communication that no kernel hides.`,
	why: `${time(o.exposed)} of ${time(o.communication)} of communication is exposed, all ranks together; the rest costs nothing.`,
});

const overlapTiles = (o: Overview): TileProps[] => [
	{ title: 'Communication', value: time(o.communication), say: 'all ranks together' },
	{
		title: 'Exposed',
		value: time(o.exposed),
		say: `${share(o.exposed, o.length)} of the time of all ranks`,
		tone: o.exposed >= EXPOSED * o.length ? 'warn' : undefined,
	},
	{
		title: 'Hidden',
		value: share(o.communication - o.exposed, o.communication),
		say: 'of communication, behind kernels',
	},
	{ title: 'Transfer', value: time(o.transfer), say: 'host and device, not covered' },
];

export function Overlap({ app }: { app: App }) {
	const { value: t, error } = useSheet<Table>(app, TOOL, 'overlap'),
		{ value: o } = useSheet<Overview>(app, TOOL, 'overview');
	const longest = t ? Math.max(1, most(t, 'communication')) : 1;
	const picture = (r: number): Piece[] =>
		[
			['hidden', 'k2'],
			['exposed', 'k4'],
		].map(([key, colour]) => ({
			share: num(t!, r, key) / longest,
			colour,
			title: `${key} ${time(num(t!, r, key))}`,
		}));

	return (
		<Sheets app={app} error={error} ready={!!t && !!o}>
			{() => (
				<>
					<Verdict app={app} finding={overlapVerdict(o!)} />
					<Tiles of={overlapTiles(o!)} />
					<Card
						title="Communication behind computation"
						hint="while it is exposed, a rank computes nothing"
						legend={[
							['hidden', 'k2'],
							['exposed', 'k4'],
						]}>
						<Grid
							app={app}
							table={pick(
								t!,
								['rank', 'exposed', 'overlap', 'picture', 'hidden', 'communication', 'cost'],
								{ ...PICTURE, title: 'Hidden, exposed' },
							)}
							label="Overlap"
							file="overlap"
							sort="exposed"
							picture={picture}
							flag={(r, key) =>
								key === 'exposed' && num(t!, r, 'cost') >= EXPOSED
									? {
											tone: 'warn',
											why: `${percent(num(t!, r, 'cost'))} of the time of this rank: more than a tenth`,
										}
									: null
							}
							onOpen={r => app.visit({ query: `rank:${num(t!, r, 'rank')}` })}
						/>
					</Card>
				</>
			)}
		</Sheets>
	);
}
