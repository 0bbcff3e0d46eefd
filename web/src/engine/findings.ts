// findings.ts - what tables say by themselves, in sentences. Nothing is judged without a reason, and
// every number in a sentence is one of the tables.

import type { Aggregates, Finding, Scope, Table } from '../source/contract';
import { count, percent, time } from '../text/format';
import { plain } from '../text/label';
import { durOf, ITSELF } from './lanes';
import type { Store } from './store';
import { aggregate } from './tables';
import { inside, type Job } from './walk';

const IDLE_BAD = 0.5; // share of time that a device is idle before it costs more than all kernels
const UNEVEN = 0.1; // share by which the slowest rank is above the mean

const rows = (t: Table): Record<string, string | number | null>[] =>
	Array.from({ length: t.rows }, (_, i) =>
		Object.fromEntries(t.columns.map((c, k) => [c.key, t.data[k][i]])),
	);

const num = (v: string | number | null): number => Number(v ?? 0);

function failed(store: Store): Finding[] {
	const say = store.info.failed;

	return say
		? [
				{
					tone: 'bad',
					say,
					why: 'What it recorded until then is here. Times and shares are those of a run that did not complete.',
				},
			]
		: [];
}

function lost(store: Store): Finding[] {
	const bad = store.info.losses.filter(l => l.count > 0);
	const gone = bad.filter(l => ['dropped', 'overwritten', 'torn', 'unread'].includes(l.name)),
		open = bad.find(l => l.name === 'unfinished');

	return [
		...(gone.length
			? [
					{
						tone: 'warn' as const,
						say: `${count(gone.reduce((s, l) => s + l.count, 0))} records are missing.`,
						why: `${gone.map(l => `${count(l.count)} ${l.text}`).join('; ')}.`,
					},
				]
			: []),
		...(open
			? [
					{
						tone: 'warn' as const,
						say: `${count(open.count)} slice${open.count === 1 ? '' : 's'} never ended.`,
						why: 'They are drawn up to the last sign of life of their track, with a frayed end.',
						event: firstOpen(store),
					},
				]
			: []),
	];
}

function firstOpen(store: Store): number | undefined {
	const track = store.tracks.find(t => t.unfinished.size);

	return track && store.id(track, [...track.unfinished][0]);
}

function idle(a: Aggregates): Finding[] {
	const worst = rows(a.devices).sort((x, y) => num(x.share) - num(y.share))[0];

	if (!worst || 1 - num(worst.share) < IDLE_BAD) return [];
	return [
		{
			tone: 'bad',
			say: `${plain(String(worst.name))} is idle ${percent(1 - num(worst.share))} of the time.`,
			about: 'idle',
			gain: num(worst.idle),
			why: `It is busy for ${time(num(worst.busy))} of ${time(a.span)}; the longest gap is ${time(num(worst.gap))}.`,
		},
	];
}

/* Why devices wait, where the recorder or an analysis has put that on tracks of its own. */
function causes(store: Store, scope: Scope): Finding[] {
	const byName = new Map<string, { sum: number; longest: number; event: number }>();

	for (const track of store.tracks.filter(t => t.place.kind === 'idle' && t.rows))
		for (let row = 0; row < track.rows!.count; row++) {
			const r = track.rows!,
				name = store.name(r.type[row]),
				d = inside(scope.ranges, r.start[row], r.start[row] + durOf(r, row));
			const o = byName.get(name) ?? { sum: 0, longest: -1, event: 0 };

			o.sum += d;
			if (d > o.longest) Object.assign(o, { longest: d, event: store.id(track, row) });
			byName.set(name, o);
		}
	return [...byName]
		.filter(([, o]) => o.sum > 0)
		.sort((x, y) => y[1].sum - x[1].sum)
		.slice(0, 2)
		.map(([name, o]): Finding => ({
			tone: 'warn',
			say: `Devices wait ${time(o.sum)} in all: ${plain(name)}.`,
			why: `The longest time is ${time(o.longest)}.`,
			gain: o.sum,
			event: o.event,
		}));
}

/* Ranks whose threads are busier than the others' make them wait. Where they call each other, who is busy may be waiting. */
function uneven(store: Store, a: Aggregates): Finding[] {
	const sums = new Map<number, number>();

	if (store.cats.some(cat => /^(MPI|NCCL|oneCCL|gloo)/.test(cat))) return [];

	for (const r of rows(a.threads)) {
		const place = store.tracks[num(r.track)].place;

		if (place.rank >= 0 && place.kind === 'thread')
			sums.set(place.rank, Math.max(sums.get(place.rank) ?? 0, num(r.busy)));
	}
	const mean = [...sums.values()].reduce((s, v) => s + v, 0) / Math.max(1, sums.size);
	const worst = [...sums].sort((x, y) => y[1] - x[1])[0];

	if (sums.size < 2 || !mean || worst[1] < mean * (1 + UNEVEN)) return [];
	return [
		{
			tone: 'warn',
			say: `Rank ${worst[0]} works ${percent(worst[1] / mean - 1)} longer than the mean of ${sums.size}.`,
			about: 'ranks',
			gain: worst[1] - mean,
			why: `Its busiest thread is busy for ${time(worst[1])}, on average it is ${time(mean)}.`,
			query: `rank:${worst[0]}`,
		},
	];
}

/* What a tool says about itself is nothing to look at, while there is anything else. */
function heaviest(store: Store, a: Aggregates): Finding[] {
	const own = (r: Record<string, string | number | null>): number => store.flags[num(r.type)] & ITSELF;
	const top = rows(a.slices).sort((x, y) => own(x) - own(y) || num(y.self) - num(x.self))[0];

	if (!top)
		return [
			{
				tone: '',
				say: 'No task or call is in this range.',
				why: 'None was recorded, or a filter leaves none; samples and counters are not looked at here.',
			},
		];
	return [
		{
			tone: '',
			say: `${plain(String(top.name)).slice(0, 120)} takes the most time of its own: ${time(num(top.self))}.`,
			why: `${num(top.count) === 1 ? 'Once' : `${count(num(top.count))} times`}, ${time(num(top.mean))} on average, ${time(num(top.max))} at most.`,
			event: num(top.longest),
		},
	];
}

const WEIGHT = { bad: 0, warn: 1, '': 2 };

export function* findings(store: Store, scope: Scope): Job<Finding[]> {
	const a = yield* aggregate(store, scope);
	const all = [
		...idle(a),
		...causes(store, scope),
		...uneven(store, a),
		...lost(store),
		...heaviest(store, a),
	];

	return [
		...failed(store),
		...all.sort((x, y) => WEIGHT[x.tone] - WEIGHT[y.tone] || (y.gain ?? 0) - (x.gain ?? 0)),
	];
}
