// ops_sheet.ts - the rows of an ops report as src/analysis/ops/page_sheet.c packs them: rows of one program
// share their parts, numbers that grow are told as steps, runs of equal items are told once. A column
// is unpacked when it is first looked at: a report has a hundred, and people look at ten.

import type { Cell, Column, ColumnType, Scope, Table } from '../source/contract';
import { compile } from '../source/query';

/* [COUNT, VALUE] is a run. */
type Runs<T extends Cell> = (T | [count: number, value: T])[];

interface Piece {
	part: number;
	at?: Runs<number>; // steps from one distinct part that has a cell to the next; all have one: none
	v: Runs<Cell>;
	words?: Cell[]; // of the column's first piece, for all: v holds places in it
}

export interface OpsSheet {
	rows: number;
	ownClock: boolean; // devices have been laid beside the host
	host: Runs<number | null>; // start of each row, as steps
	device: Runs<number | null>;
	parts: (Runs<number> | null)[];
	columns: { key: string; type?: ColumnType; missing?: number; steps?: boolean }[];
	cells: Piece[][];
}

export function unrolled<T extends Cell>(runs: Runs<T>): T[] {
	const out: T[] = [];

	for (const item of runs) {
		if (!Array.isArray(item)) out.push(item);
		else for (let i = 0; i < item[0]; i++) out.push(item[1]);
	}
	return out;
}

/* Each number is told as its distance from the one before; texts and what is missing stand alone. */
export function summed(steps: Cell[]): Cell[] {
	let at = 0;

	return steps.map(s => (typeof s === 'number' ? (at += s) : s));
}

/* The cells of one column, a cell for each row. */
export function unpackColumn(s: OpsSheet, column: number): Cell[] {
	const { missing, steps } = s.columns[column],
		out = new Array<Cell>(s.rows).fill(missing ?? null);
	const words = s.cells[column][0]?.words;

	for (const piece of s.cells[column]) {
		const v = unrolled(piece.v),
			values = words ? v.map(n => words[n as number]) : steps ? summed(v) : v,
			at = piece.at && unrolled(piece.at);
		let by: Cell[] | Map<number, Cell> = values,
			next = 0;

		if (at) {
			by = new Map<number, Cell>();
			for (let i = 0; i < values.length; i++) {
				next += at[i];
				by.set(next++, values[i]);
			}
		}
		const runs = s.parts[piece.part],
			part = runs && unrolled(runs);

		for (let row = 0; row < s.rows; row++) {
			const n = part ? part[row] - 1 : row,
				v = by instanceof Map ? by.get(n) : by[n];

			if (n >= 0 && v !== undefined) out[row] = v;
		}
	}
	return out;
}

/* What a column is called where there is little room, and in which order those stand that are shown first. */
const FIRST: [key: RegExp, title: string, hint?: string][] = [
	[/^OP CODE$/, 'Op'],
	[/^HOST DURATION \[ns\]$/, 'Host', 'from the call to its return'],
	[/^DEVICE KERNEL DURATION \[ns\]$/, 'Kernels', 'time of its kernels on the device'],
	[/^OP TO OP LATENCY \[ns\]$/, 'Gap', 'the device waited so long before this op'],
	[/^LAUNCH LATENCY \[ns\]$/, 'Launch', 'from the call that submitted its first work to the start of that'],
	[/^DEVICE (FW )?DURATION \[ns\]$/, 'On device', 'from the first start to the last end of its work'],
	[/^HOST SELF DURATION \[ns\]$/, 'Host self', 'without what is marked inside of it'],
	[/^CORE COUNT$/, 'Cores'],
	[/^DEVICE KERNEL COUNT$/, 'Kernel calls'],
	[/^DEVICE KERNELS$/, 'Kernel names'],
	[/^INPUTS$/, 'Inputs', 'shapes of the input tensors'],
	[/^MATH FIDELITY$/, 'Fidelity'],
	[/^PROGRAM CACHE HIT$/, 'Cached', 'was the program in the cache?'],
	[/^DEVICE ID$/, 'Device'],
	[/^OP TYPE$/, 'Kind'],
	[/^GLOBAL CALL COUNT$/, 'Call', 'number of the op in the run'],
	[/^PROBLEM$/, 'Problem', 'why the row is not whole'],
];
const ALWAYS = 4; // of them, also where there is little room

const INPUT = /^INPUT_(\d+)_([WZYX])(?:_PAD\[LOGICAL\])?$/;
export const SHAPES = 'INPUTS';

export class Ops {
	readonly columns: Column[];
	readonly host: (number | null)[];
	readonly device: (number | null)[];
	private readonly data: (Cell[] | undefined)[] = [];
	private byEvent: Map<string, number> | null = null;

	constructor(readonly sheet: OpsSheet) {
		this.host = summed(unrolled(sheet.host)) as (number | null)[];
		this.device = summed(unrolled(sheet.device)) as (number | null)[];
		this.columns = sheet.columns.map((c, i) => this.describe(c, i));
		if (sheet.columns.some(c => INPUT.test(c.key)))
			this.columns.push({
				key: SHAPES,
				title: 'Inputs',
				type: 'text',
				hint: 'shapes of the input tensors',
			});
	}

