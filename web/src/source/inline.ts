// inline.ts - a trace that lies in the page itself: unpacked and asked in a worker, so that large
// tables do not hold up the picture; in the page's own thread where there can be no worker.

import { readContainer } from '../engine/container';
import { Engine } from '../engine/engine';
import type { Method, Methods, Source } from './contract';

export interface Question {
	id: number;
	method?: Method;
	ask?: unknown;
	load?: string; // base64 of a deflated container
}

export interface Reply {
	id: number;
	answer?: unknown;
	error?: string;
}

export async function unpack(base64: string): Promise<Uint8Array> {
	const text = atob(base64.trim()), packed = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		packed[i] = text.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* What runs in the worker. */
export function serveEngine(port: { onmessage: ((e: MessageEvent) => void) | null;
	postMessage(m: Reply, transfer?: Transferable[]): void }, given?: Engine): void {
	let engine = given;

	port.onmessage = async (e: MessageEvent) => {
		const q = e.data as Question;

		try {
			if (q.load !== undefined) {
				engine = new Engine(readContainer(await unpack(q.load)));
				port.postMessage({ id: q.id });
				return;
			}
			const answer: unknown = engine!.answer(q.method!, q.ask as never);

			port.postMessage({ id: q.id, answer }, answer instanceof ArrayBuffer ? [answer] : []);
		} catch (error) {
			port.postMessage({ id: q.id, error: error instanceof Error ? error.message : String(error) });
		}
	};
}

/* Asks an engine behind a port; an answer that nobody waits for any more is dropped. */
export class PortSource implements Source {
	private next = 1;
	private readonly waiting = new Map<number, { done(a: unknown): void; failed(e: Error): void }>();

	constructor(private readonly port: { postMessage(q: Question): void;
		onmessage: ((e: MessageEvent) => void) | null }) {
		port.onmessage = e => {
			const reply = e.data as Reply, w = this.waiting.get(reply.id);

			this.waiting.delete(reply.id);
			if (reply.error !== undefined)
				w?.failed(new Error(reply.error));
			else
				w?.done(reply.answer);
		};
	}

	send(q: Omit<Question, 'id'>, signal?: AbortSignal): Promise<unknown> {
		return new Promise((done, failed) => {
			const id = this.next++;

			this.waiting.set(id, { done, failed });
			signal?.addEventListener('abort', () => {
				if (this.waiting.delete(id))
					failed(new DOMException('not asked any more', 'AbortError'));
			});
			this.port.postMessage({ id, ...q });
		});
	}

	ask<M extends Method>(method: M, ask: Methods[M]['ask'], signal?: AbortSignal) {
		return this.send({ method, ask }, signal) as Promise<Methods[M]['answer']>;
	}

	watch(): () => void { return () => undefined; }
}

/* Without a worker: the same, in this thread. */
export class EngineSource implements Source {
	constructor(private readonly engine: Engine) {}

	async ask<M extends Method>(method: M, ask: Methods[M]['ask']): Promise<Methods[M]['answer']> {
		return this.engine.answer(method, ask);
	}

	watch(): () => void { return () => undefined; }
}

/* script: the text of this very program, which runs as the worker too. */
export async function openInline(base64: string, script: string | null): Promise<Source> {
	if (script && typeof Worker !== 'undefined')
		try {
			const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
			const source = new PortSource(new Worker(url));

			await source.send({ load: base64 });
			return source;
		} catch (e) {
			if (e instanceof Error && /trace/.test(e.message)) // a damaged trace, not a missing worker
				throw e;
		}
	return new EngineSource(new Engine(readContainer(await unpack(base64))));
}
