// ranks.tsx - the tab of a parallel job: which rank makes the others wait, what the time of each goes to,
// along the run too, and what is sent where. Tables are those of `unitrace ranks`; the sheet is written
// by src/analysis/view/ranks_sheet.c.

import { useMemo } from 'preact/hooks';
import { exactly } from '../source/query';
import type { ChartData, Table } from '../source/contract';
import type { App } from '../state/app';
import { useKept } from '../state/kept';
import { bytes, count, many, percent, short, time } from '../text/format';
import { plain } from '../text/label';
import { Grid } from '../ui/grid';
import { Heat, type HeatCell } from '../ui/heat';
import { cell, Empty, Pending, Segments, Tile } from '../ui/kit';
import { useSheet } from '../ui/load';
import { Plot } from '../plot/plot';
import { hasSheet, type Tab } from '../ui/tab';

const TOOL = 'ranks',
	LITTLE = 0.02, // of the ranks' time: src/analysis/ranks/ranks_summary.c judges by the same
	MUCH = 0.1,
	LOW = 0.8, // an efficiency below is worth a look: POP's own limit
	BARS = 128; // ranks with a bar of their own

/* Who, and from when to when. */
type At = [rank: number, t0: number, t1: number];

interface Course {
	each: number; // ranks of a place
	places: string[];
	edges: number[];
	useful: number[]; // [place * pieces + piece], ns of all its ranks
	wait: number[];
	transfer: number[];
	other: number[];
	least: number[]; // useful time of a rank, piece by piece
	most: number[];
	mean: number[];
	most_rank: number[];
}

interface Field {
	from: number; // place: sends, or is waited for
	to: number; // receives, or waits
	messages: number;
	bytes: number;
	wait: number;
	waiting: number;
	for?: number; // of the longest wait: the rank that was waited for
	at?: At;
}

interface RanksSheet {
	nothing?: string; // why there is nothing else
	verdict: string;
	say: string;
	doubts: string[];
	whole: boolean; // all ranks are here
	unfinished: boolean; // some did not end as they should
	run: number;
	total: number;
	wait: number;
	ranks: Table;
	calls: Table;
	tasks: Table;
	waits: Table;
	matrix: Table;
	efficiency: Table;
	steps: Table;
	critical_path: Table;
	collectives: Table;
	clocks: Table;
	waits_at: At[];
	steps_at: At[];
	course: Course;
	map: { each: number; places: string[]; fields: Field[] };
}

const num = (t: Table, row: number, key: string): number => Number(cell(t, row, key) ?? 0);
const rowsOf = (t: Table): number[] => Array.from({ length: t.rows }, (_, i) => i);

/* ---- to the timeline ------------------------------------------------------------------------ */

/* The call that somebody waited in becomes the selection; without one, the time and the rank are shown. */
async function show(app: App, [rank, t0, t1]: At, name?: string): Promise<void> {
	const room = Math.max(1, (t1 - t0) * 0.5);

	app.visit({ range: [t0 - room, t1 + room] });
	const found = await app.source.ask('search', {
		query: `rank:${rank}${name === undefined ? '' : ` ${exactly(name)}`}`,
		limit: 50,
		scope: { ranges: [[t0, t1]] },
	});
	const hit = found.list.reduce<(typeof found.list)[0] | null>(
		(a, e) => (!a || Math.abs(e.t - t0) < Math.abs(a.t - t0) ? e : a),
		null,
	);

	if (hit) app.select(hit.id, true);
}

const go = (app: App, at: At | undefined, name?: string): void => {
	if (at) show(app, at, name).catch(e => app.fail(e));
};

interface PartProps {
	app: App;
	sheet: RanksSheet;
	rank: string; // that is looked at; '' = none
	choose(r: string): void;
}

/* ---- the head ------------------------------------------------------------------------------- */

function Head({ app, sheet }: { app: App; sheet: RanksSheet }) {
	const share = sheet.total ? sheet.wait / sheet.total : 0,
		tone = sheet.unfinished || share >= MUCH ? 'bad' : share < LITTLE ? '' : 'warn';

	return (
		<section class={`verdict ${tone}`} aria-label="Verdict">
			<div>
				<p class="h">{plain(sheet.verdict)}</p>
				<p class="e">{plain(sheet.say)}</p>
				{sheet.doubts.map(d => (
					<p class="e" key={d}>
						{plain(d)}
					</p>
				))}
			</div>
			<span class="grow" />
			{sheet.waits.rows > 0 && (
				<button
					type="button"
					class="btn"
					onClick={() => go(app, sheet.waits_at[0], String(cell(sheet.waits, 0, 'call')))}>
					Show it
				</button>
			)}
		</section>
	);
}

const title = (key: string): string => {
	const words = key.replace(/_/g, ' ');

	return words[0].toUpperCase() + words.slice(1);
};

