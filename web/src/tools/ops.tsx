// ops.tsx - the tab of `unitrace ops`: every op of the report, host and device side by side.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { exactly } from '../source/query';
import type { Cell, Detail } from '../source/contract';
import type { App } from '../state/app';
import { count, percent, time } from '../text/format';
import { plain } from '../text/label';
import { Chart } from '../ui/chart';
import { Findings, useFindings, Verdict } from '../ui/findings';
import { Grid, shown } from '../ui/grid';
import { Empty, Name, Pending, Segments, Tile, type TileProps } from '../ui/kit';
import { useSheet } from '../ui/load';
import { hasSheet, type Tab } from '../ui/tab';
import { byOp, Ops, rowAt, type OpsSheet } from './ops_sheet';

const KERNELS = 'DEVICE KERNEL DURATION [ns]',
	HOST = 'HOST DURATION [ns]',
	GAP = 'OP TO OP LATENCY [ns]';
const BINS = 60;

const sum = (cells: Cell[], rows: number[]): number | null => {
	let total: number | null = null;

	for (const r of rows) if (typeof cells[r] === 'number') total = (total ?? 0) + cells[r];
	return total;
};

const said = (v: number | null): string => (v === null ? '–' : time(v));

/* A sheet is read once, however many views look at it. */
const read = new WeakMap<object, Ops>();

function opsOf(sheet: OpsSheet): Ops {
	let ops = read.get(sheet);

	if (!ops) read.set(sheet, (ops = new Ops(sheet)));
	return ops;
}

function useOps(app: App): { ops: Ops | null; error: string } {
	const { value, error } = useSheet<OpsSheet>(app, 'ops', 'ops');

	return { ops: value && opsOf(value), error };
}

/* ---- the selection, here and in the timeline ---- */

const isDevice = (app: App, d: Detail): boolean => app.byTrack.value.get(d.track)?.kind === 'queue';

/* Of a kernel the row of the op that led to it, of what lies in an op the row of that. */
function rowOf(app: App, ops: Ops, d: Detail | null): number {
	if (!d) return -1;
	const own = ops.rowOf(isDevice(app, d), d.t, d.name);
	const around = [...d.parents, ...d.chain].map(p => ops.rowOf(false, p.t, p.name));

	if (own >= 0) return own;
	return (
		around.find(r => r >= 0) ??
		(isDevice(app, d) || /kernel|gpu_/.test(d.cat) ? rowAt(ops, d.t, d.name) : -1)
	);
}

/* The event of a row: where it was called, else where it ran. */
async function selectRow(app: App, ops: Ops, row: number, reveal: boolean): Promise<void> {
	const t = ops.host[row] ?? ops.device[row],
		device = ops.host[row] === null;

	if (t === null) return app.select(null);
	const found = await app.source.ask('search', {
		query: exactly(ops.name(row)),
		limit: 1000,
		scope: { ranges: [[t, t + 1]] },
	});
	const kind = device ? 'queue' : 'thread';
	const hit = found.list.find(
		e => e.t === t && app.byTrack.value.get(Math.floor(e.id / 2 ** 32))?.kind === kind,
	);

	app.select(hit ? hit.id : null, reveal);
}

/* ---- parts ---- */

function tiles(ops: Ops, rows: number[]): TileProps[] {
	const host = sum(ops.column(HOST), rows),
		device = sum(ops.column(KERNELS), rows),
		gap = sum(ops.column(GAP), rows);
	const timed = rows.filter(r => ops.column(KERNELS)[r] !== null).length,
		problems = rows.filter(r => ops.column('PROBLEM')[r] ?? null).length,
		posts = rows.filter(r => ops.column('OP TYPE')[r] === 'signpost').length;

	return [
		{
			title: 'Ops',
			value: count(rows.length - posts),
			say: `${count(timed)} of them with device times${posts ? `, ${count(posts)} signposts` : ''}`,
		},
		{
			title: 'Host',
			value: said(host),
			say: host === null ? 'the host tells nothing' : 'an op inside another counts twice',
		},
		{
			title: 'Kernels',
			value: said(device),
			say: device === null ? 'no device times' : 'on all devices together',
		},
		{
			title: 'Between ops',
			value: said(gap),
			say:
				gap === null || !device
					? 'not known'
					: `${percent(gap / (gap + device))} of the devices' time`,
		},
		{
			title: 'Not whole',
			value: count(problems),
			say: problems ? 'column Problem says why' : 'every row is whole',
			tone: problems ? 'warn' : undefined,
		},
	];
}

type Chosen = [number, number] | null;

