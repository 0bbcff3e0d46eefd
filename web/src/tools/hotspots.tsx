// hotspots.tsx - the tab of samples: what a program spends its time (or memory) on. What to look at first,
// a flame graph, functions and whatever else samples are told apart by, and around one function who called
// it, what it called, and its lines and instructions. Numbers are those of `unitrace hotspots`.

import { useMemo } from 'preact/hooks';
import { Profile, weightType, type FunctionTree, type ProfileTree, type RowsBy } from './profile';
import type { Cell, CodeRow, Column, Detail, Info, Scope, Stacks, Table } from '../source/contract';
import type { App } from '../state/app';
import { useKept, useKeptJson } from '../state/kept';
import { bytes, count, percent, signed, time } from '../text/format';
import { plain } from '../text/label';
import { Flame } from '../ui/flame';
import { treeTable } from '../ui/flametab';
import { Grid } from '../ui/grid';
import { Empty, Failure, Name, Pending, Segments } from '../ui/kit';
import { exactly, useAnswer } from '../ui/load';
import { hasSheet, type Tab } from '../ui/tab';

const TOOL = 'hotspots',
	NODES = 4000;

export const hasSamples = (info: Info): boolean => hasSheet(info, TOOL, 'code');

/* Whose code: the colours of the flame graph of `unitrace hotspots -o flame.svg`. */
const OWNERS = ['the program', 'Python libraries', 'libraries', 'the kernel'];

type Chosen = [name: string, module: string];

const NOTHING: Chosen = ['', ''];

const amount = (s: Stacks, v: number): string =>
	s.unit === 'ns' ? time(v) : s.unit === 'bytes' ? bytes(v) : count(v);

function useProfile(app: App, scope: Scope, event: string) {
	const { ranges, tracks } = scope,
		ask = {
			scope: { ...(ranges ? { ranges } : {}), ...(tracks ? { tracks } : {}) },
			...(event ? { event } : {}),
		},
		loaded = useAnswer(app, 'stacks', ask),
		profile = useMemo(() => (loaded.value ? new Profile(loaded.value) : null), [loaded.value]);

	return { profile, error: loaded.error, busy: loaded.busy, scope: ask.scope };
}

/* ---- flame graphs -------------------------------------------------------------------------------- */

interface TreeProps {
	app: App;
	profile: Profile;
	tree: FunctionTree;
	label: string;
	chosen: number;
	upside?: boolean;
	before?: Shares | null;
	choose(fn: number): void;
}

/* Share of each path of functions in another run. */
type Shares = Map<string, number>;

function paths(t: FunctionTree): string[] {
	const out: string[] = [];

	t.parent.forEach((p, i) => out.push(p < 0 ? '' : `${out[p]}\n${t.name[i]}`));
	return out;
}

function SampleFlame({ app, profile, tree, label, chosen, upside, before, choose }: TreeProps) {
	const s = profile.stacks,
		path = useMemo(() => (before ? paths(tree) : []), [tree, before]),
		share = (node: number) => tree.total[node] / (s.weight || 1),
		change = (node: number) => share(node) - (before?.get(path[node]) ?? 0);
	const say = (node: number): string => {
		const module = tree.fn[node] >= 0 ? profile.moduleOf(tree.fn[node]) : '',
			self = upside ? '' : `, self ${amount(s, tree.self[node])}`;

		return `${plain(tree.name[node])} ${percent(share(node))}: ${amount(s, tree.total[node])}${self}, ${count(tree.count[node])} samples${
			before ? `, ${signed(change(node), percent)} since before` : ''
		}${module ? ` (${plain(module)})` : ''}`;
	};

	return (
		<Flame
			app={app}
			tree={tree}
			label={label}
			upside={upside}
			say={say}
			tone={node => `w${tree.fn[node] >= 0 ? profile.functions[tree.fn[node]].owner : 2}`}
			compare={before ? node => change(node) * 4 : undefined}
			marked={node => chosen >= 0 && tree.fn[node] === chosen}
			onPick={(_, node) => tree.fn[node] >= 0 && choose(tree.fn[node])}
		/>
	);
}