/* Of some ranks alone it is no judgement: their waits for others count as transfer. */
function Efficiency({ of, whole }: { of: Table; whole: boolean }) {
	return (
		<div class="tiles">
			{rowsOf(of).map(r => {
				const value = num(of, r, 'value');

				return (
					<Tile
						key={r}
						title={title(String(cell(of, r, 'metric')))}
						value={percent(value)}
						say={plain(String(cell(of, r, 'meaning')))}
						tone={whole && value < LOW ? 'warn' : undefined}
					/>
				);
			})}
		</div>
	);
}

/* ---- the time of each rank ------------------------------------------------------------------ */

const PARTS: [title: string, colour: number, of: (t: Table, r: number) => number][] = [
	['useful', 1, (t, r) => num(t, r, 'useful')],
	['transfer', 5, (t, r) => num(t, r, 'transfer')],
	['waits', 2, (t, r) => num(t, r, 'wait')],
	[
		'other calls',
		10,
		(t, r) => Math.max(0, num(t, r, 'in_calls') - num(t, r, 'transfer') - num(t, r, 'wait')),
	],
];

/* Rows that share a bar: neighbours, where there are more ranks than bars. */
function bars(t: Table): number[][] {
	const each = Math.max(1, Math.ceil(t.rows / BARS)),
		out: number[][] = [];

	for (let r = 0; r < t.rows; r += each) out.push(rowsOf(t).slice(r, r + each));
	return out;
}

function rankChart(t: Table): ChartData {
	const of = bars(t),
		rank = (r: number) => count(num(t, r, 'rank'));
	const mean = (rows: number[], value: (t: Table, r: number) => number) =>
		rows.reduce((s, r) => s + value(t, r), 0) / rows.length;

	return {
		title: 'Time of each rank',
		note:
			of[0]?.length > 1
				? `Each bar is the mean of ${many(of[0].length, 'rank')}; the table has all.`
				: undefined,
		stacked: true,
		sideways: false,
		x: {
			title: 'Rank',
			numbers: 'short',
			log: false,
			names: of.map(b => (b.length > 1 ? `${rank(b[0])}-${rank(b[b.length - 1])}` : rank(b[0]))),
		},
		y: { numbers: 'ns', log: false },
		series: PARTS.map(([name, colour, value]) => ({
			kind: 'bars' as const,
			name,
			colour,
			y: of.map(b => mean(b, value)),
			notes: of.map(
				b =>
					`rank ${rank(b[0])}: ${name} ${time(mean(b, value))}, ${percent(
						mean(b, value) /
							Math.max(
								1,
								mean(b, (x, r) => num(x, r, 'total')),
							),
					)}`,
			),
		})),
	};
}

function EachRank({ app, sheet, rank, choose }: PartProps) {
	const t = sheet.ranks,
		chart = useMemo(() => rankChart(t), [t]),
		of = useMemo(() => bars(t), [t]);

	return (
		<section class="card" aria-label="Time of each rank">
			<header>
				<h2>Time of each rank</h2>
				<span class="muted">between the begin and the end of the job</span>
			</header>
			<div class="body">
				<Plot
					app={app}
					data={chart}
					file="ranks"
					height={260}
					chosen={(_, at) => of[at].some(r => String(cell(t, r, 'rank')) === rank)}
					onPick={(_, at) => choose(String(cell(t, of[at][0], 'rank')))}
				/>
			</div>
		</section>
	);
}

/* ---- who does what to whom ------------------------------------------------------------------ */

type Measure = 'waiting' | 'bytes' | 'messages';

const MEASURES: Record<
	Measure,
	{ title: string; hint: string; say(v: number): string; in(v: number): string }
> = {
	waiting: {
		title: 'Waiting',
		hint: 'rows are waited for, columns wait',
		say: v => time(v, 3),
		in: v => time(v, 2),
	},
	bytes: {
		title: 'Bytes',
		hint: 'rows send, columns receive',
		say: v => bytes(v, 3),
		in: v => bytes(v, 2),
	},
	messages: { title: 'Messages', hint: 'rows send, columns receive', say: count, in: short },
};

function cellsOf(map: RanksSheet['map'], m: Measure): HeatCell[] {
	const at = new Map(map.fields.map(f => [`${f.to},${f.from}`, f])),
		n = map.places.length;

	return Array.from({ length: n * n }, (_, i) => {
		const x = i % n,
			y = Math.floor(i / n),
			value = at.get(`${x},${y}`)?.[m] ?? 0;

		return {
			x,
			y,
			value,
			label:
				m === 'waiting'
					? `${map.places[x]} waits for ${map.places[y]}: ${MEASURES[m].say(value)}`
					: `from ${map.places[y]} to ${map.places[x]}: ${MEASURES[m].say(value)}`,
		};
	});
}

