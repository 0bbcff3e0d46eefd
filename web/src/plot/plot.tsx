// plot.tsx - a chart that a tool has made (ChartData): lines with the band of their extremes, points,
// bars. Drag to look closer, click a name to hide its series. ui/chart.tsx is for distributions.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ChartData, ChartSeries, Table } from '../source/contract';
import type { App } from '../state/app';
import { number } from '../text/format';
import { plain } from '../text/label';
import { Grid } from '../ui/grid';
import { Axes, Spans } from './axes';
import { Bars } from './bars';
import { type Asked, colourOf, layout, type Shown } from './layout';
import { Line } from './lines';
import { Discs, discsOf, Names } from './points';
import { at, isThere, type Range, said, valueAt, xOf } from './scale';

const NEAR = 0.01; // of the width: a drag that is shorter was a click

export interface PlotProps extends Asked {
	app?: App; // with it the numbers can be had as a table...
	file?: string; // ... whose CSV is called so
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
