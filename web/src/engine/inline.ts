// inline.ts - a trace that lies in the page itself: unpacked and asked in a worker, so that large
// tables do not hold up the picture; in the page's own thread where there can be no worker.

import { readContainer } from './container';
import { Engine, isJob } from './engine';
import type { Job } from './walk';
import type { Info, Method, Methods, Sheet, Source } from '../source/contract';
import { codeOf, stacksOf, stallsOf, type CodeSheet, type KernelSheet, type SamplesSheet } from './samples';

export interface Question {
	id: number;
	method?: Method;
	ask?: unknown;
	load?: string; // base64 of a deflated container
	stop?: number; // nobody waits for this one any more
}

export interface Reply {
	id: number;
	answer?: unknown;
	error?: string;
}

export async function unpack(base64: string): Promise<Uint8Array> {
	const text = atob(base64.trim()),
		packed = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

interface Port {
	onmessage: ((e: MessageEvent) => void) | null;
	postMessage(m: Reply, transfer?: Transferable[]): void;
}

const SLICE = 12; // ms of work before the next message is looked at

/* What runs in the worker: windows at once, tables in between, and not at all once nobody waits. */
class Desk {
	private readonly jobs = new Map<number, Job<unknown>>();
	private asked = false;

	constructor(
		private readonly port: Port,
		private engine: Engine | undefined,
	) {}

	private reply(id: number, answer: unknown): void {
		this.port.postMessage({ id, answer }, answer instanceof ArrayBuffer ? [answer] : []);
	}

	private fail(id: number, e: unknown): void {
		this.port.postMessage({ id, error: e instanceof Error ? e.message : String(e) });
	}

	async take(q: Question): Promise<void> {
		try {
			if (q.load !== undefined) {
				this.engine = new Engine(readContainer(await unpack(q.load)));
				this.reply(q.id, null);
			} else if (q.stop) {
				this.jobs.delete(q.stop);
			} else {
				const answer: unknown = this.engine!.start(q.method!, q.ask as never);

				if (isJob(answer)) this.jobs.set(q.id, answer);
				else this.reply(q.id, answer);
				this.goOn();
			}
		} catch (e) {
			this.fail(q.id, e);
		}
	}

	private goOn(): void {
		if (this.asked || !this.jobs.size) return;
		this.asked = true;
		setTimeout(() => {
			this.asked = false;
			this.work();
			this.goOn();
		}, 0);
	}

	private work(): void {
		const until = performance.now() + SLICE;

		for (const [id, job] of this.jobs)
			try {
				do {
					const step = job.next();

					if (step.done) {
						this.jobs.delete(id);
						this.reply(id, step.value);
						break;
					}
				} while (performance.now() < until);
				if (performance.now() >= until) return;
			} catch (e) {
				this.jobs.delete(id);
				this.fail(id, e);
			}
	}
}

export function serveEngine(port: Port, engine?: Engine): void {
	const desk = new Desk(port, engine);

	port.onmessage = e => void desk.take(e.data as Question);
}

/* Asks an engine behind a port; an answer that nobody waits for any more is dropped. */
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
export class EngineSource implements Source {
	constructor(private readonly engine: Engine) {}

	async ask<M extends Method>(method: M, ask: Methods[M]['ask']): Promise<Methods[M]['answer']> {
		return this.engine.answer(method, ask);
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
		if (method === 'stacks') return this.stacks(ask as Methods['stacks']['ask']);
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

	private async stacks(ask: Methods['stacks']['ask']): Promise<Methods['stacks']['answer']> {
		const sheet = (await this.sheet('hotspots', 'samples')) as SamplesSheet;

		return stacksOf(sheet, ask, await this.trace.ask('places', {}));
	}

	watch(grown: (news: Partial<Info>) => void): () => void {
		return this.trace.watch(grown);
	}
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
			if (e instanceof Error && /trace/.test(e.message))
				// a damaged trace, not a missing worker
				throw e;
		}
	return new EngineSource(new Engine(readContainer(await unpack(base64))));
}
