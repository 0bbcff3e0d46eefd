// view_memory.js - the tab of the memory hierarchy in a headless Chromium.
//
//   node view_memory.js NODE_MODULES OUT.json ADDRESS...
//
// OUT.json: for each address, of each kernel what the diagram says in its three ways, the table of levels
// as CSV, what is flagged and what is said to be missing; and what went wrong. Exit 77: a part is missing.
'use strict';
const path = require('path');
const { axe, card, lookAtAll, save } = require('./viewer.js');
const { settled } = require('./browser.js');

const [modules, out, ...pages] = process.argv.slice(2);
const texts = async (page, selector) => (await page.locator(selector).allTextContents()).map(t => t.trim().replace(/\u202f/g, ' '));

/* The values of arrows, in the order in which they are drawn. */
async function ways(page) {
	const seen = {};

	for (const way of ['Total size', '% of maximum', 'Bandwidth']) {
		await page.locator(`${card('Memory hierarchy')} button:text-is("${way}")`).click();
		seen[way] = await texts(page, '.marrow .mv');
	}
	return seen;
}

async function look(page, nth) {
	const seen = { kernels: {} }, rows = page.locator(`${card('Kernels')} tbody tr[role=row]`);

	await page.locator('#tab-memory').click();
	await page.waitForSelector(`${card('Kernels')} [role=gridcell]`);
	for (let i = 0; i < await rows.count(); i++) {
		const name = await rows.nth(i).locator('td .name').first().getAttribute('title'); // all of it

		await rows.nth(i).click();
		await page.waitForFunction(n => document.querySelector('section[aria-label="Memory hierarchy"] header .name')?.textContent === n, name);
		seen.kernels[name] = {
			...await ways(page),
			levels: await save(page, 'Levels of memory'),
			engine: await texts(page, '.mengine text'),
			bad: await texts(page, '.mbox.bad .mt, .mengine .bad'),
			why: await texts(page, '.mflags li'),
			boxes: await texts(page, '.mbox'),
			missing: await texts(page, `${card('Memory hierarchy')} .mnotes > p`),
			label: await page.locator('.mdiagram').getAttribute('aria-label'),
		};
		await page.waitForFunction(n => app.detail.value?.name === n, name);
	}
	seen.heads = await page.locator('.marrow').evaluateAll(all => all.map(a => a.querySelector('.ml').textContent + a.querySelectorAll('path').length));
	seen.cards = await page.locator('.page > section').evaluateAll(all => all.map(s => s.getAttribute('aria-label')));
	seen.axe = await axe(page, modules);
	await page.screenshot({ path: path.join(path.dirname(out), `memory-${nth}.png`) });
	await page.setViewportSize({ width: 420, height: 800 });
	await settled(page);
	seen.width = await page.evaluate(() => document.documentElement.scrollWidth);
	return seen;
}

/* Two runs: numbers of A, of B, and by how much they differ. */
async function lookAtTwo(page) {
	const seen = {};

	await page.locator('#tab-compare').click();
	for (const what of ['Metrics', 'Devices']) {
		await page.locator(`[aria-label="Show as"] button:text-is("${what}")`).click();
		await page.waitForSelector(`[role=grid][aria-label="${what === 'Metrics' ? 'Metrics of kernels' : what}"] [role=gridcell]`);
		await page.locator(`${card('Compare')} button:text-is("Columns")`).click();
		const off = page.locator(`${card('Compare')} .chooser input:not(:checked)`);

		while (await off.count()) await off.first().check();
		seen[what] = await save(page, 'Compare');
	}
	return { two: seen };
}

lookAtAll(modules, out, pages, async (page, nth) => {
	const two = await page.evaluate(() => app.info.value.before !== undefined || !!app.other.value);

	return two ? lookAtTwo(page) : look(page, nth);
});
