// sql.tsx - a question in SQL, its answer as a table or, where it has a number per row, as a chart.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Table } from '../source/contract';
import type { App } from '../state/app';
import { useKept } from '../state/kept';
import { number } from '../text/format';
import { plain } from '../text/label';
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

interface AsChart {
	label: string;
	counts: number[];
	names: string[];
	say(row: number): string;
}

/* The last column of numbers as bars, named by the first one of text. */
function asChart(t: Table): AsChart | null {
	const isText = (i: number) => t.data[i].some(v => typeof v === 'string'),
		all = t.columns.map((_, i) => i);
	const column = all.filter(i => !isText(i) && t.data[i].some(v => v !== null)).at(-1),
		name = all.find(isText);

	if (column === undefined || !t.rows) return null;
	const values = t.data[column].slice(0, MOST_BARS).map(v => Number(v ?? 0)),
		names = values.map((_, r) => (name === undefined ? String(r + 1) : String(t.data[name][r] ?? '')));

	return {
		label: t.columns[column].title,
		counts: values.map(v => Math.max(0, v)),
		names,
		say: r => `${plain(names[r])}: ${number(values[r])}`,
	};
}

const MOST_BARS = 200;

export function Sql({ app }: { app: App }) {
	const [asked, setAsked] = useKept<string>(app, 'sql', ''),
		[as, setAs] = useKept<'table' | 'chart'>(app, 'sql.as', 'table');
	const [text, setText] = useState(asked || FIRST),
		[at, setAt] = useState(0),
		[table, setTable] = useState<Table | null>(null);
	const [error, setError] = useState(''),
		[busy, setBusy] = useState(false);
	const box = useRef<HTMLTextAreaElement>(null),
		words = useAnswer(app, 'words', {}),
		can = app.info.value.can.sql;
	const run = () => {
		setBusy(true);
		setAsked(text.length < 2000 ? text : '');
		app.source
			.ask('sql', { text })
			.then(t => {
				setTable(t);
				setError('');
			})
			.catch(e => setError(e instanceof Error ? e.message : String(e)))
			.finally(() => setBusy(false));
	};

	/* A link holds the question, not the answer. */
	useEffect(() => {
		if (asked && can) run();
	}, []);
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
								label={`${chart.label} of ${chart.counts.length} rows${table.rows > MOST_BARS ? `, the first of ${table.rows}` : ''}`}
								series={[chart]}
								low={0}
								high={chart.counts.length}
								log={false}
								logCount={false}
								unit={number}
								names={chart.names}
								say={chart.say}
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
