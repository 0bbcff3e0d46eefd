// engine.ts - answers the questions of the contract from a store. The server in C does the same
// from its pyramid; both are tested with the same questions.

import { TYPE_PAGE, type Method, type Methods, type Note } from '../source/contract';
import { WindowWriter } from '../source/window';
import { at, detail, find, flows, search, step } from './events';
import { findings } from './findings';
import { drawLane, drawSamples } from './lanes';
import { distribution } from './spread';
import type { Store } from './store';
import { aggregate, list } from './tables';
import { tree } from './trees';
import type { Job } from './walk';

const MOST_PIXELS = 1 << 16;

type Answers = {
	[M in Method]: (ask: Methods[M]['ask']) => Methods[M]['answer'] | Job<Methods[M]['answer']>;
};

export const isJob = (v: unknown): v is Job<unknown> =>
	typeof (v as Job<unknown> | null)?.next === 'function';

/* All pieces of a work at once. */
export function finish<T>(v: T | Job<T>): T {
	if (!isJob(v)) return v;
	for (;;) {
		const step = v.next();

		if (step.done) return step.value;
	}
}

export class Engine {
	private readonly writer = new WindowWriter();
	private readonly answers: Answers;
	private notes: Note[] = [];

	constructor(readonly store: Store) {
		this.answers = {
			info: () => store.info,
			places: () => store.places,
			types: ({ first }) => ({
				first,
				names: store.names.slice(first, first + TYPE_PAGE),
				cats: store.cats.slice(first, first + TYPE_PAGE),
			}),
			window: ask => this.window(ask),
			flows: ({ t0, t1, limit, tracks }) => flows(store, t0, t1, limit, tracks),
			detail: ({ id }) => detail(store, id),
			at: ({ track, lane, t, slack }) => at(store, track, lane, t, slack),
			step: ({ id, by, along }) => step(store, id, by, along),
			search: ({ query, limit, scope }) => search(store, query, limit, scope),
			find: ({ query, from, by, scope }) => find(store, query, from, by, scope),
			aggregate: ({ scope, by }) => aggregate(store, scope, by),
			findings: ({ scope }) => findings(store, scope),
			list: ({ scope, limit }) => list(store, scope, limit),
			distribution: ask => distribution(store, ask),
			tree: ({ scope, kind, name, nodes }) => tree(store, scope, kind, name, nodes),
			sql: () => {
				throw new Error('SQL needs the server: unitrace view, or unitrace query');
			},
			words: () => [...new Set(store.names)].slice(0, 5000),
			notes: () => this.notes,
			note: ({ note, gone }) => {
				this.notes = this.notes.filter(n => n.id !== note.id);
				if (!gone) this.notes.push(note);
				return this.notes;
			},
			sheet: ({ tool, name }) => {
				throw new Error(`no such sheet: ${name} of ${tool}`);
			},
			/* those of a page are in its sheets: inline.ts */
			stacks: () => {
				throw new Error('this page has no samples');
			},
			annotate: () => {
				throw new Error('this page has no code');
			},
			stalls: () => {
				throw new Error('this page has no code');
			},
			again: () => {
				throw new Error('only a server can read the input again');
			},
		};
	}

	private window({ t0, t1, pixels, lanes }: Methods['window']['ask']): ArrayBuffer {
		const wide = Math.max(1, Math.min(MOST_PIXELS, Math.floor(pixels)));

		this.writer.reset();
		for (const [index, lane] of lanes) {
			const track = this.store.tracks[index];

			if (track?.samples) drawSamples(track.samples, t0, t1, wide, this.writer);
			else if (track?.rows && track.dealt.lanes[lane])
				drawLane(track.rows, track.dealt.lanes[lane], t0, t1, wide, this.writer, track.unfinished);
			this.writer.endLane();
		}
		return this.writer.finish(t0, t1, wide);
	}

	/* The answer, or work that leads to it. */
	start<M extends Method>(
		method: M,
		ask: Methods[M]['ask'],
	): Methods[M]['answer'] | Job<Methods[M]['answer']> {
		if (!Object.hasOwn(this.answers, method)) throw new Error(`no such question: ${String(method)}`);
		return this.answers[method](ask);
	}

	answer<M extends Method>(method: M, ask: Methods[M]['ask']): Methods[M]['answer'] {
		return finish(this.start(method, ask));
	}
}
