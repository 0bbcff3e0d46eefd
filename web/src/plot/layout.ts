// layout.ts - how large a chart is, what of it is shown, and where its axes are.

import type { ChartData, ChartSeries } from '../source/contract';
import type { Range, Scale } from './scale';
import { rangeOf, stacks, widen, xs, ys } from './scale';

export const LETTER = 6.6, // px, about: of the small text
	LONGEST = 300, // px of the name of a bar that lies
	NAMED = 60; // points and bars that have something written beside them

const TOP = 10,
	RIGHT = 14,
	BOTTOM = 40,
	BAR = 20, // px of a bar that lies
	COLOURS = 10;

/* Of a point or a bar. */
export interface Picking {
	chosen?(series: number, at: number): boolean;
	onPick?(series: number, at: number): void;
}

export interface Asked extends Picking {
	data: ChartData;
	height?: number;
}

export interface Shown extends Picking {
	data: ChartData;
	series: { s: ChartSeries; colour: number; i: number }[]; // those that are not hidden
	x: Scale;
	y: Scale;
	width: number;
	height: number;
}

export const colourOf = (s: ChartSeries, i: number): number => (s.colour ? s.colour - 1 : i) % COLOURS;

export function layout(p: Asked, hidden: ReadonlySet<number>, zoom: Range | null, width: number): Shown {
	const { data } = p;
	const series = data.series
			.map((s, i) => ({ s, colour: colourOf(s, i), i }))
			.filter(e => !hidden.has(e.i)),
		names = data.x.names ?? data.y.names,
		bars = names !== undefined,
		shown = series.map(e => e.s),
		tall =
			bars && data.sideways
				? names.length * (data.stacked ? 1 : Math.max(1, shown.length)) * BAR
				: (p.height ?? (data.series.some(s => s.kind === 'points') ? 360 : 240));
	const numbers = data.sideways ? data.x : data.y,
		values = bars && data.stacked ? stacks(shown, names.length) : ys(shown),
		y = widen(rangeOf(numbers, values, true), numbers, 5),
		points = shown.some(s => s.kind === 'points'),
		all = rangeOf(data.x, xs(shown), points),
		x = zoom ?? (points ? widen(all, data.x, 6) : all);
	const longest = bars
			? data.sideways
				? Math.min(LONGEST, Math.max(...names.map(n => n.length), 1) * LETTER)
				: 46
			: 46,
		left = 14 + longest + (data.y.title ? 14 : 0),
		top = TOP + (data.spans?.length ? 14 : 0),
		under =
			bars && !data.sideways
				? BOTTOM + Math.min(120, Math.max(...names.map(n => n.length), 1) * LETTER) - 12
				: BOTTOM,
		height = top + tall + under,
		end = width - RIGHT - (bars && data.sideways ? 50 : 0);

	return {
		data,
		series,
		width,
		height,
		chosen: p.chosen,
		onPick: p.onPick,
		x: bars
			? data.sideways
				? { low: y[0], high: y[1], log: data.x.log, from: left, to: end }
				: { low: 0, high: 1, log: false, from: left, to: end }
			: { low: x[0], high: x[1], log: data.x.log, from: left, to: end },
		y:
			bars && data.sideways
				? { low: 0, high: 1, log: false, from: top + tall, to: top }
				: { low: y[0], high: y[1], log: data.y.log, from: top + tall, to: top },
	};
}
