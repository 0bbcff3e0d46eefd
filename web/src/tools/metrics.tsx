// metrics.tsx - the tab of hardware metrics: a table of kernels with what was counted of each, and of the
// one that is chosen its verdict, its place under the roof, its counters and where its instructions wait.
// The sheet is written by src/analysis/view/metrics_sheet.c.

import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { exactly } from '../source/query';
import type { ChartData, Detail, Info, Place, Table } from '../source/contract';
import { readWindow } from '../source/window';
import type { App } from '../state/app';
import { useKept } from '../state/kept';
import { count, percent, time } from '../text/format';
import { plain } from '../text/label';
import { Grid } from '../ui/grid';
import { cell, Empty, Name, Pending } from '../ui/kit';
import { useAnswer, useSheet } from '../ui/load';
import { Plot } from '../plot/plot';
import { hasSheet, type Tab } from '../ui/tab';
import { useVerdict, VerdictText } from './kernels';
import type { Memory } from './memory';
import { useRoofline } from './roofline';
import { KernelCode } from './stalls';

export const TOOL = 'metrics';

const OWN = 10, // columns before the metrics
	FIRST = 6, // metrics that the table shows at first
	BARS = 60, // instructions that are drawn
	ROWS = 12, // counters that are drawn
	PIXELS = 400, // of a counter's line
	SETTLED = 2000; // ms after which nothing moves any more

interface Stalled {
	kernel: string;
	samples: number;
	instructions: Table; // by address
}

export interface MetricsSheet {
	kernels: Table;
	roof: number[]; // of each row: the kernel of the roofline, -1: none
	said: string[]; // what that says of it
	memory: Memory[]; // of each row
	stalls: Stalled[];
}

export const hasMetrics = (info: Info): boolean => hasSheet(info, TOOL, TOOL);

/* ---- the selection, here and in the timeline ---- */

export const text = (t: Table, row: number, key: string): string => String(cell(t, row, key) ?? '');

/* The row of a kernel that is selected in the timeline; of the same name, of the same shape. */
function rowOf(sheet: MetricsSheet, d: Detail | null): number {
	const t = sheet.kernels,
		arg = (key: string) => d?.args.find(a => a[0] === key)?.[1] ?? '',
		rows = d ? [...Array(t.rows).keys()].filter(r => cell(t, r, 'kernel') === d.name) : [];

	return (
		rows.find(r => text(t, r, 'grid') === arg('grid') && text(t, r, 'block') === arg('block')) ??
		rows[0] ??
		-1
	);
}

/* The first launch of the kernel of a row becomes the selection. */
async function selectRow(app: App, t: Table, row: number, reveal: boolean): Promise<void> {
	const name = exactly(text(t, row, 'kernel')),
		shape = ['grid', 'block']
			.filter(k => cell(t, row, k) !== null)
			.map(k => `arg.${k}:"${text(t, row, k)}"`);

	for (const query of [[name, ...shape].join(' '), name]) {
		const found = await app.source.ask('search', { query, limit: 50, scope: app.scope.peek() });
		const hit = found.list.find(
			e => app.byTrack.peek().get(Math.floor(e.id / 2 ** 32))?.kind === 'queue',
		);

		if (hit) return app.select(hit.id, reveal);
	}
}

/* ---- the chosen kernel ---- */

const wanted = signal(''); // whose instructions are to be brought into sight

/* Whose code is shown, by the begin of its name: addresses are not for all of it. */
const NAME = 300;
const useCode = (app: App) => useKept<string>(app, 'metrics.code', '');

const stalledOf = (sheet: MetricsSheet, row: number): Stalled | undefined =>
	sheet.stalls.find(s => s.kernel === text(sheet.kernels, row, 'kernel'));

