// timeline.ts - the one timeline: draws rows, labels, arrows and selection, and says what lies
// under a point. It knows nothing of pointers and keys (input.ts) or of the page around it.

import { effect } from '@preact/signals';
import { eventId, trackOf } from '../source/contract';
import { placeWords, type Query } from '../source/query';
import { MANY } from '../source/window';
import type { App, Range } from '../state/app';
import { byRank, COLOURS } from '../text/colour';
import { step, tick, time } from '../text/format';
import { Widths } from '../text/label';
import { LaneData, type LaneNeed, type LaneWindow } from './data';
import { firstItem, Raster, type Colouring, type Look } from './raster';
import { layout, visible, type Layout, type Row, type RowLane } from './rows';
import { readPalette, type Palette } from './theme';

const LABEL_FROM = 26; // px of a slice that has a label
const ARROWS = 200; // drawn at once; more would hide what they connect
const RULER = 26;

export interface Under {
	row: Row;
	lane: RowLane | null;
	item: number; // in the lane's window, -1: none
	window: LaneWindow | null;
	t: number;
}

export interface Canvases {
	main: HTMLCanvasElement;
	over: HTMLCanvasElement;
	ruler: HTMLCanvasElement;
}

export class Timeline {
	layout: Layout = { pinned: [], rows: [], pinnedHeight: 0, height: 0 };
	width = 1;
	height = 1;
	hover: Under | null = null;
	cursor = -1; // px
	frames: number[] = []; // cost of the last ones, ms
	onLayout: (() => void) | null = null;
	onScroll: (() => void) | null = null;
	onData: (() => void) | null = null;
	palette!: Palette;
	private readonly data: LaneData;
	private raster = new Raster(1, 1);
	private ratio = 1;
	private dirty = false;
	private overDirty = false;
	private asked = 0;
	private widths: Widths | null = null;
	private readonly fits = new Map<string, string>();
	private readonly stops: (() => void)[] = [];
	private drawn = 0;

	constructor(
		private readonly app: App,
		private readonly c: Canvases,
	) {
		this.data = new LaneData(
			app.source,
			() => {
				this.touch();
				this.onData?.();
			},
			e => app.fail(e),
		);
		this.retheme();
		this.stops.push(
			effect(() => {
				this.layout = layout(app);
				this.scrollTo(this.scroll);
				this.onLayout?.();
				this.touch();
			}),
		);
		this.stops.push(
			effect(() => {
				void [
					app.view.value,
					app.area.value,
					app.colourBy.value,
					app.arrows.value,
					app.types.loaded.value,
					app.chain.value,
					app.notes.value,
					app.glow.value,
					app.hits.value,
				];
				this.data.setWhole(app.info.value.span, app.generation.value);
				this.touch();
			}),
		);
		this.stops.push(
			effect(() => {
				void [app.selected.value, app.detail.value];
				this.touch();
			}),
		);
		this.stops.push(
			effect(() => {
				if (app.wanted.value >= 0) this.scrollToTrack(app.wanted.value);
			}),
		);
	}

	stop(): void {
		this.stops.forEach(s => s());
		cancelAnimationFrame(this.asked);
	}

	retheme(): void {
		this.palette = readPalette(document.documentElement);
		this.fits.clear();
		this.touch();
	}

	resize(width: number, height: number): void {
		const ratio = window.devicePixelRatio || 1;

		this.ratio = ratio;
		this.width = Math.max(1, width);
		this.height = Math.max(1, height);
		for (const [canvas, h] of [
			[this.c.main, height],
			[this.c.over, height],
			[this.c.ruler, RULER],
		] as const) {
			canvas.width = Math.max(1, Math.round(width * ratio));
			canvas.height = Math.max(1, Math.round(h * ratio));
		}
		this.raster = new Raster(this.c.main.width, this.c.main.height);
		this.widths = null;
		this.fits.clear();
		this.scrollTo(this.scroll);
		this.touch();
	}

	/* ---- moving ---- */

	touch(): void {
		this.dirty = true;
		this.ask();
	}

	touchOver(): void {
		this.overDirty = true;
		this.ask();
	}

	private ask(): void {
		this.asked ||= requestAnimationFrame(() => this.frame());
	}

	/* px; part of the state, so that a link shows the same tracks */
	get scroll(): number {
		return this.app.scroll.peek();
	}

