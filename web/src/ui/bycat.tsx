// bycat.tsx - tables of one kind of work: kernels with their launch geometry, ops, calls, tasks.

import type { App } from '../state/app';
import { Grid } from './grid';
import { Empty, Failure } from './kit';
import { useAnswer } from './load';

export interface Kind {
	id: string;
	title: string;
	cats: RegExp; // which categories are of this kind
	by: string[]; // arguments that tell apart
	hint: string;
}

export const KINDS: Kind[] = [
	{
		id: 'kernels',
		title: 'Kernels',
		cats: /kernel|gpu_mem|memcpy|memset/i,
		by: ['grid', 'block', 'registers per thread'],
		hint: 'by name and launch geometry',
	},
	{
		id: 'ops',
		title: 'Ops',
		cats: /cpu_op|^op$|operator|aten/i,
		by: ['input dims'],
		hint: 'by name and shape of the input',
	},
	{ id: 'tasks', title: 'Tasks', cats: /task|itt|^user/i, by: [], hint: 'what the program itself marked' },
];

/* Categories are matched one by one, so that names never count as such. */
const queryOf = (cats: string[]): string =>
	`cat:/^(${cats.map(c => c.replace(/[.*+?^${}()|[\]\\/\s]/g, m => (/\s/.test(m) ? '\\s' : `\\${m}`))).join('|')})$/`;

export const hasKind = (cats: string[], kind: Kind): boolean => cats.some(c => kind.cats.test(c));

export function ByKind({ app, kind }: { app: App; kind: Kind }) {
	const scope = app.scope.value,
		query = `${scope.query ?? ''} ${queryOf(app.info.value.cats.filter(c => kind.cats.test(c)))}`.trim();
	const { value, error } = useAnswer(app, 'aggregate', { scope: { ...scope, query }, by: kind.by });
	const name = app.detail.value?.name;

	if (error)
		return (
			<div class="page">
				<Failure app={app} text={error} />
			</div>
		);
	if (!value) return <div class="page" aria-busy="true" />;
	const t = value.slices,
		used = t.columns.map((c, i) => !c.key.startsWith('arg.') || t.data[i].some(v => v !== null));
	const table = {
		...t,
		columns: t.columns.filter((_, i) => used[i]),
		data: t.data.filter((_, i) => used[i]),
	};
	const longest = table.columns.findIndex(c => c.key === 'longest');

	return (
		<div class="page">
			<section class="card tall" aria-label={kind.title}>
				<header>
					<h2>{kind.title}</h2>
					<span class="muted">{kind.hint}</span>
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
