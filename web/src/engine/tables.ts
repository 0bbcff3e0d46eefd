// tables.ts - the tables of an area: slices by name, threads, counters, devices, and the list.

import {
	isWhole,
	type Aggregates,
	type Cell,
	type Column,
	type Place,
	type Scope,
	type Table,
} from '../source/contract';
import { seekSample } from './lanes';
import { compile } from './query';
import type { Store, Track } from './store';
import { inside, isQuiet, scopeSpan, scopeTracks, walk, type Job, type Visit } from './walk';

/* Rows of objects become columns in the order of the list. */
export function table(columns: Column[], rows: Record<string, Cell>[], more = 0): Table {
	return { columns, rows: rows.length, more, data: columns.map(c => rows.map(row => row[c.key] ?? null)) };
}

const column = (key: string, title: string, type: Column['type'], more: Partial<Column> = {}): Column => ({
	key,
	title,
	type,
	...more,
});

const SLICES: Column[] = [
	column('name', 'Name', 'name'),
	column('count', 'Count', 'count'),
	column('total', 'Total', 'time'),
	column('self', 'Self', 'time', { hint: 'without what is nested in it' }),
	column('share', 'Share of self', 'share', {
		hint: 'of the self time of all names together, as unitrace stats has it',
	}),
	column('mean', 'Mean', 'time'),
	column('min', 'Min', 'time'),
	column('max', 'Max', 'time'),
	column('type', 'Type', 'number'),
	column('longest', 'Longest', 'event'),
];

interface Sum {
	type: number;
	count: number;
	total: number; // of a name that is in itself, once
	lengths: number; // of each slice
	self: number | null; // null: it has none, like a frame
	min: number;
	max: number;
	longest: number;
	by?: (string | null)[]; // values of the arguments asked for
}

/* Merges intervals that come in any order: how long at least one was there. */
export class Union {
	private readonly parts: [number, number][] = [];

	add(a: number, b: number): void {
		const last = this.parts[this.parts.length - 1];

		if (last && a >= last[0] && a <= last[1]) last[1] = Math.max(last[1], b);
		else if (b > a) this.parts.push([a, b]);
	}

	merged(): [number, number][] {
		const out: [number, number][] = [];

		for (const [a, b] of this.parts.sort((x, y) => x[0] - y[0])) {
			const last = out[out.length - 1];

			if (last && a <= last[1]) last[1] = Math.max(last[1], b);
			else out.push([a, b]);
		}
		return out;
	}
}

interface Busy {
	union: Union;
	count: number;
	works: boolean; // not all on it is beside the device's work
}

function slicesTable(store: Store, sums: Sum[], by: string[]): Table {
	const self = sums.reduce((all, s) => all + (s.self ?? 0), 0);
	const rows = sums
		.filter(Boolean)
		.sort((a, b) => b.total - a.total)
		.map(s => ({
			name: store.name(s.type),
			count: s.count,
			total: s.total,
			self: s.self,
			mean: s.lengths / s.count,
			min: s.min,
			max: s.max,
			share: s.self === null || !self ? null : s.self / self,
			type: s.type,
			longest: s.longest,
			...Object.fromEntries(by.map((key, i) => [`arg.${key}`, s.by?.[i] ?? null])),
		}));

	return table([...SLICES, ...by.map(key => column(`arg.${key}`, key, 'text'))], rows);
}

const lengthIn = (store: Store, scope: Scope, busy: [number, number][]): number =>
	busy.reduce((sum, [a, b]) => sum + inside(scope.ranges ?? [[0, store.info.span]], a, b), 0);

function threadsTable(store: Store, scope: Scope, busy: Map<Track, Busy>, span: number): Table {
	const rows = [...busy]
		.map(([t, b]) => {
			const time = lengthIn(store, scope, b.union.merged());

			return {
				name: pathName(store, t.place),
				slices: b.count,
				busy: time,
				idle: span - time,
				share: span ? time / span : null,
				track: t.index,
			};
		})
		.sort((a, b) => b.busy - a.busy);

	return table(
		[
			column('name', 'Track', 'text'),
			column('slices', 'Slices', 'count'),
			column('busy', 'Busy', 'time', {
				hint: "time in which at least one slice was open; of a device's queue: work",
			}),
			column('idle', 'Idle', 'time', { wide: true }),
			column('share', 'Busy share', 'share'),
			column('track', 'Track number', 'number'),
		],
		rows,
	);
}

