// timeline.tsx - the timeline in the page: minimap, ruler, heads of tracks, the canvas, the tip.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Input } from '../draw/input';
import { visible, type Row } from '../draw/rows';
import { Timeline } from '../draw/timeline';
import { MANY } from '../source/window';
import type { App, Menu } from '../state/app';
import { short, time } from '../text/format';
import { plain } from '../text/label';
import { exactly } from '../source/query';
import { copy, Cut } from './kit';
import { Minimap } from './minimap';

interface Tip {
	x: number;
	y: number;
	name: string;
	say: string;
}

function tipOf(app: App, tl: Timeline, x: number, y: number): Tip | null {
	const u = tl.hover;

	if (!u?.window || u.item < 0) return null;
	const w = u.window.of,
		many = w.row[u.item] === MANY;

	return {
		x,
		y,
		name: app.types.label(w.type[u.item]),
		say: many
			? `several here, this one longest; ${Math.round((w.fill[u.item] / 255) * 100)} % covered`
			: `${time(w.length[u.item])}, at ${time(w.start[u.item])}`,
	};
}

/* Near the pointer, but inside the page. */
function TipView({ tip }: { tip: Tip }) {
	const box = useRef<HTMLDivElement>(null);

	useEffect(() => {
		const b = box.current!,
			r = b.getBoundingClientRect();

		b.style.left = `${Math.max(4, Math.min(tip.x + 14, innerWidth - r.width - 6))}px`;
		b.style.top = `${tip.y + 18 + r.height > innerHeight ? tip.y - r.height - 8 : tip.y + 18}px`;
	});
	return (
		<div ref={box} class="tip" role="tooltip">
			<b class="mono">{tip.name.slice(0, 300)}</b>
			<br />
			<span class="muted">{tip.say}</span>
		</div>
	);
}

const HEAD_LINE = 22; // px of one line of text in a head

function Head({
	app,
	row,
	tl,
	y,
	current,
	focus,
}: {
	app: App;
	row: Row;
	tl: Timeline;
	y: number;
	current: boolean;
	focus(id: number): void;
}) {
	const p = row.place,
		name = plain(row.name),
		sub = p.sub ? plain(p.sub) : '';
	const value =
		row.kind === 'counter'
			? counterSpan(tl, row)
			: p.cpu === undefined
				? ''
				: `${Math.round(p.cpu * 100)}\u202f% CPU`;
	/* The name of a tall track stays in sight while any of the track is. */
	const tall = row.h > 2 * HEAD_LINE,
		into = tall ? Math.max(0, Math.min(-y, row.h - HEAD_LINE)) : 0;

	return (
		<div
			class={`hd ${row.kind === 'group' ? 'g' : ''} ${row.kind === 'counter' ? 'two' : ''} ${row.pinned ? 'pinned' : ''} ${tall ? 'tall' : ''}`}
			role="treeitem"
			data-place={p.id}
			aria-level={row.depth + 1}
			aria-expanded={row.folds ? !row.folded : undefined}
			aria-selected={current}
			tabIndex={current ? 0 : -1}
			style={{
				height: `${row.h}px`,
				transform: `translateY(${y}px)`,
				paddingLeft: `calc(6px + ${Math.min(row.depth, 5)} * var(--indent))`,
				paddingTop: `${into}px`,
			}}
			title={`${name} ${sub}`.slice(0, 500)}
			onFocus={() => focus(p.id)}
			onContextMenu={e => {
				e.preventDefault();
				app.menu.value = { x: e.clientX, y: e.clientY, items: placeItems(app, row) };
			}}>
			<button
				type="button"
				class="twist"
				tabIndex={-1}
				aria-hidden="true"
				style={{ visibility: row.folds ? 'visible' : 'hidden' }}
				onClick={() => app.fold(p.id)}>
				{row.folded ? '▸' : '▾'}
			</button>
			<Cut className="nm" text={name.slice(0, 200)} />
			<span class="sub">{sub.slice(0, 200)}</span>
			<span class="val">{value}</span>
			{row.pinned && <span class="sr">, pinned</span>}
			<span class="acts" aria-hidden="true">
				{!row.pinned && (
					<button type="button" tabIndex={-1} title="Up" onClick={() => app.move(p.id, -1)}>
						↑
					</button>
				)}
				{!row.pinned && (
					<button type="button" tabIndex={-1} title="Hide" onClick={() => app.hide(p.id)}>
						✕
					</button>
				)}
				<button
					type="button"
					tabIndex={-1}
					class="pin"
					title={row.pinned ? 'Unpin' : 'Pin'}
					onClick={() => app.pin(p.id)}>
					{row.pinned ? '●' : '○'}
				</button>
			</span>
		</div>
	);
}

