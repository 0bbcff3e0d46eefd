// raster.ts - fills, written into an image word by word: the only way to draw 100 000 rectangles in
// a millisecond without a GPU. A lane is drawn as one line of pixels, which is then repeated.

import type { Range } from '../state/app';
import { MANY, TORN, type Window } from '../source/window';
import type { LaneWindow } from './data';
import { TONES, type Palette } from './theme';

export interface Colouring {
	palette: Palette;
	colours: Uint8Array; // of types
	rank: number; // >= 0: the colour of all, whatever the type
	unwanted: Uint8Array | null; // types drawn in grey...
	wanted: ((dur: number) => boolean) | null; // ... and slices but these...
	dim: boolean; // ... or all of them
}

/* What a row lies on. */
export interface Look {
	group: boolean;
	inArea: boolean;
}

export class Raster {
	image: ImageData;
	words: Uint32Array;
	private readonly ground: Record<'plain' | 'group' | 'plainArea' | 'groupArea', Uint32Array>; // lines of background
	private fill: Uint32Array; // one line of a lane, and its upper and lower edge
	private edge: Uint32Array;

	constructor(
		public width: number,
		public height: number,
	) {
		this.image = new ImageData(width, height);
		this.words = new Uint32Array(this.image.data.buffer);
		this.ground = {
			plain: new Uint32Array(width),
			group: new Uint32Array(width),
			plainArea: new Uint32Array(width),
			groupArea: new Uint32Array(width),
		};
		this.fill = new Uint32Array(width);
		this.edge = new Uint32Array(width);
	}

	/* Background of this frame: surface, lines of the ruler, the area. Everything is covered. */
	begin(p: Palette, ticks: number[], area: [number, number] | null): void {
		const { plain, group, plainArea, groupArea } = this.ground;

		plain.fill(p.surface);
		group.fill(p.sunken);
		for (const t of ticks) {
			const x = Math.round(t);

			if (x >= 0 && x < this.width) plain[x] = group[x] = p.line;
		}
		plainArea.set(plain);
		groupArea.set(group);
		if (area) {
			const a = Math.max(0, Math.round(area[0])),
				b = Math.min(this.width, Math.round(area[1]));

			if (b > a) {
				plainArea.fill(p.sel, a, b);
				groupArea.fill(p.selSunken, a, b);
			}
		}
		for (let y = 0; y < this.height; y++) this.words.set(plain, y * this.width);
	}

	private line(look: Look): Uint32Array {
		return this.ground[
			look.group ? (look.inArea ? 'groupArea' : 'group') : look.inArea ? 'plainArea' : 'plain'
		];
	}

	row(y: number, h: number, look: Look, p: Palette, top: number): void {
		const from = Math.max(top, y),
			to = Math.min(this.height, y + h),
			line = this.line(look);

		for (let i = from; i < to; i++) this.words.set(line, i * this.width);
		if (y + h - 1 >= top && y + h <= this.height && h > 0)
			this.words.fill(p.line, (y + h - 1) * this.width, (y + h) * this.width);
	}

	/* Draws the items of a lane into [y, y + h), not above top; returns how many. */
	lane(l: LaneWindow, view: Range, y: number, h: number, c: Colouring, look: Look, top: number): number {
		const w = l.of,
			W = this.width,
			scale = W / (view.t1 - view.t0),
			ground = this.line(look);
		const { palette, colours, unwanted, wanted } = c,
			{ fill, edge } = this;
		let drawn = 0;

		fill.set(ground);
		edge.set(ground);
		for (let i = from(w, l, view.t0); i < l.last; i++) {
			const start = w.start[i];

			if (start >= view.t1) break;
			const x0 = (start - view.t0) * scale,
				x1 = x0 + w.length[i] * scale;

			if (x1 < 0) continue;
			let a = Math.max(0, Math.floor(x0 + 0.5)),
				b = Math.min(W, Math.floor(x1 + 0.5));

			if (b <= a) b = a + 1;
			if (a >= W) break;
			drawn++;
			const type = w.type[i],
				colour = c.rank >= 0 ? c.rank : (colours[type] ?? 9);
			const torn = w.fill[i] === TORN && w.row[i] !== MANY;
			const tone = w.row[i] === MANY ? (w.fill[i] * TONES) >> 8 : TONES - 1;
			const grey = c.dim || unwanted?.[type] === 1 || (wanted !== null && !wanted(w.length[i]));
			const narrow = b - a < 4,
				words = grey ? palette.greys : narrow ? palette.thin : palette.fills,
				word = words[colour * TONES + tone];

			if (narrow) {
				while (a < b) {
					fill[a] = edge[a] = word;
					a++;
				}
				continue;
			}
			const line = grey ? word : palette.edges[colour];

			b--; // a gap, so that neighbours of one colour can be told apart
			fill.fill(word, a, b);
			edge.fill(line, a, b);
			if (x0 >= 0) fill[a] = line;
			if (x1 <= W && !torn) fill[b - 1] = line;
			if (torn && x1 <= W)
				// it never ended: its end frays, where that can be seen
				for (let k = Math.max(a, b - 24), n = 0; k < b; k++, n++)
					if ((n >> 2) % 2) fill[k] = edge[k] = ground[k];
		}
		this.repeat(y, h, top);
		return drawn;
	}

