// events.ts - what happens on the server. Browsers open six connections to a host and no more, so the
// tabs of one browser share one stream: whoever holds the lock listens and tells the others.

import { api, base } from './api';
import { loadProjects, loadServer, lost, takeRun, type Run } from './store';

interface PageEvent {
	kind: 'changed' | 'run' | 'open' | 'lost';
	data: string;
}

const NAME = `unitrace-events:${base}`;
const TOGETHER = 150; // ms: a move of ten results is one change

let timer: ReturnType<typeof setTimeout> | undefined;

/* Soon, however much happens until then. */
function reload(): void {
	timer ??= setTimeout(() => {
		timer = undefined;
		void loadProjects().catch(() => undefined);
	}, TOGETHER);
}

function hear({ kind, data }: PageEvent): void {
	if (kind === 'changed') reload();
	else if (kind === 'run') {
		if (!takeRun(JSON.parse(data) as Run)) reload();
	} else if (kind === 'lost') lost.value = data;
	else {
		if (lost.peek()) lost.value = '';
		reload(); // what happened meanwhile has gone past us
	}
}

function open(notify: (n: PageEvent) => void): () => void {
	const stream = new EventSource(api('events'));

	stream.addEventListener('changed', () => notify({ kind: 'changed', data: '' }));
	stream.addEventListener('run', e => notify({ kind: 'run', data: String(e.data) }));
	stream.addEventListener('end', () =>
		notify({ kind: 'lost', data: 'The server has ended. Runs go on; this page waits for it.' }),
	);
	stream.onopen = () => notify({ kind: 'open', data: '' });
	stream.onerror = () => {
		if (stream.readyState !== EventSource.CLOSED)
			return notify({ kind: 'lost', data: 'The server does not answer. This page waits for it.' });
		void loadServer().catch(() => undefined); // refused: somebody has to log in again
	};
	return () => stream.close();
}

/* Returns how to stop. */
export function listen(): () => void {
	const stop = new AbortController();

	if (!navigator.locks || typeof BroadcastChannel === 'undefined') return open(hear);
	const channel = new BroadcastChannel(NAME);
	const notifyAll = (n: PageEvent): void => {
		hear(n);
		channel.postMessage(n);
	};

	channel.onmessage = e => hear(e.data as PageEvent);
	navigator.locks
		.request(
			NAME,
			{ signal: stop.signal },
			() =>
				new Promise<void>(done => {
					const close = open(notifyAll);

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
