// draft.ts - what is about to be configured, the command line for it, and what was typed before.

import { computed, signal } from '@preact/signals';
import {
	call,
	isAbort,
	path,
	Refusal,
	resultPath,
	type Analysis,
	type Command,
	type Configuration,
	type Option,
	type Problem,
	type ResultDetail,
	type Started,
} from './api';
import { secretFor } from './machines';
import { CONFIGURE, go, resultAddress } from './route';
import {
	addProject,
	analyses,
	choose,
	current,
	failed,
	find,
	loadProjects,
	projects,
	remember,
	remembered,
} from './store';

export type Draft = Configuration;

const FIRST: Draft = { what: 'launch', analysis: 'hotspots', children: true, paused: true, options: {} };

export const draft = signal<Draft>(FIRST);
export const isTouched = signal(false); // by the one who is here
export const newProject = signal(''); // its name, where there is none yet
export const command = signal<Command | null>(null);
export const tried = signal(false); // to start it: now everything that is wrong is said
export const starting = signal(false);

/* What a start was refused for. It counts until something is changed: an answer about the command line may still
 * be under way, and knows nothing of it. */
const refused = signal<{ draft: Draft; problems: Problem[] } | null>(null);
const problems = computed<Problem[]>(() =>
	refused.value?.draft === draft.value ? refused.value.problems : (command.value?.problems ?? []),
);

export function edit(change: Partial<Draft>): void {
	isTouched.value = true;
	draft.value = { ...draft.peek(), ...change };
}

/* ---- what was typed before ---- */

export type Past = 'application' | 'parameters' | 'directory' | 'launcher';

const PASTS: Past[] = ['application', 'parameters', 'directory', 'launcher'];
const KEPT = 12;

export function past(of: Past): string[] {
	try {
		return JSON.parse(remembered(`past.${of}`) || '[]') as string[];
	} catch {
		return [];
	}
}

function keepPast(d: Draft): void {
	for (const of of PASTS) {
		const value = d[of];

		if (value)
			remember(
				`past.${of}`,
				JSON.stringify([value, ...past(of).filter(v => v !== value)].slice(0, KEPT)),
			);
	}
}

/* ---- analyses ---- */

export const analysis = computed<Analysis | null>(
	() =>
		analyses.value?.analyses.find(a => a.id === draft.value.analysis) ??
		analyses.value?.analyses[0] ??
		null,
);

export const optionByKey = computed(
	() => new Map<string, Option>((analyses.value?.options ?? []).map(o => [o.key, o])),
);

/* The value that an option has now: '' is off. */
export const valueOf = (a: Analysis, key: string): string =>
	draft.value.options?.[key] ?? a.options.find(o => o.key === key)?.value ?? '';

/* What all options that are on cost together: as much as the dearest. */
export const level = computed(() => {
	const a = analysis.value;

	if (!a) return 1;
	return a.options.reduce(
		(most, o) => (valueOf(a, o.key) ? Math.max(most, optionByKey.value.get(o.key)?.level ?? 1) : most),
		1,
	);
});

/* Values that differ from those of the analysis: the server keeps what is in it. */
export function setOption(key: string, value: string): void {
	const a = analysis.peek()!,
		usual = a.options.find(o => o.key === key)?.value ?? '',
		options = { ...draft.peek().options };

	if (value === usual) delete options[key];
	else options[key] = value;
	edit({ options });
}

/* ---- the line ---- */

/* As it is sent: nothing that is empty, nothing of another kind. */
export function configuration(d: Draft): Configuration {
	const attach = d.what === 'attach';
	const all: Configuration = {
		...d,
		...(attach
			? { application: '', parameters: '', directory: '', environment: [], paused: false }
			: { pid: undefined, duration: '' }),
		launcher: d.what === 'mpi' ? d.launcher : '',
		resumeAfter: attach ? '' : d.resumeAfter,
		stopAfter: attach ? '' : d.stopAfter,
		environment: attach ? [] : d.environment?.filter(v => v.name || v.value),
	};

	return Object.fromEntries(
		Object.entries(all).filter(([, v]) => v !== '' && v !== undefined),
	) as unknown as Configuration;
}

let asking: AbortController | null = null;

/* Asks for the line of what is configured now. */
export async function askCommand(d: Draft, project: string): Promise<void> {
	asking?.abort();
	asking = new AbortController();
	try {
		command.value = await call<Command>(
			'POST',
			'command',
			{ ...configuration(d), project: project || 'PROJECT' },
			asking.signal,
		);
	} catch (e) {
		if (!isAbort(e)) failed(e);
	}
}

const EMPTY_IS_FINE = new Set(['application', 'pid', 'launcher', 'analysis']);

/* What is wrong with a field. Nobody is scolded for what has not been filled in yet. */
export function wrongWith(field: string): string {
	const found = problems.value.find(p => p.field === field);

	if (!found || (!tried.value && EMPTY_IS_FINE.has(field) && !draft.value[field as keyof Draft])) return '';
	return found.text;
}

const FIELDS = new Set([
	...EMPTY_IS_FINE,
	'parameters',
	'directory',
	'environment',
	'resumeAfter',
	'stopAfter',
	'duration',
	'maxSize',
	'keepLast',
	'name',
	'target',
	'password',
]);

/* Problems that have no field of their own. */
export const otherProblems = computed<Problem[]>(() =>
	problems.value.filter(p => !FIELDS.has(p.field) && !analysis.value?.options.some(o => o.key === p.field)),
);

/* ---- starting ---- */

export async function start(paused: boolean): Promise<void> {
	const asked = draft.peek(),
		d = { ...asked, paused },
		project = current.peek() || newProject.peek().trim();

	tried.value = true;
	if (starting.peek()) return;
	starting.value = true;
	try {
		if (!projects.peek()?.some(p => p.name === project)) await addProject(project || 'first');
		const run = await call<Started>('POST', `projects/${path(current.peek())}/runs`, {
			...configuration(d),
			...secretFor(d.target),
		});

		keepPast(d);
		tried.value = false;
		draft.value = { ...draft.peek(), name: '' };
		if (!find(run.project, run.result)) await loadProjects();
		go(resultAddress(run.project, run.result));
	} catch (e) {
		if (!(e instanceof Refusal) || !e.problems.length || draft.peek() !== asked) failed(e);
		else refused.value = { draft: asked, problems: e.problems };
		requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid]')?.focus());
	} finally {
		starting.value = false;
	}
}

/* The configuration of a result, to be changed and run again. */
export async function configureAgain(project: string, result: string, goThere = true): Promise<void> {
	try {
		const { asked } = await call<ResultDetail>('GET', resultPath(project, result));

		if (!goThere && isTouched.peek()) return; // somebody has begun to type meanwhile
		if (goThere) choose(project);
		if (asked?.configuration)
			draft.value = { ...FIRST, ...asked.configuration, name: '', project: undefined };
		isTouched.value = goThere;
		if (goThere) go(CONFIGURE);
	} catch (e) {
		failed(e);
	}
}

/* Whoever comes to a project finds what was run there last. */
export async function startWhereItWas(project: string): Promise<void> {
	const last = projects
		.peek()
		?.find(p => p.name === project)
		?.results.find(r => r.analysis);

	if (last && !isTouched.peek()) await configureAgain(project, last.name, false);
}
