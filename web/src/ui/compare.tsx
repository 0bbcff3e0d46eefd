// compare.tsx - two scopes beside each other: two runs, ranks, or areas kept with "Keep as A" and
// "B". The numbers of two whole runs are those of `unitrace diff`.

import { batch } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import {
	isWhole,
	type Column,
	type Distribution,
	type Place,
	type Scope,
	type Source,
	type Table,
	type Tree,
} from '../source/contract';
import type { App } from '../state/app';
import { useKept, useKeptJson } from '../state/kept';
import { change, count, many, signed, time } from '../text/format';
import { middle, plain, telling } from '../text/label';
import { Chart } from './chart';
import { Flame } from './flame';
import { Grid } from './grid';
import { Empty, Failure, Segments, Thinned } from './kit';
import { useAnswer } from './load';

interface Side {
	id: string;
	title: string;
	scope: Scope;
	source: Source;
}

/* An area to be compared with one of later; of which of two runs. */
interface Kept {
	t0: number;
	t1: number;
	side: string;
}

const NOTHING: { a?: Kept; b?: Kept } = {};

const ranksOf = (places: Place[]): number[] =>
	[...new Set(places.map(p => p.rank))].filter(r => r >= 0).sort((a, b) => a - b);

/* A whole run, and each of its ranks. */
function run(id: string, title: string, places: Place[], scope: Scope, source: Source): Side[] {
	return [
		{ id, title, scope, source },
		...ranksOf(places)
			.slice(0, 256)
			.map(r => ({
				id: `${id}.rank${r}`,
				title: `${title}, rank ${r}`,
				scope: { ...scope, query: `${scope.query ?? ''} rank:${r}`.trim() },
				source,
			})),
	];
}

/* What can be compared: runs, their ranks, the area, what was kept. A range is of one run only. */
function sides(app: App, kept: typeof NOTHING): Side[] {
	const { source, side } = app,
		scope = app.scope.value,
		other = app.other.value,
		area = app.area.value;
	const words = scope.query ? { query: scope.query } : {};
	const sourceOf = (of: string) => (of === side ? source : (other?.source ?? source));
	const here = run(
		side || 'all',
		side ? `${side}: ${app.info.value.title}` : 'everything',
		app.places.value,
		scope,
		source,
	);
	const there = other
		? run(
				side === 'after' ? 'before' : 'after',
				`${side === 'after' ? 'before' : 'after'}: ${other.title}`,
				other.places,
				words,
				other.source,
			)
		: [];

	return [
		...(side === 'after' ? [...there, ...here] : [...here, ...there]),
		...(area
			? [
					{
						id: 'area',
						title: `area of ${time(area.t1 - area.t0)}`,
						scope: app.areaScope.value,
						source,
					},
				]
			: []),
		...(['a', 'b'] as const).flatMap(k => {
			const of = kept[k];

			return of
				? [
						{
							id: `kept ${k}`,
							title: `kept ${k.toUpperCase()}: ${of.side ? `${of.side}, ` : ''}${time(of.t0)} to ${time(of.t1)}`,
							scope: { ...words, ranges: [[of.t0, of.t1]] as [number, number][] },
							source: sourceOf(of.side),
						},
					]
				: [];
		}),
	];
}

/* The two that a person most likely means. */
function usual(app: App, all: Side[]): [string, string] {
	if (app.side) return ['before', 'after'];
	return [all[1]?.id ?? all[0].id, all[2]?.id ?? all[1]?.id ?? all[0].id];
}

const column = (key: string, title: string, type: Column['type'], more: Partial<Column> = {}): Column => ({
	key,
	title,
	type,
	...more,
});

