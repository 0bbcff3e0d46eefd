// rail.tsx - projects and their results, as a tree at the left. Only rows that are seen are in the page,
// so a thousand results cost as much as thirty.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { plain } from '../text/label';
import { count, many } from '../text/format';
import { api, resultPath, type Project, type Result } from './api';
import { configureAgain } from './draft';
import { Brand } from './entry';
import { Help, Link } from './parts';
import { CONFIGURE, follow, go, resultAddress, route, SETTINGS, WELCOME } from './route';
import {
	choose,
	control,
	current,
	desk,
	dialog,
	isBusy,
	projects,
	railOpen,
	remember,
	remembered,
	remove,
	server,
} from './store';
import { about, badge } from './words';

const PROJECT = 30,
	RESULT = 44,
	MARGIN = 6; // rows around those that are seen

interface Row {
	id: string;
	project: Project;
	result: Result | null;
	empty: boolean; // a project's word that it has none
	y: number;
	height: number;
	nth: number; // among its siblings, from 1
	of: number;
}

const rank = (r: Result): number => (isBusy(r) ? 0 : 1); // what is under way comes first

/* The rows of the tree: what matches the filter, and what is open. */
function rowsOf(all: Project[], closed: ReadonlySet<string>, filter: string): Row[] {
	const words = filter.toLowerCase().split(/\s+/).filter(Boolean),
		rows: Row[] = [];
	let y = 0;
	const add = (row: Omit<Row, 'y' | 'height' | 'empty'> & { empty?: boolean }, height: number): void => {
		rows.push({ empty: false, ...row, y, height });
		y += height;
	};

	all.forEach((project, i) => {
		const fits = (r: Result): boolean =>
			words.every(w =>
				`${project.name} ${r.name} ${r.program} ${r.analysis} ${r.verdict} ${r.state}`
					.toLowerCase()
					.includes(w),
			);
		const found = words.length ? project.results.filter(fits) : project.results;

		if (words.length && !found.length) return;
		add({ id: `p/${project.name}`, project, result: null, nth: i + 1, of: all.length }, PROJECT);
		if (closed.has(project.name) && !words.length) return;
		[...found]
			.sort((a, b) => rank(a) - rank(b))
			.forEach((result, k) =>
				add(
					{
						id: `r/${project.name}/${result.name}`,
						project,
						result,
						nth: k + 1,
						of: found.length,
					},
					RESULT,
				),
			);
		if (!found.length)
			add({ id: `e/${project.name}`, project, result: null, empty: true, nth: 1, of: 1 }, PROJECT);
	});
	return rows;
}

export interface Act {
	title: string;
	run(): void;
}

/* What can be done with a result, wherever it is shown. */
export function resultActs(project: string, r: Result): Act[] {
	const name = { project, result: r.name };

	return [
		...(isBusy(r)
			? [
					{ title: 'Stop', run: () => control(project, r.name, 'stop') },
					{ title: 'Cancel', run: () => control(project, r.name, 'cancel') },
				]
			: []),
		{ title: 'Compare with…', run: () => (dialog.value = { kind: 'compare', ...name }) },
		{ title: 'Rename or move…', run: () => (dialog.value = { kind: 'rename', ...name }) },
		{ title: 'Notes…', run: () => (dialog.value = { kind: 'notes', ...name }) },
		...(r.analysis
			? [{ title: 'Configure again', run: () => void configureAgain(project, r.name) }]
			: []),
		{
			title: 'Download',
			run: () => location.assign(api(`${resultPath(project, r.name)}/download`)),
		},
		...(isBusy(r) ? [] : [{ title: 'Delete', run: () => void remove(project, r.name) }]),
	];
}

function projectActs(p: Project): Act[] {
	return [
		{
			title: 'Configure analysis…',
			run: () => {
				choose(p.name);
				go(CONFIGURE);
			},
		},
		{
			title: 'Import…',
			run: () => {
				choose(p.name);
				dialog.value = { kind: 'import' };
			},
		},
		{ title: 'Rename…', run: () => (dialog.value = { kind: 'renameProject', project: p.name }) },
		{ title: 'Delete', run: () => void remove(p.name, null) },
	];
}

const acts = (row: Row): Act[] =>
	row.result ? resultActs(row.project.name, row.result) : projectActs(row.project);

/* A menu under something. */
export function openMenu(under: Element, items: Act[]): void {
	const at = under.getBoundingClientRect();

	desk.menu.value = { x: at.left, y: at.bottom, items };
}

export function Badge({ r }: { r: Result }) {
	const b = badge(r);

	if (!b) return null;
	return (
		<span
			class={`badge ${b.tone}`}
			title={plain(r.trouble || (b.text === r.verdict ? r.say : '')).slice(0, 500) || undefined}>
			{b.live && <i class="dot" aria-hidden="true" />} {plain(b.text)}
		</span>
	);
}

