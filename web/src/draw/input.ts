// input.ts - pointer, wheel and touch on the timeline, as people know them from Perfetto.

import type { App, Area } from '../state/app';
import type { Timeline } from './timeline';

const DRAG_FROM = 4; // px before a press becomes a drag
const EDGE = 5; // px around a border of the area that take hold of it
const LONG_PRESS = 450; // ms

type Drag =
	| { kind: 'press'; x: number; y: number; pan: boolean; ruler: boolean }
	| { kind: 'area'; t: number; y: number; ruler: boolean }
	| { kind: 'edge'; fixed: number; tracks: number[] | null }
	| { kind: 'pan'; x: number; y: number; t0: number; t1: number; scroll: number };

interface Finger {
	x: number;
	y: number;
}

export class Input {
	private drag: Drag | null = null;
	private readonly fingers = new Map<number, Finger>();
	private pinch: { apart: number; t: number } | null = null;
	private press: ReturnType<typeof setTimeout> | undefined;
	private readonly off: (() => void)[] = [];
	onHover: ((x: number, y: number) => void) | null = null;

	constructor(
		private readonly app: App,
		private readonly tl: Timeline,
		private readonly canvas: HTMLElement,
		ruler: HTMLElement,
	) {
		this.on(canvas, 'wheel', e => this.wheel(e as WheelEvent), { passive: false });
		this.on(canvas, 'dblclick', () => app.focusSlice());
		this.on(canvas, 'pointerleave', () => this.leave());
		this.on(canvas, 'blur', () => canvas.classList.remove('byhand'));
		for (const [of, isRuler] of [
			[canvas, false],
			[ruler, true],
		] as const) {
			this.on(of, 'pointerdown', e => this.down(e as PointerEvent, of, isRuler));
			this.on(of, 'pointermove', e => this.move(e as PointerEvent));
			this.on(of, 'pointerup', e => this.up(e as PointerEvent));
			this.on(of, 'pointercancel', e => this.cancel(e as PointerEvent));
		}
	}

	private on(
		of: HTMLElement,
		name: string,
		act: (e: Event) => void,
		options?: AddEventListenerOptions,
	): void {
		of.addEventListener(name, act, options);
		this.off.push(() => of.removeEventListener(name, act));
	}

	stop(): void {
		this.off.forEach(f => f());
		clearTimeout(this.press);
	}

	private at(e: { clientX: number; clientY: number }): Finger {
		const box = this.canvas.getBoundingClientRect();

		return { x: e.clientX - box.left, y: e.clientY - box.top };
	}