const COLUMNS: Column[] = [
	column('name', 'Name', 'name'),
	column('a', 'Total A', 'time'),
	column('b', 'Total B', 'time'),
	column('diff', 'B − A', 'time', { signed: true }),
	column('change', 'Of A', 'share', { signed: true, hint: 'the difference by the total of A' }),
	column('ca', 'Count A', 'count', { wide: true }),
	column('cb', 'Count B', 'count', { wide: true }),
	column('sa', 'Self A', 'time', { wide: true }),
	column('sb', 'Self B', 'time', { wide: true }),
	column('ma', 'Mean A', 'time', { wide: true }),
	column('mb', 'Mean B', 'time', { wide: true }),
	column('is', 'Is', 'text', { hint: 'new: only in B; gone: only in A', wide: true }),
];

type Values = Record<string, number | null>;

/* The rows of a table by name. */
function byName(t: Table): Map<string, Values> {
	const keys = ['total', 'count', 'self', 'mean'];
	const at = (key: string) => t.data[t.columns.findIndex(c => c.key === key)],
		lists = keys.map(at);

	return new Map(
		at('name').map((name, i) => [
			String(name),
			Object.fromEntries(keys.map((k, n) => [k, lists[n][i] as number | null])),
		]),
	);
}

const ABSENT: Values = {};

export function differences(a: Table, b: Table): Table {
	const inA = byName(a),
		inB = byName(b),
		names = [...new Set([...inA.keys(), ...inB.keys()])];
	const rows = names.map(name => {
		const x = inA.get(name) ?? ABSENT,
			y = inB.get(name) ?? ABSENT,
			diff = (y.total ?? 0) - (x.total ?? 0);
		const is = inA.has(name) ? (inB.has(name) ? 'in both' : 'gone') : 'new';

		return [
			name,
			x.total ?? null,
			y.total ?? null,
			diff,
			x.total ? diff / x.total : null,
			x.count ?? null,
			y.count ?? null,
			x.self ?? null,
			y.self ?? null,
			x.mean ?? null,
			y.mean ?? null,
			is,
		];
	});

	return { rows: rows.length, columns: COLUMNS, data: COLUMNS.map((_, i) => rows.map(r => r[i])) };
}

/* Two tables of one kind beside each other: of each number A, B and the difference. */
export function beside(a: Table, b: Table, keys: string[]): Table {
	const at = (t: Table, key: string) => t.data[t.columns.findIndex(c => c.key === key)],
		rowsOf = (t: Table) => {
			const seen = new Map<string, number>(),
				out = new Map<string, number>();

			for (let row = 0; row < t.rows; row++) {
				const id = JSON.stringify(keys.map(k => at(t, k)?.[row] ?? null)),
					nth = seen.get(id) ?? 0; // of several that are called so, the nth is that of the other

				seen.set(id, nth + 1);
				out.set(`${nth} ${id}`, row);
			}
			return out;
		},
		inA = rowsOf(a),
		inB = rowsOf(b),
		ids = [...new Set([...inA.keys(), ...inB.keys()])],
		numbers = [...a.columns, ...b.columns.filter(c => !a.columns.some(o => o.key === c.key))].filter(
			c => NUMBERS.has(c.type) && c.key !== 'track' && c.key !== 'type',
		);
	const value = (t: Table, rows: Map<string, number>, key: string, of: string): number | null => {
		const row = rows.get(of),
			v = row === undefined ? null : at(t, key)?.[row];

		return typeof v === 'number' ? v : null;
	};
	const of = numbers.map(c => {
		const x = ids.map(i => value(a, inA, c.key, i)),
			y = ids.map(i => value(b, inB, c.key, i));

		return { c, x, y, by: x.map((v, i) => (v === null || y[i] === null ? null : y[i] - v)) };
	});

	return {
		rows: ids.length,
		columns: [
			...keys.map(k => a.columns.find(c => c.key === k) ?? column(k, k, 'text')),
			...of.flatMap(({ c }) => [
				{ ...c, key: `${c.key}.a`, title: `${c.title} A` },
				{ ...c, key: `${c.key}.b`, title: `${c.title} B` },
				{ ...c, key: `${c.key}.diff`, title: 'B − A', signed: true },
			]),
		],
		data: [
			...keys.map((_, n) =>
				ids.map(i => (JSON.parse(i.slice(i.indexOf(' '))) as (string | null)[])[n]),
			),
			...of.flatMap(({ x, y, by }) => [x, y, by]),
		],
	};
}