	private repeat(y: number, h: number, top: number): void {
		const W = this.width,
			end = Math.min(this.height, y + h);

		for (let i = Math.max(y, top); i < end; i++)
			this.words.set(i === y || i === y + h - 1 ? this.edge : this.fill, i * W);
	}

	/* Stripes where a device waits: never colour alone, so lines as well. */
	hatch(
		l: LaneWindow,
		view: Range,
		y: number,
		h: number,
		late: (type: number) => boolean,
		p: Palette,
		top: number,
		ratio: number,
	): void {
		const w = l.of,
			W = this.width,
			scale = W / (view.t1 - view.t0),
			step = Math.round(6 * ratio);

		for (let i = from(w, l, view.t0); i < l.last && w.start[i] < view.t1; i++) {
			const a = Math.max(0, Math.round((w.start[i] - view.t0) * scale)),
				b = Math.min(W, Math.round((w.start[i] + w.length[i] - view.t0) * scale));
			const [line, ground] = p.hatch[late(w.type[i]) ? 'late' : 'idle'];

			for (let k = Math.max(y, top); k < Math.min(y + h, this.height); k++)
				for (let x = a; x < b; x++) this.words[k * W + x] = (x + k) % step < step / 3 ? line : ground;
		}
	}

	/* A counter: filled below its greatest value of each pixel. */
	counter(
		l: LaneWindow,
		view: Range,
		y: number,
		h: number,
		low: number,
		high: number,
		p: Palette,
		top: number,
	): void {
		const w = l.of,
			W = this.width,
			cells = (w.t1 - w.t0) / l.cells,
			span = high - low || 1;
		const per = (view.t1 - view.t0) / W;

		for (let x = 0; x < W; x++) {
			const first = Math.floor((view.t0 + x * per - w.t0) / cells);
			const last = Math.max(first, Math.ceil((view.t0 + (x + 1) * per - w.t0) / cells) - 1);
			let max = -Infinity,
				min = Infinity;

			for (let cell = Math.max(0, first); cell <= Math.min(last, l.cells - 1); cell++) {
				if (w.high[l.cell + cell] > max) max = w.high[l.cell + cell];
				if (w.low[l.cell + cell] < min) min = w.low[l.cell + cell];
			}
			if (max === -Infinity) continue;
			const up = Math.max(y, Math.round(y + (h - 1) * (1 - (max - low) / span)));
			const down = Math.min(y + h - 1, Math.round(y + (h - 1) * (1 - (min - low) / span)));

			for (let i = Math.max(up, top); i < Math.min(y + h, this.height); i++)
				this.words[i * W + x] = i === up ? p.counterLine : i <= down ? p.counterBand : p.counterFill;
		}
	}
}

/* The first item of a lane that reaches to t or begins later. */
function from(w: Window, l: LaneWindow, t: number): number {
	let low = l.first,
		high = l.last;

	while (low < high) {
		const mid = (low + high) >>> 1;

		if (w.start[mid] + w.length[mid] < t) low = mid + 1;
		else high = mid;
	}
	return low;
}

export const firstItem = from;
