// charts.tsx - tab of commands that draw: charts of hardware metrics, and why instructions stall.
// src/cmd/chart_file.c and metrics_page.c write the sheets.

import { useMemo, useState } from 'preact/hooks';
import type { ChartData, Table } from '../source/contract';
import type { App } from '../state/app';
import { count, percent } from '../text/format';
import { plain } from '../text/label';
import { Verdict } from '../ui/findings';
import { Grid } from '../ui/grid';
import { Empty, Failure, Name, Pending, Segments } from '../ui/kit';
import { useSheet } from '../ui/load';
import { Plot } from '../plot/plot';
import { hasSheet, type Tab } from '../ui/tab';

const TOOL = 'charts',
	TOP = 8; // findings of each kind that are shown in full

interface Place {
	address: number;
	text: string;
	file?: string;
	line?: number;
	source?: string;
}

interface StallFinding {
	reason: string;
	samples: number;
	share: number;
	instruction: Place;
	causes: (Place & { through?: string })[];
}

/* A line of the source, or an instruction, and the samples that it took. */
interface Counted {
	file?: string;
	line?: number;
	source?: string;
	text?: string; // of an instruction
	samples: number;
	share: number;
	reason?: string; // that most of them wait for
}

interface StallReport {
	kernel: string;
	assembly: string;
	samples: number;
	stalls: number;
	reasons: { reason: string; samples: number; advice?: string }[];
	findings: StallFinding[];
	lines?: Counted[]; // those with samples
	instructions?: Counted[]; // all of the kernel
}

/* ---- stalls --------------------------------------------------------------------------------- */

function Where({ place, through }: { place: Place; through?: string }) {
	return (
		<div class="stallplace">
			<code>{plain(place.text)}</code>
			{through && <p class="muted">through {plain(through)}</p>}
			{place.source && <p class="mono">{plain(place.source)}</p>}
			{place.file && <p class="muted mono">{plain(place.file)}</p>}
		</div>
	);
}

function StallItem({ f }: { f: StallFinding }) {
	return (
		<li class="stall">
			<p>
				<b>{count(f.samples)}</b> samples, {percent(f.share)}
			</p>
			<Where place={f.instruction} />
			{f.causes.length > 0 && <p class="muted">waits for</p>}
			{f.causes.map((c, i) => (
				<Where key={i} place={c} through={c.through} />
			))}
		</li>
	);
}

/* The code of the kernel with its samples, line by line. */
function Listing({ app, report: r }: { app: App; report: StallReport }) {
	const [what, choose] = useState<'lines' | 'instructions'>(r.lines?.length ? 'lines' : 'instructions'),
		of = r[what] ?? [],
		code = (c: Counted) =>
			what === 'lines' ? (c.source ?? '').replace(/^Line \d+:\s*/, '') : (c.text ?? '');
	const table: Table = {
		columns: [
			{ key: 'place', title: 'Line', type: 'text' },
			{ key: 'code', title: what === 'lines' ? 'Source' : 'Instruction', type: 'text' },
			{ key: 'samples', title: 'Samples', type: 'count' },
			{ key: 'share', title: 'Of the kernel', type: 'share' },
			{ key: 'reason', title: 'Waits most for', type: 'text' },
		],
		data: [
			of.map(c => (c.file && c.line ? `${c.file.split('/').pop()}:${c.line}` : null)),
			of.map(c => code(c) || null),
			of.map(c => c.samples || null),
			of.map(c => c.share || null),
			of.map(c => c.reason ?? null),
		],
		rows: of.length,
	};

	return (
		<section class="card" aria-label="The code with its samples">
			<header>
				<h2>The code with its samples</h2>
				<Segments
					label="What"
					value={what}
					set={choose}
					of={[
						{ id: 'lines', title: 'Source' },
						{ id: 'instructions', title: 'Assembly' },
					]}
				/>
				<span class="muted mono">{plain(r.assembly)}</span>
			</header>
			{of.length ? (
				<Grid app={app} table={table} label="The code with its samples" file={what} key={what} />
			) : (
				<Empty title="Lines of the source are not known: compile with -lineinfo or -gline-tables-only." />
			)}
		</section>
	);
}

