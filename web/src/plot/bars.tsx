// bars.tsx - bars that stand or lie, beside each other or stacked.

import type { ComponentChildren } from 'preact';
import { number } from '../text/format';
import { plain } from '../text/label';
import { NAMED, type Shown } from './layout';
import { at, isThere, said } from './scale';

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

export function Bars({ v, names }: { v: Shown; names: string[] }) {
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
