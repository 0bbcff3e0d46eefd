// held.ts - a trace that a page holds: its bytes (docs/formats/html.md), and who answers about it.

import {
	isWhole,
	type Aggregates,
	type Info,
	type Method,
	type Methods,
	type Note,
} from '../source/contract';
import { Module, type TraceHead } from './module';

const MAGIC = 0x32495455; // "UTI2"

/* Answers about everything, where the page has less than that. */
type Whole = { [M in 'aggregate' | 'stacks']?: Methods[M]['answer'] };

interface Head {
	info: Info;
	whole: Whole;
	traces: TraceHead[];
}

/* What was counted in all slices; the longest of a name is the longest that this page holds. */
function ofAll(all: Aggregates, here: Aggregates): Aggregates {
	const cells = (of: Aggregates, key: string) =>
		of.slices.data[of.slices.columns.findIndex(c => c.key === key)];
	const longest = cells(here, 'longest'),
		known = new Map(cells(here, 'name').map((name, i) => [name, longest[i]]));

	return {
		...all,
		slices: {
			...all.slices,
			data: all.slices.data.map((c, i) =>
				all.slices.columns[i].key === 'longest'
					? cells(all, 'name').map(name => known.get(name) ?? null)
					: c,
			),
		},
	};
}

export async function unpack(base64: string, format: CompressionFormat = 'deflate'): Promise<Uint8Array> {
	const text = atob(base64.trim()),
		packed = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Held {
	private notes: Note[] = [];

	private constructor(
		private readonly module: Module,
		private readonly info: Info,
		private readonly whole: Whole,
	) {}

	static async open(bytes: Uint8Array, wasm: Uint8Array): Promise<Held> {
		const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

		if (bytes.length < 8 || view.getUint32(0, true) !== MAGIC)
			throw new Error('this page holds no trace');
		let at = 8 + view.getUint32(4, true);
		const head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, at))) as Head;
		const module = await Module.open(wasm);

		for (const trace of head.traces) {
			if (at + trace.bytes > bytes.length) throw new Error('the trace in this page is cut short');
			module.addTrace(trace, bytes.subarray(at, at + trace.bytes));
			at += trace.bytes;
		}
		module.ready();
		return new Held(
			module,
			head.whole.aggregate ? { ...head.info, thinned: true } : head.info,
			head.whole,
		);
	}

	/* Answered here: what is not in the trace, or not all of it. */
	private own<M extends Method>(method: M, ask: Methods[M]['ask']): Methods[M]['answer'] | undefined {
		const own: { [K in Method]?: (ask: Methods[K]['ask']) => Methods[K]['answer'] | undefined } = {
			info: () => this.info,
			notes: () => this.notes,
			note: ({ note, gone }) => {
				this.notes = this.notes.filter(n => n.id !== note.id);
				if (!gone) this.notes.push(note);
				return this.notes;
			},
			again: () => {
				throw new Error('only a server can read the input again');
			},
			aggregate: ask =>
				this.whole.aggregate && isWhole(ask.scope, this.info.span) && !ask.by?.length
					? ofAll(this.whole.aggregate, this.module.ask('aggregate', ask))
					: undefined,
			stacks: ({ scope, event }) => {
				if (!this.whole.stacks) return undefined;
				if (isWhole(scope, this.info.span) && (!event || event === this.whole.stacks.event))
					return this.whole.stacks;
				throw new Error(
					'there are too many samples for a page to know when each was: unitrace view TRACE does',
				);
			},
		};

		return Object.hasOwn(own, method) ? own[method]!(ask) : undefined;
	}

	ask<M extends Method>(method: M, ask: Methods[M]['ask']): Methods[M]['answer'] {
		return this.own(method, ask) ?? this.module.ask(method, ask);
	}
}
