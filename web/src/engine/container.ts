// container.ts - a trace as bytes inside a page: written by `unitrace export -o run.html`.
//
//   "UTI1"  u32 length of the head  head, JSON  then the columns, in the order of the head
//
// Little-endian; the whole is deflated and, in the page, base64. Numbers are LEB128. A track of
// slices: start (from the one before), length, type, argument list. A counter: time (from the one
// before), then values of 8 bytes. Then arrows: track and row of both ends. Then the argument
// lists: JSON objects, one a line.

import { eventId, type Aggregates, type Info, type Place, type Table } from '../source/contract';
import { ASIDE, ASYNC, ITSELF, LONG, MARK, NOT_WORK, QUIET, type Rows } from './lanes';
import { Store, type StoreParts, type TrackColumns } from './store';

interface TrackHead {
	rows: number;
	counter: boolean;
	args: boolean;
	unfinished?: number[];
}

interface Head {
	info: Info;
	places: Place[];
	names: string[];
	cats: string[];
	marks: number[]; // types without length
	asides: number[]; // types that are nobody's work
	notWork: number[]; // types that no table counts
	asyncs?: number[]; // types that may overlap their like
	quiet?: number[]; // types that are no work of a device on whose queue they are
	itself?: number[]; // types that a tool has for itself
	tracks: TrackHead[];
	arrows: number;
	args: number; // bytes of the argument lists
	/* where slices are left out: what is counted in all of them; whose types and tracks ours are */
	whole?: { aggregate: Aggregates; types: number[]; tracks: number[] };
}

const MAGIC = 0x31495455;

class Reader {
	at = 0;

	constructor(readonly bytes: Uint8Array) {}

	number(): number {
		let value = 0,
			scale = 1;

		for (;;) {
			if (this.at >= this.bytes.length) throw new Error('the trace in this page is cut short');
			const b = this.bytes[this.at++];

			value += (b & 127) * scale;
			if (b < 128) return value;
			scale *= 128;
		}
	}

	take(n: number): Uint8Array {
		if (n < 0 || this.at + n > this.bytes.length) throw new Error('the trace in this page is cut short');
		this.at += n;
		return this.bytes.subarray(this.at - n, this.at);
	}
}

function readRows(r: Reader, head: TrackHead, types: number): Rows {
	const n = head.rows;
	const rows: Rows = {
		count: n,
		start: new Float64Array(n),
		dur: new Uint32Array(n),
		long: new Map(),
		type: types > 65536 ? new Uint32Array(n) : new Uint16Array(n),
		args: head.args ? new Uint32Array(n) : null,
	};
	let t = 0;

	for (let i = 0; i < n; i++) rows.start[i] = t += r.number();
	for (let i = 0; i < n; i++) {
		const d = r.number();

		if (d >= LONG) rows.long.set(i, d);
		rows.dur[i] = Math.min(d, LONG);
	}
	for (let i = 0; i < n; i++) rows.type[i] = r.number();
	for (let i = 0; rows.args && i < n; i++) rows.args[i] = r.number();
	return rows;
}

function readTrack(r: Reader, head: TrackHead, types: number): TrackColumns {
	if (!head.counter) return { rows: readRows(r, head, types), unfinished: head.unfinished };
	const time = new Float64Array(head.rows);
	let t = 0;

	for (let i = 0; i < head.rows; i++) time[i] = t += r.number();
	return { time, value: new Float64Array(r.take(head.rows * 8).slice().buffer) };
}

/* The numbers of a column become those of this page. */
function renumber(t: Table, key: string, ours: Map<number, number>): Table {
	const at = t.columns.findIndex(c => c.key === key);

	return {
		...t,
		data: t.data.map((cells, i) =>
			i === at ? cells.map(c => (typeof c === 'number' ? (ours.get(c) ?? null) : c)) : cells,
		),
	};
}

function readWhole(w: NonNullable<Head['whole']>): Aggregates {
	const types = new Map(w.types.map((t, i) => [t, i])),
		tracks = new Map(w.tracks.map((t, i) => [t, i]));

	return {
		...w.aggregate,
		slices: renumber(w.aggregate.slices, 'type', types),
		threads: renumber(w.aggregate.threads, 'track', tracks),
	};
}

