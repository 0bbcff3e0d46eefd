// http.ts - a trace that lies on a server: one POST per question, same origin.

import type { Info, Method, Methods, Source } from './contract';

export class HttpSource implements Source {
	constructor(private readonly base = 'api/') {}

	async ask<M extends Method>(method: M, ask: Methods[M]['ask'], signal?: AbortSignal) {
		const answer = await fetch(this.base + method, { method: 'POST', signal, cache: 'no-store',
			credentials: 'same-origin', redirect: 'error',
			headers: { 'Content-Type': 'application/json', 'X-Unitrace': '1' },
			body: JSON.stringify(ask) });

		if (!answer.ok)
			throw new Error((await answer.text()).slice(0, 500) || `the server answered ${answer.status}`);
		return (method === 'window' ? answer.arrayBuffer() : answer.json()) as Promise<Methods[M]['answer']>;
	}

	watch(grown: (info: Info) => void): () => void {
		const events = new EventSource(`${this.base}live`);

		events.onmessage = e => grown(JSON.parse(String(e.data)) as Info);
		return () => events.close();
	}
}