const Legend = () => (
	<span class="muted opt legend">
		{OWNERS.map((o, i) => (
			<span key={o}>
				<span class={`sw w${i}`} aria-hidden="true" /> {o}
			</span>
		))}
	</span>
);

/* The other run as shares of its own time; null: there is none, or it is not wanted. */
function useBefore(app: App, event: string, wanted: boolean): Shares | null {
	const other = app.other.value,
		{ value } = useAnswer(
			app,
			'stacks',
			wanted && other ? { scope: {}, ...(event ? { event } : {}) } : null,
			other?.source,
		);

	return useMemo(() => {
		if (!value || !wanted) return null;
		const t = new Profile(value).tree('top-down', -1, Infinity),
			path = paths(t);

		return new Map(path.map((p, i) => [p, t.total[i] / (value.weight || 1)]));
	}, [value, wanted]);
}

/* A tree as rows that open, in the unit of the samples. */
function TreeGrid({
	app,
	profile,
	tree,
	bottomUp,
	chosen,
	choose,
}: Omit<TreeProps, 'label'> & { bottomUp: boolean }) {
	const { table, parents } = treeTable(tree, bottomUp),
		weight = weightType(profile.stacks),
		fn = tree.fn.slice(1);
	const columns = table.columns.map((c): Column => {
		if (c.type === 'time') return { ...c, type: weight };
		return c.key === 'count' ? { ...c, title: 'Samples' } : c;
	});

	return (
		<Grid
			app={app}
			key={String(bottomUp)}
			table={{ ...table, columns }}
			parents={parents}
			label="Tree of samples"
			file={bottomUp ? 'bottom-up' : 'top-down'}
			sort="total"
			first={new Set(['name', 'total', 'share', 'count', 'self'])}
			selected={r => fn[r] === chosen && chosen >= 0}
			onPick={r => choose(fn[r])}
		/>
	);
}

type Order = 'flame' | 'top-down' | 'bottom-up';

interface PartProps {
	app: App;
	profile: Profile;
	chosen: number;
	choose(fn: number): void;
}

function Picture({ app, profile, chosen, choose, event }: PartProps & { event: string }) {
	const [order, set] = useKept<Order>(app, 'hot.order', 'flame'),
		[differ, setDiffer] = useKept<'' | 'yes'>(app, 'hot.differ', ''),
		before = useBefore(app, event, differ === 'yes'),
		kind: ProfileTree = order === 'bottom-up' ? 'bottom-up' : 'top-down',
		tree = useMemo(() => profile.tree(kind, -1, NODES), [profile, kind]),
		parts = { app, profile, tree, chosen, choose };

	return (
		<section class="card bounded" aria-label="Samples by stack">
			<header>
				<h2>Stacks</h2>
				<Segments
					label="Order of stacks"
					value={order}
					set={set}
					of={[
						{ id: 'flame', title: 'Flame graph' },
						{ id: 'top-down', title: 'Top-down' },
						{ id: 'bottom-up', title: 'Bottom-up' },
					]}
				/>
				{app.side === 'after' && app.other.value && order === 'flame' && (
					<label>
						<input
							type="checkbox"
							checked={differ === 'yes'}
							onChange={e => setDiffer(e.currentTarget.checked ? 'yes' : '')}
						/>{' '}
						Difference
					</label>
				)}
				<span class="grow" />
				{order === 'flame' && !before && <Legend />}
				{before && (
					<span class="muted opt">red: a larger share than before, green: a smaller one</span>
				)}
			</header>
			{order === 'flame' ? (
				<div class="scroll pad hotflame">
					<SampleFlame {...parts} label="Flame graph of samples" before={before} />
					{tree.left > 0 && <p class="dim">{count(tree.left)} smaller ones are not shown.</p>}
				</div>
			) : (
				<TreeGrid {...parts} bottomUp={order === 'bottom-up'} />
			)}
		</section>
	);
}

