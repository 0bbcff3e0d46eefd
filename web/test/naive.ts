// naive.ts - the same numbers as the module's, by the simplest means: every slice against every
// other. Only tests use it.

import type { Made } from './synth';

export interface Plain {
	track: number;
	row: number;
	name: string;
	cat: string;
	start: number;
	end: number;
	aside: boolean; // nobody's work: no time of its own
}

export function slices(p: Made): Plain[] {
	return p.tracks.flatMap((t, track) =>
		t.flatMap((r, row) => {
			const until: Record<string, () => number> = {
				span: () => r.t + r.val,
				mark: () => r.t,
				asyncBegin: () => t.find(o => o.kind === 'asyncEnd' && o.val === r.val)!.t,
			};
			const end = until[r.kind]?.(),
				cat = p.cats[r.type];

			if (end === undefined) return [];
			return {
				track,
				row,
				name: p.names[r.type],
				cat,
				start: r.t,
				end,
				aside: cat === 'frame' || r.kind === 'asyncBegin',
			};
		}),
	);
}

export const overlap = (s: Plain, a: number, b: number): number =>
	Math.max(0, Math.min(s.end, b) - Math.max(s.start, a));

const contains = (a: Plain, b: Plain): boolean =>
	a.track === b.track &&
	a !== b &&
	a.start <= b.start &&
	a.end >= b.end &&
	(a.start < b.start || a.end > b.end || a.row < b.row);

/* The smallest slice around one. */
export function parent(all: Plain[], s: Plain): Plain | null {
	return all
		.filter(o => contains(o, s))
		.reduce<Plain | null>((best, o) => (!best || contains(best, o) ? o : best), null);
}

export interface Sum {
	count: number;
	total: number;
	self: number | null; // null: frames have none
	min: number;
	max: number;
}

/* What is no work is in no table. */
const counts = (s: Plain): boolean => s.cat !== 'idle';

export function byName(all: Plain[], a: number, b: number): Map<string, Sum> {
	const out = new Map<string, Sum>(),
		inner = new Map<Plain, number>();
	const seen = all.filter(s => counts(s) && s.start < b && s.end > a);

	for (const s of seen) {
		const p = parent(all, s);

		if (p) inner.set(p, (inner.get(p) ?? 0) + overlap(s, a, b));
	}
	for (const s of seen) {
		const d = overlap(s, a, b),
			o = out.get(s.name) ?? { count: 0, total: 0, self: null, min: Infinity, max: 0 };

		out.set(s.name, {
			count: o.count + 1,
			total: o.total + d,
			self: s.aside ? o.self : (o.self ?? 0) + d - (inner.get(s) ?? 0),
			min: Math.min(o.min, d),
			max: Math.max(o.max, d),
		});
	}
	return out;
}

/* How long at least one of them was open, ns by ns in effect: over all borders. */
export function busy(all: Plain[], a: number, b: number): number {
	const borders = [...new Set([a, b, ...all.flatMap(s => [s.start, s.end])])]
		.filter(t => t >= a && t <= b)
		.sort((x, y) => x - y);
	let sum = 0;

	for (let i = 1; i < borders.length; i++)
		if (all.some(s => s.start <= borders[i - 1] && s.end >= borders[i]))
			sum += borders[i] - borders[i - 1];
	return sum;
}
