// lanes.ts - the rows of a track dealt onto lanes in which nothing overlaps, and drawn from them
// at any width. The same rules as src/trace/model/pyramid.h, for a trace that lies in the page.

import type { LaneKind } from '../source/contract';
import { MANY, TORN, type WindowWriter } from '../source/window';

export const FAN = 8; // entries of a leaf, and nodes of a node

/* Rows in order of start, the longer first. dur is 32 bits wide: what is longer lies in long. */
export interface Rows {
	count: number;
	start: Float64Array;
	dur: Uint32Array;
	long: Map<number, number>;
	type: Uint16Array | Uint32Array;
	args: Uint32Array | null;
}

export const LONG = 0xffffffff;

/* Flags of types. */
export const MARK = 1; // has no length
export const ASIDE = 2; // nobody's work, like a frame: listed, but without self time and in no tree
export const NOT_WORK = 4; // about the recording or the lack of work: in no table
export const ASYNC = 8; // may overlap its like: on lanes of its own, and nobody's work
export const QUIET = 16; // on a queue of a device, but not its work: an annotation, say
export const ITSELF = 32; // what a tool says about itself

export function durOf(r: Rows, row: number): number {
	const d = r.dur[row];

	return d === LONG ? (r.long.get(row) ?? LONG) : d;
}

export const endOf = (r: Rows, row: number): number => r.start[row] + durOf(r, row);

/* Nodes level by level, the finest first. */
interface Nodes {
	busy: Float64Array;
	longest: Float32Array;
	type: Uint32Array;
	level: number[]; // where each level begins
}

export interface Lane {
	kind: LaneKind;
	rows: Uint32Array | null; // of the entries; null: entry i is row i
	count: number;
	nodes: Nodes;
}

export const rowAt = (l: Lane, i: number): number => (l.rows ? l.rows[i] : i);

export interface Dealt {
	lanes: Lane[];
	laneOf: Uint16Array | null; // of a row; null: all in lane 0
	depths: number; // lanes of nested spans come first
}

const MOST_LANES = 4096; // nobody scrolls further; what is deeper shares the last one

/* Lanes that are taken from the first free one on. */
class FirstFit {
	private readonly free: number[] = []; // when each lane is free again

	get count(): number {
		return this.free.length;
	}

	take(start: number, end: number): number {
		let lane = 0;

		while (lane < this.free.length && this.free[lane] > start) lane++;
		lane = Math.min(lane, MOST_LANES);
		this.free[lane] = end;
		return lane;
	}
}

const GROUP = MOST_LANES + 1; // lanes of a kind, while it is not known how many there will be

/*
 * Which lane each row goes to, in the order of KINDS: nested spans by depth, those that overlap
 * them, async ones, marks.
 */
function deal(r: Rows, flags: Uint8Array) {
	const laneOf = new Uint16Array(r.count);
	const ends: number[] = []; // of the spans that are open, the innermost last
	const overlap = new FirstFit(),
		async = new FirstFit();
	let depths = 0,
		marks = 0;

	for (let i = 0; i < r.count; i++) {
		const start = r.start[i],
			end = endOf(r, i),
			flag = flags[r.type[i]];

		if (flag & MARK) {
			laneOf[i] = GROUP * 3;
			marks = 1;
		} else if (flag & ASYNC) {
			laneOf[i] = GROUP * 2 + async.take(start, end);
		} else {
			while (ends.length && ends[ends.length - 1] <= start) ends.pop();
			if (ends.length && end > ends[ends.length - 1]) {
				laneOf[i] = GROUP + overlap.take(start, end);
				continue;
			}
			laneOf[i] = Math.min(ends.length, MOST_LANES);
			ends.push(end);
			depths = Math.max(depths, laneOf[i] + 1);
		}
	}
	const counts = [depths, overlap.count, async.count, marks],
		first = counts.map((_, k) => counts.slice(0, k).reduce((sum, n) => sum + n, 0));

	for (let i = 0; i < r.count; i++) {
		const kind = Math.floor(laneOf[i] / GROUP);

		laneOf[i] += first[kind] - kind * GROUP;
	}
	return { laneOf, counts };
}

const KINDS: LaneKind[] = ['spans', 'overlap', 'async', 'marks'];

