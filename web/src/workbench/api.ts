// api.ts - the interface of `unitrace serve` (share/site/openapi.json): its types and one function to ask.

export interface Server {
	known: boolean;
	hasPassphrase: boolean;
	needsPassphrase: boolean;
	version?: string;
	profiling?: boolean;
	remote?: boolean;
	dataDirectory?: string;
	dataBytes?: number;
	dataQuota?: number; // missing: there is none
}

export type State = 'ready' | 'starting' | 'running' | 'paused' | 'writing' | 'failed' | 'cut';

export interface Result {
	name: string;
	state: State;
	made: number; // s since 1970
	bytes: number;
	seconds?: number;
	status?: number; // as from waitpid()
	analysis: string;
	program: string;
	target: string;
	verdict: string;
	tone: '' | 'good' | 'warn' | 'bad';
	say: string; // the verdict in one sentence; '': not known
	trouble: string;
	hasNotes: boolean;
}

export interface Project {
	name: string;
	changed: number;
	results: Result[];
}

export interface Line {
	words: string[];
	directory: string;
	variables: Variable[];
	shell: string;
}

export interface Variable {
	name: string;
	value: string;
}

export type What = 'launch' | 'attach' | 'mpi';

/* What is asked for: one object for the command line, a run, and what a result remembers. */
export interface Configuration {
	project?: string;
	name?: string;
	target?: string;
	what?: What;
	application?: string;
	parameters?: string;
	launcher?: string;
	directory?: string;
	environment?: Variable[];
	pid?: number;
	children?: boolean;
	paused?: boolean;
	resumeAfter?: string;
	stopAfter?: string;
	duration?: string;
	maxSize?: string;
	keepLast?: string;
	analysis: string;
	options?: Record<string, string>;
}

export interface Problem {
	field: string; // '': all of it
	text: string;
}

export interface Command extends Line {
	result: string;
	problems: Problem[];
}

export interface Started extends Line {
	project: string;
	result: string;
}

export interface ResultDetail extends Result {
	project: string;
	notes: string;
	asked:
		| (Partial<Line> & {
				configuration?: Configuration;
				kind?: string;
				from?: string;
				machine?: { login: 'key' | 'password'; host: string };
		  })
		| null;
	how: Record<string, unknown> | null;
	far: { folder: string; run: string } | null; // on another machine, until it is fetched
	files: { name: string; bytes: number; trace: boolean }[];
}

export interface Deleted {
	id: string;
	project: string;
	result: string | null;
	deleted: number;
}

export interface Place {
	project: string;
	result: string | null;
}

export interface Piece {
	from: number;
	next: number;
	text: string;
}

export interface Option {
	key: string;
	title: string;
	help: string;
	cost: string;
	kind: 'flag' | 'choice' | 'number' | 'text';
	words: string;
	level: number;
	attach: boolean;
	with?: string;
	unit?: string;
	low?: number;
	high?: number;
	choices?: string[];
}

export interface Analysis {
	id: string;
	group: string;
	title: string;
	help: string;
	level: number;
	base?: string; // of a clone: what it was made from
	options: { key: string; value: string; open: boolean }[];
}

export interface Analyses {
	options: Option[];
	analyses: Analysis[];
}

export interface Process {
	pid: number;
	name: string;
	words: string;
	cpu: number;
}

export interface Devices {
	devices: { number: number; name: string }[];
	notes: string[]; // why a kind of device is not there
}

export interface Folder {
	path: string;
	entries: { name: string; folder: boolean; program: boolean }[];
	more: boolean;
}

export interface Token {
	name: string;
	made: number;
	used: number;
}

/* The server said no: why, which fields, and how long to wait. */
export class Refusal extends Error {
	constructor(
		readonly status: number,
		text: string,
		readonly problems: Problem[] = [],
		readonly wait = 0, // s
	) {
		super(text);
	}
}

const own = document.querySelector<HTMLMetaElement>('meta[name=unitrace-base]')?.content ?? '/';

/* Where the page lies: behind a proxy that is a folder. */
export const base = own.endsWith('/') ? own : `${own}/`;
export const api = (path: string): string => `${base}api/v1/${path}`;

/* Names may hold anything but a slash; each is one part of an address. */
export const path = (...parts: string[]): string => parts.map(encodeURIComponent).join('/');
export const resultPath = (project: string, result: string): string =>
	`projects/${path(project)}/results/${path(result)}`;

let strange = (): void => undefined; // nobody knows us any more

export function whenStrange(tell: () => void): void {
	strange = tell;
}

async function refusal(answer: Response): Promise<Refusal> {
	const wait = Number(answer.headers.get('Retry-After') ?? 0);
	let text = '',
		problems: Problem[] = [];

	try {
		const said = (await answer.json()) as { error?: string; problems?: Problem[] };

		text = said.error ?? '';
		problems = said.problems ?? [];
	} catch {
		// a proxy's page
	}
	return new Refusal(answer.status, text || `the server answered ${answer.status}`, problems, wait);
}

export async function call<T = void>(
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
	where: string,
	body?: unknown,
	signal?: AbortSignal,
): Promise<T> {
	let answer: Response;

	try {
		answer = await fetch(api(where), {
			method,
			signal,
			cache: 'no-store',
			credentials: 'same-origin',
			redirect: 'error',
			headers: {
				'X-Unitrace': '1',
				...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
			},
			body: body === undefined ? undefined : JSON.stringify(body),
		});
	} catch (e) {
		if (!(e instanceof TypeError)) throw e; // given up
		throw new Refusal(0, 'the server does not answer; is unitrace serve still running?');
	}
	if (answer.status === 401) strange();
	if (!answer.ok) throw await refusal(answer);
	return (answer.status === 204 ? undefined : await answer.json()) as T;
}

export const isAbort = (e: unknown): boolean => e instanceof DOMException && e.name === 'AbortError';
export const why = (e: unknown): string => (e instanceof Error ? e.message : String(e));
