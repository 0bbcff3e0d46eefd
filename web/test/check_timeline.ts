// check_timeline.ts - the timeline: what is drawn, selected, measured and narrowed down to.

import assert from 'node:assert/strict';
import { eventId } from '../src/source/contract';
import { time } from '../src/text/format';
import * as naive from './naive';
import { all, at, near, show, trace, type Check, type View } from './shown';

export const TIMELINE: Record<string, Check> = {
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

	async 'heads, drawer and minimap give way to the trace; arrows come and go'(s) {
		const box = async (of: string) => (await s.p.locator(of).first().boundingBox())!;
		const edge = async (name: string) => {
			const b = (await s.p.getByRole('separator', { name }).boundingBox())!;

			return { x: b.x + b.width / 2, y: b.y + b.height / 2 };
		};
		const before = await box('canvas.main'),
			heads = await edge('Width of the heads');

		await s.drag(heads, { x: heads.x + 90, y: heads.y });
		await s.settle();
		near((await box('canvas.main')).width, before.width - 90, 4, 'wider heads');
		const grip = await edge('Height of the drawer');

		await s.drag(grip, { x: grip.x, y: grip.y + 120 });
		await s.settle();
		near((await box('.drawer')).height, 302 - 120, 16, 'a lower drawer');
		assert.ok((await box('canvas.main')).height > before.height + 100, 'more of the trace');
		await s.p.getByRole('button', { name: 'Minimap' }).click();
		assert.equal(await s.p.locator('.minimap').count(), 0);
		await s.p.getByRole('button', { name: 'Minimap' }).click();
		assert.ok((await s.p.locator('.minimap').count()) > 0);
		const kernel = at('ncclDevKernel_AllReduce_Sum_bf16_RING_LL');

		await show(s, kernel, 1);
		const picture = () => s.p.evaluate<string>('document.querySelector("canvas.main").toDataURL()');
		const drawn = await picture();

		await s.p.getByRole('button', { name: 'Arrows' }).click();
		await s.settle();
		assert.notEqual(await picture(), drawn, 'arrows were drawn');
	},

	async 'keys zoom, move and fit'(s) {
		const v0 = await s.view(),
			span = (v: View) => v.t1 - v.t0;

		await s.tap('w', 'w', 'w');
		const v1 = await s.view();

		near(span(v1) / span(v0), 0.512, 0.02, 'three zooms');
		await s.tap('d');
		const v2 = await s.view();

		near(v2.t0 - v1.t0, span(v1) * 0.12, span(v1) * 0.02, 'right');
		await s.tap('a', 's');
		near(span(await s.view()) / span(v1), 1.25, 0.02, 'out');
		await s.press('0');
		assert.deepEqual(await s.view(), v0);
		await s.p.keyboard.down('w');
		await s.until(`app.view.value.t1 - app.view.value.t0 < ${span(v0) * 0.7}`); // a held key goes on
		await s.p.keyboard.up('w');
	},

	async 'click selects; details, chain, neighbours'(s) {
		const kernel = at('cunn_SoftMaxForwardReg<f32>', 5),
			where = await show(s, kernel);

		await s.p.mouse.click(where.x, where.y);
		await s.until('app.detail.value');
		const id = eventId(kernel.track, kernel.row),
			want = trace.ask('detail', { id })!;

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
		await s.settle();
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
		await s.until('location.hash.includes("n=")');
		await s.p.reload();
		await s.until('window.timeline && app.notes.value.length === 1');
	},

	async 'the minimap shows what has arrived, whatever the status line says'(s) {
		const bars = () =>
			s.p.evaluate<number>(`(() => {
				const c = document.querySelector('.minimap'), x = c.getContext('2d');
				const d = x.getImageData(0, Math.floor(c.height / 2), c.width, 1).data, seen = new Set();
				for (let i = 0; i < d.length; i += 4) seen.add(d.slice(i, i + 4).join());
				return seen.size;
			})()`);

		// Two pictures may take equally long: then the status line does not change.
		await s.p.evaluate(
			`Object.defineProperty(app.status, 'value', { configurable: true, get: () => '', set() {} })`,
		);
		await s.p.evaluate('app.area.value = { t0: 10000000, t1: 20000000 }; app.filterIn()');
		await s.settle();
		const seen = await bars();

		await s.p.evaluate('delete app.status.value; app.chain.value = []');
		await s.settle();
		assert.ok(seen > 4, `${seen} colours in the minimap`);
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
		await s.settle();
		const zoomed = await s.view();

		assert.ok(zoomed.t1 - zoomed.t0 < v.t1 - v.t0);
		near((await s.spot(1, 0, 12_500_000)).x, middle.x, 2, 'the pointer stays on its time');
		await s.p.keyboard.down('Shift');
		await s.drag(middle, { x: middle.x - 100, y: middle.y });
		await s.p.keyboard.up('Shift');
		assert.ok((await s.view()).t0 > zoomed.t0, 'dragged');
		await s.p.mouse.wheel(0, 120);
		await s.settle();
		assert.ok((await s.p.evaluate<number>('timeline.scroll')) > 0, 'scrolled');
		const mini = (await s.p.locator('.minimap').boundingBox())!;

		await s.p.mouse.click(mini.x + mini.width / 2, mini.y + 20);
		const now = await s.view(),
			span = trace.ask('info', {}).span;

		near((now.t0 + now.t1) / 2, span / 2, span * 0.01, 'the brush jumped to the middle');
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
		await s.until('app.said.value.includes("to select an area")');
		for (let i = 1; i <= 10; i++) await touch('touchMove', [300 + i * 20]);
		await touch('touchEnd', []);
		const area = await s.state<View>('area.value'),
			now = await s.view();

		near(area.t1 - area.t0, ((now.t1 - now.t0) * 200) / box.width, 3e4, 'an area');
	},

	async 'drag selects an area; its tables are what counting says'(s) {
		await s.p.evaluate('app.show(2000000, 6000000)');
		await s.settle();
		const a = await s.spot(1, 0, 2_500_000),
			b = await s.spot(4, 0, 4_000_000);

		await s.drag(a, b);
		await s.settle();
		assert.equal(await s.p.locator('.tip').count(), 0, 'no tip in the way');
		const area = await s.state<View & { tracks: number[] }>('area.value');

		near(area.t0, 2_500_000, 8000, 'begin');
		near(area.t1, 4_000_000, 8000, 'end');
		assert.deepEqual([...area.tracks].sort(), [1, 2, 4]); // what a device waited for stands below its queues
		await s.until('document.querySelector("[aria-label=\\"slices of the area\\"] tbody tr")');
		await s.settle();
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
				got[i].filter((_, k) => k !== 4),
				[
					name,
					String(w.count),
					time(w.total),
					w.self === null ? '–' : time(w.self),
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
			await settled(60000);
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
};
