// check_look.ts - what can be read: keys that are told, themes, labels that do not lie on or outside of others.

import assert from 'node:assert/strict';
import { eventId } from '../src/source/contract';
import { time } from '../src/text/format';
import { all, at, done, opened, show, type Check, type Setting, type Shown } from './shown';

/* Contrast of two colours, as WCAG counts it. */
function contrast(a: number[], b: number[]): number {
	const light = ([r, g, bl]: number[]): number =>
		[r, g, bl]
			.map(v => v / 255)
			.map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
			.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const [x, y] = [light(a), light(b)].sort((p, q) => q - p);

	return (x + 0.05) / (y + 0.05);
}

const rgb = (css: string): number[] => (css.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);

const zoomed = 'app.view.value.t1 - app.view.value.t0';

/* What each key of the list must change; before: what has to be there first. */
const KEYS: Record<string, { press: string; holds: string; before?: string }> = {
	W: { press: 'w', holds: `${zoomed} < was` },
	'↑': { press: 'ArrowUp', holds: `${zoomed} < was` },
	S: { press: 's', holds: `${zoomed} > was` },
	'↓': { press: 'ArrowDown', holds: `${zoomed} > was` },
	A: { press: 'a', holds: 'app.view.value.t0 < t0' },
	'←': { press: 'ArrowLeft', holds: 'app.view.value.t0 < t0' },
	D: { press: 'd', holds: 'app.view.value.t0 > t0' },
	'→': { press: 'ArrowRight', holds: 'app.view.value.t0 > t0' },
	F: {
		press: 'f',
		holds: 'app.view.value.t0 <= d.t && app.view.value.t1 >= d.t + d.dur && app.view.value.t0 !== t0',
	},
	'0': { press: '0', holds: 'app.view.value.t0 === 0 && app.view.value.t1 === app.info.value.span' },
	'.': { press: '.', holds: 'app.detail.value?.name === d.name && app.detail.value.t > d.t' },
	',': { press: ',', holds: 'app.detail.value?.name === d.name && app.detail.value.t < d.t' },
	'Shift .': {
		press: 'Shift+.',
		holds: 'app.detail.value && track(app.detail.value) === track(d) && app.detail.value.id > d.id',
	},
	'Shift ,': {
		press: 'Shift+,',
		holds: 'app.detail.value && track(app.detail.value) === track(d) && app.detail.value.id < d.id',
	},
	']': {
		press: ']',
		holds: 'app.detail.value && d.after.some(a => a.id === app.detail.value.id)',
		before: 'launch',
	},
	'[': { press: '[', holds: 'app.detail.value && d.before.some(a => a.id === app.detail.value.id)' },
	R: { press: 'r', holds: 'app.area.value?.t0 === d.t && app.area.value.t1 === d.t + d.dur' },
	M: { press: 'm', holds: 'app.glow.value' },
	'Shift M': { press: 'Shift+M', holds: "app.dialog.value === 'note'" },
	Esc: { press: 'Escape', holds: 'app.selected.value === null' },
	Z: { press: 'z', holds: "app.tab.value === 'zone' && app.zone.value === d.name" },
	Enter: {
		press: 'Enter',
		holds: 'app.view.value.t0 <= 4000000 && app.view.value.t0 !== t0',
		before: 'area',
	},
	'Shift Enter': { press: 'Shift+Enter', holds: 'app.chain.value.length === 1', before: 'area' },
	X: { press: 'x', holds: 'app.chain.value.length === 1', before: 'area' },
	Backspace: { press: 'Backspace', holds: 'app.chain.value.length === 0', before: 'chain' },
	P: { press: 'p', holds: 'app.pins.value.length === 1' },
	H: { press: 'h', holds: 'app.hidden.value.size === 1' },
	G: { press: 'g', holds: 'app.grouped.value' },
	T: { press: 't', holds: "document.querySelector('.astable')" },
	Q: { press: 'q', holds: "!document.querySelector('.drawer')" },
	'/': { press: '/', holds: "document.activeElement.id === 'search'" },
	'Ctrl P': { press: 'Control+P', holds: "app.dialog.value === 'tracks'" },
	'Ctrl Shift P': { press: 'Control+Shift+P', holds: "app.dialog.value === 'commands'" },
	'?': { press: '?', holds: "app.dialog.value === 'help'" },
	'1': { press: '1', holds: "app.tab.value === 'summary'" },
	'9': { press: '9', holds: "app.tab.value === 'sql'" },
};

/* A kernel in the middle is selected, all else is as it was at first. */
async function afresh(s: Shown, before?: string): Promise<void> {
	const kernel = before === 'launch' ? at('cudaLaunchKernel', 9) : at('cunn_SoftMaxForwardReg<f32>', 5);

	await s.p.evaluate(`(() => {
		app.tab.value = 'timeline', app.dialog.value = '', app.asTable.value = app.grouped.value = false, app.drawer.value = true;
		app.pins.value = [], app.hidden.value = new Set(), app.chain.value = [], app.setArea(null), app.glow.value = null;
		document.activeElement?.blur();
		${before === 'chain' ? 'app.narrow({ label: "x", ranges: [[1000000, 30000000]] });' : ''}
		app.show(3000000, 9000000);
		${before === 'area' ? 'app.setArea({ t0: 4000000, t1: 5000000 });' : ''}
		app.select(${eventId(kernel.track, kernel.row)});
	})()`);
	await s.until(`app.detail.value?.id === ${eventId(kernel.track, kernel.row)}`);
	await s.settle();
	await s.p.evaluate(
		`[window.d, window.t0, window.was, window.track] = [app.detail.value, app.view.value.t0, ${zoomed}, e => Math.floor(e.id / 2 ** 32)], 0`,
	);
}

