// view_engine.mjs - asks a server (src/analysis/view) and the engine inside a page (web/src/engine) the same
// questions about one trace, and compares what they say.
//
//   node view_engine.mjs NODE_MODULES PAGE.html ADDRESS WEB
//
// Rows and types have other numbers in the page, so events are compared by track, time and name.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inflateSync } from 'node:zlib';

const [modules, page, address, web] = process.argv.slice(2);

async function load() {
	const machine = readdirSync(path.join(modules, '@esbuild'))[0];
	const built = execFileSync(path.join(modules, '@esbuild', machine, 'bin/esbuild'),
		['--bundle', '--format=esm', '--log-level=error', '--loader=ts'],
		{ cwd: path.resolve(web, 'src'), input: "export { Engine } from './engine/engine'; export { readContainer } from './engine/container'; export { readWindow } from './source/window';" });

	return import('data:text/javascript;base64,' + built.toString('base64'));
}

const { Engine, readContainer, readWindow } = await load();
const html = readFileSync(page, 'utf8');
const packed = /id="trace">([^<]*)</.exec(html)[1];
const engine = new Engine(readContainer(new Uint8Array(inflateSync(Buffer.from(packed, 'base64')))));
const base = new URL('/api/', address);

async function server(method, ask) {
	const r = await fetch(new URL(method, base), { method: 'POST', body: JSON.stringify(ask),
		headers: { Cookie: process.env.VIEW_COOKIE, 'X-Unitrace': '1', 'Content-Type': 'application/json' } });

	assert.equal(r.status, 200, `${method}: ${r.status}`);
	return method === 'window' ? r.arrayBuffer() : r.json();
}

async function inside(method, ask) {
	return engine.answer(method, ask);
}

const there = await server('places', {}), here = await inside('places', {});
const toPage = new Map(), types = { names: [], cats: [] };

for (const p of there) {
	const own = here.find(q => q.id === p.id);

	assert.equal(own.name, p.name);
	if (p.track >= 0)
		toPage.set(p.track, own.track);
}
const all = (await server('info', {})).types;

for (let first = 0; first < all; first += 4096) {
	const part = await server('types', { first });

	types.names.push(...part.names);
	types.cats.push(...part.cats);
}
const laneOf = (places, track, lane) => places.find(p => p.track === track).lanes[lane];

/* ---- windows --------------------------------------------------------------------------------- */

const own = engine.store;
const drawn = (w, lane, name) => Array.from({ length: w.first[lane + 1] - w.first[lane] }, (_, i) => {
	const at = w.first[lane] + i;

	return [w.start[at], w.length[at], name(w.type[at]), w.row[at] === 0xffffffff, w.fill[at]];
});

async function windows(t0, t1, pixels) {
	const lanes = [], own_lanes = [];

	for (const p of there.filter(q => q.track >= 0))
		p.lanes.forEach((l, i) => {
			if (l.kind === 'flows')
				return;
			const other = toPage.get(p.track), same = here.find(q => q.track === other).lanes;
			const at = l.kind === 'counter' ? 0 : same.findIndex((m, k) => m.kind === l.kind && k >= 0 &&
				same.slice(0, k).filter(x => x.kind === l.kind).length === p.lanes.slice(0, i).filter(x => x.kind === l.kind).length);

			assert.equal(same[at].count, l.count, `${p.name} lane ${i}`);
			lanes.push([p.track, i]);
			own_lanes.push([other, at]);
		});
	const a = readWindow(await server('window', { t0, t1, pixels, lanes }));
	const b = readWindow(await inside('window', { t0, t1, pixels, lanes: own_lanes }));

	for (let i = 0; i < lanes.length; i++) {
		assert.deepEqual(drawn(a, i, t => types.names[t]), drawn(b, i, t => own.names[t]),
			`lane ${lanes[i]} of ${t0}..${t1} in ${pixels}`);
		assert.equal(a.cells[i + 1] - a.cells[i], b.cells[i + 1] - b.cells[i]);
	}
	if ((t1 - t0) / pixels > 1000) // a sample near the edge of a pixel may be in either
		assert.ok(a.low.length === b.low.length);
}

