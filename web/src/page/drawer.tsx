// drawer.tsx - below the timeline: tables of the area on the left, details of the slice on the right.

import { isWhole, trackOf, type Detail, type SliceRef, type TreeKind } from '../source/contract';
import type { App } from '../state/app';
import { useKept } from '../state/kept';
import { between, count, exact, many, number, percent, time, utc } from '../text/format';
import { byCategory } from '../text/colour';
import { plain } from '../text/label';
import { TOOL_DETAILS } from '../tools/all';
import { AreaSamples, hasSamples } from '../tools/hotspots';
import { Flame } from '../ui/flame';
import { Grid } from '../ui/grid';
import { Empty, Failure, Name, placePath, Segments, Swatch, tabKeys, Thinned } from '../ui/kit';
import { useAnswer } from '../ui/load';

const TABS = [
	['slices', 'Slices'],
	['threads', 'Tracks'],
	['counters', 'Counters'],
	['devices', 'Devices'],
	['flame', 'Flame graph'],
	['samples', 'Samples'],
] as const;

function AreaTables({ app, tab }: { app: App; tab: string }) {
	const { value, error } = useAnswer(app, 'aggregate', { scope: app.areaScope.value });
	const name = app.detail.value?.name;

	if (error) return <Failure app={app} text={error} />;
	if (!value) return null;
	const table = value[tab as 'slices' | 'threads' | 'counters' | 'devices'] ?? value.slices;
	const names = table.data[table.columns.findIndex(c => c.key === 'name')];
	const longest = table.columns.findIndex(c => c.key === 'longest');
	const { slices, samples, live } = app.info.value,
		isWaiting = live && !samples;

	if (!table.rows)
		return (
			<Empty
				title={
					tab === 'counters'
						? 'No counter has a value here.'
						: tab === 'devices'
							? 'No device worked here.'
							: slices
								? 'Nothing ran here.'
								: isWaiting
									? 'Nothing has been recorded yet.'
									: 'This trace has no slices.'
				}>
				{!slices &&
					(isWaiting ? (
						<p>
							A run that is paused begins to record with <code>__itt_resume()</code>,{' '}
							<code>itt.resume()</code> in Python, or <i>Resume</i>.
						</p>
					) : (
						<p>It holds samples, marks or counters: see the timeline.</p>
					))}
			</Empty>
		);
	return (
		<Grid
			app={app}
			table={table}
			key={tab}
			label={`${tab} of the area`}
			file={`area-${tab}`}
			sort={tab === 'slices' ? 'total' : tab === 'counters' ? '' : 'busy'}
			selected={row => tab === 'slices' && names[row] === name}
			onPick={row => {
				if (longest >= 0) app.select(table.data[longest][row] as number);
			}}
			onOpen={row => {
				if (tab === 'slices') {
					app.zone.value = String(names[row]);
					app.tab.value = 'zone';
				}
			}}
		/>
	);
}

function AreaFlame({ app }: { app: App }) {
	const [kind, set] = useKept<TreeKind>(app, 'area.flame', 'top-down');
	const ask = { scope: app.areaScope.value, kind, nodes: 3000 },
		loaded = useAnswer(app, 'tree', ask),
		{ error } = loaded,
		value = loaded.key.includes(`"kind":"${kind}"`) ? loaded.value : null; // while dragging, the last one

	return (
		<div class="flamebox">
			<div class="gridbar">
				<Segments
					label="Order"
					value={kind}
					set={set}
					of={[
						{ id: 'top-down', title: 'Left heavy' },
						{ id: 'time-order', title: 'Time order' },
						{ id: 'bottom-up', title: 'Bottom-up' },
					]}
				/>
			</div>
			{error ? (
				<Failure app={app} text={error} />
			) : (
				value && (
					<div class="scroll">
						<Flame app={app} tree={value} label="Flame graph of the area" />
					</div>
				)
			)}
		</div>
	);
}

