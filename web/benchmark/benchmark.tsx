// benchmark.tsx - a page with a million slices: what a frame costs while the window pans and zooms over the
// whole range. tools/web.sh bench runs it.

import { render } from 'preact';
import type { Timeline } from '../src/draw/timeline';
import { PortSource, serveHeld } from '../src/inline/inline';
import { App } from '../src/state/app';
import { Page } from '../src/page/app';
import '../src/style.css';

export interface BenchmarkResult {
	slices: number;
	open: number; // ms until the first picture, of a trace that is there
	build: number; // ms to unpack the trace, and to make lanes and nodes
	frames: number;
	draw: number[]; // median, p99: ms of our own work in a frame
	frame: number[]; // median, p99: ms between frames
	answer: number[]; // median, p99: ms until a window came
	aggregate: number;
	search: number;
}

const quantiles = (of: number[]): number[] => {
	const sorted = [...of].sort((a, b) => a - b),
		at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;

	return [at(0.5), at(0.99)];
};

const frame = (): Promise<number> => new Promise(done => requestAnimationFrame(done));

/* Whole range to 100 ns and back, panning all the while. */
async function move(app: App, frames: number): Promise<number[]> {
	const span = app.info.peek().span,
		gaps: number[] = [];
	let last = await frame();

	for (let i = 0; i < frames; i++) {
		const depth = (1 - Math.cos((i / frames) * 4 * Math.PI)) / 2,
			wide = span * (1e4 / span) ** depth;
		const at = span * (0.5 + 0.4 * Math.sin(i / 37));

		app.show(at - wide / 2, at + wide / 2);
		const now = await frame();

		gaps.push(now - last);
		last = now;
	}
	return gaps;
}

async function run(): Promise<BenchmarkResult> {
	const text = (id: string) => document.getElementById(id)!.textContent ?? '';
	const worker = new Worker(URL.createObjectURL(new Blob([text('app')], { type: 'text/javascript' }))),
		source = new PortSource(worker),
		begun = performance.now();

	await source.send({ load: { trace: text('trace'), module: text('module') } });
	const build = performance.now() - begun,
		app = new App(source),
		answers: number[] = [],
		ask = source.ask.bind(source);

	source.ask = (async (method: 'window', q: never, signal?: AbortSignal) => {
		const t = performance.now(),
			a = await ask(method, q, signal);

		if (method === 'window') answers.push(performance.now() - t);
		return a;
	}) as typeof source.ask;
	const t0 = performance.now();

	await app.open();
	app.drawer.value = false;
	render(<Page app={app} />, document.getElementById('page')!);
	const tl = await (async () => {
		for (;;) {
			await frame();
			const t = (window as unknown as { timeline?: Timeline }).timeline;

			if (t && /^[1-9]\d* rect/.test(app.status.peek())) return t;
		}
	})();
	const open = performance.now() - t0;

	await move(app, 60);
	tl.frames.length = answers.length = 0;
	const gaps = await move(app, 600),
		drawn = [...tl.frames],
		t1 = performance.now();

	await ask('aggregate', { scope: {} });
	const t2 = performance.now();

	await ask('search', { query: 'function_7 dur:>90', limit: 200, scope: {} });
	return {
		slices: app.info.peek().slices,
		open,
		build,
		frames: gaps.length,
		draw: quantiles(drawn),
		frame: quantiles(gaps),
		answer: quantiles(answers),
		aggregate: t2 - t1,
		search: performance.now() - t2,
	};
}

if (typeof document === 'undefined') {
	serveHeld(self as unknown as Parameters<typeof serveHeld>[0]);
} else {
	(window as unknown as { benchmark: typeof run }).benchmark = run;
}
