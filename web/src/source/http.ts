// http.ts - a trace that lies on a server: one POST per question, same origin.

import type { Info, Method, Methods, Source } from './contract';

/* JSON, one answer a line; all but the last are parts. */
async function parts<T>(answer: Response, part?: (a: T) => void): Promise<T> {
	const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
	let text = '',
		line = '';

	for (;;) {
		const { done, value } = await reader.read();

		text += value ?? '';
		for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
			if (line) part?.(JSON.parse(line) as T);
			line = text.slice(0, end);
			text = text.slice(end + 1);
		}
		if (done) break;
	}
	if (line && text.trim()) part?.(JSON.parse(line) as T);
	return JSON.parse(text.trim() || line) as T;
}

/* Why there is no answer, with the status. */
export class Unanswered extends Error {
	constructor(
		readonly status: number,
		text: string,
	) {
		super(text);
	}
}

export class HttpSource implements Source {
	/* base: before the names of methods; live: one stream for the server, whatever it serves */
	constructor(
		private readonly base = 'api/',
		private readonly live = 'api/live',
	) {}

	private async post(method: string, body: string, signal?: AbortSignal): Promise<Response> {
		try {
			return await fetch(this.base + method, {
				method: 'POST',
				signal,
				cache: 'no-store',
				credentials: 'same-origin',
				redirect: 'error',
				headers: { 'Content-Type': 'application/json', 'X-Unitrace': '1' },
				body,
			});
		} catch (e) {
			if (!(e instanceof TypeError)) throw e; // given up
			throw new Error('the server does not answer; is unitrace still running?');
		}
	}

	async ask<M extends Method>(
		method: M,
		ask: Methods[M]['ask'],
		signal?: AbortSignal,
		part?: (a: Methods[M]['answer']) => void,
	) {
		const answer = await this.post(method, JSON.stringify(ask), signal);

		if (!answer.ok)
			throw new Unanswered(
				answer.status,
				(await answer.text()).slice(0, 500) || `the server answered ${answer.status}`,
			);
		if (method === 'window') return (await answer.arrayBuffer()) as Methods[M]['answer'];
		return parts<Methods[M]['answer']>(answer, part);
	}

	watch(grown: (changes: Partial<Info>) => void, gone?: (why: string) => void): () => void {
		const events = new EventSource(this.live);
		const take = (of: Partial<Info>) => {
			latest = Math.max(latest, of.generation ?? -1);
			grown(of);
		};
		const changes = (e: MessageEvent) => take(JSON.parse(String(e.data)) as Partial<Info>);
		let failed = 0,
			latest = -1; // generation that was told

		events.onmessage = changes; // the whole
		events.addEventListener('state', changes); // only what has changed
		events.addEventListener('end', () => {
			events.close();
			gone?.('unitrace has ended; what has been loaded can still be looked at');
		});
		events.onopen = () => {
			if (failed > 1) gone?.('');
			failed = 0;
			// what was told between the first answer and now has gone past us
			this.ask('info', {})
				.then(i => (i.generation ?? -1) > latest && take(i))
				.catch(() => undefined);
		};
		events.onerror = () => {
			failed++; // once: a line that broke and is made again
			if (failed === 2 || events.readyState === EventSource.CLOSED)
				gone?.('unitrace does not answer any more; what has been loaded can still be looked at');
		};
		return () => events.close();
	}
}
