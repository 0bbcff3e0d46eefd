// plot.tsx - a chart that a tool has made (ChartData): lines with the band of their extremes, points,
// bars. Drag to look closer, click a name to hide its series. chart.tsx is for distributions.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ChartAxis, ChartData, ChartSeries, Table } from '../source/contract';
import type { App } from '../state/app';
import { number, short, step, time } from '../text/format';
import { middle, plain } from '../text/label';
import { Grid } from './grid';

const TOP = 10,
	RIGHT = 14,
	BOTTOM = 40,
	LETTER = 6.6, // px, about: of the small text
	BAR = 20, // px of a bar that lies
	LONGEST = 300, // px of its name
	BIGGEST = 20, // px: radius of the heaviest point
	LEAST = 3,
	NAMED = 60, // points and bars that have something written beside them
	COLOURS = 10,
	NEAR = 0.01; // of the width: a drag that is shorter was a click

type Range = [low: number, high: number];

export interface PlotProps {
	data: ChartData;
	app?: App; // with it the numbers can be had as a table...
	file?: string; // ... whose CSV is called so
	height?: number;
	chosen?(series: number, at: number): boolean; // a point or a bar
	onPick?(series: number, at: number): void;
}

interface Scale {
	low: number;
	high: number;
	log: boolean;
	from: number; // px
	to: number;
}

/* ---- scales --------------------------------------------------------------------------------- */

const isThere = (v: number | null | undefined): v is number => typeof v === 'number' && Number.isFinite(v);
const xOf = (s: ChartSeries, i: number): number | null => (s.x ? s.x[i] : i);

function at(s: Scale, v: number): number {
	const share = s.log
		? Math.log(v / s.low) / Math.log(s.high / s.low)
		: (v - s.low) / (s.high - s.low || 1);

	return s.from + share * (s.to - s.from);
}

function valueAt(s: Scale, px: number): number {
	const share = (px - s.from) / (s.to - s.from || 1);

	return s.log ? s.low * (s.high / s.low) ** share : s.low + share * (s.high - s.low);
}

/* Round numbers on an axis; a log one has 1, 2, 5 where there is room. */
function ticks(s: Scale, about: number): number[] {
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

const said = (axis: ChartAxis, v: number): string =>
	axis.numbers === 'hex'
		? `0x${Math.round(v).toString(16)}`
		: axis.numbers === 'ns'
			? time(v, 3)
			: Math.abs(v) < 1e5
				? number(Number(v.toPrecision(6)))
				: short(v);

function rangeOf(axis: ChartAxis, values: Iterable<number | null | undefined>, withZero: boolean): Range {
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
function widen([low, high]: Range, axis: ChartAxis, about: number): Range {
	if (axis.low !== undefined) return [low, high];
	if (axis.log) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))];
	const by = step(high - low, about);

	return [Math.floor(low / by + 1e-9) * by, Math.ceil(high / by - 1e-9) * by];
}

function* xs(of: ChartSeries[]) {
	for (const s of of) for (let i = 0; i < s.y.length; i++) yield xOf(s, i);
}

function* ys(of: ChartSeries[]) {
	for (const s of of) {
		yield* s.y;
		yield* s.high ?? [];
		yield* s.low ?? [];
	}
}

/* Sums of what stands on each other. */
function* stacks(of: ChartSeries[], names: number) {
	for (let k = 0; k < names; k++) yield of.reduce((sum, s) => sum + (s.y[k] ?? 0), 0);
}

/* ---- what is drawn -------------------------------------------------------------------------- */

interface Shown {
	data: ChartData;
	series: { s: ChartSeries; colour: number; i: number }[]; // those that are not hidden
	x: Scale;
	y: Scale;
	width: number;
	height: number;
	chosen?: PlotProps['chosen'];
	onPick?: PlotProps['onPick'];
}

const colourOf = (s: ChartSeries, i: number): number => (s.colour ? s.colour - 1 : i) % COLOURS;

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

function Line({ v, s, colour }: { v: Shown; s: ChartSeries; colour: number }) {
	return (
		<g>
			{s.low && s.high && <path class={`plotband k${colour}`} d={band(v, s)} />}
			<path class={`series s${colour} ${s.dashed ? 'dashed' : ''}`} d={path(v, s, s.y)} />
			{s.label && <LineName v={v} s={s} />}
		</g>
	);
}

