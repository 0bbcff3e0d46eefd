// flametab.tsx - trees of the whole scope: flame graph in three orders, and the same as tables.

import type { Column, Table, Tree, TreeKind } from '../source/contract';
import type { App } from '../state/app';
import { useKept } from '../state/kept';
import { time } from '../text/format';
import { plain } from '../text/label';
import { Flame } from './flame';
import { Grid } from './grid';
import { Empty, Failure, Segments, Thinned } from './kit';
import { exactly, useAnswer } from './load';

type Order = 'time-order' | 'top-down' | 'sandwich' | 'bottom-up' | 'table';

/* A tree as a table of rows that open. */
export function treeTable(t: Tree, bottomUp: boolean): { table: Table; parents: number[] } {
	const rows = t.parent.map((_, i) => i).slice(1),
		pick = <T,>(of: T[]) => rows.map(i => of[i]);
	const column = (key: string, title: string, type: Column['type']): Column => ({ key, title, type });

	return {
		parents: rows.map(i => t.parent[i] - 1),
		table: {
			rows: rows.length,
			more: t.left,
			columns: [
				column('name', 'Name', 'name'),
				column('total', bottomUp ? 'Self time' : 'Total', 'time'),
				column('share', bottomUp ? 'Share of self' : 'Share of all', 'share'),
				column('count', 'Count', 'count'),
				column('type', 'Type', 'number'),
				...(bottomUp ? [] : [column('self', 'Self', 'time')]),
			],
			data: [
				pick(t.name),
				pick(t.total),
				rows.map(i => t.total[i] / (t.total[0] || 1)),
				pick(t.count),
				pick(t.type),
				...(bottomUp ? [] : [pick(t.self)]),
			],
		},
	};
}

/* Names on the left; of the chosen one what it ran in, and what ran in it. */
function Sandwich({ app, name, choose }: { app: App; name: string; choose(name: string): void }) {
	const scope = app.scope.value;
	const up = useAnswer(app, 'tree', { scope, kind: 'callers', name, nodes: 2000 });
	const down = useAnswer(app, 'tree', { scope, kind: 'callees', name, nodes: 2000 });
	const names = useAnswer(app, 'aggregate', { scope }),
		error = up.error || down.error || names.error;

	if (error) return <Failure app={app} text={error} />;
	const t = names.value?.slices,
		keep =
			t?.columns
				.map((c, i) => (['name', 'total', 'self', 'type'].includes(c.key) ? i : -1))
				.filter(i => i >= 0) ?? [];
	const table = t && { ...t, columns: keep.map(i => t.columns[i]), data: keep.map(i => t.data[i]) };

	return (
		<div class="sandwich">
			{table ? (
				<Grid
					app={app}
					table={table}
					label="Names"
					file="names"
					sort="self"
					selected={r => table.data[0][r] === name}
					onPick={r => choose(String(table.data[0][r]))}
				/>
			) : (
				<div />
			)}
			<div class="bread">
				<h3>What it ran in</h3>
				{up.value && <Flame app={app} tree={up.value} label="Callers" upside onPick={choose} />}
				<h3>What ran in it</h3>
				{down.value && <Flame app={app} tree={down.value} label="Callees" onPick={choose} />}
			</div>
		</div>
	);
}

export function FlameTab({ app }: { app: App }) {
	const [order, set] = useKept<Order>(app, 'flame', 'top-down'),
		[name, setName] = useKept(app, 'flame.name', app.detail.value?.name ?? '');
	const kind: TreeKind = order === 'table' || order === 'sandwich' ? 'top-down' : order;
	const ask = { scope: app.scope.value, kind, nodes: 4000 },
		loaded = useAnswer(app, 'tree', ask),
		value = exactly(loaded, ask),
		{ error } = loaded;
	const heaviest =
		value?.name
			.map((n, i) => [n, value.self[i]] as const)
			.slice(1)
			.sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
	const chosen = name || heaviest;
	const asTable =
		value && (order === 'table' || order === 'bottom-up')
			? treeTable(value, order === 'bottom-up')
			: null;

	return (
		<div class="page">
			<section class="card tall" aria-label="Flame graph" aria-busy={loaded.busy}>
				<header>
					<h2>Flame graph</h2>
					<Thinned app={app} />
					<Segments
						label="Order"
						value={order}
						set={set}
						of={[
							{ id: 'time-order', title: 'Time order' },
							{ id: 'top-down', title: 'Left heavy' },
							{ id: 'sandwich', title: 'Sandwich' },
							{ id: 'table', title: 'Top-down' },
							{ id: 'bottom-up', title: 'Bottom-up' },
						]}
					/>
					{order === 'sandwich' && <span class="mono ellipsis">{plain(chosen).slice(0, 200)}</span>}
					<span class="grow" />
					<span class="muted num">{value ? time(value.total[0]) : ''}</span>
				</header>
				{error ? (
					<Failure app={app} text={error} />
				) : !value ? null : value.parent.length < 2 ? (
					<Empty title="No slices are nested here." />
				) : order === 'sandwich' ? (
					<Sandwich app={app} name={chosen} choose={setName} />
				) : asTable ? (
					<Grid
						app={app}
						key={order}
						table={asTable.table}
						parents={asTable.parents}
						label="Tree"
						file={`tree-${order}`}
						sort="total"
						selected={row => asTable.table.data[0][row] === name}
						onPick={row => setName(String(asTable.table.data[0][row]))}
						onOpen={row => {
							app.zone.value = String(asTable.table.data[0][row]);
							app.tab.value = 'zone';
						}}
					/>
				) : (
					<div class="scroll pad">
						<Flame
							app={app}
							tree={value}
							label={`Flame graph, ${order}`}
							onPick={n => n !== 'all' && setName(n)}
						/>
						{value.left > 0 && <p class="dim">{value.left} smaller ones are not listed.</p>}
					</div>
				)}
			</section>
		</div>
	);
}
