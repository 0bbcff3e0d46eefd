// profile.ts - samples as tables and trees, made of what the question "stacks" is answered with. What
// self and total mean, and what trees leave out, is as src/analysis/sample has it (hotspots.h, call_tree.h): a
// page shows the numbers that `unitrace hotspots` prints.

import type { Cell, Column, ColumnType, SampleGroups, Stacks, Table, Tree } from '../source/contract';

export type RowsBy = 'function' | 'own' | 'module' | 'line' | 'python-line' | 'thread' | 'task' | 'process';
export type ProfileTree = 'top-down' | 'bottom-up' | 'callers' | 'callees';

const OWNER = 3, // bits of whose
	INTERPRETER = 4,
	SCRIPT = 8,
	MOST_UP = 1024; // callers of callers that are told

/* A tree of functions; their numbers are of the profile, counts are those of the samples in total. */
export interface FunctionTree extends Tree {
	fn: number[];
}

export const weightType = (s: Stacks): ColumnType =>
	s.unit === 'ns' ? 'time' : s.unit === 'bytes' ? 'bytes' : 'count';

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export class Profile {
	readonly total: number[]; // by node
	readonly fnOf: number[] = []; // by frame
	readonly functions: { function: number; module: number; owner: number }[] = [];
	private readonly first: number[];
	private readonly next: number[];
	private between: boolean[] | null = null;

	constructor(readonly stacks: Stacks) {
		const { parent, self } = stacks.nodes,
			count = parent.length;

		this.total = [...self];
		this.first = new Array<number>(count).fill(0);
		this.next = new Array<number>(count).fill(0);
		for (let i = count - 1; i > 0; i--) {
			this.total[parent[i]] += this.total[i];
			this.next[i] = this.first[parent[i]];
			this.first[parent[i]] = i;
		}
		this.listFunctions();
	}

	private listFunctions(): void {
		const f = this.stacks.frames,
			known = new Map<string, number>();

		for (let i = 0; i < f.function.length; i++) {
			const key = `${f.function[i]} ${f.module[i]}`,
				owner = f.whose[i] & OWNER;
			let at = known.get(key);

			if (at === undefined) {
				known.set(key, (at = this.functions.length));
				this.functions.push({ function: f.function[i], module: f.module[i], owner });
			}
			// a function is the program's own if any of its frames is
			this.functions[at].owner = Math.min(this.functions[at].owner, owner);
			this.fnOf.push(at);
		}
	}

	text(string: number): string {
		return this.stacks.strings[string] ?? '';
	}

	nameOf(fn: number): string {
		return this.text(this.functions[fn].function) || '[unknown]';
	}

	moduleOf(fn: number): string {
		return this.text(this.functions[fn].module);
	}

	/* As people say it: where it is, if its name says little. */
	label(fn: number): string {
		const name = this.nameOf(fn),
			module = baseName(this.moduleOf(fn));

		if (!this.functions[fn].function && module) return `${name} in ${module}`;
		return /^<.*>$/.test(name) && module ? `${name} (${module})` : name;
	}

	/* The function of this name and module, or of this name alone; -1: no sample has it. */
	find(name: string, module?: string): number {
		return this.functions.findIndex(
			f =>
				f.function > 0 &&
				this.text(f.function) === name &&
				(module === undefined || this.text(f.module) === module),
		);
	}

	/* Every node below node 0, callers before and after what they call. */
	private walk(enter: (node: number) => void, leave: (node: number) => void): void {
		const { parent } = this.stacks.nodes;
		let at = this.first[0];

		while (at) {
			enter(at);
			if (this.first[at]) {
				at = this.first[at];
				continue;
			}
			leave(at);
			while (at && !this.next[at]) {
				at = parent[at];
				if (at) leave(at);
			}
			at = at && this.next[at];
		}
	}

	/* ---- rows ------------------------------------------------------------------------------------ */

	private rowsOfFrames(by: RowsBy): Row[] {
		const { frames, nodes } = this.stacks,
			rows: Row[] = [],
			known = new Map<number, number>(),
			rowOf = frames.function.map((_, i) => {
				const none = this.isNone(i);

				if (i === 0 || (by === 'python-line' && !(frames.whose[i] & SCRIPT) && !none)) return -1;
				if (by === 'own' && frames.whose[i] & OWNER && !this.isImport(i) && !none) return -1;
				const key =
					by === 'function' || by === 'own' ? this.fnOf[i] : by === 'module' ? frames.module[i] : i;
				let at = known.get(key);

				if (at === undefined) {
					known.set(key, (at = rows.length));
					rows.push(row(i));
				}
				return at;
			}),
			open = rows.map(() => 0),
			inside: number[] = [],
			nobody = row(0);
		const give = (to: Row, node: number) => {
			to.self += nodes.self[node];
			to.samples += nodes.samples[node];
		};

		this.walk(
			node => {
				const at = rowOf[nodes.frame[node]];

				if (at >= 0) {
					if (!open[at]++) rows[at].total += this.total[node];
					inside.push(at);
				}
				give(inside.length ? rows[inside[inside.length - 1]] : nobody, node);
			},
			node => {
				const at = rowOf[nodes.frame[node]];

				if (at < 0) return;
				open[at]--;
				inside.pop();
			},
		);
		give(nobody, 0); // samples without a stack
		nobody.total = nobody.self;
		return [...rows, nobody].filter(r => r.total || r.samples);
	}

	/* What a module does while it is imported is not the work of who imports it. */
	private isImport(frame: number): boolean {
		const f = this.stacks.frames;

		return (
			this.text(f.function[frame]) === '_find_and_load' &&
			this.text(f.module[frame]).startsWith('<frozen importlib')
		);
	}

	/* CPU time that no sample was taken of. */
	private isNone(frame: number): boolean {
		const f = this.stacks.frames;

		return !f.module[frame] && this.text(f.function[frame]) === '[not sampled]';
	}

	private frameName(by: RowsBy, r: Row): string {
		const f = this.stacks.frames;

		if (by === 'own' && !r.frame) return "[outside the program's own code]";
		if (by === 'own' && this.isImport(r.frame)) return '[imports]';
		if (by === 'module') return this.text(f.module[r.frame]) || '[unknown]';
		if (by === 'python-line' && !f.file[r.frame] && !this.isNone(r.frame)) return '[outside Python]';
		return this.text(f.function[r.frame]) || '[unknown]';
	}

	/* Self and total of functions, modules, lines, threads, tasks or processes; the heaviest first. */
	table(by: RowsBy): ProfileTable {
		const grouped = by === 'thread' || by === 'task' || by === 'process',
			rows = grouped ? groupRows(this.stacks.groups[by]) : this.rowsOfFrames(by),
			f = this.stacks.frames,
			lines = by === 'line' || by === 'python-line',
			name = (r: Row) => (grouped ? this.groupName(by, r) : this.frameName(by, r));

		rows.sort(
			(a, b) =>
				b.self - a.self || b.total - a.total || (name(a) < name(b) ? -1 : 1) || a.frame - b.frame,
		);
		const weight = weightType(this.stacks),
			all = this.stacks.weight || 1,
			columns: Column[] = [
				{ key: 'name', title: titles[by], type: grouped || by === 'module' ? 'text' : 'name' },
				{ key: 'self', title: 'Self', type: weight },
				{ key: 'self_share', title: 'Self share', type: 'share' },
				{
					key: 'total',
					title: 'Total',
					type: weight,
					hint: by === 'task' ? 'with the tasks inside' : 'with what it called',
				},
				{ key: 'total_share', title: 'Total share', type: 'share' },
				{ key: 'samples', title: 'Samples', type: 'count' },
			],
			data: Cell[][] = [
				rows.map(name),
				rows.map(r => r.self),
				rows.map(r => r.self / all),
				rows.map(r => r.total),
				rows.map(r => r.total / all),
				rows.map(r => r.samples),
			];

		if (lines) {
			columns.splice(1, 0, { key: 'line', title: 'Line', type: 'text' });
			data.splice(
				1,
				0,
				rows.map(r => (f.file[r.frame] ? `${this.text(f.file[r.frame])}:${f.line[r.frame]}` : null)),
			);
		}
		if (by === 'function' || by === 'own' || by === 'line') {
			columns.push({ key: 'module', title: 'Module', type: 'text', wide: true });
			data.push(rows.map(r => baseName(this.text(f.module[r.frame]))));
		}
		return {
			table: { columns, data, rows: rows.length },
			fn: rows.map(r => (grouped || by === 'module' || !r.frame ? -1 : this.fnOf[r.frame])),
		};
	}

	private groupName(by: RowsBy, r: Row): string {
		const name = this.text(r.frame) || (by === 'task' ? '[outside any task]' : '[no name]');

		return by === 'task' ? name : `${name} (${r.id})`;
	}

	/* The heaviest stack, innermost first: what ran, and where. */
	stack(): { fn: number; file: string; line: number }[] {
		const { parent, frame, self, samples } = this.stacks.nodes,
			f = this.stacks.frames,
			out: { fn: number; file: string; line: number }[] = [];
		let at = 0;

		for (let i = 1; i < self.length; i++) if (samples[i] && (!at || self[i] > self[at])) at = i;
		for (; at; at = parent[at])
			out.push({
				fn: this.fnOf[frame[at]],
				file: this.text(f.file[frame[at]]),
				line: f.line[frame[at]],
			});
		return out;
	}

	/* ---- trees ----------------------------------------------------------------------------------- */

	/* What an interpreter does on the way to others is left out. */
	private findBetween(): boolean[] {
		const { parent, frame } = this.stacks.nodes,
			{ whose } = this.stacks.frames,
			carries = new Array<boolean>(parent.length).fill(false),
			between = new Array<boolean>(parent.length).fill(false);

		for (let i = parent.length - 1; i > 0; i--) {
			const interpreter = (whose[frame[i]] & INTERPRETER) !== 0;

			between[i] = interpreter && carries[i];
			if (!interpreter || carries[i]) carries[parent[i]] = true;
		}
		return between;
	}

	tree(kind: ProfileTree, fn: number, most: number): FunctionTree {
		const g = new Grown(fn < 0 ? -1 : fn);

		this.between ??= this.findBetween();
		if (kind === 'bottom-up') this.growUp(g, this.between);
		else if (kind === 'callers') this.growCallers(g, this.between, fn);
		else this.growDown(g, this.between, kind === 'callees' ? fn : -1);
		if (kind === 'callees' || kind === 'callers') g.hang();
		return g.flatten(this, most);
	}

	/* wanted: only below this function, wherever it was called; -1: all. */
	private growDown(g: Grown, between: boolean[], wanted: number): void {
		const { nodes } = this.stacks,
			at: number[] = [];

		this.walk(
			node => {
				const fn = this.fnOf[nodes.frame[node]],
					around = at.length ? at[at.length - 1] : 0;
				let to: number;

				if (wanted >= 0 && !around && fn !== wanted) {
					at.push(0);
					return;
				}
				if (between[node] && !(wanted >= 0 && !around)) {
					at.push(around);
					if (!nodes.self[node]) return;
					to = g.child(around, fn);
				} else at.push((to = g.child(around, fn)));
				g.self[to] += nodes.self[node];
				g.count[to] += nodes.samples[node];
			},
			() => at.pop(),
		);
		if (wanted < 0) {
			g.self[0] = nodes.self[0];
			g.count[0] = nodes.samples[0];
		}
		g.addTotals();
	}

	private addUp(g: Grown, between: boolean[], node: number, weight: number, samples: number): void {
		const { parent, frame } = this.stacks.nodes;
		let at = 0;

		g.total[0] += weight;
		g.count[0] += samples;
		for (let up = 0, n = node; n && up < MOST_UP; up++, n = parent[n]) {
			if (up && between[n]) continue;
			const to = g.child(at, this.fnOf[frame[n]]);

			if (to !== at) {
				g.total[to] += weight;
				g.count[to] += samples;
			}
			at = to;
		}
		g.self[at] += weight;
	}

	private growUp(g: Grown, between: boolean[]): void {
		const { self, samples } = this.stacks.nodes;

		for (let i = 1; i < self.length; i++) if (self[i]) this.addUp(g, between, i, self[i], samples[i]);
	}

	private growCallers(g: Grown, between: boolean[], fn: number): void {
		const { frame, samples, parent } = this.stacks.nodes,
			below = [...samples];
		let around = 0;

		for (let i = parent.length - 1; i > 0; i--) below[parent[i]] += below[i];
		this.walk(
			node => {
				if (this.fnOf[frame[node]] === fn && !around++)
					this.addUp(g, between, node, this.total[node], below[node]);
			},
			node => {
				if (this.fnOf[frame[node]] === fn) around--;
			},
		);
	}
}

