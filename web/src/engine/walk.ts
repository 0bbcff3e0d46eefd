// walk.ts - one walk over the slices of a scope, with their self times and what is around them.
// Tables, trees, histograms and searches are made in it, so they all mean the same.

import type { Scope } from '../source/contract';
import { ASIDE, ASYNC, durOf, endOf, MARK, NOT_WORK, QUIET } from './lanes';
import { compile, type Query } from './query';
import type { Store, Track } from './store';

/* How much of [start, end) lies in the ranges. */
export function inside(ranges: [number, number][] | undefined, start: number, end: number): number {
	if (!ranges) return end - start;
	let sum = 0;

	for (const [a, b] of ranges) sum += Math.max(0, Math.min(b, end) - Math.max(a, start));
	return sum;
}

/* A slice without length counts if it lies in a range. */
export function touches(ranges: [number, number][] | undefined, start: number, end: number): boolean {
	if (!ranges) return true;
	return ranges.some(([a, b]) => (start < b && end > a) || (start === end && start >= a && start < b));
}

export const scopeSpan = (store: Store, scope: Scope): number =>
	scope.ranges ? scope.ranges.reduce((sum, [a, b]) => sum + b - a, 0) : store.info.span;

export function scopeTracks(store: Store, scope: Scope, query: Query): Track[] {
	const only = scope.tracks ? new Set(scope.tracks) : null;

	return store.tracks.filter(t => (!only || only.has(t.index)) && (!query.place || query.place(t.words)));
}

/* On a queue of a device, but not its work. */
export const isQuiet = (store: Store, track: Track, type: number): boolean =>
	(store.flags[type] & QUIET) !== 0 && track.place.kind === 'queue';

/* One slice of the walk. The object is used again for the next one. */
export interface Visit {
	track: Track;
	row: number;
	type: number;
	start: number;
	end: number;
	total: number; // inside the ranges
	self: number; // of that, its own; 0 for what has none
	fresh: number; // of that, what no earlier slice of its name on this track covers
	path: number[]; // rows around it, the outermost first
	mark: boolean;
	aside: boolean;
	quiet: boolean; // on a queue of a device, but not its work
}

/* Work in pieces. */
export type Job<T> = Generator<void, T>;

const CHUNK = 1 << 16; // rows: some milliseconds
const NO_PATH: number[] = [];

/* Which types match the query: asked once per type, not per event. */
function typeMask(store: Store, query: Query): Uint8Array {
	return Uint8Array.from(store.names, (name, i) =>
		Number(!(store.flags[i] & NOT_WORK) && query.type(name, store.cat(i))),
	);
}

/*
 * The meaning is that of src/analysis/view/visit.h: every moment of a track belongs to the span that began
 * last of those going on; a span lies in another if it begins and ends inside it. What is nobody's
 * work has no self time, takes none from others and lies in nothing.
 */
class TrackWalk {
	// The slices that are open, as columns: an object for each of ten million would cost a second.
	private readonly path: number[] = []; // their rows
	private readonly ends: number[] = [];
	private readonly totals: number[] = [];
	private readonly selfs: number[] = [];
	private readonly freshes: number[] = [];
	private readonly wanted: boolean[] = [];
	private readonly until = new Map<number, number>(); // by name: so far it goes on
	private readonly seen: Visit;

	constructor(
		private store: Store,
		private track: Track,
		private scope: Scope,
		private query: Query,
		private visit: (v: Visit) => void,
	) {
		this.seen = {
			track,
			row: 0,
			type: 0,
			start: 0,
			end: 0,
			total: 0,
			self: 0,
			fresh: 0,
			path: [],
			mark: false,
			aside: false,
			quiet: false,
		};
	}

	private matches(row: number, dur: number): boolean {
		return (
			this.query.event === null ||
			this.query.event({ dur, arg: key => this.store.args(this.track, row)[key] })
		);
	}

	private tell(row: number, end: number, total: number, self: number, fresh: number, path: number[]): void {
		const v = this.seen,
			r = this.track.rows!,
			flags = this.store.flags[r.type[row]];

		if (this.query.self && !this.query.self(self)) return;
		v.row = row;
		v.type = r.type[row];
		v.start = r.start[row];
		v.end = end;
		v.total = total;
		v.self = self;
		v.fresh = fresh;
		v.path = path;
		v.mark = (flags & MARK) !== 0;
		v.aside = (flags & (ASIDE | ASYNC)) !== 0;
		v.quiet = isQuiet(this.store, this.track, v.type);
		this.visit(v);
	}

