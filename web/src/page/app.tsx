// app.tsx - the page around the views: top bar, tabs, chain of narrowings, status.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { isWhole, type Info } from '../source/contract';
import type { App, Theme } from '../state/app';
import { otherSide } from '../state/address';
import { bindKeys, commands } from '../state/keys';
import { bytes, count, many, time } from '../text/format';
import { plain } from '../text/label';
import { TOOL_TABS } from '../tools/all';
import { hasSamples } from '../tools/hotspots';
import { ByKind, hasKind, KINDS } from './bycat';
import { Compare } from '../ui/compare';
import { Dialogs } from '../ui/dialogs';
import { Drawer } from './drawer';
import { FlameTab } from '../ui/flametab';
import { Grid } from '../ui/grid';
import { copy, Empty, Failure, MenuView, Segments, tabKeys, Thinned } from '../ui/kit';
import { useAnswer } from '../ui/load';
import { Search } from '../ui/search';
import { Sql } from '../ui/sql';
import { Summary } from '../ui/summary';
import type { Tab } from '../ui/tab';
import { TimelineView } from '../ui/timeline';
import { Zone } from '../ui/zone';

function Log({ app }: { app: App }) {
	const info = app.info.value,
		all = [
			...info.losses.map(l => `${count(l.count)} ${l.text}`),
			...info.notes,
			...(info.left ? [info.left] : []),
		];

	return (
		<div class="page">
			<section class="card" aria-label="Log">
				<header>
					<h2>Log</h2>
				</header>
				<ul class="body loglist">
					{all.length ? (
						all.map((t, i) => <li key={i}>{plain(t)}</li>)
					) : (
						<li class="muted">Nothing was lost, and the recorder has nothing to say.</li>
					)}
				</ul>
			</section>
		</div>
	);
}

function WindowTable({ app }: { app: App }) {
	const { t0, t1 } = app.view.value,
		area = app.area.value;
	const scope = area
		? app.areaScope.value
		: { ...app.scope.value, ranges: [[t0, t1]] as [number, number][] };
	const { value, error } = useAnswer(app, 'list', { scope, limit: 10000 });

	if (error) return <Failure app={app} text={error} />;
	const id = value?.columns.findIndex(c => c.key === 'id') ?? -1;

	return (
		<section class="tl astable" aria-label="Window as a table">
			{value && (
				<Grid
					app={app}
					table={value}
					label="Slices of the window"
					file="window"
					sort=""
					selected={r => value.data[id][r] === app.selected.value}
					onPick={r => app.select(Number(value.data[id][r]))}
				/>
			)}
		</section>
	);
}

function TimelineTab({ app }: { app: App }) {
	const { slices, samples, live } = app.info.value;

	if (!slices && !samples && !live)
		return (
			<Empty title="This trace holds nothing to draw.">
				<p>
					Slices appear where a program marks its work (ITT, NVTX, Python), calls a GPU, or is
					sampled. Record one: <code>unitrace -o run.utr ./app</code>. What the recorder has to say
					is under Log.
				</p>
			</Empty>
		);
	return (
		<>
			{app.asTable.value ? <WindowTable app={app} /> : <TimelineView app={app} />}
			{app.drawer.value && <Drawer app={app} />}
		</>
	);
}

/* Charts alone have no trace to look at. */
const isTrace = (i: Info): boolean => i.slices > 0 || i.samples > 0 || !i.tools?.length || hasSamples(i);

export const TABS: Tab[] = [
	{ id: 'summary', title: 'Summary', needs: isTrace, view: Summary },
	...TOOL_TABS,
	{ id: 'timeline', title: 'Timeline', needs: isTrace, view: TimelineTab },
	{ id: 'flame', title: 'Flame graph', needs: i => i.slices > 0, view: FlameTab },
	{
		id: 'zone',
		title: 'Find zone',
		needs: i => i.slices > 0,
		view: ({ app }) => (
			<div class="page">
				<Zone app={app} />
			</div>
		),
	},
	...KINDS.map((kind): Tab => ({
		id: kind.id,
		title: kind.title,
		needs: i => hasKind(i.cats, kind) && !TOOL_TABS.some(t => t.id === kind.id && t.needs(i)),
		view: ({ app }) => <ByKind app={app} kind={kind} />,
	})),
	{ id: 'compare', title: 'Compare', needs: i => i.slices > 0, view: Compare },
	{ id: 'sql', title: 'SQL', needs: isTrace, view: Sql },
	{
		id: 'log',
		title: 'Log',
		needs: isTrace,
		view: Log,
		badge: i => {
			const n = i.losses.reduce((s, l) => s + l.count, 0);
			return n ? { text: count(n), tone: 'warn' } : null;
		},
	},
];