/* What can be done with a track. */
function placeItems(app: App, row: Row): Menu['items'] {
	const p = row.place;

	return [
		{ title: row.pinned ? 'Unpin' : 'Pin', run: () => app.pin(p.id) },
		{ title: 'Hide', run: () => app.hide(p.id) },
		...(row.folds ? [{ title: row.folded ? 'Open' : 'Fold', run: () => app.fold(p.id) }] : []),
		{ title: 'Move up', run: () => app.move(p.id, -1) },
		{ title: 'Move down', run: () => app.move(p.id, 1) },
		{
			title: app.grouped.value ? 'Group by rank' : 'Group by name',
			run: () => {
				app.grouped.value = !app.grouped.value;
			},
		},
		{ title: 'Copy the name', run: () => copy(app, p.name) },
	];
}

/* What can be done with the selection. */
function selectionItems(app: App): Menu['items'] {
	const d = app.detail.value,
		area = app.area.value;

	return [
		...(d
			? [
					{ title: 'Focus', run: () => app.focusSlice() },
					{ title: 'Slice to area', run: () => app.selectionToArea() },
					{
						title: 'Find zone',
						run: () => {
							app.zone.value = d.name;
							app.tab.value = 'zone';
						},
					},
					{ title: 'Search this name', run: () => app.search(exactly(d.name)) },
					{ title: 'Copy the name', run: () => copy(app, d.name) },
				]
			: []),
		...(area
			? [
					{ title: 'Zoom to area', run: () => app.zoomToArea() },
					{ title: 'Zoom and filter in', run: () => app.filterIn() },
				]
			: []),
		...(d || area
			? [
					{ title: 'Filter out', run: () => app.filterOut() },
					{
						title: 'Mark with a note',
						run: () => {
							app.dialog.value = 'note';
						},
					},
				]
			: []),
		{ title: 'Show everything', run: () => app.fit() },
	];
}

function counterSpan(tl: Timeline, row: Row): string {
	const [low, high] = tl.counterRange(row.place.track);

	return `${short(low)} to ${short(high)} ${row.place.unit ?? ''}`;
}

/* How far down the rows are; lies over the canvas, at its right. Keys move through the heads instead. */
function Scrollbar({ tl }: { tl: Timeline }) {
	const { height, pinnedHeight } = tl.layout,
		room = tl.height - pinnedHeight,
		most = height - room + 8;
	const from = useRef<{ y: number; scroll: number } | null>(null);

	if (most <= 8 || room < 40) return null;
	const long = Math.max(24, (room * room) / height),
		top = pinnedHeight + (Math.min(tl.scroll, most) / most) * (room - long);

	return (
		<div
			class="vbar"
			role="scrollbar"
			aria-label="Rows"
			aria-controls="view"
			aria-orientation="vertical"
			aria-valuemin={0}
			aria-valuemax={Math.round(most)}
			aria-valuenow={Math.round(tl.scroll)}
			onPointerDown={e => {
				const y = e.clientY - e.currentTarget.getBoundingClientRect().top;

				e.currentTarget.setPointerCapture(e.pointerId);
				if (y < top || y > top + long)
					tl.scrollTo(((y - pinnedHeight - long / 2) / (room - long)) * most);
				from.current = { y: e.clientY, scroll: tl.scroll };
			}}
			onPointerMove={e => {
				if (e.buttons && from.current)
					tl.scrollTo(from.current.scroll + ((e.clientY - from.current.y) / (room - long)) * most);
			}}
			onPointerUp={() => {
				from.current = null;
			}}
			onWheel={e => tl.scrollTo(tl.scroll + e.deltaY)}>
			<i style={{ top: `${top}px`, height: `${long}px` }} />
		</div>
	);
}

