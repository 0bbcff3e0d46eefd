// devlog.tsx - tabs of `unitrace devlog`: the cores of a chip as a map, its ops, its statistics. What
// the sheets hold is said at the top of src/analysis/tt/devlog_sheets.c.

import { useMemo, useState } from 'preact/hooks';
import { trackOf, type Cell, type Place, type Table } from '../source/contract';
import type { App } from '../state/app';
import { count, digits, percent, time } from '../text/format';
import { plain } from '../text/label';
import { useFindings, Verdict } from '../ui/findings';
import { Grid } from '../ui/grid';
import { Heat, type HeatCell } from '../ui/heat';
import { cell, Empty, Failure, Segments } from '../ui/kit';
import { useSheet } from '../ui/load';
import { hasSheet, type Tab } from '../ui/tab';

const TOOL = 'devlog';
const ALL = 'all';
const MOST_CHOICES = 300; // of a list to choose from; the table below has all

interface Cores {
	mhz: number;
	lanes: Table; // a row per RISC of a core
}

interface Ops {
	launches: boolean; // the log knows no ops
	ops: Table;
	lanes: Table; // op, lane: rows of the tables above
	left: number; // ops that lanes does not tell apart
}

interface Zones {
	zones: Table;
	lanes: Table; // per lane and label
}

interface Stats {
	chips: Table;
	cores: Table;
}

/* One core: where it is, and its RISCs as rows of cores.lanes. */
interface Core {
	key: string;
	chip: number;
	x: number;
	y: number;
	lanes: number[];
}

const num = (t: Table, row: number, key: string): number => Number(cell(t, row, key));
const coreKey = (chip: number, x: number, y: number): string => `${chip} ${x} ${y}`;

function coresOf(t: Table): Core[] {
	const all = new Map<string, Core>();

	for (let i = 0; i < t.rows; i++) {
		const chip = num(t, i, 'chip'),
			x = num(t, i, 'x'),
			y = num(t, i, 'y'),
			key = coreKey(chip, x, y);
		const core = all.get(key);

		if (core) core.lanes.push(i);
		else all.set(key, { key, chip, x, y, lanes: [i] });
	}
	return [...all.values()];
}

/* ---- cores and places ------------------------------------------------------------------------ */

/* The tracks of each core, and the core of each track, by the names that src/analysis/tt gives to places. */
function usePlaces(app: App) {
	const places = app.places.value;

	return useMemo(() => {
		const tracks = new Map<string, number[]>(),
			core = new Map<number, string>(),
			groups = new Map<string, Place>();
		const byId = new Map(places.map(p => [p.id, p]));

		for (const p of places) {
			const group = byId.get(p.parent),
				at = /^core \((-?\d+), (-?\d+)\)$/.exec(group?.name ?? ''),
				chip = /^Chip (-?\d+)$/.exec(byId.get(group?.parent ?? -1)?.name ?? '');

			if (!at || !chip || p.track < 0) continue;
			const key = coreKey(Number(chip[1]), Number(at[1]), Number(at[2]));

			tracks.set(key, [...(tracks.get(key) ?? []), p.track]);
			core.set(p.track, key);
			groups.set(key, group!);
		}
		return { tracks, core, groups };
	}, [places]);
}

type Places = ReturnType<typeof usePlaces>;

/* The core of what is selected in the timeline: an area of its rows, or a slice on one of them. */
function chosenCore(app: App, places: Places): string {
	const tracks = app.area.value?.tracks,
		id = app.selected.value;

	if (tracks?.length) return places.core.get(tracks[0]) ?? '';
	return id === null ? '' : (places.core.get(trackOf(id)) ?? '');
}

/* Its rows in the timeline become the area, which is what tables below the timeline are about. */
function chooseCore(app: App, places: Places, key: string, range: [number, number]): void {
	const tracks = places.tracks.get(key),
		group = places.groups.get(key);

	if (!tracks || !group) return;
	const closed = new Set(app.closed.peek());

	for (let p: Place | undefined = group; p; p = app.byId.peek().get(p.parent)) closed.delete(p.id);
	app.closed.value = closed;
	app.select(null);
	app.setArea({ t0: range[0], t1: range[1], tracks });
}

function openCore(app: App, range: [number, number]): void {
	const first = app.area.peek()?.tracks?.[0];

	app.visit({ range });
	if (first !== undefined) app.wanted.value = first;
}

/* ---- measures -------------------------------------------------------------------------------- */

interface Measure {
	id: string;
	title: string;
	group: string;
	share?: boolean; // not a time
	ofCore?: boolean; // RISCs are not told apart
	value(core: Core, lane: number): number | null;
}