/* ---- tables ---------------------------------------------------------------------------------- */

const rows = t => Array.from({ length: t.rows }, (_, r) => Object.fromEntries(t.columns.map((c, i) => [c.key, t.data[i][r]])));
const near = (a, b) => a === b || (typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a)));

function same(a, b, keys, what) {
	const by = (x, y) => String(x.name).localeCompare(String(y.name)) || (x.start ?? 0) - (y.start ?? 0) || (x.dur ?? 0) - (y.dur ?? 0);
	const x = rows(a).sort(by), y = rows(b).sort(by);

	assert.equal(x.length, y.length, what);
	x.forEach((r, i) => keys.forEach(k => assert.ok(near(r[k], y[i][k]), `${what}: ${r.name} ${k}: ${r[k]} or ${y[i][k]}`)));
}

const pageScope = s => ({ ...s, ...(s.tracks ? { tracks: s.tracks.map(t => toPage.get(t)) } : {}) });

async function tables(scope) {
	const a = await server('aggregate', { scope }), b = await inside('aggregate', { scope: pageScope(scope) });
	const what = JSON.stringify(scope);

	same(a.slices, b.slices, ['name', 'count', 'total', 'self', 'mean', 'min', 'max', 'share'], `slices of ${what}`);
	same(a.threads, b.threads, ['name', 'slices', 'busy', 'idle'], `tracks of ${what}`);
	same(a.counters, b.counters, ['name', 'unit', 'samples', 'min', 'mean', 'max', 'last'], `counters of ${what}`);
	same(a.devices, b.devices, ['name', 'busy', 'idle', 'overlap', 'gap'], `devices of ${what}`);
	same(await server('list', { scope, limit: 100000 }), await inside('list', { scope: pageScope(scope), limit: 100000 }),
		['name', 'start', 'dur', 'self', 'parent', 'cat'], `list of ${what}`);
	for (const kind of ['top-down', 'bottom-up', 'callers', 'callees', 'time-order'])
		await trees(scope, kind);
	await findings(scope);
}

async function findings(scope) {
	const a = await server('findings', { scope }), b = await inside('findings', { scope: pageScope(scope) });

	assert.deepEqual(a.map(f => [f.tone, f.gain ?? 0]), b.map(f => [f.tone, f.gain ?? 0]), `findings of ${JSON.stringify(scope)}`);
	assert.equal(a.at(-1).say.split(' ')[0], b.at(-1).say.split(' ')[0]);
}

/* A tree as texts: the path and the numbers of every node. */
function leaves(t) {
	const path = [];

	return t.parent.map((p, i) => {
		path[i] = i ? `${path[p]}/${t.name[i]}` : '';
		return `${path[i]} ${t.total[i]} ${t.self[i]} ${t.count[i]} ${t.start?.[i] ?? ''}`;
	}).sort();
}

const NAME = process.env.VIEW_NAME;

async function trees(scope, kind) {
	const ask = { scope, kind, name: NAME, nodes: 100000 };

	assert.deepEqual(leaves(await server('tree', ask)), leaves(await inside('tree', { ...ask, scope: pageScope(scope) })), kind);
}

async function spread(scope, more) {
	const ask = { scope, name: NAME, self: false, log: true, bins: 20, group: 'none', ...more };
	const a = await server('distribution', ask), b = await inside('distribution', { ...ask, scope: pageScope(scope) });

	for (const key of ['low', 'high', 'count', 'sum', 'min', 'max', 'p50', 'p90', 'p99'])
		assert.equal(a[key], b[key], key);
	const groups = d => d.groups.map(g => `${g.label} ${g.count} ${g.sum} ${g.counts}`).sort();

	assert.deepEqual(groups(a), groups(b));
	assert.deepEqual(a.outliers.map(o => o.dur), b.outliers.map(o => o.dur));
	assert.deepEqual(a.arguments, b.arguments);
}

/* ---- single events --------------------------------------------------------------------------- */

