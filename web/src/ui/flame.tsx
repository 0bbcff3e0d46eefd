// flame.tsx - a tree as boxes: width is time, below each box what ran in it. Boxes are buttons, so
// keyboard and screen reader walk them; those narrower than a few pixels are left out.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Tree } from '../source/contract';
import type { App } from '../state/app';
import { useKeptJson } from '../state/kept';
import { percent, time } from '../text/format';
import { plain, telling, withoutTemplates } from '../text/label';

const ROW = 23,
	LEAST = 2.5;

export interface FlameProps {
	app: App;
	tree: Tree;
	label: string;
	upside?: boolean; // callers: grows upwards
	compare?: (node: number) => number; // -1 less .. 1 more, for differences
	say?: (node: number) => string; // instead of its own numbers
	tone?: (node: number) => string; // class of its colour, instead of that of its type
	marked?: (node: number) => boolean; // what stands out, such as all boxes of one name
	onPick?: (name: string, node: number) => void;
}

interface Box {
	node: number;
	x: number; // share of the width
	w: number;
	depth: number;
}

const NO_PATH: string[] = [];

/* A node is remembered by the names down to it: another tree of the same program has it, too. */
function pathOf(t: Tree, node: number): string[] {
	const path: string[] = [];

	for (let n = node; n > 0; n = t.parent[n]) path.unshift(t.name[n]);
	return path;
}

function nodeAt(t: Tree, path: string[]): number {
	let at = 0;

	for (const name of path) {
		at = t.parent.findIndex((p, i) => p === at && t.name[i] === name);
		if (at < 0) return 0;
	}
	return at;
}

function kidsOf(t: Tree): number[][] {
	const kids: number[][] = t.parent.map(() => []);

	t.parent.forEach((p, i) => {
		if (p >= 0) kids[p].push(i);
	});
	return kids;
}

/* From when to when the slices of a tree in order of time go; null: it is in no such order. */
function rangeOf(t: Tree, root: number): [number, number] | null {
	if (!t.start || t.start.length < 2) return null;
	if (root) return [t.start[root], t.start[root] + t.total[root]];
	const from = t.start.reduce((m, s, i) => (i ? Math.min(m, s) : m), Infinity);

	return [from, t.start.reduce((m, s, i) => (i ? Math.max(m, s + t.total[i]) : m), from + 1)];
}

/*
 * Boxes of the nodes below root, in shares of its width; around it its own parents at full width. What runs
 * at the same time on several tracks is below each other: in order of time, boxes would lie on boxes.
 */
function boxes(t: Tree, root: number, least: number): { list: Box[]; depth: number } {
	const kids = kidsOf(t),
		up: number[] = [];

	for (let p = root; p >= 0; p = t.parent[p]) up.unshift(p);
	const list = up.map((node, d): Box => ({ node, x: 0, w: 1, depth: d })),
		range = rangeOf(t, root),
		whole = range ? range[1] - range[0] : t.total[root] || 1;
	const place = (kid: number, at: number): number => (range ? (t.start![kid] - range[0]) / whole : at);
	/* What is below a node, into a list; returns how deep that goes. */
	const add = (node: number, x: number, d: number, into: Box[]): number => {
		let at = x,
			deepest = d;

		for (const kid of kids[node]) {
			const w = t.total[kid] / whole,
				kx = place(kid, at);

			at += w;
			if (w < least) continue;
			into.push({ node: kid, x: kx, w, depth: d });
			deepest = Math.max(deepest, add(kid, kx, d + 1, into));
		}
		return deepest;
	};

	if (!range || root) return { depth: add(root, 0, up.length, list), list };
	const bands: { end: number; deep: number; list: Box[] }[] = [];

	for (const kid of kids[0]) {
		const x = place(kid, 0),
			w = t.total[kid] / whole;
		let band = bands.find(b => b.end <= x + 1e-12);

		if (w < least) continue;
		if (!band) bands.push((band = { end: 0, deep: 0, list: [] }));
		band.end = x + w;
		band.list.push({ node: kid, x, w, depth: 0 });
		band.deep = Math.max(band.deep, add(kid, x, 1, band.list));
	}
	let top = 1;

	for (const band of bands) {
		for (const b of band.list) list.push({ ...b, depth: b.depth + top });
		top += band.deep;
	}
	return { list, depth: top };
}

