// analyze.tsx - tabs of `unitrace analyze`: where the time of a job on AIU devices went, who is late,
// what it cost in energy, and how much of that can be trusted. src/acelyzer/page_*.c write the sheets.

import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Cell, Column, Finding, Table } from '../source/contract';
import type { App } from '../state/app';
import { count, digits, number, percent, time } from '../text/format';
import { plain } from '../text/label';
import { Chart, type Series } from '../ui/chart';
import { Verdict } from '../ui/findings';
import { Grid, type GridProps, type Piece } from '../ui/grid';
import { cell, Pending, Tile, type TileProps } from '../ui/kit';
import { useSheet } from '../ui/load';
import { hasSheet, type Tab } from '../ui/tab';

const TOOL = 'analyze',
	UNEVEN = 0.2, // of the median: a step that is longer by more is worth a look
	EXPOSED = 0.1, // of the time; src/acelyzer/page_findings.c judges by the same
	TRUSTED = 0.95,
	OFF_CLOCK = 0.01;

interface Overview {
	ranks: number;
	kernels: number;
	collectives: number;
	length: number;
	compute: number;
	exposed: number;
	communication: number;
	transfer: number;
	prep: number;
	idle: number;
	energy: number | null;
}

interface Trust {
	errors: number;
	warnings: number;
	share: number | null;
	device: number;
	doubted: number;
	lost: number;
	read: number;
	kept: number;
	stopped: string | null;
	missingCount: number;
	missing: number[];
}

interface Late {
	collectives: number;
	ranks: { rank: number; late: (number | null)[] }[];
}

interface Power {
	begin: number;
	end: number;
	ranks: { rank: number; watts: number[] }[];
}

/* Parts of a stretch of time, which add up to it, as C calls their columns. */
const PARTS: [key: string, title: string, colour: string][] = [
	['compute', 'compute', 'k0'],
	['exposed', 'exposed communication', 'k4'],
	['transfer', 'transfer', 'k9'],
	['prep', 'preparation', 'k7'],
	['idle', 'idle', ''],
];

const PART_KEYS = PARTS.map(p => p[0]);
const PICTURE: Column = { key: 'picture', title: 'Where it went', type: 'picture' };

/* ---- tables --------------------------------------------------------------------------------- */

const num = (t: Table, row: number, key: string): number => Number(cell(t, row, key) ?? 0);
const rows = (t: Table): number[] => Array.from({ length: t.rows }, (_, i) => i);
const most = (t: Table, key: string): number =>
	rows(t).reduce((m, r) => Math.max(m, num(t, r, key)), Number.NEGATIVE_INFINITY);
const worst = (t: Table, of: number[], key: string): number =>
	of.reduce((a, b) => (num(t, b, key) > num(t, a, key) ? b : a), of[0]);
const share = (part: number, whole: number): string => (whole > 0 ? percent(part / whole) : '–');
const joules = (v: number | null): string => (v === null ? '–' : `${number(v)}\u202fJ`);

/* Some columns of a table, in this order; what no row has is left out. */
function pick(t: Table, keys: string[], picture: Column = PICTURE): Table {
	const columns: Column[] = [],
		data: Cell[][] = [];

	for (const key of keys) {
		const at = t.columns.findIndex(c => c.key === key);

		if (key === picture.key) {
			columns.push(picture);
			data.push(Array<Cell>(t.rows).fill(null));
		} else if (at >= 0 && t.data[at].some(v => v !== null)) {
			columns.push(t.columns[at]);
			data.push(t.data[at]);
		}
	}
	return { ...t, columns, data };
}

/* Where the time of a row went, against the longest of them. */
function partsOf(t: Table): (row: number) => Piece[] {
	const longest = Math.max(1, most(t, 'length'));

	return row =>
		PARTS.map(([key, title, colour]) => ({
			share: num(t, row, key) / longest,
			colour,
			title: `${title} ${time(num(t, row, key))}`,
		})).filter(p => p.share > 0);
}

function tracksOf(app: App, rank: number): number[] | null {
	const of = app.places.value.filter(p => p.rank === rank && p.track >= 0).map(p => p.track);

	return of.length ? of : null;
}

/* ---- parts of pages ------------------------------------------------------------------------- */

interface CardProps {
	title: string;
	hint?: string;
	legend?: [title: string, colour: string][];
	children: ComponentChildren;
}

function Card({ title, hint, legend, children }: CardProps) {
	return (
		<section class="card" aria-label={title}>
			<header>
				<h2>{title}</h2>
				{hint && <span class="muted">{hint}</span>}
				{legend && (
					<span class="legend">
						{legend.map(([name, colour]) => (
							<span key={name}>
								<i class={`sw ${colour}`} />
								{name}
							</span>
						))}
					</span>
				)}
			</header>
			{children}
		</section>
	);
}

const PART_LEGEND = PARTS.map(([, title, colour]): [string, string] => [title, colour]);

const Tiles = ({ of }: { of: TileProps[] }) => (
	<div class="tiles">
		{of.map(t => (
			<Tile key={t.title} {...t} />
		))}
	</div>
);

interface SheetsProps {
	app: App;
	error: string;
	ready: boolean; // what the page needs is there
	children: () => ComponentChildren;
}

