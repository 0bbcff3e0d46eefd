// trees.ts - the slices of a scope as a tree: who calls whom, from the top or from the bottom.

import type { Scope, Tree, TreeKind } from '../source/contract';
import type { Store } from './store';
import { walk, type Job, type Visit } from './walk';

interface Node {
	type: number;
	total: number;
	self: number;
	count: number;
	start: number;
	children: Map<number, Node>;
}

const node = (type: number): Node => ({ type, total: 0, self: 0, count: 0, start: 0, children: new Map() });

function child(of: Node, key: number, type: number): Node {
	let n = of.children.get(key);

	if (!n) of.children.set(key, (n = node(type)));
	return n;
}

/* Types of the slices around a visit and its own, the outermost first. */
function pathTypes(v: Visit): number[] {
	const types = v.track.rows!.type;

	return [...v.path.map(row => types[row]), v.type];
}

type Grow = (root: Node, v: Visit) => void;

function topDown(store: Store): Grow {
	return (root, v) => {
		let n = root;

		for (const row of v.path) {
			const type = v.track.rows!.type[row];

			n = child(n, store.nameOf[type], type);
		}
		n = child(n, store.nameOf[v.type], v.type);
		n.total += v.total;
		n.self += v.self;
		n.count++;
		if (v.path.length === 0) root.total += v.total;
	};
}

/* Each name with its self time, below it who it was in: the weight goes up to the callers. */
function bottomUp(store: Store): Grow {
	return (root, v) => {
		let n = root;

		root.total += v.self;
		for (const type of pathTypes(v).reverse()) {
			n = child(n, store.nameOf[type], type);
			n.total += v.self;
			n.count++;
		}
		n.self += v.self;
	};
}

/* Above one name: those around it, each with the time of that name. Recursion counts once. */
function callers(store: Store, name: number): Grow {
	return (root, v) => {
		if (store.nameOf[v.type] !== name) return;
		const types = pathTypes(v).slice(0, -1);

		if (types.some(type => store.nameOf[type] === name)) return;
		let n = root;

		root.total += v.total;
		root.count++;
		for (const type of types.reverse()) {
			n = child(n, store.nameOf[type], type);
			n.total += v.total;
			n.count++;
		}
	};
}

/* Below one name: what ran in it. */
function callees(store: Store, name: number): Grow {
	return (root, v) => {
		const types = pathTypes(v);
		const at = types.findIndex(type => store.nameOf[type] === name);

		if (at < 0) return;
		let n = root;

		for (const type of types.slice(at + 1)) n = child(n, store.nameOf[type], type);
		n.total += v.total;
		n.self += v.self;
		n.count++;
	};
}

/* Every slice for itself; those too short to be seen are left out. */
function timeOrder(least: number): Grow {
	let key = 0;
	const byRow = new Map<string, Node>();

	return (root, v) => {
		if (v.total < least) return;
		// Slices come when they end, inner ones first: their parents are made before their turn.
		let n = root;

		for (const row of [...v.path, v.row]) {
			const id = `${v.track.index}.${row}`;
			let inner = byRow.get(id);

			if (!inner) {
				byRow.set(id, (inner = node(v.track.rows!.type[row])));
				n.children.set(key++, inner);
				inner.start = v.track.rows!.start[row];
			}
			n = inner;
		}
		n.total = v.total;
		n.self = v.self;
		n.count = 1;
		if (v.path.length === 0) root.total += v.total;
	};
}

/* The heaviest nodes as columns, parents before children. */
function flatten(store: Store, root: Node, label: string, limit: number, timed: boolean): Tree {
	const out: Tree = {
		parent: [-1],
		name: [label],
		type: [root.type],
		total: [root.total],
		self: [root.self],
		count: [root.count],
		left: 0,
	};
	const all: Node[] = [];
	const collect = (n: Node) =>
		n.children.forEach(c => {
			all.push(c);
			collect(c);
		});

	collect(root);
	const weights = all.map(n => n.total).sort((a, b) => b - a);
	const least = weights.length > limit ? weights[limit - 1] : -1;
	const start = [0];
	const add = (n: Node, parent: number) => {
		const kids = [...n.children.values()].sort(
			timed ? (a, b) => a.start - b.start : (a, b) => b.total - a.total,
		);

		for (const c of kids) {
			if (c.total < least) {
				out.left++;
				continue;
			}
			const at = out.parent.push(parent) - 1;

			out.name.push(store.name(c.type));
			out.type.push(c.type);
			out.total.push(c.total);
			out.self.push(c.self);
			out.count.push(c.count);
			start.push(c.start);
			add(c, at);
		}
	};

	add(root, 0);
	if (timed) out.start = start;
	return out;
}

export function* tree(
	store: Store,
	scope: Scope,
	kind: TreeKind,
	name: string | undefined,
	nodes: number,
): Job<Tree> {
	const type = store.names.indexOf(name ?? ''),
		number = type < 0 ? -1 : store.nameOf[type];
	const root = node(Math.max(0, type));
	const span = scope.ranges ? scope.ranges.reduce((s, [a, b]) => s + b - a, 0) : store.info.span;
	const grow = {
		'top-down': () => topDown(store),
		'bottom-up': () => bottomUp(store),
		'time-order': () => timeOrder(Math.floor(span / 4000)),
		callers: () => callers(store, number),
		callees: () => callees(store, number),
	}[kind]();
	const error = yield* walk(store, scope, v => {
		if (!v.mark && !v.aside) grow(root, v);
	});

	if (error) throw new Error(error);
	return flatten(store, root, name ?? 'all', nodes, kind === 'time-order');
}
