// held.test.ts - the numbers of a page that holds its trace against naive ones.

import assert from 'node:assert/strict';
import { deflateSync, gunzipSync } from 'node:zlib';
import { test } from 'node:test';
import { MANY, readWindow } from '../src/source/window';
import { eventId, type Table } from '../src/source/contract';
import { Held, unpack } from '../src/inline/held';
import { KINDS, kindTable } from '../src/page/bycat';
import { big, HOSTILE, hostile, Maker, random, training } from './synth';
import { held, heldBytes, module, packed } from './utr';
import * as naive from './naive';

const wasm = gunzipSync(module());
const parts = training(3, 4);
const all = naive.slices(parts);
const engine = await held(parts);
const span = parts.info.span;
const places = engine.ask('places', {});
const { names } = engine.ask('types', { first: 0 });
const laneOf = (s: naive.Plain) => engine.ask('detail', { id: eventId(s.track, s.row) })!.lane;
const placeOf = (track: number) => places.find(p => p.track === track)!;

function rows(t: Table): Record<string, string | number | null>[] {
	return Array.from({ length: t.rows }, (_, i) =>
		Object.fromEntries(t.columns.map((c, k) => [c.key, t.data[k][i]])),
	);
}

const AREAS: [number, number][] = [
	[0, span],
	[1_000_000, 2_500_000],
	[123_456, 123_999],
	[span - 10, span],
];

test('slices by name are what a naive count says', async () => {
	for (const [a, b] of AREAS) {
		const want = naive.byName(
			all.filter(s => s.end > s.start),
			a,
			b,
		);
		const got = rows(engine.ask('aggregate', { scope: { ranges: [[a, b]] } }).slices).filter(
			r => r.name !== 'checkpoint',
		);

		const self = [...want.values()].reduce((sum, w) => sum + (w.self ?? 0), 0);

		assert.equal(got.length, want.size, `names in ${a}..${b}`);
		for (const r of got) {
			const w = want.get(r.name as string)!;

			assert.deepEqual(
				[r.count, r.total, r.self, r.min, r.max],
				[w.count, w.total, w.self, w.min, w.max],
				`${r.name} in ${a}..${b}`,
			);
			assert.equal(r.mean, w.total / w.count);
			assert.equal(r.share, w.self === null || !self ? null : w.self / self);
		}
	}
});

test('busy time of threads and devices, ranges with a hole', async () => {
	const ranges: [number, number][] = [
		[500_000, 900_000],
		[1_200_000, 2_000_000],
	];
	const got = engine.ask('aggregate', { scope: { ranges } });

	for (const r of rows(got.threads)) {
		const of = all.filter(s => s.track === r.track);

		assert.equal(r.busy, naive.busy(of, ...ranges[0]) + naive.busy(of, ...ranges[1]), String(r.name));
	}
	for (const r of rows(got.devices)) {
		const rank = Number(/rank (\d)/.exec(String(r.name))![1]);
		const queues = places
			.filter(p => p.kind === 'queue' && p.rank === rank && p.name.startsWith('stream'))
			.map(p => p.track);
		const of = all.filter(s => queues.includes(s.track));
		const busy = naive.busy(of, ...ranges[0]) + naive.busy(of, ...ranges[1]);

		assert.equal(r.busy, busy);
		assert.equal(r.idle, 1_200_000 - busy);
		const each = queues.map(q => of.filter(s => s.track === q));
		const sum = each.reduce((n, q) => n + naive.busy(q, ...ranges[0]) + naive.busy(q, ...ranges[1]), 0);

		assert.equal(r.overlap, sum - busy);
	}
});

test('what lies over the work of a device is none; what a tool says of itself is no finding', async () => {
	const m = new Maker(),
		device = m.place(-1, 'device', 'GPU 0'),
		queue = m.place(device, 'queue', 'stream 7'),
		other = m.place(device, 'queue', 'stream 8'),
		thread = m.place(m.place(-1, 'process', 'app'), 'thread', 'main');

	m.slice(queue, 'step', 'gpu_user_annotation', 0, 1000);
	m.slice(queue, 'forward', 'gpu_user_annotation', 50, 600);
	m.slice(queue, 'gemm', 'kernel', 100, 200);
	m.slice(queue, 'part', 'kernel', 150, 50);
	m.slice(queue, 'gemm', 'kernel', 400, 100);
	m.slice(other, 'step', 'gpu_user_annotation', 0, 2000);
	m.slice(thread, 'step', 'gpu_user_annotation', 0, 700); // on a thread it is work like any other
	m.slice(thread, 'profiler', 'overhead', 1000, 9000);
	const e = await held(m.parts('quiet'));
	const got = e.ask('aggregate', { scope: {} });

	assert.deepEqual(
		rows(got.devices).map(d => [d.busy, d.overlap, d.gap]),
		[[300, null, 9501]],
	);
	assert.deepEqual(Object.fromEntries(rows(got.threads).map(r => [r.name, [r.slices, r.busy]])), {
		'app / main': [2, 9700],
		'GPU 0 / stream 7': [5, 300],
		'GPU 0 / stream 8': [1, 0],
	});
	assert.match(e.ask('findings', { scope: {} }).at(-1)!.say, /^step has the most self time/);
	const only = e.ask('findings', { scope: { query: 'cat:overhead' } });

	assert.match(only.at(-1)!.say, /^profiler has the most self time/);
});

