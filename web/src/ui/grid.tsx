// grid.tsx - the one table: sorts, filters, hides columns, copies, saves; only the rows that are
// seen are in the page. A tree is a table whose rows can be opened.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Cell, Column, Table } from '../source/contract';
import type { App } from '../state/app';
import { useKept, useKeptJson } from '../state/kept';
import * as format from '../text/format';
import { plain } from '../text/label';
import { copy, Name, save, Swatch } from './kit';

const ROW = 26,
	MARGIN = 10,
	NONE: string[] = [];

export interface GridProps {
	app: App;
	table: Table;
	label: string;
	file: string; // name of the CSV
	sort?: string; // key of the column that sorts at first, the greatest on top
	first?: ReadonlySet<string>; // keys of the columns that are shown at first; all, if nobody says it
	parents?: number[]; // rows of a tree: index of the parent, -1 for none
	selected?: (row: number) => boolean;
	onPick?: (row: number) => void;
	onOpen?: (row: number) => void;
	reveal?: number; // a row that is brought into sight, once
	flag?: (row: number, key: string) => { tone: 'bad' | 'warn'; why: string } | null;
	picture?: (row: number, key: string) => Piece[];
}

/* One piece of a picture in a cell: a part of a bar, a square of a heat map. */
export interface Piece {
	share: number; // of the width of the cell
	colour: string; // class: k0.. of a category, q0.. weak to strong, or none
	title: string;
}

const HIDDEN = new Set(['type', 'track number']);
const isHidden = (c: Column): boolean => c.type === 'event' || HIDDEN.has(c.title.toLowerCase());
/* Units that a value carries with it, since it may be tiny or huge. */
const isScaled = (c: Column): boolean => c.unit === 'J' || c.unit === 'W';
const isNumber = (c: Column): boolean => !['text', 'name', 'code', 'picture'].includes(c.type);

export function shown(c: Column, v: Cell): string {
	if (v === null || v === '') return '–';
	if (typeof v === 'string') return plain(v);
	if (c.signed && c.type === 'share') return format.change(v);
	if (c.signed) return format.signed(v, of => shown({ ...c, signed: false }, of));
	switch (c.type) {
		case 'time':
			return format.time(v);
		case 'share':
			return format.percent(v);
		case 'bytes':
			return format.bytes(v);
		case 'count':
			return format.count(v);
		default:
			return isScaled(c) ? format.si(v, c.unit!) : format.number(v);
	}
}