	scrollTo(y: number): void {
		const most = Math.max(0, this.layout.height - (this.height - this.layout.pinnedHeight) + 8);
		const next = Math.max(0, Math.min(y, most));

		if (next === this.scroll) return;
		this.app.scroll.value = next;
		this.onScroll?.();
		this.touch();
	}

	private scrollToTrack(track: number): void {
		const row = this.layout.rows.find(r => r.place.track === track),
			{ pinned, pinnedHeight } = this.layout;

		if (!row || pinned.some(r => r.place.track === track)) return;
		if (row.y < this.scroll) this.scrollTo(row.y);
		else if (row.y + row.h > this.scroll + this.height - pinnedHeight)
			this.scrollTo(row.y + row.h - (this.height - pinnedHeight));
	}

	timeAt(x: number): number {
		const { t0, t1 } = this.app.view.peek();

		return t0 + (x / this.width) * (t1 - t0);
	}

	xOf(t: number): number {
		const { t0, t1 } = this.app.view.peek();

		return ((t - t0) / (t1 - t0)) * this.width;
	}

	/* Rows on the screen with where they are there, pinned ones last since they lie above. */
	private *onScreen(): Generator<[Row, number]> {
		const { rows, pinned, pinnedHeight } = this.layout;

		for (const row of visible(rows, this.scroll, this.scroll + this.height - pinnedHeight))
			yield [row, row.y - this.scroll + pinnedHeight];
		for (const row of pinned) yield [row, row.y];
	}

	rowAt(y: number): Row | null {
		const { rows, pinned, pinnedHeight } = this.layout;

		if (y < pinnedHeight) return pinned.find(r => y >= r.y && y < r.y + r.h) ?? null;
		return visible(rows, y - pinnedHeight + this.scroll, y - pinnedHeight + this.scroll + 1)[0] ?? null;
	}

	/* ---- what lies where ---- */

	under(x: number, y: number): Under | null {
		const row = this.rowAt(y);

		if (!row) return null;
		const inRow = y - (row.pinned ? row.y : row.y - this.scroll + this.layout.pinnedHeight);
		const lane = row.lanes.find(l => inRow >= l.y && inRow < l.y + l.h + 1) ?? null;
		const t = this.timeAt(x),
			none = { row, lane, item: -1, window: null, t };

		if (!lane || row.kind === 'counter') return none;
		const view = this.app.view.peek(),
			l = this.data.get(lane.track, lane.lane, view);

		if (!l) return none;
		const slack = (2 * (view.t1 - view.t0)) / this.width,
			w = l.of;
		let best = -1,
			away = Infinity;

		for (let i = firstItem(w, l, t - slack); i < l.last && w.start[i] <= t + slack; i++) {
			const distance = Math.max(0, w.start[i] - t, t - w.start[i] - w.length[i]);

			if (distance < away) {
				best = i;
				away = distance;
			}
		}
		return { ...none, item: best, window: l };
	}

	/* Selects what lies under a point; where several share the pixel, the source says which. */
	async pick(u: Under): Promise<void> {
		const { lane, window: l, item } = u;

		if (!lane || !l || item < 0) return this.app.select(null);
		if (l.of.row[item] !== MANY) return this.app.select(eventId(lane.track, l.of.row[item]));
		const view = this.app.view.peek(),
			slack = (3 * (view.t1 - view.t0)) / this.width;
		const hit = await this.app.source.ask('at', { track: lane.track, lane: lane.lane, t: u.t, slack });

		this.app.select(hit ? hit.id : null);
	}

	/* ---- drawing ---- */

	private frame(): void {
		this.asked = 0;
		if (this.dirty) {
			const from = performance.now();

			this.dirty = this.overDirty = false;
			this.drawMain();
			this.drawRuler();
			this.drawOver();
			this.frames.push(performance.now() - from);
			if (this.frames.length > 1000) this.frames.splice(0, 500);
			this.app.frames.value++;
			this.app.status.value = `${this.drawn} rectangles in ${this.frames[this.frames.length - 1].toFixed(1)} ms`;
		} else if (this.overDirty) {
			this.overDirty = false;
			this.drawOver();
		}
	}

	private get ticks(): { at: number[]; by: number } {
		const { t0, t1 } = this.app.view.peek(),
			by = step(t1 - t0, this.width / 120),
			at: number[] = [];

		for (let t = Math.ceil(t0 / by) * by; t < t1; t += by) at.push(t);
		return { at, by };
	}