function AreaPane({ app }: { app: App }) {
	const area = app.area.value,
		r = area ?? app.view.value,
		tab = app.drawerTab.value;

	return (
		<div class="pane">
			<div class="ph">
				<h2>{area ? 'Area' : 'Window'}</h2>
				<span class="muted num opt">
					{between(r.t0, r.t1)}
					{area?.tracks ? `, ${many(area.tracks.length, 'track')}` : ''}
				</span>
				{(tab === 'flame' || !isWhole(app.areaScope.value, app.info.value.span)) && (
					<Thinned app={app} />
				)}
				<span class="grow" />
				<div class="sub-tabs" role="tablist" aria-label="Tables of the area" onKeyDown={tabKeys}>
					{TABS.filter(([id]) => id !== 'samples' || hasSamples(app.info.value)).map(
						([id, title]) => (
							<button
								key={id}
								type="button"
								role="tab"
								aria-selected={tab === id}
								tabIndex={tab === id ? 0 : -1}
								onClick={() => {
									app.drawerTab.value = id;
								}}>
								{title}
							</button>
						),
					)}
				</div>
				{area && (
					<button
						type="button"
						class="btn sm opt"
						title="Shift Enter"
						onClick={() => app.filterIn()}>
						Zoom + filter in
					</button>
				)}
			</div>
			<div class="pb_" role="tabpanel" aria-label={tab}>
				{tab === 'flame' ? (
					<AreaFlame app={app} />
				) : tab === 'samples' && hasSamples(app.info.value) ? (
					<AreaSamples app={app} />
				) : (
					<AreaTables app={app} tab={tab} />
				)}
			</div>
		</div>
	);
}

function Step({ app, of, current }: { app: App; of: SliceRef; current: boolean }) {
	return (
		<li aria-current={current ? 'step' : undefined}>
			<i class={`dot k${byCategory(of.name, of.cat)}`} />
			<span class="k">{of.role ?? ''}</span>
			<button type="button" class="link" onClick={() => app.select(of.id, true)}>
				<Name text={of.at ? `${of.name}, ${of.at}` : of.name} />
			</button>
			<span class="num muted">{time(of.dur)}</span>
		</li>
	);
}

function facts(app: App, d: Detail): [string, string][] {
	const at = utc(app.info.value.start, d.t);

	return [
		['Start', time(d.t)],
		['Exactly', exact(d.t)],
		...(at ? [['Clock', at] as [string, string]] : []),
		...(d.kind === 'span'
			? [['Duration', `${time(d.dur)}${d.unfinished ? ', never ended' : ''}`] as [string, string]]
			: []),
		...(d.self !== null && d.kind === 'span'
			? [['Self', `${time(d.self)}, ${percent(d.dur ? d.self / d.dur : 0)}`] as [string, string]]
			: []),
		['Category', plain(d.cat || '–')],
		['Track', placePath(app, app.byTrack.value.get(trackOf(d.id)))],
		...(d.nth
			? [
					[
						'All of this name',
						`${count(d.ofName)}, ${time(d.ofNameTotal)}, mean ${time(d.ofNameTotal / d.ofName)}`,
					] as [string, string],
				]
			: []),
		...d.args.map(([k, v]): [string, string] => [
			plain(k),
			plain(/^-?\d{1,15}$/.test(v) ? number(Number(v)) : v), // longer ones are no amounts
		]),
	];
}

function ToolDetails({ app, detail, beside }: { app: App; detail: Detail; beside: boolean }) {
	return (
		<>
			{TOOL_DETAILS.filter(t => t.needs(app.info.value) && !!t.beside === beside).map((t, i) => (
				<t.view key={i} app={app} detail={detail} />
			))}
		</>
	);
}

/* A link is one only if it leads to this machine: traces come from anywhere. */
const OURS = /^https?:\/\/(localhost|127\.0\.0\.1)(:\d+)?\/[\x21-\x7e]*$/;

