// app.ts - the state of the page, and what can be done to it. Views read signals and call actions;
// none of them keeps a selection or a range of its own.

import { batch, computed, signal } from '@preact/signals';
import { exactly } from '../source/query';
import {
	trackOf,
	type Detail,
	type EventId,
	type Finding,
	type Info,
	type Note,
	type Place,
	type Scope,
	type Source,
} from '../source/contract';
import type { ColourBy } from '../text/colour';
import { many, time } from '../text/format';
import { plain } from '../text/label';
import { TypeTable } from './types';

export interface Range {
	t0: number;
	t1: number;
}

export interface Area extends Range {
	tracks: number[] | null; // null: all
}

/* One step of narrowing down; each can be undone. */
export interface Narrowing {
	label: string;
	ranges?: [number, number][];
	tracks?: number[]; // with ranges; none: all
	query?: string;
}

/* Tracks that are in all of the lists; null: there is no list. */
const common = (lists: number[][]): number[] | null =>
	lists.length ? lists.reduce((a, b) => a.filter(t => b.includes(t))) : null;

export interface Hits {
	query: string;
	count: number;
	nth: number; // 0: none shown yet
	error: string;
	busy: boolean;
	list: { id: EventId; name: string; t: number; dur: number }[];
}

export interface Menu {
	x: number;
	y: number;
	items: { title: string; run(): void }[];
}

/* Where to look; see Finding. */
export type Visit = Pick<Finding, 'event' | 'range' | 'query' | 'tab'>;

/* Of two runs that are compared; '': there is only one. */
export type Side = '' | 'before' | 'after';

export interface Other {
	source: Source;
	title: string;
	cli: string | undefined;
	places: Place[];
}

export type Theme = 'auto' | 'light' | 'dark' | 'contrast';

const NO_HITS: Hits = { query: '', count: 0, nth: 0, error: '', busy: false, list: [] };
// px; in a low frame, as in a notebook's cell, lanes come first
export const DRAWER = globalThis.innerHeight < 640 ? Math.round(globalThis.innerHeight * 0.3) : 302;
export const LEAST_SPAN = 10; // ns on the screen at most magnification

export class App {
	readonly info = signal<Info>(null as unknown as Info);
	readonly places = signal<Place[]>([]);
	readonly types: TypeTable;
	readonly generation = signal(0); // of a trace that grows: what was asked before it is old
	readonly following = signal<'all' | 'end' | null>(null); // what the window does when it grows
	readonly gone = signal(''); // why nobody answers any more
	readonly view = signal<Range>({ t0: 0, t1: 1 });
	readonly area = signal<Area | null>(null);
	readonly selected = signal<EventId | null>(null);
	readonly detail = signal<Detail | null>(null);
	readonly chain = signal<Narrowing[]>([]);
	readonly tab = signal('timeline');
	readonly colourBy = signal<ColourBy>('cat');
	readonly arrows = signal(true);
	readonly pins = signal<number[]>([]); // places
	readonly hidden = signal<ReadonlySet<number>>(new Set());
	readonly closed = signal<ReadonlySet<number>>(new Set()); // places whose children are folded
	readonly order = signal<number[]>([]); // places moved by hand: id, before id, ...
	readonly trackFilter = signal('');
	readonly grouped = signal(false); // tracks of one name together, whatever rank they are of
	readonly menu = signal<Menu | null>(null);
	readonly drawer = signal(true);
	readonly drawerTab = signal('slices');
	readonly drawerHeight = signal(DRAWER);
	readonly headWidth = signal(0); // 0: as the style says
	readonly minimap = signal(true);
	readonly hits = signal<Hits>(NO_HITS);
	readonly notes = signal<Note[]>([]);
	readonly glow = signal<Range | null>(null); // marked for a moment
	readonly zone = signal('');
	readonly usualZone = signal(''); // that a view begins with by itself: no step that Back would undo
	readonly theme = signal<Theme>('auto');
	readonly dialog = signal<'' | 'help' | 'tracks' | 'commands' | 'note'>('');
	readonly asTable = signal(false);
	readonly said = signal(''); // for screen readers
	readonly problem = signal('');
	readonly status = signal('');
	readonly frames = signal(0); // pictures of the timeline so far
	readonly kept = signal<ReadonlyMap<string, string>>(new Map()); // by views, see kept.ts
	readonly scroll = signal(0); // px of the tracks
	readonly other = signal<Other | null>(null); // the run to compare with
	private searching: AbortController | null = null;
	private timer: ReturnType<typeof setTimeout> | undefined;