/* How long the calls took, as a histogram over a logarithmic axis. */
function histogram(cells: Cell[], rows: number[]) {
	const values = rows.map(r => cells[r]).filter((v): v is number => typeof v === 'number');
	let low = Infinity,
		high = 1;

	for (const v of values) {
		low = Math.min(low, Math.max(1, v));
		high = Math.max(high, v);
	}
	if (!values.length) return null;
	const counts = new Array<number>(BINS).fill(0),
		width = Math.log(high / low) || 1;

	for (const v of values)
		counts[Math.min(BINS - 1, Math.floor((Math.log(Math.max(1, v) / low) / width) * BINS))]++;
	return { low, high: high > low ? high : low + 1, counts, values };
}

interface LengthsProps {
	ops: Ops;
	rows: number[];
	of: string;
	setOf(key: string): void;
	chosen: Chosen;
	choose(range: Chosen): void;
}

function Lengths({ ops, rows, of, setOf, chosen, choose }: LengthsProps) {
	const h = useMemo(() => histogram(ops.column(of), rows), [ops, rows, of]);

	return (
		<section class="card" aria-label="How long calls take">
			<header>
				<h2>How long calls take</h2>
				<span class="muted">drag to choose</span>
				<span class="grow" />
				<Segments
					label="Of"
					value={of}
					set={setOf}
					of={[
						{ id: KERNELS, title: 'Kernels' },
						{ id: HOST, title: 'Host' },
					]}
				/>
			</header>
			{h ? (
				<div class="body">
					<Chart
						label={`${count(h.values.length)} calls, from ${time(h.low)} to ${time(h.high)}`}
						series={[{ label: of === HOST ? 'host' : 'kernels', counts: h.counts }]}
						low={h.low}
						high={h.high}
						log
						logCount
						unit={v => time(v, 3)}
						times
						chosen={chosen}
						onChoose={choose}
					/>
				</div>
			) : (
				<Empty title={of === HOST ? 'The host tells no times.' : 'There are no device times.'} />
			)}
		</section>
	);
}

/* Everything that the report says about a row. */
export function RowFacts({ ops, row }: { ops: Ops; row: number }) {
	return (
		<dl class="kv">
			{ops.columns.map(c => {
				const v = ops.column(c.key)[row];

				if (v === null || v === undefined || (v === 0 && / Count$/.test(c.key))) return null;
				return (
					<div key={c.key}>
						<dt title={c.key}>{plain(c.title)}</dt>
						<dd>{shown(c, v).slice(0, 2000)}</dd>
					</div>
				);
			})}
		</dl>
	);
}

/* Judged are: a row that is not whole, a wait longer than the work after it, a program compiled anew. */
const flagOf =
	(ops: Ops, rows: number[]) =>
	(at: number, key: string): { tone: 'warn'; why: string } | null => {
		const r = rows[at];

		if (key === 'OP CODE' && ops.column('PROBLEM')[r])
			return { tone: 'warn', why: String(ops.column('PROBLEM')[r]) };
		if (key === 'PROGRAM CACHE HIT' && ops.column(key)[r] === 'False')
			return { tone: 'warn', why: 'not in the program cache: the host compiled it' };
		if (key !== GAP) return null;
		const gap = ops.column(GAP)[r],
			work = ops.column(KERNELS)[r];

		return typeof gap === 'number' && typeof work === 'number' && gap > work && gap > 0
			? { tone: 'warn', why: `the device waited ${time(gap)} for an op of ${time(work)}` }
			: null;
	};

function EveryCall({ app, ops, rows, row, pick }: { app: App; ops: Ops; rows: number[] } & Picking) {
	const table = useMemo(() => ops.table(rows), [ops, rows]),
		first = useMemo(() => ops.shownFirst(), [ops]),
		flag = useMemo(() => flagOf(ops, rows), [ops, rows]);

	return (
		<Grid
			app={app}
			table={table}
			label="Every op"
			file="ops"
			first={first}
			selected={r => rows[r] === row}
			onPick={r => pick(rows[r], false)}
			onOpen={r => pick(rows[r], true)}
			flag={flag}
		/>
	);
}

interface Picking {
	row: number;
	pick(row: number, open: boolean): void;
}

function Together({ app, ops, rows, row, pick }: { app: App; ops: Ops; rows: number[] } & Picking) {
	const table = useMemo(() => byOp(ops, rows), [ops, rows]);
	const longest = table.data[table.columns.findIndex(c => c.key === 'longest')],
		names = table.data[0],
		name = row < 0 ? null : ops.name(row);

	return (
		<Grid
			app={app}
			table={table}
			label="Ops by name"
			file="ops-by-name"
			sort={table.columns.some(c => c.key === 'device') ? 'device' : 'host'}
			selected={r => names[r] === name}
			onPick={r => pick(Number(longest[r]), false)}
			onOpen={r => pick(Number(longest[r]), true)}
		/>
	);
}

