// view_memory.js - the tab of the memory hierarchy in a headless Chromium.
//
//   node view_memory.js NODE_MODULES OUT.json ADDRESS...
//
// OUT.json: for each address, of each kernel what the diagram says in its three ways, the table of levels
// as CSV, what is flagged and what is said to be missing; and what went wrong. Exit 77: a part is missing.
'use strict';
const fs = require('fs');
const path = require('path');
const { launch } = require('./browser.js');

const [modules, out, ...pages] = process.argv.slice(2);
const card = label => `section[aria-label="${label}"]`;
const texts = async (page, selector) => (await page.locator(selector).allTextContents()).map(t => t.trim().replace(/\u202f/g, ' '));

async function save(page, label) {
	const [download] = await Promise.all([page.waitForEvent('download'),
		page.locator(`${card(label)} .gridbar button:text-is("CSV")`).first().click()]);

	return fs.readFileSync(await download.path(), 'utf8');
}

/* The values of arrows, in the order in which they are drawn. */
async function ways(page) {
	const seen = {};

	for (const way of ['Total size', '% of maximum', 'Bandwidth']) {
		await page.locator(`${card('Memory hierarchy')} button:text-is("${way}")`).click();
		seen[way] = await texts(page, '.marrow .mv');
	}
	return seen;
}

async function axe(page) {
	const file = path.join(modules, 'axe-core/axe.min.js'), said = [];

	if (!fs.existsSync(file)) return said;
	await page.evaluate(fs.readFileSync(file, 'utf8'));
	for (const theme of ['light', 'dark']) {
		await page.evaluate(t => { app.theme.value = t; }, theme);
		await page.waitForTimeout(100);
		said.push(...await page.evaluate(() => axe.run(document).then(r => r.violations
			.filter(v => v.impact === 'serious' || v.impact === 'critical')
			.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)} ${v.nodes[0].any[0]?.message}`))));
	}
	return said;
}

async function look(page, nth) {
	const seen = { kernels: {} }, rows = page.locator(`${card('Kernels')} tbody tr[role=row]`);

	await page.locator('#tab-memory').click();
	await page.waitForSelector(`${card('Kernels')} [role=gridcell]`);
	for (let i = 0; i < await rows.count(); i++) {
		const name = (await rows.nth(i).locator('td').first().innerText()).replace('⚑', '').trim();

		await rows.nth(i).click();
		await page.waitForFunction(n => document.querySelector('section[aria-label="Memory hierarchy"] header .name')?.textContent === n, name);
		seen.kernels[name] = {
			...await ways(page),
			levels: await save(page, 'Levels of memory'),
			engine: await texts(page, '.mengine text'),
			bad: await texts(page, '.mbox.bad .mt, .mengine .bad'),
			why: await texts(page, '.mflags li'),
			boxes: await texts(page, '.mbox'),
			missing: await texts(page, `${card('Memory hierarchy')} .body > p`),
			label: await page.locator('.mdiagram').getAttribute('aria-label'),
		};
		await page.waitForFunction(n => app.detail.value?.name === n, name);
	}
	seen.axe = await axe(page);
	await page.screenshot({ path: path.join(path.dirname(out), `memory-${nth}.png`) });
	await page.setViewportSize({ width: 420, height: 800 });
	await page.waitForTimeout(200);
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

async function main() {
	const browser = await launch(modules, path.dirname(out)), results = [];

	for (const [nth, address] of pages.entries()) {
		const page = await browser.newPage({ viewport: { width: 1440, height: 1000 }, acceptDownloads: true });
		const errors = [];

		page.on('console', m => errors.push(`${m.type()}: ${m.text().slice(0, 300)}`));
		page.on('pageerror', e => errors.push(e.message));
		page.on('dialog', d => errors.push(`dialog: ${d.message()}`));
		await page.goto(address);
		await page.waitForFunction(() => window.app?.info?.value);
		const two = await page.evaluate(() => app.info.value.before !== undefined || !!app.other.value);

		results.push({ ...(await (two ? lookAtTwo(page) : look(page, nth))), errors });
		await page.close();
	}
	await browser.close();
	fs.writeFileSync(out, JSON.stringify(results));
}

main().catch(error => {
	console.error(error.stack);
	process.exit(1);
});
