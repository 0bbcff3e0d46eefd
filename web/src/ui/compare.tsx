// compare.tsx - two scopes beside each other: files, ranks, or areas kept with "Keep as A" and "B".

import { useMemo, useState } from 'preact/hooks';
import type { Column, Distribution, Scope, Table, Tree } from '../source/contract';
import type { App, Range } from '../state/app';
import { time } from '../text/format';
import { plain } from '../text/label';
import { Chart } from './chart';
import { Flame } from './flame';
import { Grid } from './grid';
import { Empty, Failure, Segments } from './kit';
import { useAnswer } from './load';

interface Side {
	id: string;
	title: string;
	scope: Scope;
}

/* What can be compared: everything, each rank, the area, what was kept. */
function sides(app: App): Side[] {
	const scope = app.scope.value,
		area = app.area.value,
		kept = app.compare.value;
	const ranks = [...new Set(app.places.value.map(p => p.rank))].filter(r => r >= 0).sort((a, b) => a - b);

	return [
		{ id: 'all', title: 'everything', scope },
		...ranks.slice(0, 256).map(r => ({
			id: `rank${r}`,
			title: `rank ${r}`,
			scope: { ...scope, query: `${scope.query ?? ''} rank:${r}`.trim() },
		})),
		...(area
			? [{ id: 'area', title: `area of ${time(area.t1 - area.t0)}`, scope: app.areaScope.value }]
			: []),
		...(['a', 'b'] as const).flatMap(k =>
			kept[k]
				? [
						{
							id: `kept ${k}`,
							title: `kept ${k.toUpperCase()}: ${kept[k]!.label}`,
							scope: { ...scope, ranges: kept[k]!.ranges },
						},
					]
				: [],
		),
	];
}

function differences(a: Table, b: Table): Table {
	const at = (t: Table, key: string) => t.data[t.columns.findIndex(c => c.key === key)];
	const rowOf = (t: Table) => new Map(at(t, 'name').map((n, i) => [String(n), i]));
	const inA = rowOf(a),
		inB = rowOf(b),
		names = [...new Set([...inA.keys(), ...inB.keys()])];
	const get = (t: Table, of: Map<string, number>, name: string, key: string): number | null => {
		const i = of.get(name);
		return i === undefined ? null : Number(at(t, key)[i]);
	};
	const column = (key: string, title: string, type: Column['type'], wide = false): Column => ({
		key,
		title,
		type,
		wide,
	});
	const both = (key: string) => [names.map(n => get(a, inA, n, key)), names.map(n => get(b, inB, n, key))];
	const [ta, tb] = both('total'),
		[ca, cb] = both('count'),
		[ma, mb] = both('mean');
	const diff = names.map((_, i) => (tb[i] ?? 0) - (ta[i] ?? 0));

	return {
		rows: names.length,
		columns: [
			column('name', 'Name', 'name'),
			column('a', 'Total A', 'time'),
			column('b', 'Total B', 'time'),
			{ ...column('diff', 'B − A', 'time'), signed: true },
			column('ca', 'Count A', 'count', true),
			column('cb', 'Count B', 'count', true),
			column('ma', 'Mean A', 'time', true),
			column('mb', 'Mean B', 'time', true),
			column('type', 'Type', 'number'),
		],
		data: [
			names,
			ta,
			tb,
			diff,
			ca,
			cb,
			ma,
			mb,
			names.map(n => get(a, inA, n, 'type') ?? get(b, inB, n, 'type') ?? 0),
		],
	};
}

/* Paths of a tree, so that nodes of two trees find each other. */
function paths(t: Tree): string[] {
	const out: string[] = [];

	t.parent.forEach((p, i) => {
		out[i] = p < 0 ? '' : `${out[p]}\n${t.name[i]}`;
	});
	return out;
}

interface Two {
	app: App;
	a: Side;
	b: Side;
}

function Differences({ app, a, b }: Two) {
	const ta = useAnswer(app, 'aggregate', { scope: a.scope }),
		tb = useAnswer(app, 'aggregate', { scope: b.scope });
	const table = useMemo(
		() => (ta.value && tb.value ? differences(ta.value.slices, tb.value.slices) : null),
		[ta.value, tb.value],
	);

	if (ta.error || tb.error) return <Failure app={app} text={ta.error || tb.error} />;
	if (!table) return null;
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
		useAnswer(app, 'distribution', { ...ask, scope: a.scope }).value,
		useAnswer(app, 'distribution', { ...ask, scope: b.scope }).value,
	];
	const some = alone.filter(d => d !== null && d.count > 0) as Distribution[];
	const reach = !alone.includes(null) &&
		some.length > 0 && {
			low: Math.min(...some.map(d => d.low)),
			high: Math.max(...some.map(d => d.high)),
		};
	const da = useAnswer(app, 'distribution', reach ? { ...ask, scope: a.scope, ...reach } : null).value;
	const db = useAnswer(app, 'distribution', reach ? { ...ask, scope: b.scope, ...reach } : null).value;

	if (!da || !db || !reach) return null;
	const series = (label: string, side: Side, d: Distribution) => ({
		label: `${label}: ${side.title}, p50 ${time(d.p50)}`,
		counts: d.groups[0]?.counts ?? new Array<number>(ask.bins).fill(0),
	});

	return (
		<section class="card" aria-label="Both distributions">
			<header>
				<h2 class="mono ellipsis">{plain(name).slice(0, 100)}</h2>
			</header>
			<div class="body">
				<Chart
					label={`Durations of ${plain(name).slice(0, 100)} in A and B: medians ${time(da.p50)} and ${time(db.p50)}`}
					{...reach}
					log
					logCount
					unit={v => time(v, 3)}
					series={[series('A', a, da), series('B', b, db)]}
				/>
			</div>
		</section>
	);
}

