// checks.ts - every control of the page, used as a person would, against numbers counted by hand.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Engine } from '../src/engine/engine';
import { Store } from '../src/engine/store';
import { eventId } from '../src/source/contract';
import { time } from '../src/text/format';
import type { Browser, Page } from './driver';
import * as naive from './naive';
import { serve } from './serve';
import { training } from './synth';

export interface Setting {
	browser: Browser;
	out: string;
	folder: string;
	only: string;
	axe: string | null;
	training: string;
	hostile: string;
}

interface View {
	t0: number;
	t1: number;
}

const parts = training(4, 24);
const all = naive.slices(parts);
const store = new Store(training(4, 24));
const HEAD = 232;

class Shown {
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
		await this.p.waitForTimeout(250);
		await this.until('!document.querySelector("[aria-busy=true]")');
	}

	/* By asking again and again: the driver's own waiting needs eval, which the page's policy forbids. */
	async until(expression: string): Promise<void> {
		const last = Date.now() + 15000;

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

type Check = (s: Shown, set: Setting) => Promise<void>;

const near = (a: number, b: number, by: number, what: string): void =>
	assert.ok(Math.abs(a - b) <= by, `${what}: ${a}, not ${b}`);
/* Of rank 0: the others are folded at first. */
const at = (name: string, nth = 0): naive.Plain =>
	all.filter(s => s.name === name && s.track <= 7).sort((a, b) => a.start - b.start)[nth];
const laneOf = (s: naive.Plain): number => store.laneOf(store.tracks[s.track], s.row);

async function show(s: Shown, of: naive.Plain, around = 2): Promise<{ x: number; y: number }> {
	const d = of.end - of.start;

	await s.p.evaluate(`app.show(${of.start - d * around}, ${of.end + d * around})`);
	await s.settle();
	return s.spot(of.track, laneOf(of), (of.start + of.end) / 2);
}

const CHECKS: Record<string, Check> = {
	async 'the page stands: heads, tabs, status, title'(s) {
		assert.equal(await s.p.evaluate('document.title'), 'gpt-ddp4 - unitrace');
		assert.deepEqual((await s.p.getByRole('tab').allTextContents()).slice(0, 10), [
			'Summary',
			'Timeline',
			'Flame graph',
			'Find zone',
			'Kernels',
			'Ops',
			'Tasks',
			'Compare',
			'SQL',
			'Log1',
		]);
		const heads = await s.p.getByRole('treeitem').allTextContents();

		for (const name of ['Steps', 'Rank 0', 'MainThread', 'cuda:0', 'stream 7', 'SM active'])
			assert.ok(
				heads.some(h => h.includes(name)),
				name,
			);
		assert.match((await s.text('.status'))!, /1 unfinished/);
	},

	async 'pixels: a slice has its colour, nothing has none'(s) {
		const kernel = at('ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
			where = await show(s, kernel, 1);

		assert.deepEqual(await s.pixel(where.x, where.y - 7), await s.token('c4'));
		const empty = await s.spot(kernel.track, 0, kernel.start - (kernel.end - kernel.start) * 0.5);

		assert.deepEqual(await s.pixel(empty.x + 3, empty.y), await s.token('surface'));
		await s.p.evaluate('app.colourBy.value = "rank"');
		await s.settle();
		assert.deepEqual(await s.pixel(where.x, where.y - 7), await s.token('c0'));
	},

	async 'keys zoom, move and fit'(s) {
		const v0 = await s.view(),
			span = (v: View) => v.t1 - v.t0;

		await s.press('w', 'w', 'w');
		const v1 = await s.view();

		near(span(v1) / span(v0), 0.512, 0.02, 'three zooms');
		await s.press('d');
		const v2 = await s.view();

		near(v2.t0 - v1.t0, span(v1) * 0.12, span(v1) * 0.02, 'right');
		await s.press('a', 's');
		near(span(await s.view()) / span(v1), 1.25, 0.02, 'out');
		await s.press('0');
		assert.deepEqual(await s.view(), v0);
		await s.p.keyboard.down('w');
		await s.p.waitForTimeout(700);
		await s.p.keyboard.up('w');
		assert.ok(span(await s.view()) < span(v0) * 0.7, 'a held key goes on');
	},

	async 'click selects; details, chain, neighbours'(s) {
		const kernel = at('cunn_SoftMaxForwardReg<f32>', 5),
			where = await show(s, kernel);

		await s.p.mouse.click(where.x, where.y);
		await s.until('app.detail.value');
		const id = eventId(kernel.track, kernel.row),
			want = new Engine(store).answer('detail', { id })!;

		assert.equal(await s.state('selected.value'), id);
		const details = (await s.text('[aria-label=Details]'))!;

		for (const word of [
			want.name,
			time(want.dur),
			`${want.nth} of ${want.ofName}`,
			'Model.forward',
			'cudaLaunchKernel',
			'[128,1,1]',
		])
			assert.ok(details.includes(word), `${word} in ${details}`);
		assert.deepEqual(await s.p.locator('.chain .k').allTextContents(), [
			'Python',
			'Op',
			'Call',
			'Kernel',
		]);
		await s.press('[');
		await s.until('app.detail.value?.name === "cudaLaunchKernel"');
		await s.press(']');
		await s.until(`app.selected.value === ${id}`);
		await s.press('.');
		await s.until(`app.detail.value?.nth === ${want.nth + 1}`);
		await s.press(',', ',');
		await s.until(`app.detail.value?.nth === ${want.nth - 1}`);
		await s.p.locator('.chain .link').nth(1).click();
		await s.until('app.detail.value?.name === "aten::log_softmax"');
		await s.until('document.querySelector("[role=status]").textContent.startsWith("aten::log_softmax")');
		await s.press('Escape');
		await s.until('app.selected.value === null');
	},

	async 'focus, double click, slice to area, mark'(s) {
		const step = at('Model.forward', 3),
			where = await show(s, step, 3);

		await s.p.mouse.dblclick(where.x, where.y);
		await s.until('app.detail.value?.name === "Model.forward"');
		await s.p.waitForTimeout(100);
		await s.p.evaluate('app.fit()');
		await s.press('f');
		const v = await s.view(),
			d = step.end - step.start;

		near((v.t0 + v.t1) / 2, (step.start + step.end) / 2, d * 0.1, 'in the middle');
		await s.press('f');
		near((await s.view()).t1 - (await s.view()).t0, d * 1.2, d * 0.05, 'filled');
		await s.press('r');
		near((await s.state<View>('area.value')).t1, step.end, 1, 'area');
		await s.press('m');
		assert.equal((await s.state<View>('glow.value')).t0, step.start);
		await s.press('Shift+M');
		await s.until('document.activeElement.closest("dialog")');
		await s.p.keyboard.type('slow here');
		await s.press('Enter');
		await s.until('app.notes.value.length === 1');
		assert.equal(await s.state('notes.value[0].text'), 'slow here');
		await s.p.waitForTimeout(300);
		await s.p.reload();
		await s.until('window.timeline && app.notes.value.length === 1');
	},

	async 'drag selects an area; its tables are what counting says'(s) {
		await s.p.evaluate('app.show(2000000, 6000000)');
		await s.settle();
		const a = await s.spot(1, 0, 2_500_000),
			b = await s.spot(4, 0, 4_000_000);

		await s.drag(a, b);
		await s.settle();
		const area = await s.state<View & { tracks: number[] }>('area.value');

		near(area.t0, 2_500_000, 8000, 'begin');
		near(area.t1, 4_000_000, 8000, 'end');
		assert.deepEqual([...area.tracks].sort(), [1, 2, 3, 4]);
		await s.until('document.querySelector("[aria-label=\\"slices of the area\\"] tbody tr")');
		await s.p.waitForTimeout(400);
		const want = [
			...naive.byName(
				all.filter(x => area.tracks.includes(x.track)),
				area.t0,
				area.t1,
			),
		].sort((x, y) => y[1].total - x[1].total);
		const got = await s.rows('slices of the area');

		assert.ok(got.length > 5);
		for (const [i, [name, w]] of want.slice(0, 8).entries())
			assert.deepEqual(
				got[i].filter((_, k) => k !== 3),
				[
					name,
					String(w.count),
					time(w.total),
					time(w.self),
					time(w.total / w.count),
					time(w.min),
					time(w.max),
				],
				name,
			);
		await s.p.getByRole('tab', { name: 'Tracks' }).click();
		await s.until('document.querySelector("[aria-label=\\"threads of the area\\"] tbody tr")');
		const busy = naive.busy(
			all.filter(x => x.track === 4),
			area.t0,
			area.t1,
		);

		assert.ok(
			(await s.rows('threads of the area')).some(r => r[0].endsWith('stream 7') && r[2] === time(busy)),
			time(busy),
		);
		await s.p.getByRole('tab', { name: 'Flame graph' }).nth(1).click();
		await s.until('document.querySelectorAll(".drawer .box").length > 4');
		const edge = await s.spot(1, 0, area.t1);

		await s.drag({ x: edge.x, y: edge.y }, { x: edge.x + 60, y: edge.y });
		assert.ok((await s.state<View>('area.value')).t1 > area.t1, 'the border moved');
	},

	async 'narrowing: zoom to, filter in, filter out, undo'(s) {
		await s.p.evaluate('app.setArea({ t0: 5000000, t1: 9000000, tracks: null })');
		await s.press('Enter');
		assert.deepEqual(await s.view(), { t0: 5e6, t1: 9e6 });
		await s.press('Shift+Enter');
		assert.equal(await s.p.locator('.chip').count(), 2);
		assert.deepEqual(await s.state('scope.value.ranges'), [[5e6, 9e6]]);
		await s.p.evaluate('app.setArea({ t0: 6000000, t1: 7000000, tracks: null })');
		await s.press('x');
		assert.deepEqual(await s.state('scope.value.ranges'), [
			[5e6, 6e6],
			[7e6, 9e6],
		]);
		const asks = await s.p.evaluate<number>(`(async () => {
			let n = 0; const ask = app.source.ask.bind(app.source);
			app.source.ask = (...a) => { n++; return ask(...a); };
			app.show(5100000, 5200000);
			await new Promise(done => setTimeout(done, 900));
			app.source.ask = ask;
			return n;
		})()`);

		assert.ok(asks < 12, `${asks} questions for one move: window and minimap do not compete`);
		await s.press('Backspace', 'Backspace');
		assert.equal(await s.p.locator('.chip').count(), 1);
		near((await s.view()).t0, 0, 1, 'all again');
		const op = at('aten::gelu', 4),
			where = await show(s, op, 1);

		await s.p.mouse.click(where.x, where.y);
		await s.until('app.detail.value');
		const before = await s.pixel(where.x, where.y - 5);

		await s.press('x');
		await s.settle();
		assert.notDeepEqual(await s.pixel(where.x, where.y - 5), before, 'what is filtered out is grey');
		assert.deepEqual(await s.state('scope.value.query'), '-"aten::gelu"');
	},

	async 'a filter greys what it does not want: names, lengths, places'(s) {
		const kernel = at('ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
			where = await show(s, kernel, 1),
			d = kernel.end - kernel.start;
		const yellow = await s.token('c4');
		const colour = async (query: string): Promise<number[]> => {
			await s.p.evaluate(`app.chain.value = [{ label: 'x', query: ${JSON.stringify(query)} }]`);
			await s.settle();
			return s.pixel(where.x, where.y - 7);
		};

		assert.deepEqual(await colour('nccl'), yellow);
		assert.notDeepEqual(await colour('-nccl'), yellow);
		assert.deepEqual(await colour(`dur:>${d - 100}ns`), yellow);
		assert.notDeepEqual(await colour(`dur:>${d + 100}ns`), yellow);
		assert.deepEqual(await colour('rank:0'), yellow);
		assert.notDeepEqual(await colour('rank:1..3'), yellow);
		assert.deepEqual(await colour('dev:cuda:0'), yellow);
	},

	async 'wheel, shift drag, minimap'(s) {
		await s.p.evaluate('app.show(10000000, 20000000)');
		await s.settle();
		const v = await s.view(),
			middle = await s.spot(1, 0, 12_500_000);

		await s.p.mouse.move(middle.x, middle.y);
		await s.p.keyboard.down('Control');
		await s.p.mouse.wheel(0, -200);
		await s.p.keyboard.up('Control');
		await s.p.waitForTimeout(100);
		const zoomed = await s.view();

		assert.ok(zoomed.t1 - zoomed.t0 < v.t1 - v.t0);
		near((await s.spot(1, 0, 12_500_000)).x, middle.x, 2, 'the pointer stays on its time');
		await s.p.keyboard.down('Shift');
		await s.drag(middle, { x: middle.x - 100, y: middle.y });
		await s.p.keyboard.up('Shift');
		assert.ok((await s.view()).t0 > zoomed.t0, 'dragged');
		await s.p.mouse.wheel(0, 120);
		await s.p.waitForTimeout(100);
		assert.ok((await s.p.evaluate<number>('timeline.scroll')) > 0, 'scrolled');
		const mini = (await s.p.locator('.minimap').boundingBox())!;

		await s.p.mouse.click(mini.x + mini.width / 2, mini.y + 20);
		const now = await s.view(),
			span = store.info.span;

		near((now.t0 + now.t1) / 2, span / 2, span * 0.01, 'the brush jumped to the middle');
	},

	async 'heads: fold, pin, hide, filter, order, arrow keys'(s) {
		const names = () => s.p.locator('.scrolls .nm').allTextContents();
		const rank = s.p.locator('[role=treeitem]').filter({ hasText: 'Rank 0' });

		assert.ok((await names()).includes('autograd'));
		await rank.locator('.twist').click();
		assert.ok(!(await names()).includes('autograd'));
		assert.equal(await rank.getAttribute('aria-expanded'), 'false');
		await rank.focus();
		await s.press('ArrowRight');
		assert.ok((await names()).includes('autograd'));
		await s.press('ArrowDown');
		await s.p.waitForTimeout(100);
		assert.match(await s.p.evaluate<string>('document.activeElement.textContent'), /MainThread/);
		await s.press('p');
		assert.deepEqual(await s.p.locator('.pinnedheads .nm').allTextContents(), ['MainThread']);
		await s.press('h');
		assert.equal((await names()).filter(n => n === 'MainThread').length, 0);
		await s.p.locator('button').filter({ hasText: '1 hidden' }).click();
		assert.ok((await names()).includes('MainThread'));
		await s.p.locator('.tfilter').fill('stream 7');
		assert.deepEqual((await names()).slice(0, 3), ['Rank 0', 'cuda:0', 'stream 7']);
		await s.p.locator('.tfilter').fill('');
		const first = (await names())[0];

		await s.p.evaluate('app.move(app.places.value.find(p => p.name === "Rank 0").id, -1)');
		assert.notEqual((await names())[0], first, 'moved up');
	},

	async 'search: count, walk, list, errors'(s) {
		const want = all
			.filter(x => x.cat === 'kernel' && x.end - x.start > 60_000)
			.sort((a, b) => a.start - b.start || a.track - b.track);

		await s.press('/');
		await s.p.keyboard.type('cat:kernel dur:>60us');
		await s.until(
			`document.getElementById('hits').textContent.startsWith('${want.length.toString().replace(/\B(?=(\d{3})+$)/g, '\u202f')}')`,
		);
		await s.press('Enter');
		await s.until('app.hits.value.nth === 1');
		assert.equal(await s.state('selected.value'), eventId(want[0].track, want[0].row));
		await s.press('Enter');
		await s.until('app.hits.value.nth === 2');
		await s.press('Shift+Enter', 'Shift+Enter');
		await s.until(`app.hits.value.nth === ${want.length}`);
		assert.ok((await s.p.locator('.hitlist li').count()) > 10);
		await s.p.locator('#search').fill('dur:>soon');
		await s.until('document.querySelector(".hitlist")?.textContent.includes("soon is no time")');
		await s.press('Escape');
		assert.equal(await s.state('hits.value.query'), '');
	},

	async 'find zone: numbers, groups, dragging filters the timeline'(s) {
		await s.p.evaluate('app.zone.value = "aten::addmm", app.tab.value = "zone"');
		await s.until('document.querySelector(".stats")');
		const want = all
			.filter(x => x.name === 'aten::addmm')
			.map(x => x.end - x.start)
			.sort((a, b) => a - b);
		const stats = (await s.text('.stats'))!;

		for (const v of [
			want[0],
			want[Math.ceil(want.length / 2) - 1],
			want[Math.ceil(want.length * 0.99) - 1],
			want.at(-1)!,
		])
			assert.ok(stats.includes(time(v)), `${time(v)} in ${stats}`);
		await s.p.locator('select[aria-label="Group by"]').selectOption('rank');
		await s.until('document.querySelectorAll(".chart .legend span").length === 4');
		const box = (await s.p.locator('.chart svg').boundingBox())!;

		await s.drag(
			{ x: box.x + box.width * 0.6, y: box.y + 80 },
			{ x: box.x + box.width * 0.8, y: box.y + 90 },
		);
		await s.p.waitForTimeout(500);
		const chosen = /selected(.*) calls/.exec((await s.text('.stats'))!)![1];

		await s.p.locator('button').filter({ hasText: 'Filter timeline' }).click();
		await s.settle();
		const query = await s.state<string>('scope.value.query'),
			m = /dur:(\d+)\.\.(\d+)/.exec(query)!;

		assert.equal(
			Number(chosen.replace(/\D/g, '')),
			want.filter(v => v >= Number(m[1]) && v <= Number(m[2])).length,
		);
		assert.equal(await s.state('tab.value'), 'timeline');
	},

	async 'tables: sort, filter, columns, CSV'(s) {
		await s.p.evaluate('app.tab.value = "summary"');
		await s.until('document.querySelector("[aria-label=\\"Slices by name\\"] tbody tr")');
		const label = 'Slices by name',
			by = naive.byName(
				all.filter(x => x.end > x.start),
				0,
				store.info.span,
			);
		const top = (key: 'count' | 'max') => [...by].sort((a, b) => b[1][key] - a[1][key])[0][0];

		await s.p
			.locator(`[role=grid][aria-label="${label}"] th button`)
			.filter({ hasText: 'Count' })
			.click();
		assert.equal((await s.rows(label))[0][0], top('count'));
		await s.p.locator(`input[aria-label="Filter ${label}"]`).fill('softmax');
		assert.deepEqual((await s.rows(label)).map(r => r[0]).sort(), [
			'aten::log_softmax',
			'cunn_SoftMaxForwardReg<f32>',
		]);
		await s.p
			.locator('.card')
			.filter({ hasText: label })
			.first()
			.locator('button')
			.filter({ hasText: 'Columns' })
			.click();
		await s.p.locator('.chooser label').filter({ hasText: 'Share' }).click();
		assert.equal(
			await s.p.locator(`[role=grid][aria-label="${label}"] th`).filter({ hasText: 'Share' }).count(),
			0,
		);
		const file = new Promise<string>(done =>
			s.p.on('download', d => {
				void d.path().then(p => done(readFileSync(p, 'utf8')));
			}),
		);

		await s.p
			.locator('.card')
			.filter({ hasText: label })
			.first()
			.locator('button')
			.filter({ hasText: 'CSV' })
			.click();
		const lines = (await file).trim().split('\n'),
			row = by.get('cunn_SoftMaxForwardReg<f32>')!;

		assert.equal(lines[0], 'name,count,total_ns,self_ns,mean_ns,min_ns,max_ns');
		assert.ok(
			lines.includes(
				`cunn_SoftMaxForwardReg<f32>,${row.count},${row.total},${row.self},${row.total / row.count},${row.min},${row.max}`,
			),
			lines.join('\n'),
		);
	},

	async 'flame graph: three orders, tables, zoom by click'(s) {
		await s.p.evaluate('app.tab.value = "flame"');
		await s.until('document.querySelectorAll(".box").length > 10');
		const sum = all.filter(x => x.name === 'train_step').reduce((n, x) => n + x.end - x.start, 0);

		assert.ok(
			(await s.p.locator('.box').nth(1).getAttribute('aria-label'))!.includes(`: ${time(sum)}, `),
		);
		await s.p.locator('.box').nth(1).click();
		assert.equal(
			await s.p
				.locator('.box')
				.filter({ hasText: 'backward' })
				.first()
				.textContent()
				.then(t => t!.trim().startsWith('Tensor.backward')),
			true,
		);
		for (const order of ['Time order', 'Sandwich', 'Top-down', 'Bottom-up']) {
			await s.p.getByRole('button', { name: order }).click();
			await s.settle();
			assert.ok((await s.p.locator('.box, [role=treegrid] tbody tr').count()) > 2, order);
		}
		const up = await s.rows('Tree'),
			self = [
				...naive.byName(
					all.filter(x => x.end > x.start),
					0,
					store.info.span,
				),
			].sort((a, b) => b[1].self - a[1].self)[0];

		assert.deepEqual([up[0][0].replace(/^[▾▸]/, ''), up[0][1]], [self[0], time(self[1].self)]);
	},

	async 'compare: sorted differences, two histograms'(s) {
		await s.p.evaluate('app.zone.value = "optimizer.zero_grad", app.tab.value = "compare"');
		await s.p.locator('select[aria-label=B]').selectOption('rank2');
		await s.settle();
		await s.until('document.querySelector("[aria-label=Differences] tbody tr")');
		await s.p.waitForTimeout(500);
		const total = (rank: number) =>
			all
				.filter(x => x.name === 'optimizer.zero_grad' && store.tracks[x.track].place.rank === rank)
				.reduce((n, x) => n + x.end - x.start, 0);
		const rows = await s.rows('Differences'),
			row = rows.find(r => r[0] === 'optimizer.zero_grad')!;

		assert.deepEqual(row.slice(1, 4), [time(total(0)), time(total(2)), `+${time(total(2) - total(0))}`]);
		assert.equal(await s.p.locator('.chart .legend span').count(), 2);
		await s.p.getByRole('button', { name: 'Flame graph' }).click();
		await s.until('document.querySelectorAll(".box.more").length > 0');
	},

	async 'the address keeps the view; Back undoes'(s) {
		await s.p.evaluate(
			'app.show(3000000, 5000000), app.setArea({ t0: 3500000, t1: 4000000, tracks: [1, 2] }), app.pin(2)',
		);
		await s.p.waitForTimeout(400);
		await s.p.reload();
		await s.until('window.timeline && app.area.value');
		assert.deepEqual(await s.view(), { t0: 3e6, t1: 5e6 });
		assert.deepEqual(await s.state('area.value'), { t0: 3.5e6, t1: 4e6, tracks: [1, 2] });
		assert.deepEqual(await s.state('pins.value'), [2]);
		await s.p.evaluate('app.tab.value = "flame"');
		await s.p.waitForTimeout(400);
		await s.p.goBack();
		await s.until('app.tab.value === "timeline"');
		assert.deepEqual(await s.view(), { t0: 3e6, t1: 5e6 });
	},

	async 'table of the window, drawer, dialogs, themes'(s) {
		await s.p.evaluate('app.show(3000000, 3100000)');
		await s.press('t');
		await s.until('document.querySelector("[aria-label=\\"Slices of the window\\"] tbody tr")');
		const inWindow = all.filter(x => x.cat !== 'idle' && x.start < 3.1e6 && x.end > 3e6).length;

		assert.match((await s.text('.astable .gridbar'))!, new RegExp(`${inWindow} rows`));
		await s.press('t', 'q');
		await s.until('!document.querySelector(".drawer")');
		await s.press('q', '?');
		await s.until('document.querySelector("dialog")');
		assert.ok((await s.text('dialog'))!.includes('Zoom in'));
		await s.press('Escape');
		await s.until('!document.querySelector("dialog")');
		await s.press('Control+Shift+P');
		await s.until('document.activeElement.closest("dialog")');
		await s.p.keyboard.type('show every');
		await s.press('Enter');
		near((await s.view()).t1, store.info.span, 1, 'a command');
		for (const theme of ['dark', 'light', 'contrast']) {
			await s.p.getByRole('button', { name: /^Colours/ }).click();
			await s.p.waitForTimeout(100);
			assert.equal(await s.p.evaluate('document.documentElement.dataset.theme'), theme);
		}
		await s.press('1');
		await s.until('app.tab.value === "summary"');
		assert.equal(await s.state('tab.value'), 'summary');
	},

	async 'kernels by launch geometry; opened in the timeline'(s) {
		await s.p.evaluate('app.tab.value = "kernels"');
		await s.until('document.querySelector("[role=grid][aria-label=Kernels] tbody tr")');
		const kernels = [
			...naive.byName(
				all.filter(x => x.cat === 'kernel'),
				0,
				store.info.span,
			),
		].sort((a, b) => b[1].total - a[1].total);
		const rows = await s.rows('Kernels');

		assert.deepEqual(
			rows.map(r => [r[0], r[2]]),
			kernels.map(([name, k]) => [name, time(k.total)]),
		);
		assert.ok(rows[1].includes('128×1×1'));
		await s.p.locator('[role=grid][aria-label=Kernels] tbody tr').nth(0).dblclick();
		await s.until('app.tab.value === "timeline" && app.detail.value');
		assert.equal(await s.state('detail.value.dur'), kernels[0][1].max);
	},

	async 'tracks by name; menus of tracks and of the selection'(s) {
		await s.press('g');
		await s.until(
			'[...document.querySelectorAll(".scrolls .nm")].filter(e => /^Rank \\d/.test(e.textContent)).length >= 4',
		);
		assert.match((await s.p.locator('.scrolls .hd.g').first().textContent())!, /MainThread\s*4 tracks/);
		await s.press('g');
		await s.until('document.querySelector(".scrolls")?.textContent.includes("cuda:0")');
		await s.p
			.locator('.scrolls .hd')
			.filter({ hasText: 'MainThread' })
			.first()
			.click({ button: 'right' });
		await s.until('document.querySelector("[role=menu]")');
		await s.press('Enter');
		await s.until('document.querySelectorAll(".pinnedheads .hd").length === 1');
		const op = at('Model.forward', 2),
			where = await show(s, op, 1);

		await s.p.mouse.click(where.x, where.y);
		await s.until('app.detail.value');
		await s.p.locator('canvas.main').click({ button: 'right', position: { x: 600, y: 200 } });
		await s.p.getByRole('menuitem', { name: 'Slice to area' }).click();
		near((await s.state<View>('area.value')).t0, op.start, 1, 'from the menu');
	},

	async 'one finger moves, two zoom, a long press selects'(s) {
		await s.p.evaluate('app.show(10000000, 20000000)');
		const phone = await s.p.context().newCDPSession(s.p),
			box = (await s.p.locator('canvas.main').boundingBox())!;
		const touch = (type: string, xs: number[], y = 120) =>
			phone.send('Input.dispatchTouchEvent', {
				type,
				touchPoints: xs.map((x, id) => ({ x: box.x + x, y: box.y + y, id })),
			});

		await touch('touchStart', [600]);
		for (let i = 1; i <= 10; i++) await touch('touchMove', [600 - i * 12]);
		await touch('touchEnd', []);
		const v = await s.view();

		near(v.t0, 1e7 + (120 / box.width) * 1e7, 2e5, 'moved with the finger');
		await touch('touchStart', [500, 600]);
		for (let i = 1; i <= 10; i++) await touch('touchMove', [500 - i * 10, 600 + i * 10]);
		await touch('touchEnd', []);
		near((await s.view()).t1 - (await s.view()).t0, 1e7 / 3, 4e5, 'three times as far apart');
		await touch('touchStart', [300]);
		await s.p.waitForTimeout(600);
		for (let i = 1; i <= 10; i++) await touch('touchMove', [300 + i * 20]);
		await touch('touchEnd', []);
		const area = await s.state<View>('area.value'),
			now = await s.view();

		near(area.t1 - area.t0, ((now.t1 - now.t0) * 200) / box.width, 3e4, 'an area');
	},

	async 'SQL says why not in a page of its own'(s) {
		await s.p.evaluate('app.tab.value = "sql"');
		assert.match((await s.text('main'))!, /SQL needs the program.*unitrace query gpt-ddp4.utr/);
	},
};

/* Names of programs are text, whatever they say. */
async function hostileCheck(set: Setting): Promise<void> {
	const s = await opened(set, set.hostile);

	for (const tab of ['timeline', 'summary', 'flame', 'zone', 'compare', 'log']) {
		await s.p.evaluate(`app.tab.value = "${tab}"`);
		await s.settle();
	}
	await s.p.evaluate('app.tab.value = "timeline"');
	for (let row = 0; row < 16; row++) {
		await s.p.evaluate(`app.select(${row}, true)`);
		await s.until(`app.detail.value?.id === ${row}`);
	}
	await s.p.locator('#search').fill('<img');
	await s.until('document.querySelectorAll(".hitlist li").length === 1');
	assert.equal(await s.p.evaluate('window.hacked'), undefined);
	assert.equal(await s.p.locator('#page img, #page script, .heads svg, .heads b').count(), 0);
	assert.ok(
		(await s.p.evaluate<number>('document.querySelector("#page").textContent.length')) < 200_000,
		'a name of 1 MB is cut',
	);
	assert.ok(
		!(await s.p.evaluate<string>('document.querySelector("#page").textContent')).includes('\u202e'),
		'nothing turns the text around',
	);
	await done(s, set, 'hostile');
}

async function httpCheck(set: Setting): Promise<void> {
	const { url, server } = await serve(new Engine(store), set.out),
		s = await opened(set, url);

	try {
		const kernel = at('ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
			where = await show(s, kernel, 1);

		assert.deepEqual(await s.pixel(where.x, where.y - 7), await s.token('c4'));
		await s.p.evaluate('app.tab.value = "sql"');
		await s.p.locator('textarea').fill('select name');
		await s.press('Control+Enter');
		await s.until('document.querySelector("[aria-label=Answer] tbody tr")');
		assert.deepEqual(await s.rows('Answer'), [
			['alpha', '3'],
			['<b>beta</b>', '4'],
		]);
		await s.p.getByRole('button', { name: 'Chart' }).click();
		assert.equal(await s.p.locator('.chart .bar').count(), 2);
		await s.p.locator('textarea').fill('selec');
		await s.press('Tab');
		assert.equal(await s.p.locator('textarea').inputValue(), 'select');
		await done(s, set, 'http');
	} finally {
		server.close();
	}
}

/* A server that goes away is asked again in peace, and the page says what is wrong. */
async function goneCheck(set: Setting): Promise<void> {
	const { url, server } = await serve(new Engine(store), set.out),
		s = await opened(set, url);
	let asked = 0;

	server.closeAllConnections();
	await new Promise(closed => server.close(closed));
	s.p.on('request', () => asked++);
	await s.p.evaluate('app.show(1000000, 1200000)');
	await s.until('app.problem.value');
	await s.p.waitForTimeout(1500);
	assert.ok(asked > 0 && asked < 20, `asked ${asked} times`);
	assert.match((await s.text('.status [role=alert]'))!, /is unitrace still running/);
	await s.p.close();
}

async function liveCheck(set: Setting): Promise<void> {
	const { url, server } = await serve(new Engine(store), set.out, 0.5),
		s = await opened(set, url);

	try {
		await s.until(`Math.abs(app.view.value.t1 - ${store.info.span * 1.5}) < 2`);
		assert.match((await s.text('.crumb .badge'))!, /^\s*live/);
		await done(s, set, 'live');
	} finally {
		server.closeAllConnections();
		server.close();
	}
}

async function narrowCheck(set: Setting): Promise<void> {
	const s = await opened(set, set.training, { width: 420, height: 900 });

	for (const tab of ['timeline', 'summary', 'flame', 'zone', 'kernels', 'compare', 'sql', 'log']) {
		await s.p.evaluate(`app.zone.value = "aten::addmm", app.tab.value = "${tab}"`);
		await s.settle();
		assert.equal(await s.p.evaluate('document.documentElement.scrollWidth'), 420, `${tab} fits`);
		assert.equal(
			await s.p.evaluate(
				`[...document.querySelectorAll('main, .page, .tl, .card, .drawer')].filter(e => e.getBoundingClientRect().right > 421).length`,
			),
			0,
			tab,
		);
	}
	await done(s, set, 'narrow');
}

/* No serious finding of axe on any tab, in any theme. */
async function accessibleCheck(set: Setting): Promise<void> {
	if (!set.axe) {
		console.log('skipped: axe-core is not installed (tools/setup.sh web)');
		return;
	}
	for (const theme of ['light', 'dark', 'contrast']) {
		const s = await opened(set, `${set.training}#th=${theme}&z=aten::addmm`);

		await s.p.evaluate(set.axe); // not as a script element: the policy of the page forbids those
		for (const tab of ['timeline', 'summary', 'flame', 'zone', 'kernels', 'compare', 'sql', 'log']) {
			await s.p.evaluate(`app.tab.value = "${tab}", app.select(4294967296 * 3 + 5)`);
			await s.settle();
			const found = await s.p.evaluate<
				string[]
			>(`axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations
				.filter(v => v.impact === 'serious' || v.impact === 'critical').map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 200)).join(' | ')))`);

			assert.deepEqual(found, [], `${tab}, ${theme}`);
		}
		await done(s, set, `axe-${theme}`);
	}
}

async function opened(set: Setting, url: string, viewport = { width: 1440, height: 900 }): Promise<Shown> {
	const s = new Shown(await set.browser.newPage({ viewport, colorScheme: 'light', acceptDownloads: true }));

	await s.p.goto(url);
	await s.until('window.timeline && window.app && !document.querySelector("#page[role=alert]")');
	await s.settle();
	assert.equal(HEAD, 232);
	return s;
}

async function done(s: Shown, set: Setting, name: string): Promise<void> {
	await s.p.screenshot({ path: `${set.folder}/${name.replace(/\W+/g, '-').slice(0, 40)}.png` });
	assert.deepEqual(s.errors, [], 'the console is quiet');
	await s.p.close();
}

async function one(name: string, run: () => Promise<void>): Promise<boolean> {
	const from = Date.now();

	try {
		await run();
		console.log(`ok ${name} (${Date.now() - from} ms)`);
		return true;
	} catch (e) {
		console.log(`not ok ${name}\n${e instanceof Error ? e.stack : String(e)}`);
		return false;
	}
}

export async function checks(set: Setting): Promise<void> {
	const rest: Record<string, () => Promise<void>> = {
		'hostile names are inert': () => hostileCheck(set),
		'over HTTP, under a strict policy': () => httpCheck(set),
		'a server that is gone': () => goneCheck(set),
		'a live trace is followed': () => liveCheck(set),
		'at 420 px everything fits': () => narrowCheck(set),
		'axe-core finds nothing serious': () => accessibleCheck(set),
	};
	let failed = 0;

	for (const [name, check] of Object.entries(CHECKS))
		if (name.includes(set.only))
			failed += Number(
				!(await one(name, async () => {
					const s = await opened(set, set.training);

					await check(s, set);
					await done(s, set, name);
				})),
			);
	for (const [name, check] of Object.entries(rest))
		if (name.includes(set.only)) failed += Number(!(await one(name, check)));
	if (failed) throw new Error(`${failed} failed`);
}
