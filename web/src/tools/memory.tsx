// memory.tsx - the tab of the memory hierarchy: what the kernel that is chosen in the table below asks of
// each level of memory, as a picture of the device. What is bad is red, with the reason; what was not
// measured is grey, with how to measure it. Numbers come with the sheet of metrics
// (src/analysis/view/memory_sheet.c).

import { useMemo } from 'preact/hooks';
import type { Cell, Table } from '../source/contract';
import type { App } from '../state/app';
import { useKept } from '../state/kept';
import { bytes, count, many, number, percent, time } from '../text/format';
import { plain } from '../text/label';
import { Grid } from '../ui/grid';
import { Empty, Name, Pending, Segments } from '../ui/kit';
import { useSheet } from '../ui/load';
import type { Tab } from '../ui/tab';
import { hasMetrics, type MetricsSheet, text, TOOL as METRICS, useKernel } from './metrics';

const TOOL = 'memory';

export interface Level {
	level: string; // dram, l3, l2, l1, shared
	bytes?: number; // of a launch, on average
	read?: number;
	written?: number;
	hits?: number; // share
	peak?: number; // bytes a second
}

export interface Memory {
	device: string;
	maker: 'nvidia' | 'intel';
	launches: number; // that were measured
	ns?: number; // of one of them
	levels: Level[];
	rates: Record<string, number>; // bytes a second, from samples over time
	facts: Record<string, number>;
	flags: { at: string; why: string }[];
}

type Mode = 'bandwidth' | 'size' | 'percent';

/* ---- numbers -------------------------------------------------------------------------------- */

const TITLES: Record<Memory['maker'], Record<string, string>> = {
	nvidia: { dram: 'HBM', l2: 'L2', l1: 'L1', shared: 'Shared' },
	intel: { dram: 'HBM', l3: 'L3', l1: 'L1', shared: 'SLM' },
};

/* Which run measures a level. */
const GROUPS: Record<Memory['maker'], Record<string, string>> = {
	nvidia: {
		dram: '-q -g Memory',
		l2: '-q -g Memory',
		l1: '-q -g Memory',
		shared: '-q -g Roofline',
		links: '-k -g Memory',
	},
	intel: {
		dram: '-q -g ComputeBasic',
		l3: '-q -g ComputeBasic',
		l1: '-q -g ComputeBasic',
		shared: '-q -g ComputeBasic',
	},
};

const rate = (m: Memory, n: number | undefined): number | undefined =>
	n === undefined || !m.ns ? undefined : (n * 1e9) / m.ns;

/* What an arrow says: a bandwidth, the bytes of all measured launches, or a share of the most. */
function say(m: Memory, l: Level | undefined, of: 'bytes' | 'read' | 'written', mode: Mode): string {
	const value = l?.[of],
		perSecond =
			rate(m, value) ?? (l?.level === 'dram' && of !== 'bytes' ? m.rates[`dram_${of}`] : undefined);

	if (mode === 'size') return value === undefined ? '–' : bytes(value * m.launches);
	if (perSecond === undefined) return '–';
	if (mode === 'bandwidth') return `${bytes(perSecond)}/s`;
	return l?.peak ? percent(perSecond / l.peak) : '–';
}

/* How much of what it could do a level does; what the hardware says of itself comes first. */
function used(m: Memory, l: Level | undefined): number | undefined {
	const said = l && m.facts[l.level],
		perSecond = rate(m, l?.bytes);

	if (said !== undefined) return said / 100;
	return perSecond !== undefined && l?.peak ? perSecond / l.peak : undefined;
}

const known = (m: Memory): string[] => Object.keys(TITLES[m.maker]);

export function levelTable(m: Memory): Table {
	const of = known(m).map(key => m.levels.find(l => l.level === key)!),
		gb = (v: number | undefined): Cell => (v === undefined ? null : v / 1e9),
		column = (f: (l: Level) => number | undefined): Cell[] => of.map(l => f(l) ?? null);

	return {
		columns: [
			{ key: 'level', title: 'Level', type: 'text' },
			{ key: 'read', title: 'Read', type: 'bytes', hint: 'of a launch, on average' },
			{ key: 'written', title: 'Written', type: 'bytes', hint: 'of a launch, on average' },
			{ key: 'bytes', title: 'Both', type: 'bytes', hint: 'of a launch, on average' },
			{ key: 'rate', title: 'Bandwidth', type: 'number', unit: 'GB/s' },
			{ key: 'peak', title: 'Maximum', type: 'number', unit: 'GB/s', wide: true },
			{ key: 'used', title: 'Of maximum', type: 'share' },
			{ key: 'hits', title: 'Hits', type: 'share' },
		],
		data: [
			of.map(l => TITLES[m.maker][l.level]),
			column(l => l.read),
			column(l => l.written),
			column(l => l.bytes),
			of.map(l => gb(rate(m, l.bytes))),
			of.map(l => gb(l.peak)),
			column(l => used(m, l)),
			column(l => l.hits),
		],
		rows: of.length,
	};
}