	readonly byId = computed(() => new Map(this.places.value.map(p => [p.id, p])));
	readonly byTrack = computed(
		() => new Map(this.places.value.filter(p => p.track >= 0).map(p => [p.track, p])),
	);

	/* What all tables are about: the narrowings together. */
	readonly scope = computed<Scope>(() => {
		const queries = this.chain.value.map(n => n.query).filter(Boolean);
		const last = this.chain.value.filter(n => n.ranges).at(-1);
		const tracks = common(this.chain.value.flatMap(n => (n.tracks ? [n.tracks] : [])));

		return {
			...(last ? { ranges: last.ranges } : {}),
			...(tracks ? { tracks } : {}),
			...(queries.length ? { query: queries.join(' ') } : {}),
		};
	});

	/* By category, but where all slices are of one: they would look alike. */
	readonly usualColour = computed<ColourBy>(() =>
		(this.info.value?.cats.length ?? 2) < 2 ? 'name' : 'cat',
	);

	/* The outer borders of the scope: what the minimap shows and 0 fits. */
	readonly bounds = computed<Range>(() => {
		const ranges = this.scope.value.ranges;

		return ranges?.length
			? { t0: ranges[0][0], t1: ranges[ranges.length - 1][1] }
			: { t0: 0, t1: Math.max(this.info.value?.span ?? 1, LEAST_SPAN) };
	});

	/* What the drawer's tables are about: the area, else the window. */
	readonly areaScope = computed<Scope>(() => {
		const a = this.area.value,
			r = a ?? this.view.value,
			scope = this.scope.value;
		const ranges = (scope.ranges ?? ([[0, this.info.value.span]] as [number, number][]))
			.map(([x, y]): [number, number] => [Math.max(x, r.t0), Math.min(y, r.t1)])
			.filter(([x, y]) => y > x);

		return {
			...scope,
			ranges: ranges.length ? ranges : [[r.t0, r.t0]],
			...(a?.tracks ? { tracks: common([a.tracks, ...(scope.tracks ? [scope.tracks] : [])])! } : {}),
		};
	});

	/* side: of two runs that are compared, which one this is; beside: the other one. */
	compareWith: (() => void) | null = null; // lets another run be chosen, where somebody else has them

	constructor(
		readonly source: Source,
		readonly side: Side = '',
		private readonly beside: (() => Promise<Source>) | null = null,
	) {
		this.types = new TypeTable(source);
	}

	async open(): Promise<void> {
		const [info, places] = await Promise.all([
			this.source.ask('info', {}),
			this.source.ask('places', {}),
		]);

		batch(() => {
			this.info.value = info;
			this.places.value = places;
			this.colourBy.value = this.usualColour.value;
			this.view.value = { ...this.bounds.value };
			this.tab.value = this.firstTab();
			this.generation.value = info.generation ?? 0;
			this.following.value = this.grows.value ? 'all' : null;
		});
		if (this.side && this.beside) await this.openOther(this.beside);
		this.types.want(0);
		if (info.can.notes)
			this.source
				.ask('notes', {})
				.then(n => {
					this.notes.value = n;
				})
				.catch(() => undefined);
		// also tells a server that the page is there
		this.stopWatching = this.source.watch(
			changes => this.grow(changes),
			why => {
				this.gone.value = why;
			},
		);
	}

	/* Nobody looks at it any more. */
	close(): void {
		this.stopWatching();
		this.searching?.abort();
		clearTimeout(this.timer);
		clearTimeout(this.saying);
	}

	private stopWatching: () => void = () => undefined;

