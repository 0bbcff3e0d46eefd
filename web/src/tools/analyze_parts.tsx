// analyze_parts.tsx - what the tabs of `unitrace analyze` share: its sheets, parts of time, cards.

import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Cell, Column, Table } from '../source/contract';
import type { App } from '../state/app';
import { percent, si, time } from '../text/format';
import { Grid, type GridProps, type Piece } from '../ui/grid';
import { cell, Pending, Tile, type TileProps } from '../ui/kit';
import { useSheet } from '../ui/load';
import { hasSheet } from '../ui/tab';

export const TOOL = 'analyze',
	UNEVEN = 0.2, // of the median: a step that is longer by more is worth a look
	EXPOSED = 0.1, // of the time; src/analysis/acelyzer/page_findings.c judges by the same
	TRUSTED = 0.95,
	OFF_CLOCK = 0.01;

export interface Overview {
	ranks: number;
	kernels: number;
	collectives: number;
	length: number;
	compute: number;
	exposed: number;
	communication: number;
	transfer: number;
	prep: number;
	idle: number;
	energy: number | null;
}

export interface Trust {
	errors: number;
	warnings: number;
	share: number | null;
	device: number;
	doubted: number;
	lost: number;
	read: number;
	kept: number;
	stopped: string | null;
	missingCount: number;
	missing: number[];
}

export interface Late {
	collectives: number;
	ranks: { rank: number; late: (number | null)[] }[];
}

export interface Power {
	begin: number;
	end: number;
	ranks: { rank: number; watts: number[] }[];
}

/* Parts of a stretch of time, which add up to it, as C calls their columns. */
export const PARTS: [key: string, title: string, colour: string][] = [
	['compute', 'compute', 'k0'],
	['exposed', 'exposed communication', 'k4'],
	['transfer', 'transfer', 'k9'],
	['prep', 'preparation', 'k7'],
	['idle', 'idle', ''],
];

export const PART_KEYS = PARTS.map(p => p[0]);
export const PICTURE: Column = { key: 'picture', title: 'Where it went', type: 'picture' };

/* ---- tables --------------------------------------------------------------------------------- */

export const num = (t: Table, row: number, key: string): number => Number(cell(t, row, key) ?? 0);
export const rows = (t: Table): number[] => Array.from({ length: t.rows }, (_, i) => i);
export const most = (t: Table, key: string): number =>
	rows(t).reduce((m, r) => Math.max(m, num(t, r, key)), Number.NEGATIVE_INFINITY);
export const worst = (t: Table, of: number[], key: string): number =>
	of.reduce((a, b) => (num(t, b, key) > num(t, a, key) ? b : a), of[0]);
export const share = (part: number, whole: number): string => (whole > 0 ? percent(part / whole) : '–');
export const joules = (v: number | null): string => (v === null ? '–' : si(v, 'J'));

/* Some columns of a table, in this order; what no row has is left out. */
export function pick(t: Table, keys: string[], picture: Column = PICTURE): Table {
	const columns: Column[] = [],
		data: Cell[][] = [];

	for (const key of keys) {
		const at = t.columns.findIndex(c => c.key === key);

		if (key === picture.key) {
			columns.push(picture);
			data.push(Array<Cell>(t.rows).fill(null));
		} else if (at >= 0 && t.data[at].some(v => v !== null)) {
			columns.push(t.columns[at]);
			data.push(t.data[at]);
		}
	}
	return { ...t, columns, data };
}

/* Where the time of a row went, against the longest of them. */
export function partsOf(t: Table): (row: number) => Piece[] {
	const longest = Math.max(1, most(t, 'length'));

	return row =>
		PARTS.map(([key, title, colour]) => ({
			share: num(t, row, key) / longest,
			colour,
			title: `${title} ${time(num(t, row, key))}`,
		})).filter(p => p.share > 0);
}

export function tracksOf(app: App, rank: number): number[] | null {
	const of = app.places.value.filter(p => p.rank === rank && p.track >= 0).map(p => p.track);

	return of.length ? of : null;
}

/* ---- parts of pages ------------------------------------------------------------------------- */

export interface CardProps {
	title: string;
	hint?: string;
	legend?: [title: string, colour: string][];
	children: ComponentChildren;
}

export function Card({ title, hint, legend, children }: CardProps) {
	return (
		<section class="card" aria-label={title}>
			<header>
				<h2>{title}</h2>
				{hint && <span class="muted">{hint}</span>}
				{legend && (
					<span class="legend">
						{legend.map(([name, colour]) => (
							<span key={name}>
								<i class={`sw ${colour || 'none'}`} />
								{name}
							</span>
						))}
					</span>
				)}
			</header>
			{children}
		</section>
	);
}

export const PART_LEGEND = PARTS.map(([, title, colour]): [string, string] => [title, colour]);

export const Tiles = ({ of }: { of: TileProps[] }) => (
	<div class="tiles">
		{of.map(t => (
			<Tile key={t.title} {...t} />
		))}
	</div>
);

export interface SheetsProps {
	app: App;
	error: string;
	ready: boolean; // what the page needs is there
	children: () => ComponentChildren;
}

export function Sheets({ app, error, ready, children }: SheetsProps) {
	if (error) return <Pending app={app} error={error} />;
	return (
		<div class="page" aria-busy={!ready}>
			{ready && children()}
		</div>
	);
}

export function SheetGrid({
	app,
	name,
	...p
}: { app: App; name: string } & Omit<GridProps, 'app' | 'table'>) {
	const { value } = useSheet<Table>(app, TOOL, name);

	const table = useMemo(
		() =>
			value &&
			pick(
				value,
				value.columns.map(c => c.key),
			),
		[value],
	);

	return table && <Grid app={app} table={table} {...p} />;
}

export const has = (app: App, sheet: string): boolean => hasSheet(app.info.value, TOOL, sheet);
