// spread.ts - how long the slices of one name took: histogram, quantiles, outliers.

import type { Distribution, DistributionAsk, SliceRef } from '../source/contract';
import { refOf } from './events';
import { exactly } from './query';
import type { Store } from './store';
import { walk, type Job, type Visit } from './walk';

const MOST_GROUPS = 8;
const OUTLIERS = 20;

export const quantile = (sorted: Float64Array, q: number): number =>
	sorted.length ? sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] : 0;

/* Which bin a value is in; edges are equal steps of the value, or of its logarithm. */
export function binOf(value: number, d: { low: number; high: number; log: boolean }, bins: number): number {
	const scale = d.log ? Math.log : (v: number) => v;
	const low = scale(d.log ? Math.max(1, d.low) : d.low),
		high = scale(d.log ? Math.max(1, d.high) : d.high);
	const share = high > low ? (scale(d.log ? Math.max(1, value) : value) - low) / (high - low) : 0;

	return Math.max(0, Math.min(bins - 1, Math.floor(share * bins)));
}

function labelOf(store: Store, v: Visit, ask: DistributionAsk): string {
	switch (ask.group) {
		case 'track':
			return `${v.track.place.name} ${v.track.place.sub ?? ''}`.trim();
		case 'rank':
			return v.track.place.rank < 0 ? 'no rank' : `rank ${v.track.place.rank}`;
		case 'parent':
			return v.path.length ? store.name(v.track.rows!.type[v.path[v.path.length - 1]]) : 'nothing';
		case 'argument':
			return store.args(v.track, v.row)[ask.argument ?? ''] ?? 'without';
		default:
			return ask.name;
	}
}

interface Group {
	values: number[];
	sum: number;
}

/* The largest groups by name; the rest together. */
function largest(groups: Map<string, Group>): [string, Group][] {
	const all = [...groups].sort((a, b) => b[1].values.length - a[1].values.length);

	if (all.length <= MOST_GROUPS) return all;
	const rest = all.slice(MOST_GROUPS - 1);
	const other: Group = { values: rest.flatMap(([, g]) => g.values), sum: 0 };

	other.sum = rest.reduce((sum, [, g]) => sum + g.sum, 0);
	return [...all.slice(0, MOST_GROUPS - 1), [`${rest.length} others`, other]];
}

export function* distribution(store: Store, ask: DistributionAsk): Job<Distribution> {
	const groups = new Map<string, Group>(),
		keys = new Set<string>();
	const top: { value: number; track: number; row: number }[] = [];
	const query = `${ask.scope.query ?? ''} ${exactly(ask.name)}`;
	let floor = -1;
	const error = yield* walk(store, { ...ask.scope, query }, v => {
		const value = ask.self ? v.self : v.end - v.start,
			label = labelOf(store, v, ask);
		let g = groups.get(label);

		if (!g) groups.set(label, (g = { values: [], sum: 0 }));
		g.values.push(value);
		g.sum += value;
		if (keys.size < 32 && g.values.length < 64)
			Object.keys(store.args(v.track, v.row)).forEach(k => keys.add(k));
		if (value > floor) {
			top.push({ value, track: v.track.index, row: v.row });
			if (top.length > OUTLIERS * 8) {
				top.sort((a, b) => b.value - a.value).length = OUTLIERS;
				floor = top[OUTLIERS - 1].value;
			}
		}
	});

	if (error) throw new Error(error);
	const lists = [...groups.values()].map(g => g.values);
	const sorted = new Float64Array(lists.reduce((n, l) => n + l.length, 0));
	let at = 0;

	for (const l of lists) {
		sorted.set(l, at);
		at += l.length;
	}
	sorted.sort();
	const out = { low: ask.low ?? sorted[0] ?? 0, high: ask.high ?? sorted[at - 1] ?? 0, log: ask.log };
	const sum = sorted.reduce((s, v) => s + v, 0);
	const outliers: SliceRef[] = top
		.sort((a, b) => b.value - a.value)
		.slice(0, OUTLIERS)
		.map(o => refOf(store, store.tracks[o.track], o.row));

	return {
		...out,
		count: at,
		sum,
		min: sorted[0] ?? 0,
		max: sorted[at - 1] ?? 0,
		mean: at ? sum / at : 0,
		p50: quantile(sorted, 0.5),
		p90: quantile(sorted, 0.9),
		p99: quantile(sorted, 0.99),
		outliers,
		arguments: [...keys].sort(),
		groups: largest(groups).map(([label, g]) => {
			const counts = new Array<number>(ask.bins).fill(0);

			for (const v of g.values) counts[binOf(v, out, ask.bins)]++;
			return { label, counts, sum: g.sum, count: g.values.length };
		}),
	};
}