interface RowProps {
	row: Row;
	active: boolean;
	open: boolean;
	toggle(): void;
}

function More({ row }: { row: Row }) {
	return (
		<button
			type="button"
			class="more3"
			tabIndex={-1}
			aria-label={`Actions for ${plain(row.result?.name ?? row.project.name).slice(0, 80)}`}
			onClick={e => {
				e.stopPropagation();
				openMenu(e.currentTarget, acts(row));
			}}>
			⋯
		</button>
	);
}

function ProjectRow({ row, active, open, toggle }: RowProps) {
	const { project: p } = row;

	return (
		<div
			role="treeitem"
			id={`row-${row.id}`}
			aria-level={1}
			aria-posinset={row.nth}
			aria-setsize={row.of}
			aria-expanded={open}
			aria-selected={p.name === current.value}
			class={`prow ${active ? 'active' : ''} ${p.name === current.value ? 'current' : ''}`}
			style={{ top: `${row.y}px` }}
			onClick={() => {
				choose(p.name);
				toggle();
			}}>
			<i class="twist" aria-hidden="true">
				{open ? '▾' : '▸'}
			</i>
			<bdi class="ellipsis">{plain(p.name)}</bdi>
			<span class="grow" />
			<span class="dim num">{count(p.results.length)}</span>
			<More row={row} />
		</div>
	);
}

function ResultRow({ row, active }: RowProps) {
	const r = row.result!,
		at = route.value,
		shown = at.page === 'result' && at.project === row.project.name && at.result === r.name;

	return (
		<div
			role="treeitem"
			id={`row-${row.id}`}
			aria-level={2}
			aria-posinset={row.nth}
			aria-setsize={row.of}
			aria-selected={shown}
			class={`rrow ${active ? 'active' : ''} ${shown ? 'shown' : ''}`}
			style={{ top: `${row.y}px` }}>
			<a
				href={resultAddress(row.project.name, r.name)}
				tabIndex={-1}
				title={plain(r.program).slice(0, 500)}
				onClick={e => {
					railOpen.value = false;
					follow(e);
				}}>
				<b class="ellipsis">
					<bdi>{plain(r.name)}</bdi>
				</b>
				{r.hasNotes && (
					<span class="dim" title="There are notes">
						✎
					</span>
				)}
				<Badge r={r} />
				<span class="about ellipsis" title={plain(about(r)).slice(0, 500)}>
					{plain(about(r)).slice(0, 200)}
				</span>
			</a>
			<More row={row} />
		</div>
	);
}

const EmptyRow = ({ row }: RowProps) => (
	<div
		role="treeitem"
		aria-level={2}
		aria-posinset={1}
		aria-setsize={1}
		aria-selected={false}
		id={`row-${row.id}`}
		class="erow dim"
		style={{ top: `${row.y}px` }}>
		No results yet
	</div>
);

const viewOf = (row: Row) => (row.empty ? EmptyRow : row.result ? ResultRow : ProjectRow);

/* Which rows of the scrolled box are seen. */
function useSeen(rows: Row[]) {
	const box = useRef<HTMLDivElement>(null),
		[top, setTop] = useState(0),
		[height, setHeight] = useState(800);

	useEffect(() => {
		const around = box.current!,
			watch = new ResizeObserver(() => setHeight(around.clientHeight));

		watch.observe(around);
		return () => watch.disconnect();
	}, []);
	const first = Math.max(0, rows.findIndex(r => r.y + r.height > top) - MARGIN);
	let last = first;

	while (last < rows.length && rows[last].y < top + height) last++;
	return {
		box,
		seen: rows.slice(first, last + MARGIN),
		scrolled: (e: Event) => setTop((e.currentTarget as HTMLElement).scrollTop), // it may have left the page
		reveal: (row: Row) => {
			const b = box.current!;

			if (row.y < b.scrollTop) b.scrollTop = row.y;
			else if (row.y + row.height > b.scrollTop + b.clientHeight)
				b.scrollTop = row.y + row.height - b.clientHeight;
		},
	};
}

function closedOnes(): ReadonlySet<string> {
	try {
		return new Set(JSON.parse(remembered('closed') || '[]') as string[]);
	} catch {
		return new Set();
	}
}