	/* Ranks but the first are folded where there are many: the screen shows one whole, and all others.
	 * Groups of a device, such as its cores, likewise. */
	foldMany(): void {
		const of = (kind: string, most: number): number[] => {
			const all = this.places.peek().filter(p => p.kind === kind && p.track < 0);

			return all.length > most ? all.slice(1).map(p => p.id) : [];
		};

		this.closed.value = new Set([...of('rank', 2), ...of('group', 8)]);
	}

	private async openOther(beside: () => Promise<Source>): Promise<void> {
		const source = await beside();
		const [info, places] = await Promise.all([source.ask('info', {}), source.ask('places', {})]);

		this.other.value = { source, title: info.title, cli: info.cli, places };
	}

	keep(key: string, value: string): void {
		const next = new Map(this.kept.peek());

		if (value) next.set(key, value);
		else next.delete(key);
		this.kept.value = next;
	}

	/* The whole, or what has changed of it. */
	private grow(changes: Partial<Info>): void {
		const before = this.info.peek(),
			info = { ...before, ...changes };

		if (!('read' in changes)) delete info.read;
		batch(() => {
			this.info.value = info;
			this.shift(before, info);
			this.follow(this.following.peek());
			if (!this.grows.value) this.following.value = null;
		});
		if (info.ended && !before.ended) this.say(info.ended);
		if ((info.generation ?? 0) === this.generation.peek()) return;
		this.generation.value = info.generation ?? 0;
		this.types.renew();
		this.source
			.ask('places', {})
			.then(p => {
				this.places.value = p;
			})
			.catch(() => undefined);
		this.refreshDetail();
	}

	/* A trace that began earlier has come to the others: what is shown stays the same. */
	private shift(before: Info, info: Info): void {
		const by = Number(BigInt(before.start) - BigInt(info.start)),
			{ t0, t1 } = this.view.peek(),
			area = this.area.peek();

		if (!by || before.start === '0' || info.start === '0' || !before.slices) return;
		this.view.value = { t0: t0 + by, t1: t1 + by };
		if (area) this.area.value = { ...area, t0: area.t0 + by, t1: area.t1 + by };
	}

	/* Of an event that is still going on there is more to say. */
	private refreshDetail(): void {
		const d = this.detail.peek(),
			id = this.selected.peek();

		if (id === null || !d) return;
		this.source
			.ask('detail', { id })
			.then(now => {
				if (this.selected.peek() !== id) return;
				if (now?.name === d.name) this.detail.value = now;
				else this.select(null); // the number is another event's now
			})
			.catch(() => undefined);
	}

	/* Is there more to come? */
	readonly grows = computed(
		() => !!this.info.value && (this.info.value.live || (this.info.value.read ?? 1) < 1),
	);

	/* The window shows all of a trace that grows, or moves with its end. */
	follow(how: 'all' | 'end' | null): void {
		const { t0, t1 } = this.view.peek(),
			{ t0: low, t1: high } = this.bounds.peek(),
			wide = Math.min(t1 - t0, high - low);

		this.following.value = how;
		if (how === 'all') this.view.value = { t0: low, t1: high };
		if (how === 'end') this.view.value = { t0: high - wide, t1: high };
	}

	/* The tab of a fresh page: what a tool wants, else the timeline. */
	firstTab(): string {
		return this.info.peek().first ?? 'timeline';
	}

	/* For screen readers, at most once a second: the last thing counts. */
	say(text: string): void {
		clearTimeout(this.saying);
		this.saying = setTimeout(
			() => {
				this.said.value = text;
				this.lastSaid = Date.now();
			},
			Math.max(0, this.lastSaid + 1000 - Date.now()),
		);
	}

	private saying: ReturnType<typeof setTimeout> | undefined;
	private lastSaid = 0;

	fail(e: unknown): void {
		if (e instanceof DOMException && e.name === 'AbortError') return;
		this.problem.value = e instanceof Error ? e.message : String(e);
	}

	/* ---- moving ---- */