/* ---- the picture ---------------------------------------------------------------------------- */

const flagged = (m: Memory, at: string) => m.flags.find(f => f.at === at);

function Box({
	x,
	y,
	w,
	h,
	title,
	sub,
	off,
	why,
}: {
	x: number;
	y: number;
	w: number;
	h: number;
	title: string;
	sub?: string; // lines, with | between them
	off?: boolean;
	why?: string;
}) {
	return (
		<g class={`mbox ${off ? 'off' : ''} ${why ? 'bad' : ''}`}>
			<rect x={x} y={y} width={w} height={h} rx="6" />
			<text class="mt" x={x + w / 2} y={y + 18} text-anchor="middle">
				{why ? '⚑ ' : ''}
				{title}
			</text>
			{sub?.split('|').map((line, i) => (
				<text key={i} class="ms" x={x + w / 2} y={y + 34 + 15 * i} text-anchor="middle">
					{line}
				</text>
			))}
			{why && <title>{plain(why)}</title>}
		</g>
	);
}

/* As wide as the share of the most that it could carry. */
function Arrow({
	x,
	to,
	y,
	way = 'both',
	label,
	value,
	share,
}: {
	x: number;
	to: number;
	y: number;
	way?: 'left' | 'right' | 'both';
	label: string;
	value: string;
	share?: number;
}) {
	const off = value === '–',
		middle = (x + to) / 2,
		wide = 1.5 + 8 * Math.max(0, Math.min(1, share ?? 0));

	return (
		<g class={`marrow ${off ? 'off' : ''}`}>
			<line x1={x + 6} x2={to - 6} y1={y} y2={y} stroke-width={wide} />
			{way !== 'right' && <path d={`M${x} ${y}l9 -6v12z`} />}
			{way !== 'left' && <path d={`M${to} ${y}l-9 -6v12z`} />}
			<text class="ml" x={middle} y={y - 9 - wide / 2} text-anchor="middle">
				{label}
			</text>
			<text class="mv" x={middle} y={y + 17 + wide / 2} text-anchor="middle">
				{value}
			</text>
		</g>
	);
}

const FACTS: [key: string, title: string, intel?: string][] = [
	['active', 'Active'],
	['stalled', 'Stalled'],
	['idle', 'Idle'],
	['issue', 'Issuing'],
	['achieved_occupancy', 'Achieved occupancy'],
	['occupancy', 'Theoretical occupancy'],
	['fill', 'SMs with work', 'Cores with work'],
	['tensor', 'Tensor pipe', 'XMX'],
	['fma', 'FP32 pipe', 'ALU0'],
	['alu', 'Integer pipe', 'ALU1'],
	['fp64', 'FP64 pipe'],
	['fp16', 'FP16 arithmetic'],
	['special', 'Special functions'],
	['registers', 'Registers of a thread'],
];

/* What was measured; a verdict about something without a number is in the sentences alone. */
export function lines(m: Memory): { title: string; value: string; why?: string }[] {
	return FACTS.filter(([key]) => m.facts[key] !== undefined)
		.map(([key, title, intel]) => ({
			title: m.maker === 'intel' ? (intel ?? title) : title,
			value: key === 'registers' ? count(m.facts[key]) : percent(m.facts[key] / 100),
			why: flagged(m, key)?.why,
		}))
		.slice(0, 8);
}

function Engine({ m }: { m: Memory }) {
	const name = m.maker === 'intel' ? 'Xe core: vector engines' : 'SM: warp schedulers';

	return (
		<g class="mengine">
			<rect x="14" y="40" width="212" height="232" rx="6" />
			<text class="mt" x="26" y="60">
				{name}
			</text>
			<text class="ms" x="26" y="76">
				{m.facts.processors
					? `${many(m.facts.processors, m.maker === 'intel' ? 'core' : 'SM')} on the device`
					: ''}
			</text>
			{lines(m).map((l, i) => (
				<g key={l.title} class={l.why ? 'bad' : ''}>
					<text x="26" y={102 + 21 * i}>
						{l.title}
					</text>
					<text x="214" y={102 + 21 * i} text-anchor="end" class="mv">
						{l.value}
						{l.why ? ' ⚑' : ''}
					</text>
					{l.why && <title>{plain(l.why)}</title>}
				</g>
			))}
			{!lines(m).length && (
				<text class="ms" x="26" y="102">
					not measured: -q -g ComputeBasic
				</text>
			)}
		</g>
	);
}