test('occupancy of kernels is a share, whoever says it', async () => {
	const m = new Maker(),
		queue = m.place(m.place(-1, 'device', 'GPU 0'), 'queue', 'stream 7');

	m.slice(queue, 'gemm', 'kernel', 0, 100, { 'est. achieved occupancy %': '97' });
	m.slice(queue, 'relu', 'kernel', 200, 50, { 'occupancy %': '50' });
	const kind = KINDS.find(k => k.id === 'kernels')!,
		by = kind.by.flatMap(b => b.keys);
	const t = kindTable(kind, (await held(m.parts('occupancy'))).ask('aggregate', { scope: {}, by }));
	const column = t.columns.findIndex(c => c.key === 'occupancy');

	assert.equal(t.columns[column].type, 'share');
	assert.deepEqual(t.data[column], [0.97, 0.5]);
});

test('counters: least, greatest, mean over time', async () => {
	const [a, b] = [700_000, 1_900_000];
	const got = rows(engine.ask('aggregate', { scope: { ranges: [[a, b]] } }).counters);

	assert.ok(got.length >= 6);
	for (const r of got) {
		const t = parts.tracks[r.track as number],
			time = t.map(s => s.t),
			value = t.map(s => s.val);
		const held = time
			.map((at, i) => [Math.max(a, at), Math.min(b, time[i + 1] ?? b), value[i]])
			.filter(([from, to]) => to > from);
		const mean =
			held.reduce((s, [x, y, v]) => s + v * (y - x), 0) / held.reduce((s, [x, y]) => s + y - x, 0);

		assert.equal(r.min, Math.min(...held.map(h => h[2])));
		assert.equal(r.max, Math.max(...held.map(h => h[2])));
		assert.ok(Math.abs((r.mean as number) - mean) < 1e-9 * mean, String(r.name));
		assert.equal(r.samples, time.filter(x => x >= a && x < b).length);
	}
});

test('a window touches the pixels that events touch, and draws long ones exactly', async () => {
	const rnd = random(11);

	for (const [a, b] of [...AREAS, [0, 3_000_000] as [number, number]])
		for (const pixels of [1, 7, 100, 1400]) {
			const track = Math.floor(rnd() * parts.tracks.length);
			const kinds = placeOf(track).lanes.map(l => l.kind);

			if (kinds[0] === 'counter') continue;
			const lanes = kinds.map((_, l): [number, number] => [track, l]);
			const w = readWindow(engine.ask('window', { t0: a, t1: b, pixels, lanes }));
			const px = (b - a) / pixels;

			lanes.forEach((_, l) => {
				if (kinds[l] === 'flows') return;
				const of = all.filter(
					s =>
						s.track === track &&
						laneOf(s) === l &&
						((s.start < b && s.end > a) || (s.start === s.end && s.start >= a && s.start < b)),
				);
				const items = Array.from({ length: w.first[l + 1] - w.first[l] }, (_, i) => w.first[l] + i);

				for (const s of of.filter(s => s.end - s.start >= px))
					assert.ok(
						items.some(i => w.row[i] === s.row && w.start[i] === s.start),
						'long ones are drawn',
					);
				const hit = (from: number, to: number, p: number) =>
					from < a + (p + 1) * px && Math.max(to, from + 1e-9) > a + p * px;

				for (let p = 0; p < pixels; p++) {
					const want = of.some(s => hit(s.start, s.end, p));
					const got = items.some(i => hit(w.start[i], w.start[i] + w.length[i], p));

					if (want) assert.ok(got, `pixel ${p} of ${pixels} in ${a}..${b}`);
				}
				for (const i of items)
					if (w.row[i] === MANY)
						assert.ok(
							of.some(s => s.start < w.start[i] + w.length[i] && s.end >= w.start[i]),
							'nothing from nothing',
						);
					else assert.equal(parts.names[parts.tracks[track][w.row[i]].type], names[w.type[i]]);
			});
		}
});