function WhoWhom({ app, sheet, rank, choose }: PartProps) {
	const map = sheet.map,
		[kept, set] = useKept<Measure | ''>(app, 'ranks.map', ''),
		m: Measure = kept || (map.fields.some(f => f.waiting) ? 'waiting' : 'bytes'),
		cells = useMemo(() => cellsOf(map, m), [map, m]),
		most = cells.reduce((a, c) => (c.value! > a.value! ? c : a), cells[0]),
		every = Math.ceil(map.places.length / 16); // with a name above it
	const field = (c: HeatCell) => map.fields.find(f => f.from === c.y && f.to === c.x);

	return (
		<section class="card" aria-label="Who does what to whom">
			<header>
				<h2>{m === 'waiting' ? 'Who waits for whom' : 'Who sends to whom'}</h2>
				<span class="muted">
					{MEASURES[m].hint}
					{map.each > 1 ? `; each place is ${many(map.each, 'rank')}` : ''}
				</span>
				<span class="grow" />
				<Segments
					label="What the picture shows"
					of={(Object.keys(MEASURES) as Measure[]).map(id => ({ id, title: MEASURES[id].title }))}
					value={m}
					set={set}
				/>
			</header>
			<Heat
				label={`${MEASURES[m].title} between ${many(map.places.length, 'place')}; the most: ${most?.label ?? 'none'}`}
				cells={cells}
				zero
				dense={map.places.length > 12}
				names={{
					every,
					x: n => map.places[n],
					y: n => map.places[n],
					corner: m === 'waiting' ? 'for\\by' : 'from\\to',
				}}
				show={v => (v && map.places.length <= 12 ? MEASURES[m].in(v) : '')}
				unit={MEASURES[m].say}
				selected={c => map.places[c.y] === rank}
				onPick={c => choose(map.places[c.y])}
				onOpen={c => go(app, field(c)?.at)}
			/>
			<p class="muted hintline">
				Choose a place to mark its rank; double click or Enter shows the longest wait.
			</p>
		</section>
	);
}

/* ---- along the run -------------------------------------------------------------------------- */

function usefulChart(c: Course): ChartData {
	const pieces = c.mean.length,
		long = (i: number) => Math.max(1, c.edges[i + 1] - c.edges[i]),
		part = (of: number[]) => of.map((v, i) => Math.min(100, (100 * v) / long(i)));

	return {
		title: 'Useful time along the run',
		stacked: false,
		sideways: false,
		x: { numbers: 'ns', log: false, low: c.edges[0], high: c.edges[pieces] },
		y: { title: '%', numbers: 'short', log: false, low: 0, high: 100 },
		series: [
			{
				kind: 'line',
				name: 'useful time of ranks: mean, and from the least to the most',
				x: c.mean.map((_, i) => (c.edges[i] + c.edges[i + 1]) / 2),
				y: part(c.mean),
				low: part(c.least),
				high: part(c.most),
				colour: 1,
			},
		],
	};
}

function courseCells(c: Course): HeatCell[] {
	const pieces = c.mean.length;

	return c.wait.map((wait, i) => {
		const x = i % pieces,
			y = Math.floor(i / pieces),
			all = wait + c.useful[i] + c.transfer[i] + c.other[i],
			value = all ? wait / all : null;

		return {
			x,
			y,
			value,
			label: `rank ${c.places[y]}, ${time(c.edges[x])} to ${time(c.edges[x + 1])}: ${value === null ? 'nothing' : `waits ${percent(value)}`}`,
		};
	});
}

function Along({ app, sheet, rank, choose }: PartProps) {
	const c = sheet.course,
		chart = useMemo(() => usefulChart(c), [c]),
		cells = useMemo(() => courseCells(c), [c]),
		open = (at: HeatCell) => go(app, [parseInt(c.places[at.y], 10), c.edges[at.x], c.edges[at.x + 1]]);
	const worst = cells.reduce((a, b) => ((b.value ?? 0) > (a.value ?? 0) ? b : a), cells[0]);

	return (
		<section class="card" aria-label="Imbalance along the run">
			<header>
				<h2>Imbalance along the run</h2>
				<span class="muted">the wider the band, the less equal the work; below, who waits when</span>
			</header>
			<div class="body">
				<Plot app={app} data={chart} file="useful" height={120} />
			</div>
			<Heat
				label={`How much ranks wait along the run; the most: ${worst?.label ?? 'nobody'}`}
				cells={cells}
				zero
				dense
				names={{
					every: 10,
					x: n => time(c.edges[n], 3),
					y: n => c.places[n],
					corner: 'rank',
				}}
				show={() => ''}
				unit={percent}
				selected={at => c.places[at.y] === rank}
				onPick={at => choose(c.places[at.y])}
				onOpen={open}
			/>
			<p class="muted hintline">Double click or Enter shows that time of that rank.</p>
		</section>
	);
}

