// chart.tsx - a distribution: bars of one group and step lines of the others over one axis. Stacked bars
// on a logarithmic axis would lie, so there are none. plot/plot.tsx draws the charts of tools.

import { useRef, useState } from 'preact/hooks';
import { short, step, tick } from '../text/format';
import { plain } from '../text/label';

export interface Series {
	label: string;
	counts: number[];
}

export interface ChartProps {
	label: string; // what it shows, in a sentence
	series: Series[];
	low: number;
	high: number;
	log: boolean; // of the horizontal axis
	logCount: boolean;
	unit(v: number): string;
	times?: boolean; // the horizontal axis is in ns: numbers on it tell as many digits as they differ in
	height?: number;
	value?(v: number): string; // of the vertical axis, where it does not count
	marks?: { at: number; label: string }[];
	chosen?: [number, number] | null;
	names?: string[]; // of the bars: the axis is then no scale
	say?(bar: number): string; // what a bar is, on hover
	onChoose?(range: [number, number] | null): void;
}

const W = 1000,
	LEFT = 46,
	RIGHT = 8,
	TOP = 16,
	BOTTOM = 26;

/* Where a value lies on the axis, 0..1, and back. */
export const place = (v: number, p: { low: number; high: number; log: boolean }): number => {
	if (p.high <= p.low) return 0; // all are alike: the first bar
	return p.log
		? Math.log(Math.max(1, v) / Math.max(1, p.low)) / Math.log(p.high / Math.max(1, p.low))
		: (v - p.low) / (p.high - p.low);
};

export const valueAt = (x: number, p: { low: number; high: number; log: boolean }): number =>
	p.log ? Math.max(1, p.low) * (p.high / Math.max(1, p.low)) ** x : p.low + x * (p.high - p.low);

/* Numbers on the horizontal axis, with what they are called. */
function axis(p: ChartProps): { at: number; label: string }[] {
	const out: number[] = [];

	if (p.log) {
		for (let ten = 10 ** Math.floor(Math.log10(Math.max(1, p.low))); ten <= p.high; ten *= 10)
			for (const k of [1, 2, 5]) if (k * ten >= p.low && k * ten <= p.high) out.push(k * ten);
		while (out.length > 9) out.splice(0, out.length, ...out.filter((_, i) => i % 2 === 0));
		if (out.length > 2) return out.map(v => ({ at: v, label: p.unit(v) }));
		out.length = 0;
	}
	const by = step(p.high - p.low || 1, 6);

	for (let v = Math.ceil(p.low / by) * by; v <= p.high; v += by) out.push(v);
	const exact = p.times && p.high > p.low;

	return out.map(v => ({ at: v, label: exact ? tick(v, by, p.high) : p.unit(v) }));
}

/* Labels at the borders stay inside. */
const side = (x: number): string => (x > 0.95 * W ? 'last' : x < LEFT + 0.02 * W ? 'first' : '');

const NAMED = 16; // bars that have their name below them; of more, hovering tells
const NEAR = 0.06; // of the width: labels that are closer would lie on each other

/* Marks close together share a label. */
function labelled(p: ChartProps): { at: number; label: string }[] {
	const out: { at: number; label: string }[] = [];

	for (const m of [...(p.marks ?? [])].sort((x, y) => x.at - y.at)) {
		const last = out[out.length - 1];

		if (last && place(m.at, p) - place(last.at, p) < NEAR) last.label += `, ${m.label}`;
		else out.push({ ...m });
	}
	return out;
}