/* The row that is chosen in the table, or by the selection in the timeline. */
export function useKernel(app: App, sheet: MetricsSheet | null) {
	const detail = app.detail.value,
		[chosen, choose] = useState(0),
		[, show] = useCode(app);

	useEffect(() => {
		const row = sheet ? rowOf(sheet, detail) : -1;

		if (row >= 0) choose(row);
	}, [sheet, detail]);
	const pick = (r: number, open = false) => {
		choose(r);
		if (open) app.tab.value = 'timeline';
		if (sheet) selectRow(app, sheet.kernels, r, open).catch(e => app.fail(e));
	};

	/* Its instructions, where they were sampled; else its first launch. */
	const open = (r: number) => {
		if (!sheet || !stalledOf(sheet, r)) return pick(r, true);
		wanted.value = text(sheet.kernels, r, 'kernel');
		show(wanted.value.slice(0, NAME));
		app.tab.value = TOOL;
		pick(r);
	};

	return { row: Math.min(chosen, Math.max(0, (sheet?.kernels.rows ?? 0) - 1)), pick, open };
}

/* Shares as bars: which part of the device is busy. */
function busyChart(t: Table, row: number): ChartData | null {
	const shares = t.columns
		.map((c, i) => ({ c, v: t.data[i][row] }))
		.filter(({ c, v }) => c.type === 'share' && c.key.endsWith('[%]') && typeof v === 'number');

	if (!shares.length) return null;
	return {
		title: 'Shares',
		stacked: false,
		sideways: true,
		x: { title: 'Of the peak, or of the time (%)', numbers: 'short', log: false, low: 0, high: 100 },
		y: { numbers: 'short', log: false, names: shares.map(({ c }) => c.title) },
		series: [{ kind: 'bars', name: '', y: shares.map(({ v }) => Math.round(Number(v) * 1000) / 10) }],
	};
}

function Roof({
	app,
	sheet,
	row,
	pick,
}: {
	app: App;
	sheet: MetricsSheet;
	row: number;
	pick(row: number): void;
}) {
	const roof = useRoofline(app),
		places = roof?.charts.find(c => c.kind === 'places'),
		chosen = sheet.roof[row];

	if (!places) return null;
	return (
		<section class="card" aria-label="Its place under the roof">
			<header>
				<h2>Under the roof</h2>
				<span class="muted">
					{plain(sheet.said[row] || 'Too little was counted of this kernel.')}
				</span>
			</header>
			<div class="body">
				<Plot
					data={places.chart}
					chosen={(series, at) => places.rows[series]?.[at] === chosen}
					onPick={(series, at) => {
						const to = sheet.roof.indexOf(places.rows[series]?.[at] ?? -2);

						if (to >= 0) pick(to);
					}}
				/>
			</div>
		</section>
	);
}

function Chosen({ app, sheet, row }: { app: App; sheet: MetricsSheet; row: number }) {
	const t = sheet.kernels,
		verdict = useVerdict(app, text(t, row, 'kernel'), text(t, row, 'grid'), text(t, row, 'block')),
		busy = useMemo(() => busyChart(t, row), [t, row]);

	return (
		<section class="card" aria-label="The kernel">
			<header>
				<h2 class="mono">
					<Name text={text(t, row, 'kernel')} />
				</h2>
				<span class="muted opt">
					{text(t, row, 'grid')} {text(t, row, 'block')}
				</span>
				<span class="grow" />
				<button
					type="button"
					class="btn sm"
					onClick={() => {
						app.tab.value = 'timeline';
						selectRow(app, t, row, true).catch(e => app.fail(e));
					}}>
					In the timeline
				</button>
			</header>
			<div class="body">
				{verdict ? <VerdictText v={verdict} /> : <p class="muted">Nothing can be said of it.</p>}
				{busy && <Plot app={app} data={busy} file="shares" />}
			</div>
		</section>
	);
}

/* ---- counters ---- */

interface Counter {
	place: Place;
	lane: number;
}

function countersOf(places: Place[]): Counter[] {
	const byId = new Map(places.map(p => [p.id, p]));
	const ofDevice = (p: Place): boolean => {
		for (let at = byId.get(p.parent); at; at = byId.get(at.parent)) if (at.kind === 'device') return true;
		return false;
	};

	return places.flatMap(place =>
		place.track >= 0 && ofDevice(place)
			? place.lanes.flatMap((l, lane) => (l.kind === 'counter' ? [{ place, lane }] : []))
			: [],
	);
}