export function pathName(store: Store, place: Place): string {
	const words = [place.name];

	for (let p = store.placeById.get(place.parent); p; p = store.placeById.get(p.parent))
		words.unshift(p.name);
	return words.join(' / ');
}

/* Mean is weighted by time: a value holds until the next one, or until NaN says that it is over. */
function counterRow(store: Store, t: Track, ranges: [number, number][]): Record<string, Cell> | null {
	const s = t.samples!;
	let count = 0,
		min = Infinity,
		max = -Infinity,
		area = 0,
		time = 0,
		last: Cell = null;
	const hold = (v: number, from: number, to: number): void => {
		if (!Number.isFinite(v)) return;
		min = Math.min(min, v);
		max = Math.max(max, v);
		area += v * (to - from);
		time += to - from;
		last = v;
	};

	for (const [a, b] of ranges) {
		let i = seekSample(s, a);

		// the value that holds at a
		if (i > 0 && !(i < s.count && s.time[i] === a))
			hold(s.value[i - 1], a, Math.min(b, i < s.count ? s.time[i] : b));
		for (; i < s.count && s.time[i] < b; i++) {
			if (!Number.isNaN(s.value[i])) count++;
			hold(s.value[i], s.time[i], Math.min(b, i + 1 < s.count ? s.time[i + 1] : b));
		}
	}
	if (last === null) return null;
	return {
		name: pathName(store, t.place),
		unit: t.place.unit ?? '',
		samples: count,
		min,
		mean: time ? area / time : min,
		max,
		last,
		track: t.index,
	};
}

function countersTable(store: Store, scope: Scope, tracks: Track[]): Table {
	const ranges: [number, number][] = scope.ranges ?? [[0, store.info.span]];
	const rows = tracks.filter(t => t.samples).map(t => counterRow(store, t, ranges));

	return table(
		[
			column('name', 'Counter', 'text'),
			column('unit', 'Unit', 'text'),
			column('samples', 'Samples', 'count', { wide: true }),
			column('min', 'Min', 'number'),
			column('mean', 'Mean', 'number', { hint: 'each value weighted by how long it held' }),
			column('max', 'Max', 'number'),
			column('last', 'Last', 'number', { wide: true }),
			column('track', 'Track number', 'number'),
		],
		rows.filter(r => r !== null),
	);
}

/* A device is busy when one of its queues is; overlap: two or more of them at once. */
function devicesTable(store: Store, scope: Scope, busy: Map<Track, Busy>, span: number): Table {
	const queues = new Map<Place, [number, number][][]>();
	const ranges: [number, number][] = scope.ranges ?? [[0, store.info.span]];

	for (const [t, b] of busy) {
		let p: Place | undefined = store.placeById.get(t.place.parent);

		while (p && p.kind !== 'device') p = store.placeById.get(p.parent);
		if (p && b.works && t.place.kind === 'queue')
			queues.set(p, [...(queues.get(p) ?? []), b.union.merged()]);
	}
	const rows = [...queues].map(([device, of]) => {
		const union = new Union();
		let sum = 0;

		of.forEach(q => q.forEach(([a, b]) => union.add(a, b)));
		const all = union.merged(),
			time = lengthIn(store, scope, all);

		of.forEach(q => {
			sum += lengthIn(store, scope, q);
		});
		return {
			name: pathName(store, device),
			busy: time,
			idle: span - time,
			overlap: of.length > 1 ? sum - time : null,
			share: span ? time / span : null,
			gap: longestGap(all, ranges),
		};
	});

	return table(
		[
			column('name', 'Device', 'text'),
			column('busy', 'Busy', 'time'),
			column('idle', 'Idle', 'time'),
			column('overlap', 'Overlapped', 'time', { hint: 'time that queues were busy beside others' }),
			column('gap', 'Longest gap', 'time', { wide: true }),
			column('share', 'Busy share', 'share'),
		],
		rows,
	);
}

function longestGap(busy: [number, number][], ranges: [number, number][]): number {
	let longest = 0;

	for (const [from, to] of ranges) {
		let at = from;

		for (const [a, b] of busy) {
			if (b <= from || a >= to) continue;
			longest = Math.max(longest, a - at);
			at = Math.max(at, b);
		}
		longest = Math.max(longest, to - at);
	}
	return longest;
}

