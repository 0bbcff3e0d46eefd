// store.ts - what the page knows of the server, as signals, and what can be done to it.

import { batch, computed, signal } from '@preact/signals';
import type { Source } from '../source/contract';
import { App, type Theme } from '../state/app';
import {
	call,
	path,
	Refusal,
	resultPath,
	whenStrange,
	why,
	type Analyses,
	type Deleted,
	type Place,
	type Project,
	type Result,
	type Server,
} from './api';
import { go, resultAddress, route, WELCOME } from './route';

export const server = signal<Server | null>(null);
export const projects = signal<Project[] | null>(null);
export const analyses = signal<Analyses | null>(null);
export const lost = signal(''); // why nobody answers
export const chosen = signal(remembered('project')); // the project that new results go to
export const railOpen = signal(false); // on narrow screens it lies over the page

export type DialogName =
	| { kind: 'project' | 'import' | 'trash' | 'tour' }
	| { kind: 'renameProject'; project: string }
	| { kind: 'rename' | 'notes' | 'compare'; project: string; result: string };

export const dialog = signal<DialogName | null>(null);

export interface Toast {
	text: string;
	tone: '' | 'bad';
	act?: { title: string; run(): void };
}

export const toast = signal<Toast | null>(null);

/* ---- what this browser remembers ---- */

export function remembered(key: string): string {
	try {
		return localStorage.getItem(`unitrace.${key}`) ?? '';
	} catch {
		return ''; // some browsers keep nothing
	}
}

export function remember(key: string, value: string): void {
	try {
		if (value) localStorage.setItem(`unitrace.${key}`, value);
		else localStorage.removeItem(`unitrace.${key}`);
	} catch {
		// it is only for comfort
	}
}

/* ---- the kit of the viewer wants a state: ours has no trace ---- */

const NOBODY: Source = {
	ask: () => Promise.reject(new Error('there is no trace here')),
	watch: () => () => undefined,
};

export const desk = new App(NOBODY);

desk.theme.value = (['light', 'dark', 'contrast'].find(t => t === remembered('theme')) ?? 'auto') as Theme;
desk.theme.subscribe(t => remember('theme', t === 'auto' ? '' : t));
desk.problem.subscribe(text => {
	if (text) tell(text, 'bad');
	desk.problem.value = '';
});

/* ---- saying things ---- */

let toastTimer: ReturnType<typeof setTimeout> | undefined;

export function tell(text: string, tone: Toast['tone'] = '', act?: Toast['act']): void {
	clearTimeout(toastTimer);
	toast.value = { text, tone, act };
	if (tone !== 'bad') toastTimer = setTimeout(() => (toast.value = null), act ? 20000 : 6000);
}

export const failed = (e: unknown): void => tell(why(e), 'bad');

/* ---- asking ---- */

export const everyResult = computed(() =>
	(projects.value ?? []).flatMap(p => p.results.map(r => ({ project: p.name, ...r }))),
);

export const find = (project: string, result: string): Result | undefined =>
	projects.value?.find(p => p.name === project)?.results.find(r => r.name === result);

const BUSY = new Set(['starting', 'running', 'paused', 'writing']);

export const isBusy = (r: Pick<Result, 'state'>): boolean => BUSY.has(r.state);
export const runs = computed(() => everyResult.value.filter(isBusy));

export async function loadServer(): Promise<Server> {
	const now = await call<Server>('GET', 'server');

	server.value = now;
	return now;
}

whenStrange(() => {
	if (server.peek()?.known) server.value = { ...server.peek()!, known: false };
});

export type Run = Result & { project: string };

let loading: Promise<void> | null = null,
	stale = false;
const heard = new Map<string, Run>(); // while the tree was asked for: it may be older than these

const withRun = (all: Project[], { project, ...run }: Run): Project[] =>
	all.map(p =>
		p.name === project ? { ...p, results: p.results.map(r => (r.name === run.name ? run : r)) } : p,
	);

/* Times that the tree was read: something may be in another place than before. */
export const treeReads = signal(0);

/* The whole tree; who asks while it is under way gets one that began later. */
export function loadProjects(): Promise<void> {
	stale = loading !== null;
	loading ??= (async () => {
		try {
			do {
				stale = false;
				heard.clear();
				const all = await call<Project[]>('GET', 'projects');

				batch(() => {
					projects.value = [...heard.values()].reduce(withRun, all);
					treeReads.value++;
				});
			} while (stale);
		} finally {
			loading = null;
		}
	})();
	return loading;
}

/* A run goes on: its line in the tree changes, and nothing else is asked for. False: it is not in the tree. */
export function takeRun(run: Run): boolean {
	if (loading) heard.set(JSON.stringify([run.project, run.name]), run);
	if (!find(run.project, run.name)) return false;
	projects.value = withRun(projects.peek()!, run);
	return true;
}

export async function loadAnalyses(): Promise<void> {
	analyses.value = await call<Analyses>('GET', 'analyses');
}

/* ---- doing ---- */

/* Projects that are gone are none; without a choice it is the one that changed last. */
export const current = computed(() => {
	const all = projects.value ?? [];

	if (all.some(p => p.name === chosen.value)) return chosen.value;
	return [...all].sort((a, b) => b.changed - a.changed)[0]?.name ?? '';
});

export function choose(project: string): void {
	chosen.value = project;
	remember('project', project);
}

export async function addProject(name: string): Promise<void> {
	await call('POST', 'projects', { name });
	choose(name);
	await loadProjects();
}

export async function renameProject(project: string, name: string): Promise<void> {
	await call('PATCH', `projects/${path(project)}`, { name });
	if (chosen.peek() === project) choose(name);
	const at = route.peek();

	if (at.page === 'result' && at.project === project) go(resultAddress(name, at.result), true);
	await loadProjects();
}

export async function changeResult(
	project: string,
	result: string,
	to: { name?: string; project?: string; notes?: string },
): Promise<void> {
	await call('PATCH', resultPath(project, result), to);
	const at = route.peek();

	if ((to.name || to.project) && at.page === 'result' && at.project === project && at.result === result)
		go(resultAddress(to.project ?? project, to.name ?? result), true);
	await loadProjects();
}

export async function restore(id: string): Promise<void> {
	const back = await call<Place>('POST', `trash/${path(id)}`);

	await loadProjects();
	tell(`Restored ${back.result ?? back.project}.`);
}

/* Deleting needs no question: it can be undone. */
export async function remove(project: string, result: string | null): Promise<void> {
	const where = result === null ? `projects/${path(project)}` : resultPath(project, result);

	try {
		const { undo } = await call<{ undo: string }>('DELETE', where);
		const at = route.peek();

		if (at.page === 'result' && at.project === project && (result === null || at.result === result))
			go(WELCOME);
		await loadProjects();
		tell(`Deleted ${result ?? project}.`, '', {
			title: 'Undo',
			run: () => void restore(undo).catch(failed),
		});
	} catch (e) {
		failed(e);
	}
}

export const trash = (): Promise<Deleted[]> => call<Deleted[]>('GET', 'trash');

export function control(project: string, result: string, what: string): void {
	call('POST', `${resultPath(project, result)}/control`, { do: what }).catch((e: unknown) => {
		// it has ended by itself meanwhile: the tree will say so
		if (!(e instanceof Refusal && e.status === 409)) failed(e);
	});
}
