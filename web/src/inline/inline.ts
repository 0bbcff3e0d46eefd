// inline.ts - a trace that lies in the page itself: unpacked and asked in a worker, so that large tables do
// not hold up the page; in the page's own thread where there can be no worker.

import type { Info, Method, Methods, Sheet, Source } from '../source/contract';
import { codeOf, stallsOf, type CodeSheet, type KernelSheet } from './code';
import { Held, unpack } from './held';

/* A trace and the module that answers about it, as they lie in the page: base64 of deflate, of gzip. */
export interface Packed {
	trace: string;
	module: string;
}

export interface Question {
	id: number;
	method?: Method;
	ask?: unknown;
	load?: Packed;
	stop?: number; // nobody waits for this one any more
}

export interface Reply {
	id: number;
	answer?: unknown;
	error?: string;
}

export const open = async (of: Packed): Promise<Held> =>
	Held.open(await unpack(of.trace), await unpack(of.module, 'gzip'));

interface Port {
	onmessage: ((e: MessageEvent) => void) | null;
	postMessage(m: Reply, transfer?: Transferable[]): void;
}

/* Answered before all others: somebody is moving about. */
const FIRST: readonly (Method | undefined)[] = ['window', 'flows', 'at', 'detail'];

/* What runs in the worker: one question after the other, pictures first, those that nobody waits for not at all. */
class Desk {
	private readonly waiting = new Map<number, Question>();
	private asked = false;

	constructor(
		private readonly port: Port,
		private held: Held | undefined,
	) {}

	private fail(id: number, e: unknown): void {
		this.port.postMessage({ id, error: e instanceof Error ? e.message : String(e) });
	}

	async take(q: Question): Promise<void> {
		if (q.load) {
			try {
				this.held = await open(q.load);
				this.port.postMessage({ id: q.id, answer: null });
			} catch (e) {
				this.fail(q.id, e);
			}
			return;
		}
		if (q.stop) this.waiting.delete(q.stop);
		else this.waiting.set(q.id, q);
		this.goOn();
	}

	/* Later: what has been sent meanwhile is heard first. */
	private goOn(): void {
		if (this.asked || !this.waiting.size) return;
		this.asked = true;
		setTimeout(() => {
			this.asked = false;
			this.work();
			this.goOn();
		}, 0);
	}

	private work(): void {
		const all = [...this.waiting.values()],
			q = all.find(w => FIRST.includes(w.method)) ?? all[0];

		if (!q) return;
		this.waiting.delete(q.id);
		try {
			const answer: unknown = this.held!.ask(q.method!, q.ask as never);

			this.port.postMessage({ id: q.id, answer }, answer instanceof ArrayBuffer ? [answer] : []);
		} catch (e) {
			this.fail(q.id, e);
		}
	}
}

export function serveHeld(port: Port, held?: Held): void {
	const desk = new Desk(port, held);

	port.onmessage = e => void desk.take(e.data as Question);
}

/* Asks whoever is behind a port; an answer that nobody waits for any more is dropped. */
export class PortSource implements Source {
	private next = 1;
	private readonly waiting = new Map<number, { done(a: unknown): void; failed(e: Error): void }>();

	constructor(
		private readonly port: {
			postMessage(q: Question): void;
			onmessage: ((e: MessageEvent) => void) | null;
		},
	) {
		port.onmessage = e => {
			const reply = e.data as Reply,
				w = this.waiting.get(reply.id);

			this.waiting.delete(reply.id);
			if (reply.error !== undefined) w?.failed(new Error(reply.error));
			else w?.done(reply.answer);
		};
	}

	send(q: Omit<Question, 'id'>, signal?: AbortSignal): Promise<unknown> {
		return new Promise((done, failed) => {
			const id = this.next++;

			this.waiting.set(id, { done, failed });
			signal?.addEventListener('abort', () => {
				if (!this.waiting.delete(id)) return;
				this.port.postMessage({ id: 0, stop: id });
				failed(new DOMException('not asked any more', 'AbortError'));
			});
			this.port.postMessage({ id, ...q });
		});
	}

	ask<M extends Method>(method: M, ask: Methods[M]['ask'], signal?: AbortSignal) {
		return this.send({ method, ask }, signal) as Promise<Methods[M]['answer']>;
	}

	watch(): () => void {
		return () => undefined;
	}
}

/* Without a worker: the same, in this thread. */
export class HeldSource implements Source {
	constructor(private readonly held: Held) {}

	async ask<M extends Method>(method: M, ask: Methods[M]['ask']): Promise<Methods[M]['answer']> {
		return this.held.ask(method, ask);
	}

	watch(): () => void {
		return () => undefined;
	}
}

/* Finds the packed text of a sheet in the page. */
export type Sheets = (tool: string, name: string) => string | null;

/*
 * A source beside the sheets that tools have put into the page: each lies compressed in an element of
 * its own, is unpacked when it is first asked for, and kept.
 */
export class SheetSource implements Source {
	private readonly kept = new Map<string, Promise<Sheet>>();

	constructor(
		private readonly trace: Source,
		private readonly sheets: Sheets,
	) {}

	private async open(tool: string, name: string): Promise<Sheet> {
		const packed = this.sheets(tool, name);

		if (packed === null) throw new Error(`no such sheet: ${name} of ${tool}`);
		return JSON.parse(new TextDecoder().decode(await unpack(packed))) as Sheet;
	}

	ask<M extends Method>(
		method: M,
		ask: Methods[M]['ask'],
		signal?: AbortSignal,
		part?: (answer: Methods[M]['answer']) => void,
	): Promise<Methods[M]['answer']> {
		if (method === 'sheet') {
			const { tool, name } = ask as Methods['sheet']['ask'];

			return this.sheet(tool, name);
		}
		if (method === 'annotate')
			return this.sheet('hotspots', 'code').then(s =>
				codeOf(s as CodeSheet, ask as Methods['annotate']['ask']),
			);
		if (method === 'stalls')
			return this.sheet('metrics', 'code').then(s =>
				stallsOf(s as KernelSheet, ask as Methods['stalls']['ask']),
			);
		return this.trace.ask(method, ask, signal, part);
	}

	private sheet(tool: string, name: string): Promise<Sheet> {
		const key = JSON.stringify([tool, name]),
			sheet = this.kept.get(key) ?? this.open(tool, name);

		this.kept.set(key, sheet);
		return sheet;
	}

	watch(grown: (news: Partial<Info>) => void): () => void {
		return this.trace.watch(grown);
	}
}

/* script: the text of this very program, which runs as the worker too. */
export async function openInline(of: Packed, script: string | null): Promise<Source> {
	if (script && typeof Worker !== 'undefined')
		try {
			const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
			const source = new PortSource(new Worker(url));

			await source.send({ load: of });
			return source;
		} catch (e) {
			if (e instanceof Error && /trace/.test(e.message))
				// a damaged trace, not a missing worker
				throw e;
		}
	return new HeldSource(await open(of));
}
