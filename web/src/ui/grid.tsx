// grid.tsx - the one table: sorts, filters, hides columns, copies, saves; only the rows that are
// seen are in the page. A tree is a table whose rows can be opened.

import { useMemo, useRef, useState } from 'preact/hooks';
import type { Cell, Column, Table } from '../source/contract';
import type { App } from '../state/app';
import * as format from '../text/format';
import { plain } from '../text/label';
import { copy, Name, save, Swatch } from './kit';

const ROW = 26, MARGIN = 10;

export interface GridProps {
	app: App;
	table: Table;
	label: string;
	file: string; // name of the CSV
	sort?: string; // key of the column that sorts at first, the greatest on top
	parents?: number[]; // rows of a tree: index of the parent, -1 for none
	selected?: (row: number) => boolean;
	onPick?: (row: number) => void;
	onOpen?: (row: number) => void;
	flag?: (row: number, key: string) => { tone: 'bad' | 'warn'; why: string } | null;
}

const HIDDEN = new Set(['type', 'track number']);
const isHidden = (c: Column): boolean => c.type === 'event' || HIDDEN.has(c.title.toLowerCase());
const isNumber = (c: Column): boolean => !['text', 'name'].includes(c.type);

export function shown(c: Column, v: Cell): string {
	if (v === null)
		return '–';
	if (typeof v === 'string')
		return plain(v);
	if (c.signed && v !== 0)
		return `${v < 0 ? '−' : '+'}${shown({ ...c, signed: false }, Math.abs(v))}`;
	switch (c.type) {
	case 'time': return format.time(v);
	case 'share': return format.percent(v);
	case 'bytes': return format.bytes(v);
	case 'count': return format.count(v);
	default: return format.number(v);
	}
}

