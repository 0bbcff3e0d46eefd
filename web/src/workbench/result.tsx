// result.tsx - a result, or two of them, in the viewer: the same front end as `unitrace view`, asked through
// the server, with the tabs that only a result has.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Info, Method, Methods } from '../source/contract';
import { HttpSource, Unanswered } from '../source/http';
import { bindAddress, sideOf } from '../state/address';
import { App } from '../state/app';
import { time } from '../text/format';
import { plain } from '../text/label';
import { Page, TABS } from '../page/app';
import { Empty, tabKeys } from '../ui/kit';
import type { Tab } from '../ui/tab';
import { Asked, CollectionLog, Fetch, type Of } from './about';
import { api, call, path, resultPath, why, type Result, type ResultDetail } from './api';
import { DevicesOf } from './how';
import { openMenu, resultActs } from './rail';
import { Link } from './parts';
import { CONFIGURE } from './route';
import { RunStrip } from './run';
import { analyses, desk, dialog, find, isBusy, loadAnalyses, projects, railOpen, server } from './store';

/* What a viewer behind the server says of itself is about its files; here a result has a name. */
class Served extends HttpSource {
	constructor(
		at: string,
		private readonly title: string,
		private readonly first: string,
		live = at,
	) {
		super(at, `${live}live`);
	}

	private named<T extends Partial<Info>>(info: T): T {
		const { links: _, ...rest } = { ...info, title: this.title };

		return rest as T;
	}

	override async ask<M extends Method>(
		method: M,
		ask: Methods[M]['ask'],
		signal?: AbortSignal,
		part?: (a: Methods[M]['answer']) => void,
	) {
		const answer = await super.ask(method, ask, signal, part);

		if (method !== 'info') return answer;
		const info = this.named(answer as Info);

		return {
			...info,
			first: info.first ?? (info.live ? 'timeline' : this.first),
		} as Methods[M]['answer'];
	}

	override watch(grown: (changes: Partial<Info>) => void, gone?: (why: string) => void): () => void {
		return super.watch(changes => {
			const { first: _, ...rest } = this.named(changes);

			grown(rest);
		}, gone);
	}
}

/* Two results: the one from after is what is looked at, unless the address says otherwise. */
export interface Pair extends Of {
	beforeProject: string;
	beforeResult: string;
}

const isPair = (of: Of): of is Pair => 'beforeResult' in of;

function makeApp(of: Of): App {
	if (!isPair(of)) {
		const at = api(`${resultPath(of.project, of.result)}/view/`),
			app = new App(new Served(at, of.result, 'summary'));

		app.compareWith = () => {
			dialog.value = { kind: 'compare', project: of.project, result: of.result };
		};
		return app;
	}
	const at = api(`compare/${path(of.project, of.result, of.beforeProject, of.beforeResult)}/`),
		after = new Served(at, of.result, 'compare'),
		before = new Served(`${at}before/`, of.beforeResult, 'compare', at);

	return sideOf(location.hash) === 'before'
		? new App(before, 'before', () => Promise.resolve(after))
		: new App(after, 'after', () => Promise.resolve(before));
}

interface Opened {
	app: App;
	close(): void;
}

async function openApp(of: Of): Promise<Opened> {
	const app = makeApp(of);

	await app.open();
	app.foldMany();
	const themed = new URLSearchParams(location.hash.slice(1)).has('th');
	const unbind = bindAddress(app, r => `${time(r[0][0])} to ${time(r[r.length - 1][1])}`);

	if (!themed) app.theme.value = desk.theme.peek();
	const unfollow = app.theme.subscribe(t => {
		desk.theme.value = t;
	});

	(window as unknown as { app: App }).app = app; // for tests and for the curious
	return {
		app,
		close: () => {
			unfollow();
			unbind();
			app.close();
		},
	};
}

/* A recording is followed; the files that it becomes are another trace. '': there is none, or not yet. */
type Phase = '' | 'live' | 'files';