async function distinct(s: Shown, selector: string, what: string): Promise<void> {
	const texts = await s.p.locator(selector).allTextContents();

	assert.equal(new Set(texts).size, texts.length, `${what}: ${texts.join(', ')}`);
	assert.ok(texts.length > 0, what);
}

/* How far labels reach out of a chart. */
const OUTSIDE = `Math.max(0, ...[...document.querySelectorAll('.chart')].flatMap(c => {
	const box = c.getBoundingClientRect();
	return [...c.querySelectorAll('.axis .m, .axis .x')].map(m => m.getBoundingClientRect()).flatMap(r => [box.left - r.left, r.right - box.right]);
}))`;

export const LOOK: Record<string, Check> = {
	async 'every key that is told does what it says'(s) {
		await s.press('?');
		await s.until('document.querySelector("dialog kbd")');
		const told = await s.p.locator('dialog kbd').allTextContents();

		assert.deepEqual([...told].sort(), Object.keys(KEYS).sort());
		await s.press('Escape');
		for (const [name, key] of Object.entries(KEYS)) {
			await afresh(s, key.before);
			await s.press(key.press);
			try {
				await s.until(key.holds);
			} catch {
				assert.fail(`${name}: ${key.holds}`);
			}
		}
	},

	async 'numbers on an axis differ, labels stay inside'(s) {
		await s.p.evaluate('app.tab.value = "zone"');
		for (const name of ['cunn_SoftMaxForwardReg<f32>', 'train_step', 'aten::addmm'])
			for (const axis of ['log time', 'linear']) {
				await s.p.evaluate(`app.zone.value = "${name}"`);
				await s.p.locator('[aria-label="Time axis"] button').filter({ hasText: axis }).click();
				await s.until(
					`document.querySelector('.chart svg')?.getAttribute('aria-label').startsWith('Durations of ${name}:')`,
				);
				await s.settle();
				await distinct(s, '.chart .axis .x', `${name}, ${axis}`);
				assert.ok((await s.p.evaluate<number>(OUTSIDE)) <= 2, `${name}, ${axis}: labels are cut`);
			}
		const lengths = all
			.filter(x => x.name === 'train_step')
			.map(x => x.end - x.start)
			.sort((a, b) => a - b);
		const [a, b] = lengths // two that are nearly alike
			.slice(1)
			.map((v, i) => [lengths[i], v])
			.filter(([x, y]) => y > x)
			.sort(([x, y], [v, w]) => y - x - (w - v))[0];

		await s.p.evaluate(
			`app.zone.value = "train_step", app.narrow({ label: 'x', query: 'dur:${a}..${b}' })`,
		);
		await s.until(
			`document.querySelector('.chart svg')?.getAttribute('aria-label').includes('train_step: half take ${time(a)}')`,
		);
		await s.until(
			`/ 2 calls$/.test(document.querySelector('section[aria-label="Find zone"] header .num').textContent.padStart(99))`,
		);
		await distinct(s, '.chart .axis .x', `${a} to ${b} ns`);
		assert.ok((await s.p.evaluate<number>(OUTSIDE)) <= 2, 'labels are cut');
	},

	async 'boxes of a flame graph lie inside of each other, not on each other'(s) {
		await s.p.evaluate('app.tab.value = "flame"');
		for (const order of ['Left heavy', 'Time order']) {
			await s.p.getByRole('button', { name: order }).click();
			await s.settle();
			await s.until('document.querySelectorAll(".flame .box").length > 10');
			const boxes = await s.p.evaluate<{ x: number; to: number; y: number }[]>(
				'[...document.querySelectorAll(".flame .box")].map(b => b.getBoundingClientRect()).map(r => ({ x: r.left, to: r.right, y: r.top }))',
			);
			const sorted = [...boxes].sort((a, b) => a.y - b.y || a.x - b.x);

			assert.ok(
				boxes.every(b => b.x >= boxes[0].x - 0.1 && b.to <= boxes[0].to + 0.6),
				`${order}: outside of all`,
			);
			sorted.forEach((b, i) => {
				const next = sorted[i + 1];

				assert.ok(
					!next || next.y !== b.y || next.x >= b.to - 0.6,
					`${order}: on each other at ${b.x}, ${b.y}`,
				);
			});
		}
	},

	async 'high contrast: slices, however narrow, and the minimap stand out'(s) {
		await s.p.evaluate('app.theme.value = "contrast"');
		await s.settle();
		const kernel = at('ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
			where = await show(s, kernel, 1),
			surface = await s.token('surface');
		const edge = await s.spot(kernel.track, 0, kernel.start);

		const around = await Promise.all([-1, 0, 1, 2].map(x => s.pixel(edge.x + x, where.y - 7)));

		assert.ok(around.map(String).includes(String(await s.token('ink'))), `outlined: ${around.join(' ')}`);
		await s.press('0');
		await s.settle();
		const lowest = await s.p.evaluate<number[][]>(`(() => {
			const c = document.querySelector('canvas.main'), x = c.getContext('2d'), seen = new Map();
			for (const row of timeline.layout.rows) for (const lane of row.lanes) {
				if (row.kind !== 'slices' || lane.mark) continue;
				const y = row.y - timeline.scroll + lane.y + (lane.h >> 1);
				if (y < 0 || y >= c.height) continue;
				const w = timeline.data.get(lane.track, lane.lane, app.view.value);
				for (let i = w.first; i < w.last; i++) {
					const px = Math.floor(timeline.xOf(w.of.start[i]) + 0.5), [r, g, b] = x.getImageData(Math.min(px, c.width - 1), y, 1, 1).data;
					seen.set([r, g, b].join(), [r, g, b]);
				}
			}
			return [...seen.values()];
		})()`);

		assert.ok(lowest.length > 0);
		for (const colour of lowest)
			assert.ok(contrast(colour, surface) >= 2.9, `${colour.join()} on ${surface.join()}`);
		for (const bar of await s.p.evaluate<string[]>('timeline.palette.bars'))
			assert.ok(contrast(rgb(bar), surface) >= 2.4, `${bar} in the minimap`);
	},

	async 'a system that asks for more contrast has it'(s) {
		const lines = async (colorScheme: string, contrast: string, theme: string) => {
			await s.p.emulateMedia({ colorScheme, contrast });
			await s.until(`document.documentElement.dataset.theme === '${theme}'`);
			await s.settle();
			return rgb(
				await s.p.evaluate<string>(
					`getComputedStyle(document.querySelector('.top')).borderBottomColor`,
				),
			);
		};

		for (const scheme of ['light', 'dark']) {
			const before = contrast(await lines(scheme, 'no-preference', scheme), await s.token('surface'));
			const after = contrast(
				await lines(scheme, 'more', scheme === 'dark' ? 'dark' : 'contrast'),
				await s.token('surface'),
			);

			assert.ok(after > Math.max(3, before), `${scheme}: ${before}, ${after}`);
		}
		await s.p.emulateMedia({ colorScheme: 'light', contrast: 'no-preference' });
	},

	async 'tracks of many ranks are told apart in the list, and shown though they were folded'(s) {
		await s.press('Control+P');
		await s.until('document.querySelector("dialog .chooserlist li")');
		await distinct(s, 'dialog .chooserlist li span:first-child', 'tracks');
		await s.p.keyboard.type('rank 3');
		await s.p
			.locator('dialog .chooserlist li')
			.filter({ hasText: 'rank 3 / python3 / MainThread' })
			.click();
		await s.settle();
		const row = await s.p.evaluate<{ y: number; h: number; from: number; to: number }>(
			`(({ y, h }) => ({ y, h, from: timeline.scroll, to: timeline.scroll + timeline.height }))(timeline.layout.rows.find(r => r.place.name === 'MainThread' && r.place.rank === 3))`,
		);

		assert.ok(row.y >= row.from && row.y + row.h <= row.to, JSON.stringify(row));
	},

	async 'details of a slice that comes from nowhere use the whole width'(s) {
		const step = at('train_step');

		await s.p.evaluate(`app.select(${eventId(step.track, step.row)})`);
		await s.until('app.detail.value');
		await s.settle();
		const widths = await s.p.evaluate<number[]>(
			`['.det', '.det .kv'].map(of => document.querySelector(of).getBoundingClientRect().width)`,
		);

		assert.ok(widths[1] > 0.9 * widths[0], widths.join());
		assert.match((await s.text('.det'))!, /rank 0 \/ python3 \/ MainThread/);
	},
};

/* At 420 px: the tab that is shown can be seen, and heads tell tracks apart. */
async function narrowLook(set: Setting): Promise<void> {
	const s = await opened(set, set.training, { width: 420, height: 900 });

	for (const tab of ['log', 'summary', 'compare', 'timeline']) {
		await s.p.evaluate(`app.tab.value = '${tab}'`);
		await s.settle();
		const box = (await s.p.locator('nav [role=tab][aria-selected=true]').boundingBox())!;

		assert.ok(box.x >= -1 && box.x + box.width <= 421, `${tab}: ${box.x} + ${box.width}`);
	}
	const cut = await s.p.evaluate<string[]>(
		`[...document.querySelectorAll('.hd .nm')].filter(n => n.lastElementChild?.getBoundingClientRect().right > n.closest('.hd').getBoundingClientRect().right).map(n => n.textContent)`,
	);

	assert.deepEqual(cut, [], 'heads whose end is cut');
	await done(s);
}

export const LOOK_ELSEWHERE = { 'at 420 px the tab and the heads can be read': narrowLook };
