// roofline.tsx - the tab of `unitrace roofline`: kernels under the roofs of their device, and what of
// it they use. The sheet is written by src/app/cmd/roofline_page.c.

import { useState } from 'preact/hooks';
import type { ChartData, Table } from '../source/contract';
import type { App } from '../state/app';
import { plain } from '../text/label';
import { useFindings, Findings, Verdict } from '../ui/findings';
import { Grid } from '../ui/grid';
import { cell, Name, Pending } from '../ui/kit';
import { useSheet } from '../ui/load';
import { Plot } from '../plot/plot';
import { hasSheet, type Tab } from '../ui/tab';

const TOOL = 'roofline',
	SHEET = 'roofline';

interface Charted {
	kind: 'places' | 'used';
	chart: ChartData;
	rows: number[][]; // of each series: the kernel of each of its points
}

export interface Roofline {
	charts: Charted[];
	kernels: Table; // the longest first
	levels: Table; // its column row: of kernels
}

/* Rows of one kernel only, as a table. */
function some(t: Table, kernel: number): Table {
	const at = t.columns.findIndex(c => c.key === 'row'),
		rows = t.data[at].flatMap((v, i) => (v === kernel ? [i] : []));

	return {
		columns: t.columns.filter((_, i) => i !== at),
		data: t.data.filter((_, i) => i !== at).map(of => rows.map(r => of[r])),
		rows: rows.length,
	};
}

/* Null until it is there, and where too little was counted for one. */
export function useRoofline(app: App): Roofline | null {
	return useSheet<Roofline>(app, TOOL, SHEET).value;
}

function RooflineTab({ app }: { app: App }) {
	const { value: sheet, error } = useSheet<Roofline>(app, TOOL, SHEET),
		found = useFindings(app),
		[kernel, choose] = useState(0);

	if (error || !sheet) return <Pending app={app} error={error} />;
	const name = sheet.kernels.rows ? String(cell(sheet.kernels, kernel, 'kernel')) : '';

	const show = ({ kind, chart, rows }: Charted) => (
		<section class="card" key={kind} aria-label={plain(chart.title ?? 'Chart')}>
			<header>
				<h2>{plain(chart.title ?? 'Chart')}</h2>
				<span class="muted opt">{kind === 'used' ? chart.subtitle : ''}</span>
			</header>
			<div class="body">
				<Plot
					data={chart}
					chosen={(series, at) => rows[series]?.[at] === kernel}
					onPick={(series, at) => choose(rows[series]?.[at] ?? kernel)}
				/>
			</div>
		</section>
	);

	return (
		<div class="page">
			{found.length > 0 && <Verdict app={app} finding={found[0]} />}
			{sheet.charts.filter(c => c.kind === 'places').map(show)}
			<section class="card" aria-label="Kernels">
				<header>
					<h2>Kernels</h2>
				</header>
				<Grid
					app={app}
					table={sheet.kernels}
					label="Kernels"
					file="roofline"
					sort="time"
					selected={r => r === kernel}
					onPick={choose}
				/>
			</section>
			{name && (
				<section class="card" aria-label="Levels of memory">
					<header>
						<h2>Levels of memory</h2>
						<Name text={name} />
					</header>
					<Grid
						app={app}
						table={some(sheet.levels, kernel)}
						label="Levels of memory"
						file="levels"
					/>
				</section>
			)}
			{sheet.charts.filter(c => c.kind === 'used').map(show)}
			{found.length > 1 && <Findings app={app} all={found.slice(1)} />}
		</div>
	);
}

export const ROOFLINE_TABS: Tab[] = [
	{
		id: TOOL,
		title: 'Roofline',
		needs: info => hasSheet(info, TOOL, SHEET),
		view: RooflineTab,
	},
];
