// events.ts - single events: what is known about one, the next one, those that a search finds.

import {
	rowOf,
	trackOf,
	type Detail,
	type EventId,
	type Flows,
	type Found,
	type Scope,
	type SliceRef,
} from '../source/contract';
import { durOf, endOf, rowAt, seek } from './lanes';
import { compile, exactly } from './query';
import { roleOf } from './roles';
import type { Store, Track } from './store';
import { scopeTracks, touches, type Job } from './walk';

export function refOf(store: Store, track: Track, row: number): SliceRef {
	const r = track.rows!,
		type = r.type[row];

	return {
		id: store.id(track, row),
		name: store.name(type),
		cat: store.cat(type),
		t: r.start[row],
		dur: durOf(r, row),
	};
}

const refById = (store: Store, id: EventId): SliceRef => refOf(store, store.tracks[trackOf(id)], rowOf(id));

const withRole = (ref: SliceRef): SliceRef => ({ ...ref, role: roleOf(ref.cat, ref.name) });

/* A function of Python says where it is. */
function withLine(store: Store, track: Track, row: number): SliceRef {
	const ref = withRole(refOf(store, track, row)),
		{ file, line } = store.args(track, row);

	return ref.role === 'Python' && file && line
		? { ...ref, at: `${file.slice(file.lastIndexOf('/') + 1)}:${line}` }
		: ref;
}

/* Calls that are told of afterwards have a row of their own: the thread that made them. */
function callerOf(store: Store, track: Track): Track | undefined {
	const { calls, parent } = track.place;

	return calls === undefined
		? undefined
		: store.tracks.find(t => t.place.tid === calls && t.place.parent === parent);
}

/* Code of Python itself and of packages, as src/trace/model/user_code.c has it. */
const LIBRARY = /\/lib(64)?\/python3|\/(site|dist)-packages\/|^torch\/|^site-packages\/|^</;

/* Of those around an event the innermost of each role, the outermost first. Python's own code and that of
 * packages is passed over if there is some of the user's around. */
function causes(store: Store, id: EventId): SliceRef[] {
	const track = store.tracks[trackOf(id)],
		thread = callerOf(store, track),
		around = store.parents(track, rowOf(id)).map(row => ({ track, row }));
	const chosen = new Map<string, { ref: SliceRef; at: number; library: boolean }>();

	if (thread) around.push(...store.around(thread, store.start(id)).map(row => ({ track: thread, row })));
	around.forEach((a, at) => {
		const ref = withLine(store, a.track, a.row),
			library = ref.role === 'Python' && LIBRARY.test(store.args(a.track, a.row).file ?? ''),
			before = chosen.get(ref.role!);

		if (!before || (before.library && !library)) chosen.set(ref.role!, { ref, at, library });
	});
	return [...chosen.values()].sort((a, b) => b.at - a.at).map(c => c.ref);
}

/* What led to an event and what it led to: around its cause, the cause, itself, its effects. */
function chainOf(store: Store, id: EventId): SliceRef[] {
	const cause = store.arrowsOf(id, false)[0];
	const own = withLine(store, store.tracks[trackOf(id)], rowOf(id));
	const effects = store
		.arrowsOf(id, true)
		.slice(0, 8)
		.map(e => withLine(store, store.tracks[trackOf(e)], rowOf(e)));
	const led =
		cause === undefined
			? causes(store, id)
			: [...causes(store, cause), withLine(store, store.tracks[trackOf(cause)], rowOf(cause))];

	return led.length + effects.length ? [...led, own, ...effects] : [];
}

/* Its length without what of it a later slice of the track covers. */
function selfOf(store: Store, track: Track, row: number): number {
	const r = track.rows!,
		end = endOf(r, row);
	let self = end - r.start[row],
		covered = r.start[row];

	if (!store.isWork(r.type[row])) return 0;
	for (let i = row + 1; i < r.count && r.start[i] < end && covered < end; i++) {
		if (!store.isWork(r.type[i])) continue;
		const from = Math.max(covered, r.start[i]),
			to = Math.min(end, endOf(r, i));

		if (to <= from) continue;
		self -= to - from;
		covered = to;
	}
	return self;
}