/* ---- tables -------------------------------------------------------------------------------------- */

const BY: { id: RowsBy; title: string }[] = [
	{ id: 'function', title: 'Function' },
	{ id: 'own', title: 'Own code' },
	{ id: 'line', title: 'Line' },
	{ id: 'python-line', title: 'Python line' },
	{ id: 'module', title: 'Module' },
	{ id: 'thread', title: 'Thread' },
	{ id: 'task', title: 'Task' },
	{ id: 'process', title: 'Process' },
];

function Rows({ app, profile, chosen, choose }: PartProps) {
	const [by, set] = useKept<RowsBy>(app, 'hot.by', 'function'),
		{ table, fn } = useMemo(() => profile.table(by), [profile, by]),
		scripts = profile.stacks.frames.whose.some(w => w & 8);

	return (
		<section class="card bounded" aria-label="Hotspots">
			<header>
				<h2>Where it goes</h2>
				<Segments
					label="Rows"
					value={by}
					set={set}
					of={BY.filter(b => b.id !== 'python-line' || scripts)}
				/>
			</header>
			<Grid
				app={app}
				key={by}
				table={table}
				label={`Samples by ${by}`}
				file={`hotspots-${by}`}
				sort="self"
				selected={r => chosen >= 0 && fn[r] === chosen}
				onPick={r => fn[r] >= 0 && choose(fn[r])}
			/>
		</section>
	);
}

/* ---- one function -------------------------------------------------------------------------------- */

/* Keys say what unit weights have: self_ns, self_bytes, self. */
const spent = (s: Stacks, r: CodeRow, what: 'self' | 'total'): number | null =>
	r[s.unit ? (`${what}_${s.unit}` as const) : what] ?? null;

/* Blanks as such: a cell would show one of them. */
const asCode = (text: string): string => text.replace(/ /g, '\u00a0') || '\u00a0';

function codeTable(profile: Profile, rows: CodeRow[], assembly: boolean): Table {
	const weight = weightType(profile.stacks),
		all = profile.stacks.weight || 1,
		place = (r: CodeRow): Cell =>
			r.file && r.line ? `${r.file.slice(r.file.lastIndexOf('/') + 1)}:${r.line}` : null;

	return {
		rows: rows.length,
		columns: [
			{ key: 'self', title: 'Self', type: weight },
			{ key: 'share', title: 'Share', type: 'share', hint: 'of all samples' },
			...(assembly
				? [{ key: 'address', title: 'Address', type: 'text' } as Column]
				: [{ key: 'total', title: 'Total', type: weight, hint: 'with what it called' } as Column]),
			{ key: 'place', title: 'Line', type: 'text' },
			{ key: 'code', title: assembly ? 'Instruction' : 'Source', type: 'name' },
		],
		data: [
			rows.map(r => spent(profile.stacks, r, 'self')),
			rows.map(r => {
				const self = spent(profile.stacks, r, 'self');

				return self ? self / all : null;
			}),
			rows.map(r => (assembly ? (r.address ?? null) : spent(profile.stacks, r, 'total'))),
			rows.map(place),
			rows.map(r => asCode(r.text ?? '')),
		],
	};
}

