// heat.tsx - the one heat map: a grid of places, each coloured by a number. The scale lies around the
// mean and is never narrower than a tenth of it to either side, so that 2 % do not look like 100 %.

import { useRef, useState } from 'preact/hooks';

export interface HeatCell {
	x: number;
	y: number;
	value: number | null; // null: not measured
	label: string; // for a screen reader, and when pointed at
}

export interface HeatProps {
	label: string; // what it shows, in a sentence
	cells: HeatCell[];
	show(value: number): string; // in a cell, without a unit
	unit(value: number): string; // in the legend, with it
	selected(c: HeatCell): boolean;
	onPick(c: HeatCell): void;
	onOpen?(c: HeatCell): void;
	names?: { x(n: number): string; y(n: number): string; corner: string; every?: number }; // of columns and rows; every nth is seen
	zero?: boolean; // the scale begins at 0, not around the mean: most places have nothing
	dense?: boolean; // many small places, without text
}

const TONES = [0, 1, 2, 4, 5]; // of the scale of colours; an odd number, so that the mean has one of its own
export const STEPS = TONES.length;
const MOST = 64; // columns and rows; a log that is damaged may have millions
const NARROWEST = 0.1;

/* Borders of the scale of some values. */
export function heatScale(values: number[]): { low: number; high: number; mean: number } {
	const mean = values.reduce((s, v) => s + v, 0) / Math.max(1, values.length);
	let far = Math.abs(mean) * NARROWEST;

	for (const v of values) far = Math.max(far, Math.abs(v - mean));
	return { low: values.some(v => v < 0) ? mean - far : Math.max(0, mean - far), high: mean + far, mean };
}

const fromZero = (values: number[]): ReturnType<typeof heatScale> => {
	const high = values.reduce((m, v) => Math.max(m, v), 0);

	return { low: 0, high, mean: high / 2 };
};

/* 0 .. STEPS - 1 */
export const heatStep = (v: number, s: { low: number; high: number }): number =>
	s.high > s.low
		? Math.max(0, Math.min(STEPS - 1, Math.floor(((v - s.low) / (s.high - s.low)) * STEPS)))
		: 0;

const distinct = (all: number[]): number[] => [...new Set(all)].sort((a, b) => a - b).slice(0, MOST);

function Legend({ p, scale }: { p: HeatProps; scale: ReturnType<typeof heatScale> }) {
	if (scale.high <= scale.low) return null; // nothing to tell apart
	const at = (i: number): string => p.unit(scale.low + ((scale.high - scale.low) * i) / STEPS);

	if (scale.high <= scale.low)
		return <p class="legend heatlegend">{scale.high ? `${at(0)} everywhere` : 'none anywhere'}</p>;
	return (
		<p class="legend heatlegend">
			{Array.from({ length: STEPS }, (_, i) => (
				<span key={i}>
					<i class={`sw q${TONES[i]}`} />
					{at(i)} to {at(i + 1)}
				</span>
			))}
			{!p.zero && <span>mean {p.unit(scale.mean)}</span>}
		</p>
	);
}

const MOVES: Record<string, [number, number]> = {
	ArrowLeft: [-1, 0],
	ArrowRight: [1, 0],
	ArrowUp: [0, -1],
	ArrowDown: [0, 1],
};

/* Where an arrow leads: the next place in that direction that there is. */
function next(at: Map<string, HeatCell>, xs: number[], ys: number[], from: HeatCell, key: string) {
	const [dx, dy] = MOVES[key];
	let i = xs.indexOf(from.x),
		j = ys.indexOf(from.y);

	for (;;) {
		i += dx;
		j += dy;
		if (i < 0 || j < 0 || i >= xs.length || j >= ys.length) return null;
		const c = at.get(`${xs[i]},${ys[j]}`);

		if (c) return c;
	}
}

export function Heat(p: HeatProps) {
	const box = useRef<HTMLDivElement>(null),
		[focus, setFocus] = useState('');
	const xs = distinct(p.cells.map(c => c.x)),
		ys = distinct(p.cells.map(c => c.y));
	const at = new Map(p.cells.map(c => [`${c.x},${c.y}`, c]));
	const scale = (p.zero ? fromZero : heatScale)(p.cells.map(c => c.value).filter(v => v !== null));
	const held = at.has(focus) ? focus : p.cells[0] ? `${p.cells[0].x},${p.cells[0].y}` : '';
	const keys = (e: KeyboardEvent, c: HeatCell) => {
		if (e.key === 'Enter' && p.onOpen) {
			e.preventDefault();
			p.onOpen(c);
			return;
		}
		if (!MOVES[e.key]) return;
		const to = next(at, xs, ys, c, e.key);

		e.preventDefault();
		e.stopPropagation();
		if (!to) return;
		setFocus(`${to.x},${to.y}`);
		box.current?.querySelector<HTMLElement>(`[data-at="${to.x},${to.y}"]`)?.focus();
	};

	return (
		<figure class={p.dense ? 'heat dense' : 'heat'}>
			<div class="heatbox" ref={box}>
				<table role="grid" aria-label={p.label} aria-readonly="true">
					<thead>
						<tr role="row">
							<th class="axes" aria-hidden="true">
								{p.names?.corner ?? 'y\\x'}
							</th>
							{xs.map((x, i) => (
								<th key={x} role="columnheader" scope="col">
									<span class={i % (p.names?.every ?? 1) ? 'sr' : ''}>
										{p.names?.x(x) ?? x}
									</span>
								</th>
							))}
						</tr>
					</thead>
					<tbody>
						{ys.map(y => (
							<tr key={y} role="row">
								<th role="rowheader" scope="row">
									{p.names?.y(y) ?? y}
								</th>
								{xs.map(x => {
									const c = at.get(`${x},${y}`);

									if (!c)
										return (
											<td key={x} role="gridcell" class="nowhere">
												<span class="sr">nothing here</span>
											</td>
										);
									return (
										<td
											key={x}
											role="gridcell"
											data-at={`${x},${y}`}
											tabIndex={held === `${x},${y}` ? 0 : -1}
											aria-selected={p.selected(c)}
											title={c.label}
											class={
												c.value === null
													? 'unmeasured'
													: `q${TONES[heatStep(c.value, scale)]}`
											}
											onClick={() => {
												setFocus(`${x},${y}`);
												p.onPick(c);
											}}
											onDblClick={() => p.onOpen?.(c)}
											onFocus={() => setFocus(`${x},${y}`)}
											onKeyDown={e => {
												if (e.key === ' ') {
													e.preventDefault();
													p.onPick(c);
												} else keys(e, c);
											}}>
											<span aria-hidden="true">
												{c.value === null ? '–' : p.show(c.value)}
											</span>
											<span class="sr">{c.label}</span>
										</td>
									);
								})}
							</tr>
						))}
					</tbody>
				</table>
			</div>
			<figcaption>
				<Legend p={p} scale={scale} />
			</figcaption>
		</figure>
	);
}