const hits = (l: Level | undefined): string => (l?.hits === undefined ? '' : `${percent(l.hits)}|hits`);
const full = (m: Memory, l: Level | undefined): string => {
	const u = used(m, l);

	return u === undefined ? '' : `${percent(u)}|of maximum`;
};

const both = (m: Memory, l: Level | undefined): string => [hits(l), full(m, l)].filter(Boolean).join('|');

/* Where the parts of the picture are, and the arrows between them. */
const PLACES = {
	l1: { x: 320, y: 56, w: 104, h: 96 },
	shared: { x: 320, y: 166, w: 104, h: 96 },
	l2: { x: 542, y: 56, w: 78, h: 206 },
	dram: { x: 712, y: 56, w: 78, h: 206 },
	host: { x: 830, y: 56, w: 120, h: 96 },
	link: { x: 830, y: 166, w: 120, h: 96 },
};
const WAYS = { read: 'left', written: 'right', bytes: 'both' } as const; // where data goes
const GAPS = { l1: { x: 232, to: 316 }, l2: { x: 428, to: 538 }, dram: { x: 624, to: 708 } };

type Place = (typeof PLACES)['l1'];
type Gap = (typeof GAPS)['l1'];

function Diagram({ m, mode, label }: { m: Memory; mode: Mode; label: string }) {
	const at = (key: string) => m.levels.find(l => l.level === key),
		mid = m.maker === 'intel' ? 'l3' : 'l2',
		title = TITLES[m.maker],
		[l1, shared, l2, dram] = [at('l1'), at('shared'), at(mid), at('dram')];
	const off = (l: Level | undefined) =>
		!!l && l.bytes === undefined && l.hits === undefined && used(m, l) === undefined;
	const flow = (
		gap: Gap,
		y: number,
		name: string,
		l: Level | undefined,
		of: 'read' | 'written' | 'bytes',
	) => {
		const v = rate(m, l?.[of]),
			share = v !== undefined && l?.peak ? v / l.peak : undefined;

		return <Arrow {...gap} y={y} way={WAYS[of]} label={name} value={say(m, l, of, mode)} share={share} />;
	};
	const link = (place: Place, name: string, a: string, b: string) => {
		const there = m.rates[a] !== undefined || m.rates[b] !== undefined,
			sub = there ? `${bytes((m.rates[a] ?? 0) + (m.rates[b] ?? 0))}/s` : 'not measured';

		return <Box {...place} title={name} sub={sub} off={m.rates[a] === undefined} />;
	};
	const halves = l2?.read !== undefined || l2?.written !== undefined;

	return (
		<svg class="mdiagram" viewBox="0 0 960 300" role="img" aria-label={label}>
			<rect class="mdevice" x="4" y="14" width="796" height="270" rx="8" />
			<text class="ms" x="16" y="31">
				{plain(m.device).slice(0, 60)}
			</text>
			<Engine m={m} />
			{flow(GAPS.l1, 104, 'L1', l1, 'bytes')}
			{flow(GAPS.l1, 214, title.shared, shared, 'bytes')}
			<Box {...PLACES.l1} title="L1" sub={both(m, l1)} off={off(l1)} why={flagged(m, 'l1')?.why} />
			<Box {...PLACES.shared} title={title.shared} sub={full(m, shared)} off={off(shared)} />
			{halves ? (
				<>
					{flow(GAPS.l2, 104, 'read', l2, 'read')}
					{flow(GAPS.l2, 204, 'write', l2, 'written')}
				</>
			) : (
				flow(GAPS.l2, 154, 'both ways', l2, 'bytes')
			)}
			<Box
				{...PLACES.l2}
				title={title[mid]}
				sub={both(m, l2)}
				off={off(l2)}
				why={flagged(m, mid)?.why ?? flagged(m, 'l2')?.why}
			/>
			{flow(GAPS.dram, 104, 'read', dram, 'read')}
			{flow(GAPS.dram, 204, 'write', dram, 'written')}
			<Box
				{...PLACES.dram}
				title="HBM"
				sub={full(m, dram)}
				off={off(dram)}
				why={flagged(m, 'dram')?.why}
			/>
			{link(PLACES.host, 'PCIe, host', 'pcie_read', 'pcie_written')}
			{link(PLACES.link, m.maker === 'intel' ? 'Xe Link' : 'NVLink', 'nvlink_received', 'nvlink_sent')}
			<line class="mlink" x1="790" x2="830" y1="104" y2="104" />
			<line class="mlink" x1="790" x2="830" y1="214" y2="214" />
		</svg>
	);
}