/* ---- tables --------------------------------------------------------------------------------- */

function Waits({ app, sheet, rank }: { app: App; sheet: RanksSheet; rank: string }) {
	const t = sheet.waits;

	if (!t.rows) return null;
	return (
		<section class="card" aria-label="What was waited for">
			<header>
				<h2>What was waited for</h2>
				<span class="muted">double click: the longest of these waits, in the timeline</span>
			</header>
			<Grid
				app={app}
				table={t}
				label="What was waited for"
				file="waits"
				sort="wait"
				selected={r => String(cell(t, r, 'rank')) === rank}
				onOpen={r => go(app, sheet.waits_at[r], String(cell(t, r, 'call')))}
			/>
		</section>
	);
}

type Which = 'ranks' | 'tasks' | 'calls' | 'matrix' | 'steps' | 'critical_path' | 'collectives' | 'clocks';

const TABLES: Record<Which, { title: string; sort: string }> = {
	ranks: { title: 'Ranks', sort: 'caused' },
	tasks: { title: 'Tasks', sort: 'caused' },
	calls: { title: 'Calls', sort: 'time' },
	matrix: { title: 'Messages', sort: 'sent' },
	steps: { title: 'Steps', sort: 'wait' },
	critical_path: { title: 'Critical path', sort: 'time' },
	collectives: { title: 'Collectives', sort: 'spent' },
	clocks: { title: 'Clocks', sort: 'error' },
};

/* The longest of a rank's waits, in its own calls. */
const waitOf = (sheet: RanksSheet, rank: number): At | undefined => {
	const row = rowsOf(sheet.waits).find(r => num(sheet.waits, r, 'rank') === rank);

	return row === undefined ? undefined : sheet.waits_at[row];
};

function Tables({ app, sheet, rank, choose }: PartProps) {
	const [kept, set] = useKept<Which>(app, 'ranks.table', 'ranks'),
		there = (Object.keys(TABLES) as Which[]).filter(k => sheet[k].rows > 0),
		which = there.includes(kept) ? kept : 'ranks',
		t = sheet[which],
		column = t.columns.some(c => c.key === 'rank') ? 'rank' : which === 'steps' ? 'critical' : '';
	const shown = useMemo(() => new Set(t.columns.filter(c => !c.wide).map(c => c.key)), [t]);

	return (
		<section class="card" aria-label="Tables">
			<header>
				<Segments
					label="Which table"
					of={there.map(id => ({ id, title: TABLES[id].title }))}
					value={which}
					set={set}
				/>
				<span class="grow" />
				<span class="muted opt cut">
					the same: <code>unitrace ranks {plain(app.info.value.cli ?? '')}</code>
				</span>
			</header>
			<Grid
				key={which}
				app={app}
				table={t}
				label={TABLES[which].title}
				file={`ranks-${which}`}
				sort={TABLES[which].sort}
				first={shown}
				selected={r => column !== '' && String(cell(t, r, column)) === rank}
				onPick={r => column && cell(t, r, column) !== null && choose(String(cell(t, r, column)))}
				onOpen={r => {
					if (which === 'steps') go(app, sheet.steps_at[r]);
					else if (which === 'ranks') go(app, waitOf(sheet, num(t, r, 'rank')));
					else if (which === 'tasks') app.visit({ query: exactly(String(cell(t, r, 'task'))) });
					else if (which === 'calls') app.visit({ query: exactly(String(cell(t, r, 'call'))) });
				}}
			/>
		</section>
	);
}

/* ---- the tab -------------------------------------------------------------------------------- */

function RanksTab({ app }: { app: App }) {
	const { value: sheet, error } = useSheet<RanksSheet>(app, TOOL, TOOL),
		[rank, choose] = useKept(app, 'ranks.rank', '');

	if (error || !sheet) return <Pending app={app} error={error} />;
	if (sheet.nothing)
		return (
			<Empty title="Nothing is known about what these ranks do to each other.">
				<p>{plain(sheet.nothing)}</p>
				<p>
					<code>mpiexec -n 4 unitrace --chrome-mpi-logging --chrome-itt-logging ./app</code>
				</p>
			</Empty>
		);
	const of = { app, sheet, rank, choose };

	return (
		<div class="page">
			<Head app={app} sheet={sheet} />
			<Efficiency of={sheet.efficiency} whole={sheet.whole} />
			<div class="two free">
				<EachRank {...of} />
				<WhoWhom {...of} />
			</div>
			<Waits {...of} />
			<Along {...of} />
			<Tables {...of} />
		</div>
	);
}

export const RANKS_TABS: Tab[] = [
	{ id: TOOL, title: 'Ranks', needs: info => hasSheet(info, TOOL, TOOL), view: RanksTab },
];