function usePhase(of: Of, r: Result | undefined): Phase {
	const [none, setNone] = useState(true),
		doubtful = !isPair(of) && !!r && !isBusy(r) && (r.state !== 'ready' || r.trouble !== '');

	useEffect(() => {
		if (!doubtful) return;
		const stop = new AbortController();

		call<ResultDetail>('GET', resultPath(of.project, of.result), undefined, stop.signal)
			.then(d => setNone(!d.files.some(f => f.trace)))
			.catch(() => undefined);
		return () => stop.abort();
	}, [doubtful, r?.state, r?.bytes]);
	/* of what was recorded on another machine only a part is here yet */
	if (!r || r.state === 'starting' || (doubtful && none) || (r.target && r.state === 'writing'))
		return isPair(of) ? 'files' : '';
	return isBusy(r) ? 'live' : 'files';
}

/* Once for a recording, once more for the files that it becomes. */
function useApp(of: Of, phase: Phase): { app: App | null; error: string } {
	const [now, set] = useState<{ app: App | null; error: string }>({ app: null, error: '' });

	useEffect(() => {
		let left = false,
			opened: Opened | null = null;

		if (!phase) return;

		const open = (): Promise<Opened> =>
			openApp(of).catch((e: unknown) => {
				// nothing has been recorded yet, or a large file is being read: the server has waited a while
				if (left || !(e instanceof Unanswered) || e.status !== 503) throw e;
				return open();
			});

		open()
			.then(o => {
				opened = o;
				if (left) o.close();
				else set({ app: o.app, error: '' });
			})
			.catch((e: unknown) => {
				if (!left) set({ app: null, error: sentence(why(e)) });
			});
		return () => {
			left = true;
			opened?.close();
			set({ app: null, error: '' });
		};
	}, [JSON.stringify(of), phase]);
	return now;
}

/* ☰, the project and the result with all that can be done to it. */
/* Errors of the server behind which the viewer stands are JSON. */
function sentence(text: string): string {
	try {
		return (JSON.parse(text) as { error: string }).error;
	} catch {
		return text;
	}
}

function Lead({ of, r }: { of: Of; r: Result | undefined }) {
	return (
		<div class="lead">
			<RailButton />
			<bdi class="muted opt">{plain(of.project)} /</bdi>
			{isPair(of) ? (
				<b class="ellipsis">
					<bdi>{plain(of.beforeResult)}</bdi> → <bdi>{plain(of.result)}</bdi>
				</b>
			) : (
				<button
					type="button"
					class="btn"
					aria-haspopup="menu"
					disabled={!r}
					onClick={e => r && openMenu(e.currentTarget, resultActs(of.project, r))}>
					<b class="ellipsis">
						<bdi>{plain(of.result)}</bdi>
					</b>{' '}
					▾
				</button>
			)}
		</div>
	);
}

export function RailButton() {
	return (
		<button
			type="button"
			class="btn ghost railbutton"
			aria-label="Projects"
			aria-expanded={railOpen.value}
			onClick={() => {
				railOpen.value = !railOpen.value;
			}}>
			☰
		</button>
	);
}

/* The viewer's tabs, and those of a result. Its own log is part of ours. */
function tabsOf(of: Of): Tab[] {
	return [
		...TABS.filter(t => t.id !== 'log'),
		{
			id: 'configuration',
			title: 'Analysis Configuration',
			needs: () => true,
			view: () => <Asked {...of} />,
		},
		{
			id: 'log',
			title: 'Collection Log',
			needs: () => true,
			view: ({ app }) => <CollectionLog {...of} app={app} />,
			badge: TABS.find(t => t.id === 'log')?.badge,
		},
	];
}

