// kernels.tsx - what kernels are bound by: a sentence in the details of one, a column of the table of
// kernels. Known of each name, grid and block (src/analysis/view/bottlenecks.c).

import type { Cell, Column, Detail, Info, Table } from '../source/contract';
import type { App } from '../state/app';
import { number, percent, sentence } from '../text/format';
import { plain } from '../text/label';
import { useSheet } from '../ui/load';
import { hasSheet } from '../ui/tab';

export interface Verdict {
	name: string;
	blocks?: number;
	threads?: number;
	verdict: string; // the rule: "dram"
	why: string;
	advice: string;
	loss?: number; // share of its time, at most
	evidence: [key: string, about: string, value: number, unit: string][];
	also: string[];
}

interface VerdictSheet {
	kernels: Verdict[];
}

export const hasVerdicts = (info: Info): boolean => hasSheet(info, 'kernels', 'verdicts');

/* "64x4x1", "[64, 4, 1]", "64×4×1": how many in all. */
const all = (v: string | undefined): number | undefined =>
	v?.match(/\d+/g)?.reduce((n, d) => n * Number(d), 1);

const found = new WeakMap<VerdictSheet, Map<string, Verdict[]>>();

function byName(sheet: VerdictSheet): Map<string, Verdict[]> {
	let map = found.get(sheet);

	if (!map) {
		map = new Map();
		for (const k of sheet.kernels) map.set(k.name, [...(map.get(k.name) ?? []), k]);
		found.set(sheet, map);
	}
	return map;
}

function verdictOf(sheet: VerdictSheet, name: string, grid?: string, block?: string): Verdict | null {
	const of = byName(sheet).get(name) ?? [];

	return of.find(k => k.blocks === all(grid) && k.threads === all(block)) ?? of[0] ?? null;
}

/* What is known of a kernel that was launched so; null until it is there. */
export function useVerdict(app: App, name: string, grid?: string, block?: string): Verdict | null {
	const { value } = useSheet<VerdictSheet>(app, 'kernels', 'verdicts');

	return value && verdictOf(value, name, grid, block);
}

export function VerdictText({ v }: { v: Verdict }) {
	return (
		<>
			<p>{sentence(plain(v.why))}</p>
			<p class="muted">
				{sentence(plain(v.advice))}
				{v.loss ? ` (up to ${percent(v.loss)} of its time)` : ''}
			</p>
			{v.also.map(a => (
				<p class="muted" key={a}>
					{sentence(plain(a))}
				</p>
			))}
			<dl class="kv">
				{v.evidence.map(([key, about, n, unit]) => (
					<div key={key}>
						<dt title={about}>{key.replace(/_/g, ' ')}</dt>
						<dd>
							{number(n)} {unit}
						</dd>
					</div>
				))}
			</dl>
		</>
	);
}

/* In the drawer, below what the trace says of the slice. */
export function KernelDetails({ app, detail }: { app: App; detail: Detail }) {
	const kernel = app.byTrack.value.get(detail.track)?.kind === 'queue' || /kernel/i.test(detail.cat),
		arg = (key: string) => detail.args.find(a => a[0] === key)?.[1],
		v = useVerdict(app, detail.name, arg('grid'), arg('block'));

	if (!v || !kernel) return null;
	return (
		<section aria-label="Verdict">
			<h3 class="muted">What it is bound by</h3>
			<VerdictText v={v} />
		</section>
	);
}

/* The table of kernels with a column for it, if anything is known. */
export function useVerdictColumn(app: App): (t: Table) => Table {
	const { value } = useSheet<VerdictSheet>(app, 'kernels', 'verdicts');

	return t => {
		const at = (key: string) => t.data[t.columns.findIndex(c => c.key === key)],
			names = at('name') ?? [],
			text = (cells: Cell[] | undefined, r: number) =>
				cells?.[r] == null ? undefined : String(cells[r]);
		const cells: Cell[] = names.map((n, r) => {
			const v = value && verdictOf(value, String(n), text(at('grid'), r), text(at('block'), r));

			return v ? sentence(v.why) : null;
		});
		const column: Column = {
			key: 'verdict',
			title: 'Verdict',
			type: 'text',
			wide: true,
			hint: 'what it is bound by',
		};

		return cells.some(c => c !== null)
			? { ...t, columns: [...t.columns, column], data: [...t.data, cells] }
			: t;
	};
}
