// load.ts - an answer of the source as a value of a view: asked when the question changes, 80 ms
// after the last change, so that nothing is asked while the window moves.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Method, Methods, Sheet, Source } from '../source/contract';
import type { App } from '../state/app';
import { hasSheet } from './tab';

export interface Loaded<T> {
	value: T | null; // the last one, while the next is under way
	key: string; // the question that it answers, as JSON
	error: string;
	busy: boolean;
}

const QUIET = 80;
const GROWN = 1000; // ms: how often a table of a trace that grows is asked for again

/* ask null: nothing is asked. */
export function useAnswer<M extends Method>(
	app: App,
	method: M,
	ask: Methods[M]['ask'] | null,
	source: Source = app.source,
): Loaded<Methods[M]['answer']> {
	const [state, set] = useState<Loaded<Methods[M]['answer']>>({
		value: null,
		key: '',
		error: '',
		busy: ask !== null,
	});
	const key = ask === null ? '' : JSON.stringify(ask),
		first = useRef(true),
		{ generation, old, again } = useGeneration(app, state.busy);

	useEffect(() => {
		if (ask === null) return;
		const stop = new AbortController();
		const timer = setTimeout(
			() => {
				source
					.ask(method, ask, stop.signal, value => set({ value, key, error: '', busy: true }))
					.then(value => set({ value, key, error: '', busy: false }))
					.catch(e => {
						if (!stop.signal.aborted)
							set(s => ({
								...s,
								error: e instanceof Error ? e.message : String(e),
								busy: false,
							}));
					});
			},
			first.current ? 0 : old.current === generation ? QUIET : GROWN,
		);

		old.current = generation;

		first.current = false;
		set(s => (s.busy ? s : { ...s, busy: true }));
		return () => {
			clearTimeout(timer);
			stop.abort();
		};
	}, [key, method, source, again]);
	return state;
}

/* A sheet of a tool; null until it is there, and if the tool has attached none of this name. */
export function useSheet<T extends Sheet>(app: App, tool: string, name: string): Loaded<T> {
	return useAnswer(app, 'sheet', hasSheet(app.info.value, tool, name) ? { tool, name } : null) as Loaded<T>;
}

/* A trace that grows makes answers old. One that is under way is waited for: else a table that
 * takes longer than the trace to grow would never be there. */
function useGeneration(app: App, busy: boolean) {
	const generation = app.generation.value,
		old = useRef(generation),
		[again, ask] = useState(generation);

	useEffect(() => {
		if (!busy && again !== generation) ask(generation);
	}, [busy, generation]);
	return { generation, old, again };
}

/* Its value, if it answers this question: where an older one would be taken for it, nothing is shown. */
export const exactly = <T>(of: Loaded<T>, ask: object): T | null =>
	of.key === JSON.stringify(ask) ? of.value : null;
