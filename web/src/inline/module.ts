// module.ts - the answers of src/analysis/view as a WebAssembly module (web/wasm), beside the trace that
// they are about.

import type { Method, Methods } from '../source/contract';

/* What module.c exports; pointers and sizes are numbers. */
interface Exports {
	memory: WebAssembly.Memory;
	_initialize(): void;
	make_room(size: number): number;
	make_text(size: number): number;
	free_text(at: number): void;
	add_trace(at: number, size: number): number;
	group_track(track: number, group: number): void;
	make_ready(): void;
	ask(method: number, json: number, size: number): number;
	answer(): number;
	answer_size(): number;
	why(): number;
}

/* A trace of a page, as its head (docs/formats/html.md) has it. */
export interface TraceHead {
	bytes: number;
	groups: [track: number, name: string][];
}

const NO_SUCH_FILE = 8; // WASI's EBADF: there are none
const BROKEN = 'the trace in this page cannot be looked at any more: load the page again';

/* The module asks its system for nothing but to say why it gives up. */
function system(said: (text: string) => void, memory: () => WebAssembly.Memory): WebAssembly.ModuleImports {
	const write = (_fd: number, parts: number, count: number, written: number): number => {
		const view = new DataView(memory().buffer);
		let all = 0,
			text = '';

		for (let i = 0; i < count; i++) {
			const at = view.getUint32(parts + 8 * i, true),
				size = view.getUint32(parts + 8 * i + 4, true);

			text += new TextDecoder().decode(new Uint8Array(memory().buffer, at, size));
			all += size;
		}
		said(text);
		view.setUint32(written, all, true);
		return 0;
	};

	return new Proxy<WebAssembly.ModuleImports>(
		{ fd_write: write },
		{ get: (known, name: string) => known[name] ?? (() => NO_SUCH_FILE) },
	);
}

export class Module {
	private last = ''; // that it said: why it ended

	private constructor(private readonly exports: () => Exports) {}

	/* wasm: its bytes */
	static async open(wasm: Uint8Array): Promise<Module> {
		const holder: { exports?: Exports } = {};
		const module: Module = new Module(() => holder.exports!);
		const { instance } = await WebAssembly.instantiate(wasm as BufferSource, {
			wasi_snapshot_preview1: system(
				text => (module.last = text.trim()),
				() => holder.exports!.memory,
			),
		});

		holder.exports = instance.exports as unknown as Exports;
		module.run(e => e._initialize());
		return module;
	}

	/* Whatever ends the module ends it for good: what is in its memory is not to be trusted then. */
	private run<T>(work: (e: Exports) => T): T {
		try {
			return work(this.exports());
		} catch (e) {
			if (!(e instanceof WebAssembly.RuntimeError)) throw e;
			throw new Error(this.last || BROKEN);
		}
	}

	private bytes(at: number, size: number): Uint8Array {
		return new Uint8Array(this.exports().memory.buffer, at, size);
	}

	private text(at: number): string {
		const from = new Uint8Array(this.exports().memory.buffer, at);

		return new TextDecoder().decode(from.slice(0, from.indexOf(0)));
	}

	/* Runs with texts in the module's memory, each ended by a NUL. */
	private withTexts<T>(texts: string[], work: (e: Exports, at: number[], size: number[]) => T): T {
		return this.run(e => {
			const all = texts.map(t => new TextEncoder().encode(t)),
				at = all.map(b => e.make_text(b.length));

			all.forEach((b, i) => this.bytes(at[i], b.length).set(b));
			try {
				return work(
					e,
					at,
					all.map(b => b.length),
				);
			} finally {
				at.forEach(p => e.free_text(p));
			}
		});
	}

	addTrace(head: TraceHead, trace: Uint8Array): void {
		const at = this.run(e => e.make_room(trace.length));

		if (!at) throw new Error('the trace of this page needs more memory than there is');
		this.bytes(at, trace.length).set(trace);
		if (this.run(e => e.add_trace(at, trace.length)) < 0)
			throw new Error(this.text(this.exports().why()));
		for (const [track, name] of head.groups)
			this.withTexts([name], (e, [group]) => e.group_track(track, group));
	}

	ready(): void {
		this.run(e => e.make_ready());
	}

	ask<M extends Method>(method: M, ask: Methods[M]['ask']): Methods[M]['answer'] {
		return this.withTexts([method, JSON.stringify(ask)], (e, at, size) => {
			const kind = e.ask(at[0], at[1], size[1]);

			if (kind < 0) throw new Error(this.text(e.why()));
			const answer = this.bytes(e.answer(), e.answer_size());

			if (kind > 0) return answer.slice().buffer;
			return JSON.parse(new TextDecoder().decode(answer)) as Methods[M]['answer'];
		});
	}
}
