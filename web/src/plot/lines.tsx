// lines.tsx - lines with the band of their extremes, and their names.

import type { ChartSeries } from '../source/contract';
import { plain } from '../text/label';
import type { Shown } from './layout';
import { at, isThere, xOf } from './scale';

/* A line through points; a hole, or the end of a stretch, breaks it. */
function path(v: Shown, s: ChartSeries, of: (number | null)[]): string {
	const spans = v.data.spans ?? [];
	let out = '',
		pen = 'M',
		span = 0;

	for (let i = 0; i < of.length; i++) {
		const x = xOf(s, i),
			y = of[i];

		if (!isThere(x) || !isThere(y) || (v.y.log && y <= 0)) {
			pen = 'M';
			continue;
		}
		while (span < spans.length && spans[span].from <= x) {
			pen = 'M';
			span++;
		}
		out += `${pen}${at(v.x, x).toFixed(1)} ${at(v.y, y).toFixed(1)}`;
		pen = 'L';
	}
	return out;
}

function band(v: Shown, s: ChartSeries): string {
	const edge: string[] = [];
	const add = (i: number, of: (number | null)[]) => {
		const x = xOf(s, i),
			y = of[i];

		if (isThere(x) && isThere(y) && !(v.y.log && y <= 0))
			edge.push(`${at(v.x, x).toFixed(1)} ${at(v.y, y).toFixed(1)}`);
	};

	for (let i = 0; i < s.y.length; i++) add(i, s.high!);
	for (let i = s.y.length; i-- > 0;) add(i, s.low!);
	return edge.length > 2 ? `M${edge.join('L')}Z` : '';
}

export function Line({ v, s, colour }: { v: Shown; s: ChartSeries; colour: number }) {
	return (
		<g>
			{s.low && s.high && <path class={`plotband k${colour}`} d={band(v, s)} />}
			<path class={`series s${colour} ${s.dashed ? 'dashed' : ''}`} d={path(v, s, s.y)} />
			{s.label && <LineName v={v} s={s} />}
		</g>
	);
}

/* Its points on the screen. */
export const pointsOf = (v: Shown, s: ChartSeries): [x: number, y: number][] =>
	s.y.flatMap((y, i): [number, number][] => {
		const x = xOf(s, i);

		return isThere(x) && isThere(y) && !(v.x.log && x <= 0) && !(v.y.log && y <= 0)
			? [[at(v.x, x), at(v.y, y)]]
			: [];
	});

/* Where the name of a line begins, and how it is turned. */
export interface NameAt {
	x: number;
	y: number;
	turn: number; // degrees
	toLeft: boolean; // it ends there
}

/* On the line, at its left end if it rises, else at the right one. */
export function nameAt(v: Shown, s: ChartSeries): NameAt | null {
	const seen = pointsOf(v, s);

	if (seen.length < 2) return null;
	let [ax, ay] = seen[0];
	const [bx, by] = seen[seen.length - 1];

	if (Math.abs(by - ay) < 1) return { x: Math.min(bx, v.x.to) - 6, y: ay - 5, turn: 0, toLeft: true };
	if (ax < v.x.from) {
		ay += ((by - ay) * (v.x.from - ax)) / (bx - ax);
		ax = v.x.from;
	}
	if (ay > v.y.from) {
		ax += ((bx - ax) * (v.y.from - ay)) / (by - ay);
		ay = v.y.from;
	}
	return {
		x: ax + (bx - ax) * 0.06,
		y: ay + (by - ay) * 0.06 - 5,
		turn: (Math.atan2(by - ay, bx - ax) * 180) / Math.PI,
		toLeft: false,
	};
}

function LineName({ v, s }: { v: Shown; s: ChartSeries }) {
	const n = nameAt(v, s);

	return (
		n && (
			<text
				class="plotlabel"
				text-anchor={n.toLeft ? 'end' : undefined}
				transform={`translate(${n.x} ${n.y}) rotate(${n.turn})`}>
				{plain(s.name)}
			</text>
		)
	);
}
