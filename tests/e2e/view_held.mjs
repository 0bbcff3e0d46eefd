// view_held.mjs - asks a server and a page that holds the same trace every question, and compares the answers
// to the last digit: both are src/analysis/view, compiled for the machine and for the page.
//
//   node view_held.mjs NODE_MODULES PAGE.html ADDRESS WEB
import assert from 'node:assert/strict';
import { openPage } from './held.mjs';

const [modules, page, address, web] = process.argv.slice(2);
const NAME = process.env.VIEW_NAME;
const held = await openPage(modules, web, page);
const base = new URL('/api/', address);
const asked = new Set();

async function server(method, ask) {
	const r = await fetch(new URL(method, base), { method: 'POST', body: JSON.stringify(ask),
		headers: { Cookie: process.env.VIEW_COOKIE, 'X-Unitrace': '1', 'Content-Type': 'application/json' } });

	if (r.status !== 200)
		return { error: await r.text() };
	if (method === 'window')
		return Buffer.from(await r.arrayBuffer()).toString('hex');
	return JSON.parse((await r.text()).trim().split('\n').at(-1)); // the lines before are of a part of the trace
}

function inside(method, ask) {
	try {
		const answer = held.ask(method, ask);

		return method === 'window' ? Buffer.from(answer).toString('hex') : answer;
	} catch (e) {
		return { error: e.message };
	}
}

/* The answer of both. */
async function same(method, ask = {}) {
	const here = inside(method, ask);

	assert.deepEqual(here, await server(method, ask), `${method} ${JSON.stringify(ask)}`);
	asked.add(method);
	return here;
}

/* ---- what there is --------------------------------------------------------------------------- */

const { files, notes, can, cli, tools, title, ...info } = inside('info', {}), there = await server('info', {});
const span = info.span, places = await same('places');

for (const key of Object.keys(info))
	assert.deepEqual(info[key], there[key], key);
for (let first = 0; first <= info.types; first += 4096) {
	const here = inside('types', { first }), all = await server('types', { first });

	for (const list of ['names', 'cats']) // a saved trace forgets types that only its reader used
		assert.deepEqual(here[list], all[list].map((text, i) => here.names[i] + here.cats[i] && text));
}
const words = inside('words', {});

assert.deepEqual(words, (await server('words', {})).slice(-words.length)); // behind those of SQL
asked.add('info').add('types').add('words');

/* ---- pictures -------------------------------------------------------------------------------- */

const lanes = places.filter(p => p.track >= 0).flatMap(p => p.lanes.map((_, i) => [p.track, i]));

for (const [t0, t1] of [[0, span], [span / 3, span / 2], [span * 0.4, span * 0.41], [span * 0.5 + 0.25, span * 0.5 + 3000.75], [-span / 10, span * 1.1]])
	for (const pixels of [1, 17, 300, 1400])
		await same('window', { t0, t1, pixels, lanes });
for (const [t0, t1] of [[0, span], [span / 3, span / 2]])
	for (const limit of [3, 100000])
		await same('flows', { t0, t1, limit });

/* ---- tables ---------------------------------------------------------------------------------- */

const some = places.filter(p => p.track >= 0).slice(0, 3).map(p => p.track);
const round = range => range.map(Math.round);

for (const scope of [{}, { ranges: [round([span / 4, span / 2])] }, { ranges: [[0, span / 10], [span / 5, span / 4], [span / 2, span]].map(round) },
	{ ranges: [round([span / 3, span / 3 + 1000])] }, { tracks: some }, { query: NAME }, { query: 'dur:>30us', ranges: [round([0, span / 2])] }]) {
	await same('aggregate', { scope });
	await same('aggregate', { scope, by: ['i'] });
	await same('findings', { scope });
	await same('list', { scope, limit: 100000 });
	await same('list', { scope, limit: 3 });
	await same('stacks', { scope });
	for (const kind of ['top-down', 'bottom-up', 'callers', 'callees', 'time-order'])
		for (const nodes of [5, 100000])
			await same('tree', { scope, kind, name: NAME, nodes });
	for (const more of [{}, { self: true, log: false }, { group: 'track' }, { group: 'parent' }, { group: 'argument', argument: 'i' }, { group: 'rank', low: 10, high: 5e5 }])
		await same('distribution', { scope, name: NAME, self: false, log: true, bins: 20, group: 'none', ...more });
}

/* ---- single events --------------------------------------------------------------------------- */

for (const query of ['', NAME, `"${NAME}"`, '/^.{3,6}$/', `-${NAME}`, 'dur:>20us', 'self:<5us', 'dur:1us..9us cat:op', 'rank:0', 'thread:worker', 'arg.i:7', `name:${NAME} track:1`, 'self:>1ms', 'dur:>x', '/[/']) {
	const found = await same('search', { query, limit: 50, scope: {} });

	for (const by of [1, -1])
		await same('find', { query, from: found.list?.[1]?.id ?? null, by, scope: {} });
	for (const { id, t } of found.list?.slice(0, 12) ?? []) {
		await same('detail', { id });
		for (const along of ['name', 'track', 'flow'])
			for (const by of [1, -1])
				await same('step', { id, by, along });
		await same('at', { track: Math.floor(id / 2 ** 32), lane: 0, t, slack: 0 });
	}
}
for (const id of [2 ** 32 * 1000, 4294967295])
	await same('detail', { id });
await same('no such question');
console.log(`equal: ${[...asked].sort().join(' ')}`);
