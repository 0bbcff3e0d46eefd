// sql.tsx - a question in SQL, its answer as a table or, where it has a number per row, as a chart.

import { useRef, useState } from 'preact/hooks';
import type { Table } from '../source/contract';
import type { App } from '../state/app';
import { number } from '../text/format';
import { Chart } from './chart';
import { Grid } from './grid';
import { Empty, Failure, Segments } from './kit';
import { useAnswer } from './load';

const FIRST =
	'select name, count(*) as n, sum(dur) as total\nfrom slice\ngroup by name\norder by total desc\nlimit 50';
const WORDS = [
	'select',
	'from',
	'where',
	'group by',
	'order by',
	'limit',
	'join',
	'count(*)',
	'sum(dur)',
	'avg(dur)',
	'slice',
	'track',
	'thread',
	'process',
	'counter',
	'flow',
	'args',
	'name',
	'dur',
	'ts',
	'track_id',
	'desc',
];

/* Endings of the word before the caret. */
function completions(text: string, at: number, words: string[]): string[] {
	const word = /[\w:]+$/.exec(text.slice(0, at))?.[0].toLowerCase() ?? '';

	return word.length < 2
		? []
		: [...WORDS, ...words]
				.filter(w => w.toLowerCase().startsWith(word) && w.toLowerCase() !== word)
				.slice(0, 8);
}

function asChart(t: Table): { label: string; counts: number[] } | null {
	const column = t.columns.findIndex(
		(c, i) =>
			c.type !== 'name' &&
			c.type !== 'text' &&
			t.data[i].every(v => v === null || typeof v === 'number'),
	);

	return column < 0 || !t.rows
		? null
		: {
				label: t.columns[column].title,
				counts: t.data[column].slice(0, 200).map(v => Math.max(0, Number(v))),
			};
}

export function Sql({ app }: { app: App }) {
	const [text, setText] = useState(FIRST),
		[at, setAt] = useState(0),
		[table, setTable] = useState<Table | null>(null);
	const [error, setError] = useState(''),
		[busy, setBusy] = useState(false),
		[as, setAs] = useState<'table' | 'chart'>('table');
	const box = useRef<HTMLTextAreaElement>(null),
		words = useAnswer(app, 'words', {}),
		can = app.info.value.can.sql;
	const run = () => {
		setBusy(true);
		app.source
			.ask('sql', { text })
			.then(t => {
				setTable(t);
				setError('');
			})
			.catch(e => setError(e instanceof Error ? e.message : String(e)))
			.finally(() => setBusy(false));
	};
	const complete = (word: string) => {
		const from = at - (/[\w:]+$/.exec(text.slice(0, at))?.[0].length ?? 0);

		setText(text.slice(0, from) + word + text.slice(at));
		setAt(from + word.length);
		box.current?.focus();
	};
	const chart = table && asChart(table),
		list = completions(text, at, words.value ?? []);

	if (!can)
		return (
			<div class="page">
				<Empty title="SQL needs the program.">
					<p>
						This page holds its data itself. On a terminal:{' '}
						<code>unitrace query {app.info.value.cli ?? 'TRACE'} "select ..."</code>, or open the
						trace with <code>unitrace view</code>.
					</p>
				</Empty>
			</div>
		);
	return (
		<div class="page">
			<section class="card tall" aria-label="SQL">
				<header>
					<h2>SQL</h2>
					<span class="grow" />
					{chart && (
						<Segments
							label="Show as"
							value={as}
							set={setAs}
							of={[
								{ id: 'table', title: 'Table' },
								{ id: 'chart', title: 'Chart' },
							]}
						/>
					)}
					<button type="button" class="btn pri" disabled={busy} onClick={run}>
						Run <kbd>Ctrl Enter</kbd>
					</button>
				</header>
				<div class="sqlbox">
					<textarea
						ref={box}
						class="mono"
						rows={6}
						spellcheck={false}
						aria-label="SQL"
						value={text}
						onInput={e => {
							setText(e.currentTarget.value);
							setAt(e.currentTarget.selectionStart);
						}}
						onKeyDown={e => {
							if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
								e.preventDefault();
								run();
							}
							if (e.key === 'Tab' && list.length) {
								e.preventDefault();
								complete(list[0]);
							}
						}}
					/>
					<div class="completions" role="listbox" aria-label="Completions">
						{list.map(w => (
							<button
								type="button"
								role="option"
								aria-selected={false}
								key={w}
								class="chip"
								onClick={() => complete(w)}>
								{w}
							</button>
						))}
					</div>
				</div>
				{error ? (
					<Failure app={app} text={error} />
				) : (
					table &&
					(as === 'chart' && chart ? (
						<div class="body">
							<Chart
								label={`${chart.label} of ${chart.counts.length} rows`}
								series={[chart]}
								low={0}
								high={chart.counts.length}
								log={false}
								logCount={false}
								unit={number}
							/>
						</div>
					) : (
						<Grid app={app} table={table} label="Answer" file="query" />
					))
				)}
			</section>
		</div>
	);
}
