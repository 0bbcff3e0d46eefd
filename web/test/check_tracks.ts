// check_tracks.ts - heads of tracks, and searching.

import assert from 'node:assert/strict';
import { eventId } from '../src/source/contract';
import { all, at, near, show, type Check, type View } from './shown';

export const TRACKS: Record<string, Check> = {
	async 'heads: fold, pin, hide, filter, order, arrow keys'(s) {
		const names = () => s.p.locator('.scrolls .nm').allTextContents();
		const rank = s.p.locator('[role=treeitem]').filter({ hasText: 'rank 0' });

		assert.ok((await names()).includes('autograd'));
		await rank.locator('.twist').click();
		assert.ok(!(await names()).includes('autograd'));
		assert.equal(await rank.getAttribute('aria-expanded'), 'false');
		await rank.focus();
		await s.press('ArrowRight');
		assert.ok((await names()).includes('autograd'));
		await s.press('ArrowDown', 'ArrowDown');
		await s.settle();
		assert.match(await s.p.evaluate<string>('document.activeElement.textContent'), /MainThread/);
		await s.press('p');
		assert.deepEqual(await s.p.locator('.pinnedheads .nm').allTextContents(), ['MainThread']);
		await s.press('h');
		assert.equal((await names()).filter(n => n === 'MainThread').length, 0);
		await s.p.locator('button').filter({ hasText: '1 hidden' }).click();
		assert.ok((await names()).includes('MainThread'));
		await s.p.locator('.tfilter').fill('stream 7');
		assert.deepEqual((await names()).slice(0, 3), ['rank 0', 'cuda:0', 'stream 7']);
		await s.p.locator('.tfilter').fill('');
		const first = (await names())[0];

		await s.p.evaluate('app.move(app.places.value.find(p => p.name === "rank 1").id, -1)');
		assert.notEqual((await names())[0], first, 'moved up');
	},

	async 'a head that is too long loses its middle, not its end'(s) {
		await s.p.evaluate(
			'app.places.value = app.places.value.map(p => p.name === "autograd" ? { ...p, name: "Communicator 0, channel 0: what it sends (12)" } : p)',
		);
		await s.settle();
		const [text, cut, end] = await s.p.evaluate<[string, boolean, boolean]>(`(() => {
			const name = [...document.querySelectorAll('.scrolls .nm')].find(e => e.textContent.includes('sends')),
				[head, tail] = name.children, box = tail.getBoundingClientRect();
			return [name.textContent, head.scrollWidth > head.clientWidth,
				document.elementFromPoint(box.right - 3, box.top + box.height / 2) === tail];
		})()`);

		assert.equal(text, 'Communicator 0, channel 0: what it sends (12)');
		assert.ok(cut && end, 'the end is seen');
	},

	async 'tracks by name; menus of tracks and of the selection'(s) {
		await s.press('g');
		await s.until(
			'[...document.querySelectorAll(".scrolls .nm")].filter(e => /^rank \\d/.test(e.textContent)).length >= 4',
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
		await s.until('document.querySelectorAll(".hitlist [aria-current=true]").length === 1');
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
};
