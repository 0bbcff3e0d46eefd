// query.ts - the language of searching and filtering: words that all must match.
//
//   word  "exact name"  /regex/  -word  name: cat: track: rank: thread: dev: arg.KEY:
//   dur:>40us  self:<1ms  dur:1ms..2ms  rank:2..5
//
// A query is compiled into three tests, so that a search over millions of events looks at most at
// a number per event: one on the type, one on the place, one on the event itself.

import type { Place } from './contract';

export interface PlaceWords {
	track: string;
	rank: number;
	thread: string;
	device: string;
}

/* What a query can ask about a place. */
export function placeWords(place: Place, byId: ReadonlyMap<number, Place>): PlaceWords {
	let device = place.kind === 'device' ? place.name : '';

	for (let p = byId.get(place.parent); p; p = byId.get(p.parent)) if (p.kind === 'device') device = p.name;
	return {
		track: place.name,
		rank: place.rank,
		device,
		thread: place.kind === 'thread' ? `${place.name} ${place.sub ?? ''}` : '',
	};
}

export interface EventWords {
	dur: number;
	arg(key: string): string | undefined;
}

export interface Query {
	text: string;
	error: string; // '': it can be used
	type(name: string, cat: string): boolean;
	place: ((words: PlaceWords) => boolean) | null; // null: any
	event: ((words: EventWords) => boolean) | null;
	self: ((self: number) => boolean) | null; // apart from it: known only when the slice has ended
	dur: ((dur: number) => boolean) | null; // of that, what can be told from the length alone
}

type TextTest = (text: string) => boolean;
type NumberTest = (value: number) => boolean;

const UNITS: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, '': 1 };

class QueryError extends Error {}

/* Words at blanks, but for those inside quotes and slashes. */
function split(text: string): string[] {
	const words = text.match(/-?(?:[\w.]+:)?(?:"[^"]*"?|\/(?:\\.|[^/\\])+\/|[^\s"]\S*)/g);

	return words ?? [];
}

function textTest(word: string): TextTest {
	if (word.length > 1 && word.startsWith('/') && word.endsWith('/')) {
		let regex: RegExp;

		try {
			regex = new RegExp(word.slice(1, -1), 'iu');
		} catch {
			throw new QueryError(`${word} is no regular expression`);
		}
		return text => regex.test(text);
	}
	if (word.startsWith('"')) {
		const exact = word.replace(/^"|"$/g, '');

		return text => text === exact;
	}
	const low = word.toLowerCase();

	return text => text.toLowerCase().includes(low);
}

function number(word: string, timed: boolean): number {
	const m = /^([\d.]+)\s*([a-zµμ]*)$/i.exec(word);
	const unit = m ? UNITS[m[2].toLowerCase()] : undefined;

	if (!m || unit === undefined || Number.isNaN(Number(m[1])) || (!timed && m[2]))
		throw new QueryError(timed ? `${word} is no time; write 40us or 1.5ms` : `${word} is no number`);
	return Number(m[1]) * unit;
}

function numberTest(word: string, timed: boolean): NumberTest {
	const range = word.split('..');

	if (range.length === 2) {
		const low = range[0] ? number(range[0], timed) : -Infinity;
		const high = range[1] ? number(range[1], timed) : Infinity;

		return v => v >= low && v <= high;
	}
	const m = /^(>=|<=|>|<|=)?(.*)$/.exec(word)!;
	const limit = number(m[2], timed);

	switch (m[1]) {
		case '>':
			return v => v > limit;
		case '<':
			return v => v < limit;
		case '>=':
			return v => v >= limit;
		case '<=':
			return v => v <= limit;
		default:
			return v => v === limit;
	}
}

interface Parts {
	type: ((name: string, cat: string) => boolean)[];
	place: ((w: PlaceWords) => boolean)[];
	event: ((w: EventWords) => boolean)[];
	self: NumberTest[];
	dur: NumberTest[];
}

function addField(field: string, value: string, want: boolean, to: Parts): boolean {
	const on = (test: TextTest) => (text: string) => test(text) === want;
	const of = (test: NumberTest) => (v: number) => test(v) === want;

	switch (field) {
		case 'name': {
			const t = on(textTest(value));
			to.type.push(n => t(n));
			return true;
		}
		case 'cat': {
			const t = on(textTest(value));
			to.type.push((_, c) => t(c));
			return true;
		}
		case 'track': {
			const t = on(textTest(value));
			to.place.push(w => t(w.track));
			return true;
		}
		case 'thread': {
			const t = on(textTest(value));
			to.place.push(w => t(w.thread));
			return true;
		}
		case 'dev': {
			const t = on(textTest(value));
			to.place.push(w => t(w.device));
			return true;
		}
		case 'rank': {
			const t = of(numberTest(value, false));
			to.place.push(w => t(w.rank));
			return true;
		}
		case 'dur': {
			const t = of(numberTest(value, true));
			to.event.push(w => t(w.dur));
			to.dur.push(t);
			return true;
		}
		case 'self': {
			to.self.push(of(numberTest(value, true)));
			return true;
		}
	}
	const key = field === 'line' ? 'line' : field.startsWith('arg.') ? field.slice(4) : '';

	if (!key) return false;
	const t = on(textTest(value));

	to.event.push(w => t(w.arg(key) ?? ''));
	return true;
}

function addWord(word: string, to: Parts): void {
	const want = !(word.startsWith('-') && word.length > 1);
	const bare = want ? word : word.slice(1);
	const m = /^([a-z][\w.]*):(.+)$/s.exec(bare);

	if (m && addField(m[1], m[2], want, to))
		// aten::mul is a name, not a field
		return;
	const test = textTest(bare);

	to.type.push(name => test(name) === want);
}

const all =
	<A extends unknown[]>(tests: ((...a: A) => boolean)[]) =>
	(...a: A): boolean =>
		tests.every(test => test(...a));

export function compile(text: string): Query {
	const parts: Parts = { type: [], place: [], event: [], self: [], dur: [] };
	let error = '';

	try {
		for (const word of split(text)) addWord(word, parts);
	} catch (e) {
		if (!(e instanceof QueryError)) throw e;
		error = e.message;
	}
	if (error) return { text, error, type: () => false, place: null, event: null, self: null, dur: null };
	return {
		text,
		error,
		type: all(parts.type),
		place: parts.place.length ? all(parts.place) : null,
		event: parts.event.length ? all(parts.event) : null,
		self: parts.self.length ? all(parts.self) : null,
		dur: parts.dur.length ? all(parts.dur) : null,
	};
}

/* A query that means exactly this name. */
export const exactly = (name: string): string =>
	name.includes('"') ? `/^${name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$/` : `"${name}"`;