function counterChart(place: Place, w: ReturnType<typeof readWindow>, nth: number): ChartData {
	const from = w.cells[nth],
		n = w.cells[nth + 1] - from,
		step = (w.t1 - w.t0) / Math.max(1, n);
	const values = (of: Float32Array) =>
		Array.from(of.subarray(from, from + n), v => (Number.isFinite(v) ? v : null));

	return {
		title: place.name,
		stacked: false,
		sideways: false,
		x: { numbers: 'ns', log: false, low: w.t0, high: w.t1 },
		y: { title: place.unit ?? '', numbers: 'short', log: false },
		series: [
			{
				kind: 'line',
				name: '', // it stands above
				x: Array.from({ length: n }, (_, i) => w.t0 + (i + 0.5) * step),
				y: values(w.last),
				low: values(w.low),
				high: values(w.high),
				colour: (nth % 10) + 1,
			},
		],
	};
}

/* Around the selected kernel, so that what it does can be told from what others do; else all of it. */
function rangeOf(app: App, d: Detail | null): [number, number] {
	const { t0, t1 } = app.bounds.value;

	if (!d || d.dur <= 0) return [t0, t1];
	return [Math.max(t0, d.t - d.dur), Math.min(t1, d.t + 2 * d.dur)];
}

function Counters({ app, d }: { app: App; d: Detail | null }) {
	const counters = useMemo(() => countersOf(app.places.value).slice(0, ROWS), [app.places.value]),
		[t0, t1] = rangeOf(app, d);
	const { value } = useAnswer(
		app,
		'window',
		counters.length
			? { t0, t1, pixels: PIXELS, lanes: counters.map(c => [c.place.track, c.lane]) }
			: null,
	);
	const charts = useMemo(() => {
		if (!value) return [];
		const w = readWindow(value);

		return counters.map((c, i) => counterChart(c.place, w, i));
	}, [value, counters]);

	if (!counters.length) return null;
	return (
		<section class="card" aria-label="Counters">
			<header>
				<h2>Counters</h2>
				<span class="muted">
					{d ? `around the selected kernel, ${time(t0)} to ${time(t1)}` : 'all of the time'}
				</span>
			</header>
			<div class="body">
				{charts.map((c, i) => (
					<div key={i}>
						<h3 class="muted">
							<Name text={c.title ?? ''} />
						</h3>
						<Plot data={c} height={54} />
					</div>
				))}
			</div>
		</section>
	);
}

/* ---- instructions ---- */

/* The heaviest instructions, by address: reasons on each other. */
function stallChart(s: Stalled): ChartData {
	const t = s.instructions,
		all = [...Array(t.rows).keys()],
		heavy = all
			.sort((a, b) => Number(cell(t, b, 'samples')) - Number(cell(t, a, 'samples')))
			.slice(0, BARS),
		rows = heavy.sort((a, b) => a - b),
		first = t.columns.findIndex(c => c.key === 'share') + 1,
		last = t.columns.findIndex(c => c.key === 'others');

	return {
		title: 'Samples by instruction',
		stacked: true,
		sideways: false,
		x: { title: 'Address', numbers: 'short', log: false, names: rows.map(r => text(t, r, 'address')) },
		y: { title: 'Samples', numbers: 'short', log: false },
		series: t.columns.slice(first, last + 1).map((c, i) => ({
			kind: 'bars' as const,
			name: c.title,
			y: rows.map(r => Number(t.data[first + i][r])),
			notes: rows.map(
				r =>
					`${text(t, r, 'address')}${cell(t, r, 'line') === null ? '' : `, line ${text(t, r, 'line')}`}: ${count(Number(t.data[first + i][r]))} ${c.title}`,
			),
		})),
	};
}

/* What stands above it grows as answers come: for a while it is followed. */
function keepInSight(e: HTMLElement): () => void {
	const watch = new ResizeObserver(() => e.scrollIntoView({ block: 'start' })),
		stop = () => watch.disconnect();

	for (const c of e.parentElement!.children) watch.observe(c);
	setTimeout(stop, SETTLED);
	addEventListener('wheel', stop, { once: true, passive: true });
	return stop;
}