	show(t0: number, t1: number): void {
		const { t0: low, t1: high } = this.bounds.peek(),
			whole = high - low;
		const span = Math.min(Math.max(t1 - t0, LEAST_SPAN), whole * 1.2);
		const middle = (t0 + t1) / 2;
		const from = Math.max(low - whole * 0.1, Math.min(middle - span / 2, high + whole * 0.1 - span));

		this.following.value = null; // who moves the window wants it to stay
		this.view.value = { t0: from, t1: from + span };
	}

	zoom(factor: number, at = 0.5): void {
		const { t0, t1 } = this.view.peek(),
			span = Math.max(LEAST_SPAN, (t1 - t0) * factor);
		const t = t0 + (t1 - t0) * at;

		this.show(t - span * at, t + span * (1 - at));
	}

	pan(share: number): void {
		const { t0, t1 } = this.view.peek(),
			by = (t1 - t0) * share;

		this.show(t0 + by, t1 + by);
	}

	fit(): void {
		const { t0, t1 } = this.bounds.peek();

		this.show(t0, t1);
		if (this.grows.peek()) this.following.value = 'all';
	}

	/* First the selection in the middle of the window, then filling it. */
	focus(): void {
		const d = this.detail.peek(),
			a = this.area.peek(),
			{ t0, t1 } = this.view.peek();
		const of = d && d.id === this.selected.peek() ? { t0: d.t, t1: d.t + Math.max(d.dur, 1) } : a;

		if (!of) return this.fit();
		const span = of.t1 - of.t0;
		const centred = Math.abs((of.t0 + of.t1) / 2 - (t0 + t1) / 2) < (t1 - t0) * 0.01;

		if (centred || t1 - t0 > span * 50) this.show(of.t0 - span * 0.1, of.t1 + span * 0.1);
		else this.show((of.t0 + of.t1 - t1 + t0) / 2, (of.t0 + of.t1 + t1 - t0) / 2);
	}

	/* Fills the window with the selected slice. */
	focusSlice(): void {
		const d = this.detail.peek();

		if (d && d.id === this.selected.peek())
			this.show(d.t - d.dur * 0.05, d.t + Math.max(d.dur, 1) * 1.05);
	}

	/* Shows what a finding, or a row of a tool's table, is about: where and when it is to be seen. */
	visit(at: Visit): void {
		batch(() => {
			this.tab.value = at.tab ?? 'timeline';
			if (at.range) this.show(...at.range);
			if (at.event !== undefined) this.select(at.event, true);
			else if (at.query) this.search(at.query);
		});
		if (at.query && at.tab && at.event === undefined) this.selectFirst(at.query).catch(e => this.fail(e));
	}

	/* What a tab of its own shows is what is selected. */
	private async selectFirst(query: string): Promise<void> {
		const found = await this.source.ask('search', { query, limit: 50, scope: this.scope.peek() }),
			onDevice = (e: { id: EventId }) => this.byTrack.peek().get(trackOf(e.id))?.kind === 'queue',
			hit = found.list.find(onDevice) ?? found.list[0];

		if (hit) this.select(hit.id);
	}

	/* ---- selecting ---- */

	select(id: EventId | null, reveal = false): void {
		this.selected.value = id;
		if (id === null) {
			this.detail.value = null;
			return;
		}
		this.source
			.ask('detail', { id })
			.then(d => {
				if (this.selected.peek() !== id) return;
				this.detail.value = d;
				if (!d) return;
				this.say(`${plain(d.name)}, ${time(d.dur)}, ${d.nth} of ${d.ofName}`);
				if (reveal) this.reveal(d);
			})
			.catch(e => this.fail(e));
	}

	/* Moves the window so that an event is seen, no more than it must; opens folded places. */
	private reveal(d: Detail): void {
		const { t0, t1 } = this.view.peek(),
			end = d.t + d.dur;
		const closed = new Set(this.closed.peek());
		let place = this.byTrack.peek().get(d.track);

		if (d.dur > t1 - t0 || d.dur < (t1 - t0) / 2000)
			this.show(d.t - Math.max(d.dur, 5) * 2, end + Math.max(d.dur, 5) * 2);
		else if (d.t < t0 || end > t1) this.show((d.t + end - t1 + t0) / 2, (d.t + end + t1 - t0) / 2);
		for (; place; place = this.byId.peek().get(place.parent)) closed.delete(place.id);
		if (closed.size !== this.closed.peek().size) this.closed.value = closed;
		this.wanted.value = d.track;
	}