const NUMBERS = new Set<string>(['time', 'count', 'share', 'number', 'bytes']);

type Kind = 'devices' | 'threads' | 'counters';
type As = 'table' | 'flame' | 'metrics' | Kind;

/* What is shown first: as many numbers as fit beside each other. */
function Beside({ app, table, label, file }: { app: App; table: Table; label: string; file: string }) {
	const names = table.columns.findIndex(c => c.key.endsWith('.a')),
		first = useMemo(() => new Set(table.columns.slice(0, names + 9).map(c => c.key)), [table]);

	if (!table.rows) return <Empty title={`Neither A nor B has ${label.toLowerCase()}.`} />;
	return (
		<Grid
			app={app}
			table={table}
			label={label}
			file={file}
			sort={table.columns[names + 2]?.key}
			first={first}
		/>
	);
}

/* Metrics of kernels are known of whole runs. */
function Metrics({ app, a, b }: Two) {
	const ask = { tool: 'metrics', name: 'metrics' },
		ta = useAnswer(app, 'sheet', ask, a.source),
		tb = useAnswer(app, 'sheet', ask, b.source);
	const table = useMemo(
		() =>
			ta.value && tb.value
				? beside((ta.value as { kernels: Table }).kernels, (tb.value as { kernels: Table }).kernels, [
						'kernel',
						'grid',
						'block',
					])
				: null,
		[ta.value, tb.value],
	);

	if (ta.error || tb.error)
		return (
			<Empty title="Metrics of both runs are needed.">
				<p>
					<code>unitrace -q ./app</code> records them, for both.
				</p>
			</Empty>
		);
	return table && <Beside app={app} table={table} label="Metrics of kernels" file="compare-metrics" />;
}

const WORSE = 0.02; // of A: as much as two runs of one program differ

/* One sentence: how much, and most of it where. */
export function verdict(t: Table): { tone: string; say: string; why: string } {
	const at = (key: string) => t.data[COLUMNS.findIndex(c => c.key === key)] as (number | null)[];
	const sum = (of: (number | null)[]) => of.reduce<number>((s, v) => s + (v ?? 0), 0);
	const before = sum(at('sa')),
		by = sum(at('sb')) - before,
		names = t.data[0] as string[];
	const most = names
		.map((name, i) => ({ name, by: (at('sb')[i] ?? 0) - (at('sa')[i] ?? 0) }))
		.filter(n => n.by * by > 0)
		.sort((x, y) => Math.abs(y.by) - Math.abs(x.by))
		.slice(0, 3);
	const is = t.data[COLUMNS.length - 1];

	if (!is.length)
		return {
			tone: 'warn',
			say: 'Nothing was compared: neither run has slices here.',
			why: 'CPU samples and metrics are no slices; they are compared on tabs of their own.',
		};
	if (!is.includes('in both')) {
		const none = !is.includes('gone')
			? 'A has no slices here'
			: !is.includes('new')
				? 'B has no slices here'
				: '';

		return {
			tone: 'warn',
			say: `Nothing was compared: ${none || 'no name is in both'}.`,
			why: `${many(is.filter(s => s === 'new').length, 'new name')}, ${many(is.filter(s => s === 'gone').length, 'name')} gone.`,
		};
	}
	return {
		tone: by > before * WORSE ? 'bad' : '',
		say: !by
			? 'A and B work for the same time.'
			: `B works ${time(Math.abs(by))} ${by > 0 ? 'longer' : 'less'} than A${before ? ` (${change(by / before)})` : ''}.`,
		why: [
			most.length
				? `Most of it: ${most.map(n => `${middle(plain(telling(n.name)), 60)} (${signed(n.by, time)})`).join(', ')}.`
				: '',
			`${many(is.filter(s => s === 'new').length, 'new name')}, ${many(is.filter(s => s === 'gone').length, 'name')} gone.`,
		].join(' '),
	};
}

