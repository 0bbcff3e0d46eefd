// check_page.ts - the page around the views, and where it is opened from.

import assert from 'node:assert/strict';
import { eventId } from '../src/source/contract';
import { serve } from './serve';
import { at, done, opened, show, span, trace, type Check, type Setting, type Shown } from './shown';

export const PAGE: Record<string, Check> = {
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

		for (const name of ['rank 0', 'python3', 'MainThread', 'cuda:0', 'stream 7', 'SM active'])
			assert.ok(
				heads.some(h => h.includes(name)),
				name,
			);
		assert.match((await s.text('.status'))!, /1 unfinished/);
	},

	async 'the address keeps the view; Back undoes'(s) {
		await s.p.evaluate(
			'app.show(3000000, 5000000), app.setArea({ t0: 3500000, t1: 4000000, tracks: [1, 2] }), app.pin(2)',
		);
		await s.until('location.hash.includes("a=3500000,4000000")');
		await s.p.reload();
		await s.until('window.timeline && app.area.value');
		assert.deepEqual(await s.view(), { t0: 3e6, t1: 5e6 });
		assert.deepEqual(await s.state('area.value'), { t0: 3.5e6, t1: 4e6, tracks: [1, 2] });
		assert.deepEqual(await s.state('pins.value'), [2]);
		await s.p.evaluate('app.tab.value = "flame"');
		await s.until('location.hash.includes("v=flame")');
		await s.p.goBack();
		await s.until('app.tab.value === "timeline"');
		assert.deepEqual(await s.view(), { t0: 3e6, t1: 5e6 });
	},
};

/* What shows that the address has been written: that is done when all is quiet. */
const IN_ADDRESS: Record<string, string[]> = {
	timeline: ['w=', 'y=60', 'area-threads.filter=a', 'area-threads.sort='],
	zone: ['v=zone', 'k.zone='],
	flame: ['v=flame', 'k.flame=bottom-up'],
	compare: ['v=compare', 'k.compare=flame', 'k.compare.b='],
};

/* Everything that can be chosen, set; the address then opened elsewhere: the same picture. */
async function addressCheck(set: Setting): Promise<void> {
	const s = await opened(set, set.training),
		id = eventId(4, 7);

	await s.p
		.evaluate(`app.narrow({ label: 'x', ranges: [[1000000, 30000000]] }), app.narrow({ label: 'y', query: '-"aten::gelu"' }),
		app.show(3000000, 5000000), app.setArea({ t0: 3500000, t1: 4000000, tracks: [1, 2, 4] }), app.select(${id}),
		app.pin(app.byTrack.value.get(4).id), app.hide(app.byTrack.value.get(5).id), app.fold(app.places.value.find(p => p.name === 'rank 1').id),
		app.move(app.places.value.find(p => p.name === 'rank 0').id, -1), app.colourBy.value = 'name', app.arrows.value = false,
		app.drawerHeight.value = 260, app.headWidth.value = 300, app.theme.value = 'dark', app.zone.value = 'aten::addmm',
		app.drawerTab.value = 'threads', app.search('gemm')`);
	await s.settle();
	await s.p.evaluate('timeline.scrollTo(60)');
	await s.p
		.locator('[role=grid][aria-label="threads of the area"] th button')
		.filter({ hasText: 'Slices' })
		.click();
	await s.p.locator('input[aria-label="Filter threads of the area"]').fill('a');
	for (const tab of ['timeline', 'zone', 'flame', 'compare']) {
		await s.p.evaluate(`app.tab.value = '${tab}'`);
		await s.settle();
		if (tab === 'zone') {
			await s.p.locator('select[aria-label="Group by"]').selectOption('rank');
			await s.p.getByRole('button', { name: 'self' }).click();
		}
		if (tab === 'flame') await s.p.getByRole('button', { name: 'Bottom-up' }).click();
		if (tab === 'compare') {
			await s.p.locator('select[aria-label=B]').selectOption('all.rank3');
			await s.p.getByRole('button', { name: 'Flame graph' }).click();
		}
		await s.settle();
		for (const word of IN_ADDRESS[tab]) await s.until(`location.hash.includes('${word}')`);
		const address = await s.p.evaluate<string>('location.hash');
		const copy = await opened(set, set.training + address);
		const picture = (of: Shown) =>
			of.p.evaluate<string>(
				`[...document.querySelectorAll('canvas.main, canvas.over, canvas.ruler')].map(c => c.toDataURL()).join() + document.querySelector('main').innerText.replace(/[0-9.]+ rectangles.*/, '')`,
			);

		await copy.settle();
		assert.equal(await copy.p.evaluate('location.hash'), address, tab);
		const [one, other] = [await picture(s), await picture(copy)];

		if (one !== other) {
			await s.p.screenshot({ path: `${set.folder}/address-here.png` });
			await copy.p.screenshot({ path: `${set.folder}/address-there.png` });
		}
		assert.ok(one === other, `${tab}: another picture (address-here.png, address-there.png)`);
		await copy.close();
	}
	await done(s);
}