/* On the line, at its left end if it rises, else at the right one. */
function LineName({ v, s }: { v: Shown; s: ChartSeries }) {
	const seen = s.y.flatMap((y, i): [number, number][] => {
		const x = xOf(s, i);

		return isThere(x) && isThere(y) && !(v.x.log && x <= 0) && !(v.y.log && y <= 0)
			? [[at(v.x, x), at(v.y, y)]]
			: [];
	});

	if (seen.length < 2) return null;
	let [ax, ay] = seen[0];
	const [bx, by] = seen[seen.length - 1];

	if (Math.abs(by - ay) < 1)
		return (
			<text class="plotlabel" x={Math.min(bx, v.x.to) - 6} y={ay - 5} text-anchor="end">
				{plain(s.name)}
			</text>
		);
	if (ax < v.x.from) {
		ay += ((by - ay) * (v.x.from - ax)) / (bx - ax);
		ax = v.x.from;
	}
	if (ay > v.y.from) {
		ax += ((bx - ax) * (v.y.from - ay)) / (by - ay);
		ay = v.y.from;
	}
	const turn = (Math.atan2(by - ay, bx - ax) * 180) / Math.PI;

	return (
		<text
			class="plotlabel"
			transform={`translate(${ax + (bx - ax) * 0.06} ${ay + (by - ay) * 0.06 - 5}) rotate(${turn})`}>
			{plain(s.name)}
		</text>
	);
}

/* ---- points --------------------------------------------------------------------------------- */

interface Disc {
	x: number;
	y: number;
	r: number;
}