	/* Scrolls to a place, or to the first track below it: it is neither hidden nor folded away any more. */
	seek(place: Place): void {
		const hidden = new Set(this.hidden.peek()),
			closed = new Set(this.closed.peek()),
			below = (p: Place): number =>
				p.track >= 0
					? p.track
					: (this.places
							.peek()
							.filter(k => k.parent === p.id)
							.map(below)
							.find(t => t >= 0) ?? -1);

		for (let p: Place | undefined = place; p; p = this.byId.peek().get(p.parent)) {
			hidden.delete(p.id);
			closed.delete(p.id);
		}
		batch(() => {
			this.hidden.value = hidden;
			this.closed.value = closed;
			this.tab.value = 'timeline';
			this.wanted.value = -1;
		});
		this.wanted.value = below(place);
	}

	readonly wanted = signal(-1); // a track to scroll to

	step(by: 1 | -1, along: 'name' | 'track' | 'flow'): void {
		this.afterLast(async () => {
			const id = this.selected.peek();
			const next = id === null ? null : await this.source.ask('step', { id, by, along });

			if (next !== null) this.select(next, true);
			else if (id !== null) this.say(by > 0 ? 'no further one' : 'none before');
		});
	}

	/* Keys that walk come faster than answers: each step begins where the last one has led. */
	private afterLast(walk: () => Promise<void>): void {
		this.walking = this.walking.then(walk).catch(e => this.fail(e));
	}

	private walking: Promise<void> = Promise.resolve();

	setArea(area: Area | null): void {
		this.area.value = area && area.t1 > area.t0 ? area : null;
		if (area) this.say(`area of ${time(area.t1 - area.t0)}`);
	}

	selectionToArea(): void {
		const d = this.detail.peek();

		if (d) this.setArea({ t0: d.t, t1: d.t + Math.max(d.dur, 1), tracks: null });
	}

	clear(): void {
		batch(() => {
			this.select(null);
			this.area.value = null;
			this.glow.value = null;
		});
	}

	/* ---- narrowing down ---- */

	narrow(n: Narrowing): void {
		this.chain.value = [...this.chain.peek(), n];
	}

	filterIn(): void {
		const a = this.area.peek();

		if (!a) return;
		const ranges = this.areaScope.peek().ranges!;

		batch(() => {
			this.narrow({
				label: `${time(a.t0)} to ${time(a.t1)}${a.tracks ? `, ${many(a.tracks.length, 'track')}` : ''}`,
				ranges,
				...(a.tracks ? { tracks: a.tracks } : {}),
			});
			this.area.value = null;
			this.fit();
		});
	}

	filterOut(): void {
		const a = this.area.peek(),
			d = this.detail.peek();

		if (a) {
			const whole = this.scope.peek().ranges ?? ([[0, this.info.peek().span]] as [number, number][]);
			const ranges = whole
				.flatMap(([x, y]): [number, number][] => [
					[x, Math.min(y, a.t0)],
					[Math.max(x, a.t1), y],
				])
				.filter(([x, y]) => y > x);

			this.narrow({ label: `without ${time(a.t0)} to ${time(a.t1)}`, ranges });
			this.area.value = null;
		} else if (d) {
			this.narrow({ label: `without ${plain(d.name).slice(0, 40)}`, query: `-${exactly(d.name)}` });
		}
	}

	undo(): void {
		if (!this.chain.peek().length) return;
		this.chain.value = this.chain.peek().slice(0, -1);
		this.fit();
	}

	zoomToArea(): void {
		const a = this.area.peek();

		if (a) this.show(a.t0, a.t1);
	}

	/* ---- searching ---- */