function Code({
	app,
	profile,
	fn,
	scope,
	event,
}: {
	app: App;
	profile: Profile;
	fn: number;
	scope: Scope;
	event: string;
}) {
	const [kind, set] = useKept<'source' | 'assembly'>(app, 'hot.code', 'source'),
		name = profile.nameOf(fn),
		module = profile.moduleOf(fn),
		{ value, error, busy } = useAnswer(app, 'annotate', {
			scope,
			...(event ? { event } : {}),
			name,
			module,
			kind,
		}),
		rows = value?.rows ?? [],
		shown = rows[0]?.kind === 'instruction',
		table = useMemo(() => codeTable(profile, rows, shown), [profile, value]);

	return (
		<section class="card bounded" aria-label="Code" aria-busy={busy}>
			<header>
				<h2>Code</h2>
				<Segments
					label="What code"
					value={kind}
					set={set}
					of={[
						{ id: 'source', title: 'Source' },
						{ id: 'assembly', title: 'Assembly' },
					]}
				/>
				<Name text={name} />
			</header>
			{error ? (
				<Failure app={app} text={error} />
			) : !value ? null : (
				<>
					{value.notes.map(n => (
						<p class="muted pad" key={n}>
							{plain(n)}
						</p>
					))}
					{rows.length > 0 && (
						<Grid
							app={app}
							key={`${kind} ${name}`}
							table={table}
							label="Code with its samples"
							file="code"
						/>
					)}
				</>
			)}
		</section>
	);
}

function Around({ app, profile, chosen, choose }: PartProps) {
	const up = useMemo(() => profile.tree('callers', chosen, 2000), [profile, chosen]),
		down = useMemo(() => profile.tree('callees', chosen, 2000), [profile, chosen]),
		s = profile.stacks,
		part = (v: number) => `${amount(s, v)} (${percent(v / (s.weight || 1))})`;

	return (
		<section class="card" aria-label="Callers and callees">
			<header>
				<h2>Around it</h2>
				<Name text={profile.label(chosen)} />
				<span class="muted num">
					{part(down.self[0])} itself, {part(down.total[0])} with what it calls
				</span>
			</header>
			<div class="scroll pad bread">
				<h3>Who called it</h3>
				<SampleFlame
					{...{ app, profile, chosen, choose }}
					tree={up}
					label="Callers of samples"
					upside
				/>
				<h3>What it called</h3>
				<SampleFlame {...{ app, profile, chosen, choose }} tree={down} label="Callees of samples" />
			</div>
		</section>
	);
}

/* ---- the tab ------------------------------------------------------------------------------------- */

function Verdicts({ profile, choose }: { profile: Profile; choose(fn: number): void }) {
	const s = profile.stacks,
		[first, ...others] = s.verdict,
		busy =
			s.unit === 'ns' && s.span ? `${(s.weight / s.span).toFixed(1)} CPUs were busy on average. ` : '';

	if (!first) return null;
	const fn = first.function ? profile.find(profile.text(first.function)) : -1;

	return (
		<section class="verdict warn" aria-label="Verdict">
			<div>
				<p class="h">{plain(first.say)}</p>
				<p class="e">
					{plain(first.why)}
					{first.why && '. '}
					{busy}
				</p>
				{others.map(o => (
					<p class="e" key={o.say}>
						{plain(o.say)}
						{o.why && `${o.function ? ',' : ':'} ${plain(o.why)}`}
					</p>
				))}
			</div>
			<span class="grow" />
			{fn >= 0 && (
				<button type="button" class="btn" onClick={() => choose(fn)}>
					Show it
				</button>
			)}
		</section>
	);
}

/* What the numbers are about, and how to change that. */
function ScopeBar({
	app,
	profile,
	event,
	set,
}: {
	app: App;
	profile: Profile;
	event: string;
	set(v: string): void;
}) {
	const area = app.area.value,
		s = profile.stacks;

	return (
		<div class="gridbar">
			{s.events.length > 1 && (
				<select
					aria-label="What was sampled"
					value={event || s.event}
					onChange={e => set(e.currentTarget.value)}>
					{s.events.map(e => (
						<option key={e} value={e}>
							{plain(e)}
						</option>
					))}
				</select>
			)}
			<span class="num">
				{amount(s, s.weight)} in {count(s.samples)} samples
			</span>
			{area && (
				<>
					<span class="muted num">
						of the area {time(area.t0)} to {time(area.t1)}
						{area.tracks ? `, ${area.tracks.length} tracks` : ''}
					</span>
					<button type="button" class="btn sm" onClick={() => app.setArea(null)}>
						All of it
					</button>
				</>
			)}
		</div>
	);
}