test('how full many small ones make a window is exact in sum', async () => {
	const made = big(200_000, 8),
		e = await held(made);

	for (const pixels of [64, 500]) {
		const lanes = [
				[0, 0],
				[3, 1],
			] as [number, number][],
			t1 = made.info.span;
		const w = readWindow(e.ask('window', { t0: 0, t1, pixels, lanes }));

		lanes.forEach(([track, lane], k) => {
			let got = 0;
			// every fifth has the four after it inside
			const want = made.tracks[track].reduce(
				(sum, r, i) => sum + (lane === Number(i % 5 > 0) ? r.val : 0),
				0,
			);

			for (let i = w.first[k]; i < w.first[k + 1]; i++)
				got += w.row[i] === MANY ? (w.fill[i] / 255) * (t1 / pixels) : w.length[i];
			assert.ok(Math.abs(got - want) < want * 0.01, `${got} for ${want}`);
		});
	}
});

test('a counter in a window: least and greatest of every pixel', async () => {
	const track = places.find(p => p.kind === 'counter')!.track,
		s = parts.tracks[track];
	const w = readWindow(engine.ask('window', { t0: 1e6, t1: 2e6, pixels: 50, lanes: [[track, 0]] }));

	assert.equal(w.cells[1], 50);
	for (let p = 0; p < 50; p++) {
		const a = 1e6 + p * 2e4,
			b = a + 2e4;
		const before = s.filter(r => r.t < a).slice(-1), // counts where there is no sample
			within = s.filter(r => r.t >= a && r.t < b),
			values = (within.length ? within : before).map(r => r.val);

		assert.equal(w.low[p], Math.fround(Math.min(...values)));
		assert.equal(w.high[p], Math.fround(Math.max(...values)));
	}
});

test('a counter without a value for a while: that time counts nowhere', async () => {
	const m = new Maker(),
		place = m.place(m.place(-1, 'process', 'app'), 'counter', 'usage', { unit: '%' });

	for (const [at, value] of [
		[0, 100],
		[10, NaN],
		[30, 50],
		[50, NaN],
	])
		m.sample(place, at, value);
	const gaps = await held(m.parts('gaps'));
	const of = (a: number, b: number) =>
		rows(gaps.ask('aggregate', { scope: { ranges: [[a, b]] } }).counters)[0];
	const r = of(0, 100);

	assert.deepEqual([r.samples, r.min, r.max, r.last], [2, 50, 100, 50]);
	assert.equal(r.mean, 2000 / 30);
	assert.equal(of(5, 40).mean, 1000 / 15);
	assert.equal(of(12, 28), undefined);
	const w = readWindow(
		gaps.ask('window', {
			t0: 0,
			t1: 80,
			pixels: 8,
			lanes: [[0, 0]],
		}),
	);

	assert.deepEqual([...w.high], [100, NaN, NaN, 50, 50, NaN, NaN, NaN]);
});

test('details: parents, self time, chain, position among its name', async () => {
	const rnd = random(5);

	for (let k = 0; k < 60; k++) {
		const s = all[Math.floor(rnd() * all.length)],
			d = engine.ask('detail', { id: eventId(s.track, s.row) })!;
		const same = all
			.filter(o => o.name === s.name)
			.sort((x, y) => x.start - y.start || x.track - y.track || x.row - y.row);

		assert.equal(d.name, s.name);
		assert.equal(d.dur, s.end - s.start);
		assert.equal(d.ofName, same.length);
		assert.equal(d.nth, same.indexOf(s) + 1);
		const parent = naive.parent(all, s),
			lane = placeOf(s.track).lanes[d.lane];

		if (lane.kind === 'spans') {
			assert.equal(d.parents.at(-1)?.id, parent ? eventId(parent.track, parent.row) : undefined);
			const inner = all.filter(o => o.track === s.track && naive.parent(all, o) === s);

			assert.equal(
				d.self,
				s.aside || s.cat === 'idle'
					? null
					: s.end - s.start - inner.reduce((n, o) => n + o.end - o.start, 0),
			);
		}
	}
	const kernel = all.find(s => s.name.startsWith('cunn_SoftMax'))!;
	const chain = engine.ask('detail', { id: eventId(kernel.track, kernel.row) })!.chain.map(c => c.role);

	assert.deepEqual(chain, ['Python', 'Op', 'Call', 'Kernel']);
});

