// rows.ts - which rows the timeline has, from the tree of places and what is folded, hidden, pinned.

import type { Place } from '../source/contract';
import type { App } from '../state/app';

export const SLICE = 17,
	QUEUE = 22,
	COUNTER = 34,
	GROUP = 26,
	IDLE = 22,
	PAD = 3;

export interface RowLane {
	track: number;
	lane: number;
	y: number; // in the row
	h: number;
	mark: boolean;
	rank: number;
}

export interface Row {
	place: Place;
	name: string; // as the head shows it
	depth: number;
	y: number;
	h: number;
	kind: 'group' | 'slices' | 'counter' | 'idle';
	lanes: RowLane[];
	pinned: boolean;
	folded: boolean;
	folds: boolean; // has something to fold
}

export interface Layout {
	pinned: Row[];
	rows: Row[];
	pinnedHeight: number;
	height: number; // of the rows that scroll
}

const isGroup = (p: Place): boolean => p.track < 0;

function slicesRow(place: Place, folded: boolean): Pick<Row, 'h' | 'lanes'> {
	const shown = place.lanes.map((l, lane) => ({ ...l, lane })).filter(l => l.kind !== 'flows');
	const some = folded ? shown.slice(0, 1) : shown;
	const single = shown.length === 1 && place.kind !== 'thread';
	const h = single && !folded ? QUEUE : SLICE;

	return {
		h: single && !folded ? QUEUE + 2 : Math.max(1, some.length) * SLICE + 2 * PAD,
		lanes: some.map((l, i) => ({
			track: place.track,
			lane: l.lane,
			y: (single && !folded ? 1 : PAD) + i * h,
			h: h - 1,
			mark: l.kind === 'marks',
			rank: place.rank,
		})),
	};
}

/* A folded group shows the busiest of its queues, or of its threads: enough to see where it works. */
function summaryLanes(app: App, place: Place): RowLane[] {
	const below: Place[] = [];
	const collect = (id: number): void =>
		app.ordered(id).forEach(p => {
			if (p.track >= 0 && p.lanes.length) below.push(p);
			collect(p.id);
		});

	collect(place.id);
	const size = (p: Place) => p.lanes[0].count;
	const busiest = (kind: string) => below.filter(p => p.kind === kind).sort((a, b) => size(b) - size(a))[0];
	const best = busiest('queue') ?? busiest('thread') ?? below.find(p => p.kind !== 'counter');

	return best ? [{ track: best.track, lane: 0, y: 5, h: GROUP - 10, mark: false, rank: best.rank }] : [];
}

function rowOf(app: App, place: Place, depth: number, pinned: boolean): Row {
	const folded = app.closed.value.has(place.id);
	const row = { place, name: place.name, depth, y: 0, pinned, folded };

	if (isGroup(place))
		return {
			...row,
			kind: 'group',
			h: GROUP,
			folds: true,
			lanes: folded ? summaryLanes(app, place) : [],
		};
	if (place.kind === 'idle')
		return {
			...row,
			kind: 'idle',
			h: IDLE,
			folds: false,
			lanes: [{ track: place.track, lane: 0, y: 4, h: IDLE - 9, mark: false, rank: place.rank }],
		};
	if (place.lanes[0]?.kind === 'counter')
		return {
			...row,
			kind: 'counter',
			h: COUNTER,
			folds: false,
			lanes: [{ track: place.track, lane: 0, y: 4, h: COUNTER - 7, mark: false, rank: place.rank }],
		};
	return { ...row, kind: 'slices', folds: place.lanes.length > 1, ...slicesRow(place, folded) };
}

function stack(rows: Row[]): number {
	let y = 0;

	for (const row of rows) {
		row.y = y;
		y += row.h;
	}
	return y;
}

/* Does the filter of tracks want this place, for itself or for something below it? */
function wanted(app: App, place: Place, words: string[]): boolean {
	const text = `${place.name} ${place.sub ?? ''}`.toLowerCase();

	return words.every(w => text.includes(w)) || app.ordered(place.id).some(p => wanted(app, p, words));
}

/* Names of the places around one, but not its own. */
function around(app: App, place: Place): string {
	const words: string[] = [];

	for (let p = app.byId.value.get(place.parent); p; p = app.byId.value.get(p.parent)) words.unshift(p.name);
	return words.join(' / ');
}

/* Tracks of one name under one head; the head is no place of the trace, so its number is below 0. */
function groupedRows(app: App, tracks: Row[]): Row[] {
	const byName = new Map<string, Row[]>();

	for (const row of tracks) {
		const like = byName.get(row.place.name);

		if (like) like.push(row);
		else byName.set(row.place.name, [row]);
	}
	return [...byName].flatMap(([name, rows]) => {
		if (rows.length === 1) return [{ ...rows[0], depth: 0 }];
		const id = -2 - rows[0].place.id,
			folded = app.closed.value.has(id);
		const place: Place = {
			id,
			parent: -1,
			kind: 'group',
			name,
			sub: `${rows.length} tracks`,
			rank: -1,
			track: -1,
			lanes: [],
		};
		const head: Row = {
			place,
			name,
			depth: 0,
			y: 0,
			h: GROUP,
			kind: 'group',
			pinned: false,
			folded,
			folds: true,
			lanes: folded ? [{ ...rows[0].lanes[0], y: 5, h: GROUP - 10 }] : [],
		};

		return [
			head,
			...(folded ? [] : rows.map(r => ({ ...r, depth: 1, name: around(app, r.place) || r.name }))),
		];
	});
}

export function layout(app: App): Layout {
	const words = app.trackFilter.value.toLowerCase().split(/\s+/).filter(Boolean);
	const hidden = app.hidden.value,
		rows: Row[] = [];
	const add = (parent: number, depth: number): void => {
		for (const place of app.ordered(parent)) {
			if (hidden.has(place.id) || (words.length && !wanted(app, place, words))) continue;
			if (!isGroup(place) && !place.lanes.length) continue;
			const row = rowOf(app, place, depth, false);

			rows.push(row);
			if (!(isGroup(place) && row.folded && !words.length) || app.grouped.value)
				add(place.id, depth + 1);
		}
	};

	add(-1, 0);
	const pinned = app.pins.value
		.map(id => app.byId.value.get(id))
		.filter(p => p !== undefined)
		.map(p => rowOf(app, p, 0, true));

	const shown = app.grouped.value
		? groupedRows(
				app,
				rows.filter(r => !isGroup(r.place)),
			)
		: rows;

	return { pinned, rows: shown, pinnedHeight: stack(pinned), height: stack(shown) };
}

/* The rows that [from, to) of a stack touches, by halving. */
export function visible(rows: Row[], from: number, to: number): Row[] {
	let low = 0,
		high = rows.length;

	while (low < high) {
		const mid = (low + high) >>> 1;

		if (rows[mid].y + rows[mid].h <= from) low = mid + 1;
		else high = mid;
	}
	let end = low;

	while (end < rows.length && rows[end].y < to) end++;
	return rows.slice(low, end);
}