function Sheets({ app, error, ready, children }: SheetsProps) {
	if (error) return <Pending app={app} error={error} />;
	return (
		<div class="page" aria-busy={!ready}>
			{ready && children()}
		</div>
	);
}

function SheetGrid({ app, name, ...p }: { app: App; name: string } & Omit<GridProps, 'app' | 'table'>) {
	const { value } = useSheet<Table>(app, TOOL, name);

	const table = useMemo(
		() =>
			value &&
			pick(
				value,
				value.columns.map(c => c.key),
			),
		[value],
	);

	return table && <Grid app={app} table={table} {...p} />;
}

const has = (app: App, sheet: string): boolean => hasSheet(app.info.value, TOOL, sheet);

/* ---- steps ---------------------------------------------------------------------------------- */

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
					low={0}
					high={high}
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
function selectStep(app: App, t: Table, row: number): void {
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

function Steps({ app }: { app: App }) {
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

function Overlap({ app }: { app: App }) {
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

function Stragglers({ app }: { app: App }) {
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

function Kernels({ app }: { app: App }) {
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

/* ---- energy --------------------------------------------------------------------------------- */

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
					label={`Power of ${p.ranks.length} ranks over time, at most ${digits(greatest)} W`}
					series={p.ranks.map(r => ({ label: `rank ${r.rank}`, counts: r.watts }))}
					low={p.begin}
					high={p.end}
					log={false}
					logCount={false}
					unit={v => time(v, 3)}
					value={v => `${digits(v, 3)}\u202fW`}
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

function Energy({ app }: { app: App }) {
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

/* ---- trust ---------------------------------------------------------------------------------- */

function trustVerdict(t: Trust): Finding {
	const why = [
		`${time(t.device)} of device time: ${time(t.doubted)} in doubt, ${time(t.lost)} lost.`,
		`${count(t.read)} events were read, ${count(t.kept)} were there after all stages.`,
		...(t.missingCount ? [`Ranks that are missing: ${t.missing.join(', ')}.`] : []),
		...(t.stopped ? [`The analysis stopped: ${t.stopped}.`] : []),
	].join(' ');

	if (t.share === null) return { tone: '', say: 'There is no device time to speak of.', why };
	return {
		tone: t.share < TRUSTED ? 'bad' : t.errors || t.warnings ? 'warn' : '',
		say: `${percent(t.share)} of the device time can be trusted; kinds of errors: ${count(t.errors)}, of warnings: ${count(t.warnings)}.`,
		why,
	};
}

/* Issues and messages: the worst first, and coloured. */
function Flagged({ app, name, title, hint }: { app: App; name: string; title: string; hint?: string }) {
	const { value: t } = useSheet<Table>(app, TOOL, name);

	if (!t) return null;
	return (
		<Card title={title} hint={hint}>
			<Grid
				app={app}
				table={t}
				label={title}
				file={name}
				flag={(r, key) => {
					const s = cell(t, r, 'severity');

					if (key !== 'severity' || s === 'info') return null;
					return s === 'error'
						? { tone: 'bad', why: 'something is missing or wrong' }
						: { tone: 'warn', why: 'some numbers are estimates or may be off' };
				}}
			/>
		</Card>
	);
}

function Clocks({ app }: { app: App }) {
	const { value: t } = useSheet<Table>(app, TOOL, 'clocks');

	if (!t) return null;
	const off = (r: number): boolean =>
		cell(t, r, 'detected') !== null &&
		Math.abs(num(t, r, 'detected') / num(t, r, 'given') - 1) > OFF_CLOCK;

	return (
		<Card title="Clocks" hint="a straight line through host times and cycles of each rank">
			<Grid
				app={app}
				table={t}
				label="Clocks"
				file="clocks"
				flag={(r, key) =>
					key === 'detected' && off(r)
						? {
								tone: 'warn',
								why: 'more than 1 % from what --freq says: run again with this one',
							}
						: null
				}
			/>
		</Card>
	);
}

function TrustTab({ app }: { app: App }) {
	const { value: t, error } = useSheet<Trust>(app, TOOL, 'trust');

	return (
		<Sheets app={app} error={error} ready={!!t}>
			{() => (
				<>
					<Verdict app={app} finding={trustVerdict(t!)} />
					<Flagged app={app} name="issues" title="Issues" hint="and what to do about each" />
					<Clocks app={app} />
					{has(app, 'stages') && (
						<Card title="Stages" hint="that changed the number of events">
							<SheetGrid app={app} name="stages" label="Stages" file="stages" />
						</Card>
					)}
					<Flagged app={app} name="messages" title="What was said" />
					<p class="muted">
						Trust is the share of device time that is still there and about whose length and place
						host and device agree.
					</p>
				</>
			)}
		</Sheets>
	);
}

const tab = (id: string, title: string, sheet: string, view: Tab['view']): Tab => ({
	id,
	title,
	needs: info => hasSheet(info, TOOL, sheet),
	view,
});

export const ANALYZE_TABS: Tab[] = [
	tab('steps', 'Steps', 'steps', Steps),
	tab('overlap', 'Overlap', 'overlap', Overlap),
	tab('stragglers', 'Stragglers', 'stragglers', Stragglers),
	tab('energy', 'Energy', 'energy', Energy),
	tab('rank-kernels', 'Kernels by rank', 'kernels', Kernels),
	tab('trust', 'Trust', 'trust', TrustTab),
];