function OpsTab({ app }: { app: App }) {
	const { ops, error } = useOps(app),
		found = useFindings(app),
		scope = app.scope.value;
	const [how, setHow] = useState<'name' | 'call'>('call'),
		[of, setOf] = useState(KERNELS),
		[chosen, choose] = useState<Chosen>(null),
		[row, setRow] = useState(-1);
	const rows = useMemo(() => ops?.rowsIn(scope) ?? [], [ops, JSON.stringify(scope)]);
	const some = useMemo(() => {
		if (!ops || !chosen) return rows;
		const cells = ops.column(of);

		return rows.filter(r => {
			const v = cells[r];
			return typeof v === 'number' && v >= Math.floor(chosen[0]) && v <= Math.ceil(chosen[1]);
		});
	}, [ops, rows, chosen, of]);
	const detail = app.detail.value;

	useEffect(() => {
		const of = ops ? rowOf(app, ops, detail) : -1;

		if (of >= 0) setRow(of);
	}, [ops, detail]);
	if (error || !ops) return <Pending app={app} error={error} />;
	const pick = (r: number, open: boolean) => {
		setRow(r);
		if (open) app.tab.value = 'timeline';
		selectRow(app, ops, r, open).catch(e => app.fail(e));
	};

	return (
		<div class="page">
			{found.length > 0 && <Verdict app={app} finding={found[0]} />}
			<div class="tiles">
				{tiles(ops, rows).map(t => (
					<Tile key={t.title} {...t} />
				))}
			</div>
			<p class="muted narrow">
				<bdi>{plain(app.info.value.title).slice(0, 300)}</bdi>
				{app.info.value.subtitle ? `: ${plain(app.info.value.subtitle).slice(0, 300)}` : ''}
			</p>
			<div class={row >= 0 ? 'opsdesk open' : 'opsdesk'}>
				<section class="card tall" aria-label="Ops">
					<header>
						<h2>Ops</h2>
						<Segments
							label="Rows"
							value={how}
							set={setHow}
							of={[
								{ id: 'call', title: 'Every call' },
								{ id: 'name', title: 'By name' },
							]}
						/>
						<span class="muted opt">double click: in the timeline</span>
						<span class="grow" />
						{chosen && (
							<button type="button" class="btn sm" onClick={() => choose(null)}>
								{time(chosen[0], 3)} to {time(chosen[1], 3)} ✕
							</button>
						)}
					</header>
					{how === 'call' ? (
						<EveryCall {...{ app, ops, row, pick }} rows={some} />
					) : (
						<Together {...{ app, ops, row, pick }} rows={some} />
					)}
				</section>
				{row >= 0 && (
					<section class="card tall" aria-label="Details of the op">
						<header>
							<h2 class="mono">
								<Name text={ops.name(row)} />
							</h2>
							<span class="grow" />
							<button type="button" class="btn sm" onClick={() => pick(row, true)}>
								In the timeline
							</button>
							<button
								type="button"
								class="btn sm ghost"
								aria-label="Close the details"
								onClick={() => {
									setRow(-1);
									app.select(null);
								}}>
								✕
							</button>
						</header>
						<div class="body scroll">
							<RowFacts ops={ops} row={row} />
						</div>
					</section>
				)}
			</div>
			<div class="two">
				<Lengths
					{...{ ops, rows, of, chosen, choose }}
					setOf={key => {
						setOf(key);
						choose(null);
					}}
				/>
				{found.length > 1 && <Findings app={app} all={found.slice(1)} />}
			</div>
			{ops.sheet.ownClock && (
				<p class="muted">
					Devices count cycles on a clock of their own. In the timeline they lie so that no op
					begins on its device before it was called, as early as that allows.
				</p>
			)}
		</div>
	);
}

/* In the drawer of the timeline: the whole row of the selected op. */
export function OpDetails({ app, detail }: { app: App; detail: Detail }) {
	const { ops } = useOps(app),
		row = ops ? rowOf(app, ops, detail) : -1;

	return ops && row >= 0 ? <RowFacts ops={ops} row={row} /> : null;
}

export const hasOps = (info: Parameters<Tab['needs']>[0]): boolean => hasSheet(info, 'ops', 'ops');

export const OPS_TABS: Tab[] = [{ id: 'ops', title: 'Ops', needs: hasOps, view: OpsTab }];
