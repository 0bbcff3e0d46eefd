// address.ts - the state of the view in the address, so that it can be sent and gone back to.

import { batch, effect } from '@preact/signals';
import type { Note } from '../source/contract';
import type { ColourBy } from '../text/colour';
import { DRAWER, type App, type Narrowing, type Side, type Theme } from './app';

const KEPT = 'k.'; // before what views keep
const COLOURINGS: ColourBy[] = ['cat', 'name', 'rank'];

const int = (s: string | undefined): number => Math.round(Number(s));
const pair = (s: string | null): [number, number] | null => {
	const [a, b] = (s ?? '').split(',').map(int);

	return Number.isFinite(a) && Number.isFinite(b) && b > a ? [a, b] : null;
};

const ints = (s: string | null): number[] => (s ? s.split(',').map(int).filter(Number.isSafeInteger) : []);

/* Narrowings as text: ranges "t0-t1+t0-t1" or "?query", one after the other. */
const packChain = (chain: Narrowing[]): string =>
	chain
		.map(n =>
			n.ranges
				? n.ranges.map(([a, b]) => `${Math.round(a)}-${Math.round(b)}`).join('+') +
					(n.tracks ? `@${n.tracks.join(',')}` : '')
				: `?${n.query ?? ''}`,
		)
		.join('|');

function unpackChain(text: string | null, label: (ranges: [number, number][]) => string): Narrowing[] {
	return (text ?? '')
		.split('|')
		.filter(Boolean)
		.flatMap((part): Narrowing[] => {
			if (part.startsWith('?')) return [{ label: part.slice(1), query: part.slice(1) }];
			const [times, tracks] = part.split('@'),
				only = tracks?.split(',').map(Number).filter(Number.isSafeInteger);
			const ranges = times
				.split('+')
				.map(r => r.split('-').map(Number) as [number, number])
				.filter(([a, b]) => Number.isFinite(a) && b > a);

			return ranges.length ? [{ label: label(ranges), ranges, ...(only ? { tracks: only } : {}) }] : [];
		});
}

const packNotes = (notes: Note[]): string =>
	notes.length ? JSON.stringify(notes.map(n => [Math.round(n.t0), Math.round(n.t1), n.text])) : '';

function unpackNotes(text: string | null): Note[] {
	try {
		const all = JSON.parse(text || '[]') as unknown[];

		return all
			.filter(n => Array.isArray(n))
			.map(([t0, t1, say]: unknown[]) => ({
				id: `${t0}-${t1}`,
				t0: Number(t0),
				t1: Number(t1),
				text: String(say),
			}))
			.filter(n => Number.isFinite(n.t0) && Number.isFinite(n.t1));
	} catch {
		// somebody else's address
		return [];
	}
}

interface Written {
	text: string;
	pushes: string; // what a step back should undo
}

function write(app: App, unknown: URLSearchParams): Written {
	const p = new URLSearchParams(unknown),
		{ t0, t1 } = app.view.value,
		bounds = app.bounds.value;
	const put = (key: string, value: string, usual = '') => {
		p.delete(key);
		if (value !== usual) p.set(key, value);
	};
	const a = app.area.value;

	put('v', app.tab.value, app.firstTab());
	put('f', packChain(app.chain.value));
	put('a', a ? `${Math.round(a.t0)},${Math.round(a.t1)}` : '');
	put('at', a?.tracks ? a.tracks.join(',') : '');
	put('s', app.selected.value === null ? '' : String(app.selected.value));
	put('z', app.zone.value, app.usualZone.value);
	const pushes = p.toString();

	put('w', t0 === bounds.t0 && t1 === bounds.t1 ? '' : `${Math.round(t0)},${Math.round(t1)}`);
	put('p', app.pins.value.join(','));
	put('h', [...app.hidden.value].join(','));
	put('o', [...app.closed.value].join(','));
	put('r', app.order.value.join(','));
	put('g', app.grouped.value ? '1' : '');
	put('ar', app.arrows.value ? '' : '0');
	put('m', app.minimap.value ? '' : '0');
	put('t', app.asTable.value ? '1' : '');
	put('tf', app.trackFilter.value);
	put('hw', String(app.headWidth.value), '0');
	put('dh', String(app.drawerHeight.value), String(DRAWER));
	put('y', String(Math.round(app.scroll.value)), '0');
	put('c', app.colourBy.value, app.usualColour.value);
	for (const [key, value] of app.kept.value) put(KEPT + key, value);
	put('side', app.side === 'before' ? app.side : '');
	put('d', app.drawer.value ? app.drawerTab.value : 'none', 'slices');
	put('q', app.hits.value.query);
	put('th', app.theme.value, 'auto');
	put('n', app.info.value.can.notes ? '' : packNotes(app.notes.value), '');
	return { text: p.toString().replace(/%2C/g, ','), pushes };
}

const KNOWN = 'n v f a at s z w p h o c d q th r g ar m t tf hw dh y side'.split(' ');

