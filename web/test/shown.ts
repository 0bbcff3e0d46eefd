// shown.ts - a page that is shown, and the trace that most checks look at, counted by hand.

import assert from 'node:assert/strict';
import { Store } from '../src/engine/store';
import type { Browser, Page } from './driver';
import * as naive from './naive';
import { training } from './synth';

export interface Setting {
	browser: Browser;
	out: string;
	folder: string;
	only: string;
	axe: string | null;
	training: string;
	hostile: string;
	two: string; // two runs
	plain: string; // slices of one category
}

export interface View {
	t0: number;
	t1: number;
}

export const parts = training(4, 24);
export const all = naive.slices(parts);
export const store = new Store(training(4, 24));
export const HEAD = 232;

/*
 * quiet(): nothing is asked, and nothing was for as long as the page waits before it asks again or
 * writes its address (by its own clock: on a busy machine that is longer than by ours).
 */
const WATCH = `window.quiet ??= (() => {
	let under = 0, last = performance.now(), looks = 0;
	const source = app.source, ask = source.ask.bind(source);
	const end = () => { under--; last = performance.now(); looks = 0; };

	source.ask = (...of) => {
		const answer = ask(...of);

		under++;
		answer.then(end, end);
		return answer;
	};
	addEventListener('hashchange', () => { last = performance.now(); });
	return () => under === 0 && performance.now() - last > 260 && ++looks > 2;
})(), 0`;

export class Shown {
	readonly errors: string[] = [];

	constructor(readonly p: Page) {
		p.on('console', m => {
			if (['error', 'warning'].includes(m.type()) && !/willReadFrequently/.test(m.text()))
				// the tests read pixels
				this.errors.push(m.text());
		});
		p.on('pageerror', e => this.errors.push(e.message));
		p.on('request', r => {
			if (!/^(file:|blob:|data:|http:\/\/127\.0\.0\.1)/.test(r.url()))
				this.errors.push(`asked for ${r.url()}`);
		});
	}

	view(): Promise<View> {
		return this.p.evaluate<View>('({ ...app.view.value })');
	}

	state<T>(expression: string): Promise<T> {
		return this.p.evaluate<T>(`app.${expression}`);
	}

	/* Until nothing is under way any more. */
	async settle(): Promise<void> {
		await this.p.evaluate(WATCH);
		await this.until('quiet() && !document.querySelector("[aria-busy=true]")');
		await this.p.evaluate(
			'new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
		);
	}

	/*
	 * By asking again and again: the driver's own waiting needs eval, which the page's policy forbids.
	 * A minute is for machines that have other work; nothing is waited for that is there.
	 */
	async until(expression: string): Promise<void> {
		const last = Date.now() + 60000;

		while (!(await this.p.evaluate<boolean>(`!!(${expression})`))) {
			if (Date.now() > last) throw new Error(`in vain: ${expression}`);
			await this.p.waitForTimeout(40);
		}
	}

	text(selector: string): Promise<string | null> {
		return this.p.locator(selector).first().textContent();
	}

	/* Where a track's lane and a time are on the screen. */
	async spot(track: number, lane: number, t: number): Promise<{ x: number; y: number }> {
		return this.p.evaluate<{ x: number; y: number }>(`(() => {
			const box = document.querySelector('canvas.main').getBoundingClientRect(), l = timeline.layout;
			const row = l.pinned.find(r => r.place.track === ${track}) ?? l.rows.find(r => r.place.track === ${track});
			const o = row.lanes.find(o => o.lane === ${lane}), y = row.pinned ? row.y : row.y - timeline.scroll + l.pinnedHeight;
			return { x: box.left + timeline.xOf(${t}), y: box.top + y + o.y + o.h / 2 };
		})()`);
	}

	pixel(x: number, y: number): Promise<number[]> {
		return this.p.evaluate<
			number[]
		>(`(() => { const c = document.querySelector('canvas.main'), b = c.getBoundingClientRect(), r = devicePixelRatio;
			return [...c.getContext('2d').getImageData(Math.round((${x} - b.left) * r), Math.round((${y} - b.top) * r), 1, 1).data].slice(0, 3); })()`);
	}

	token(name: string): Promise<number[]> {
		return this.p.evaluate<
			number[]
		>(`(() => { const h = getComputedStyle(document.documentElement).getPropertyValue('--${name}').trim().slice(1);
			return [0, 2, 4].map(i => parseInt(h.slice(i, i + 2), 16)); })()`);
	}

	/* Down and up at once: a key that is held goes on by itself, and a busy machine holds keys. */
	async tap(...keys: string[]): Promise<void> {
		for (const key of keys)
			await this.p.evaluate(
				`['keydown', 'keyup'].forEach(type => document.body.dispatchEvent(new KeyboardEvent(type, { key: '${key}', bubbles: true })))`,
			);
	}

	async press(...keys: string[]): Promise<void> {
		for (const key of keys) await this.p.keyboard.press(key);
	}

	async drag(a: { x: number; y: number }, b: { x: number; y: number }): Promise<void> {
		await this.p.mouse.move(a.x, a.y);
		await this.p.mouse.down();
		await this.p.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2, { steps: 4 });
		await this.p.mouse.move(b.x, b.y, { steps: 4 });
		await this.p.mouse.up();
	}

	/* A table of the page: text of the cells of its first rows. */
	async rows(label: string): Promise<string[][]> {
		return this.p.evaluate<string[][]>(
			`[...document.querySelectorAll('[aria-label="${label}"] tbody tr[role=row]')].map(r => [...r.cells].map(c => c.textContent))`,
		);
	}
}

export type Check = (s: Shown, set: Setting) => Promise<void>;

export const near = (a: number, b: number, by: number, what: string): void =>
	assert.ok(Math.abs(a - b) <= by, `${what}: ${a}, not ${b}`);
/* Of rank 0: the others are folded at first. */
export const at = (name: string, nth = 0): naive.Plain =>
	all.filter(s => s.name === name && s.track <= 7).sort((a, b) => a.start - b.start)[nth];
export const laneOf = (s: naive.Plain): number => store.laneOf(store.tracks[s.track], s.row);

export async function show(s: Shown, of: naive.Plain, around = 2): Promise<{ x: number; y: number }> {
	const d = of.end - of.start;

	await s.p.evaluate(`app.show(${of.start - d * around}, ${of.end + d * around})`);
	await s.settle();
	return s.spot(of.track, laneOf(of), (of.start + of.end) / 2);
}

export async function opened(
	set: Setting,
	url: string,
	viewport = { width: 1440, height: 900 },
): Promise<Shown> {
	const s = new Shown(await set.browser.newPage({ viewport, colorScheme: 'light', acceptDownloads: true }));

	await s.p.goto(url);
	await s.until(
		'window.app?.info?.value && (window.timeline || app.tab.value !== "timeline") && !document.querySelector("#page[role=alert]")',
	);
	await s.settle();
	assert.equal(HEAD, 232);
	return s;
}

export async function done(s: Shown, set: Setting, name: string): Promise<void> {
	await s.p.screenshot({ path: `${set.folder}/${name.replace(/\W+/g, '-').slice(0, 40)}.png` });
	assert.deepEqual(s.errors, [], 'the console is quiet');
	await s.p.close();
}
