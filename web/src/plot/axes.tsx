// axes.tsx - axes with their numbers or names, and stretches of the horizontal one.

import { middle, plain } from '../text/label';
import { LETTER, LONGEST, type Shown } from './layout';
import { at, said, ticks } from './scale';

export function Axes({ v, names }: { v: Shown; names: string[] | null }) {
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

export function Spans({ v }: { v: Shown }) {
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