/* Null: it has no place. Areas of all series compare. */
function discsOf(v: Shown, s: ChartSeries): (Disc | null)[] {
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

function Discs({ v, of, discs }: { v: Shown; of: Shown['series'][0]; discs: (Disc | null)[] }) {
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

/* Beside the disc, above or below it: where there is room. */
function placeLabel(v: Shown, c: Disc, text: string, taken: Box[]): Box | null {
	const w = text.length * LETTER,
		h = 14;
	const tries = [
		{ x: c.x + c.r + 3, y: c.y - h / 2 },
		{ x: c.x - c.r - 3 - w, y: c.y - h / 2 },
		{ x: c.x - w / 2, y: c.y - c.r - 1 - h },
		{ x: c.x - w / 2, y: c.y + c.r + 1 },
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

/* Names beside discs, where they cover neither a disc nor each other. */
function Names({ v, all }: { v: Shown; all: (Disc | null)[][] }) {
	const taken: Box[] = all
		.flat()
		.flatMap(c => (c ? [{ x: c.x - c.r * 0.75, y: c.y - c.r * 0.75, w: c.r * 1.5, h: c.r * 1.5 }] : []));
	const out: { box: Box; name: string }[] = [];

	v.series.forEach(({ s }, k) =>
		(s.labels ?? (s.named ? s.notes : undefined))?.forEach((text, i) => {
			const c = all[k][i],
				name = text ? middle(plain(text), 34) : '';
			const box = c && name && out.length < NAMED ? placeLabel(v, c, name, taken) : null;

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

/* ---- bars ----------------------------------------------------------------------------------- */

/* One bar of a name: from one number to another, the nth of so many beside each other. */
interface BarAt {
	name: number;
	nth: number;
	of: number;
	from: number;
	to: number;
}

function barBox(v: Shown, names: number, b: BarAt) {
	const side = v.data.sideways,
		along = side ? v.y : v.x,
		across = side ? v.x : v.y,
		begin = Math.min(along.from, along.to),
		slot = Math.abs(along.to - along.from) / names,
		thick = (slot * 0.78) / b.of,
		place = begin + slot * (b.name + 0.11) + thick * b.nth;
	const p = at(across, b.from),
		q = at(across, b.to);

	return side
		? { x: Math.min(p, q), y: place, width: Math.abs(q - p), height: Math.max(1, thick) }
		: { x: place, y: Math.min(p, q), width: Math.max(1, thick), height: Math.abs(q - p) };
}

function Bars({ v, names }: { v: Shown; names: string[] }) {
	const numbers = v.data.sideways ? v.data.x : v.data.y,
		base = numbers.log ? (v.data.sideways ? v.x.low : v.y.low) : 0,
		written = !v.data.stacked && names.length * v.series.length <= NAMED;
	const out: ComponentChildren[] = [];

	names.forEach((name, k) => {
		let sum = 0;

		v.series.forEach(({ s, colour, i: series }, i) => {
			const y = s.y[k];

			if (!isThere(y) || (v.data.stacked && y === 0)) return;
			const box = barBox(
					v,
					names.length,
					v.data.stacked
						? { name: k, nth: 0, of: 1, from: sum, to: sum + y }
						: { name: k, nth: i, of: v.series.length, from: base, to: y },
				),
				text = s.notes?.[k] ?? `${name}${s.name ? `, ${s.name}` : ''}: ${number(y)}`;

			sum += y;
			out.push(
				<rect
					key={`${k}.${i}`}
					class={`plotbar k${colour} ${v.chosen?.(series, k) ? 'on' : ''}`}
					onClick={() => v.onPick?.(series, k)}
					{...box}>
					<title>{plain(text)}</title>
				</rect>,
			);
			if (written)
				out.push(
					<text
						key={`t${k}.${i}`}
						class="plotlabel"
						x={v.data.sideways ? box.x + box.width + 5 : box.x + box.width / 2}
						y={v.data.sideways ? box.y + box.height / 2 + 4 : box.y - 4}
						text-anchor={v.data.sideways ? 'start' : 'middle'}>
						{said(numbers, y)}
					</text>,
				);
		});
	});
	return <g>{out}</g>;
}

/* ---- axes ----------------------------------------------------------------------------------- */

function Axes({ v, names }: { v: Shown; names: string[] | null }) {
	const numbersX = !names || v.data.sideways,
		numbersY = !names || !v.data.sideways,
		slot = names ? (v.x.to - v.x.from) / Math.max(1, names.length) : 0,
		widest = names ? Math.max(...names.map(n => n.length), 1) * LETTER : 0,
		turned = slot < widest + 6,
		every = turned ? Math.max(1, Math.ceil(12 / Math.max(slot, 0.01))) : 1;

	return (
		<g class="plotaxes">
			{numbersX &&
				ticks(v.x, Math.max(2, Math.floor((v.x.to - v.x.from) / 90))).map(t => (
					<g key={`x${t}`}>
						<line class="level" x1={at(v.x, t)} x2={at(v.x, t)} y1={v.y.to} y2={v.y.from} />
						<text x={at(v.x, t)} y={v.y.from + 15} text-anchor="middle">
							{said(v.data.x, t)}
						</text>
					</g>
				))}
			{numbersY &&
				ticks(v.y, Math.max(2, Math.floor((v.y.from - v.y.to) / 45))).map(t => (
					<g key={`y${t}`}>
						<line class="level" x1={v.x.from} x2={v.x.to} y1={at(v.y, t)} y2={at(v.y, t)} />
						<text x={v.x.from - 6} y={at(v.y, t) + 4} text-anchor="end">
							{said(v.data.y, t)}
						</text>
					</g>
				))}
			{names &&
				!v.data.sideways &&
				names.map((n, i) => {
					const x = v.x.from + slot * (i + 0.5);

					if (i % every) return null;
					return (
						<text
							key={i}
							x={turned ? x + 4 : x}
							y={v.y.from + (turned ? 6 : 15)}
							text-anchor={turned ? 'end' : 'middle'}
							transform={turned ? `rotate(-90 ${x + 4} ${v.y.from + 6})` : undefined}>
							{plain(n).slice(0, 24)}
						</text>
					);
				})}
			{names &&
				v.data.sideways &&
				names.map((n, i) => (
					<text
						key={i}
						x={v.x.from - 6}
						y={v.y.to + ((v.y.from - v.y.to) / names.length) * (i + 0.5) + 4}
						text-anchor="end">
						{middle(plain(n), Math.floor(LONGEST / LETTER))}
						<title>{plain(n)}</title>
					</text>
				))}
			<line class="base" x1={v.x.from} x2={v.x.to} y1={v.y.from} y2={v.y.from} />
			{v.data.x.title && (
				<text class="plottitle" x={(v.x.from + v.x.to) / 2} y={v.height - 4} text-anchor="middle">
					{plain(v.data.x.title)}
				</text>
			)}
			{v.data.y.title && (
				<text
					class="plottitle"
					x={12}
					y={(v.y.from + v.y.to) / 2}
					text-anchor="middle"
					transform={`rotate(-90 12 ${(v.y.from + v.y.to) / 2})`}>
					{plain(v.data.y.title)}
				</text>
			)}
		</g>
	);
}

function Spans({ v }: { v: Shown }) {
	return (
		<g>
			{v.data.spans?.map((s, i) => {
				const x0 = Math.max(v.x.from, at(v.x, Math.max(s.from, v.x.low))),
					x1 = Math.min(v.x.to, at(v.x, Math.min(s.to, v.x.high))),
					name = plain(s.name ?? '');

				if (!(x1 > x0)) return null;
				return (
					<g key={i}>
						<rect
							class={i % 2 ? 'plotspan odd' : 'plotspan'}
							x={x0}
							width={x1 - x0}
							y={v.y.to}
							height={v.y.from - v.y.to}>
							<title>{name}</title>
						</rect>
						{x1 - x0 > 40 && (
							<text class="plotlabel" x={(x0 + x1) / 2} y={v.y.to - 4} text-anchor="middle">
								{name.slice(0, Math.floor((x1 - x0) / LETTER))}
							</text>
						)}
					</g>
				);
			})}
		</g>
	);
}

/* ---- under the pointer ---------------------------------------------------------------------- */

/* The sample that is nearest; x ascends. */
function nearest(s: ChartSeries, x: number): number {
	let low = 0,
		high = s.y.length - 1;

	if (!s.x) return Math.max(0, Math.min(high, Math.round(x)));
	while (low < high) {
		const mid = (low + high) >> 1;

		if ((s.x[mid] ?? 0) < x) low = mid + 1;
		else high = mid;
	}
	return low > 0 && x - (s.x[low - 1] ?? 0) < (s.x[low] ?? 0) - x ? low - 1 : low;
}

function Reading({ v, x }: { v: Shown; x: number }) {
	const px = at(v.x, x),
		span = v.data.spans?.find(s => s.from <= x && x < s.to);

	return (
		<div
			class="plotreading"
			style={px > v.width / 2 ? { right: `${v.width - px + 12}px` } : { left: `${px + 12}px` }}>
			<p class="muted">
				{span?.name ? `${plain(span.name).slice(0, 80)}, ` : ''}
				{said(v.data.x, xOf(v.series[0].s, nearest(v.series[0].s, x)) ?? x)}
			</p>
			{v.series.map(({ s, colour }, i) => {
				const k = nearest(s, x),
					y = s.y[k];

				return (
					<p key={i}>
						<i class={`sw k${colour}`} />
						{plain(s.name).slice(0, 60)}
						<b>
							{isThere(y) ? number(y) : '–'}
							{isThere(s.low?.[k]) && isThere(s.high?.[k])
								? ` (${number(s.low[k])} to ${number(s.high[k])})`
								: ''}
						</b>
					</p>
				);
			})}
		</div>
	);
}

/* ---- the table of it ------------------------------------------------------------------------ */

/* Every picture is also numbers: for those who cannot see it, and to take along. */
function tableOf(data: ChartData): Table {
	const names = data.x.names ?? data.y.names ?? null,
		longest = data.series.reduce((n, s) => Math.max(n, s.y.length), 0),
		shared = data.series.find(s => s.x)?.x;
	const first = names ?? Array.from({ length: longest }, (_, i) => (shared ? (shared[i] ?? null) : i));

	return {
		columns: [
			{
				key: 'x',
				title: (names ? (data.x.names ? data.x.title : data.y.title) : data.x.title) ?? 'Name',
				type: names ? 'name' : 'number',
			},
			...data.series.map((s, i) => ({
				key: `y${i}`,
				title: s.name || ((data.sideways ? data.x.title : data.y.title) ?? 'Value'),
				type: 'number' as const,
			})),
		],
		data: [first, ...data.series.map(s => first.map((_, k) => s.y[k] ?? null))],
		rows: first.length,
	};
}

/* ---- all of it ------------------------------------------------------------------------------ */

function useWidth() {
	const [width, set] = useState(900),
		box = useRef<HTMLDivElement>(null);

	useEffect(() => {
		const around = box.current!,
			watch = new ResizeObserver(() => set(Math.max(280, around.clientWidth || 900)));

		watch.observe(around);
		return () => watch.disconnect();
	}, []);
	return { width, box };
}

function layout(p: PlotProps, hidden: ReadonlySet<number>, zoom: Range | null, width: number): Shown {
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

let plots = 0; // every clip has a name of its own

export function Plot(p: PlotProps) {
	const { app, data, file = 'chart' } = p,
		{ width, box } = useWidth(),
		[hidden, setHidden] = useState<ReadonlySet<number>>(new Set()),
		[zoom, setZoom] = useState<Range | null>(null),
		[over, setOver] = useState<number | null>(null),
		[drag, setDrag] = useState<number | null>(null),
		[table, setTable] = useState(false);
	const names = data.x.names ?? data.y.names ?? null,
		lines = !names && data.series.every(s => s.kind === 'line'),
		v = layout(p, hidden, zoom, width),
		discs = v.series.map(e => discsOf(v, e.s)),
		clip = useMemo(() => `plot-${++plots}`, []);
	const xAt = (e: PointerEvent): number =>
		valueAt(
			v.x,
			Math.max(v.x.from, Math.min(v.x.to, e.clientX - box.current!.getBoundingClientRect().left)),
		);
	const toggle = (i: number) => {
		const next = new Set(hidden);

		if (!next.delete(i)) next.add(i);
		setHidden(next);
	};
	const drop = (e: PointerEvent) => {
		const from = drag,
			to = xAt(e);

		setDrag(null);
		if (from === null || Math.abs(at(v.x, to) - at(v.x, from)) < NEAR * width) return;
		setZoom([Math.min(from, to), Math.max(from, to)]);
	};

	return (
		<figure class="plot" ref={box}>
			<svg
				width={v.width}
				height={v.height}
				role="img"
				aria-label={`${plain(data.title ?? 'Chart')}: ${data.series.map(s => plain(s.name)).join(', ')}`}
				onPointerMove={e => lines && setOver(xAt(e))}
				onPointerLeave={() => setOver(null)}
				onPointerDown={e => {
					if (!lines) return;
					e.currentTarget.setPointerCapture(e.pointerId);
					setDrag(xAt(e));
				}}
				onPointerUp={drop}
				onDblClick={() => setZoom(null)}>
				<clipPath id={clip}>
					<rect
						x={v.x.from}
						width={Math.max(0, v.x.to - v.x.from)}
						y={v.y.to - 1}
						height={v.y.from - v.y.to + 2}
					/>
				</clipPath>
				<Spans v={v} />
				<Axes v={v} names={names} />
				<g clip-path={`url(#${clip})`}>
					{v.series.map(({ s, colour }, i) =>
						s.kind === 'line' ? <Line key={i} v={v} s={s} colour={colour} /> : null,
					)}
					{drag !== null && over !== null && (
						<rect
							class="chosen"
							x={Math.min(at(v.x, drag), at(v.x, over))}
							width={Math.abs(at(v.x, over) - at(v.x, drag))}
							y={v.y.to}
							height={v.y.from - v.y.to}
						/>
					)}
				</g>
				{v.series.map(
					(e, i) => e.s.kind === 'points' && <Discs key={i} v={v} of={e} discs={discs[i]} />,
				)}
				<Names v={v} all={discs} />
				{names && <Bars v={v} names={names} />}
				{over !== null && (
					<line class="mark" x1={at(v.x, over)} x2={at(v.x, over)} y1={v.y.to} y2={v.y.from} />
				)}
			</svg>
			{over !== null && v.series.length > 0 && <Reading v={v} x={over} />}
			<figcaption class="legend">
				{data.series.map(
					(s, i) =>
						s.name &&
						!s.label && (
							<button
								key={i}
								type="button"
								class="plotname"
								aria-pressed={!hidden.has(i)}
								title={hidden.has(i) ? 'show it again' : 'hide it'}
								onClick={() => toggle(i)}>
								<i class={`sw k${colourOf(s, i)}`} />
								{plain(s.name).slice(0, 80)}
							</button>
						),
				)}
				<span class="grow" />
				{zoom && (
					<button type="button" class="btn sm" onClick={() => setZoom(null)}>
						All of it
					</button>
				)}
				{app && (
					<button
						type="button"
						class="btn sm"
						aria-pressed={table}
						onClick={() => setTable(!table)}>
						Table
					</button>
				)}
			</figcaption>
			{data.note && <p class="muted">{plain(data.note)}</p>}
			{app && table && (
				<div class="plottable">
					<Grid app={app} table={tableOf(data)} label={plain(data.title ?? 'Chart')} file={file} />
				</div>
			)}
		</figure>
	);
}