/* What the server has besides the page, and the way to have all of it made anew. */
function Files({ app }: { app: App }) {
	const { links, can } = app.info.value;
	const again = () => {
		app.source
			.ask('again', {})
			.then(() => location.reload())
			.catch(e => app.fail(e));
	};

	return (
		<>
			{can.again && (
				<button type="button" class="btn opt" title="Read the input again" onClick={again}>
					Refresh
				</button>
			)}
			{links && (
				<select
					class="opt"
					aria-label="Files"
					value=""
					onChange={e => {
						location.assign(e.currentTarget.value);
						e.currentTarget.value = '';
					}}>
					<option value="">Files</option>
					{links.map(l => (
						<option key={l.href} value={l.href}>
							{plain(l.title)}
						</option>
					))}
				</select>
			)}
		</>
	);
}

/* How long a recording has been going on, by the clock on the wall. */
function Running({ start }: { start: string }) {
	const [now, set] = useState(Date.now());

	useEffect(() => {
		const timer = setInterval(() => set(Date.now()), 1000);

		return () => clearInterval(timer);
	}, []);
	const s = Math.max(0, Math.floor((now - Number(BigInt(start) / 1000000n)) / 1000));

	return <span class="num">{`${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`}</span>;
}

/* What is still to come of the trace, and what the window does about it. */
/* framed: how long and how much is told around us. */
function Growth({ app, framed }: { app: App; framed: boolean }) {
	const info = app.info.value,
		following = app.following.value !== null;

	return (
		<>
			{info.live && (
				<span class="badge bad" title="The program is being recorded">
					<i class="dot" aria-hidden="true" /> live{' '}
					{!framed && info.start !== '0' && <Running start={info.start} />}
					{!framed && info.bytes ? ` ${bytes(info.bytes)}` : ''}
				</span>
			)}
			{(info.read ?? 1) < 1 && <span class="dim">{Math.floor(100 * (info.read ?? 1))} % read</span>}
			{app.grows.value && (
				<button
					type="button"
					class="btn sm"
					aria-pressed={following}
					title="Move the window with the end of the trace"
					onClick={() => app.follow(following ? null : 'end')}>
					Follow
				</button>
			)}
			{info.ended && <span class="badge">{info.ended}</span>}
			{info.failed && (
				<span class="badge bad" title={info.failed}>
					failed run
				</span>
			)}
		</>
	);
}

/* Of a long path its end, which tells it from others. */
const shortPath = (title: string): string =>
	title.length > 48 && title.startsWith('/')
		? `…/${title.split('/').slice(-3).join('/')}`.slice(0, 120)
		: title.slice(0, 120);

/* lead: what stands for our name and the trace's, where somebody else frames the page. */
function TopBar({ app, lead }: { app: App; lead?: ComponentChildren }) {
	const info = app.info.value,
		next: Record<Theme, Theme> = { auto: 'dark', dark: 'light', light: 'contrast', contrast: 'auto' };

	return (
		<header class="top">
			{lead ?? (
				<span class="brand">
					<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
						<rect class="f0" x="1" y="3" width="11" height="3.4" rx="1.2" />
						<rect class="f1" x="5" y="8.3" width="13" height="3.4" rx="1.2" />
						<rect class="f2" x="9" y="13.6" width="7" height="3.4" rx="1.2" />
					</svg>
					<span class="opt">unitrace</span>
				</span>
			)}
			<div class="crumb">
				{!lead && (
					<b>
						<bdi title={plain(info.title).slice(0, 1000)}>{shortPath(plain(info.title))}</bdi>
					</b>
				)}
				{info.subtitle && (
					<span class="opt dim">
						<bdi>{plain(info.subtitle).slice(0, 200)}</bdi>
					</span>
				)}
				{!info.subtitle && (
					<span class="opt dim">
						{info.ranks ? `${many(info.ranks, 'rank')}, ` : ''}
						{many(info.slices, 'slice')}, {time(info.span)}
					</span>
				)}
				<Growth app={app} framed={lead !== undefined} />
			</div>
			{(info.read ?? 1) < 1 && (
				<progress class="hairline" max={1} value={info.read} aria-label="Read so far" />
			)}
			<span class="grow" />
			<Search app={app} />
			<Files app={app} />
			<button type="button" class="btn opt" onClick={() => copy(app, location.href)}>
				Copy link
			</button>
			<button
				type="button"
				class="btn ghost"
				aria-label={`Colours: ${app.theme.value}`}
				title={`Colours: ${app.theme.value}`}
				onClick={() => {
					app.theme.value = next[app.theme.value];
				}}>
				◐
			</button>
			<button
				type="button"
				class="btn ghost opt"
				aria-label="Keys"
				onClick={() => {
					app.dialog.value = 'help';
				}}>
				<kbd>?</kbd>
			</button>
		</header>
	);
}