/* A tree with one stop for the Tab key; arrows walk it. */
function Heads({ app, tl }: { app: App; tl: Timeline }) {
	const [, redraw] = useState(0),
		[at, setAt] = useState(-1),
		box = useRef<HTMLDivElement>(null);

	useEffect(() => {
		const again = () => redraw(n => n + 1);

		tl.onLayout = tl.onScroll = again;
		tl.onData = () => {
			if (tl.layout.rows.some(r => r.kind === 'counter')) again();
		};
		again();
		return () => {
			tl.onLayout = tl.onScroll = tl.onData = null;
		};
	}, [tl]);
	const { rows, pinned, pinnedHeight } = tl.layout,
		all = [...pinned, ...rows];
	const current = all.some(r => r.place.id === at) ? at : (all[0]?.place.id ?? -1);
	const keys = (e: KeyboardEvent) => {
		const i = rows.findIndex(r => r.place.id === current),
			row = rows[i],
			by = { ArrowDown: 1, ArrowUp: -1 }[e.key];

		if (by && rows[i + by]) {
			const next = rows[i + by];

			e.preventDefault();
			setAt(next.place.id);
			if (next.y < tl.scroll || next.y + next.h > tl.scroll + tl.height - pinnedHeight)
				tl.scrollTo(next.y - 40);
			requestAnimationFrame(() =>
				box.current?.querySelector<HTMLElement>(`.scrolls [data-place="${next.place.id}"]`)?.focus(),
			);
		} else if (
			row?.folds &&
			(e.key === 'Enter' ||
				e.key === ' ' ||
				(e.key === 'ArrowRight' && row.folded) ||
				(e.key === 'ArrowLeft' && !row.folded))
		) {
			e.preventDefault();
			app.fold(row.place.id);
		} else if (row && ['p', 'h'].includes(e.key)) {
			e.stopPropagation();
			if (e.key === 'p') app.pin(row.place.id);
			else app.hide(row.place.id);
		}
	};
	const head = (row: Row, y: number) => (
		<Head
			key={`${row.pinned ? 'p' : ''}${row.place.id}`}
			app={app}
			row={row}
			tl={tl}
			y={y}
			current={row.place.id === current}
			focus={setAt}
		/>
	);

	return (
		<>
			<Scrollbar tl={tl} />
			<div
				class="heads"
				ref={box}
				role="tree"
				aria-label="Tracks"
				onKeyDown={keys}
				onWheel={e => {
					if (!e.ctrlKey) tl.scrollTo(tl.scroll + e.deltaY);
				}}>
				<div class="scrolls" role="presentation" style={{ top: `${pinnedHeight}px` }}>
					{visible(rows, tl.scroll, tl.scroll + tl.height).map(r => head(r, r.y - tl.scroll))}
				</div>
				<div class="pinnedheads" role="presentation" style={{ height: `${pinnedHeight}px` }}>
					{pinned.map(r => head(r, r.y))}
				</div>
			</div>
		</>
	);
}