interface Sheets {
	cores: Cores;
	ops: Ops | null;
	zones: Zones | null;
	stats: Stats | null;
}

const OWN: [key: string, title: string][] = [
	['kernel', 'Kernel time'],
	['mean', 'Mean kernel'],
	['max', 'Longest kernel'],
	['busy', 'Busy share'],
	['firmware', 'Firmware time'],
];

/* By lane, the values of a column in those rows where another one has this number. */
function byLane(t: Table, key: string, is: number, value: string): Map<number, number> {
	const at = (k: string): Cell[] => t.data[t.columns.findIndex(c => c.key === k)];
	const [x, lane, v] = [at(key), at('lane'), at(value)],
		out = new Map<number, number>();

	for (let i = 0; i < t.rows; i++) if (x[i] === is && v[i] !== null) out.set(Number(lane[i]), Number(v[i]));
	return out;
}

function ownMeasures(s: Sheets): Measure[] {
	return OWN.map(([key, title]) => ({
		id: key,
		title,
		group: 'All ops',
		share: key === 'busy',
		value: (_, lane) => cell(s.cores.lanes, lane, key) as number | null,
	}));
}

function opMeasures(ops: Ops, op: number): Measure[] {
	const of = (key: string, title: string): Measure => {
		const values = byLane(ops.lanes, 'op', op, key);

		return {
			id: key,
			title,
			group: 'This op',
			value: (_, lane) => values.get(lane) ?? null,
		};
	};

	return [of('kernel', 'Kernel'), of('late', 'Start after the first core')];
}

function zoneMeasures(z: Zones): Measure[] {
	const names = new Map<number, string>(),
		values = new Map<number, Map<number, number>>();
	const of = (label: number): Map<number, number> => {
		const known = values.get(label) ?? byLane(z.lanes, 'label', label, 'total');

		values.set(label, known);
		return known;
	};

	for (let i = 0; i < z.zones.rows; i++)
		names.set(num(z.zones, i, 'label'), String(cell(z.zones, i, 'zone')));
	return [...names].slice(0, MOST_CHOICES).map(([label, name]) => ({
		id: `zone ${label}`,
		title: plain(name).slice(0, 80),
		group: 'Time in a zone',
		value: (_, lane) => of(label).get(lane) ?? null,
	}));
}

function statMeasures(s: Stats, mhz: number): Measure[] {
	const names = new Map<string, Map<string, number>>();

	for (let i = 0; i < s.cores.rows; i++) {
		const name = String(cell(s.cores, i, 'name')),
			of = names.get(name) ?? new Map<string, number>();

		of.set(
			coreKey(num(s.cores, i, 'chip'), num(s.cores, i, 'x'), num(s.cores, i, 'y')),
			(num(s.cores, i, 'average') * 1000) / mhz,
		);
		names.set(name, of);
	}
	return [...names].map(([name, of]) => ({
		id: `stat ${name}`,
		title: plain(name),
		group: 'Average of the statistics',
		ofCore: true,
		value: core => of.get(core.key) ?? null,
	}));
}

/* Of a core: RISCs work at the same time, so it is as long as the longest of them. */
function valueOf(m: Measure, core: Core, lanes: Table, risc: string): number | null {
	let most: number | null = null;

	for (const lane of core.lanes) {
		const v = risc === ALL || m.ofCore || cell(lanes, lane, 'risc') === risc ? m.value(core, lane) : null;

		if (v !== null && (most === null || v > most)) most = v;
	}
	return most;
}

const shown = (m: Measure, v: number): string => (m.share ? percent(v) : time(v));

function againstMean(v: number, mean: number): string {
	const share = mean ? v / mean - 1 : 0;

	if (Math.abs(share) < 0.0005) return 'the mean';
	return `${percent(Math.abs(share))} ${share > 0 ? 'above' : 'below'} the mean`;
}

/* All in the unit of the greatest. */
function inCells(m: Measure, most: number): (v: number) => string {
	const by = m.share ? 0.01 : most >= 1e9 ? 1e9 : most >= 1e6 ? 1e6 : most >= 1e3 ? 1e3 : 1;

	return v => digits(v / by, 3);
}

/* ---- parts of the tab ------------------------------------------------------------------------ */

interface Chosen {
	chip: number;
	op: number; // row of ops.ops, -1: all
	risc: string;
	measure: Measure;
}