	private describe(c: OpsSheet['columns'][number], i: number): Column {
		const at = FIRST.findIndex(([key]) => key.test(c.key)),
			first = FIRST[at];
		const words = this.sheet.cells[i]?.some(p => p.words?.some(w => typeof w === 'string'));

		return {
			key: c.key,
			title: first?.[1] ?? c.key.replace(/ \[(ns|B)\]$/, ''),
			type: c.key === 'OP CODE' ? 'name' : (c.type ?? (words ? 'text' : 'number')),
			...(first?.[2] ? { hint: first[2] } : {}),
			...(at >= ALWAYS ? { wide: true } : {}),
		};
	}

	index(key: string): number {
		return this.columns.findIndex(c => c.key === key);
	}

	column(key: string): Cell[] {
		return this.at(this.index(key));
	}

	private at(i: number): Cell[] {
		if (i < 0) return [];
		return (this.data[i] ??= this.columns[i].key === SHAPES ? this.shapes() : this.unpack(i));
	}

	private unpack(i: number): Cell[] {
		const cells = unpackColumn(this.sheet, i);

		/* 2023: a blank for each level of calls */
		return this.columns[i].key === 'OP CODE'
			? cells.map(c => (typeof c === 'string' ? c.trim() : c))
			: cells;
	}

	/* "1×1×64×32, 1×1×32×64": what the columns of all input tensors say. */
	private shapes(): Cell[] {
		const of = this.columns.flatMap((c, i) => {
			const m = INPUT.exec(c.key);

			return m ? [{ tensor: Number(m[1]), cells: this.at(i) }] : [];
		});
		const tensors = [...new Set(of.map(o => o.tensor))].map(t => of.filter(o => o.tensor === t));

		return Array.from({ length: this.sheet.rows }, (_, row) => {
			const all = tensors
				.map(t =>
					t
						.map(o => o.cells[row])
						.filter(v => v !== null)
						.map(v => String(v).replace(/\[.*\]$/, ''))
						.join('×'),
				)
				.filter(Boolean);

			return all.length ? all.join(', ') : null;
		});
	}

	/* Those that are shown before anybody chooses: known by name, and with something in them. */
	shownFirst(): Set<string> {
		const known = this.columns.filter(c => FIRST.some(([key]) => key.test(c.key)));

		return new Set(known.filter(c => this.column(c.key).some(v => v !== null)).map(c => c.key));
	}

	/* All columns, those that are shown first in front; each is unpacked when somebody looks at it. */
	table(rows: number[]): Table {
		const rank = (c: Column) => {
			const at = FIRST.findIndex(([key]) => key.test(c.key));

			return at < 0 ? FIRST.length : at;
		};
		const order = [...this.columns.keys()].sort(
				(a, b) => rank(this.columns[a]) - rank(this.columns[b]) || a - b,
			),
			whole = rows.length === this.sheet.rows;
		const data: Cell[][] = new Array<Cell[]>(order.length);

		order.forEach((from, to) => {
			let made: Cell[] | undefined;

			Object.defineProperty(data, to, {
				enumerable: true,
				get: () => (made ??= whole ? this.at(from) : rows.map(r => this.at(from)[r])),
			});
		});
		return { columns: order.map(i => this.columns[i]), data, rows: rows.length };
	}

	/* Rows that a narrowing leaves: begun in its ranges, of a name that it wants. */
	rowsIn(scope: Scope): number[] {
		const wanted = compile(scope.query ?? ''),
			names = this.column('OP CODE'),
			types = this.column('OP TYPE');
		const all = Array.from({ length: this.sheet.rows }, (_, i) => i);

		return all.filter(r => {
			const t = this.host[r] ?? this.device[r];

			return (
				(!scope.ranges || (t !== null && scope.ranges.some(([a, b]) => t >= a && t < b))) &&
				(!scope.query || wanted.type(String(names[r] ?? ''), String(types[r] ?? '')))
			);
		});
	}

	/* ---- the timeline ---- */

	name(row: number): string {
		return String(this.column('OP CODE')[row] ?? 'op');
	}

	/* The row that an event of the timeline is of; -1: of none. */
	rowOf(device: boolean, t: number, name: string): number {
		if (!this.byEvent) {
			this.byEvent = new Map();
			for (let r = this.sheet.rows - 1; r >= 0; r--) {
				if (this.host[r] !== null) this.byEvent.set(`h${this.host[r]} ${this.name(r)}`, r);
				if (this.device[r] !== null) this.byEvent.set(`d${this.device[r]} ${this.name(r)}`, r);
			}
		}
		const at = (of: string) => this.byEvent!.get(`${device ? 'd' : 'h'}${t} ${of}`);

		return at(name) ?? at(name.split(', ')[0]) ?? -1; // emit_nvtx() appends shapes
	}
}

/* Rows in order of their start on the device. */
const deviceOrder = new WeakMap<Ops, number[]>();