test('search: count, order, next and previous as a ring', async () => {
	const scope = {};
	const want = all
		.filter(s => s.cat === 'kernel' && s.end - s.start > 40_000)
		.sort((a, b) => a.start - b.start || a.track - b.track);
	const found = engine.ask('search', { query: 'cat:kernel dur:>40us', limit: 5, scope });

	assert.equal(found.count, want.length);
	assert.deepEqual(
		found.list.map(r => r.t),
		want.slice(0, 5).map(s => s.start),
	);
	let id: number | null = null;

	for (let i = 0; i < want.length + 1; i++) {
		const hit: { id: number; nth: number } | null = engine.ask('find', {
			query: 'cat:kernel dur:>40us',
			from: id,
			by: 1,
			scope,
		});

		assert.equal(hit!.nth, (i % want.length) + 1);
		assert.equal(hit!.id, eventId(want[i % want.length].track, want[i % want.length].row));
		id = hit!.id;
	}
	const count = (query: string) => engine.ask('search', { query, limit: 1, scope }).count;

	assert.equal(count('aten::add'), all.filter(s => s.name.includes('aten::add')).length);
	assert.equal(count('"aten::add"'), all.filter(s => s.name === 'aten::add').length);
	assert.equal(
		count('aten -layer'),
		all.filter(s => s.name.includes('aten') && !s.name.includes('layer')).length,
	);
	assert.equal(count('/^Block.*[35]\\]$/'), all.filter(s => /^Block.*[35]\]$/.test(s.name)).length);
	assert.equal(
		count('rank:1..2 cat:python'),
		all.filter(s => s.cat === 'python' && [1, 2].includes(placeOf(s.track).rank)).length,
	);
	assert.equal(count('arg.correlation:"17"'), 2);
	assert.equal(
		count('self:>1ms train_step'),
		all
			.filter(s => s.name === 'train_step')
			.filter(
				s =>
					s.end -
						s.start -
						all.filter(o => naive.parent(all, o) === s).reduce((n, o) => n + o.end - o.start, 0) >
					1e6,
			).length,
	);
	assert.throws(() => count('dur:>soon'), /soon is no time/);
});

test('stepping along name, track and arrow', async () => {
	const call = all.find(s => s.name === 'cudaLaunchKernel')!,
		id = eventId(call.track, call.row);
	const kernel = engine.ask('step', { id, by: 1, along: 'flow' })!;

	assert.equal(engine.ask('detail', { id: kernel })!.cat, 'kernel');
	assert.equal(engine.ask('step', { id: kernel, by: -1, along: 'flow' }), id);
	const next = engine.ask('step', { id, by: 1, along: 'name' })!;

	assert.equal(engine.ask('detail', { id: next })!.nth, engine.ask('detail', { id })!.nth + 1);
	assert.equal(engine.ask('step', { id: next, by: -1, along: 'name' }), id);
	const first = all.filter(s => s.name === 'cudaLaunchKernel').sort((a, b) => a.start - b.start)[0];

	assert.equal(engine.ask('step', { id: eventId(first.track, first.row), by: -1, along: 'name' }), null);
});

test('distribution: quantiles, bins, groups', async () => {
	const name = 'aten::addmm',
		want = all
			.filter(s => s.name === name)
			.map(s => s.end - s.start)
			.sort((a, b) => a - b);

	for (const log of [true, false]) {
		const d = engine.ask('distribution', {
			scope: {},
			name,
			self: false,
			log,
			bins: 40,
			group: 'rank',
		});

		assert.deepEqual([d.count, d.min, d.max], [want.length, want[0], want.at(-1)]);
		assert.equal(d.p50, want[Math.ceil(want.length * 0.5) - 1]);
		assert.equal(d.p99, want[Math.ceil(want.length * 0.99) - 1]);
		assert.equal(d.groups.length, 3);
		assert.equal(
			d.groups.flatMap(g => g.counts).reduce((a, b) => a + b),
			want.length,
		);
		const edge = (i: number) =>
			log ? d.low * (d.high / d.low) ** (i / 40) : d.low + ((d.high - d.low) * i) / 40;

		for (let i = 1; i < 39; i++) {
			const n = d.groups.reduce((s, g) => s + g.counts[i], 0);

			assert.ok(
				Math.abs(n - want.filter(v => v >= edge(i) && v < edge(i + 1)).length) <= 1,
				`bin ${i}`,
			);
		}
		assert.equal(d.outliers[0].dur, want.at(-1));
	}
});

