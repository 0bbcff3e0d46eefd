// welcome.tsx - the first page: what one can do here, and the latest results.

import { useMemo, useState } from 'preact/hooks';
import type { Table } from '../source/contract';
import { Grid } from '../ui/grid';
import { Empty } from '../ui/kit';
import { Link, Panel } from './parts';
import { openMenu, resultActs } from './rail';
import { CONFIGURE, go, resultAddress } from './route';
import { current, desk, dialog, everyResult, find, projects, remembered, server } from './store';
import { badge } from './words';

const COLUMNS: Table['columns'] = [
	{ key: 'name', title: 'Result', type: 'name' },
	{ key: 'project', title: 'Project', type: 'text' },
	{
		key: 'state',
		title: 'State or verdict',
		type: 'text',
		hint: 'what is under way, what went wrong, else what it found',
	},
	{ key: 'analysis', title: 'Analysis', type: 'text' },
	{ key: 'program', title: 'Program', type: 'text', wide: true },
	{ key: 'length', title: 'Ran', type: 'time' },
	{ key: 'bytes', title: 'Size', type: 'bytes' },
	{ key: 'made', title: 'Made', type: 'text' },
	{ key: 'why', title: 'Why', type: 'text', wide: true },
];

const two = (n: number): string => String(n).padStart(2, '0');

/* A time that sorts as text. */
function stamp(made: number): string {
	const d = new Date(made * 1000);

	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

function Results() {
	const all = everyResult.value,
		[picked, pick] = useState(-1);
	const table = useMemo<Table>(
		() => ({
			columns: COLUMNS,
			rows: all.length,
			data: [
				all.map(r => r.name),
				all.map(r => r.project),
				all.map(r => badge(r)?.text ?? 'done'),
				all.map(r => r.analysis || 'imported'),
				all.map(r => r.program || null),
				all.map(r => (r.seconds === undefined ? null : r.seconds * 1e9)),
				all.map(r => r.bytes),
				all.map(r => stamp(r.made)),
				all.map(r => r.trouble || null),
			],
		}),
		[all],
	);
	const one = all[picked];

	return (
		<Panel
			title="All results"
			class="tall"
			head={
				<span class="row tight">
					<button
						type="button"
						class="btn sm"
						disabled={!one}
						onClick={() => go(resultAddress(one.project, one.name))}>
						Open
					</button>
					<button
						type="button"
						class="btn sm"
						disabled={!one}
						onClick={e => {
							const now = find(one.project, one.name);

							if (now) openMenu(e.currentTarget, resultActs(one.project, now));
						}}>
						More ▾
					</button>
				</span>
			}
			help={
				<p>
					Every result of every project. Click chooses one, a double click or Enter opens it; the
					titles of columns sort. The filter looks at all texts.
				</p>
			}>
			<Grid
				app={desk}
				table={table}
				label="All results"
				file="results"
				sort="made"
				selected={r => r === picked}
				onPick={pick}
				onOpen={r => go(resultAddress(all[r].project, all[r].name))}
				flag={(r, key) =>
					key === 'state' && all[r].state === 'failed' ? { tone: 'bad', why: all[r].trouble } : null
				}
			/>
		</Panel>
	);
}

export function Welcome() {
	const profiling = server.value?.profiling,
		any = everyResult.value.length > 0;

	return (
		<div class="page welcome">
			<Panel
				title="Welcome"
				class="first"
				help={
					<>
						<p>
							Make a project, configure an analysis, start it (paused, if the program says when
							to begin), and look at the result.
						</p>
						<p>
							Traces that were recorded elsewhere are imported, from this computer or by path.
						</p>
					</>
				}>
				<div class="body starters">
					<Link to={CONFIGURE} class="btn pri big">
						▶ Configure Analysis…
					</Link>
					<button
						type="button"
						class="btn big"
						onClick={() => (dialog.value = { kind: 'project' })}>
						New Project…
					</button>
					<button type="button" class="btn big" onClick={() => (dialog.value = { kind: 'import' })}>
						Import…
					</button>
					<button
						type="button"
						class="btn big"
						disabled={everyResult.value.length < 2}
						onClick={() =>
							(dialog.value = { kind: 'compare', project: current.value, result: '' })
						}>
						Compare Results…
					</button>
					<button type="button" class="btn big" onClick={() => (dialog.value = { kind: 'tour' })}>
						{remembered('toured') ? 'Tour' : 'Take the tour (1 min)'}
					</button>
				</div>
				<p class="body muted">
					{current.value && (
						<>
							Current project: <b>{current.value}</b>.{' '}
						</>
					)}
					{profiling
						? 'Programs are run on this machine with your rights.'
						: 'This server shows results and starts nothing: restart it with --enable-server-profiling to run programs.'}
				</p>
			</Panel>
			{any && <Results />}
			{projects.value && !any && (
				<section class="card" aria-label="Nothing here yet">
					<Empty title="Nothing has been recorded here yet.">
						<p>
							{profiling
								? 'Configure an analysis: choose a program and an analysis such as Hotspots, then Start. Its result appears at the left.'
								: 'Import a trace, or put a folder of traces into a project of the data directory.'}
						</p>
					</Empty>
				</section>
			)}
		</div>
	);
}