interface Two {
	app: App;
	a: Side;
	b: Side;
}

/* The name to begin with. */
function mostChanged(t: Table): string {
	const by = t.data[COLUMNS.findIndex(c => c.key === 'diff')].map(v => Math.abs(Number(v ?? 0)));

	return String(t.data[0][by.indexOf(Math.max(...by))]);
}

function Differences({ app, table }: { app: App; table: Table }) {
	useEffect(() => {
		if (!table.rows) return;
		batch(() => {
			app.usualZone.value = mostChanged(table);
			if (!app.zone.peek()) app.zone.value = app.usualZone.peek();
		});
	}, [table]);
	return (
		<Grid
			app={app}
			table={table}
			label="Differences"
			file="differences"
			sort="diff"
			selected={r => table.data[0][r] === app.zone.value}
			onPick={r => {
				app.zone.value = String(table.data[0][r]);
			}}
		/>
	);
}

/* First each for itself, to know how far the two reach together; then both over that. */
function Histograms({ app, a, b }: Two) {
	const name = app.zone.value;
	const ask = { name, self: false, log: true, bins: 60, group: 'none' as const };
	const alone = [
		useAnswer(app, 'distribution', { ...ask, scope: a.scope }, a.source).value,
		useAnswer(app, 'distribution', { ...ask, scope: b.scope }, b.source).value,
	];
	const some = alone.filter(d => d !== null && d.count > 0) as Distribution[];
	const reach = !alone.includes(null) &&
		some.length > 0 && {
			low: Math.min(...some.map(d => d.low)),
			high: Math.max(...some.map(d => d.high)),
		};
	const both = reach ? { ...ask, ...reach } : null;
	const da = useAnswer(app, 'distribution', both && { ...both, scope: a.scope }, a.source).value;
	const db = useAnswer(app, 'distribution', both && { ...both, scope: b.scope }, b.source).value;

	if (!da || !db || !reach) return null;
	const series = (label: string, side: Side, d: Distribution) => ({
		label: `${label}: ${side.title}`,
		counts: d.groups[0]?.counts ?? new Array<number>(ask.bins).fill(0),
	});
	const marks = (
		[
			['p50', da.p50, db.p50],
			['p99', da.p99, db.p99],
		] as const
	).flatMap(([k, x, y]) => [
		...(da.count ? [{ at: x, label: `A ${k}` }] : []),
		...(db.count ? [{ at: y, label: `B ${k}` }] : []),
	]);

	return (
		<section class="card" aria-label="Both distributions">
			<header>
				<h2 class="mono ellipsis">{plain(name).slice(0, 100)}</h2>
				<span class="muted num">
					{count(da.count)} and {count(db.count)} calls
				</span>
				<Thinned app={app} />
			</header>
			<div class="body">
				<Chart
					label={`Durations of ${plain(name).slice(0, 100)} in A and B: medians ${time(da.p50)} and ${time(db.p50)}`}
					{...reach}
					log
					logCount
					unit={v => time(v, 3)}
					times
					marks={marks}
					series={[series('A', a, da), series('B', b, db)]}
				/>
				<BothStats a={da} b={db} />
			</div>
		</section>
	);
}

function BothStats({ a, b }: { a: Distribution; b: Distribution }) {
	const keys = ['min', 'p50', 'mean', 'p90', 'p99', 'max'] as const;

	return (
		<dl class="stats">
			{keys.map(k => (
				<div key={k}>
					<dt>{k}</dt>
					<dd class="num">
						{a.count ? time(a[k]) : '–'} → {b.count ? time(b[k]) : '–'}
						{a.count > 0 && b.count > 0 && a[k] > 0 && (
							<span class="dim"> {change(b[k] / a[k] - 1)}</span>
						)}
					</dd>
				</div>
			))}
		</dl>
	);
}