/* ---- what is missing ------------------------------------------------------------------------ */

function Missing({ m }: { m: Memory }) {
	const lacks = known(m).filter(key => {
			const l = m.levels.find(o => o.level === key);

			return l?.bytes === undefined && used(m, l) === undefined;
		}),
		groups = [...new Set(lacks.map(key => GROUPS[m.maker][key]))];

	if (!lacks.length) return null;
	return (
		<p class="muted">
			Not measured of this kernel: {lacks.map(key => TITLES[m.maker][key]).join(', ')}. To measure it:{' '}
			{groups.map(g => (
				<code key={g}>unitrace {g} ./app </code>
			))}
		</p>
	);
}

/* ---- the tab -------------------------------------------------------------------------------- */

const MODES: { id: Mode; title: string; hint: string }[] = [
	{ id: 'bandwidth', title: 'Bandwidth', hint: 'bytes a second' },
	{ id: 'size', title: 'Total size', hint: 'bytes of all measured launches' },
	{ id: 'percent', title: '% of maximum', hint: 'of what the level can move' },
];

function Picture({ app, sheet, row }: { app: App; sheet: MetricsSheet; row: number }) {
	const [mode, set] = useKept<Mode>(app, 'memory.mode', 'bandwidth'),
		m = sheet.memory[row],
		table = useMemo(() => levelTable(m), [m]),
		name = plain(text(sheet.kernels, row, 'kernel')).slice(0, 200);
	const levels = table.data[0].map(
		(l, i) =>
			`${l} ${table.data[4][i] === null ? 'not measured' : `${number(Number(table.data[4][i]))} GB/s`}`,
	);

	return (
		<section class="card" aria-label="Memory hierarchy">
			<header>
				<h2>Memory hierarchy</h2>
				<Name text={text(sheet.kernels, row, 'kernel')} />
				<span class="muted opt">
					{m.launches
						? `${many(m.launches, 'launch').replace(/launchs$/, 'launches')} measured, ${time(m.ns ?? 0)} each`
						: 'no launch was measured'}
				</span>
				<span class="grow" />
				<Segments label="What arrows say" of={MODES} value={mode} set={set} />
			</header>
			<div class="body">
				<Diagram m={m} mode={mode} label={`Memory hierarchy of ${name}: ${levels.join(', ')}`} />
				<div class="mnotes">
					{m.flags.length > 0 && (
						<ul class="mflags" aria-label="What is bad">
							{m.flags.map(f => (
								<li key={f.at + f.why}>
									<span class="flag" aria-hidden="true">
										⚑{' '}
									</span>
									{plain(f.why)}
								</li>
							))}
						</ul>
					)}
					<Missing m={m} />
				</div>
			</div>
		</section>
	);
}

/* The picture's figures as a table, below the kernels that choose them. */
function Levels({ app, m }: { app: App; m: Memory }) {
	const table = useMemo(() => levelTable(m), [m]);

	return (
		<section class="card" aria-label="Levels of memory">
			<Grid app={app} table={table} label="Levels of memory" file="levels" />
		</section>
	);
}

function MemoryTab({ app }: { app: App }) {
	const { value: sheet, error } = useSheet<MetricsSheet>(app, METRICS, METRICS),
		{ row, pick, open } = useKernel(app, sheet);
	const first = useMemo(
		() =>
			new Set(['kernel', 'grid', 'block', 'launches', 'time', 'share', 'verdict', 'bound', 'reached']),
		[],
	);

	if (error || !sheet) return <Pending app={app} error={error} />;
	const t = sheet.kernels;

	if (!t.rows) return <Empty title="No kernel was measured." />;
	return (
		<div class="page">
			<Picture app={app} sheet={sheet} row={row} />
			<section class="card" aria-label="Kernels">
				<header>
					<h2>Kernels</h2>
					<span class="muted">
						choose one to see its memory; double click: its instructions, or its launches
					</span>
				</header>
				<Grid
					app={app}
					table={t}
					label="Kernels"
					file="memory-kernels"
					sort="time"
					first={first}
					selected={r => r === row}
					flag={(r, key) =>
						key === 'kernel' && sheet.memory[r].flags.length
							? { tone: 'bad', why: sheet.memory[r].flags[0].why }
							: null
					}
					onPick={r => pick(r)}
					onOpen={open}
				/>
			</section>
			<Levels app={app} m={sheet.memory[row]} />
		</div>
	);
}

export const MEMORY_TABS: Tab[] = [
	{ id: TOOL, title: 'Memory hierarchy', needs: hasMetrics, view: MemoryTab },
];