	private drawMain(): void {
		const { app, raster, ratio, palette } = this,
			view = app.view.peek(),
			area = app.area.peek();
		const x = this.c.main.getContext('2d')!,
			toPx = (t: number) => this.xOf(t) * ratio;
		const shown = [...this.onScreen()],
			needs: LaneNeed[] = [];
		const query = [app.scope.peek().query ?? ''].join(' ').trim();

		this.drawn = 0;
		raster.begin(palette, this.ticks.at.map(toPx), area ? [toPx(area.t0), toPx(area.t1)] : null);
		const filter = app.types.unwanted(query);
		const colouring: Colouring = {
			palette,
			colours: app.types.colourTable(app.colourBy.peek()),
			rank: -1,
			unwanted: filter?.of ?? null,
			wanted: filter?.query.dur ?? null,
			dim: false,
		};

		for (const [row, y] of shown) {
			const top = Math.round((row.pinned ? 0 : this.layout.pinnedHeight) * ratio);

			const look: Look = {
				group: row.kind === 'group',
				inArea: !!area && (!area.tracks || area.tracks.includes(row.place.track)),
			};

			raster.row(Math.round(y * ratio), Math.round(row.h * ratio), look, palette, top);
			for (const lane of row.lanes) {
				needs.push(lane);
				colouring.dim = !!filter?.query.place && !this.inFilter(lane.track, filter.query);
				this.drawLane(row, lane, y, view, top, colouring, look);
			}
		}
		x.putImageData(raster.image, 0, 0);
		x.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.drawLabels(x, shown, view);
		this.drawPaused(x, view);
		if (app.arrows.peek()) this.drawArrows(x, shown, view);
		x.setTransform(1, 0, 0, 1, 0, 0);
		this.data.need(needs, view, raster.width);
	}

	private inFilter(track: number, query: Query): boolean {
		const place = this.app.byTrack.peek().get(track);

		return !place || !query.place || query.place(placeWords(place, this.app.byId.peek()));
	}

	private drawLane(
		row: Row,
		lane: RowLane,
		y: number,
		view: Range,
		top: number,
		c: Colouring,
		look: Look,
	): void {
		const l = this.data.get(lane.track, lane.lane, view),
			{ ratio } = this;

		if (!l) return;
		const at = Math.round((y + lane.y) * ratio),
			h = Math.round(lane.h * ratio);

		if (row.kind === 'counter') {
			const [low, high] = this.counterRange(lane.track);

			this.raster.counter(l, view, at, h, low, high, this.palette, top);
		} else if (row.kind === 'idle') {
			this.raster.hatch(
				l,
				view,
				at,
				h,
				type => /late|wait|host/i.test(this.app.types.label(type)),
				this.palette,
				top,
				ratio,
			);
		} else if (!lane.mark) {
			const rank = this.app.colourBy.peek() === 'rank' ? byRank(lane.rank) : -1;

			this.drawn += this.raster.lane(l, view, at, h, { ...c, rank }, look, top);
		}
	}

	/* Least and greatest value of a counter in the whole trace; 0 is always part of it. */
	counterRange(track: number): [number, number] {
		const l = this.data.coarseOf(track, 0);
		let low = 0,
			high = 0;

		for (let i = 0; l && i < l.cells; i++) {
			low = Math.min(low, l.of.low[l.cell + i] || 0);
			high = Math.max(high, l.of.high[l.cell + i] || 0);
		}
		return [low, high];
	}

	private font(x: CanvasRenderingContext2D, weight = ''): void {
		x.font = `${weight} 11px ${this.palette.css.font}`;
		x.textBaseline = 'middle';
		if (!weight) this.widths ??= new Widths(x);
	}

	private drawLabels(x: CanvasRenderingContext2D, shown: [Row, number][], view: Range): void {
		const { css } = this.palette,
			scale = this.width / (view.t1 - view.t0);

		this.font(x);
		for (const pinned of [false, true]) {
			x.save();
			x.beginPath();
			x.rect(0, pinned ? 0 : this.layout.pinnedHeight, this.width, this.height);
			x.clip();
			for (const [row, y] of shown)
				if (row.pinned === pinned && row.kind === 'idle')
					this.labelIdle(x, row.lanes[0], y, view, scale, css);
				else if (row.pinned === pinned && row.kind !== 'counter')
					for (const lane of row.lanes) this.labelLane(x, lane, y, view, scale, css);
			x.restore();
		}
	}