function Instructions({ app, of }: { app: App; of: Stalled }) {
	const chart = useMemo(() => stallChart(of), [of]),
		[shown, show] = useCode(app),
		top = useRef<HTMLElement>(null);

	useEffect(() => {
		if (wanted.peek() !== of.kernel || !top.current) return;
		wanted.value = '';
		return keepInSight(top.current);
	}, [of]);
	return (
		<>
			<section class="card" aria-label="Where its instructions wait" ref={top}>
				<header>
					<h2>Where its instructions wait</h2>
					<span class="muted">{count(of.samples)} samples</span>
				</header>
				<div class="body">
					<Plot app={app} data={chart} file="instructions" />
				</div>
			</section>
			<KernelCode
				app={app}
				key={of.kernel}
				kernel={of.kernel}
				asked={shown === of.kernel.slice(0, NAME)}
				ask={() => show(of.kernel.slice(0, NAME))}
			/>
			<section class="card" aria-label="Instructions">
				<Grid
					app={app}
					table={of.instructions}
					label="Instructions"
					file="instructions"
					sort="samples"
				/>
			</section>
		</>
	);
}

/* ---- the tab ---- */

function MetricsTab({ app }: { app: App }) {
	const { value: sheet, error } = useSheet<MetricsSheet>(app, TOOL, TOOL),
		detail = app.detail.value,
		{ row, pick, open } = useKernel(app, sheet);
	const first = useMemo(
		() =>
			new Set(
				sheet?.kernels.columns
					.filter((_, i) => i < OWN + FIRST)
					.map(c => c.key)
					.filter(k => k !== 'measured'),
			),
		[sheet],
	);

	if (error || !sheet) return <Pending app={app} error={error} />;
	const t = sheet.kernels,
		stalled = t.rows ? stalledOf(sheet, row) : undefined,
		shownDetail = detail && t.rows && detail.name === text(t, row, 'kernel') ? detail : null;

	if (!t.rows) return <Empty title="No kernel was measured." />;
	return (
		<div class="page">
			<section class="card" aria-label="Kernels">
				<header>
					<h2>Kernels and their metrics</h2>
					<span class="muted">
						{sheet.stalls.length ? `${count(sheet.stalls.length)} of them sampled; ` : ''}
						double click: its instructions, or its launches
					</span>
				</header>
				<Grid
					app={app}
					table={t}
					label="Kernels and their metrics"
					file="metrics"
					sort="time"
					first={first}
					selected={r => r === row}
					onPick={r => pick(r)}
					onOpen={open}
				/>
			</section>
			<div class="two free">
				<Chosen app={app} sheet={sheet} row={row} />
				<Roof app={app} sheet={sheet} row={row} pick={pick} />
			</div>
			{stalled && <Instructions app={app} of={stalled} />}
			<Counters app={app} d={shownDetail} />
		</div>
	);
}

/* In the drawer of the timeline: a way from a kernel to its metrics, and what of them matters most. */
export function MetricsDetails({ app, detail }: { app: App; detail: Detail }) {
	const kernel = app.byTrack.value.get(detail.track)?.kind === 'queue' || /kernel/i.test(detail.cat),
		{ value: sheet } = useSheet<MetricsSheet>(app, TOOL, TOOL),
		row = sheet && kernel ? rowOf(sheet, detail) : -1;

	if (!sheet || row < 0) return null;
	const stalled = sheet.stalls.find(s => s.kernel === detail.name),
		worst = stalled && worstOf(stalled);

	return (
		<section aria-label="Metrics">
			{worst && <p>{plain(worst)}</p>}
			{sheet.said[row] && <p>{plain(sheet.said[row])}</p>}
			<button
				type="button"
				class="btn sm"
				onClick={() => {
					app.tab.value = TOOL;
				}}>
				Metrics of this kernel
			</button>
		</section>
	);
}

/* "63.0 % of its samples wait at 0x01c0, chase.cu:12" */
function worstOf(s: Stalled): string {
	const t = s.instructions,
		worst = [...Array(t.rows).keys()].reduce((a, r) =>
			Number(cell(t, r, 'samples')) > Number(cell(t, a, 'samples')) ? r : a,
		),
		file = text(t, worst, 'file').split('/').pop();

	return `${percent(Number(cell(t, worst, 'share')))} of its samples are at ${text(t, worst, 'address')}${file ? `, ${file}:${text(t, worst, 'line')}` : ''}`;
}

export const METRICS_TABS: Tab[] = [{ id: TOOL, title: 'Metrics', needs: hasMetrics, view: MetricsTab }];
