// walk.ts - one walk over the slices of a scope, with their self times and what is around them.
// Tables, trees, histograms and searches are made in it, so they all mean the same.

import type { Scope } from '../source/contract';
import { ASIDE, durOf, endOf } from './lanes';
import { compile, type Query } from './query';
import type { Store, Track } from './store';

/* How much of [start, end) lies in the ranges. */
export function inside(ranges: [number, number][] | undefined, start: number, end: number): number {
	if (!ranges)
		return end - start;
	let sum = 0;

	for (const [a, b] of ranges)
		sum += Math.max(0, Math.min(b, end) - Math.max(a, start));
	return sum;
}

/* A slice without length counts if it lies in a range. */
export function touches(ranges: [number, number][] | undefined, start: number, end: number): boolean {
	if (!ranges)
		return true;
	return ranges.some(([a, b]) => (start < b && end > a) || (start === end && start >= a && start < b));
}

export const scopeSpan = (store: Store, scope: Scope): number =>
	scope.ranges ? scope.ranges.reduce((sum, [a, b]) => sum + b - a, 0) : store.info.span;

export function scopeTracks(store: Store, scope: Scope, query: Query): Track[] {
	const only = scope.tracks ? new Set(scope.tracks) : null;

	return store.tracks.filter(t => (!only || only.has(t.index)) && (!query.place || query.place(t.words)));
}

/* One slice of the walk. The object is used again for the next one. */
export interface Visit {
	track: Track;
	row: number;
	type: number;
	start: number;
	end: number;
	total: number; // inside the ranges
	self: number; // of that, without what is nested in it
	path: number[]; // rows around it, the outermost first
	mark: boolean;
	aside: boolean;
}

interface Open {
	row: number;
	end: number;
	total: number;
	inner: number; // of slices directly in it
	wanted: boolean;
}

const NO_PATH: number[] = [];

/* Which types match the query: asked once per type, not per event. */
function typeMask(store: Store, query: Query): Uint8Array {
	return Uint8Array.from(store.names, (name, i) => Number(query.type(name, store.cat(i))));
}

class TrackWalk {
	private readonly open: Open[] = [];
	private readonly path: number[] = []; // their rows
	private readonly seen: Visit;

	constructor(private store: Store, private track: Track, private scope: Scope,
		private query: Query, private visit: (v: Visit) => void) {
		this.seen = { track, row: 0, type: 0, start: 0, end: 0, total: 0, self: 0, path: [], mark: false, aside: false };
	}

	private matches(row: number, dur: number, self: number): boolean {
		return this.query.event === null || this.query.event({ dur, self: () => self,
			arg: key => this.store.args(this.track, row)[key] });
	}

	private tell(row: number, end: number, total: number, self: number, path: number[], mark: boolean): void {
		const v = this.seen, r = this.track.rows!;

		v.row = row;
		v.type = r.type[row];
		v.start = r.start[row];
		v.end = end;
		v.total = total;
		v.aside = (this.store.flags[v.type] & ASIDE) !== 0;
		v.self = v.aside ? 0 : self;
		v.path = path;
		v.mark = mark;
		if (this.matches(row, end - v.start, self))
			this.visit(v);
	}

	private close(): void {
		const o = this.open.pop()!;

		this.path.pop();
		if (o.wanted)
			this.tell(o.row, o.end, o.total, o.total - o.inner, this.path, false);
	}

	/* Slices are visited when they end, since only then their self time is known. */
	run(types: Uint8Array): void {
		const r = this.track.rows!, { laneOf, depths, lanes } = this.track.dealt;
		const ranges = this.scope.ranges, last = ranges ? ranges[ranges.length - 1][1] : Infinity;

		for (let row = this.first(); row < r.count && r.start[row] < last; row++) {
			const start = r.start[row], end = start + durOf(r, row);
			const lane = laneOf ? laneOf[row] : 0, nested = lane < depths;

			while (nested && this.open.length && this.open[this.open.length - 1].end <= start)
				this.close();
			if (!touches(ranges, start, end))
				continue;
			const total = inside(ranges, start, end), wanted = types[r.type[row]] === 1;

			if (!nested) {
				if (wanted)
					this.tell(row, end, total, total, NO_PATH, lanes[lane].kind === 'marks');
				continue;
			}
			const around = this.open[this.open.length - 1];

			if (around)
				around.inner += total;
			this.open.push({ row, end, total, inner: 0, wanted });
			this.path.push(row);
		}
		while (this.open.length)
			this.close();
	}

	/* The first row that can reach into the ranges: the outermost span there, and all behind it. */
	private first(): number {
		const r = this.track.rows!, { lanes } = this.track.dealt;

		if (!this.scope.ranges?.length)
			return this.scope.ranges ? r.count : 0;
		const t = this.scope.ranges[0][0];
		let first = r.count;

		for (const l of lanes) {
			let low = 0, high = l.count;

			while (low < high) {
				const mid = (low + high) >>> 1, row = l.rows ? l.rows[mid] : mid;

				if (r.start[row] >= t || endOf(r, row) > t)
					high = mid;
				else
					low = mid + 1;
			}
			if (low < l.count)
				first = Math.min(first, l.rows ? l.rows[low] : low);
		}
		return first;
	}
}

/* Visits every slice and mark of the scope that matches its query; returns the query's error. */
export function walk(store: Store, scope: Scope, visit: (v: Visit) => void): string {
	const query = compile(scope.query ?? '');

	if (query.error)
		return query.error;
	const types = typeMask(store, query);

	for (const track of scopeTracks(store, scope, query))
		if (track.rows)
			new TrackWalk(store, track, scope, query, visit).run(types);
	return '';
}
