// data.ts - what is known of each lane: the whole coarsely, and the last window finely. Asks for
// what a picture lacks, one request at a time; what is there is drawn meanwhile.

import type { Flows, Source } from '../source/contract';
import { readWindow, type Window } from '../source/window';
import type { Range } from '../state/app';

const COARSE = 1024; // pixels of the whole
const LANES_AT_ONCE = 256;
const PATIENCE = 1000; // ms
const KEPT = 2000; // lanes whose windows are kept

/* The items of one lane in a window. */
export interface LaneWindow {
	of: Window;
	first: number;
	last: number;
	cell: number; // of a counter: first cell
	cells: number;
	known: number; // the end of the trace when it was asked for...
	generation: number; // ... and which trace that was
}

const key = (track: number, lane: number): number => track * 65536 + lane;

export interface LaneNeed {
	track: number;
	lane: number;
}

export class LaneData {
	private readonly coarse = new Map<number, LaneWindow>();
	private readonly fine = new Map<number, LaneWindow>();
	private readonly mini = new Map<number, LaneWindow>(); // over the range of the minimap
	private miniFor: Range = { t0: 0, t1: 0 };
	private busy = false;
	private flowsBusy = false;
	private flowsFor: Range | null = null;
	private whole: Range = { t0: 0, t1: 1 };
	flows: Flows | null = null; // of flowsFor, or of what was shown before
	minis = 0; // how often there was something new for the minimap

	constructor(
		private readonly source: Source,
		private readonly arrived: () => void,
		private readonly failed: (e: unknown) => void,
	) {}

	private generation = 0;

	/* The trace has grown: what is known of it is drawn until something newer has come. */
	setWhole(span: number, generation: number): void {
		if (span === this.whole.t1 && generation === this.generation) return;
		this.whole = { t0: 0, t1: span };
		this.generation = generation;
		this.flowsFor = null;
	}

	private isOld(w: LaneWindow | undefined): boolean {
		return !w || w.generation !== this.generation;
	}

	/* The best there is for a view: the fine window if it covers it, else the whole. */
	get(track: number, lane: number, view: Range): LaneWindow | undefined {
		const k = key(track, lane),
			fine = this.fine.get(k),
			coarse = this.coarse.get(k);

		if (!fine) return coarse;
		const covers = fine.of.t0 <= Math.max(view.t0, 0) && fine.of.t1 >= Math.min(view.t1, fine.known);

		return covers || !coarse ? fine : coarse;
	}

	coarseOf(track: number, lane: number): LaneWindow | undefined {
		return this.coarse.get(key(track, lane));
	}

	/* For the minimap: lanes over a range of its own, which does not move with the window. */
	needMini(tracks: number[], range: Range): void {
		if (range.t0 !== this.miniFor.t0 || range.t1 !== this.miniFor.t1) {
			this.miniFor = { ...range };
		}
		const bare = tracks
			.filter(track => {
				const w = this.mini.get(key(track, 0));

				return this.isOld(w) || w!.of.t0 !== range.t0 || w!.of.t1 !== range.t1;
			})
			.map(track => ({ track, lane: 0 }))
			.slice(0, LANES_AT_ONCE);

		if (bare.length && !this.busy) this.ask(bare, this.miniFor, COARSE, this.mini);
	}

	miniOf(track: number): LaneWindow | undefined {
		return this.mini.get(key(track, 0));
	}

	private goodEnough(w: LaneWindow | undefined, view: Range, pixels: number): boolean {
		if (!w || this.isOld(w)) return false;
		const { t0, t1 } = w.of,
			have = (t1 - t0) / w.of.pixels,
			want = (view.t1 - view.t0) / pixels;

		return t0 <= Math.max(view.t0, 0) && t1 >= Math.min(view.t1, this.whole.t1) && have <= want * 1.3;
	}

	/* Asks for what these lanes lack. Coarse ones first, so that there is a picture at once. */
	need(lanes: LaneNeed[], view: Range, pixels: number): void {
		if (this.busy) return;
		const bare = lanes.filter(l => !this.coarse.has(key(l.track, l.lane))).slice(0, LANES_AT_ONCE);

		if (bare.length) return this.ask(bare, this.whole, COARSE, this.coarse);
		const poor = lanes
			.filter(l => {
				const k = key(l.track, l.lane);

				return (
					!this.goodEnough(this.fine.get(k), view, pixels) &&
					!this.goodEnough(this.coarse.get(k), view, pixels)
				);
			})
			.slice(0, LANES_AT_ONCE);

		if (!poor.length) {
			const old = lanes.filter(l => this.isOld(this.coarse.get(key(l.track, l.lane))));

			if (old.length) this.ask(old.slice(0, LANES_AT_ONCE), this.whole, COARSE, this.coarse);
		} else {
			const half = (view.t1 - view.t0) / 2;
			const wide = {
				t0: Math.max(this.whole.t0, Math.floor(view.t0 - half)),
				t1: Math.min(this.whole.t1, Math.ceil(view.t1 + half)),
			};
			const share = (wide.t1 - wide.t0) / (view.t1 - view.t0);

			if (wide.t1 > wide.t0) this.ask(poor, wide, Math.max(1, Math.ceil(pixels * share)), this.fine);
		}
	}

	private ask(lanes: LaneNeed[], range: Range, pixels: number, to: Map<number, LaneWindow>): void {
		const asked = { known: this.whole.t1, generation: this.generation };

		this.busy = true;
		this.source
			.ask('window', { ...range, pixels, lanes: lanes.map(l => [l.track, l.lane]) })
			.then(bytes => this.keep(readWindow(bytes), lanes, to, asked))
			.then(
				() => this.goOn(),
				e => {
					this.failed(e);
					setTimeout(() => this.goOn(), PATIENCE); // a server that is gone is not asked sixty times a second
				},
			);
	}

	private goOn(): void {
		this.busy = false;
		this.arrived();
	}

	private keep(
		w: Window,
		lanes: LaneNeed[],
		to: Map<number, LaneWindow>,
		asked: { known: number; generation: number },
	): void {
		if (to === this.mini) {
			if (w.t0 !== this.miniFor.t0 || w.t1 !== this.miniFor.t1) return; // it shows another range by now
			this.minis++;
		}
		if (to.size > KEPT) to.clear();
		lanes.forEach((l, i) =>
			to.set(key(l.track, l.lane), {
				of: w,
				first: w.first[i],
				last: w.first[i + 1],
				cell: w.cells[i],
				cells: w.cells[i + 1] - w.cells[i],
				...asked,
			}),
		);
	}

	needFlows(view: Range, limit: number): void {
		const f = this.flowsFor;
		const fits =
			f &&
			f.t0 <= view.t0 &&
			f.t1 >= view.t1 &&
			(f.t1 - f.t0 < (view.t1 - view.t0) * 4 || !this.flows?.more);

		if (this.flowsBusy || fits) return;
		const half = (view.t1 - view.t0) / 2,
			range = { t0: view.t0 - half, t1: view.t1 + half };

		this.flowsBusy = true;
		this.source
			.ask('flows', { ...range, limit })
			.then(flows => {
				this.flows = flows;
				this.flowsBusy = false;
				this.arrived();
			})
			.catch(e => {
				this.failed(e);
				setTimeout(() => {
					this.flowsBusy = false;
					this.flowsFor = null;
				}, PATIENCE);
			});
		this.flowsFor = range;
	}
}