function Flames({ app, a, b }: Two) {
	const fa = useAnswer(app, 'tree', { scope: a.scope, kind: 'top-down', nodes: 3000 }, a.source);
	const fb = useAnswer(app, 'tree', { scope: b.scope, kind: 'top-down', nodes: 3000 }, b.source);

	if (fa.error || fb.error) return <Failure app={app} text={fa.error || fb.error} />;
	return fa.value && fb.value ? <FlameDiff app={app} a={fa.value} b={fb.value} /> : null;
}

/* The area of now, to be compared with one of later. */
function Keep({ app, kept, keep }: { app: App; kept: typeof NOTHING; keep(k: typeof NOTHING): void }) {
	const area = app.area.value;

	if (!area) return null;
	return (
		<>
			{(['a', 'b'] as const).map(k => (
				<button
					key={k}
					type="button"
					class="btn sm"
					onClick={() =>
						keep({
							...kept,
							[k]: { t0: Math.round(area.t0), t1: Math.round(area.t1), side: app.side },
						})
					}>
					Keep area as {k.toUpperCase()}
				</button>
			))}
		</>
	);
}

interface PickProps {
	label: string;
	all: Side[];
	value: string;
	set(id: string): void;
}

function Pick({ label, all, value, set }: PickProps) {
	return (
		<label class="muted">
			{label}{' '}
			<select class="pick" value={value} aria-label={label} onChange={e => set(e.currentTarget.value)}>
				{all.map(s => (
					<option key={s.id} value={s.id}>
						{plain(s.title).slice(0, 120)}
					</option>
				))}
			</select>
		</label>
	);
}

function useTables(app: App, a: Side, b: Side, on: boolean) {
	const ta = useAnswer(app, 'aggregate', on ? { scope: a.scope } : null, a.source),
		tb = useAnswer(app, 'aggregate', on ? { scope: b.scope } : null, b.source);
	const table = useMemo(
		() => (ta.value && tb.value ? differences(ta.value.slices, tb.value.slices) : null),
		[ta.value, tb.value],
	);

	return { table, a: ta.value, b: tb.value, error: ta.error || tb.error, busy: ta.busy || tb.busy };
}

function Verdict({ table }: { table: Table }) {
	const v = useMemo(() => verdict(table), [table]);

	return (
		<section class={`verdict ${v.tone}`} aria-label="Verdict">
			<div>
				<p class="h">{v.say}</p>
				<p class="e">{v.why}</p>
			</div>
		</section>
	);
}

const KINDS: { id: Kind; title: string }[] = [
	{ id: 'devices', title: 'Devices' },
	{ id: 'threads', title: 'Threads' },
	{ id: 'counters', title: 'Counters' },
];