test('trees: totals are those of the table', async () => {
	const scope = { ranges: [[400_000, 2_400_000]] as [number, number][], tracks: [1, 2] };
	const table = new Map(rows(engine.ask('aggregate', { scope }).slices).map(r => [r.name, r]));
	const down = engine.ask('tree', { scope, kind: 'top-down', nodes: 10_000 });
	const sums = new Map<string, number>(),
		selfs = new Map<string, number>();

	down.name.forEach(
		(n, i) =>
			i &&
			(sums.set(n, (sums.get(n) ?? 0) + down.total[i]),
			selfs.set(n, (selfs.get(n) ?? 0) + down.self[i])),
	);
	for (const [name, total] of sums) {
		assert.equal(total, table.get(name)!.total, name);
		assert.equal(selfs.get(name), table.get(name)!.self, name);
	}
	const up = engine.ask('tree', { scope, kind: 'bottom-up', nodes: 10_000 });

	up.name.forEach((n, i) => up.parent[i] === 0 && assert.equal(up.total[i], table.get(n)!.self, n));
	const callers = engine.ask('tree', { scope, kind: 'callers', name: 'cudaLaunchKernel', nodes: 1000 });

	assert.equal(callers.total[0], table.get('cudaLaunchKernel')!.total);
	const callees = engine.ask('tree', { scope, kind: 'callees', name: 'aten::addmm', nodes: 1000 });

	assert.equal(callees.total[0], table.get('aten::addmm')!.total);
	assert.equal(callees.name[1], 'cudaLaunchKernel');
	const order = engine.ask('tree', { scope, kind: 'time-order', nodes: 10_000 });

	order.parent.forEach((p, i) => p > 0 && assert.ok(order.start![i] >= order.start![p]));
});

test('spans that overlap by a hair are kept, each on a lane', async () => {
	const e = await held(hostile());
	const place = e.ask('places', {}).find(p => p.name === 'overlaps by a hair')!;

	assert.deepEqual(place.lanes, [
		{ kind: 'spans', count: 100 },
		{ kind: 'overlap', count: 100 },
	]);
	const t = rows(e.ask('aggregate', { scope: { tracks: [place.track] } }).slices);

	assert.deepEqual(
		t.map(r => [r.name, r.count, r.total]),
		[
			['outer', 100, 80_000],
			['inner', 100, 70_500],
		],
	);
});

test('a page reads back what was written, hostile names and all', async () => {
	for (const make of [() => training(2, 3), hostile, () => big(10_000, 8)]) {
		const made = make(),
			back = await Held.open(await unpack(packed(made)), wasm);
		const { types } = back.ask('info', {}),
			got = new Set(
				Array.from(
					{ length: Math.ceil(types / 4096) },
					(_, i) => back.ask('types', { first: i * 4096 }).names,
				).flat(),
			);

		assert.deepEqual(
			[...new Set(made.names)].filter(
				n => !got.has(JSON.parse(JSON.stringify(n).replace('\\ud800', '\ufffd')) as string),
			),
			[],
		);
		assert.equal(
			back
				.ask('places', {})
				.reduce(
					(n, p) =>
						n +
						p.lanes
							.filter(l => l.kind !== 'flows' && l.kind !== 'counter')
							.reduce((m, l) => m + l.count, 0),
					0,
				),
			made.info.slices,
		);
	}
	const some = heldBytes(training(1, 1));

	for (const cut of [0, 7, 100, some.length - 9])
		await assert.rejects(Held.open(some.slice(0, cut), wasm), `cut at ${cut}`);
	assert.equal(HOSTILE.length, 16);
});

test('1 M slices take at most 8 MB in a page', async () => {
	const bytes = deflateSync(heldBytes(big(1_000_000)), { level: 5 });

	assert.ok((bytes.length * 4) / 3 < 8e6, `${bytes.length} bytes`);
});

test('longer than 4 s, no length, at the border', async () => {
	const m = new Maker(),
		t = m.place(-1, 'thread', 't');

	m.slice(t, 'hour', 'x', 0, 3.6e12);
	m.slice(t, 'none', 'x', 3.6e12 - 5, 0);
	const source = await held(m.parts('long'));
	const a = rows(source.ask('aggregate', { scope: {} }).slices);

	assert.deepEqual(
		a.map(r => [r.name, r.total, r.self]),
		[
			['hour', 3.6e12, 3.6e12],
			['none', 0, 0],
		],
	);
	assert.equal(source.ask('at', { track: 0, lane: 1, t: 3.6e12 - 4, slack: 2 })!.name, 'none');
	assert.equal(source.ask('at', { track: 0, lane: 1, t: 3.6e12 - 40, slack: 2 }), null);
});