/* Quoted where it must be: by CSV's rule, which spreadsheets know for tabs too. */
const quote = (v: Cell, separator: string): string => {
	const s = v === null ? '' : String(v);

	return s.includes(separator) || /["\n\r]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
};

export function csv(t: Table, rows: number[], columns: number[], separator = ','): string {
	const title = (c: Column): string =>
		c.type === 'time' && !/\[ns\]$/.test(c.key) ? `${c.key}_ns` : c.key;
	const kept = columns.filter(c => t.columns[c].type !== 'picture'),
		data = kept.map(c => t.data[c]),
		lines = [kept.map(c => title(t.columns[c])), ...rows.map(r => data.map(d => d[r]))];

	return `${lines.map(l => l.map(v => quote(v, separator)).join(separator)).join('\n')}\n`;
}

function compare(a: Cell, b: Cell, signed?: boolean): number {
	if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
	return typeof a === 'number' && typeof b === 'number'
		? signed
			? Math.abs(a) - Math.abs(b)
			: a - b
		: String(a).localeCompare(String(b));
}

interface Line {
	row: number;
	depth: number;
	opens: boolean;
	open: boolean;
}

/* Rows in the order of a sorted column that match the filter. */
function flatLines(t: Table, column: number, down: boolean, filter: string): Line[] {
	const word = filter.toLowerCase(),
		texts = t.columns.map((c, i) => (isNumber(c) ? -1 : i)).filter(i => i >= 0);
	const rows = Array.from({ length: t.rows }, (_, i) => i).filter(
		r =>
			!word ||
			texts.some(c =>
				String(t.data[c][r] ?? '')
					.toLowerCase()
					.includes(word),
			),
	);

	if (column >= 0)
		rows.sort(
			(a, b) =>
				compare(t.data[column][a], t.data[column][b], t.columns[column].signed) * (down ? -1 : 1) ||
				a - b,
		);
	return rows.map(row => ({ row, depth: 0, opens: false, open: false }));
}

function treeLines(
	t: Table,
	parents: number[],
	column: number,
	down: boolean,
	open: ReadonlySet<number>,
	filter: string,
): Line[] {
	const kids = new Map<number, number[]>(),
		out: Line[] = [],
		word = filter.toLowerCase();
	const wanted = new Set<number>();

	parents.forEach((p, i) => {
		const like = kids.get(p);

		if (like) like.push(i);
		else kids.set(p, [i]);
	});
	if (word)
		// with all that is around it
		for (let i = 0; i < t.rows; i++)
			if (String(t.data[0][i]).toLowerCase().includes(word))
				for (let p = i; p >= 0 && !wanted.has(p); p = parents[p]) wanted.add(p);
	const add = (parent: number, depth: number): void => {
		const of = (kids.get(parent) ?? []).filter(r => !word || wanted.has(r));

		if (column >= 0)
			of.sort(
				(a, b) =>
					compare(t.data[column][a], t.data[column][b], t.columns[column].signed) *
						(down ? -1 : 1) || a - b,
			);
		for (const row of of) {
			const isOpen = open.has(row) || !!word;

			out.push({ row, depth, opens: kids.has(row), open: isOpen });
			if (isOpen) add(row, depth + 1);
		}
	};

	add(-1, 0);
	return out;
}

interface Sorting {
	key: string;
	down: boolean;
}

/* A set with something put in, or taken out if it was there. */
function toggled<T>(set: ReadonlySet<T>, of: T): ReadonlySet<T> {
	const next = new Set(set);

	if (!next.delete(of)) next.add(of);
	return next;
}

interface BarProps {
	p: GridProps;
	shown: number;
	filter: string;
	setFilter(text: string): void;
	off: ReadonlySet<string>; // columns that are not shown
	setOff(off: ReadonlySet<string>): void;
	text(separator: string): string;
}

function Bar({ p, shown: n, filter, setFilter, off, setOff, text }: BarProps) {
	const [choosing, setChoosing] = useState(false),
		{ rows, more, columns } = p.table;
	const counts = n === rows ? format.many(rows, 'row') : `${format.count(n)} of ${format.count(rows)}`;

	return (
		<>
			<div class="gridbar">
				<input
					type="search"
					placeholder="Filter"
					aria-label={`Filter ${p.label}`}
					value={filter}
					onInput={e => setFilter(e.currentTarget.value)}
				/>
				<span class="dim num">
					{counts}
					{more ? `, ${format.count(more)} more not listed` : ''}
				</span>
				<span class="grow" />
				<button
					type="button"
					class="btn sm ghost"
					aria-expanded={choosing}
					onClick={() => setChoosing(!choosing)}>
					Columns
				</button>
				<button type="button" class="btn sm ghost" onClick={() => copy(p.app, text('\t'))}>
					Copy
				</button>
				<button type="button" class="btn sm ghost" onClick={() => save(`${p.file}.csv`, text(','))}>
					CSV
				</button>
			</div>
			{choosing && (
				<div class="chooser" role="group" aria-label="Columns">
					{columns
						.filter(c => !isHidden(c))
						.map(c => (
							<label key={c.key}>
								<input
									type="checkbox"
									checked={!off.has(c.key)}
									onChange={() => setOff(toggled(off, c.key))}
								/>
								{c.title}
							</label>
						))}
				</div>
			)}
		</>
	);
}

function HeadCell({
	c,
	less,
	sort,
	set,
}: {
	c: Column;
	less: boolean;
	sort: Sorting;
	set(s: Sorting): void;
}) {
	const on = c.key === sort.key;

	if (c.type === 'picture')
		return (
			<th role="columnheader" class={`${c.wide ? 'wide' : ''} ${less ? 'spare' : ''}`} title={c.hint}>
				{c.title}
			</th>
		);
	return (
		<th
			role="columnheader"
			class={`${isNumber(c) ? 'n' : ''} ${c.wide ? 'wide' : ''} ${less ? 'spare' : ''}`}
			aria-sort={on ? (sort.down ? 'descending' : 'ascending') : 'none'}
			title={c.hint}>
			<button type="button" onClick={() => set({ key: c.key, down: on ? !sort.down : isNumber(c) })}>
				{c.title}
				{c.unit && !isScaled(c) ? <span class="u"> {c.unit}</span> : null}
				<span class="sort" aria-hidden="true">
					{on ? (sort.down ? ' ▾' : ' ▴') : ''}
				</span>
			</button>
		</th>
	);
}

interface LineProps {
	p: GridProps;
	l: Line;
	nth: number;
	columns: number[];
	less: ReadonlySet<number>;
	type: number; // column of types, -1: none
	focused: boolean;
	pick(): void;
	toggle(): void;
}

function LineView({ p, l, nth, columns, less, type, focused, pick, toggle }: LineProps) {
	const twist = (e: Event) => {
		e.stopPropagation();
		toggle();
	};

	return (
		<tr
			role="row"
			aria-rowindex={nth + 2}
			aria-selected={p.selected?.(l.row) ?? false}
			aria-level={p.parents ? l.depth + 1 : undefined}
			aria-expanded={l.opens ? l.open : undefined}
			class={focused ? 'focus' : ''}
			onClick={pick}
			onDblClick={() => p.onOpen?.(l.row)}>
			{columns.map((i, k) => (
				<td key={p.table.columns[i].key} role="gridcell" {...cellProps(p, i, l.row, less.has(i))}>
					{k === 0 && p.parents && (
						<span class="indent" style={{ width: `${l.depth * 14 + 16}px` }}>
							{l.opens && (
								<button
									type="button"
									class="twist"
									tabIndex={-1}
									aria-hidden="true"
									onClick={twist}>
									{l.open ? '▾' : '▸'}
								</button>
							)}
						</span>
					)}
					<CellView p={p} column={i} row={l.row} type={type} />
				</td>
			))}
		</tr>
	);
}

/* Room for rows that are not in the page. */
function Gap({ rows, columns }: { rows: number; columns: number }) {
	if (rows <= 0) return null;
	return (
		<tr aria-hidden="true" style={{ height: `${rows * ROW}px` }}>
			<td colSpan={columns} class="gap" />
		</tr>
	);
}

/* Which rows of a scrolled box are seen. */
function useScrolled(count: number) {
	const box = useRef<HTMLDivElement>(null),
		[top, setTop] = useState(0),
		[height, setHeight] = useState(400);

	useEffect(() => {
		const around = box.current!,
			watch = new ResizeObserver(() => setHeight(around.clientHeight));

		watch.observe(around);
		return () => watch.disconnect();
	}, []);
	const reveal = (row: number) => {
		const b = box.current;

		if (b && (row * ROW < b.scrollTop || (row + 2) * ROW > b.scrollTop + b.clientHeight))
			b.scrollTop = (row - 2) * ROW;
	};

	return {
		box,
		reveal,
		scrolled: (e: Event) => setTop((e.currentTarget as HTMLElement).scrollTop), // it may have left the page
		first: Math.max(0, Math.floor(top / ROW) - MARGIN),
		last: Math.min(count, Math.ceil((top + height) / ROW) + MARGIN),
	};
}

const STEPS: Record<string, number> = {
	ArrowDown: 1,
	ArrowUp: -1,
	PageDown: 20,
	PageUp: -20,
	Home: -1e9,
	End: 1e9,
};

export function Grid(p: GridProps) {
	const { table: t } = p,
		usual = useMemo(() => [...firstOpen(p.parents)], [p.parents]),
		usualOff = useMemo(
			() => (p.first ? t.columns.map(c => c.key).filter(k => !p.first!.has(k)) : NONE),
			[p.first, t.columns],
		);
	const [sort, setSort] = useKeptJson<Sorting>(p.app, `${p.file}.sort`, { key: p.sort ?? '', down: true }),
		[filter, setFilter] = useKept(p.app, `${p.file}.filter`, ''),
		[hidden, setHidden] = useKeptJson<string[]>(p.app, `${p.file}.hidden`, usualOff),
		[opened, setOpened] = useKeptJson<number[]>(p.app, `${p.file}.open`, usual);
	const off: ReadonlySet<string> = new Set(hidden),
		open = useMemo(() => new Set(opened), [String(opened)]);
	const [focus, setFocus] = useState(-1),
		setOff = (of: ReadonlySet<string>) => setHidden([...of]),
		setOpen = (of: ReadonlySet<number>) => setOpened([...of]);
	const column = t.columns.findIndex(c => c.key === sort.key),
		type = t.columns.findIndex(c => c.key === 'type');
	const columns = t.columns
		.map((_, i) => i)
		.filter(i => !isHidden(t.columns[i]) && !off.has(t.columns[i].key));
	const less = lesser(t, columns, sort.key);
	const lines = useMemo(
		() =>
			p.parents
				? treeLines(t, p.parents, column, sort.down, open, filter)
				: flatLines(t, column, sort.down, filter),
		[t, p.parents, column, sort.down, open, filter],
	);
	const { box, reveal, scrolled, first, last } = useScrolled(lines.length);

	useEffect(() => {
		if (p.reveal !== undefined) reveal(lines.findIndex(l => l.row === p.reveal));
	}, [p.reveal]);
	const move = (by: number) => {
		const next = Math.max(0, Math.min(lines.length - 1, focus + by));

		setFocus(next);
		reveal(next);
		if (lines[next]) p.onPick?.(lines[next].row);
	};
	const keys = (e: KeyboardEvent) => {
		const line = lines[focus],
			twists = line?.opens && e.key === (line.open ? 'ArrowLeft' : 'ArrowRight');

		if (!STEPS[e.key] && !twists && !(e.key === 'Enter' && line)) return;
		e.preventDefault();
		if (STEPS[e.key]) move(STEPS[e.key]);
		else if (twists) setOpen(toggled(open, line.row));
		else (p.onOpen ?? p.onPick)?.(line.row);
	};
	const text = (separator: string) =>
		csv(
			t,
			lines.map(l => l.row),
			columns,
			separator,
		);

	return (
		<div class="grid">
			<Bar {...{ p, filter, setFilter, off, setOff, text }} shown={lines.length} />
			<div
				class="rows"
				ref={box}
				onScroll={scrolled}
				tabIndex={0}
				role={p.parents ? 'treegrid' : 'grid'}
				aria-label={p.label}
				aria-rowcount={lines.length + 1}
				aria-readonly="true"
				onKeyDown={keys}>
				<table role="presentation">
					<thead role="rowgroup">
						<tr role="row">
							{columns.map(i => (
								<HeadCell
									key={t.columns[i].key}
									c={t.columns[i]}
									less={less.has(i)}
									sort={sort}
									set={setSort}
								/>
							))}
						</tr>
					</thead>
					<tbody role="rowgroup">
						<Gap rows={first} columns={columns.length} />
						{lines.slice(first, last).map((l, k) => (
							<LineView
								key={l.row}
								{...{ p, l, columns, less, type }}
								nth={first + k}
								focused={first + k === focus}
								pick={() => {
									setFocus(first + k);
									p.onPick?.(l.row);
								}}
								toggle={() => setOpen(toggled(open, l.row))}
							/>
						))}
						<Gap rows={lines.length - last} columns={columns.length} />
					</tbody>
				</table>
				{!lines.length && (
					<p class="none">
						{t.rows ? 'Nothing matches the filter.' : 'Nothing here in this range.'}
					</p>
				)}
			</div>
		</div>
	);
}

const NARROW = 4; // columns on a narrow screen

/* Those that a narrow screen does without: a name, its total and share, and what it is sorted by stay. */
function lesser(t: Table, columns: number[], sorted: string): ReadonlySet<number> {
	const rank = (i: number) =>
		i === columns[0] ? 0 : ['total', 'share', sorted].includes(t.columns[i].key) ? 1 : 2;
	const kept = new Set([...columns].sort((a, b) => rank(a) - rank(b)).slice(0, NARROW));

	return new Set(columns.filter(i => !kept.has(i)));
}

/* The way to the heaviest leaf is open at first. */
function firstOpen(parents: number[] | undefined): ReadonlySet<number> {
	const open = new Set<number>();

	for (let at = -1, i = 0; parents && i < 12; i++) {
		const next = parents.indexOf(at);

		if (next < 0) break;
		open.add(next);
		at = next;
	}
	return open;
}

function cellProps(
	p: GridProps,
	column: number,
	row: number,
	less: boolean,
): { class: string; title?: string } {
	const c = p.table.columns[column],
		flag = p.flag?.(row, c.key);

	return {
		class: `${isNumber(c) ? 'n' : 'tx'} ${c.type === 'name' ? 'nm' : c.type === 'code' ? 'code' : ''} ${c.wide ? 'wide' : ''} ${less ? 'spare' : ''} ${flag?.tone ?? ''}`,
		title: flag?.why,
	};
}

function Picture({ pieces }: { pieces: Piece[] }) {
	return (
		<span
			class="pieces"
			role="img"
			aria-label={pieces
				.filter(i => i.title)
				.slice(0, 8)
				.map(i => i.title)
				.join(', ')}>
			{pieces.map((i, k) => (
				<i key={k} class={i.colour} title={i.title} style={{ width: `${i.share * 100}%` }} />
			))}
		</span>
	);
}

const Flag = () => (
	<span class="flag" role="img" aria-label="flagged">
		⚑{' '}
	</span>
);

function CellView({ p, column, row, type }: { p: GridProps; column: number; row: number; type: number }) {
	const c = p.table.columns[column],
		v = p.table.data[column][row];

	if (c.type === 'name' && v !== null)
		return (
			<>
				{p.flag?.(row, c.key) && <Flag />}
				{type >= 0 && <Swatch app={p.app} type={Number(p.table.data[type][row])} />}
				<Name text={String(v)} brief />
			</>
		);
	if (c.type === 'code' && v !== null) return <Name text={String(v)} />;
	if (c.type === 'picture') return <Picture pieces={p.picture?.(row, c.key) ?? []} />;
	if (c.type === 'share' && typeof v === 'number' && !c.signed)
		return (
			<>
				<span class="pb" aria-hidden="true">
					<i style={{ width: `${Math.min(100, v * 100)}%` }} />
				</span>
				<span class="pn">{format.percent(v)}</span>
			</>
		);
	return (
		<>
			{p.flag?.(row, c.key) && <Flag />}
			{shown(c, v)}
		</>
	);
}