interface OfName {
	nth: number;
	count: number;
	total: number;
}

/* How many have the name, and which of them this is, in order of time. */
function ofName(store: Store, id: EventId, type: number): OfName {
	const name = store.nameOf[type],
		t = store.start(id),
		out = { nth: 1, count: 0, total: 0 };

	for (const track of store.tracks) {
		const r = track.rows;

		for (let row = 0; r && row < r.count; row++) {
			if (store.nameOf[r.type[row]] !== name) continue;
			out.count++;
			out.total += durOf(r, row);
			if (r.start[row] < t || (r.start[row] === t && store.id(track, row) < id)) out.nth++;
		}
	}
	return out;
}

export function detail(store: Store, id: EventId): Detail | null {
	if (!store.has(id)) return null;
	const track = store.tracks[trackOf(id)],
		row = rowOf(id),
		lane = store.laneOf(track, row);
	const ref = refOf(store, track, row),
		type = track.rows!.type[row],
		same = ofName(store, id, type);
	const mark = track.dealt.lanes[lane].kind === 'marks';

	return {
		...ref,
		track: track.index,
		lane,
		type,
		kind: mark ? 'mark' : 'span',
		depth: lane,
		self: store.isWork(type) ? selfOf(store, track, row) : null,
		unfinished: track.unfinished.has(row),
		args: Object.entries(store.args(track, row)),
		parents: store
			.parents(track, row)
			.reverse()
			.map(p => refOf(store, track, p)),
		chain: chainOf(store, id),
		before: store.arrowsOf(id, false).map(e => refById(store, e)),
		after: store.arrowsOf(id, true).map(e => refById(store, e)),
		nth: same.nth,
		ofName: same.count,
		ofNameTotal: same.total,
	};
}

/* The event of a lane at a time, or the nearest one not further away than slack. */
export function at(store: Store, track: number, lane: number, t: number, slack: number): SliceRef | null {
	const of = store.tracks[track],
		l = of?.dealt.lanes[lane];

	if (!l || !of.rows) return null;
	const r = of.rows,
		i = seek(r, l, t - slack);
	let best = -1,
		away = Infinity;

	for (let k = i; k < l.count; k++) {
		const row = rowAt(l, k),
			start = r.start[row];
		const distance = Math.max(0, start - t, t - endOf(r, row));

		if (start > t + slack || distance > away) break;
		best = row;
		away = distance;
	}
	return best < 0 ? null : refOf(store, of, best);
}

/* ---- searching ------------------------------------------------------------------------------ */

interface Hit {
	t: number;
	id: EventId;
}

const comes = (a: Hit, b: Hit): number => a.t - b.t || a.id - b.id;

function* hits(
	store: Store,
	text: string,
	scope: Scope,
	found: (track: Track, row: number) => void,
): Job<string> {
	const query = compile(`${text} ${scope.query ?? ''}`);

	if (query.error) return query.error;
	const types = Uint8Array.from(store.names, (name, i) => Number(query.type(name, store.cat(i))));

	for (const track of scopeTracks(store, scope, query)) {
		const r = track.rows;

		for (let row = 0; r && row < r.count; row++) {
			if (!types[r.type[row]]) continue;
			if (scope.ranges && !touches(scope.ranges, r.start[row], endOf(r, row))) continue;
			if (query.event && !query.event({ dur: durOf(r, row), arg: key => store.args(track, row)[key] }))
				continue;
			if (query.self && !query.self(selfOf(store, track, row))) continue;
			found(track, row);
		}
		yield;
	}
	return '';
}