export function readContainer(bytes: Uint8Array): Store {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

	if (bytes.length < 8 || view.getUint32(0, true) !== MAGIC) throw new Error('this page holds no trace');
	const r = new Reader(bytes);

	r.at = 8;
	const head = JSON.parse(new TextDecoder().decode(r.take(view.getUint32(4, true)))) as Head;
	const flags = new Uint8Array(head.names.length);

	const lists: [number, number[] | undefined][] = [
		[MARK, head.marks],
		[ASIDE, head.asides],
		[NOT_WORK, head.notWork],
		[ASYNC, head.asyncs],
		[QUIET, head.quiet],
		[ITSELF, head.itself],
	];

	for (const [flag, types] of lists)
		types?.forEach(type => {
			flags[type] |= flag;
		});
	const tracks = head.tracks.map(t => readTrack(r, t, head.names.length));
	const arrows: StoreParts['arrows'] = [new Float64Array(head.arrows), new Float64Array(head.arrows)];

	for (let i = 0; i < head.arrows; i++) {
		arrows[0][i] = eventId(r.number(), r.number());
		arrows[1][i] = eventId(r.number(), r.number());
	}
	const argTexts = new TextDecoder().decode(r.take(head.args)).split('\n');

	return new Store({
		info: head.whole ? { ...head.info, thinned: true } : head.info,
		whole: head.whole && readWhole(head.whole),
		places: head.places,
		names: head.names,
		cats: head.cats,
		flags,
		tracks,
		argTexts: ['', ...argTexts],
		arrows,
	});
}

/* ---- writing: `view --save` in the page, and tests ------------------------------------------ */

class Writer {
	private bytes = new Uint8Array(1 << 16);
	private length = 0;

	private room(n: number): void {
		if (this.length + n <= this.bytes.length) return;
		const next = new Uint8Array(Math.max(this.bytes.length * 2, this.length + n));

		next.set(this.bytes);
		this.bytes = next;
	}

	number(value: number): void {
		this.room(10);
		while (value >= 128) {
			this.bytes[this.length++] = (value % 128) | 128;
			value = Math.floor(value / 128);
		}
		this.bytes[this.length++] = value;
	}

	put(b: Uint8Array): void {
		this.room(b.length);
		this.bytes.set(b, this.length);
		this.length += b.length;
	}

	done(): Uint8Array {
		return this.bytes.subarray(0, this.length);
	}
}

function writeTrack(w: Writer, t: TrackColumns): void {
	const times = t.rows ? t.rows.start : t.time!;
	let before = 0;

	for (let i = 0; i < times.length; i++) {
		w.number(times[i] - before);
		before = times[i];
	}
	if (!t.rows) {
		w.put(new Uint8Array(t.value!.slice().buffer));
		return;
	}
	for (let i = 0; i < t.rows.count; i++) w.number(t.rows.long.get(i) ?? t.rows.dur[i]);
	for (let i = 0; i < t.rows.count; i++) w.number(t.rows.type[i]);
	for (let i = 0; t.rows.args && i < t.rows.count; i++) w.number(t.rows.args[i]);
}

const flagged = (p: StoreParts, flag: number): number[] => [...p.flags.keys()].filter(i => p.flags[i] & flag);

export function writeContainer(p: StoreParts): Uint8Array {
	const body = new Writer(),
		text = new TextEncoder();
	const args = text.encode(p.argTexts.slice(1).join('\n'));

	p.tracks.forEach(t => writeTrack(body, t));
	p.arrows[0].forEach((from, i) => {
		for (const id of [from, p.arrows[1][i]]) {
			body.number(Math.floor(id / 2 ** 32));
			body.number(id % 2 ** 32);
		}
	});
	body.put(args);
	const head: Head = {
		info: p.info,
		places: p.places,
		names: p.names,
		cats: p.cats,
		marks: flagged(p, MARK),
		asides: flagged(p, ASIDE),
		notWork: flagged(p, NOT_WORK),
		asyncs: flagged(p, ASYNC),
		quiet: flagged(p, QUIET),
		itself: flagged(p, ITSELF),
		arrows: p.arrows[0].length,
		args: args.length,
		tracks: p.tracks.map(t => ({
			rows: t.rows ? t.rows.count : t.time!.length,
			counter: !t.rows,
			args: !!t.rows?.args,
			unfinished: t.unfinished,
		})),
	};
	const json = text.encode(JSON.stringify(head)),
		out = new Uint8Array(8 + json.length + body.done().length);

	new DataView(out.buffer).setUint32(0, MAGIC, true);
	new DataView(out.buffer).setUint32(4, json.length, true);
	out.set(json, 8);
	out.set(body.done(), 8 + json.length);
	return out;
}
