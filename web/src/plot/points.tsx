// points.tsx - points, as large as what they weigh, and names beside them.

import type { ChartSeries } from '../source/contract';
import { middle, plain, telling, withoutTemplates } from '../text/label';
import { LETTER, NAMED, type Shown } from './layout';
import { nameAt, pointsOf } from './lines';
import { at, isThere, said, xOf } from './scale';

const BIGGEST = 20, // px: radius of the heaviest point
	LEAST = 3;

export interface Disc {
	x: number;
	y: number;
	r: number;
}

/* Null: it has no place. Areas of all series compare. */
export function discsOf(v: Shown, s: ChartSeries): (Disc | null)[] {
	let most = 0;

	if (s.kind !== 'points') return [];
	for (const other of v.data.series) for (const w of other.weight ?? []) most = Math.max(most, w ?? 0);
	return s.y.map((y, i) => {
		const x = xOf(s, i),
			r =
				s.weight && most > 0
					? Math.max(LEAST, BIGGEST * Math.sqrt((s.weight[i] ?? 0) / most))
					: LEAST + 1;

		if (!isThere(x) || !isThere(y) || (v.x.log && x <= 0) || (v.y.log && y <= 0)) return null;
		return { x: at(v.x, x), y: at(v.y, y), r };
	});
}

export function Discs({ v, of, discs }: { v: Shown; of: Shown['series'][0]; discs: (Disc | null)[] }) {
	const { s, colour, i: series } = of;

	return (
		<g>
			{discs.map(
				(c, i) =>
					c && (
						<circle
							key={i}
							class={`plotpoint k${colour} ${v.chosen?.(series, i) ? 'on' : ''}`}
							cx={c.x}
							cy={c.y}
							r={c.r}
							onClick={() => v.onPick?.(series, i)}>
							<title>
								{plain(
									s.notes?.[i] ??
										`${said(v.data.x, xOf(s, i) ?? 0)}, ${said(v.data.y, s.y[i] ?? 0)}`,
								)}
							</title>
						</circle>
					),
			)}
		</g>
	);
}

interface Box {
	x: number;
	y: number;
	w: number;
	h: number;
}

const meet = (a: Box, b: Box): boolean =>
	a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

const STEP = 8; // px

/* A line in small pieces. */
function piecesOf(v: Shown, s: ChartSeries): Box[] {
	const points = pointsOf(v, s),
		out: Box[] = [];

	for (let i = 1; i < points.length; i++) {
		const [[ax, ay], [bx, by]] = [points[i - 1], points[i]],
			count = Math.min(1000, Math.ceil(Math.hypot(bx - ax, by - ay) / STEP));

		for (let k = 0; k <= count; k++)
			out.push({
				x: ax + ((bx - ax) * k) / count - 3,
				y: ay + ((by - ay) * k) / count - 3,
				w: 6,
				h: 6,
			});
	}
	return out;
}

/* The same of its name, which may be turned. */
function nameOf(v: Shown, s: ChartSeries): Box[] {
	const name = nameAt(v, s),
		w = plain(s.name).length * LETTER,
		out: Box[] = [];

	if (!name) return out;
	const turn = (name.turn * Math.PI) / 180;

	for (let t = name.toLeft ? -w : 0; t < (name.toLeft ? 0 : w); t += STEP)
		out.push({ x: name.x + t * Math.cos(turn), y: name.y + t * Math.sin(turn) - 11, w: STEP, h: 13 });
	return out;
}

/* Beside the disc, above or below it, or at a corner: where there is room. */
function placeLabel(v: Shown, c: Disc, text: string, taken: Box[]): Box | null {
	const w = text.length * LETTER,
		h = 14;
	const tries = [
		{ x: c.x + c.r + 3, y: c.y - h / 2 },
		{ x: c.x - c.r - 3 - w, y: c.y - h / 2 },
		{ x: c.x - w / 2, y: c.y - c.r - 1 - h },
		{ x: c.x - w / 2, y: c.y + c.r + 1 },
		{ x: c.x + c.r * 0.7, y: c.y + c.r * 0.7 },
		{ x: c.x + c.r * 0.7, y: c.y - c.r * 0.7 - h },
		{ x: c.x - c.r * 0.7 - w, y: c.y + c.r * 0.7 },
		{ x: c.x - c.r * 0.7 - w, y: c.y - c.r * 0.7 - h },
	];

	for (const t of tries) {
		const box = { ...t, w, h };

		if (
			box.x >= v.x.from &&
			box.x + w <= v.x.to &&
			box.y >= v.y.to &&
			box.y + h <= v.y.from &&
			!taken.some(b => meet(b, box))
		)
			return box;
	}
	return null;
}

/* Names beside discs, where they cover neither a disc nor another name; on a line only if there is no room elsewhere. */
export function Names({ v, all }: { v: Shown; all: (Disc | null)[][] }) {
	const discs = all.flat().filter(c => c !== null),
		lines = v.series.map(({ s }) => s).filter(s => s.label && s.kind !== 'points'),
		onLines = discs.length ? lines.flatMap(s => piecesOf(v, s)) : [];
	const taken: Box[] = [
		...discs.map(c => ({ x: c.x - c.r * 0.75, y: c.y - c.r * 0.75, w: c.r * 1.5, h: c.r * 1.5 })),
		...lines.flatMap(s => nameOf(v, s)),
	];
	const out: { box: Box; name: string }[] = [];

	v.series.forEach(({ s }, k) =>
		(s.labels ?? (s.named ? s.notes : undefined))?.forEach((text, i) => {
			const c = all[k][i],
				name = text ? middle(withoutTemplates(telling(plain(text))), 34) : '';
			const box =
				c && name && out.length < NAMED
					? (placeLabel(v, c, name, [...taken, ...onLines]) ?? placeLabel(v, c, name, taken))
					: null;

			if (!box) return;
			taken.push(box);
			out.push({ box, name });
		}),
	);
	return (
		<g>
			{out.map(({ box, name }, i) => (
				<text key={i} class="plotlabel" x={box.x} y={box.y + 11}>
					{name}
				</text>
			))}
		</g>
	);
}