export function Flame({ app, tree, label, upside, compare, say, tone, marked, onPick }: FlameProps) {
	const [at, setAt] = useKeptJson(app, `${label}.root`, NO_PATH),
		[width, setWidth] = useState(1000),
		box = useRef<HTMLDivElement>(null);

	useEffect(() => {
		const around = box.current!,
			watch = new ResizeObserver(() => setWidth(around.clientWidth || 1000));

		watch.observe(around);
		return () => watch.disconnect();
	}, []);
	void app.types.loaded.value;
	const shownRoot = nodeAt(tree, at);
	const { list, depth } = boxes(tree, shownRoot, LEAST / width),
		range = rangeOf(tree, 0),
		all = range ? range[1] - range[0] : tree.total[0] || 1,
		share = (node: number) => percent(node || !range ? tree.total[node] / all : 1);

	return (
		<div
			class="flame"
			ref={box}
			role="tree"
			aria-label={label}
			style={{ height: `${depth * ROW + 2}px` }}>
			{list.map(b => {
				const name = plain(tree.name[b.node]),
					px = b.w * width,
					y = upside ? depth - 1 - b.depth : b.depth;
				const colour = compare
					? compareClass(compare(b.node))
					: b.node === 0
						? 'root'
						: (tone?.(b.node) ??
							`k${app.types.colour(tree.type[b.node], app.colourBy.value === 'name' ? 'name' : 'cat')}`);
				const text =
					say?.(b.node) ??
					`${name} ${share(b.node)}: ${time(tree.total[b.node])}, self ${time(tree.self[b.node])}, ${tree.count[b.node]} times`;

				return (
					<button
						type="button"
						key={b.node}
						role="treeitem"
						aria-level={b.depth + 1}
						aria-label={text}
						title={text}
						class={`box ${colour}${marked?.(b.node) ? ' marked' : ''}`}
						style={{
							left: `${b.x * 100}%`,
							width: `max(1px, calc(${b.w * 100}% - 1px))`,
							top: `${y * ROW}px`,
						}}
						tabIndex={b.node === shownRoot ? 0 : -1}
						onKeyDown={e => walkBoxes(e, tree, b.node)}
						data-node={b.node}
						onClick={() => {
							setAt(
								pathOf(tree, b.node === shownRoot && b.node ? tree.parent[b.node] : b.node),
							);
							onPick?.(tree.name[b.node], b.node);
						}}>
						{px > 26 && (
							<span> {px < 160 ? withoutTemplates(telling(name)) : telling(name)}</span>
						)}
						{px > 170 && <span class="pc"> {share(b.node)}</span>}
					</button>
				);
			})}
		</div>
	);
}

const compareClass = (d: number): string =>
	d > 0.02 ? `more${d > 0.2 ? ' much' : ''}` : d < -0.02 ? `less${d < -0.2 ? ' much' : ''}` : 'same';

/* Arrows walk the tree: down to the first inside, up to what is around, left and right. */
function walkBoxes(e: KeyboardEvent, t: Tree, node: number): void {
	const kids = kidsOf(t),
		like = t.parent[node] >= 0 ? kids[t.parent[node]] : [node],
		at = like.indexOf(node);
	const to = {
		ArrowDown: kids[node][0],
		ArrowUp: t.parent[node],
		ArrowRight: like[at + 1],
		ArrowLeft: like[at - 1],
	}[e.key];

	if (to === undefined || to < 0) return;
	e.preventDefault();
	e.stopPropagation();
	(e.currentTarget as HTMLElement).parentElement
		?.querySelector<HTMLElement>(`[data-node="${to}"]`)
		?.focus();
}
