// scale.ts - from numbers to places on the screen and back: scales, their ranges, round numbers on axes.

import type { ChartAxis, ChartSeries } from '../source/contract';
import { number, short, step, time } from '../text/format';

export type Range = [low: number, high: number];

export interface Scale {
	low: number;
	high: number;
	log: boolean;
	from: number; // px
	to: number;
}

export const isThere = (v: number | null | undefined): v is number =>
	typeof v === 'number' && Number.isFinite(v);
export const xOf = (s: ChartSeries, i: number): number | null => (s.x ? s.x[i] : i);

export function at(s: Scale, v: number): number {
	const share = s.log
		? Math.log(v / s.low) / Math.log(s.high / s.low)
		: (v - s.low) / (s.high - s.low || 1);

	return s.from + share * (s.to - s.from);
}

export function valueAt(s: Scale, px: number): number {
	const share = (px - s.from) / (s.to - s.from || 1);

	return s.log ? s.low * (s.high / s.low) ** share : s.low + share * (s.high - s.low);
}

/* Round numbers on an axis; a log one has 1, 2, 5 where there is room. */
export function ticks(s: Scale, about: number): number[] {
	const out: number[] = [];

	if (s.log) {
		const first = Math.floor(Math.log10(s.low)),
			last = Math.ceil(Math.log10(s.high)),
			every = 1 + Math.floor((last - first) / Math.max(1, about)),
			fine = last - first <= 3 && about > 5 ? [1, 2, 5] : [1];

		for (let e = first; e <= last; e += every) for (const k of fine) out.push(k * 10 ** e);
		return out.filter(v => v >= s.low * 0.9999 && v <= s.high * 1.0001);
	}
	const by = step(s.high - s.low || 1, about);

	for (let v = Math.ceil(s.low / by - 1e-9) * by; v <= s.high + by * 1e-9 && out.length < 60; v += by)
		out.push(Math.abs(v) < by * 1e-9 ? 0 : v);
	return out;
}

export const said = (axis: ChartAxis, v: number): string =>
	axis.numbers === 'hex'
		? `0x${Math.round(v).toString(16)}`
		: axis.numbers === 'ns'
			? time(v, 3)
			: Math.abs(v) < 1e5
				? number(Number(v.toPrecision(6)))
				: short(v);

export function rangeOf(
	axis: ChartAxis,
	values: Iterable<number | null | undefined>,
	withZero: boolean,
): Range {
	let low = Number.POSITIVE_INFINITY,
		high = Number.NEGATIVE_INFINITY;

	if (axis.low !== undefined && axis.high !== undefined) return [axis.low, axis.high];
	for (const v of values) {
		if (!isThere(v) || (axis.log && v <= 0)) continue;
		low = Math.min(low, v);
		high = Math.max(high, v);
	}
	if (low > high) [low, high] = axis.log ? [1, 10] : [0, 1];
	if (withZero && !axis.log) [low, high] = [Math.min(0, low), Math.max(0, high)];
	if (low === high) [low, high] = axis.log ? [low / 2, high * 2] : [low, low + 1];
	return [low, high];
}

/* Outwards to the next round number. */
export function widen([low, high]: Range, axis: ChartAxis, about: number): Range {
	if (axis.low !== undefined) return [low, high];
	if (axis.log) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))];
	const by = step(high - low, about);

	return [Math.floor(low / by + 1e-9) * by, Math.ceil(high / by - 1e-9) * by];
}

export function* xs(of: ChartSeries[]) {
	for (const s of of) for (let i = 0; i < s.y.length; i++) yield xOf(s, i);
}

export function* ys(of: ChartSeries[]) {
	for (const s of of) {
		yield* s.y;
		yield* s.high ?? [];
		yield* s.low ?? [];
	}
}

/* Sums of what stands on each other. */
export function* stacks(of: ChartSeries[], names: number) {
	for (let k = 0; k < names; k++) yield of.reduce((sum, s) => sum + (s.y[k] ?? 0), 0);
}