function Stalls({ app, report: r }: { app: App; report: StallReport }) {
	const reasons = r.reasons
			.filter(x => r.findings.some(f => f.reason === x.reason))
			.sort((a, b) => b.samples - a.samples),
		worst = r.findings.reduce<StallFinding | null>((a, f) => (a && a.samples >= f.samples ? a : f), null);

	return (
		<>
			{worst && (
				<Verdict
					app={app}
					finding={{
						tone: 'warn',
						say: `${percent(worst.share)} of the samples of ${plain(r.kernel).slice(0, 80)} wait at one instruction (${worst.reason}).`,
						why: worst.instruction.source ? worst.instruction.source : worst.instruction.text,
					}}
				/>
			)}
			<Listing app={app} report={r} />
			{reasons.map(reason => {
				const of = r.findings.filter(f => f.reason === reason.reason);

				return (
					<section class="card" key={reason.reason} aria-label={`${reason.reason} stalls`}>
						<header>
							<h2>{plain(reason.reason)} stalls</h2>
							<span class="muted">
								{count(reason.samples)} samples. {reason.advice && plain(reason.advice)}
							</span>
						</header>
						<ol class="stalls">
							{of.slice(0, TOP).map((f, i) => (
								<StallItem key={i} f={f} />
							))}
						</ol>
						{of.length > TOP && <p class="muted">and {count(of.length - TOP)} more</p>}
					</section>
				);
			})}
		</>
	);
}

/* ---- the list of kernels -------------------------------------------------------------------- */

interface Listed {
	table: Table; // a row for each kernel
	links: string[]; // where its first instance is shown
}

function Kernels({ app }: { app: App }) {
	const { value, error } = useSheet<Listed>(app, TOOL, 'kernels');

	if (error) return <Failure app={app} text={error} />;
	if (!value) return null;
	return (
		<section class="card tall" aria-label="Kernels">
			<header>
				<h2>Kernels that were measured</h2>
				<span class="muted">double click: its first instance</span>
			</header>
			<Grid
				app={app}
				table={value.table}
				label="Kernels"
				file="kernels"
				sort="instances"
				onOpen={row => {
					location.href = value.links[row];
				}}
			/>
		</section>
	);
}

/* ---- the tab -------------------------------------------------------------------------------- */

function Charts({ app }: { app: App }) {
	const { value, error } = useSheet<{ charts: ChartData[] }>(app, TOOL, 'charts'),
		{ value: stalls } = useSheet<{ reports: StallReport[] }>(app, TOOL, 'stalls'),
		charts = useMemo(() => value?.charts ?? [], [value]);

	if (error) return <Pending app={app} error={error} />;
	return (
		<div class="page" aria-busy={!value}>
			{hasSheet(app.info.value, TOOL, 'kernels') && <Kernels app={app} />}
			{charts.map((c, i) => (
				<section class="card" key={i} aria-label={plain(c.y.title || c.title || 'Chart')}>
					<header>
						<h2>{plain(c.title ?? '')}</h2>
						{c.subtitle && (
							<span class="muted">
								<Name text={c.subtitle} />
							</span>
						)}
					</header>
					<div class="body">
						<Plot app={app} data={c} file={`chart-${i + 1}`} />
					</div>
				</section>
			))}
			{stalls?.reports.map((r, i) => (
				<Stalls key={i} app={app} report={r} />
			))}
			{value && !charts.length && !hasSheet(app.info.value, TOOL, 'kernels') && (
				<Empty title="There is nothing to draw." />
			)}
		</div>
	);
}

export const CHART_TABS: Tab[] = [
	{
		id: TOOL,
		title: 'Charts',
		needs: info => hasSheet(info, TOOL, 'charts') || hasSheet(info, TOOL, 'kernels'),
		view: Charts,
	},
];
