// minimap.tsx - the load of the whole range by colour, with the window as a brush.

import { effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Timeline } from '../draw/timeline';
import type { App } from '../state/app';

const BAR = 3; // px of a column
const TRACKS = 16; // looked at: the busiest

/* What the load is made of: device queues if there are any, else threads; the busiest of them. */
function busiest(app: App): number[] {
	const of = (kind: string) =>
		app.places
			.peek()
			.filter(p => p.kind === kind && p.lanes.length && !app.hidden.peek().has(p.id))
			.sort((a, b) => b.lanes[0].count - a.lanes[0].count)
			.slice(0, TRACKS)
			.map(p => p.track);
	const queues = of('queue');

	return queues.length ? queues : of('thread');
}

interface Bars {
	key: string;
	image: HTMLCanvasElement;
}

/* The load as an image: drawn again only when it has changed, not with every move of the window. */
function bars(app: App, tl: Timeline, w: number, h: number, ratio: number, old: Bars | null): Bars {
	const bounds = app.bounds.peek(),
		tracks = busiest(app),
		{ css, bars: colours } = tl.palette;
	const of = [w, h, ratio, bounds.t0, bounds.t1, app.colourBy.peek(), app.types.loaded.peek(), tl.version];
	const key = [...of, css.surface, css.edge, ...tracks].join(' ');

	tl.needMini(tracks);
	if (old?.key === key) return old;
	const image = old?.image ?? document.createElement('canvas'),
		bins = Math.max(1, Math.floor(w / BAR));

	image.width = Math.round(w * ratio);
	image.height = Math.round(h * ratio);
	const x = image.getContext('2d')!,
		load = tl.density(tracks, bounds, bins);
	const most = Math.max(0.05, ...load.map(b => b.reduce((s, v) => s + v, 0)));

	x.setTransform(ratio, 0, 0, ratio, 0, 0);
	load.forEach((bin, i) => {
		let y = h - 1;

		bin.forEach((share, colour) => {
			const tall = (share / most) * (h - 6);

			if (tall < 0.1) return;
			x.fillStyle = colours[colour];
			x.fillRect(i * BAR, y - tall, BAR - 0.6, tall);
			y -= tall;
		});
	});
	return { key, image };
}

function draw(app: App, tl: Timeline, canvas: HTMLCanvasElement, old: Bars | null): Bars {
	const box = canvas.parentElement!,
		ratio = devicePixelRatio || 1,
		w = box.clientWidth,
		h = box.clientHeight;
	const { css } = tl.palette,
		bounds = app.bounds.peek(),
		view = app.view.peek(),
		area = app.area.peek();
	const load = bars(app, tl, w, h, ratio, old);

	if (canvas.width !== load.image.width || canvas.height !== load.image.height) {
		canvas.width = load.image.width;
		canvas.height = load.image.height;
	}
	const x = canvas.getContext('2d')!,
		at = (t: number) => ((t - bounds.t0) / (bounds.t1 - bounds.t0)) * w;
	const a = Math.max(0, at(view.t0)),
		b = Math.min(w, at(view.t1));

	x.setTransform(1, 0, 0, 1, 0, 0);
	x.clearRect(0, 0, canvas.width, canvas.height);
	if (load.image.width && load.image.height) x.drawImage(load.image, 0, 0);
	x.setTransform(ratio, 0, 0, ratio, 0, 0);
	x.fillStyle = css.surface;
	x.globalAlpha = 0.6;
	x.fillRect(0, 0, a, h);
	x.fillRect(b, 0, w - b, h);
	x.globalAlpha = 1;
	if (area) {
		x.fillStyle = css.accent;
		x.fillRect(at(area.t0), 0, Math.max(1, at(area.t1) - at(area.t0)), 3);
	}
	x.strokeStyle = css.accent;
	x.lineWidth = 2;
	x.strokeRect(Math.min(a, w - 4) + 1, 1, Math.max(b - a, 4) - 2, h - 2);
	return load;
}

type Grip = { kind: 'move'; off: number } | { kind: 'from' } | { kind: 'to' } | null;

export function Minimap({ app, tl }: { app: App; tl: Timeline }) {
	const canvas = useRef<HTMLCanvasElement>(null),
		grip = useRef<Grip>(null);

	useEffect(() => {
		const on = canvas.current!;
		let asked = 0,
			load: Bars | null = null;
		const ask = () => {
			asked ||= requestAnimationFrame(() => {
				asked = 0;
				if (on.isConnected) load = draw(app, tl, on, load);
			});
		};
		const stop = effect(() => {
			void [
				app.view.value,
				app.bounds.value,
				app.area.value,
				app.types.loaded.value,
				app.colourBy.value,
				app.frames.value,
				app.theme.value,
			];
			ask();
		});
		const watch = new ResizeObserver(ask);

		watch.observe(on.parentElement!);
		return () => {
			stop();
			watch.disconnect();
			cancelAnimationFrame(asked);
		};
	}, [app, tl]);
	const timeOf = (e: PointerEvent): number => {
		const r = canvas.current!.getBoundingClientRect(),
			b = app.bounds.peek();

		return b.t0 + ((e.clientX - r.left) / r.width) * (b.t1 - b.t0);
	};
	const down = (e: PointerEvent) => {
		const t = timeOf(e),
			{ t0, t1 } = app.view.peek(),
			b = app.bounds.peek();
		const near = ((b.t1 - b.t0) / canvas.current!.clientWidth) * 6;

		canvas.current!.setPointerCapture(e.pointerId);
		if (Math.abs(t - t0) < near && t1 - t0 > near * 2) grip.current = { kind: 'from' };
		else if (Math.abs(t - t1) < near && t1 - t0 > near * 2) grip.current = { kind: 'to' };
		else {
			const inside = t > t0 && t < t1;

			grip.current = { kind: 'move', off: inside ? t - t0 : (t1 - t0) / 2 };
			move(e);
		}
	};
	const move = (e: PointerEvent) => {
		const g = grip.current,
			t = timeOf(e),
			{ t0, t1 } = app.view.peek();

		if (g?.kind === 'move') app.show(t - g.off, t - g.off + (t1 - t0));
		else if (g?.kind === 'from') app.show(Math.min(t, t1 - 1), t1);
		else if (g?.kind === 'to') app.show(t0, Math.max(t, t0 + 1));
	};

	return (
		<canvas
			ref={canvas}
			class="minimap"
			role="img"
			aria-label="Load of the whole range by category; the frame is the window"
			onPointerDown={down}
			onPointerMove={move}
			onPointerUp={() => {
				grip.current = null;
			}}
			onPointerCancel={() => {
				grip.current = null;
			}}
			onDblClick={() => app.fit()}
		/>
	);
}