export function TimelineView({ app }: { app: App }) {
	const main = useRef<HTMLCanvasElement>(null),
		over = useRef<HTMLCanvasElement>(null),
		ruler = useRef<HTMLCanvasElement>(null);
	const box = useRef<HTMLDivElement>(null),
		section = useRef<HTMLElement>(null);
	const [tl, setTl] = useState<Timeline | null>(null),
		[tip, setTip] = useState<Tip | null>(null);

	useEffect(() => {
		const t = new Timeline(app, { main: main.current!, over: over.current!, ruler: ruler.current! });
		const input = new Input(app, t, main.current!, ruler.current!);
		const around = box.current!,
			size = () => t.resize(around.clientWidth, around.clientHeight);
		const watch = new ResizeObserver(size),
			media = matchMedia('(prefers-color-scheme: dark)'),
			retheme = () => requestAnimationFrame(() => t.retheme()); // when the page has changed

		input.onHover = (x, y) => setTip(x < 0 ? null : tipOf(app, t, x, y));
		size();
		watch.observe(around);
		media.addEventListener('change', retheme);
		const stop = app.theme.subscribe(retheme);

		setTl(t);
		(window as unknown as { timeline: Timeline }).timeline = t; // for tests and benchmarks
		return () => {
			watch.disconnect();
			media.removeEventListener('change', retheme);
			stop();
			input.stop();
			t.stop();
		};
	}, [app]);
	const { t0, t1 } = app.view.value,
		bounds = app.bounds.value,
		width = app.headWidth.value;
	const hidden = app.hidden.value.size;

	return (
		<section
			class={`tl ${app.minimap.value ? '' : 'nomini'}`}
			ref={section}
			aria-label="Timeline"
			style={width ? { '--head': `${width}px` } : undefined}>
			<div class="corner mini">
				<span class="muted">{time(bounds.t1 - bounds.t0)}</span>
				<input
					type="search"
					class="tfilter"
					placeholder="Filter tracks"
					aria-label="Filter tracks"
					value={app.trackFilter.value}
					onInput={e => {
						app.trackFilter.value = e.currentTarget.value;
					}}
				/>
			</div>
			{app.minimap.value && <div class="minibox">{tl && <Minimap app={app} tl={tl} />}</div>}
			<div class="corner">
				<span class="num">{time(t1 - t0, 3)}</span>
				{hidden > 0 && (
					<button
						type="button"
						class="btn sm ghost"
						onClick={() => {
							app.hidden.value = new Set();
						}}>
						{hidden} hidden
					</button>
				)}
				<span
					class="split"
					role="separator"
					aria-orientation="vertical"
					aria-label="Width of the heads"
					tabIndex={0}
					aria-valuenow={width || 232}
					aria-valuemin={80}
					aria-valuemax={600}
					onKeyDown={e => {
						const by = { ArrowLeft: -16, ArrowRight: 16 }[e.key];
						if (by) {
							e.preventDefault();
							app.headWidth.value = Math.max(80, Math.min(600, (width || 232) + by));
						}
					}}
					onPointerDown={e => e.currentTarget.setPointerCapture(e.pointerId)}
					onPointerMove={e => {
						if (e.buttons)
							app.headWidth.value = Math.max(
								80,
								Math.min(600, e.clientX - section.current!.getBoundingClientRect().left),
							);
					}}
				/>
			</div>
			<div class="rulerbox">
				<canvas ref={ruler} aria-hidden="true" />
			</div>
			{tl ? <Heads app={app} tl={tl} /> : <div class="heads" />}
			<div class="canvasbox" ref={box}>
				<canvas
					ref={main}
					class="main"
					tabIndex={0}
					role="application"
					onContextMenu={e => {
						e.preventDefault();
						app.menu.value = { x: e.clientX, y: e.clientY, items: selectionItems(app) };
					}}
					aria-label="Timeline. W and S zoom, A and D move, comma and dot step through slices of a name, T shows this window as a table, question mark lists all keys."
				/>
				<canvas ref={over} class="over" aria-hidden="true" />
			</div>
			{tip && <TipView tip={tip} />}
		</section>
	);
}