const quote = (v: Cell): string => {
	const s = v === null ? '' : String(v);

	return /[",\n\r]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
};

export const csv = (t: Table, rows: number[], columns: number[]): string =>
	[columns.map(c => quote(t.columns[c].type === 'time' ? `${t.columns[c].key}_ns` : t.columns[c].key)).join(','),
		...rows.map(r => columns.map(c => quote(t.data[c][r])).join(','))].join('\n') + '\n';

function compare(a: Cell, b: Cell, signed?: boolean): number {
	if (a === null || b === null)
		return a === b ? 0 : a === null ? -1 : 1;
	return typeof a === 'number' && typeof b === 'number' ? (signed ? Math.abs(a) - Math.abs(b) : a - b) : String(a).localeCompare(String(b));
}

interface Line {
	row: number;
	depth: number;
	opens: boolean;
	open: boolean;
}

/* Rows in the order of a sorted column that match the filter. */
function flatLines(t: Table, column: number, down: boolean, filter: string): Line[] {
	const word = filter.toLowerCase(), texts = t.columns.map((c, i) => (isNumber(c) ? -1 : i)).filter(i => i >= 0);
	const rows = Array.from({ length: t.rows }, (_, i) => i)
		.filter(r => !word || texts.some(c => String(t.data[c][r] ?? '').toLowerCase().includes(word)));

	if (column >= 0)
		rows.sort((a, b) => compare(t.data[column][a], t.data[column][b], t.columns[column].signed) * (down ? -1 : 1) || a - b);
	return rows.map(row => ({ row, depth: 0, opens: false, open: false }));
}

function treeLines(t: Table, parents: number[], column: number, down: boolean, open: ReadonlySet<number>, filter: string): Line[] {
	const kids = new Map<number, number[]>(), out: Line[] = [], word = filter.toLowerCase();
	const wanted = new Set<number>();

	parents.forEach((p, i) => kids.set(p, [...(kids.get(p) ?? []), i]));
	if (word) // with all that is around it
		for (let i = 0; i < t.rows; i++)
			if (String(t.data[0][i]).toLowerCase().includes(word))
				for (let p = i; p >= 0 && !wanted.has(p); p = parents[p])
					wanted.add(p);
	const add = (parent: number, depth: number): void => {
		const of = (kids.get(parent) ?? []).filter(r => !word || wanted.has(r));

		if (column >= 0)
			of.sort((a, b) => compare(t.data[column][a], t.data[column][b], t.columns[column].signed) * (down ? -1 : 1) || a - b);
		for (const row of of) {
			const isOpen = open.has(row) || !!word;

			out.push({ row, depth, opens: kids.has(row), open: isOpen });
			if (isOpen)
				add(row, depth + 1);
		}
	};

	add(-1, 0);
	return out;
}

export function Grid(p: GridProps) {
	const { table: t } = p, at = t.columns.findIndex(c => c.key === p.sort);
	const [sort, setSort] = useState<[key: string, down: boolean]>([p.sort ?? '', true]);
	const [filter, setFilter] = useState(''), [off, setOff] = useState<ReadonlySet<string>>(new Set());
	const [choosing, setChoosing] = useState(false), [open, setOpen] = useState<ReadonlySet<number>>(() => firstOpen(p.parents));
	const [top, setTop] = useState(0), [height, setHeight] = useState(400), [focus, setFocus] = useState(-1);
	const box = useRef<HTMLDivElement>(null);
	const column = Math.max(t.columns.findIndex(c => c.key === sort[0]), sort[0] ? -1 : at);
	const lines = useMemo(() => (p.parents ? treeLines(t, p.parents, column, sort[1], open, filter)
		: flatLines(t, column, sort[1], filter)), [t, p.parents, column, sort[1], open, filter]);
	const columns = t.columns.map((_, i) => i).filter(i => !isHidden(t.columns[i]) && !off.has(t.columns[i].key));
	const first = Math.max(0, Math.floor(top / ROW) - MARGIN), last = Math.min(lines.length, Math.ceil((top + height) / ROW) + MARGIN);
	const type = t.columns.findIndex(c => c.key === 'type');
	const toggle = (row: number) => {
		const next = new Set(open);

		if (!next.delete(row))
			next.add(row);
		setOpen(next);
	};
	const keys = (e: KeyboardEvent) => {
		const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[e.key];
		const line = lines[focus];

		if (by) {
			const next = Math.max(0, Math.min(lines.length - 1, focus + by));

			e.preventDefault();
			setFocus(next);
			if (box.current && (next * ROW < box.current.scrollTop || (next + 2) * ROW > box.current.scrollTop + box.current.clientHeight))
				box.current.scrollTop = (next - 2) * ROW;
			if (lines[next])
				p.onPick?.(lines[next].row);
		} else if (e.key === 'Enter' && line) {
			e.preventDefault();
			(p.onOpen ?? p.onPick)?.(line.row);
		} else if ((e.key === 'ArrowRight' || e.key === 'ArrowLeft') && line?.opens && line.open === (e.key === 'ArrowLeft')) {
			e.preventDefault();
			toggle(line.row);
		}
	};
	const asCsv = () => csv(t, lines.map(l => l.row), columns);

	return <div class="grid">
		<div class="gridbar">
			<input type="search" placeholder="Filter" aria-label={`Filter ${p.label}`} value={filter}
				onInput={e => setFilter(e.currentTarget.value)} />
			<span class="dim num">{lines.length === t.rows ? `${format.count(t.rows)} rows` : `${format.count(lines.length)} of ${format.count(t.rows)}`}
				{t.more ? `, ${format.count(t.more)} more not listed` : ''}</span>
			<span class="grow" />
			<button type="button" class="btn sm ghost" aria-expanded={choosing} onClick={() => setChoosing(!choosing)}>Columns</button>
			<button type="button" class="btn sm ghost" onClick={() => copy(p.app, asCsv().replace(/,/g, '\t'))}>Copy</button>
			<button type="button" class="btn sm ghost" onClick={() => save(`${p.file}.csv`, asCsv())}>CSV</button>
		</div>
		{choosing && <div class="chooser" role="group" aria-label="Columns">{t.columns.filter(c => !isHidden(c)).map(c =>
			<label key={c.key}><input type="checkbox" checked={!off.has(c.key)} onChange={() => {
				const next = new Set(off);

				if (!next.delete(c.key))
					next.add(c.key);
				setOff(next);
			}} />{c.title}</label>)}</div>}
		<div class="rows" ref={el => { box.current = el; if (el && el.clientHeight && el.clientHeight !== height) setHeight(el.clientHeight); }}
			onScroll={e => { setTop(e.currentTarget.scrollTop); setHeight(e.currentTarget.clientHeight); }} tabIndex={0}
			role={p.parents ? 'treegrid' : 'grid'} aria-label={p.label} aria-rowcount={lines.length + 1} aria-readonly="true" onKeyDown={keys}>
			<table role="presentation">
				<thead role="rowgroup"><tr role="row">{columns.map(i => {
					const c = t.columns[i], on = i === column;

					return <th key={c.key} role="columnheader" class={`${isNumber(c) ? 'n' : ''} ${c.wide ? 'wide' : ''}`}
						aria-sort={on ? (sort[1] ? 'descending' : 'ascending') : 'none'} title={c.hint}>
						<button type="button" onClick={() => setSort([c.key, on ? !sort[1] : isNumber(c)])}>
							{c.title}{c.unit ? <span class="u"> {c.unit}</span> : null}<span class="sort" aria-hidden="true">{on ? (sort[1] ? ' ▾' : ' ▴') : ''}</span></button></th>;
				})}</tr></thead>
				<tbody role="rowgroup">
					{first > 0 && <tr aria-hidden="true" style={{ height: `${first * ROW}px` }}><td colSpan={columns.length} class="gap" /></tr>}
					{lines.slice(first, last).map((l, k) => <tr key={l.row} role="row" aria-rowindex={first + k + 2}
						aria-selected={p.selected?.(l.row) ?? false} aria-level={p.parents ? l.depth + 1 : undefined}
						aria-expanded={l.opens ? l.open : undefined} class={first + k === focus ? 'focus' : ''}
						onClick={() => { setFocus(first + k); p.onPick?.(l.row); }} onDblClick={() => p.onOpen?.(l.row)}>
						{columns.map((i, nth) => <td key={t.columns[i].key} role="gridcell" {...cellProps(p, t, i, l.row)}>
							{nth === 0 && p.parents && <span class="indent" style={{ width: `${l.depth * 14 + 16}px` }}>
								{l.opens && <button type="button" class="twist" tabIndex={-1} aria-hidden="true"
									onClick={e => { e.stopPropagation(); toggle(l.row); }}>{l.open ? '▾' : '▸'}</button>}</span>}
							<CellView p={p} column={i} row={l.row} type={type} /></td>)}
					</tr>)}
					{last < lines.length && <tr aria-hidden="true" style={{ height: `${(lines.length - last) * ROW}px` }}><td colSpan={columns.length} class="gap" /></tr>}
				</tbody>
			</table>
			{!lines.length && <p class="none">{t.rows ? 'Nothing matches the filter.' : 'Nothing here in this range.'}</p>}
		</div>
	</div>;
}

/* The way to the heaviest leaf is open at first. */
function firstOpen(parents: number[] | undefined): ReadonlySet<number> {
	const open = new Set<number>();

	for (let at = -1, i = 0; parents && i < 12; i++) {
		const next = parents.indexOf(at);

		if (next < 0)
			break;
		open.add(next);
		at = next;
	}
	return open;
}

function cellProps(p: GridProps, t: Table, column: number, row: number): { class: string; title?: string } {
	const c = t.columns[column], flag = p.flag?.(row, c.key);

	return { class: `${isNumber(c) ? 'n' : 'tx'} ${c.wide ? 'wide' : ''} ${flag?.tone ?? ''}`, title: flag?.why };
}

function CellView({ p, column, row, type }: { p: GridProps; column: number; row: number; type: number }) {
	const c = p.table.columns[column], v = p.table.data[column][row];

	if (c.type === 'name')
		return <>{type >= 0 && <Swatch app={p.app} type={Number(p.table.data[type][row])} />}<Name text={String(v ?? '')} /></>;
	if (c.type === 'share' && typeof v === 'number')
		return <><span class="pb" aria-hidden="true"><i style={{ width: `${Math.min(100, v * 100)}%` }} /></span>{format.percent(v)}</>;
	return <>{p.flag?.(row, c.key) ? <span class="flag" aria-label="flagged">⚑ </span> : null}{shown(c, v)}</>;
}
