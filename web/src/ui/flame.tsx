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

/* Boxes of the nodes below root, in shares of its width; around it its own parents at full width. */
function boxes(t: Tree, root: number, least: number): { list: Box[]; depth: number } {
	const kids = kidsOf(t),
		list: Box[] = [],
		up: number[] = [];
	let depth = 0;

	for (let p = root; p >= 0; p = t.parent[p]) up.unshift(p);
	up.forEach((node, d) => list.push({ node, x: 0, w: 1, depth: d }));
	const timed = t.start && t.start.length > 1;
	const from = timed ? (root === 0 ? Math.min(...t.start!.slice(1)) : t.start![root]) : 0;
	const until = timed
		? root === 0
			? t.start!.reduce((m, s, i) => (i ? Math.max(m, s + t.total[i]) : m), from + 1)
			: from + t.total[root]
		: 0;
	const whole = timed ? until - from : t.total[root] || 1;
	const add = (node: number, x: number, d: number): void => {
		let at = x;

		depth = Math.max(depth, d);
		for (const kid of kids[node]) {
			const w = t.total[kid] / whole,
				kx = timed ? (t.start![kid] - from) / whole : at;

			at += w;
			if (w < least) continue;
			list.push({ node: kid, x: kx, w, depth: d });
			add(kid, kx, d + 1);
		}
	};

	add(root, 0, up.length);
	return { list, depth };
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
		all = tree.total[0] || 1;

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
					`${name} ${percent(tree.total[b.node] / all)}: ${time(tree.total[b.node])}, self ${time(tree.self[b.node])}, ${tree.count[b.node]} times`;

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
						{px > 170 && <span class="pc"> {percent(tree.total[b.node] / all)}</span>}
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