const ref = r => r && [r.name, r.cat, r.t, r.dur];

async function events() {
	for (const query of ['', NAME, `"${NAME}"`, '/^.{3,6}$/', `-${NAME}`, 'dur:>20us', 'self:<5us', 'dur:1us..9us cat:op', 'rank:0', 'thread:worker', 'arg.i:7', `name:${NAME} track:1`, 'self:>1ms']) {
		const a = await server('search', { query, limit: 50, scope: {} }), b = await inside('search', { query, limit: 50, scope: {} });

		assert.equal(a.count, b.count, `count of ${query}`);
		assert.deepEqual(a.list.map(ref).map(String).sort(), b.list.map(ref).map(String).sort(), query);
		assert.deepEqual(a.tracks.map(t => toPage.get(t)).sort(), b.tracks.sort(), query);
		if (!a.count)
			continue;
		for (let i = 0; i < Math.min(a.list.length, b.list.length, 12); i++) {
			const x = a.list[i], twin = b.list.find(r => String(ref(r)) === String(ref(x)) && toPage.get(Math.floor(x.id / 2 ** 32)) === Math.floor(r.id / 2 ** 32));

			if (twin)
				await detail(x.id, twin.id);
		}
	}
	await assert.rejects(server('search', { query: 'dur:>x', limit: 1, scope: {} }));
}

async function detail(one, other) {
	const a = await server('detail', { id: one }), b = await inside('detail', { id: other });

	for (const key of ['name', 'cat', 't', 'dur', 'self', 'kind', 'unfinished', 'nth', 'ofName', 'ofNameTotal'])
		assert.equal(a[key], b[key], `${key} of ${a.name} at ${a.t}`);
	assert.deepEqual(a.args, b.args);
	for (const list of ['parents', 'chain', 'before', 'after'])
		assert.deepEqual(a[list].map(ref), b[list].map(ref), `${list} of ${a.name} at ${a.t}`);
	for (const along of ['name', 'track', 'flow'])
		for (const by of [1, -1]) {
			const x = await server('step', { id: one, by, along }), y = await inside('step', { id: other, by, along });
			const p = x === null ? null : await server('detail', { id: x }), q = y === null ? null : await inside('detail', { id: y });

			assert.deepEqual(ref(p), ref(q), `${along} ${by} of ${a.name} at ${a.t}`);
		}
}

const info = await server('info', {}), span = info.span;

assert.equal(info.slices, engine.store.info.slices);
for (const [t0, t1] of [[0, span], [span / 3, span / 2], [span * 0.4, span * 0.41], [span * 0.5 + 0.25, span * 0.5 + 3000.75], [-span / 10, span * 1.1]])
	for (const pixels of [1, 17, 300, 1400])
		await windows(t0, t1, pixels);
const some = there.filter(p => p.track >= 0).slice(0, 3).map(p => p.track);

for (const scope of [{}, { ranges: [[span / 4, span / 2]] }, { ranges: [[0, span / 10], [span / 5, span / 4], [span / 2, span]] },
	{ ranges: [[span / 3, span / 3 + 1000]] }, { tracks: some }, { query: NAME }, { query: 'dur:>30us', ranges: [[0, span / 2]] }].map(s =>
	(s.ranges ? { ...s, ranges: s.ranges.map(r => r.map(Math.round)) } : s))) {
	await tables(scope);
	for (const more of [{}, { self: true, log: false }, { group: 'track' }, { group: 'parent' }, { group: 'argument', argument: 'i' }, { group: 'rank', low: 10, high: 5e5 }])
		await spread(scope, more);
}
await events();
const arrows = f => f.from.t.map((t, i) => `${t} ${f.to.t[i]} ${f.from.lane[i]} ${f.to.lane[i]}`).sort();

for (const [t0, t1] of [[0, span], [span / 3, span / 2]]) {
	const a = await server('flows', { t0, t1, limit: 100000 }), b = await inside('flows', { t0, t1, limit: 100000 });

	assert.deepEqual(arrows(a), arrows(b));
	assert.equal(a.more, b.more);
}
console.log('equal');