	/* Hatched where nothing was recorded on purpose: absent, not idle. */
	private drawPaused(x: CanvasRenderingContext2D, view: Range): void {
		const { css } = this.palette;
		const all = [...(this.app.info.peek().paused ?? [])].sort((p, q) => p[0] - q[0]);
		let done = -Infinity; // a session and a process may both be paused

		for (const [start, b] of all) {
			const a = Math.max(start, done);

			if (b <= done || b < view.t0 || a > view.t1) continue;
			done = b;
			const from = Math.max(0, this.xOf(a)),
				wide = Math.min(this.width, this.xOf(b)) - from;

			x.save();
			x.beginPath();
			x.rect(from, 0, wide, this.height);
			x.clip();
			x.globalAlpha = 0.6;
			x.strokeStyle = css.line2;
			x.beginPath();
			for (let k = from - this.height; k < from + wide; k += 9) {
				x.moveTo(k, this.height);
				x.lineTo(k + this.height, 0);
			}
			x.stroke();
			x.globalAlpha = 1;
			x.fillStyle = css.text2;
			if (wide > 60) x.fillText('paused', from + wide / 2 - 18, this.height - 12);
			x.restore();
		}
	}

	private labelLane(
		x: CanvasRenderingContext2D,
		lane: RowLane,
		y: number,
		view: Range,
		scale: number,
		css: Record<string, string>,
	): void {
		const l = this.data.get(lane.track, lane.lane, view);

		if (!l) return;
		const w = l.of,
			middle = y + lane.y + lane.h / 2 + 0.5;

		x.fillStyle = css.ink;
		for (let i = firstItem(w, l, view.t0); i < l.last && w.start[i] < view.t1; i++) {
			const a = Math.max(0, (w.start[i] - view.t0) * scale);

			if (lane.mark) {
				this.drawMark(x, a, y + lane.y, lane.h, css);
				continue;
			}
			if (w.length[i] * scale < LABEL_FROM || w.row[i] === MANY) continue;
			const b = Math.min(this.width, (w.start[i] + w.length[i] - view.t0) * scale),
				seen = b - a;
			const label = seen < LABEL_FROM ? '' : this.fit(w.type[i], seen - 9);

			if (label) x.fillText(label, a + 5, middle);
		}
	}

	/* The cause in the middle of each long gap. */
	private labelIdle(
		x: CanvasRenderingContext2D,
		lane: RowLane,
		y: number,
		view: Range,
		scale: number,
		css: Record<string, string>,
	): void {
		const l = this.data.get(lane.track, lane.lane, view);

		for (let i = l ? firstItem(l.of, l, view.t0) : 0; l && i < l.last && l.of.start[i] < view.t1; i++) {
			const w = l.of,
				a = Math.max(0, (w.start[i] - view.t0) * scale),
				b = Math.min(this.width, (w.start[i] + w.length[i] - view.t0) * scale);

			if (b - a < 110 || w.row[i] === MANY) continue;
			const text = `${this.fit(w.type[i], 90)} ${time(w.length[i], 3)}`,
				wide = this.widths!.of(text),
				at = (a + b - wide) / 2;
			const late = /late|wait|host/i.test(text);

			x.fillStyle = late ? css['warn-bg'] : css.surface;
			x.fillRect(at - 5, y + 2, wide + 10, lane.h + 4);
			x.fillStyle = late ? css.warn : css.text2;
			x.fillText(text, at, y + lane.y + lane.h / 2 + 0.5);
		}
	}

	private fit(type: number, width: number): string {
		const label = this.app.types.label(type),
			key = `${type} ${Math.floor(width / 2)} ${label.length}`;
		let fit = this.fits.get(key);

		if (fit === undefined) {
			if (this.fits.size > 20000) this.fits.clear();
			this.fits.set(key, (fit = this.widths!.fit(label, width)));
		}
		return fit;
	}

	private drawMark(
		x: CanvasRenderingContext2D,
		at: number,
		y: number,
		h: number,
		css: Record<string, string>,
	): void {
		x.fillStyle = css.accent;
		x.beginPath();
		x.moveTo(at, y + h);
		x.lineTo(at - 4, y + h - 9);
		x.lineTo(at + 4, y + h - 9);
		x.fill();
		x.fillStyle = css.ink;
	}

	/* Where a lane is on the screen: its upper edge and height. */
	private spot(shown: [Row, number][], track: number, lane: number): [number, number] | null {
		for (const [row, y] of shown) {
			const l = row.lanes.find(o => o.track === track && o.lane === lane);

			if (l && (row.pinned || y + l.y >= this.layout.pinnedHeight - l.h)) return [y + l.y, l.h];
		}
		return null;
	}

