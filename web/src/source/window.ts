// window.ts - the columns of a drawn window, as bytes: what the server sends and the page draws.
//
//   u32 magic "UTW1"   u32 lanes   u32 items   u32 values
//   f64 t0, t1         u32 pixels  u32 0
//   f64 start[items]   f32 length[items]   u32 type[items]   u32 row[items]
//   u32 first[lanes + 1]          items of lane i: first[i] up to first[i + 1]
//   u32 cells[lanes + 1]          values of lane i, if it is a counter
//   f32 low[values], high[values], last[values]
//   u8  fill[items]
//
// Little-endian. An item is one event (row), or, where several share a pixel, that pixel (row
// MANY): its type is the one that covers most of it, fill says how much of it is covered, 1..255.
// Of one event it is 255, or TORN if that never ended.
// A counter has one cell per pixel; NaN: nothing known yet. Items of a lane are in order.

export const MANY = 0xffffffff;
export const TORN = 254;

const MAGIC = 0x31575455;
const HEAD = 40;

export interface Window {
	t0: number;
	t1: number;
	pixels: number;
	start: Float64Array;
	length: Float32Array;
	type: Uint32Array;
	row: Uint32Array;
	fill: Uint8Array;
	first: Uint32Array;
	cells: Uint32Array;
	low: Float32Array;
	high: Float32Array;
	last: Float32Array;
}

interface Sizes {
	lanes: number;
	items: number;
	values: number;
}

const bytesOf = (s: Sizes): number => HEAD + s.items * 21 + (s.lanes + 1) * 8 + s.values * 12;

function columns(b: ArrayBuffer, s: Sizes): Window {
	let at = HEAD;
	const take = <T>(make: new (b: ArrayBuffer, at: number, n: number) => T, n: number, w: number): T => {
		const column = new make(b, at, n);

		at += n * w;
		return column;
	};
	const head = new DataView(b);

	return {
		t0: head.getFloat64(16, true),
		t1: head.getFloat64(24, true),
		pixels: head.getUint32(32, true),
		start: take(Float64Array, s.items, 8),
		length: take(Float32Array, s.items, 4),
		type: take(Uint32Array, s.items, 4),
		row: take(Uint32Array, s.items, 4),
		first: take(Uint32Array, s.lanes + 1, 4),
		cells: take(Uint32Array, s.lanes + 1, 4),
		low: take(Float32Array, s.values, 4),
		high: take(Float32Array, s.values, 4),
		last: take(Float32Array, s.values, 4),
		fill: take(Uint8Array, s.items, 1),
	};
}

/* Throws if the bytes are no window: a server of another version, or a proxy's error page. */
export function readWindow(b: ArrayBuffer): Window {
	const head = new DataView(b);

	if (b.byteLength < HEAD || head.getUint32(0, true) !== MAGIC) throw new Error('not a window of a trace');
	const s = {
		lanes: head.getUint32(4, true),
		items: head.getUint32(8, true),
		values: head.getUint32(12, true),
	};

	if (b.byteLength !== bytesOf(s)) throw new Error('a window of a trace that is cut short');
	return columns(b, s);
}

/* Fills a window item by item, lane by lane. Buffers grow, and serve many windows. */
export class WindowWriter {
	private start = new Float64Array(1 << 14);
	private length = new Float32Array(1 << 14);
	private type = new Uint32Array(1 << 14);
	private row = new Uint32Array(1 << 14);
	private fill = new Uint8Array(1 << 14);
	private items = 0;
	private first: number[] = [0];
	private cells: number[] = [0];
	private values: Float32Array[][] = [];
	private valueCount = 0;

	reset(): void {
		this.items = this.valueCount = 0;
		this.first = [0];
		this.cells = [0];
		this.values = [];
	}

	private grow(): void {
		const more = <T extends { length: number; set(a: T): void }>(old: T, next: T): T => {
			next.set(old);
			return next;
		};
		const n = this.start.length * 2;

		this.start = more(this.start, new Float64Array(n));
		this.length = more(this.length, new Float32Array(n));
		this.type = more(this.type, new Uint32Array(n));
		this.row = more(this.row, new Uint32Array(n));
		this.fill = more(this.fill, new Uint8Array(n));
	}

	item(start: number, length: number, type: number, row: number, fill: number): void {
		const i = this.items++;

		if (i === this.start.length) this.grow();
		this.start[i] = start;
		this.length[i] = length;
		this.type[i] = type;
		this.row[i] = row;
		this.fill[i] = fill;
	}

	counter(low: Float32Array, high: Float32Array, last: Float32Array): void {
		this.values.push([low, high, last]);
		this.valueCount += low.length;
	}

	endLane(): void {
		this.first.push(this.items);
		this.cells.push(this.valueCount);
	}

	finish(t0: number, t1: number, pixels: number): ArrayBuffer {
		const s = { lanes: this.first.length - 1, items: this.items, values: this.valueCount };
		const b = new ArrayBuffer(bytesOf(s));
		const head = new DataView(b);

		head.setUint32(0, MAGIC, true);
		head.setUint32(4, s.lanes, true);
		head.setUint32(8, s.items, true);
		head.setUint32(12, s.values, true);
		head.setFloat64(16, t0, true);
		head.setFloat64(24, t1, true);
		head.setUint32(32, pixels, true);
		const w = columns(b, s);

		w.start.set(this.start.subarray(0, s.items));
		w.length.set(this.length.subarray(0, s.items));
		w.type.set(this.type.subarray(0, s.items));
		w.row.set(this.row.subarray(0, s.items));
		w.fill.set(this.fill.subarray(0, s.items));
		w.first.set(this.first);
		w.cells.set(this.cells);
		let at = 0;

		for (const [low, high, last] of this.values) {
			w.low.set(low, at);
			w.high.set(high, at);
			w.last.set(last, at);
			at += low.length;
		}
		return b;
	}
}