function Choose({
	label,
	value,
	set,
	of,
}: {
	label: string;
	value: string;
	set(v: string): void;
	of: { id: string; title: string; group?: string }[];
}) {
	const groups = [...new Set(of.map(o => o.group ?? ''))];
	const option = (o: { id: string; title: string }) => (
		<option key={o.id} value={o.id}>
			{o.title}
		</option>
	);

	return (
		<label class="muted choose">
			{label}{' '}
			<select value={value} onChange={e => set(e.currentTarget.value)}>
				{groups.map(g =>
					g ? (
						<optgroup key={g} label={g}>
							{of.filter(o => o.group === g).map(option)}
						</optgroup>
					) : (
						of.filter(o => !o.group).map(option)
					),
				)}
			</select>
		</label>
	);
}

function opChoices(o: Ops): { id: string; title: string }[] {
	const rows = [...Array(o.ops.rows).keys()]
		.sort((a, b) => num(o.ops, b, 'kernel') - num(o.ops, a, 'kernel'))
		.slice(0, MOST_CHOICES)
		.sort((a, b) => a - b);

	return [
		{ id: '-1', title: o.launches ? 'all launches' : 'all ops' },
		...rows.map(r => ({
			id: String(r),
			title: `${o.launches ? 'launch' : 'op'} ${num(o.ops, r, 'op')}, ${time(num(o.ops, r, 'kernel'), 3)}`,
		})),
	];
}

/* The same as a table, and each core against the mean. */
function asTable(m: Measure, cores: Core[], values: (number | null)[]): Table {
	const known = values.filter(v => v !== null),
		mean = known.reduce((s, v) => s + v, 0) / Math.max(1, known.length);

	return {
		rows: cores.length,
		columns: [
			{ key: 'core', title: 'Core', type: 'text' },
			{ key: 'value', title: m.title, type: m.share ? 'share' : 'time' },
			{
				key: 'above',
				title: 'Above the mean',
				type: 'share',
				signed: true,
				hint: `the mean of ${known.length} cores is ${shown(m, mean)}`,
			},
			{ key: 'x', title: 'X', type: 'number', wide: true },
			{ key: 'y', title: 'Y', type: 'number', wide: true },
		],
		data: [
			cores.map(c => `(${c.x}, ${c.y})`),
			values,
			values.map(v => (v === null || mean === 0 ? null : v / mean - 1)),
			cores.map(c => c.x),
			cores.map(c => c.y),
		],
	};
}

/* The RISCs of a core beside the mean of all cores. */
function CoreCard({ app, core, all, s, m }: { app: App; core: Core; all: Core[]; s: Sheets; m: Measure }) {
	const riscs = core.lanes.map(l => String(cell(s.cores.lanes, l, 'risc')));
	const own = core.lanes.map(l => m.value(core, l));
	const means = riscs.map(r => {
		const of = all.map(c => valueOf(m, c, s.cores.lanes, r)).filter(v => v !== null);

		return of.length ? of.reduce((a, v) => a + v, 0) / of.length : null;
	});
	const table: Table = {
		rows: riscs.length,
		columns: [
			{ key: 'risc', title: 'RISC', type: 'text' },
			{ key: 'value', title: m.title, type: m.share ? 'share' : 'time' },
			{ key: 'mean', title: 'Mean core', type: m.share ? 'share' : 'time' },
			{ key: 'diff', title: 'Difference', type: m.share ? 'share' : 'time', signed: true },
		],
		data: [riscs, own, means, own.map((v, i) => (v === null || means[i] === null ? null : v - means[i]))],
	};

	return <Grid app={app} table={table} label={`Core (${core.x}, ${core.y}) by RISC`} file="core" sort="" />;
}

function OpsTable({ app, o, op, set }: { app: App; o: Ops; op: number; set(row: number): void }) {
	const skew = o.ops.columns.findIndex(c => c.key === 'skew');
	const range = (r: number): [number, number] => {
		const t = num(o.ops, r, 'start');

		return [t, t + Math.max(1, num(o.ops, r, 'firmware'), num(o.ops, r, 'kernel'))];
	};

	return (
		<section class="card ops" aria-label="Ops">
			<header>
				<h2>{o.launches ? 'Launches' : 'Ops'}</h2>
				<span class="muted">one click: its cores above; double click: in the timeline</span>
			</header>
			<Grid
				app={app}
				table={o.ops}
				label={o.launches ? 'Launches' : 'Ops'}
				file="ops"
				sort="kernel"
				selected={r => r === op}
				onPick={set}
				onOpen={r => app.visit({ range: range(r) })}
				flag={(r, key) => {
					const v = o.ops.data[skew]?.[r];

					if (key !== 'skew' || typeof v !== 'number' || v < 0.1) return null;
					return {
						tone: v >= 0.25 ? 'bad' : 'warn',
						why: `the slowest core takes ${percent(v)} longer than the mean core`,
					};
				}}
			/>
		</section>
	);
}