function Flames({ app, a, b }: Two) {
	const fa = useAnswer(app, 'tree', { scope: a.scope, kind: 'top-down', nodes: 3000 });
	const fb = useAnswer(app, 'tree', { scope: b.scope, kind: 'top-down', nodes: 3000 });

	if (fa.error || fb.error) return <Failure app={app} text={fa.error || fb.error} />;
	return fa.value && fb.value ? <FlameDiff app={app} a={fa.value} b={fb.value} /> : null;
}

/* The area of now, to be compared with one of later. */
function Keep({ app }: { app: App }) {
	const area = app.area.value;
	const keep = (as: 'a' | 'b', r: Range) => {
		app.compare.value = {
			...app.compare.value,
			[as]: { label: `${time(r.t0)} to ${time(r.t1)}`, ranges: [[r.t0, r.t1]] },
		};
	};

	if (!area) return null;
	return (
		<>
			{(['a', 'b'] as const).map(k => (
				<button key={k} type="button" class="btn sm" onClick={() => keep(k, area)}>
					Keep area as {k.toUpperCase()}
				</button>
			))}
		</>
	);
}

function Pick({
	label,
	all,
	value,
	set,
}: {
	label: string;
	all: Side[];
	value: string;
	set(id: string): void;
}) {
	return (
		<label class="muted">
			{label}{' '}
			<select value={value} aria-label={label} onChange={e => set(e.currentTarget.value)}>
				{all.map(s => (
					<option key={s.id} value={s.id}>
						{s.title}
					</option>
				))}
			</select>
		</label>
	);
}

export function Compare({ app }: { app: App }) {
	const all = sides(app),
		[first, setFirst] = useState(all[1]?.id ?? 'all'),
		[second, setSecond] = useState(all[2]?.id ?? all[1]?.id ?? 'all');
	const [as, setAs] = useState<'table' | 'flame'>('table');
	const a = all.find(s => s.id === first) ?? all[0],
		b = all.find(s => s.id === second) ?? all[0];
	const alone = all.length < 3 && !app.area.value;

	return (
		<div class="page">
			<section class={`card tall ${app.zone.value ? 'half' : ''}`} aria-label="Compare">
				<header>
					<h2>Compare</h2>
					<Pick label="A" all={all} value={a.id} set={setFirst} />
					<Pick label="B" all={all} value={b.id} set={setSecond} />
					<Keep app={app} />
					<span class="grow" />
					<Segments
						label="Show as"
						value={as}
						set={setAs}
						of={[
							{ id: 'table', title: 'Differences' },
							{ id: 'flame', title: 'Flame graph' },
						]}
					/>
				</header>
				{alone && (
					<Empty title="There is only one thing to compare.">
						<p>Open several traces, or keep two areas of the timeline as A and B.</p>
					</Empty>
				)}
				{!alone && as === 'flame' && <Flames app={app} a={a} b={b} />}
				{!alone && as === 'table' && <Differences app={app} a={a} b={b} />}
			</section>
			{app.zone.value && !alone && <Histograms app={app} a={a} b={b} />}
		</div>
	);
}

/* The tree of B, coloured by how much more or less it took than in A. */
function FlameDiff({ app, a, b }: { app: App; a: Tree; b: Tree }) {
	const inA = new Map(paths(a).map((p, i) => [p, a.total[i]])),
		pb = paths(b);
	const of = (node: number): number => {
		const before = inA.get(pb[node]) ?? 0;

		return (b.total[node] - before) / Math.max(b.total[node], before, 1);
	};

	return (
		<div class="scroll pad">
			<p class="legend">
				<span>
					<i class="sw more" />
					longer in B
				</span>
				<span>
					<i class="sw less" />
					shorter in B
				</span>
				<span>
					<i class="sw same" />
					alike
				</span>
			</p>
			<Flame
				app={app}
				tree={b}
				label="Flame graph of B, by difference to A"
				compare={of}
				onPick={n => {
					app.zone.value = n;
				}}
			/>
		</div>
	);
}