export function Compare({ app }: { app: App }) {
	const [kept, keep] = useKeptJson(app, 'compare.kept', NOTHING),
		all = sides(app, kept),
		[first, second] = usual(app, all);
	const [idA, setA] = useKept(app, 'compare.a', first),
		[idB, setB] = useKept(app, 'compare.b', second),
		[as, setAs] = useKept<As>(app, 'compare', 'table');
	const a = all.find(s => s.id === idA) ?? all[0],
		b = all.find(s => s.id === idB) ?? all[0];
	const alone = all.length < 2,
		{ table, error, busy, ...areas } = useTables(app, a, b, !alone),
		kind = KINDS.find(k => k.id === as),
		pair = useMemo(
			() => (kind && areas.a && areas.b ? beside(areas.a[kind.id], areas.b[kind.id], ['name']) : null),
			[areas.a, areas.b, kind],
		);

	return (
		<div class="page">
			{table && <Verdict table={table} />}
			<section
				class={`card tall ${app.zone.value ? 'half' : ''}`}
				aria-label="Compare"
				aria-busy={busy}>
				<header>
					<h2>Compare</h2>
					<Pick label="A" all={all} value={a.id} set={setA} />
					<Pick label="B" all={all} value={b.id} set={setB} />
					<Keep app={app} kept={kept} keep={keep} />
					{(as === 'flame' || ![a, b].every(s => isWhole(s.scope, app.info.value.span))) && (
						<Thinned app={app} />
					)}
					<span class="grow" />
					<Segments
						label="Show as"
						value={as}
						set={setAs}
						of={[
							{ id: 'table', title: 'Differences' },
							...KINDS,
							...(app.info.value.tools?.some(t => t.id === 'metrics')
								? [{ id: 'metrics' as const, title: 'Metrics' }]
								: []),
							{ id: 'flame', title: 'Flame graph' },
						]}
					/>
				</header>
				{error && <Failure app={app} text={error} />}
				{alone && (
					<Empty title="There is only one thing to compare.">
						<p>
							{app.compareWith ? (
								<button type="button" class="btn" onClick={app.compareWith}>
									Compare with another result…
								</button>
							) : (
								<>
									Open two runs, <code>unitrace view --compare before.json after.json</code>
								</>
							)}
							, or select an area of the timeline and keep it as A or B.
						</p>
					</Empty>
				)}
				{!alone && as === 'flame' && <Flames app={app} a={a} b={b} />}
				{table && as === 'table' && <Differences app={app} table={table} />}
				{kind && pair && (
					<Beside
						key={kind.id}
						app={app}
						table={pair}
						label={kind.title}
						file={`compare-${kind.id}`}
					/>
				)}
				{!alone && as === 'metrics' && <Metrics app={app} a={a} b={b} />}
			</section>
			{app.zone.value && !alone && <Histograms app={app} a={a} b={b} />}
		</div>
	);
}

/* Paths of a tree, so that nodes of two trees find each other. */
function paths(t: Tree): string[] {
	const out: string[] = [];

	t.parent.forEach((p, i) => {
		out[i] = p < 0 ? '' : `${out[p]}\n${t.name[i]}`;
	});
	return out;
}

const LEGEND = [
	['more', 'longer in B'],
	['less', 'shorter in B'],
	['same', 'alike'],
] as const;

/* The tree of one of them, coloured by how much more or less B took: what is only in A is seen there. */
function FlameDiff({ app, a, b }: { app: App; a: Tree; b: Tree }) {
	const [shape, setShape] = useKept<'a' | 'b'>(app, 'compare.shape', 'b');
	const tree = shape === 'a' ? a : b,
		other = shape === 'a' ? b : a;
	const { own, there } = useMemo(() => {
		const at = paths(other);

		return { own: paths(tree), there: new Map(at.map((p, i) => [p, other.total[i]])) };
	}, [tree, other]);
	const both = (node: number): [number, number | null] => {
		const not = there.get(own[node]) ?? null;

		return [tree.total[node], not];
	};
	const of = (node: number): number => {
		const [mine, theirs] = both(node),
			by = shape === 'a' ? (theirs ?? 0) - mine : mine - (theirs ?? 0);

		return by / Math.max(mine, theirs ?? 0, 1);
	};
	const say = (node: number): string => {
		const [mine, theirs] = both(node),
			[x, y] = shape === 'a' ? [mine, theirs] : [theirs, mine];

		return `${plain(tree.name[node])}: A ${x === null ? '–' : time(x)}, B ${y === null ? '–' : time(y)}, ${signed((y ?? 0) - (x ?? 0), time)}`;
	};

	return (
		<div class="scroll pad">
			<div class="row">
				<Segments
					label="Shape of"
					value={shape}
					set={setShape}
					of={[
						{ id: 'a', title: 'As in A' },
						{ id: 'b', title: 'As in B' },
					]}
				/>
				<p class="legend">
					{LEGEND.map(([tone, title]) => (
						<span key={tone}>
							<i class={`sw ${tone}`} />
							{title}
						</span>
					))}
				</p>
			</div>
			<Flame
				app={app}
				tree={tree}
				label={`Flame graph of ${shape.toUpperCase()}, by difference`}
				compare={of}
				say={say}
				onPick={n => {
					app.zone.value = n;
				}}
			/>
		</div>
	);
}