/* Keys of a tree, as everywhere. */
function treeKeys(
	e: KeyboardEvent,
	rows: Row[],
	at: number,
	move: (to: number) => void,
	isOpen: (p: Project) => boolean,
	toggle: (p: Project) => void,
): void {
	const row = rows[at],
		isProject = row && !row.result && !row.empty;
	const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 };
	const parent = (): number => rows.findIndex(r => r.project === row.project);

	if (e.key in to) move(to[e.key]);
	else if (!row) return;
	else if (e.key === 'ArrowRight' && isProject) {
		if (isOpen(row.project)) move(at + 1);
		else toggle(row.project);
	} else if (e.key === 'ArrowLeft') {
		if (isProject && isOpen(row.project)) toggle(row.project);
		else move(parent());
	} else if (e.key === 'Enter' || e.key === ' ') {
		if (row.result) go(resultAddress(row.project.name, row.result.name));
		else toggle(row.project);
	} else if (e.key === 'F2' && !row.empty)
		dialog.value = row.result
			? { kind: 'rename', project: row.project.name, result: row.result.name }
			: { kind: 'renameProject', project: row.project.name };
	else if (e.key === 'Delete' && row.result) void remove(row.project.name, row.result.name);
	else if ((e.key === 'ContextMenu' || (e.key === 'F10' && e.shiftKey)) && !row.empty)
		openMenu(document.getElementById(`row-${row.id}`)!, acts(row));
	else return;
	e.preventDefault();
	e.stopPropagation();
}

function Tree({ filter }: { filter: string }) {
	const [closed, setClosed] = useState(closedOnes),
		[active, setActive] = useState('');
	const all = projects.value ?? [],
		rows = useMemo(() => rowsOf(all, closed, filter), [all, closed, filter]);
	const { box, seen, scrolled, reveal } = useSeen(rows),
		at = rows.findIndex(r => r.id === active);
	const end = rows.at(-1),
		isOpen = (p: Project): boolean => !!filter || !closed.has(p.name);
	const toggle = (p: Project): void => {
		const next = new Set(closed);

		if (!next.delete(p.name)) next.add(p.name);
		setClosed(next);
		remember('closed', next.size ? JSON.stringify([...next]) : '');
	};
	const move = (to: number): void => {
		const row = rows[Math.max(0, Math.min(rows.length - 1, to))];

		if (!row) return;
		setActive(row.id);
		reveal(row);
	};

	return (
		<div class="railbox" ref={box} onScroll={scrolled}>
			<div
				role="tree"
				aria-label="Projects and results"
				tabIndex={0}
				aria-activedescendant={seen.some(r => r.id === active) ? `row-${active}` : undefined}
				style={{ height: `${end ? end.y + end.height : 0}px` }}
				onFocus={() => at < 0 && move(0)}
				onKeyDown={e => treeKeys(e, rows, at, move, isOpen, toggle)}>
				{seen.map(row => {
					const View = viewOf(row);

					return (
						<View
							key={row.id}
							row={row}
							active={row.id === active}
							open={isOpen(row.project)}
							toggle={() => {
								setActive(row.id);
								toggle(row.project);
							}}
						/>
					);
				})}
			</div>
			{projects.value && !rows.length && (
				<p class="none">
					{all.length
						? 'Nothing matches the filter.'
						: 'No project yet. Results lie in projects: make one for what you want to look at.'}
				</p>
			)}
		</div>
	);
}

export function Rail() {
	const [filter, setFilter] = useState(''),
		number = (projects.value ?? []).reduce((n, p) => n + p.results.length, 0),
		close = () => {
			railOpen.value = false;
		};

	return (
		<nav class={`rail ${railOpen.value ? 'over' : ''}`} aria-label="Projects">
			<div class="railtop">
				<Link to={WELCOME} class="home" title="Welcome page">
					<Brand />
				</Link>
				<span class="grow" />
				<button
					type="button"
					class="btn sm ghost railclose"
					aria-label="Hide projects"
					onClick={close}>
					✕
				</button>
			</div>
			<a
				class="btn pri configure"
				href={CONFIGURE}
				onClick={e => {
					close();
					follow(e);
				}}>
				▶ Configure Analysis…
			</a>
			<header>
				<h2>Projects</h2>
				<span class="grow" />
				<button
					type="button"
					class="btn sm"
					title="Bring in a trace that lies elsewhere"
					onClick={() => (dialog.value = { kind: 'import' })}>
					Import
				</button>
				<button
					type="button"
					class="btn sm"
					aria-label="New project"
					onClick={() => (dialog.value = { kind: 'project' })}>
					+ New
				</button>
				<Help about="Projects">
					<p>
						A project is a folder for the results of one question. Click a result to open it;{' '}
						<kbd>⋯</kbd> has everything else: rename, notes, compare, download, delete.
					</p>
					<p>
						In the tree: arrows walk, Enter opens, <kbd>F2</kbd> renames, <kbd>Delete</kbd>{' '}
						deletes, the menu key opens the menu.
					</p>
				</Help>
			</header>
			<input
				type="search"
				aria-label="Filter results"
				placeholder={`Filter ${many(number, 'result')}`}
				value={filter}
				onInput={e => setFilter(e.currentTarget.value)}
			/>
			<Tree filter={filter} />
			<footer>
				<button
					type="button"
					class="link"
					onClick={() => (dialog.value = { kind: 'trash' })}
					title="What was deleted in the last week">
					Trash
				</button>
				<Link to={SETTINGS} class="link">
					Settings
				</Link>
				<span class="grow" />
				<span class="dim">{server.value?.version}</span>
			</footer>
		</nav>
	);
}
