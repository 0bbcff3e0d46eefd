// check_tables.ts - tables, trees, histograms.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { time } from '../src/text/format';
import * as naive from './naive';
import { all, near, span, type Check } from './shown';

export const TABLES: Record<string, Check> = {
	async 'find zone: numbers, groups, dragging filters the timeline'(s) {
		await s.p.evaluate('app.zone.value = "", app.tab.value = "zone"');
		await s.until('app.zone.value && document.querySelector(".stats")'); // it begins with some name
		await s.p.evaluate('app.zone.value = "aten::addmm"');
		await s.settle();
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
		await s.settle();
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
				span,
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
			await s.until('document.querySelectorAll(".box, [role=treegrid] tbody tr").length > 2');
		}
		const up = await s.rows('Tree'),
			self = [
				...naive.byName(
					all.filter(x => x.end > x.start),
					0,
					span,
				),
			].sort((a, b) => (b[1].self ?? 0) - (a[1].self ?? 0))[0];

		assert.deepEqual([up[0][0].replace(/^[▾▸]/, ''), up[0][1]], [self[0], time(self[1].self ?? 0)]);
	},

	async 'kernels by launch geometry; opened in the timeline'(s) {
		await s.p.evaluate('app.tab.value = "kernels"');
		await s.until('document.querySelector("[role=grid][aria-label=Kernels] tbody tr")');
		const kernels = [
			...naive.byName(
				all.filter(x => x.cat === 'kernel'),
				0,
				span,
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

	async 'SQL says why not in a page of its own'(s) {
		await s.p.evaluate('app.tab.value = "sql"');
		assert.match((await s.text('main'))!, /SQL needs the program.*unitrace query gpt-ddp4.utr/);
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
		near((await s.view()).t1, span, 1, 'a command');
		for (const theme of ['dark', 'light', 'contrast']) {
			await s.p.getByRole('button', { name: /^Colours/ }).click();
			await s.settle();
			assert.equal(await s.p.evaluate('document.documentElement.dataset.theme'), theme);
		}
		await s.press('1');
		await s.until('app.tab.value === "summary"');
		assert.equal(await s.state('tab.value'), 'summary');
	},
};