/* The row whose work on the device a slice there is part of, by its time and name; -1: of none. */
export function rowAt(ops: Ops, t: number, name: string): number {
	let order = deviceOrder.get(ops),
		low = 0;

	if (!order) {
		order = [...ops.device.keys()].filter(r => ops.device[r] !== null);
		order.sort((a, b) => ops.device[a]! - ops.device[b]!);
		deviceOrder.set(ops, order);
	}
	for (let high = order.length; low < high;) {
		const mid = (low + high) >>> 1;

		if (ops.device[order[mid]]! <= t) low = mid + 1;
		else high = mid;
	}
	const lengths = ops.column('DEVICE DURATION [ns]'),
		kernels = ops.column('DEVICE KERNELS');

	for (let i = low - 1; i >= Math.max(0, low - 64); i--) {
		const r = order[i];

		if (t <= ops.device[r]! + Number(lengths[r] ?? 0) && String(kernels[r] ?? '').includes(name))
			return r;
	}
	return -1;
}

/* All calls of an op together. */
export function byOp(ops: Ops, rows: number[]): Table {
	interface Sum {
		name: string;
		calls: number;
		timed: number;
		host: number | null;
		self: number | null;
		device: number | null;
		min: number;
		max: number;
		launch: number;
		launched: number;
		gap: number | null;
		longest: number; // row
	}
	const sums = new Map<string, Sum>(),
		names = ops.column('OP CODE'),
		types = ops.column('OP TYPE'),
		host = ops.column('HOST DURATION [ns]'),
		self = ops.column('HOST SELF DURATION [ns]'),
		device = ops.column('DEVICE KERNEL DURATION [ns]'),
		launch = ops.column('LAUNCH LATENCY [ns]'),
		gap = ops.column('OP TO OP LATENCY [ns]');
	const plus = (a: number | null, b: Cell | undefined): number | null =>
		typeof b === 'number' ? (a ?? 0) + b : a;
	let all = 0;

	for (const r of rows) {
		if (types[r] === 'signpost') continue;
		const name = String(names[r] ?? '?'),
			d = device[r];
		let s = sums.get(name);

		if (!s)
			sums.set(
				name,
				(s = {
					name,
					calls: 0,
					timed: 0,
					host: null,
					self: null,
					device: null,
					min: Infinity,
					max: -1,
					launch: 0,
					launched: 0,
					gap: null,
					longest: r,
				}),
			);
		s.calls++;
		s.host = plus(s.host, host[r]);
		s.self = plus(s.self, self[r]);
		s.gap = plus(s.gap, gap[r]);
		if (typeof launch[r] === 'number') {
			s.launch += launch[r];
			s.launched++;
		}
		if (typeof d !== 'number') continue;
		s.timed++;
		s.device = plus(s.device, d);
		s.min = Math.min(s.min, d);
		if (d > s.max) {
			s.max = d;
			s.longest = r;
		}
		all += d;
	}
	const columns: [Column, (s: Sum) => Cell][] = [
		[{ key: 'name', title: 'Op', type: 'name' }, s => s.name],
		[{ key: 'device', title: 'Kernels', type: 'time' }, s => s.device],
		[
			{ key: 'share', title: 'Share of kernels', type: 'share' },
			s => (s.device === null || !all ? null : s.device / all),
		],
		[
			{ key: 'host', title: 'Host', type: 'time', hint: 'an op inside another counts twice' },
			s => s.host,
		],
		[{ key: 'self', title: 'Host self', type: 'time', wide: true }, s => s.self],
		[{ key: 'calls', title: 'Calls', type: 'count' }, s => s.calls],
		[{ key: 'timed', title: 'With device times', type: 'count', wide: true }, s => s.timed],
		[
			{
				key: 'mean',
				title: 'Mean',
				type: 'time',
				hint: 'of its kernels, for each call that has device times',
			},
			s => (s.device === null ? null : s.device / s.timed),
		],
		[{ key: 'min', title: 'Min', type: 'time', wide: true }, s => (s.timed ? s.min : null)],
		[{ key: 'max', title: 'Max', type: 'time' }, s => (s.timed ? s.max : null)],
		[
			{
				key: 'launch',
				title: 'Launch',
				type: 'time',
				hint: 'mean time from the call to the start of its work',
			},
			s => (s.launched ? s.launch / s.launched : null),
		],
		[
			{
				key: 'gap',
				title: 'Gap',
				type: 'time',
				hint: 'how long the device waited before these ops, in all',
			},
			s => s.gap,
		],
		[{ key: 'longest', title: 'Longest', type: 'event' }, s => s.longest],
	];
	const list = [...sums.values()];

	return withoutEmpty({
		columns: columns.map(([c]) => c),
		data: columns.map(([, of]) => list.map(of)),
		rows: list.length,
	});
}

/* Without columns that nobody has measured. */
export function withoutEmpty(t: Table): Table {
	const used = t.columns.map((_, i) => t.data[i].some(v => v !== null));

	return {
		...t,
		columns: t.columns.filter((_, i) => used[i]),
		data: t.data.filter((_, i) => used[i]),
	};
}