/* The rows of the chip that is shown; the range of what is shown, for the timeline. */
function shownRange(app: App, s: Sheets, op: number): [number, number] {
	if (op < 0 || !s.ops) return [0, app.info.value.span];
	const t = num(s.ops.ops, op, 'start');

	return [t, t + Math.max(1, num(s.ops.ops, op, 'firmware'), num(s.ops.ops, op, 'kernel'))];
}

function CoreMap({
	app,
	s,
	all,
	chosen,
	places,
}: {
	app: App;
	s: Sheets;
	all: Core[];
	chosen: Chosen;
	places: Places;
}) {
	const { measure: m, risc, op } = chosen,
		key = chosenCore(app, places),
		range = shownRange(app, s, op);
	const values = all.map(c => valueOf(m, c, s.cores.lanes, risc)),
		known = values.filter(v => v !== null);
	const mean = known.reduce((a, v) => a + v, 0) / Math.max(1, known.length);
	const most = known.reduce((a, v) => Math.max(a, v), 0);
	const cells = all.map((c, i): HeatCell => {
		const v = values[i];

		return {
			x: c.x,
			y: c.y,
			value: v,
			label: `core (${c.x}, ${c.y}): ${v === null ? 'not measured' : `${shown(m, v)}, ${againstMean(v, mean)}`}`,
		};
	});
	const table = useMemo(() => asTable(m, all, values), [m.id, all, risc, op]);
	const core = all.find(c => c.key === key);
	const pick = (c: Core) => chooseCore(app, places, c.key, range);
	const at = (c: HeatCell): Core => all.find(o => o.x === c.x && o.y === c.y)!;
	const slowest = cells.reduce<HeatCell | null>(
		(a, c) => (c.value !== null && (a === null || c.value > a.value!) ? c : a),
		null,
	);

	return (
		<>
			<Heat
				label={`${m.title} of ${count(all.length)} cores; the greatest: ${slowest?.label ?? 'none was measured'}`}
				cells={cells}
				show={inCells(m, most)}
				unit={v => shown(m, v)}
				selected={c => at(c).key === key}
				onPick={c => pick(at(c))}
				onOpen={c => {
					pick(at(c));
					openCore(app, range);
				}}
			/>
			<div class="beside">
				<header class="ph">
					<h3>{core ? `Core (${core.x}, ${core.y})` : 'All cores'}</h3>
					<span class="grow" />
					{core && (
						<>
							<button type="button" class="btn sm" onClick={() => openCore(app, range)}>
								Show in the timeline
							</button>
							<button type="button" class="btn sm" onClick={() => app.clear()}>
								All cores
							</button>
						</>
					)}
				</header>
				{core && !m.ofCore ? (
					<CoreCard key={core.key + m.id} app={app} core={core} all={all} s={s} m={m} />
				) : (
					<Grid
						key={m.id + risc + op}
						app={app}
						table={table}
						label={`${m.title} by core`}
						file="cores"
						sort="value"
						selected={r => all[r].key === key}
						onPick={r => pick(all[r])}
						onOpen={r => {
							pick(all[r]);
							openCore(app, range);
						}}
					/>
				)}
			</div>
		</>
	);
}

function useMeasures(s: Sheets, op: number): Measure[] {
	return useMemo(
		() =>
			op >= 0 && s.ops
				? opMeasures(s.ops, op)
				: [
						...ownMeasures(s),
						...(s.zones ? zoneMeasures(s.zones) : []),
						...(s.stats ? statMeasures(s.stats, s.cores.mhz) : []),
					],
		[s.cores, s.ops, s.zones, s.stats, op],
	);
}