export function Chart(p: ChartProps) {
	const H = p.height ?? 210,
		svg = useRef<SVGSVGElement>(null),
		[drag, setDrag] = useState<number | null>(null);
	const most = Math.max(p.value ? 1e-12 : 1, ...p.series.flatMap(s => s.counts)),
		bins = p.series[0]?.counts.length ?? 1;
	const up = (n: number): number => (p.logCount ? Math.log10(n + 1) / Math.log10(most + 1) : n / most);
	const X = (v: number): number => LEFT + place(v, p) * (W - LEFT - RIGHT),
		Y = (n: number): number => TOP + (1 - up(n)) * (H - TOP - BOTTOM);
	const bin = (i: number): number => LEFT + (i / bins) * (W - LEFT - RIGHT);
	const at = (e: PointerEvent): number => {
		const box = svg.current!.getBoundingClientRect(),
			x = ((e.clientX - box.left) / box.width) * W;

		return valueAt(Math.max(0, Math.min(1, (x - LEFT) / (W - LEFT - RIGHT))), p);
	};
	const line = (counts: number[]): string =>
		counts
			.map((n, i) => `${i ? 'L' : 'M'}${bin(i).toFixed(1)} ${Y(n).toFixed(1)}H${bin(i + 1).toFixed(1)}`)
			.join('');
	const levels = p.logCount
		? [1, ...(most < 10 ? [2, 3, 5] : []), 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter(n => n <= most)
		: [0.5, 1].map(s => (p.value ? most * s : Math.round(most * s)));

	return (
		<figure class={`chart ${p.value ? 'valued' : ''}`}>
			<svg
				ref={svg}
				viewBox={`0 0 ${W} ${H}`}
				role="img"
				aria-label={p.label}
				preserveAspectRatio="none"
				style={{ height: `${H}px` }}
				onPointerDown={e => {
					svg.current!.setPointerCapture(e.pointerId);
					setDrag(at(e));
				}}
				onPointerMove={e => {
					if (drag !== null) {
						const v = at(e);
						p.onChoose?.([Math.min(v, drag), Math.max(v, drag)]);
					}
				}}
				onPointerUp={e => {
					if (drag !== null && Math.abs(place(at(e), p) - place(drag, p)) < 0.004)
						p.onChoose?.(null);
					setDrag(null);
				}}>
				{levels.map(n => (
					<line key={n} class="level" x1={LEFT} x2={W - RIGHT} y1={Y(n)} y2={Y(n)} />
				))}
				{p.chosen && (
					<rect
						class="chosen"
						x={X(p.chosen[0])}
						width={Math.max(1, X(p.chosen[1]) - X(p.chosen[0]))}
						y={TOP}
						height={H - TOP - BOTTOM}
					/>
				)}
				{p.series[0]?.counts.map(
					(n, i) =>
						n > 0 && (
							<rect
								key={i}
								class="bar k0"
								x={bin(i)}
								width={Math.max(1, bin(1) - bin(0) - 1.5)}
								y={Math.min(Y(n), H - BOTTOM - 2)}
								height={Math.max(2, H - BOTTOM - Y(n))}>
								{p.say && <title>{p.say(i)}</title>}
							</rect>
						),
				)}
				{p.series.slice(1).map((s, i) => (
					<path key={s.label} class={`series s${(i + 1) % 10}`} d={line(s.counts)} />
				))}
				<line class="base" x1={LEFT} x2={W - RIGHT} y1={H - BOTTOM} y2={H - BOTTOM} />
				{p.marks?.map(m => (
					<line key={m.label} class="mark" x1={X(m.at)} x2={X(m.at)} y1={TOP} y2={H - BOTTOM} />
				))}
			</svg>
			<div class="axis" aria-hidden="true">
				{levels.map(n => (
					<span key={n} class="y" style={{ top: `${Y(n)}px` }}>
						<bdi>{(p.value ?? short)(n)}</bdi>
					</span>
				))}
				{p.names &&
					p.names.length <= NAMED &&
					p.names.map((name, i) => (
						<span
							key={i}
							class="x named mono"
							style={{
								left: `${(bin(i + 0.5) / W) * 100}%`,
								maxWidth: `${90 / bins}%`,
								top: `${H - BOTTOM + 3}px`,
							}}>
							{plain(name).slice(0, 60)}
						</span>
					))}
				{(p.names ? [] : axis(p)).map(v => (
					<span
						key={v.at}
						class={`x ${side(X(v.at))}`}
						style={{ left: `${(X(v.at) / W) * 100}%`, top: `${H - BOTTOM + 3}px` }}>
						{v.label}
					</span>
				))}
				{labelled(p).map(m => (
					<span
						key={m.label}
						class={`m ${side(X(m.at))}`}
						style={{ left: `${(X(m.at) / W) * 100}%` }}>
						{m.label}
					</span>
				))}
			</div>
			{p.series.length > 1 && (
				<figcaption class="legend">
					{p.series.map((s, i) => (
						<span key={s.label}>
							<i class={`sw k${i % 10}`} />
							{plain(s.label).slice(0, 60)}
						</span>
					))}
				</figcaption>
			)}
		</figure>
	);
}