function buildNodes(r: Rows, rows: Uint32Array | null, count: number): Nodes {
	const level: number[] = [];
	let total = 0;

	for (let n = Math.floor(count / FAN); n > 0; n = Math.floor(n / FAN)) {
		level.push(total);
		total += n;
	}
	level.push(total);
	const busy = new Float64Array(total),
		longest = new Float32Array(total);
	const type = new Uint32Array(total);

	for (let k = 0; k < (level[1] ?? 0); k++) {
		// leaves
		let sum = 0,
			most = -1,
			of = 0;

		for (let i = k * FAN; i < k * FAN + FAN; i++) {
			const row = rows ? rows[i] : i,
				d = durOf(r, row);

			sum += d;
			if (d > most) {
				most = d;
				of = r.type[row];
			}
		}
		busy[k] = sum;
		longest[k] = most;
		type[k] = of;
	}
	for (let l = 1; l + 1 < level.length; l++)
		for (let k = level[l]; k < level[l + 1]; k++) {
			const from = level[l - 1] + (k - level[l]) * FAN;
			let best = from;

			for (let c = from; c < from + FAN; c++) {
				busy[k] += busy[c];
				if (longest[c] > longest[best]) best = c;
			}
			longest[k] = longest[best];
			type[k] = type[best];
		}
	return { busy, longest, type, level };
}

export function buildLanes(r: Rows, flags: Uint8Array): Dealt {
	const { laneOf, counts: of } = deal(r, flags),
		kinds = KINDS.flatMap((kind, i) => new Array<LaneKind>(of[i]).fill(kind)),
		depths = of[0],
		n = kinds.length;

	if (n <= 1)
		return {
			laneOf: null,
			depths,
			lanes: kinds.map(kind => ({
				kind,
				rows: null,
				count: r.count,
				nodes: buildNodes(r, null, r.count),
			})),
		};
	const counts = new Uint32Array(n);

	for (let i = 0; i < r.count; i++) counts[laneOf[i]]++;
	const rows = Array.from(counts, c => new Uint32Array(c));

	counts.fill(0);
	for (let i = 0; i < r.count; i++) {
		const l = laneOf[i];

		rows[l][counts[l]++] = i;
	}
	return {
		laneOf,
		depths,
		lanes: rows.map((of, l) => ({
			kind: kinds[l],
			rows: of,
			count: of.length,
			nodes: buildNodes(r, of, of.length),
		})),
	};
}

/* The first entry that ends after t, or begins at it or later. */
export function seek(r: Rows, l: Lane, t: number): number {
	let low = 0,
		high = l.count;

	while (low < high) {
		const mid = (low + high) >>> 1,
			row = rowAt(l, mid);

		if (r.start[row] >= t || endOf(r, row) > t) high = mid;
		else low = mid + 1;
	}
	return low;
}

/*
 * The largest node that begins with entry i and lies inside the pixel up to end. A leaf shorter than
 * a pixel, or a higher node shorter than a quarter, may stand across its end: nobody can see which
 * of two pixels it is in.
 */
function nodeAt(r: Rows, l: Lane, i: number, end: number, pixel: number): number {
	let found = -1;

	for (let level = 0, size = FAN; i % size === 0 && i + size <= l.count; level++, size *= FAN) {
		const at = l.nodes.level[level] + i / size,
			last = rowAt(l, i + size - 1);
		const stop = endOf(r, last);

		if (l.nodes.longest[at] >= pixel) break;
		if (stop > end && stop - r.start[rowAt(l, i)] >= (level ? pixel / 4 : pixel)) break;
		found = level;
	}
	return found;
}

/* Does entry i begin a leaf of short entries that is shorter than a pixel? Then it is drawn as one. */
function isShortLeaf(r: Rows, l: Lane, i: number, pixel: number): boolean {
	return (
		i % FAN === 0 &&
		i + FAN <= l.count &&
		l.nodes.longest[l.nodes.level[0] + i / FAN] < pixel &&
		endOf(r, rowAt(l, i + FAN - 1)) - r.start[rowAt(l, i)] < pixel
	);
}

