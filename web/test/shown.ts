// shown.ts - a page that is shown, and the trace that most checks look at, counted by hand.

import assert from 'node:assert/strict';
import { PATIENCE, type Browser, type Page } from './driver';
import * as naive from './naive';
import { watch } from './settled';
import { eventId } from '../src/source/contract';
import { training } from './synth';
import { held } from './utr';

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
export const trace = await held(parts);
export const span = parts.info.span;

/* Pages that are open: of a check that fails, what they show is kept. */
export const shown: Shown[] = [];

export class Shown {
	readonly errors: string[] = [];

	constructor(readonly p: Page) {
		shown.push(this);
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

	/* The page is left, and its window is kept for the next one. */
	async close(): Promise<void> {
		shown.splice(shown.indexOf(this), 1);
		this.p.removeAllListeners();
		await this.p.goto('about:blank');
		unused.push(this.p);
	}

	view(): Promise<View> {
		return this.p.evaluate<View>('({ ...app.view.value })');
	}

	state<T>(expression: string): Promise<T> {
		return this.p.evaluate<T>(`app.${expression}`);
	}

	/* Until nothing is under way any more. */
	async settle(): Promise<void> {
		await this.soon('settled(limit)', 'it settles');
	}

	async until(expression: string): Promise<void> {
		await this.soon(`until(() => ${expression}, limit)`, expression);
	}

	/* The page itself waits, looking at every frame: the driver's own waiting needs eval, which its policy forbids. */
	private async soon(waiting: string, what: string): Promise<void> {
		const last = Date.now() + PATIENCE;

		for (;;)
			try {
				const held = await this.p.evaluate<boolean>(`(limit => ${waiting})(${last - Date.now()})`);

				if (held) return;
				const pending = await this.p.evaluate<string>('[...window.pending].join()');

				throw new Error(`in vain: ${what} (pending: ${pending})`);
			} catch (e) {
				// the page was loaded anew in between
				if (
					!(e instanceof Error && /context was destroyed|navigat/.test(e.message)) ||
					Date.now() > last
				)
					throw e;
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
export const laneOf = (s: naive.Plain): number => trace.ask('detail', { id: eventId(s.track, s.row) })!.lane;

export async function show(s: Shown, of: naive.Plain, around = 2): Promise<{ x: number; y: number }> {
	const d = of.end - of.start;

	await s.p.evaluate(`app.show(${of.start - d * around}, ${of.end + d * around})`);
	await s.settle();
	return s.spot(of.track, laneOf(of), (of.start + of.end) / 2);
}

/* Windows without a page. Starting one takes longer than most checks, and pages keep nothing in it. */
const unused: Page[] = [];

async function window(browser: Browser): Promise<Page> {
	const p = await browser.newPage({ acceptDownloads: true });

	p.setDefaultTimeout(PATIENCE);
	await p.addInitScript(watch);
	return p;
}

export async function opened(
	set: Setting,
	url: string,
	viewport = { width: 1440, height: 900 },
): Promise<Shown> {
	const s = new Shown(unused.pop() ?? (await window(set.browser)));

	await s.p.setViewportSize(viewport);
	await s.p.emulateMedia({ colorScheme: 'light', contrast: 'no-preference' });
	await s.p.goto(url);
	await s.until(
		'window.app?.info?.value && (window.timeline || app.tab.value !== "timeline") && !document.querySelector("#page[role=alert]")',
	);
	await s.settle();
	return s;
}

export async function done(s: Shown): Promise<void> {
	assert.deepEqual(s.errors, [], 'the console is quiet');
	await s.close();
}