function Fact({ text }: { text: string }) {
	if (!OURS.test(text)) return <>{text.slice(0, 2000)}</>;
	return (
		<a href={text} target="_blank" rel="noopener noreferrer" title={text.slice(0, 500)}>
			open
		</a>
	);
}

function DetailPane({ app }: { app: App }) {
	const d = app.detail.value;

	if (!d)
		return (
			<div class="pane">
				<div class="ph">
					<h2>Details</h2>
				</div>
				<Empty title="Nothing is selected.">
					<p>
						Click a slice, or search for one with <kbd>/</kbd>. Drag over the timeline to select
						an area.
					</p>
				</Empty>
			</div>
		);
	const chain = d.chain.length ? d.chain : d.parents.length ? [...d.parents, d] : [];

	return (
		<div class="pane" aria-label="Details">
			<div class="ph">
				<Swatch app={app} type={d.type} />
				<h2 class="mono">
					<Name text={d.name} />
				</h2>
				<span class="grow" />
				<button
					type="button"
					class="btn sm ghost"
					aria-label="Previous of this name"
					title=","
					onClick={() => app.step(-1, 'name')}>
					←
				</button>
				{d.nth > 0 && (
					<span class="dim num">
						{count(d.nth)} of {count(d.ofName)}
					</span>
				)}
				<button
					type="button"
					class="btn sm ghost"
					aria-label="Next of this name"
					title="."
					onClick={() => app.step(1, 'name')}>
					→
				</button>
				<button
					type="button"
					class="btn sm opt"
					title="Z"
					onClick={() => {
						app.zone.value = d.name;
						app.tab.value = 'zone';
					}}>
					Find zone
				</button>
			</div>
			<div class="det">
				<div class="whence">
					{chain.length > 0 && (
						<>
							<h3 class="muted">
								{d.chain.length ? 'Where it comes from, what it led to' : 'Inside'}
							</h3>
							<ol class="chain">
								{chain.map(c => (
									<Step key={c.id} app={app} of={c} current={c.id === d.id} />
								))}
							</ol>
						</>
					)}
					{d.before.length + d.after.length > 0 && (
						<p class="muted">
							{d.before.length} arrow{d.before.length === 1 ? '' : 's'} in, {d.after.length}{' '}
							out: <kbd>[</kbd> <kbd>]</kbd>
						</p>
					)}
					<ToolDetails app={app} detail={d} beside />
				</div>
				<div>
					<dl class="kv">
						{facts(app, d).map(([k, v], i) => (
							<div key={i}>
								<dt>{k}</dt>
								<dd>
									<Fact text={v} />
								</dd>
							</div>
						))}
					</dl>
					<ToolDetails app={app} detail={d} beside={false} />
				</div>
			</div>
		</div>
	);
}

export function Drawer({ app }: { app: App }) {
	const height = app.drawerHeight.value;
	const resize = (h: number) => {
		app.drawerHeight.value = Math.max(90, Math.min(innerHeight - 240, h));
	};

	return (
		<section class="drawer" aria-label="Selection" style={{ '--drawer': `${height}px` }}>
			<div
				class="grip"
				role="separator"
				aria-orientation="horizontal"
				aria-label="Height of the drawer"
				tabIndex={0}
				aria-valuenow={height}
				aria-valuemin={90}
				aria-valuemax={900}
				onKeyDown={e => {
					const by = { ArrowUp: 24, ArrowDown: -24 }[e.key];
					if (by) {
						e.preventDefault();
						resize(height + by);
					}
				}}
				onPointerDown={e => e.currentTarget.setPointerCapture(e.pointerId)}
				onPointerMove={e => {
					if (e.buttons) resize(innerHeight - 24 - e.clientY);
				}}
			/>
			<AreaPane app={app} />
			<DetailPane app={app} />
		</section>
	);
}