	private drawArrows(x: CanvasRenderingContext2D, shown: [Row, number][], view: Range): void {
		this.data.needFlows(view, 2000);
		const { flows } = this.data,
			{ css } = this.palette,
			id = this.app.selected.peek();

		if (!flows) return;
		const seen: number[] = [],
			own: number[] = [];

		flows.from.t.forEach((from, i) => {
			const to = flows.to.t[i];

			if (Math.max(from, to) < view.t0 || Math.min(from, to) > view.t1) return;
			const mine =
				id !== null &&
				(eventId(flows.from.track[i], flows.from.row[i]) === id ||
					eventId(flows.to.track[i], flows.to.row[i]) === id);

			(mine ? own : seen).push(i);
		});
		x.save();
		x.beginPath();
		x.rect(0, 0, this.width, this.height);
		x.clip();
		x.strokeStyle = css.text3;
		x.globalAlpha = 0.35;
		x.lineWidth = 1;
		if (seen.length <= ARROWS) seen.forEach(i => this.arrow(x, shown, i, false));
		x.globalAlpha = 1;
		x.lineWidth = 2;
		x.strokeStyle = x.fillStyle = css.accent;
		own.forEach(i => this.arrow(x, shown, i, true));
		x.restore();
	}

	private arrow(x: CanvasRenderingContext2D, shown: [Row, number][], i: number, head: boolean): void {
		const f = this.data.flows!,
			a = this.spot(shown, f.from.track[i], f.from.lane[i]);
		const b = this.spot(shown, f.to.track[i], f.to.lane[i]);

		if (!a || !b) return;
		const x0 = this.xOf(f.from.t[i]),
			x1 = this.xOf(f.to.t[i]),
			down = b[0] >= a[0];
		const y0 = down ? a[0] + a[1] : a[0],
			y1 = down ? b[0] : b[0] + b[1],
			bend = (y1 - y0) * 0.5;

		x.beginPath();
		x.moveTo(x0, y0);
		x.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
		x.stroke();
		if (!head) return;
		const back = down ? -7 : 7;

		x.beginPath();
		x.moveTo(x1, y1);
		x.lineTo(x1 - 4, y1 + back);
		x.lineTo(x1 + 4, y1 + back);
		x.fill();
	}

	private drawRuler(): void {
		const { app, ratio } = this,
			x = this.c.ruler.getContext('2d')!,
			{ css } = this.palette;
		const view = app.view.peek(),
			{ at, by } = this.ticks,
			area = app.area.peek();

		x.setTransform(ratio, 0, 0, ratio, 0, 0);
		x.clearRect(0, 0, this.width, RULER);
		this.font(x);
		const pill = area ? this.xOf((Math.max(area.t0, view.t0) + Math.min(area.t1, view.t1)) / 2) : -1e4;

		for (const t of at) {
			const p = Math.round(this.xOf(t)) + 0.5;

			x.fillStyle = css.line2;
			x.fillRect(p - 0.5, RULER - 8, 1, 8);
			for (let k = 1; k < 5; k++) x.fillRect(Math.round(this.xOf(t + (by * k) / 5)), RULER - 4, 1, 4);
			x.fillStyle = css.text2;
			if (Math.abs(p + 24 - pill) > 70) x.fillText(tick(t, by, view.t1 - view.t0), p + 4, 10);
		}
		for (const n of app.notes.peek()) this.flag(x, this.xOf(n.t0), css.accent);
		if (area) this.areaPill(x, area, pill, css);
	}

	private flag(x: CanvasRenderingContext2D, at: number, colour: string): void {
		x.fillStyle = colour;
		x.beginPath();
		x.moveTo(at, RULER);
		x.lineTo(at, RULER - 14);
		x.lineTo(at + 9, RULER - 10.5);
		x.lineTo(at + 1.5, RULER - 7);
		x.lineTo(at + 1.5, RULER);
		x.fill();
	}

	private areaPill(
		x: CanvasRenderingContext2D,
		area: Range,
		middle: number,
		css: Record<string, string>,
	): void {
		const a = this.xOf(area.t0),
			b = this.xOf(area.t1),
			text = time(area.t1 - area.t0);

		x.fillStyle = css['accent-bg'];
		x.fillRect(a, RULER - 3, b - a, 3);
		this.font(x, '600');
		const wide = x.measureText(text).width,
			at = Math.max(wide / 2 + 8, Math.min(middle, this.width - wide / 2 - 8));

		x.fillStyle = css.accent;
		x.beginPath();
		x.roundRect(at - wide / 2 - 8, 3, wide + 16, 17, 8.5);
		x.fill();
		x.fillStyle = css['on-accent'];
		x.fillText(text, at - wide / 2, 12);
	}