/* One category only: names are told apart by colour, and the address says nothing about it. */
async function plainCheck(set: Setting): Promise<void> {
	const s = await opened(set, set.plain);
	const colours = await Promise.all(
		[
			[0, 50],
			[1, 300],
			[1, 700],
		].map(async ([lane, t]) => {
			const where = await s.spot(0, lane, t + 5000);

			return String(await s.pixel(where.x, where.y - 6));
		}),
	);

	assert.equal(new Set(colours).size, 3, colours.join(' '));
	assert.equal(await s.p.locator('[aria-label="Colour by"] [aria-pressed=true]').textContent(), 'Name');
	assert.ok(!(await s.p.evaluate<string>('location.hash')).includes('c='));
	await s.p.getByRole('button', { name: 'Category' }).click();
	await s.until("location.hash.includes('c=cat')");
	await done(s);
}

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
	await done(s);
}

async function httpCheck(set: Setting): Promise<void> {
	const { url, server } = await serve(trace, set.out),
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
		assert.deepEqual(await s.p.locator('.chart .named').allTextContents(), ['alpha', '<b>beta</b>']);
		assert.deepEqual(await s.p.locator('.chart .bar title').allTextContents(), [
			'alpha: 3',
			'<b>beta</b>: 4',
		]);
		await s.until("location.hash.includes('k.sql=select') && location.hash.includes('k.sql.as=chart')");
		await s.p.reload();
		await s.until("document.querySelectorAll('.chart .bar').length === 2"); // asked again
		await s.p.locator('textarea').fill('selec');
		await s.press('Tab');
		assert.equal(await s.p.locator('textarea').inputValue(), 'select');
		await done(s);
	} finally {
		server.close();
	}
}

/* A server that goes away is asked again in peace, and the page says what is wrong. */
async function goneCheck(set: Setting): Promise<void> {
	const { url, server } = await serve(trace, set.out),
		s = await opened(set, url);

	server.closeAllConnections();
	await new Promise(closed => server.close(closed));
	await s.p.evaluate(`window.asked = [], app.source.ask = (ask => (...q) => {
		if (q[0] === 'window') asked.push(performance.now());
		return ask(...q);
	})(app.source.ask.bind(app.source)), app.show(1000000, 1200000)`);
	await s.until('app.problem.value && asked.length > 1');
	const apart = await s.p.evaluate<number>('asked[1] - asked[0]');

	assert.ok(apart > 900, `asked again after ${apart} ms`);
	assert.match((await s.text('.status [role=alert]'))!, /is unitrace still running/);
	await s.close();
}

async function liveCheck(set: Setting): Promise<void> {
	const { url, server } = await serve(trace, set.out, 0.5),
		s = await opened(set, url);

	try {
		await s.until(`Math.abs(app.view.value.t1 - ${span * 1.5}) < 2`);
		assert.match((await s.text('.crumb .badge'))!, /^\s*live/);
		await done(s);
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
	await s.p.evaluate('app.tab.value = "summary"');
	await s.settle();
	const seen = await s.p.locator('section[aria-label="Slices by name"] th:visible').allTextContents();

	assert.deepEqual(
		seen.map(t => t.replace(/[▾▴ ]/g, '')),
		['Name', 'Count', 'Total', 'Shareofself'],
	);
	await done(s);
}

/* No serious finding of axe on any tab, in any theme. */
async function accessibleCheck(set: Setting): Promise<void> {
	if (!set.axe) {
		console.log('skipped: axe-core is not installed (tools/setup.sh test)');
		return;
	}
	const s = await opened(set, `${set.training}#z=aten::addmm`);

	await s.p.evaluate(set.axe); // not as a script element: the policy of the page forbids those
	for (const theme of ['light', 'dark', 'contrast']) {
		// a theme changes colours and nothing else
		const rules = theme === 'light' ? '' : "runOnly: ['color-contrast', 'link-in-text-block'],";

		for (const tab of ['timeline', 'summary', 'flame', 'zone', 'kernels', 'compare', 'sql', 'log']) {
			await s.p.evaluate(
				`app.theme.value = "${theme}", app.tab.value = "${tab}", app.select(4294967296 * 3 + 5)`,
			);
			await s.settle();
			const found = await s.p.evaluate<
				string[]
			>(`axe.run(document, { ${rules} resultTypes: ['violations'] }).then(r => r.violations
				.filter(v => v.impact === 'serious' || v.impact === 'critical').map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 200)).join(' | ')))`);

			assert.deepEqual(found, [], `${tab}, ${theme}`);
		}
	}
	await done(s);
}

/* Checks that open pages of their own. */
export const ELSEWHERE: Record<string, (set: Setting) => Promise<void>> = {
	'hostile names are inert': hostileCheck,
	'over HTTP, under a strict policy': httpCheck,
	'a server that is gone': goneCheck,
	'a live trace is followed': liveCheck,
	'an address shows the same elsewhere': addressCheck,
	'slices of one category are coloured by name': plainCheck,
	'at 420 px everything fits': narrowCheck,
	'axe-core finds nothing serious': accessibleCheck,
};