interface Row {
	frame: number; // or, of a group, the string of its name
	id: number;
	self: number;
	total: number;
	samples: number;
}

export interface ProfileTable {
	table: Table;
	fn: number[]; // of each row; -1: it is no function's
}

const titles: Record<RowsBy, string> = {
	function: 'Function',
	own: 'Function',
	module: 'Module',
	line: 'Function',
	'python-line': 'Function',
	thread: 'Thread',
	task: 'Task',
	process: 'Process',
};

const row = (frame: number): Row => ({ frame, id: 0, self: 0, total: 0, samples: 0 });

const groupRows = (g: SampleGroups): Row[] =>
	g.name
		.map((frame, i) => ({
			frame,
			id: g.id[i],
			self: g.weight[i],
			total: g.total[i],
			samples: g.samples[i],
		}))
		.filter(r => r.total || r.samples);

/* A tree while it grows: nodes by number, as columns. */
class Grown {
	parent = [-1];
	fn: number[];
	total = [0];
	self = [0];
	count = [0];
	private readonly known = new Map<number, number>();
	private readonly base = 2 ** 26; // functions are fewer

	constructor(root: number) {
		this.fn = [root];
	}

	/* A function that calls itself right away is one node. */
	child(parent: number, fn: number): number {
		if (parent && this.fn[parent] === fn) return parent;
		const key = parent * this.base + fn;
		let at = this.known.get(key);

		if (at === undefined) {
			this.known.set(key, (at = this.parent.length));
			this.parent.push(parent);
			this.fn.push(fn);
			this.total.push(0);
			this.self.push(0);
			this.count.push(0);
		}
		return at;
	}