function CoresOf({ app, s }: { app: App; s: Sheets }) {
	const found = useFindings(app),
		places = usePlaces(app),
		every = useMemo(() => coresOf(s.cores.lanes), [s.cores]);
	const chips = useMemo(() => [...new Set(every.map(c => c.chip))], [every]);
	const [picked, setChip] = useState(chips[0]),
		[op, setOp] = useState(-1),
		[risc, setRisc] = useState(ALL),
		[wanted, setMeasure] = useState('kernel');
	const measures = useMeasures(s, op),
		measure = measures.find(m => m.id === wanted) ?? measures[0];
	const chip = op >= 0 && s.ops ? num(s.ops.ops, op, 'chip') : picked;
	const all = useMemo(() => every.filter(c => c.chip === chip), [every, chip]);
	const riscs = [...new Set(s.cores.lanes.data[3].map(String))];

	return (
		<div class="page">
			{found[0] && <Verdict app={app} finding={found[0]} />}
			<section class="card cores" aria-label="Cores">
				<header>
					<h2>Cores</h2>
					{chips.length > 1 && (
						<Choose
							label="Chip"
							value={String(chip)}
							set={v => {
								setChip(Number(v));
								setOp(-1);
							}}
							of={chips.slice(0, MOST_CHOICES).map(c => ({ id: String(c), title: String(c) }))}
						/>
					)}
					<Choose label="Measure" value={measure.id} set={setMeasure} of={measures} />
					{s.ops && s.ops.ops.rows > 0 && (
						<Choose
							label={s.ops.launches ? 'Launch' : 'Op'}
							value={String(op)}
							set={v => setOp(Number(v))}
							of={opChoices(s.ops)}
						/>
					)}
					<span class="grow" />
					{riscs.length > 1 && !measure.ofCore && (
						<Segments
							label="RISC"
							value={risc}
							set={setRisc}
							of={[
								{ id: ALL, title: 'All RISCs', hint: 'the longest of them' },
								...riscs.slice(0, 12).map(r => ({ id: r, title: plain(r).slice(0, 16) })),
							]}
						/>
					)}
				</header>
				{s.ops && s.ops.left > 0 && op >= 0 && (
					<p class="muted body">
						{count(s.ops.left)} shorter ops are not told apart by core in this page;
						device_trace.utr has them.
					</p>
				)}
				<div class="coremap">
					<CoreMap app={app} s={s} all={all} chosen={{ chip, op, risc, measure }} places={places} />
				</div>
			</section>
			{s.ops && s.ops.ops.rows > 0 && <OpsTable app={app} o={s.ops} op={op} set={setOp} />}
		</div>
	);
}

function CoresTab({ app }: { app: App }) {
	const cores = useSheet<Cores>(app, TOOL, 'cores'),
		ops = useSheet<Ops>(app, TOOL, 'ops'),
		zones = useSheet<Zones>(app, TOOL, 'zones'),
		stats = useSheet<Stats>(app, TOOL, 'stats');

	if (cores.error) return <Failure app={app} text={cores.error} />;
	if (!cores.value) return <div class="page" aria-busy="true" />;
	if (!cores.value.lanes.rows) return <Empty title="This log has no cores." />;
	return (
		<CoresOf
			app={app}
			s={{ cores: cores.value, ops: ops.value, zones: zones.value, stats: stats.value }}
		/>
	);
}

function Card({ app, title, table, sort }: { app: App; title: string; table: Table; sort: string }) {
	return (
		<section class="card tall half" aria-label={title}>
			<header>
				<h2>{title}</h2>
			</header>
			<Grid app={app} table={table} label={title} file={title.toLowerCase()} sort={sort} />
		</section>
	);
}

function StatsTab({ app }: { app: App }) {
	const stats = useSheet<Stats>(app, TOOL, 'stats'),
		zones = useSheet<Zones>(app, TOOL, 'zones');
	const table = useMemo(() => zones.value && withoutTypes(zones.value.zones), [zones.value]);

	if (stats.error || zones.error) return <Failure app={app} text={stats.error || zones.error} />;
	if (!stats.value || !table) return <div class="page" aria-busy="true" />;
	return (
		<div class="page">
			<Card app={app} title="Duration Stats Table" table={stats.value.chips} sort="" />
			<Card app={app} title="By zone" table={table} sort="time" />
			{stats.value.cores.rows > 0 && (
				<Card app={app} title="Durations by core" table={stats.value.cores} sort="" />
			)}
		</div>
	);
}

/* Labels are numbers of this sheet, not types of the trace, which have colours. */
const withoutTypes = (t: Table): Table => {
	const keep = t.columns.map((c, i) => (c.key === 'label' ? -1 : i)).filter(i => i >= 0);

	return { ...t, columns: keep.map(i => t.columns[i]), data: keep.map(i => t.data[i]) };
};

export const DEVLOG_TABS: Tab[] = [
	{ id: 'cores', title: 'Cores', needs: i => hasSheet(i, TOOL, 'cores'), view: CoresTab },
	{ id: 'durations', title: 'Durations', needs: i => hasSheet(i, TOOL, 'stats'), view: StatsTab },
];
