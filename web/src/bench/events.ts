// events.ts - what happens on the server. Browsers open six connections to a host and no more, so the
// tabs of one browser share one stream: whoever holds the lock listens and tells the others.

import type { Project, Result } from './api';
import { api, base } from './api';
import { loadProjects, loadServer, lost, projects } from './store';

interface News {
	kind: 'changed' | 'run' | 'open' | 'lost';
	data: string;
}

const NAME = `unitrace-events:${base}`;
const TOGETHER = 150; // ms: a move of ten results is one change

let timer: ReturnType<typeof setTimeout> | undefined;

function reload(): void {
	clearTimeout(timer);
	timer = setTimeout(() => void loadProjects().catch(() => undefined), TOGETHER);
}

/* A run goes on: its line in the tree changes, and nothing else is asked for. */
function take(run: Result & { project: string }): void {
	const all = projects.peek(),
		at = all?.findIndex(p => p.name === run.project) ?? -1;

	if (!all || at < 0 || !all[at].results.some(r => r.name === run.name)) return reload();
	const next: Project[] = [...all];

	next[at] = { ...all[at], results: all[at].results.map(r => (r.name === run.name ? run : r)) };
	projects.value = next;
}

function hear({ kind, data }: News): void {
	if (kind === 'changed') reload();
	else if (kind === 'run') take(JSON.parse(data) as Result & { project: string });
	else if (kind === 'lost') lost.value = data;
	else {
		if (lost.peek()) lost.value = '';
		reload(); // what happened meanwhile has gone past us
	}
}

function open(tell: (n: News) => void): () => void {
	const stream = new EventSource(api('events'));

	stream.addEventListener('changed', () => tell({ kind: 'changed', data: '' }));
	stream.addEventListener('run', e => tell({ kind: 'run', data: String((e as MessageEvent).data) }));
	stream.addEventListener('end', () =>
		tell({ kind: 'lost', data: 'The server has ended. Runs go on; this page waits for it.' }),
	);
	stream.onopen = () => tell({ kind: 'open', data: '' });
	stream.onerror = () => {
		if (stream.readyState !== EventSource.CLOSED)
			return tell({ kind: 'lost', data: 'The server does not answer. This page waits for it.' });
		void loadServer().catch(() => undefined); // refused: somebody has to log in again
	};
	return () => stream.close();
}

/* Returns how to stop. */
export function listen(): () => void {
	const stop = new AbortController();

	if (!navigator.locks || typeof BroadcastChannel === 'undefined') return open(hear);
	const channel = new BroadcastChannel(NAME);
	const tellAll = (n: News): void => {
		hear(n);
		channel.postMessage(n);
	};

	channel.onmessage = e => hear(e.data as News);
	navigator.locks
		.request(
			NAME,
			{ signal: stop.signal },
			() =>
				new Promise<void>(done => {
					const close = open(tellAll);

					stop.signal.addEventListener('abort', () => {
						close();
						done();
					});
				}),
		)
		.catch(() => undefined); // stopped while it waited
	return () => {
		stop.abort();
		channel.close();
	};
}