function HotspotsTab({ app }: { app: App }) {
	const [event, setEvent] = useKept(app, 'hot.event', ''),
		[wanted, keep] = useKeptJson<Chosen>(app, 'hot.fn', NOTHING),
		{ profile, error, scope } = useProfile(
			app,
			app.area.value ? app.areaScope.value : app.scope.value,
			event,
		),
		chosen = profile && wanted[0] ? profile.find(...wanted) : -1;
	const choose = (fn: number) => profile && keep([profile.nameOf(fn), profile.moduleOf(fn)]);

	if (error || !profile) return <Pending app={app} error={error} />;
	const parts = { app, profile, chosen, choose };

	return (
		<div class="page">
			<Verdicts profile={profile} choose={choose} />
			<ScopeBar app={app} profile={profile} event={event} set={setEvent} />
			{profile.stacks.samples ? (
				<>
					<Picture {...parts} event={event} />
					<Rows {...parts} />
					{chosen >= 0 && <Around {...parts} />}
					{chosen >= 0 && <Code {...{ app, profile, scope, event }} fn={chosen} />}
				</>
			) : (
				<Empty title="No sample was taken here." />
			)}
		</div>
	);
}

/* Below the timeline: the samples of the area, or of what is in the window. */
export function AreaSamples({ app }: { app: App }) {
	const [event] = useKept(app, 'hot.event', ''),
		{ profile, error } = useProfile(app, app.areaScope.value, event),
		tree = useMemo(() => profile?.tree('top-down', -1, 3000), [profile]);

	if (error) return <Failure app={app} text={error} />;
	if (!profile || !tree) return null;
	if (!profile.stacks.samples) return <Empty title="No sample was taken here." />;
	return (
		<div class="flamebox">
			<div class="gridbar">
				<span class="num">
					{amount(profile.stacks, profile.stacks.weight)} in {count(profile.stacks.samples)} samples
				</span>
				<button type="button" class="btn sm" onClick={() => (app.tab.value = TOOL)}>
					Functions and code
				</button>
				<span class="grow" />
				<Legend />
			</div>
			<div class="scroll">
				<SampleFlame
					{...{ app, profile, tree }}
					label="Flame graph of the area's samples"
					chosen={-1}
					choose={() => undefined}
				/>
			</div>
		</div>
	);
}

/* In the drawer, of a sample that was clicked: its stack. Other marks have none. */
export function SampleDetails({ app, detail: d }: { app: App; detail: Detail }) {
	const ask = {
			scope: { ranges: [[d.t, d.t + 1]] as [number, number][], tracks: [d.track] },
			event: d.name,
		},
		loaded = useAnswer(app, 'stacks', d.kind === 'mark' ? ask : null),
		value = exactly(loaded, ask),
		profile = useMemo(() => (value?.samples ? new Profile(value) : null), [value]),
		[, keep] = useKeptJson<Chosen>(app, 'hot.fn', NOTHING);

	if (!profile) return null;
	return (
		<section aria-label="Stack">
			<h3 class="muted">Stack, {amount(profile.stacks, profile.stacks.weight)}</h3>
			<ol class="stack">
				{profile.stack().map((f, i) => (
					<li key={i}>
						<button
							type="button"
							class="link"
							onClick={() => {
								keep([profile.nameOf(f.fn), profile.moduleOf(f.fn)]);
								app.tab.value = TOOL;
							}}>
							<Name text={profile.label(f.fn)} />
						</button>{' '}
						<span class="muted">
							{plain(
								f.file
									? `${f.file.slice(f.file.lastIndexOf('/') + 1)}:${f.line}`
									: profile.moduleOf(f.fn) || ' ',
							)}
						</span>
					</li>
				))}
			</ol>
		</section>
	);
}

export const HOTSPOTS_TABS: Tab[] = [
	{
		id: TOOL,
		title: 'Hotspots',
		needs: hasSamples,
		view: HotspotsTab,
	},
];