	search(query: string): void {
		clearTimeout(this.timer);
		this.searching?.abort();
		if (!query.trim()) {
			this.hits.value = NO_HITS;
			return;
		}
		this.hits.value = { ...this.hits.peek(), query, busy: true, error: '' };
		this.timer = setTimeout(() => {
			const stop = (this.searching = new AbortController());

			this.source
				.ask('search', { query, limit: 200, scope: this.scope.peek() }, stop.signal)
				.then(f => {
					this.hits.value = { query, count: f.count, nth: 0, error: '', busy: false, list: f.list };
					this.say(`${f.count} found`);
				})
				.catch(e => {
					if (!(e instanceof DOMException))
						this.hits.value = {
							...NO_HITS,
							query,
							error: e instanceof Error ? e.message : String(e),
						};
				});
		}, 120);
	}

	nextHit(by: 1 | -1): void {
		const { query } = this.hits.peek();

		if (!query) return;
		this.afterLast(async () => {
			const from = this.hits.peek().nth ? this.selected.peek() : null;
			const hit = await this.source.ask('find', { query, from, by, scope: this.scope.peek() });

			if (!hit) return;
			this.hits.value = { ...this.hits.peek(), nth: hit.nth };
			this.select(hit.id, true);
		});
	}

	/* ---- places ---- */

	private static toggled(set: ReadonlySet<number>, id: number): Set<number> {
		const out = new Set(set);

		if (!out.delete(id)) out.add(id);
		return out;
	}

	fold(id: number): void {
		this.closed.value = App.toggled(this.closed.peek(), id);
	}

	hide(id: number): void {
		this.hidden.value = App.toggled(this.hidden.peek(), id);
	}

	pin(id: number): void {
		const pins = this.pins.peek();

		this.pins.value = pins.includes(id) ? pins.filter(p => p !== id) : [...pins, id];
	}

	/* Moves a place before (or behind) the next of its like. */
	move(id: number, by: 1 | -1): void {
		const place = this.byId.peek().get(id);
		const like = this.ordered(place?.parent ?? -1).map(p => p.id),
			at = like.indexOf(id);

		if (at < 0 || at + by < 0 || at + by >= like.length) return;
		[like[at], like[at + by]] = [like[at + by], like[at]];
		this.order.value = [...this.order.peek().filter(o => !like.includes(o)), ...like];
	}

	/* Children of every place, those moved by hand in their order. */
	private readonly children = computed(() => {
		const out = new Map<number, Place[]>(),
			order = new Map(this.order.value.map((id, i) => [id, i]));

		for (const p of this.places.value) {
			const like = out.get(p.parent);

			if (like) like.push(p);
			else out.set(p.parent, [p]);
		}
		for (const like of out.values())
			if (like.some(p => order.has(p.id)))
				like.sort((a, b) => (order.get(a.id) ?? Infinity) - (order.get(b.id) ?? Infinity) || 0);
		return out;
	});

	ordered(parent: number): Place[] {
		return this.children.value.get(parent) ?? [];
	}

	/* The place of the selection, or of the first track of the area. */
	placeOfSelection(): Place | undefined {
		const id = this.selected.peek();

		return id === null ? undefined : this.byTrack.peek().get(trackOf(id));
	}

	/* ---- notes ---- */

	mark(forGood: boolean, text = ''): void {
		const d = this.detail.peek(),
			a = this.area.peek();
		const r = a ?? (d ? { t0: d.t, t1: d.t + d.dur } : null);

		if (!r) return;
		this.glow.value = { t0: r.t0, t1: r.t1 };
		if (forGood)
			this.saveNote({ id: `${Math.round(r.t0)}-${Math.round(r.t1)}`, t0: r.t0, t1: r.t1, text }, false);
	}

	/* Where nobody keeps notes beside the trace, the address does. */
	saveNote(note: Note, gone: boolean): void {
		if (!this.info.peek().can.notes) {
			const others = this.notes.peek().filter(n => n.id !== note.id);

			this.notes.value = gone ? others : [...others, note];
			return;
		}
		this.source
			.ask('note', { note, gone })
			.then(n => {
				this.notes.value = n;
			})
			.catch(e => this.fail(e));
	}
}