export function* search(store: Store, text: string, limit: number, scope: Scope): Job<Found> {
	const first: Hit[] = [],
		tracks = new Set<number>();
	let count = 0,
		last = Infinity;
	const error = yield* hits(store, text, scope, (track, row) => {
		const t = track.rows!.start[row];

		count++;
		tracks.add(track.index);
		if (t > last) return;
		first.push({ t, id: store.id(track, row) });
		if (first.length >= limit * 4) {
			first.sort(comes).length = limit;
			last = first[limit - 1].t;
		}
	});

	if (error) throw new Error(error);
	return {
		count,
		list: first
			.sort(comes)
			.slice(0, limit)
			.map(h => refById(store, h.id)),
		tracks: [...tracks],
	};
}

/* The hit before or behind an event; the first or last one if there is none, as a ring. */
export function* find(
	store: Store,
	text: string,
	from: EventId | null,
	by: 1 | -1,
	scope: Scope,
): Job<{ id: EventId; nth: number } | null> {
	const here: Hit =
		from === null || !store.has(from)
			? { t: by > 0 ? -1 : Infinity, id: -1 }
			: { t: store.start(from), id: from };
	let next: Hit | null = null,
		wrapped: Hit | null = null,
		count = 0;
	const better = (a: Hit, b: Hit | null): boolean => b === null || comes(a, b) * by < 0;
	const error = yield* hits(store, text, scope, (track, row) => {
		const h = { t: track.rows!.start[row], id: store.id(track, row) };

		count++;
		if (comes(h, here) * by > 0 && better(h, next)) next = h;
		if (better(h, wrapped)) wrapped = h;
	});
	const hit = (next ?? wrapped) as Hit | null;

	if (error || !hit) return null;
	let nth = 1;

	yield* hits(store, text, scope, (track, row) => {
		if (comes({ t: track.rows!.start[row], id: store.id(track, row) }, hit) < 0) nth++;
	});
	return { id: hit.id, nth };
}

export function* step(
	store: Store,
	id: EventId,
	by: 1 | -1,
	along: 'name' | 'track' | 'flow',
): Job<EventId | null> {
	if (!store.has(id)) return null;
	const track = store.tracks[trackOf(id)],
		row = rowOf(id);

	if (along === 'flow') return store.arrowsOf(id, by > 0)[0] ?? null;
	if (along === 'name') {
		const hit = yield* find(store, exactly(store.name(track.rows!.type[row])), id, by, {});

		const there = hit && { t: store.start(hit.id), id: hit.id };

		return there && comes(there, { t: store.start(id), id }) * by > 0 ? there.id : null; // no ring
	}
	const lane = track.dealt.lanes[store.laneOf(track, row)];
	let low = 0,
		high = lane.count;

	while (low < high) {
		const mid = (low + high) >>> 1;

		if (rowAt(lane, mid) < row) low = mid + 1;
		else high = mid;
	}
	const next = low + by;

	return next < 0 || next >= lane.count ? null : store.id(track, rowAt(lane, next));
}

/* Arrows with an end in the window. */
export function flows(store: Store, t0: number, t1: number, limit: number, only?: number[]): Flows {
	const end = () => ({
		track: [] as number[],
		lane: [] as number[],
		row: [] as number[],
		t: [] as number[],
	});
	const out: Flows = { from: end(), to: end(), more: 0 };
	const tracks = only ? new Set(only) : null;
	const add = (to: Flows['from'], id: EventId, t: number) => {
		const track = store.tracks[trackOf(id)];

		to.track.push(track.index);
		to.lane.push(store.laneOf(track, rowOf(id)));
		to.row.push(rowOf(id));
		to.t.push(t);
	};

	for (let i = 0; i < store.arrowFrom.length; i++) {
		const a = store.arrowFrom[i],
			b = store.arrowTo[i];
		const from = store.start(a) + store.dur(a) / 2,
			to = store.start(b);

		if (Math.max(from, to) < t0 || Math.min(from, to) > t1) continue;
		if (tracks && !tracks.has(trackOf(a)) && !tracks.has(trackOf(b))) continue;
		if (out.from.t.length >= limit) {
			out.more++;
			continue;
		}
		add(out.from, a, from);
		add(out.to, b, to);
	}
	return out;
}