	addTotals(): void {
		this.total = [...this.self];
		for (let i = this.total.length - 1; i > 0; i--) {
			this.total[this.parent[i]] += this.total[i];
			this.count[this.parent[i]] += this.count[i];
		}
	}

	/* A tree of one function: that is the root itself. */
	hang(): void {
		const of = this.parent.findIndex(p => p === 0);

		if (of < 0) return;
		this.total[0] = this.total[of];
		this.self[0] = this.self[of];
		this.count[0] = this.count[of];
		this.parent = this.parent.map((p, i) => (i === of ? -2 : p === of ? 0 : p));
	}

	/* The heaviest nodes, parents before children, the heaviest of siblings first. */
	flatten(p: Profile, most: number): FunctionTree {
		const kids: number[][] = this.parent.map(() => []),
			weights = this.total.slice(1).sort((a, b) => b - a),
			least = weights.length > most ? weights[most - 1] : -1,
			root = this.fn[0] < 0 ? 'all' : p.label(this.fn[0]),
			out: FunctionTree = {
				parent: [],
				name: [],
				type: [],
				total: [],
				self: [],
				count: [],
				fn: [],
				left: 0,
			};

		this.parent.forEach((of, i) => {
			if (of >= 0) kids[of].push(i);
		});
		const labels = (i: number) => p.label(this.fn[i]);
		const add = (first: number, parent: number) => {
			const todo = [[first, parent]];

			while (todo.length) {
				const [node, under] = todo.pop()!,
					at = out.parent.push(under) - 1;

				out.name.push(node ? labels(node) : root);
				out.type.push(0);
				out.fn.push(this.fn[node]);
				out.total.push(this.total[node]);
				out.self.push(this.self[node]);
				out.count.push(this.count[node]);
				kids[node].sort(
					(a, b) => this.total[a] - this.total[b] || (labels(a) < labels(b) ? 1 : -1) || b - a,
				);
				for (const kid of kids[node])
					if (this.total[kid] < least) out.left++;
					else todo.push([kid, at]);
			}
		};

		add(0, -1);
		return out;
	}
}
