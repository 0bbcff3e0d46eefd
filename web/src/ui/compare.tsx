// compare.tsx - two scopes beside each other: files, ranks, or areas kept with "Keep as A" and "B".

import { useState } from 'preact/hooks';
import type { Column, Scope, Table, Tree } from '../source/contract';
import type { App } from '../state/app';
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
	const scope = app.scope.value, area = app.area.value, kept = app.compare.value;
	const ranks = [...new Set(app.places.value.map(p => p.rank))].filter(r => r >= 0).sort((a, b) => a - b);

	return [{ id: 'all', title: 'everything', scope },
		...ranks.slice(0, 256).map(r => ({ id: `rank${r}`, title: `rank ${r}`, scope: { ...scope, query: `${scope.query ?? ''} rank:${r}`.trim() } })),
		...(area ? [{ id: 'area', title: `area of ${time(area.t1 - area.t0)}`, scope: app.areaScope.value }] : []),
		...(['a', 'b'] as const).flatMap(k => (kept[k] ? [{ id: `kept ${k}`, title: `kept ${k.toUpperCase()}: ${kept[k]!.label}`, scope: { ...scope, ranges: kept[k]!.ranges } }] : []))];
}

function differences(a: Table, b: Table): Table {
	const at = (t: Table, key: string) => t.data[t.columns.findIndex(c => c.key === key)];
	const rowOf = (t: Table) => new Map(at(t, 'name').map((n, i) => [String(n), i]));
	const inA = rowOf(a), inB = rowOf(b), names = [...new Set([...inA.keys(), ...inB.keys()])];
	const get = (t: Table, of: Map<string, number>, name: string, key: string): number | null => { const i = of.get(name); return i === undefined ? null : Number(at(t, key)[i]); };
	const column = (key: string, title: string, type: Column['type'], wide = false): Column => ({ key, title, type, wide });
	const both = (key: string) => [names.map(n => get(a, inA, n, key)), names.map(n => get(b, inB, n, key))];
	const [ta, tb] = both('total'), [ca, cb] = both('count'), [ma, mb] = both('mean');
	const diff = names.map((_, i) => (tb[i] ?? 0) - (ta[i] ?? 0));

	return { rows: names.length, columns: [column('name', 'Name', 'name'), column('a', 'Total A', 'time'), column('b', 'Total B', 'time'), { ...column('diff', 'B − A', 'time'), signed: true },
		column('ca', 'Count A', 'count', true), column('cb', 'Count B', 'count', true), column('ma', 'Mean A', 'time', true), column('mb', 'Mean B', 'time', true),
		column('type', 'Type', 'number')],
	data: [names, ta, tb, diff, ca, cb, ma, mb, names.map(n => get(a, inA, n, 'type') ?? get(b, inB, n, 'type') ?? 0)] };
}

/* Paths of a tree, so that nodes of two trees find each other. */
function paths(t: Tree): string[] {
	const out: string[] = [];

	t.parent.forEach((p, i) => { out[i] = p < 0 ? '' : `${out[p]}\n${t.name[i]}`; });
	return out;
}

export function Compare({ app }: { app: App }) {
	const all = sides(app), [a, setA] = useState(all[1]?.id ?? 'all'), [b, setB] = useState(all[2]?.id ?? all[1]?.id ?? 'all'), [as, setAs] = useState<'table' | 'flame'>('table');
	const A = all.find(s => s.id === a) ?? all[0], B = all.find(s => s.id === b) ?? all[0];
	const ta = useAnswer(app, 'aggregate', { scope: A.scope }), tb = useAnswer(app, 'aggregate', { scope: B.scope });
	const fa = useAnswer(app, 'tree', as === 'flame' ? { scope: A.scope, kind: 'top-down', nodes: 3000 } : null);
	const fb = useAnswer(app, 'tree', as === 'flame' ? { scope: B.scope, kind: 'top-down', nodes: 3000 } : null);
	const name = app.zone.value, table = ta.value && tb.value ? differences(ta.value.slices, tb.value.slices) : null;
	const ask = { name, self: false, log: true, bins: 60, group: 'none' as const };
	const da = useAnswer(app, 'distribution', name ? { ...ask, scope: A.scope } : null);
	const low = da.value?.count ? da.value.low : undefined, high = da.value?.count ? da.value.high : undefined;
	const db = useAnswer(app, 'distribution', name && da.value ? { ...ask, scope: B.scope, low, high } : null);
	const pick = (label: string, value: string, set: (v: string) => void) => <label class="muted">{label} <select value={value} aria-label={label} onChange={e => set(e.currentTarget.value)}>
		{all.map(s => <option key={s.id} value={s.id}>{s.title}</option>)}</select></label>;
	const error = ta.error || tb.error || fa.error || fb.error;

	return <div class="page"><section class={`card tall ${name ? "half" : ""}`} aria-label="Compare"><header><h2>Compare</h2>{pick('A', A.id, setA)}{pick('B', B.id, setB)}
		{app.area.value && (['a', 'b'] as const).map(k => <button key={k} type="button" class="btn sm" onClick={() => {
			const r = app.area.value!;

			app.compare.value = { ...app.compare.value, [k]: { label: `${time(r.t0)} to ${time(r.t1)}`, ranges: [[r.t0, r.t1]] } };
		}}>Keep area as {k.toUpperCase()}</button>)}
		<span class="grow" /><Segments label="Show as" value={as} set={setAs} of={[{ id: 'table', title: 'Differences' }, { id: 'flame', title: 'Flame graph' }]} /></header>
	{error ? <Failure app={app} text={error} /> : all.length < 3 && !app.area.value ? <Empty title="There is only one thing to compare."><p>Open several traces, or keep two areas of the timeline as A and B.</p></Empty>
		: as === 'flame' ? fa.value && fb.value && <FlameDiff app={app} a={fa.value} b={fb.value} />
			: table && <Grid app={app} table={table} label="Differences" file="differences" sort="diff" selected={r => table.data[0][r] === name}
				onPick={r => { app.zone.value = String(table.data[0][r]); }} />}
	</section>
	{name && da.value && db.value && da.value.count + db.value.count > 0 && <section class="card" aria-label="Both distributions"><header><h2 class="mono ellipsis">{plain(name).slice(0, 100)}</h2></header>
		<div class="body"><Chart label={`Durations of ${plain(name).slice(0, 100)} in A and B: medians ${time(da.value.p50)} and ${time(db.value.p50)}`} low={da.value.low} high={da.value.high} log logCount unit={v => time(v, 3)}
			series={[{ label: `A: ${A.title}, p50 ${time(da.value.p50)}`, counts: da.value.groups[0]?.counts ?? [] }, { label: `B: ${B.title}, p50 ${time(db.value.p50)}`, counts: db.value.groups[0]?.counts ?? [] }]} /></div></section>}
	</div>;
}

/* The tree of B, coloured by how much more or less it took than in A. */
function FlameDiff({ app, a, b }: { app: App; a: Tree; b: Tree }) {
	const inA = new Map(paths(a).map((p, i) => [p, a.total[i]])), pb = paths(b);
	const of = (node: number): number => {
		const before = inA.get(pb[node]) ?? 0;

		return (b.total[node] - before) / Math.max(b.total[node], before, 1);
	};

	return <div class="scroll pad"><p class="legend"><span><i class="sw more" />longer in B</span><span><i class="sw less" />shorter in B</span><span><i class="sw same" />alike</span></p>
		<Flame app={app} tree={b} label="Flame graph of B, by difference to A" compare={of} onPick={n => { app.zone.value = n; }} /></div>;
}
