// synth.ts - traces made up for tests and benchmarks: the same bytes for the same numbers.

import type { Info, Place, PlaceKind } from '../src/source/contract';

/* A row as a file has it: of a track, in order of time. */
export interface MadeRow {
	t: number;
	val: number; // length; value of a counter; number of an arrow or of an async span
	kind: 'span' | 'mark' | 'counter' | 'asyncBegin' | 'asyncEnd' | 'flowOut' | 'flowIn';
	type: number; // names and cats
	args: string; // JSON, or none
	unfinished: boolean;
}

export interface Made {
	info: Info;
	places: Place[];
	names: string[];
	cats: string[];
	tracks: MadeRow[][];
}

export function random(seed: number): () => number {
	let s = seed >>> 0;

	return () => {
		s = (s + 0x6d2b79f5) | 0;
		let t = Math.imul(s ^ (s >>> 15), 1 | s);

		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

interface Event extends MadeRow {
	key: number; // of a slice, to find its row again after sorting; -1: none
	order: number;
}

export class Maker {
	readonly places: Place[] = [];
	readonly names: string[] = [];
	readonly cats: string[] = [];
	private readonly types = new Map<string, number>();
	private readonly events: Event[][] = [];
	private arrows = 0;
	private keys = 0;

	place(parent: number, kind: PlaceKind, name: string, more: Partial<Place> = {}): number {
		const id = this.places.length,
			above = this.places[parent];
		const holds = !['rank', 'process', 'device', 'group'].includes(kind);

		this.places.push({
			id,
			parent,
			kind,
			name,
			rank: above?.rank ?? -1,
			lanes: [],
			track: holds ? this.events.push([]) - 1 : -1,
			...more,
		});
		return id;
	}

	type(name: string, cat: string): number {
		const key = `${cat}\n${name}`;
		let type = this.types.get(key);

		if (type === undefined) {
			this.types.set(key, (type = this.names.push(name) - 1));
			this.cats.push(cat);
		}
		return type;
	}

	private add(place: number, of: Partial<Event> & Pick<Event, 't' | 'kind' | 'type'>): void {
		const all = this.events[this.places[place].track];

		all.push({
			val: 0,
			args: '',
			unfinished: false,
			key: -1,
			...of,
			t: Math.round(of.t),
			order: all.length,
		});
	}

	slice(place: number, name: string, cat: string, t: number, d: number, args?: object): number {
		const key = this.keys++,
			type = this.type(name, cat),
			val = Math.round(t + d) - Math.round(t);

		if (this.places[place].kind === 'async') {
			this.add(place, {
				t,
				kind: 'asyncBegin',
				type,
				key,
				val: key + 1,
				args: args && JSON.stringify(args),
			});
			this.add(place, { t: Math.round(t) + val, kind: 'asyncEnd', type, val: key + 1 });
		} else {
			const kind = d < 0 ? 'mark' : 'span';

			this.add(place, { t, kind, type, key, val: d < 0 ? 0 : val, args: args && JSON.stringify(args) });
		}
		return key;
	}

	private find(place: number, key: number): Event {
		return this.events[this.places[place].track].find(e => e.key === key)!;
	}

	neverEnds(place: number, key: number): void {
		this.find(place, key).unfinished = true;
	}

	sample(place: number, t: number, v: number): void {
		this.add(place, { t, kind: 'counter', type: this.type(this.places[place].name, ''), val: v });
	}

	arrow(from: number, fromKey: number, to: number, toKey: number): void {
		const type = this.type('arrow', ''),
			val = ++this.arrows;

		this.add(from, { t: this.find(from, fromKey).t, kind: 'flowOut', type, val });
		this.add(to, { t: this.find(to, toKey).t, kind: 'flowIn', type, val });
	}

	parts(title: string, more: Partial<Info> = {}): Made {
		let span = 0;
		const tracks = this.events.map(of => {
			const length = (e: Event) => (e.kind === 'span' ? e.val : -1);

			of.forEach(e => (span = Math.max(span, e.t + Math.max(0, length(e)))));
			return [...of].sort((a, b) => a.t - b.t || length(b) - length(a) || a.order - b.order);
		});

		return {
			places: this.places,
			names: this.names,
			cats: this.cats,
			tracks,
			info: infoOf(title, tracks, span + 1, this.places, {
				cats: [...new Set(this.cats)].filter(cat => cat).slice(0, 256),
				...more,
			}),
		};
	}
}

const isSlice = (r: MadeRow): boolean => ['span', 'mark', 'asyncBegin'].includes(r.kind);

function infoOf(
	title: string,
	tracks: MadeRow[][],
	span: number,
	places: Place[],
	more: Partial<Info>,
): Info {
	const count = (wanted: (r: MadeRow) => boolean) =>
		tracks.reduce((n, t) => n + t.filter(wanted).length, 0);

	return {
		title,
		files: [`${title}.utr`],
		start: '1794792313000000000',
		span,
		slices: count(isSlice),
		samples: count(r => r.kind === 'counter'),
		ranks: places.filter(p => p.kind === 'rank').length,
		types: 4096,
		cats: [],
		losses: [],
		notes: [],
		clockError: 400,
		cli: `${title}.utr`,
		live: false,
		can: { sql: false, notes: false },
		...more,
	};
}

const OPS: [op: string, kernel: string, us: number][] = [
	['aten::layer_norm', 'vectorized_layer_norm<bf16>', 5.4],
	['aten::addmm', 'nvjet_sm90_tst_128x64_64x8_1x2_h_bz_bias_TNT', 7.5],
	['aten::scaled_dot_product_attention', 'cudnn_sdpa_flash_fprop', 13.9],
	['aten::addmm', 'nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_bias_TNT', 12.6],
	['aten::add', 'vectorized_elementwise<add, bf16>', 4.1],
	['aten::gelu', 'vectorized_elementwise<Gelu>', 9.3],
	['aten::log_softmax', 'cunn_SoftMaxForwardReg<f32>', 64.8],
];

interface RankPlaces {
	main: number;
	auto: number;
	compute: number;
	comm: number;
	idle: number;
	sm: number;
	hbm: number;
}

function rankPlaces(m: Maker, rank: number): RankPlaces {
	const top = m.place(-1, 'rank', `Rank ${rank}`, {
		rank,
		sub: `node-${'ab'[rank >> 1] ?? 'c'}, python3 ${4235 + rank}`,
	});
	const main = m.place(top, 'thread', 'MainThread', { sub: String(4235 + rank), cpu: 0.92 });
	const auto = m.place(top, 'thread', 'autograd', { sub: String(4259 + rank) });
	const device = m.place(top, 'device', `cuda:${rank}`, { sub: 'H200' });

	return {
		main,
		auto,
		idle: m.place(device, 'idle', 'idle: cause'),
		compute: m.place(device, 'queue', 'stream 7', { sub: 'compute' }),
		comm: m.place(device, 'queue', 'stream 13', { sub: 'NCCL' }),
		sm: m.place(device, 'counter', 'SM active', { unit: '%' }),
		hbm: m.place(device, 'counter', 'HBM', { unit: 'GB/s' }),
	};
}

/* One op with its call and its kernel; returns when the host and the device are free again. */
function op(
	m: Maker,
	p: RankPlaces,
	host: number,
	t: number,
	free: number,
	of: (typeof OPS)[0],
	rnd: () => number,
	corr: number,
	back: boolean,
): [number, number] {
	const name = back ? `${of[0].slice(6)}Backward0` : of[0];
	const call = 3800 + rnd() * 2400,
		length = of[2] * 1000 * (0.93 + rnd() * 0.14) * (rnd() < 0.01 ? 4 : 1);
	const dur = 9000 + rnd() * 16000 + call,
		at = Math.max(free, t + dur + 2400);

	m.slice(host, name, 'cpu_op', t, dur, { 'input dims': '[[2048, 768], [768]]', sequence: corr });
	if (at - free > 800)
		// the device had nothing to do: nothing was launched, or what was is on its way
		m.slice(p.idle, t + dur - 300 > free ? 'host late' : 'idle', 'idle', free, at - free);
	const from = m.slice(host, 'cudaLaunchKernel', 'cuda_runtime', t + dur - call - 300, call, {
		correlation: corr,
	});
	const to = m.slice(p.compute, of[1], 'kernel', at, length, {
		correlation: corr,
		grid: '[2048,1,1]',
		block: '[128,1,1]',
		'registers per thread': 32,
	});

	m.arrow(host, from, p.compute, to);
	m.sample(p.sm, at, 60 + rnd() * 38);
	m.sample(p.hbm, at, 200 + rnd() * 3600);
	m.sample(p.sm, at + length, 0);
	m.sample(p.hbm, at + length, 0);
	return [t + dur + 2500 + rnd() * 3000, at + length + 600];
}

/* A made-up training run: Python, ops, calls, kernels, collectives, counters, arrows. */
export function training(ranks: number, steps: number, more: Partial<Info> = {}): Made {
	const m = new Maker(),
		rnd = random(7);
	const frames = m.place(-1, 'lane', 'Steps');
	const all = Array.from({ length: ranks }, (_, r) => rankPlaces(m, r));
	const loads = m.place(-1, 'async', 'Loader', { sub: 'batches' });
	let at = 50_000,
		corr = 1;

	for (let step = 0; step < steps; step++) {
		let end = at;

		m.slice(loads, 'load batch', 'io', at - 40_000, 700_000 + rnd() * 900_000, { step });
		all.forEach((p, rank) => {
			const slow = rank === 2 ? 1.22 : 1,
				begin = at + rnd() * 30_000;
			let host = begin + 20_000,
				free = begin;
			const forward = host;

			for (let block = 0; block < 6; block++) {
				const from = host;

				for (const of of OPS.slice(0, 6)) {
					[host, free] = op(m, p, p.main, host + 800 * slow, free, of, rnd, corr++, false);
					host += (slow - 1) * 18_000;
				}
				m.slice(p.main, `Block.forward [${block}]`, 'python', from, host - from, {
					line: 'model.py:84',
				});
			}
			[host, free] = op(m, p, p.main, host + 800, free, OPS[6], rnd, corr++, false);
			m.slice(p.main, 'Model.forward', 'python', forward - 4000, host - forward + 6000, {
				line: 'model.py:112',
			});
			const zero = host + 8000;

			m.slice(p.main, 'optimizer.zero_grad', 'python', zero, 380_000 * slow, { line: 'train.py:91' });
			host = zero + 390_000 * slow;
			const back = host;

			for (let i = 0; i < 36; i++) {
				[host, free] = op(m, p, p.auto, host + 600, free, OPS[5 - (i % 6)], rnd, corr++, true);
				if (i % 12 === 11)
					m.slice(
						p.comm,
						'ncclDevKernel_AllReduce_Sum_bf16_RING_LL',
						'kernel',
						free + 4000,
						140_000 + rnd() * 60_000,
					);
			}
			m.slice(p.auto, 'backward', 'task', back, host - back);
			m.slice(p.main, 'Tensor.backward', 'python', back - 3000, host - back + 9000, {
				line: 'train.py:92',
			});
			m.slice(p.main, 'train_step', 'python', begin, host - begin + 30_000, { line: 'train.py:88' });
			end = Math.max(end, host + 40_000);
		});
		m.slice(frames, `step ${step}`, 'frame', at, end - at);
		if (step % 16 === 0) m.slice(frames, 'checkpoint', 'mark', end - 30_000, -1);
		at = end + 15_000;
	}
	m.neverEnds(all[0].auto, m.slice(all[0].auto, 'shutdown', 'task', at, 60_000));
	return m.parts('gpt-ddp4', {
		losses: [{ name: 'unfinished', text: 'spans that never ended', count: 1 }],
		...more,
	});
}

/* n slices on 64 tracks of 3 depths, for benchmarks: columns at once, no objects. */
export function big(n: number, tracks = 64): Made {
	const m = new Maker(),
		rnd = random(3),
		per = Math.floor(n / tracks);

	for (let r = 0; r < tracks / 8; r++) {
		const top = m.place(-1, 'rank', `Rank ${r}`, { rank: r });

		for (let i = 0; i < 8; i++)
			m.place(top, i < 6 ? 'thread' : 'queue', i < 6 ? `worker ${i}` : `stream ${i}`);
	}
	for (let i = 0; i < 60; i++) m.type(`function_${i}`, ['python', 'cpu_op', 'kernel', 'task'][i % 4]);
	let span = 0;
	const columns = Array.from({ length: tracks }, () => {
		const rows: MadeRow[] = [];
		let t = Math.floor(rnd() * 1000);

		for (let i = 0; i < per; i++) {
			const outer = i % 5 === 0;

			t += outer ? 400 + Math.floor(rnd() * 4000) : 20;
			const val = outer ? 2000 : i % 5 < 3 ? 300 : 30 + Math.floor(rnd() * 100);

			rows.push({ t, val, kind: 'span', type: Math.floor(rnd() * 60), args: '', unfinished: false });
			if (!outer) t += val;
			if (i % 5 === 4) t = rows[i - 4].t + 2000;
		}
		span = Math.max(span, t + 3000);
		return rows;
	});
	const made = m.parts(`${n / 1e6} M slices`);

	return { ...made, tracks: columns, info: { ...made.info, slices: per * tracks, span } };
}

/* Names that have broken other viewers. */
export const HOSTILE = [
	'<img src=x onerror="window.hacked=1">',
	'"><script>window.hacked=1</script>',
	'a\u202egnp.exe',
	'nul\u0000inside',
	'\u0007bell \u001b[31mred',
	'line\nbreak\ttab',
	'',
	'x'.repeat(1 << 20),
	'\ud800 alone',
	'__proto__',
	'constructor',
	"'; DROP TABLE slice; --",
	'${7*7}',
	'aten::mul',
	'日本語 ß é',
	'std::vector<std::map<int, std::pair<long, char>>>::push_back(const T&)',
];

export function hostile(): Made {
	const m = new Maker();
	const bad = m.place(-1, 'process', '<b onclick=alert(1)>process</b>');
	const track = m.place(bad, 'thread', '<svg onload="window.hacked=1">', { sub: '\u202e4711' });
	const hair = m.place(bad, 'thread', 'overlaps by a hair');

	HOSTILE.forEach((name, i) =>
		m.slice(track, name, name.slice(0, 99), i * 1000, 900, {
			'<u>key</u>': name.slice(0, 2000),
			__proto__x: 1,
		}),
	);
	// What with_stack records: spans that end a few ns after the one around them.
	for (let i = 0; i < 100; i++) {
		m.slice(hair, 'outer', 'python', i * 1000, 800);
		m.slice(hair, 'inner', 'python', i * 1000 + 100, 705);
	}
	return m.parts('<script>window.hacked=1</script>');
}

/* After and before: the same program, once with fewer steps; each has a name of its own. */
export function twoRuns(): [Made, Made] {
	const one = (title: string, own: string, slower: number) => {
		const m = new Maker(),
			t = m.place(m.place(-1, 'rank', 'Rank 0', { rank: 0 }), 'thread', 'MainThread');

		for (let i = 0; i < 40; i++) {
			const at = i * 100_000;

			m.slice(t, 'step', 'task', at, 60_000 + 25_000 * slower);
			m.slice(t, 'load', 'task', at + 1000, 20_000);
			m.slice(t, 'compute', 'task', at + 25_000, 30_000 * slower + i * 100);
			if (i % 4 === 0) m.slice(t, own, 'task', at + 80_000, 2000);
		}
		return m.parts(title, title === 'after' ? { before: 'before.utr' } : {});
	};

	return [one('after', 'copy less', 1.5), one('before', 'copy more', 1)];
}

/* What `make demo` records: threads, and one domain. */
export function oneCategory(): Made {
	const m = new Maker();

	for (let n = 0; n < 3; n++) {
		const t = m.place(-1, 'thread', `worker ${n}`);

		for (let i = 0; i < 20; i++) {
			m.slice(t, 'frame of work', 'demo', i * 1000, 900);
			m.slice(t, 'inner loop', 'demo', i * 1000 + 100, 500);
			m.slice(t, 'write results', 'demo', i * 1000 + 650, 200);
		}
	}
	return m.parts('demo');
}