/* Numbers for names, or for names together with the values of some arguments. */
function grouping(store: Store, by: string[]): (v: Visit) => [number, (string | null)[] | undefined] {
	const keys = new Map<string, number>();

	if (!by.length) return v => [store.nameOf[v.type], undefined];
	return v => {
		const args = store.args(v.track, v.row),
			values = by.map(k => args[k] ?? null);
		const key = JSON.stringify([store.nameOf[v.type], ...values]);
		let n = keys.get(key);

		if (n === undefined) keys.set(key, (n = keys.size));
		return [n, values];
	};
}

export function* aggregate(store: Store, scope: Scope, by: string[] = []): Job<Aggregates> {
	const group = grouping(store, by),
		sums: Sum[] = [],
		busy = new Map<Track, Busy>();
	let track: Track | null = null,
		b: Busy = { union: new Union(), count: 0, works: false }; // of the last one: they come in a row
	const span = scopeSpan(store, scope);
	const error = yield* walk(store, scope, v => {
		const [number, values] = group(v);
		const s = (sums[number] ??= {
			type: v.type,
			count: 0,
			total: 0,
			lengths: 0,
			self: null,
			min: Infinity,
			max: -1,
			longest: 0,
			by: values,
		});

		if (v.track !== track)
			busy.set((track = v.track), (b = { union: new Union(), count: 0, works: false }));
		s.count++;
		s.total += v.fresh;
		s.lengths += v.total;
		if (!v.mark && !v.aside) s.self = (s.self ?? 0) + v.self;
		if (v.total < s.min) s.min = v.total;
		if (v.total > s.max) {
			s.max = v.total;
			s.longest = store.id(v.track, v.row);
		}
		b.count++;
		if (v.quiet) return;
		b.works = true;
		if (scope.query || !v.path.some(row => !isQuiet(store, v.track, v.track.rows!.type[row])))
			// those inside others add nothing
			b.union.add(v.start, v.end);
	});

	if (error) throw new Error(error);
	const tracks = scopeTracks(store, scope, compile(scope.query ?? ''));

	const here = {
		slices: slicesTable(store, sums, by),
		threads: threadsTable(store, scope, busy, span),
		counters: countersTable(store, scope, tracks),
		devices: devicesTable(store, scope, busy, span),
		span,
	};

	return store.whole && !by.length && isWhole(scope, store.info.span) ? ofAll(store.whole, here) : here;
}

/* What was counted in all slices; the longest of a name is the longest that this page holds. */
function ofAll(all: Aggregates, here: Aggregates): Aggregates {
	const cells = (t: Table, key: string) => t.data[t.columns.findIndex(c => c.key === key)];
	const types = cells(here.slices, 'type'),
		longest = cells(here.slices, 'longest'),
		of = new Map(types.map((t, i) => [t, longest[i]]));
	const type = cells(all.slices, 'type');

	return {
		...all,
		slices: {
			...all.slices,
			data: all.slices.data.map((c, i) =>
				all.slices.columns[i].key === 'longest' ? type.map(t => of.get(t) ?? null) : c,
			),
		},
		counters: here.counters,
	};
}

/* The slices of a scope one by one, in order of time: the window as a table. */
export function* list(store: Store, scope: Scope, limit: number): Job<Table> {
	const rows: Record<string, Cell>[] = [];
	let count = 0;
	const error = yield* walk(store, scope, v => {
		count++;
		if (rows.length >= limit) return;
		const parent = v.path.length ? v.track.rows!.type[v.path[v.path.length - 1]] : -1;

		rows.push({
			name: store.name(v.type),
			start: v.start,
			dur: v.end - v.start,
			self: v.mark || v.aside ? null : v.self,
			track: v.track.place.name,
			parent: parent < 0 ? '' : store.name(parent),
			cat: store.cat(v.type),
			type: v.type,
			id: store.id(v.track, v.row),
		});
	});

	if (error) throw new Error(error);
	rows.sort((a, b) => (a.start as number) - (b.start as number));
	return table(
		[
			column('name', 'Name', 'name'),
			column('start', 'Start', 'time'),
			column('dur', 'Duration', 'time'),
			column('self', 'Self', 'time', { wide: true }),
			column('track', 'Track', 'text'),
			column('parent', 'Inside', 'text', { wide: true }),
			column('cat', 'Category', 'text', { wide: true }),
			column('type', 'Type', 'number'),
			column('id', 'Event', 'event'),
		],
		rows,
		count - rows.length,
	);
}