/* There is no trace to show: the result still has a log, and says why. */
function WithoutTrace({ of, r, error }: { of: Of; r: Result; error: string }) {
	const [tab, set] = useState('log'),
		busy = isBusy(r);
	const all: [string, string, ComponentChildren][] = [
		['log', 'Collection Log', <CollectionLog {...of} />],
		['configuration', 'Analysis Configuration', <Asked {...of} />],
	];

	return (
		<>
			<header class="top">
				<Lead of={of} r={r} />
				<span class="grow" />
			</header>
			<nav class="tabs" aria-label="Views">
				<div role="tablist" aria-label="Views of this result" onKeyDown={tabKeys}>
					{all.map(([id, title]) => (
						<button
							key={id}
							type="button"
							role="tab"
							id={`tab-${id}`}
							aria-selected={tab === id}
							aria-controls="view"
							tabIndex={tab === id ? 0 : -1}
							onClick={() => set(id)}>
							{title}
						</button>
					))}
				</div>
			</nav>
			<main id="main" tabIndex={-1}>
				<div class="view scrolls2" role="tabpanel" id="view" aria-labelledby={`tab-${tab}`}>
					<Empty
						title={
							busy
								? r.state === 'paused'
									? 'Paused: nothing has been recorded yet.'
									: r.target && r.state === 'writing'
										? `It is fetched from ${plain(r.target)}.`
										: 'Nothing has been recorded yet.'
								: 'There is no trace to show.'
						}>
						<p>
							{busy
								? r.target && r.state === 'writing'
									? 'The timeline appears here when all of it has arrived.'
									: 'The timeline appears here with the first event. Resume starts the recording.'
								: plain(r.trouble || error)}
						</p>
						{!busy && <Fetch {...of} />}
					</Empty>
					{all.find(([id]) => id === tab)![2]}
				</div>
			</main>
		</>
	);
}

function Missing({ of }: { of: Of }) {
	return (
		<>
			<header class="top">
				<RailButton />
			</header>
			<main id="main" tabIndex={-1}>
				<Empty
					title={`There is no result “${plain(of.result).slice(0, 80)}” in “${plain(of.project).slice(0, 80)}”.`}>
					<p>
						It may have been renamed, moved or deleted: look at the left, or into the trash. Or{' '}
						<Link to={CONFIGURE}>record one</Link>.
					</p>
				</Empty>
			</main>
		</>
	);
}

/* An analysis of devices that has found none: said, with what there is, before somebody looks for it. */
function NoDevice({ app, r }: { app: App; r: Result }) {
	const all = analyses.value?.analyses ?? [],
		a = all.find(x => x.title === r.analysis),
		group = (a?.base === undefined ? a : all.find(x => x.id === a.base))?.group,
		{ live, read, tools } = app.info.value;

	useEffect(() => {
		if (!analyses.peek()) void loadAnalyses().catch(() => undefined);
	}, []);
	if (group !== 'GPU' || live || read !== undefined || tools?.some(t => t.id === 'kernels')) return null;
	return (
		<div class="note nodevice" role="note">
			<b>No work of a device was recorded.</b> The program used none, or none that can be seen.
			{server.value?.profiling && <DevicesOf target={r.target} />}
		</div>
	);
}

export function ResultPage({ of }: { of: Of }) {
	const r = find(of.project, of.result),
		busy = !!r && isBusy(r),
		pair = isPair(of);
	const phase = usePhase(of, r);
	const tabs = useMemo(() => (pair ? TABS : tabsOf(of)), [JSON.stringify(of)]);
	const { app, error } = useApp(of, phase);

	useEffect(() => {
		document.title = `${plain(of.result).slice(0, 80)} - unitrace`;
	}, [of.result]);
	if (projects.value && !r) return <Missing of={of} />;
	return (
		<>
			{busy && <RunStrip key={`${of.project}/${of.result}`} project={of.project} r={r} />}
			{app && r && !pair && <NoDevice app={app} r={r} />}
			{app && <Page key={app.source} app={app} tabs={tabs} lead={<Lead of={of} r={r} />} />}
			{!app && r && (error || busy || !phase) && <WithoutTrace of={of} r={r} error={error} />}
			{!app && !error && !busy && phase && (
				<main id="main" tabIndex={-1} aria-busy="true">
					<p class="none">Opening…</p>
				</main>
			)}
		</>
	);
}