	private close(): void {
		const row = this.path.pop()!,
			end = this.ends.pop()!,
			total = this.totals.pop()!,
			self = this.selfs.pop()!,
			fresh = this.freshes.pop()!;

		if (this.wanted.pop()) this.tell(row, end, total, self, fresh, this.path);
	}

	/* Spans come in order of their start, so it is enough to know until when a name goes on. */
	private takeFresh(row: number, start: number, end: number): number {
		const name = this.store.nameOf[this.track.rows!.type[row]],
			until = this.until.get(name) ?? 0;

		this.until.set(name, Math.max(until, end));
		return inside(this.scope.ranges, Math.min(Math.max(start, until), end), end);
	}

	/*
	 * Ends never grow towards the top, so the time from a new span's start on belongs to the top
	 * until that ends, then to the one below, and so on; the new one takes it from all of them.
	 * Those that it outlasts are done.
	 */
	private open(row: number, start: number, end: number, total: number, wanted: boolean): void {
		const { ends, selfs } = this,
			ranges = this.scope.ranges;
		let from = start;

		while (ends.length && ends[ends.length - 1] <= start) this.close();
		while (ends.length && ends[ends.length - 1] < end) {
			selfs[selfs.length - 1] -= inside(ranges, from, ends[ends.length - 1]);
			from = ends[ends.length - 1];
			this.close();
		}
		if (ends.length) selfs[selfs.length - 1] -= inside(ranges, from, end);
		this.path.push(row);
		ends.push(end);
		this.totals.push(total);
		selfs.push(total);
		this.freshes.push(wanted ? this.takeFresh(row, start, end) : 0);
		this.wanted.push(wanted);
	}

	/*
	 * Visits the rows from one on, at most CHUNK of them; returns the next one, or -1 at the end.
	 * Slices are visited when they end, since only then their self time is known.
	 */
	some(from: number, types: Uint8Array): number {
		const r = this.track.rows!,
			{ flags } = this.store;
		const ranges = this.scope.ranges,
			last = ranges ? ranges[ranges.length - 1][1] : Infinity;
		const until = Math.min(r.count, from + CHUNK);
		let row = from;

		for (; row < until && r.start[row] < last; row++) {
			const start = r.start[row],
				end = start + durOf(r, row),
				type = r.type[row];

			if (flags[type] & NOT_WORK || (ranges && !touches(ranges, start, end))) continue;
			const total = ranges ? inside(ranges, start, end) : end - start,
				wanted = types[type] === 1 && this.matches(row, end - start);

			if (this.store.isWork(type)) this.open(row, start, end, total, wanted);
			else if (wanted) {
				// async spans of a name are added up though they overlap, as `unitrace stats` does
				const fresh = flags[type] & (ASYNC | MARK) ? total : this.takeFresh(row, start, end);

				this.tell(row, end, total, 0, fresh, NO_PATH);
			}
		}
		if (row < r.count && r.start[row] < last) return row;
		while (this.ends.length) this.close();
		return -1;
	}

	/* The first row that can reach into the ranges: the outermost span there, and all behind it. */
	first(): number {
		const r = this.track.rows!,
			{ lanes } = this.track.dealt;

		if (!this.scope.ranges?.length) return this.scope.ranges ? r.count : 0;
		const t = this.scope.ranges[0][0];
		let first = r.count;

		for (const l of lanes) {
			let low = 0,
				high = l.count;

			while (low < high) {
				const mid = (low + high) >>> 1,
					row = l.rows ? l.rows[mid] : mid;

				if (r.start[row] >= t || endOf(r, row) > t) high = mid;
				else low = mid + 1;
			}
			if (low < l.count) first = Math.min(first, l.rows ? l.rows[low] : low);
		}
		return first;
	}
}

/*
 * Visits every slice and mark of the scope that matches its query; returns the query's error. Stops
 * for breath now and then, so that whoever runs it can do something else in between, or give up.
 */
export function* walk(store: Store, scope: Scope, visit: (v: Visit) => void): Job<string> {
	const query = compile(scope.query ?? '');

	if (query.error) return query.error;
	const types = typeMask(store, query);

	for (const track of scopeTracks(store, scope, query))
		if (track.rows) {
			const w = new TrackWalk(store, track, scope, query, visit);

			for (let row = w.first(); row >= 0 && row < track.rows.count; yield) row = w.some(row, types);
		}
	return '';
}
