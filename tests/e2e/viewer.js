// viewer.js - what scripts that look at the viewer's pages share.
'use strict';
const fs = require('fs');
const path = require('path');
const { launch } = require('./browser.js');

const card = label => `section[aria-label="${label}"]`;

/* The table of a card, as the CSV that it offers. */
async function save(page, label) {
	await page.waitForSelector(`${card(label)} [role=gridcell]`);
	const [download] = await Promise.all([page.waitForEvent('download'),
		page.locator(`${card(label)} .gridbar button:text-is("CSV")`).first().click()]);

	return fs.readFileSync(await download.path(), 'utf8');
}

/* What axe-core has to say against it, in both themes; nothing where it is not installed. */
async function axe(page, modules) {
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

/* What look(page, nth) sees of each address, and what the page complained about, in a file. */
async function lookAtAll(modules, out, addresses, look) {
	const browser = await launch(modules, path.dirname(out)), results = [];

	for (const [nth, address] of addresses.entries()) {
		const page = await browser.newPage({ viewport: { width: 1440, height: 1000 }, acceptDownloads: true });
		const errors = [];

		page.on('console', m => errors.push(`${m.type()}: ${m.text().slice(0, 300)}`));
		page.on('pageerror', e => errors.push(e.message));
		page.on('dialog', d => errors.push(`dialog: ${d.message()}`));
		await page.goto(address);
		await page.waitForFunction(() => window.app?.info?.value);
		results.push({ ...(await look(page, nth)), errors });
		await page.close();
	}
	await browser.close();
	fs.writeFileSync(out, JSON.stringify(results));
}

/* To the end, or with an exit status that says that it went wrong. */
function run(promise) {
	promise.catch(error => {
		console.error(error.stack);
		process.exit(1);
	});
}

module.exports = { axe, card, lookAtAll, run, save };