/* Of one run only: another one has other times, places and events. */
const OF_RUN = 'n a at s w p h o r y'.split(' ');

/* The address of the other of two runs, with all that can be meant of both. */
export function otherSide(app: App, hash: string): string {
	const p = new URLSearchParams(hash.replace(/^#/, ''));

	OF_RUN.forEach(k => p.delete(k));
	p.set('f', packChain(app.chain.peek().filter(n => !n.ranges)));
	if (app.side === 'before') p.delete('side');
	else p.set('side', 'before');
	return `#${p.toString()}`;
}

/* Which of two runs an address is about. */
export const sideOf = (hash: string): Side =>
	new URLSearchParams(hash.replace(/^#/, '')).get('side') === 'before' ? 'before' : 'after';

const within = (value: string | null, low: number, high: number, usual: number): number =>
	value !== null && Number.isFinite(Number(value)) ? Math.max(low, Math.min(high, int(value))) : usual;

function readLayout(app: App, p: URLSearchParams): void {
	app.order.value = ints(p.get('r'));
	app.grouped.value = p.get('g') === '1';
	app.arrows.value = p.get('ar') !== '0';
	app.minimap.value = p.get('m') !== '0';
	app.asTable.value = p.get('t') === '1';
	app.trackFilter.value = p.get('tf') ?? '';
	app.headWidth.value = within(p.get('hw'), 0, 600, 0);
	app.drawerHeight.value = within(p.get('dh'), 60, 2000, DRAWER);
	app.scroll.value = within(p.get('y'), 0, 1e7, 0);
	app.kept.value = new Map(
		[...p].filter(([k]) => k.startsWith(KEPT)).map(([k, v]) => [k.slice(KEPT.length), v]),
	);
}

function read(app: App, hash: string, label: (r: [number, number][]) => string): URLSearchParams {
	const p = new URLSearchParams(hash.replace(/^#/, '')),
		w = pair(p.get('w')),
		a = pair(p.get('a'));
	const c = p.get('c'),
		d = p.get('d'),
		theme = p.get('th') ?? 'auto',
		s = p.get('s');

	batch(() => {
		app.tab.value = p.get('v') ?? app.firstTab();
		app.chain.value = unpackChain(p.get('f'), label);
		if (w) app.show(w[0], w[1]);
		else app.fit();
		app.area.value = a ? { t0: a[0], t1: a[1], tracks: p.has('at') ? ints(p.get('at')) : null } : null;
		app.pins.value = ints(p.get('p'));
		app.hidden.value = new Set(ints(p.get('h')));
		if (p.has('o')) app.closed.value = new Set(ints(p.get('o')));
		app.colourBy.value = COLOURINGS.find(by => by === c) ?? app.usualColour.peek();
		readLayout(app, p);
		app.drawer.value = d !== 'none';
		app.drawerTab.value = d && d !== 'none' ? d : 'slices';
		app.zone.value = p.get('z') ?? app.usualZone.peek();
		app.theme.value = (['light', 'dark', 'contrast'].includes(theme) ? theme : 'auto') as Theme;
		if (!app.info.peek().can.notes) app.notes.value = unpackNotes(p.get('n'));
		const id = s === null || s === '' ? null : Number(s);

		if (id !== app.selected.peek()) app.select(Number.isSafeInteger(id) ? id : null);
		if ((p.get('q') ?? '') !== app.hits.peek().query) app.search(p.get('q') ?? '');
	});
	for (const k of [...p.keys()]) if (KNOWN.includes(k) || k.startsWith(KEPT)) p.delete(k);
	return p; // keys of another version are kept
}

const hashOf = (): string => location.hash.replace(/^#/, '');

/* Zoom replaces the address, selections and filters are steps that Back undoes. Returns how to stop. */
export function bindAddress(app: App, label: (ranges: [number, number][]) => string): () => void {
	let unknown = read(app, location.hash, label),
		last = hashOf(), // as the address has it
		timer: ReturnType<typeof setTimeout> | undefined;
	let pushed = write(app, unknown).pushes;
	const page = location.pathname;

	const back = (): void => {
		if (location.pathname === page && hashOf() === last) return;
		clearTimeout(timer); // what it would write is about the entry that was left
		if (location.pathname !== page) return;
		if (app.side && sideOf(location.hash) !== app.side) return location.reload(); // it is another run
		unknown = read(app, location.hash, label);
		({ text: last, pushes: pushed } = write(app, unknown));
	};

	addEventListener('popstate', back);
	const stop = effect(() => {
		const now = write(app, unknown);

		clearTimeout(timer);
		timer = setTimeout(() => {
			if (now.text === last) return;
			last = now.text;
			const url = now.text ? `#${now.text}` : location.pathname + location.search;

			try {
				// some browsers refuse it for files
				history[now.pushes === pushed ? 'replaceState' : 'pushState'](null, '', url);
			} catch {
				location.hash = now.text;
			}
			pushed = now.pushes;
		}, 150);
	});
	return () => {
		stop();
		clearTimeout(timer);
		removeEventListener('popstate', back);
	};
}