	private wheel(e: WheelEvent): void {
		const { x } = this.at(e),
			unit = e.deltaMode === 1 ? 16 : 1;

		e.preventDefault();
		if (e.ctrlKey || e.metaKey)
			this.app.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY * unit * 0.004))), x / this.tl.width);
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			this.app.pan(((e.deltaX || e.deltaY) * unit) / this.tl.width);
		else this.tl.scrollTo(this.tl.scroll + e.deltaY * unit);
	}

	private down(e: PointerEvent, of: HTMLElement, ruler: boolean): void {
		const p = this.at(e);

		if (e.button > 1) return;
		this.canvas.classList.add('byhand'); // no ring around it for those who point
		this.canvas.focus({ preventScroll: true });
		of.setPointerCapture(e.pointerId);
		this.fingers.set(e.pointerId, p);
		if (this.fingers.size === 2) return this.startPinch();
		const area = this.app.area.peek();

		if (area && !e.shiftKey)
			for (const [mine, other] of [
				[area.t0, area.t1],
				[area.t1, area.t0],
			])
				if (Math.abs(this.tl.xOf(mine) - p.x) <= EDGE) {
					this.drag = { kind: 'edge', fixed: other, tracks: area.tracks };
					return;
				}
		this.drag = {
			kind: 'press',
			x: p.x,
			y: p.y,
			ruler,
			pan: e.shiftKey || e.button === 1 || e.pointerType === 'touch',
		};
		if (e.pointerType === 'touch') this.press = setTimeout(() => this.longPress(), LONG_PRESS);
	}

	private longPress(): void {
		const d = this.drag;

		if (d?.kind !== 'press') return;
		this.drag = { kind: 'area', t: this.tl.timeAt(d.x), y: d.y, ruler: d.ruler };
		this.app.say('Move the finger to select an area');
	}

	private startPinch(): void {
		const [a, b] = [...this.fingers.values()];

		clearTimeout(this.press);
		this.drag = null;
		this.pinch = { apart: Math.max(10, Math.abs(a.x - b.x)), t: this.tl.timeAt((a.x + b.x) / 2) };
	}

	private movePinch(): void {
		const [a, b] = [...this.fingers.values()],
			apart = Math.max(10, Math.abs(a.x - b.x));
		const { t0, t1 } = this.app.view.peek(),
			span = ((t1 - t0) * this.pinch!.apart) / apart;
		const at = (a.x + b.x) / 2 / this.tl.width;

		this.pinch!.apart = apart;
		this.app.show(this.pinch!.t - span * at, this.pinch!.t + span * (1 - at));
	}

	private move(e: PointerEvent): void {
		const p = this.at(e);

		if (this.fingers.has(e.pointerId)) this.fingers.set(e.pointerId, p);
		if (this.pinch && this.fingers.size === 2) return this.movePinch();
		if (!this.drag) return this.hover(e, p);
		const d = this.drag;

		if (d.kind === 'press' && Math.hypot(p.x - d.x, p.y - d.y) > DRAG_FROM) {
			clearTimeout(this.press);
			this.drag = d.pan
				? { kind: 'pan', x: d.x, y: d.y, ...this.app.view.peek(), scroll: this.tl.scroll }
				: { kind: 'area', t: this.tl.timeAt(d.x), y: d.y, ruler: d.ruler };
			this.leave(); // the tip is about where it began
		}
		this.follow(p);
	}

	private follow(p: Finger): void {
		const d = this.drag!,
			t = this.tl.timeAt(p.x);

		if (d.kind === 'area') this.app.area.value = this.areaOf(d.t, t, d.ruler ? null : [d.y, p.y]);
		else if (d.kind === 'edge')
			this.app.area.value = { t0: Math.min(t, d.fixed), t1: Math.max(t, d.fixed), tracks: d.tracks };
		else if (d.kind === 'pan') {
			const by = ((d.x - p.x) / this.tl.width) * (d.t1 - d.t0);

			this.app.show(d.t0 + by, d.t1 + by);
			this.tl.scrollTo(d.scroll + d.y - p.y);
		}
	}

	/* The tracks between two heights; all of them if the drag began on the ruler. */
	private areaOf(a: number, b: number, ys: [number, number] | null): Area {
		const area = { t0: Math.min(a, b), t1: Math.max(a, b), tracks: null };

		if (!ys) return area;
		const first = Math.min(...ys),
			last = Math.max(...ys),
			tracks = new Set<number>();

		for (let y = first; ; y = Math.min(last, y + 8)) {
			const row = this.tl.rowAt(y);

			if (row && row.place.track >= 0) tracks.add(row.place.track);
			else if (row?.folded)
				// an open one is only passed on the way
				this.below(row.place.id).forEach(t => tracks.add(t));
			if (y >= last) break;
		}
		return { ...area, tracks: tracks.size ? [...tracks] : null };
	}

	private below(id: number): number[] {
		return this.app.ordered(id).flatMap(p => [...(p.track >= 0 ? [p.track] : []), ...this.below(p.id)]);
	}

	private hover(e: PointerEvent, p: Finger): void {
		if (e.pointerType === 'touch') return;
		const area = this.app.area.peek();
		const near = area && [area.t0, area.t1].some(t => Math.abs(this.tl.xOf(t) - p.x) <= EDGE);

		this.canvas.style.cursor = near ? 'ew-resize' : '';
		this.tl.cursor = p.x;
		this.tl.hover = this.tl.under(p.x, p.y);
		this.tl.touchOver();
		this.onHover?.(e.clientX, e.clientY);
	}

	private leave(): void {
		this.tl.hover = null;
		this.tl.cursor = -1;
		this.tl.touchOver();
		this.onHover?.(-1, -1);
	}

	private up(e: PointerEvent): void {
		const d = this.drag,
			p = this.at(e);

		this.cancel(e);
		if (d?.kind === 'press') {
			const u = d.ruler ? null : this.tl.under(p.x, p.y);

			if (!u || u.item < 0) this.app.area.value = null;
			if (u) this.tl.pick(u).catch(error => this.app.fail(error));
			return;
		}
		if (d?.kind === 'area' || d?.kind === 'edge') this.app.setArea(this.app.area.peek());
	}

	private cancel(e: PointerEvent): void {
		clearTimeout(this.press);
		this.fingers.delete(e.pointerId);
		if (this.fingers.size < 2) this.pinch = null;
		this.drag = null;
	}
}
