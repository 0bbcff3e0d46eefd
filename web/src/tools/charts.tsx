// charts.tsx - tab of commands that draw: charts of hardware metrics, and why instructions stall.
// src/app/cmd/chart_file.c and metrics_page.c write the sheets.

import { useMemo } from 'preact/hooks';
import type { ChartData, StallFinding, StallReport, Table } from '../source/contract';
import type { App } from '../state/app';
import { count, percent } from '../text/format';
import { plain } from '../text/label';
import { Verdict } from '../ui/findings';
import { Grid } from '../ui/grid';
import { Empty, Failure, Name, Pending } from '../ui/kit';
import { useSheet } from '../ui/load';
import { Plot } from '../plot/plot';
import { hasSheet, type Tab } from '../ui/tab';
import { Listing, StallItem } from './stalls';

const TOOL = 'charts',
	TOP = 8; // findings of each kind that are shown in full

/* ---- stalls --------------------------------------------------------------------------------- */

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
			<section class="card code" aria-label="The code with its samples">
				<Listing app={app} report={r} first={r.lines?.length ? 'lines' : 'instructions'} />
			</section>
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