	/* What moves without the picture below moving: pointer, hover, selection, borders. */
	private drawOver(): void {
		const { app, ratio } = this,
			x = this.c.over.getContext('2d')!,
			{ css } = this.palette;
		const area = app.area.peek(),
			glow = app.glow.peek();

		x.setTransform(ratio, 0, 0, ratio, 0, 0);
		x.clearRect(0, 0, this.width, this.height);
		x.lineWidth = 1;
		const border = (t: number, colour: string, dash: number[]) => {
			const p = Math.round(this.xOf(t)) + 0.5;

			x.strokeStyle = colour;
			x.setLineDash(dash);
			x.beginPath();
			x.moveTo(p, 0);
			x.lineTo(p, this.height);
			x.stroke();
			x.setLineDash([]);
		};

		if (area) [area.t0, area.t1].forEach(t => border(t, css.accent, []));
		if (glow) [glow.t0, glow.t1].forEach(t => border(t, css.warn, [4, 3]));
		for (const n of app.notes.peek()) border(n.t0, css.accent, [2, 4]);
		if (this.cursor >= 0) border(this.timeAt(this.cursor), css.text3, [2, 3]);
		this.outlineHover(x, css);
		this.outlineSelection(x, css);
	}

	private outlineHover(x: CanvasRenderingContext2D, css: Record<string, string>): void {
		const u = this.hover;

		if (!u?.lane || !u.window || u.item < 0) return;
		const y = u.row.pinned ? u.row.y : u.row.y - this.scroll + this.layout.pinnedHeight,
			w = u.window.of;

		this.outline(x, w.start[u.item], w.length[u.item], y + u.lane.y, u.lane.h, css.text, 1);
	}

	private outlineSelection(x: CanvasRenderingContext2D, css: Record<string, string>): void {
		const d = this.app.detail.peek(),
			id = this.app.selected.peek();

		if (!d || d.id !== id) return;
		const at = this.spot([...this.onScreen()], trackOf(d.id), d.lane);

		if (at) this.outline(x, d.t, d.dur, at[0], at[1], css.accent, 2.5);
	}

	private outline(
		x: CanvasRenderingContext2D,
		t: number,
		d: number,
		y: number,
		h: number,
		colour: string,
		wide: number,
	): void {
		const a = Math.max(-4, this.xOf(t)),
			b = Math.min(this.width + 4, Math.max(this.xOf(t + d), a + 2));

		x.strokeStyle = colour;
		x.lineWidth = wide;
		x.strokeRect(a - 0.5, y - 0.5, b - a + 0.5, h + 1);
	}

	/* Colours of lane 0 of some tracks over a range, for the minimap: px -> colour -> share. */
	density(tracks: number[], range: Range, bins: number): Float32Array[] {
		const out = Array.from({ length: bins }, () => new Float32Array(COLOURS));
		const by = this.app.colourBy.peek(),
			colours = this.app.types.colourTable(by),
			wide = (range.t1 - range.t0) / bins;

		for (const track of tracks) {
			const l = this.data.miniOf(track);

			for (let i = l?.first ?? 0; l && i < l.last; i++) {
				const w = l.of,
					share = w.row[i] === MANY ? w.fill[i] / 255 : 1;
				const a = w.start[i],
					b = Math.min(range.t1, a + w.length[i]);
				const colour =
					by === 'rank'
						? byRank(this.app.byTrack.peek().get(track)?.rank ?? -1)
						: (colours[w.type[i]] ?? 9);

				for (
					let k = Math.max(0, Math.floor((a - range.t0) / wide));
					k < bins && range.t0 + k * wide < b;
					k++
				) {
					const from = range.t0 + k * wide;

					out[k][colour] +=
						(share * Math.max(0, Math.min(b, from + wide) - Math.max(a, from))) / wide;
				}
			}
		}
		return out;
	}

	needMini(tracks: number[]): void {
		this.data.needMini(tracks, this.app.bounds.peek());
	}

	/* Changes whenever there is something new to draw a minimap from. */
	get version(): number {
		return this.data.minis;
	}
}
