// analyze_ranks.tsx - ranks against each other: who is late, and whose kernels take longer.

import { useMemo } from 'preact/hooks';
import type { Finding, Table } from '../source/contract';
import type { App } from '../state/app';
import { count, percent, time } from '../text/format';
import { plain } from '../text/label';
import { Verdict } from '../ui/findings';
import { Grid, type Piece } from '../ui/grid';
import { cell } from '../ui/kit';
import { useSheet } from '../ui/load';
import { Card, Late, SheetGrid, Sheets, TOOL, has, num, pick, rows, worst, PICTURE } from './analyze_parts';

/* ---- stragglers ----------------------------------------------------------------------------- */

function stragglersVerdict(t: Table): Finding {
	const late = rows(t).filter(r => cell(t, r, 'straggler') === 'yes'),
		last = worst(t, rows(t), 'coll_total'),
		several = late.length > 1;
	const coll = num(t, last, 'coll_last')
		? `Rank ${num(t, last, 'rank')} comes last in ${count(num(t, last, 'coll_last'))} of ${count(num(t, last, 'coll_seen'))} collectives, by ${time(num(t, last, 'coll_mean'))} on average.`
		: 'No rank comes late to a collective.';

	if (!late.length) return { tone: '', say: 'No rank is the slowest in most steps.', why: coll };
	return {
		tone: 'bad',
		say: `Rank${several ? 's' : ''} ${late.map(r => num(t, r, 'rank')).join(', ')} ${several ? 'make' : 'makes'} the others wait: ${time(num(t, late[0], 'excess'))} beyond the median rank in a step.`,
		why: `Slowest in ${count(num(t, late[0], 'step_last'))} of ${count(num(t, late[0], 'step_seen'))} steps. ${coll}`,
	};
}

/* How late a rank came, collective by collective: stronger is later. */
function heat(late: Late): (rank: number) => Piece[] {
	const latest = late.ranks.reduce((m, r) => r.late.reduce<number>((k, v) => Math.max(k, v ?? 0), m), 1),
		by = new Map(late.ranks.map(r => [r.rank, r.late]));

	return rank => {
		const of = by.get(rank) ?? [];

		return of.map((v, i) => ({
			share: 1 / of.length,
			colour: v === null ? '' : `q${Math.min(5, Math.ceil((v / latest) * 5))}`,
			title:
				v === null
					? 'took no part'
					: `${time(v)} after the first, ${i + 1} of ${of.length} in the order of time`,
		}));
	};
}

const STRAGGLER_KEYS =
	'coll_last coll_seen coll_max coll_total step_last step_seen step_mean step_max step_total'.split(' ');

export function Stragglers({ app }: { app: App }) {
	const { value: t, error } = useSheet<Table>(app, TOOL, 'stragglers'),
		{ value: late } = useSheet<Late>(app, TOOL, 'late');
	const pieces = useMemo(() => late && heat(late), [late]);
	const keys = [
		'rank',
		'excess',
		'coll_mean',
		...(late ? ['picture'] : []),
		'straggler',
		...STRAGGLER_KEYS,
	];

	return (
		<Sheets app={app} error={error} ready={!!t}>
			{() => (
				<>
					<Verdict app={app} finding={stragglersVerdict(t!)} />
					<Card
						title="Who is late, and by how much"
						hint={
							late
								? `stronger: later than the first rank; ${count(late.collectives)} collectives from left to right`
								: undefined
						}>
						<Grid
							app={app}
							table={pick(t!, keys, { ...PICTURE, title: 'Late over time' })}
							label="Stragglers"
							file="stragglers"
							sort="excess"
							picture={r => pieces?.(num(t!, r, 'rank')) ?? []}
							flag={(r, key) =>
								key === 'excess' && cell(t!, r, 'straggler') === 'yes'
									? {
											tone: 'bad',
											why: 'slowest in most steps, by more than the usual scatter: the others wait for it',
										}
									: null
							}
							onOpen={r => app.visit({ query: `rank:${num(t!, r, 'rank')}` })}
						/>
					</Card>
					{has(app, 'collectives') && (
						<Card
							title="Collectives"
							hint="the last one to come, against the median of the others">
							<SheetGrid
								app={app}
								name="collectives"
								label="Collectives"
								file="collectives"
								sort="late"
							/>
						</Card>
					)}
				</>
			)}
		</Sheets>
	);
}

/* ---- kernels -------------------------------------------------------------------------------- */

const KERNEL_KEYS =
	'name rank total share calls mean median min max stdev energy energy_share power kind'.split(' ');

function kernelsVerdict(t: Table): Finding {
	const top = worst(t, rows(t), 'total'),
		name = plain(String(cell(t, top, 'name'))).slice(0, 120);

	return {
		tone: '',
		say: `${name} of rank ${num(t, top, 'rank')} takes the most time: ${time(num(t, top, 'total'))}.`,
		why: `${percent(num(t, top, 'share'))} of the kernels of its rank; ${count(num(t, top, 'calls'))} calls of ${time(num(t, top, 'mean'))} on average, ${time(num(t, top, 'max'))} at most.`,
	};
}

export function Kernels({ app }: { app: App }) {
	const { value: t, error } = useSheet<Table>(app, TOOL, 'kernels');
	const table = useMemo(() => t && pick(t, KERNEL_KEYS), [t]);

	return (
		<Sheets app={app} error={error} ready={!!table}>
			{() => (
				<>
					<Verdict app={app} finding={kernelsVerdict(t!)} />
					{has(app, 'categories') && (
						<Card title="Categories" hint="of the compiler's log; Total is the sum of its rank">
							<SheetGrid
								app={app}
								name="categories"
								label="Categories"
								file="categories"
								sort="time"
							/>
						</Card>
					)}
					<section class="card tall" aria-label="Kernels by rank">
						<header>
							<h2>Kernels by rank</h2>
							<span class="muted">by name; a number in it is [N]</span>
						</header>
						<Grid app={app} table={table!} label="Kernels by rank" file="kernels" sort="total" />
					</section>
				</>
			)}
		</Sheets>
	);
}