function Tabs({ app, tabs }: { app: App; tabs: Tab[] }) {
	const shown = app.tab.value;

	useEffect(
		// where they do not all fit
		() =>
			document.getElementById(`tab-${shown}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
		[shown, tabs.length],
	);
	return (
		<nav class="tabs" aria-label="Views">
			<div role="tablist" aria-label="Views of this trace" onKeyDown={tabKeys}>
				{tabs.map(t => {
					const badge = t.badge?.(app.info.value),
						on = app.tab.value === t.id;

					return (
						<button
							key={t.id}
							type="button"
							role="tab"
							id={`tab-${t.id}`}
							aria-selected={on}
							aria-controls="view"
							tabIndex={on ? 0 : -1}
							onClick={() => {
								app.tab.value = t.id;
							}}>
							{t.title}
							{badge && <span class={`badge ${badge.tone}`}>{badge.text}</span>}
						</button>
					);
				})}
			</div>
		</nav>
	);
}

function TimelineButtons({ app }: { app: App }) {
	const places = app.places.value.filter(p => p.track >= 0).length,
		hidden = app.hidden.value.size;

	return (
		<>
			<button
				type="button"
				class="btn sm opt"
				aria-pressed={app.arrows.value}
				onClick={() => {
					app.arrows.value = !app.arrows.value;
				}}>
				Arrows
			</button>
			<button
				type="button"
				class="btn sm opt w"
				aria-pressed={app.minimap.value}
				onClick={() => {
					app.minimap.value = !app.minimap.value;
				}}>
				Minimap
			</button>
			<button
				type="button"
				class="btn sm opt w"
				title="Ctrl P"
				onClick={() => {
					app.dialog.value = 'tracks';
				}}>
				{hidden ? `Tracks ${places - hidden} of ${places}` : many(places, 'track')}
			</button>
			<button
				type="button"
				class="btn sm opt"
				aria-pressed={app.asTable.value}
				title="T"
				onClick={() => {
					app.asTable.value = !app.asTable.value;
				}}>
				As table
			</button>
		</>
	);
}

/* Which of two runs is looked at: the page is opened again for the other one. */
function Runs({ app }: { app: App }) {
	if (!app.side) return null;
	return (
		<Segments
			label="Run"
			value={app.side}
			set={side => {
				if (side === app.side) return;
				history.pushState(null, '', otherSide(app, location.hash));
				location.reload();
			}}
			of={[
				{ id: 'before', title: 'Before' },
				{ id: 'after', title: 'After' },
			]}
		/>
	);
}

function FilterRow({ app }: { app: App }) {
	const chain = app.chain.value;

	return (
		<div class="bar2">
			<button
				type="button"
				class="btn sm"
				disabled={!chain.length}
				title="Undo zoom and filter (Backspace)"
				onClick={() => app.undo()}>
				↶ Undo
			</button>
			<div class="chips">
				<span class={`chip ${chain.length ? '' : 'on'}`}>all {time(app.info.value.span)}</span>
				{chain.map((n, i) => (
					<span key={i} class="chip on">
						<bdi>{plain(n.label).slice(0, 60)}</bdi>
						<button
							type="button"
							aria-label={`Remove ${plain(n.label).slice(0, 60)}`}
							onClick={() => {
								app.chain.value = chain.filter((_, k) => k !== i);
								app.fit();
							}}>
							✕
						</button>
					</span>
				))}
			</div>
			<span class="grow" />
			<Runs app={app} />
			<span class="muted opt w">Colour</span>
			<span class="opt">
				<Segments
					label="Colour by"
					value={app.colourBy.value}
					set={v => {
						app.colourBy.value = v;
					}}
					of={[
						{ id: 'cat', title: 'Category' },
						{ id: 'name', title: 'Name' },
						{ id: 'rank', title: 'Rank' },
					]}
				/>
			</span>
			{app.tab.value === 'timeline' && <TimelineButtons app={app} />}
		</div>
	);
}

/* Its own component: it changes with every frame, and nothing else should. */
function DrawCost({ app }: { app: App }) {
	return <span class="opt">{app.status.value}</span>;
}

/* Options of `stats` that choose these tracks: all of one process, or one thread; null: there are none. */
function trackOptions(app: App, tracks: number[]): string | null {
	const places = tracks.map(t => app.byTrack.value.get(t)),
		first = places[0];

	if (!first) return null;
	const parent = app.byId.value.get(first.parent),
		pid =
			parent?.kind === 'process' &&
			parent.rank < 0 &&
			/^(?:pid )?(\d+)/.exec(parent.sub ?? parent.name)?.[1];

	if (!pid || places.some(p => p?.parent !== parent.id)) return null;
	if (places.length === 1 && first.kind === 'thread' && first.tid)
		return ` --pid ${pid} --thread ${first.tid}`;
	const all = app.places.value.filter(p => p.parent === parent.id && p.track >= 0).length;

	return places.length === all ? ` --pid ${pid}` : null;
}

/* Commands that print what a tab shows of the whole recording. */
const OF_TAB: Record<string, string> = { kernels: 'kernels', ranks: 'ranks' };

/* Tabs whose numbers are those of `stats`. */
const OF_STATS = new Set(['summary', 'timeline', 'flame', 'zone']);

/* The question that was asked last, on one line. */
function query(app: App, own: string): string {
	const asked = (app.kept.value.get('sql') ?? '').trim(),
		sql = asked.replace(/\s*\n\s*/g, ' '),
		quoted = `'${sql.replaceAll("'", "'\\''")}'`;

	// comments and texts may not change; what is shown otherwise than it is cannot be copied
	if (!sql.includes(' ') || sql.includes('--') || /(['"])[^'"]*\n[^'"]*\1/.test(asked)) return '';
	return plain(quoted) === quoted ? `unitrace query ${own} ${quoted}` : '';
}

/* What prints the tab of samples: of the difference only where the other is one file. */
function hotspots(app: App, own: string, times: string): string {
	const other = app.other.value?.cli ?? '';

	if (app.side !== 'after' || app.kept.value.get('hot.differ') !== 'yes' || !app.other.value)
		return `unitrace hotspots${times} ${own}`;
	if (!isWhole(app.scope.value, app.info.value.span) || !/^(?:'[^']*'|[^\s'])+$/.test(other)) return '';
	return `unitrace hotspots --diff ${other} ${own}`;
}

/* What prints the same numbers on a terminal; '': nothing does. */
function command(app: App): string {
	const other = app.other.value,
		own = app.info.value.cli ?? '',
		tab = app.tab.value,
		scope = app.areaScope.value,
		[range, ...more] = scope.ranges ?? [],
		tracks = scope.tracks ? trackOptions(app, scope.tracks) : '';

	if (tab === 'compare' && other)
		return own && other.cli
			? `unitrace diff ${app.side === 'after' ? `${other.cli} ${own}` : `${own} ${other.cli}`}`
			: '';
	if (!own || more.length || scope.query) return '';
	const times = range ? ` --from ${Math.round(range[0])}ns --to ${Math.round(range[1])}ns` : '';

	if (tab === 'sql') return query(app, own);
	if (OF_TAB[tab]) return `unitrace ${OF_TAB[tab]} ${own}`;
	if (tab === 'hotspots') return scope.tracks ? '' : hotspots(app, own, times);
	return tracks === null || !OF_STATS.has(tab) ? '' : `unitrace stats --clip${tracks}${times} ${own}`;
}

function Status({ app }: { app: App }) {
	const info = app.info.value,
		lost = info.losses.reduce((s, l) => s + l.count, 0),
		printed = command(app);

	return (
		<footer class="status">
			<DrawCost app={app} />
			{info.clockError > 0 && <span class="opt">clock error ±{time(info.clockError)}</span>}
			{lost > 0 && (
				<span class="iswarn">{info.losses.map(l => `${count(l.count)} ${l.name}`).join(', ')}</span>
			)}
			{info.left && <span class="iswarn">{info.left}</span>}
			{!isWhole(app.scope.value, info.span) && <Thinned app={app} />}
			<span class="grow" />
			{app.gone.value && (
				<span class="isbad" role="alert">
					{app.gone.value}
				</span>
			)}
			{info.trouble && (
				<span class="isbad" role="alert" title={plain(info.trouble).slice(0, 2000)}>
					<bdi>{plain(info.trouble.split('\n')[0]).slice(0, 160)}</bdi>
					{info.trouble.includes('\n') && ` and ${info.trouble.split('\n').length - 1} more`}
				</span>
			)}
			{app.problem.value && !app.gone.value && (
				<span class="isbad" role="alert">
					{plain(app.problem.value).slice(0, 200)}{' '}
					<button
						type="button"
						class="link"
						onClick={() => {
							app.problem.value = '';
						}}>
						dismiss
					</button>
				</span>
			)}
			{printed && (
				<button
					type="button"
					class="link mono opt w"
					title="Copy: the same numbers on a terminal"
					onClick={e => copy(app, (e.currentTarget as HTMLElement).textContent ?? '')}>
					{plain(printed)}
				</button>
			)}
			<span class="opt">
				<kbd>W</kbd> <kbd>S</kbd> zoom
			</span>
			<span class="opt">
				<kbd>A</kbd> <kbd>D</kbd> move
			</span>
			<span class="opt">
				<kbd>?</kbd> all keys
			</span>
		</footer>
	);
}

/* At most one thing a second is said aloud. */
function Live({ app }: { app: App }) {
	return (
		<div class="sr" role="status" aria-live="polite">
			{app.said.value}
		</div>
	);
}

/* What the system says is one of our themes as well, so that each has its colours once. */
export function followTheme(app: App): () => void {
	const dark = matchMedia('(prefers-color-scheme: dark)'),
		more = matchMedia('(prefers-contrast: more)');
	const set = () => {
		const theme = app.theme.peek(),
			own = dark.matches ? 'dark' : more.matches ? 'contrast' : 'light';

		document.documentElement.dataset.theme = theme !== 'auto' ? theme : own;
	};
	const stop = app.theme.subscribe(set);

	for (const m of [dark, more]) m.addEventListener('change', set);
	return () => {
		stop();
		for (const m of [dark, more]) m.removeEventListener('change', set);
	};
}

export function Page({ app, tabs = TABS, lead }: { app: App; tabs?: Tab[]; lead?: ComponentChildren }) {
	const shown = tabs.filter(t => t.needs(app.info.value)),
		all = useMemo(() => commands(() => shown), [shown.length]);
	const tab = shown.find(t => t.id === app.tab.value) ?? shown.find(t => t.id === 'timeline') ?? shown[0],
		View = tab.view;

	useEffect(() => bindKeys(app, all), [app, all]);
	useEffect(() => followTheme(app), [app]);
	useEffect(() => {
		document.title = `${plain(app.info.value.title).slice(0, 80)} - unitrace`;
	}, [app.info.value.title]);
	return (
		<>
			<a
				class="skip"
				href="#main"
				onClick={e => {
					e.preventDefault();
					document.getElementById('main')?.focus();
				}}>
				Skip to the content
			</a>
			<TopBar app={app} lead={lead} />
			<Tabs app={app} tabs={shown} />
			{isTrace(app.info.value) && <FilterRow app={app} />}
			<main id="main" tabIndex={-1}>
				<div class="view" role="tabpanel" id="view" aria-labelledby={`tab-${tab.id}`}>
					<View key={tab.id} app={app} />
				</div>
			</main>
			{isTrace(app.info.value) && <Status app={app} />}
			<Live app={app} />
			<Dialogs app={app} all={all} />
			<MenuView app={app} />
		</>
	);
}
