// kept.ts - what a view remembers of its own (sorting, grouping, a question): texts in the address,
// so that a link shows what its sender saw.

import type { App } from './app';

const MOST = 4000; // characters: an address has to go through a mail

type Setter<T> = (value: T) => void;

export function useKept<T extends string = string>(app: App, key: string, first: T): [T, Setter<T>] {
	return [(app.kept.value.get(key) as T | undefined) ?? first, v => app.keep(key, v === first ? '' : v)];
}

/* The same for what is no text; first must be the same at every call. */
export function useKeptJson<T>(app: App, key: string, first: T): [T, Setter<T>] {
	const text = app.kept.value.get(key),
		usual = JSON.stringify(first);
	let value = first;

	try {
		if (text) value = JSON.parse(text) as T;
	} catch {
		// somebody else's address
	}
	return [
		value,
		v => {
			const now = JSON.stringify(v);

			app.keep(key, now === usual || now.length > MOST ? '' : now);
		},
	];
}
