// bycat.tsx - tables of one kind of work: kernels with their launch geometry, ops, calls, tasks.

import type { Aggregates, Cell, Column, ColumnType, Table } from '../source/contract';
import type { App } from '../state/app';
import { useVerdictColumn } from '../tools/kernels';
import { Grid } from '../ui/grid';
import { Empty, Pending, Thinned } from '../ui/kit';
import { useAnswer } from '../ui/load';

export interface Kind {
	id: string;
	title: string;
	cats: RegExp; // which categories are of this kind
	by: Argument[]; // arguments that tell apart
	hint: string;
	device?: boolean; // shares are those of the devices' busy time
}

/* One thing that tools call differently. */
interface Argument {
	key?: string; // for programs, where it is not the title
	title: string;
	keys: string[];
	type: ColumnType;
	sum?: boolean; // the keys are parts of it
	percent?: boolean; // its values are of 100, a share is of 1
	wide?: boolean;
	hint?: string;
}

const text = (title: string, keys: string[], wide = false): Argument => ({ title, keys, type: 'text', wide });

const GEOMETRY: Argument[] = [
	text('Grid', ['grid', 'global size']),
	text('Block', ['block', 'local size']),
	{
		title: 'Registers',
		keys: ['registers', 'registers per thread'],
		type: 'number',
		wide: true,
		hint: 'for each thread',
	},
	{
		title: 'Shared',
		keys: ['shared memory', 'static shared memory', 'dynamic shared memory'],
		type: 'bytes',
		sum: true,
		wide: true,
		hint: 'shared memory of a block',
	},
	{
		key: 'occupancy',
		title: 'Theoretical occupancy',
		keys: ['occupancy %', 'est. achieved occupancy %'],
		type: 'share',
		percent: true,
		wide: true,
		hint: 'of the threads that a multiprocessor can hold, as the recorder says',
	},
];

export const KINDS: Kind[] = [
	{
		id: 'kernels',
		title: 'Kernels',
		cats: /kernel|gpu_mem|memcpy|memset|^copy$|^fill$/i,
		by: GEOMETRY,
		hint: 'by name and launch geometry',
		device: true,
	},
	{
		id: 'ops',
		title: 'Ops',
		cats: /cpu_op|^op$|operator|aten/i,
		by: [text('Inputs', ['Input Dims', 'input dims'])],
		hint: 'by name and shape of the input',
	},
	{ id: 'tasks', title: 'Tasks', cats: /task|itt|^user/i, by: [], hint: 'what the program itself marked' },
];

/* "[4,1,1]" and "4x1x1" are the same, and read as 4×1×1. */
const geometry = (v: string): string =>
	/^\[[\d,\s]+\]$/.test(v)
		? v.slice(1, -1).split(',').join('×').replace(/\s/g, '')
		: /^\d+(x\d+)+$/.test(v)
			? v.replace(/x/g, '×')
			: v;

function valueOf(a: Argument, cells: Cell[]): Cell {
	const said = cells.filter(c => c !== null);

	if (!said.length) return null;
	if (a.type === 'text') return geometry(String(said[0]));
	const all = said.map(Number).filter(n => !Number.isNaN(n));

	if (!all.length) return null;
	if (a.percent) return all[0] / 100;
	return a.sum ? all.reduce((x, y) => x + y, 0) : all[0];
}

/* Columns of the arguments, one for each thing, in front of what else there is; shares by the devices' time. */
export function kindTable(kind: Kind, a: Aggregates): Table {
	const t = a.slices,
		at = (key: string) => t.columns.findIndex(c => c.key === key);
	const own = t.columns
		.map((_, i) => i)
		.filter(i => !t.columns[i].key.startsWith('arg.') && !(kind.device && t.columns[i].key === 'self'));
	const busy = a.devices.data[a.devices.columns.findIndex(c => c.key === 'busy')] ?? [],
		sum = (of: readonly Cell[]) => of.reduce<number>((s, v) => s + Number(v), 0),
		worked = sum(t.data[at('total')] ?? []),
		many = t.data[at('total')]?.some(v => Number(v) > sum(busy)), // cores that work side by side
		all = many ? worked : sum(busy);
	const added = kind.by
		.map(b => ({ b, of: b.keys.map(k => t.data[at(`arg.${k}`)]).filter(Boolean) }))
		.map(({ b, of }) => ({
			b,
			cells: Array.from({ length: t.rows }, (_, r) =>
				valueOf(
					b,
					of.map(c => c[r]),
				),
			),
		}))
		.filter(({ cells }) => cells.some(v => v !== null));
	const share = (i: number) => kind.device && all > 0 && t.columns[i].key === 'share';

	return {
		...t,
		columns: [
			...own.map(i =>
				share(i)
					? {
							...t.columns[i],
							title: many ? 'Share of all' : 'Share of busy',
							hint: many
								? 'total by the total of all: cores work side by side'
								: 'total by the time that devices were busy',
						}
					: t.columns[i],
			),
			...added.map(({ b }): Column => ({
				key: b.key ?? b.title.toLowerCase(),
				title: b.title,
				type: b.type,
				...(b.wide ? { wide: true } : {}),
				...(b.hint ? { hint: b.hint } : {}),
			})),
		],
		data: [
			...own.map(i => (share(i) ? t.data[at('total')].map(v => Number(v) / all) : t.data[i])),
			...added.map(({ cells }) => cells),
		],
	};
}

/* Categories are matched one by one, so that names never count as such. */
const queryOf = (cats: string[]): string =>
	`cat:/^(${cats.map(c => c.replace(/[.*+?^${}()|[\]\\/\s]/g, m => (/\s/.test(m) ? '\\s' : `\\${m}`))).join('|')})$/`;

export const hasKind = (cats: string[], kind: Kind): boolean => cats.some(c => kind.cats.test(c));

export function ByKind({ app, kind }: { app: App; kind: Kind }) {
	const scope = app.scope.value,
		query = `${scope.query ?? ''} ${queryOf(app.info.value.cats.filter(c => kind.cats.test(c)))}`.trim();
	const { value, error } = useAnswer(app, 'aggregate', {
		scope: { ...scope, query },
		by: kind.by.flatMap(b => b.keys),
	});
	const name = app.detail.value?.name,
		judged = useVerdictColumn(app);

	if (error || !value) return <Pending app={app} error={error} />;
	const table = kind.device ? judged(kindTable(kind, value)) : kindTable(kind, value);
	const longest = table.columns.findIndex(c => c.key === 'longest');

	return (
		<div class="page">
			<section class="card tall" aria-label={kind.title}>
				<header>
					<h2>{kind.title}</h2>
					<span class="muted">{kind.hint}</span>
					<Thinned app={app} />
				</header>
				{table.rows ? (
					<Grid
						app={app}
						table={table}
						label={kind.title}
						file={kind.id}
						sort="total"
						selected={r => table.data[0][r] === name}
						onPick={r => app.select(Number(table.data[longest][r]))}
						onOpen={r => {
							app.tab.value = 'timeline';
							app.select(Number(table.data[longest][r]), true);
						}}
					/>
				) : (
					<Empty title={`No ${kind.title.toLowerCase()} in this range.`} />
				)}
			</section>
		</div>
	);
}
