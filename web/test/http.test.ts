// http.test.ts - the same questions over HTTP and inside the page have the same answers.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Server } from 'node:http';
import { eventId, type Method, type Methods } from '../src/source/contract';
import { HttpSource } from '../src/source/http';
import { HeldSource, PortSource, serveHeld, SheetSource } from '../src/inline/inline';
import { readWindow } from '../src/source/window';
import { serve } from './serve';
import { training } from './synth';
import { held } from './utr';

const engine = await held(training(2, 3));
const scope = { ranges: [[500_000, 2_000_000]] as [number, number][] };
const ASKS: { [M in Method]?: Methods[M]['ask'] } = {
	places: {},
	types: { first: 0 },
	flows: { t0: 0, t1: 1e6, limit: 10 },
	detail: { id: eventId(2, 5) },
	window: {
		t0: 0,
		t1: 3e6,
		pixels: 300,
		lanes: [
			[1, 0],
			[1, 1],
			[5, 0],
			[99, 0],
		],
	},
	at: { track: 1, lane: 0, t: 1e6, slack: 1e5 },
	step: { id: eventId(2, 5), by: 1, along: 'name' },
	search: { query: 'aten dur:>20us', limit: 3, scope },
	find: { query: 'aten', from: null, by: -1, scope },
	aggregate: { scope },
	list: { scope, limit: 5 },
	tree: { scope, kind: 'bottom-up', nodes: 20 },
	distribution: { scope, name: 'aten::add', self: true, log: true, bins: 9, group: 'parent' },
	words: {},
	notes: {},
};
let server: Server,
	url = '';

before(async () => ({ server, url } = await serve(engine, '.')));
after(() => server.close());

const plain = (v: unknown): unknown =>
	v instanceof ArrayBuffer ? [...new Uint8Array(v)] : JSON.parse(JSON.stringify(v));

test('three ways to ask, one answer', async () => {
	const { port1, port2 } = new MessageChannel(),
		inside = new HeldSource(engine),
		http = new HttpSource(`${url}api/`);

	serveHeld(port2, engine);
	const port = new PortSource(port1);

	for (const method of Object.keys(ASKS) as Method[]) {
		const want = plain(await inside.ask(method, ASKS[method] as never));

		assert.deepEqual(plain(await http.ask(method, ASKS[method] as never)), want, method);
		assert.deepEqual(plain(await port.ask(method, ASKS[method] as never)), want, method);
	}
	port1.close();
});

test('a long answer comes in parts', async () => {
	const seen: number[] = [],
		ask = { query: 'aten', limit: 1, scope: {} };
	const last = await new HttpSource(`${url}api/`).ask('search', ask, undefined, part =>
		seen.push(part.count),
	);

	assert.deepEqual(seen, [1]);
	assert.equal(last.count, engine.ask('search', ask).count);
});

test('errors come back as sentences', async () => {
	const http = new HttpSource(`${url}api/`);

	await assert.rejects(http.ask('search', { query: 'dur:>x', limit: 1, scope: {} }), /x is no time/);
	await assert.rejects(http.ask('constructor' as Method, {}), /no such question/);
	const stop = new AbortController(),
		asked = http.ask('aggregate', { scope }, stop.signal);

	stop.abort();
	await assert.rejects(asked, { name: 'AbortError' });
});

test('bytes that are no window are refused', () => {
	assert.throws(() => readWindow(new ArrayBuffer(0)));
	assert.throws(() => readWindow(new TextEncoder().encode('<html>'.repeat(20)).buffer), /not a window/);
	const good = engine.ask('window', ASKS.window!);

	assert.throws(() => readWindow(good.slice(0, good.byteLength - 1)), /cut short/);
});

test('sheets of tools are unpacked when asked for, once', async () => {
	const packed = async (text: string) => {
		const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate'));

		return Buffer.from(await new Response(stream).arrayBuffer()).toString('base64');
	};
	const cores = await packed('{"n":"\\u003cb>"}');
	const asked: string[] = [];
	const source = new SheetSource(new HeldSource(engine), (tool, name) => {
		asked.push(`${tool} ${name}`);
		return name === 'cores' ? cores : null;
	});

	assert.deepEqual(await source.ask('places', {}), engine.ask('places', {}));
	assert.deepEqual(asked, []);
	for (let i = 0; i < 2; i++)
		assert.deepEqual(await source.ask('sheet', { tool: 'devlog', name: 'cores' }), { n: '<b>' });
	assert.deepEqual(asked, ['devlog cores']);
	await assert.rejects(source.ask('sheet', { tool: 'devlog', name: 'none' }), /no such sheet/);
	await assert.rejects(
		new HttpSource(`${url}api/`).ask('sheet', { tool: 'devlog', name: 'cores' }),
		/no such sheet: cores of devlog/,
	);
});