/* Several entries in one pixel, from entry i: writes them as one item, returns the next entry. */
function drawPixel(r: Rows, l: Lane, i: number, at: number, pixel: number, out: WindowWriter): number {
	const end = at + pixel;
	let busy = 0,
		most = -1,
		type = 0,
		j = i,
		stop = 0;

	while (j < l.count) {
		const row = rowAt(l, j);

		if (r.start[row] >= end) break;
		const level = nodeAt(r, l, j, end, pixel);

		if (level >= 0) {
			const size = FAN ** (level + 1),
				node = l.nodes.level[level] + j / size;

			busy += l.nodes.busy[node];
			if (l.nodes.longest[node] > most) {
				most = l.nodes.longest[node];
				type = l.nodes.type[node];
			}
			j += size;
			stop = endOf(r, rowAt(l, j - 1));
			continue;
		}
		const d = durOf(r, row);

		if (d >= pixel)
			// drawn by itself
			break;
		busy += d;
		if (d > most) {
			most = d;
			type = r.type[row];
		}
		stop = r.start[row] + d;
		j++;
	}
	const fill = Math.max(1, Math.min(255, Math.round((busy / pixel) * 255)));

	if (j === i + 1)
		// the next one only looked as if it shared the pixel
		out.item(r.start[rowAt(l, i)], durOf(r, rowAt(l, i)), type, rowAt(l, i), 255);
	else out.item(at, Math.max(pixel, stop - at), type, MANY, fill);
	return j;
}

/* Draws a lane: every entry of at least a pixel exactly, shorter ones that share a pixel as one. */
export function drawLane(
	r: Rows,
	l: Lane,
	t0: number,
	t1: number,
	pixels: number,
	out: WindowWriter,
	torn: ReadonlySet<number>,
): void {
	const pixel = (t1 - t0) / pixels;
	let i = seek(r, l, t0);

	while (i < l.count) {
		const row = rowAt(l, i),
			start = r.start[row];

		if (start >= t1) break;
		const d = durOf(r, row);
		const at = t0 + Math.max(0, Math.floor((start - t0) / pixel)) * pixel;

		if (
			d >= pixel ||
			i + 1 >= l.count ||
			(r.start[rowAt(l, i + 1)] >= at + pixel && !isShortLeaf(r, l, i, pixel))
		) {
			out.item(start, d, r.type[row], row, torn.size && torn.has(row) ? TORN : 255);
			i++;
		} else {
			i = Math.max(i + 1, drawPixel(r, l, i, at, pixel, out));
		}
	}
}

/* ---- counters ------------------------------------------------------------------------------- */

const BLOCK = 64; // samples that share a minimum and a maximum

export interface Samples {
	count: number;
	time: Float64Array;
	value: Float64Array; // NaN: none from here on, until the next
	low: Float64Array; // of each whole block; above high if it has no value
	high: Float64Array;
}

export function makeSamples(time: Float64Array, value: Float64Array): Samples {
	const blocks = Math.floor(time.length / BLOCK);
	const low = new Float64Array(blocks).fill(Infinity),
		high = new Float64Array(blocks).fill(-Infinity);

	for (let i = 0; i < blocks * BLOCK; i++) {
		const b = Math.floor(i / BLOCK);

		if (value[i] < low[b]) low[b] = value[i]; // false for NaN
		if (value[i] > high[b]) high[b] = value[i];
	}
	return { count: time.length, time, value, low, high };
}

/* The first sample at t or later. */
export function seekSample(s: Samples, t: number): number {
	let low = 0,
		high = s.count;

	while (low < high) {
		const mid = (low + high) >>> 1;

		if (s.time[mid] >= t) high = mid;
		else low = mid + 1;
	}
	return low;
}

export function drawSamples(s: Samples, t0: number, t1: number, pixels: number, out: WindowWriter): void {
	const low = new Float32Array(pixels),
		high = new Float32Array(pixels),
		last = new Float32Array(pixels);
	let i = seekSample(s, t0);
	let now = i > 0 ? s.value[i - 1] : NaN;

	for (let p = 0; p < pixels; p++) {
		const end = t0 + ((t1 - t0) * (p + 1)) / pixels;
		let min = now,
			max = now;

		while (i < s.count && s.time[i] < end)
			if (i % BLOCK === 0 && i + BLOCK <= s.count && s.time[i + BLOCK - 1] < end) {
				const b = i / BLOCK;

				if (!(min <= s.low[b]) && s.low[b] <= s.high[b]) min = s.low[b]; // a number goes before NaN
				if (!(max >= s.high[b]) && s.low[b] <= s.high[b]) max = s.high[b];
				i += BLOCK;
				now = s.value[i - 1];
			} else {
				now = s.value[i++];
				if (!(min <= now) && !isNaN(now)) min = now;
				if (!(max >= now) && !isNaN(now)) max = now;
			}
		low[p] = min;
		high[p] = max;
		last[p] = now;
	}
	out.counter(low, high, last);
}
