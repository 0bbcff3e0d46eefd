// store.ts - a whole trace in the page: columns per track, names once, arrows.

import {
	eventId,
	rowOf,
	trackOf,
	type Aggregates,
	type EventId,
	type Info,
	type Place,
} from '../source/contract';
import {
	ASIDE,
	ASYNC,
	buildLanes,
	durOf,
	endOf,
	makeSamples,
	MARK,
	NOT_WORK,
	rowAt,
	seek,
	type Dealt,
	type Rows,
	type Samples,
} from './lanes';
import { placeWords, type PlaceWords } from './query';

export interface Track {
	index: number;
	place: Place;
	rows: Rows | null; // of slices and marks
	samples: Samples | null; // of a counter
	dealt: Dealt;
	unfinished: Set<number>;
	words: PlaceWords;
}

/* Columns of one track before lanes are made of them. */
export interface TrackColumns {
	rows?: Rows;
	time?: Float64Array;
	value?: Float64Array;
	unfinished?: number[];
}

export interface StoreParts {
	info: Info;
	places: Place[];
	names: string[]; // of types
	cats: string[];
	flags: Uint8Array; // of types: MARK, ASIDE, ...
	tracks: TrackColumns[];
	argTexts: string[]; // JSON objects; 0 is none
	arrows: [from: Float64Array, to: Float64Array]; // event ids
	whole?: Aggregates; // of all slices, where some are left out
}

const NOTHING: Dealt = { lanes: [], laneOf: null, depths: 0 };

export class Store {
	readonly info: Info;
	readonly whole: Aggregates | undefined;
	readonly places: Place[];
	readonly names: string[];
	readonly cats: string[];
	readonly flags: Uint8Array; // of types
	readonly tracks: Track[];
	readonly placeById: ReadonlyMap<number, Place>;
	readonly nameOf: Uint32Array; // type -> number of its name, equal for equal names
	readonly nameCount: number;
	readonly arrowFrom: Float64Array; // event ids, in order of from
	readonly arrowTo: Float64Array;
	private readonly byTo: Uint32Array; // arrows in order of to
	private readonly argTexts: string[];
	private readonly argCache = new Map<number, Record<string, string>>();

	constructor(parts: StoreParts) {
		this.info = parts.info;
		this.whole = parts.whole;
		this.places = parts.places;
		this.names = parts.names;
		this.cats = parts.cats;
		this.flags = parts.flags;
		this.argTexts = parts.argTexts;
		this.placeById = new Map(parts.places.map(p => [p.id, p]));
		const ofTrack = new Map(parts.places.map(p => [p.track, p]));
		const numbers = new Map<string, number>();

		this.nameOf = Uint32Array.from(parts.names, name => {
			const known = numbers.get(name);

			if (known !== undefined) return known;
			numbers.set(name, numbers.size);
			return numbers.size - 1;
		});
		this.nameCount = numbers.size;
		this.tracks = parts.tracks.map((columns, index) =>
			this.makeTrack(columns, index, ofTrack.get(index)!, parts.flags),
		);
		const order = Uint32Array.from(parts.arrows[0], (_, i) => i).sort(
			(a, b) => parts.arrows[0][a] - parts.arrows[0][b],
		);

		this.arrowFrom = Float64Array.from(order, i => parts.arrows[0][i]);
		this.arrowTo = Float64Array.from(order, i => parts.arrows[1][i]);
		this.byTo = Uint32Array.from(order, (_, i) => i).sort((a, b) => this.arrowTo[a] - this.arrowTo[b]);
	}

	private makeTrack(c: TrackColumns, index: number, place: Place, flags: Uint8Array): Track {
		const rows = c.rows ?? null;
		const samples = c.time && c.value ? makeSamples(c.time, c.value) : null;
		const dealt = rows ? buildLanes(rows, flags) : NOTHING;

		place.lanes = samples
			? [{ kind: 'counter', count: samples.count }]
			: dealt.lanes.map(l => ({ kind: l.kind, count: l.count }));
		return {
			index,
			place,
			rows,
			samples,
			dealt,
			unfinished: new Set(c.unfinished ?? []),
			words: placeWords(place, this.placeById),
		};
	}

	name(type: number): string {
		return this.names[type] ?? '';
	}

	cat(type: number): string {
		return this.cats[type] ?? '';
	}

	/* The arguments of an event; numbers and texts as texts. */
	args(track: Track, row: number): Record<string, string> {
		const at = track.rows?.args?.[row] ?? 0;

		return at ? this.argsAt(at) : {};
	}

	argsAt(at: number): Record<string, string> {
		const known = this.argCache.get(at);

		if (known) return known;
		const out: Record<string, string> = {};
		const parsed: unknown = JSON.parse(this.argTexts[at] || '{}');

		for (const [key, value] of Object.entries(parsed as Record<string, unknown>))
			out[key] = typeof value === 'string' ? value : JSON.stringify(value);
		if (this.argCache.size > 1 << 16) this.argCache.clear();
		this.argCache.set(at, out);
		return out;
	}

	has(id: EventId): boolean {
		const rows = this.tracks[trackOf(id)]?.rows;

		return !!rows && rowOf(id) < rows.count;
	}

	laneOf(track: Track, row: number): number {
		return track.dealt.laneOf?.[row] ?? 0;
	}

	/* What takes time from those around it, and can be around others. */
	isWork(type: number): boolean {
		return !(this.flags[type] & (MARK | ASIDE | NOT_WORK | ASYNC));
	}

	/* The rows of work around a row, the innermost first. */
	parents(track: Track, row: number): number[] {
		const r = track.rows!;

		return this.flags[r.type[row]] & ASYNC ? [] : this.around(track, r.start[row], endOf(r, row), row);
	}

	/* Slices of a track around a stretch of time that come before a row, the innermost first. */
	around(track: Track, start: number, end = start, before = Number.POSITIVE_INFINITY): number[] {
		const r = track.rows,
			out: number[] = [];

		for (let lane = track.dealt.depths; r && lane-- > 0;) {
			const l = track.dealt.lanes[lane];
			const i = seek(r, l, start);
			// An entry that ends where the stretch begins is not around it, one that begins there may be.
			for (let k = Math.max(0, i - 1); k < Math.min(l.count, i + 2); k++) {
				const p = rowAt(l, k);

				if (p < before && r.start[p] <= start && endOf(r, p) >= end && this.isWork(r.type[p])) {
					out.push(p);
					break;
				}
			}
		}
		return out;
	}

	/* Arrows that leave (or reach) an event, as the events at their other end. */
	arrowsOf(id: EventId, leaving: boolean): EventId[] {
		const n = this.arrowFrom.length;
		const key = leaving ? (i: number) => this.arrowFrom[i] : (i: number) => this.arrowTo[this.byTo[i]];
		const out: EventId[] = [];
		let low = 0,
			high = n;

		while (low < high) {
			const mid = (low + high) >>> 1;

			if (key(mid) < id) low = mid + 1;
			else high = mid;
		}
		for (; low < n && key(low) === id && out.length < 64; low++)
			out.push(leaving ? this.arrowTo[low] : this.arrowFrom[this.byTo[low]]);
		return out;
	}

	start(id: EventId): number {
		return this.tracks[trackOf(id)].rows!.start[rowOf(id)];
	}

	dur(id: EventId): number {
		return durOf(this.tracks[trackOf(id)].rows!, rowOf(id));
	}

	id(track: Track, row: number): EventId {
		return eventId(track.index, row);
	}
}
