// viewer.js - what scripts that look at the viewer's pages share.
'use strict';
const fs = require('fs');
const path = require('path');
const { drive, openPage, saved, settled } = require('./browser.js');

const card = label => `section[aria-label="${label}"]`;

/* The table of a card, as the CSV that it offers. */
async function save(page, label) {
	await page.waitForSelector(`${card(label)} [role=gridcell]`);
	const [download] = await Promise.all([page.waitForEvent('download'),
		page.locator(`${card(label)} .gridbar button:text-is("CSV")`).first().click()]);

	return (await saved(download)).toString();
}

/* What axe-core has to say against it; nothing where it is not installed. A theme changes nothing but colours. */
async function axe(page, modules, themes = ['light', 'dark']) {
	const file = path.join(modules, 'axe-core/axe.min.js'), said = [];

	if (!fs.existsSync(file)) return said;
	await page.evaluate(fs.readFileSync(file, 'utf8'));
	for (const theme of themes) {
		await page.evaluate(t => { app.theme.value = t; }, theme);
		await settled(page);
		said.push(...await page.evaluate(all => axe.run(document, { resultTypes: ['violations'],
			...(all ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] }) }).then(r => r.violations
			.filter(v => v.impact === 'serious' || v.impact === 'critical')
			.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)} ${v.nodes[0].any[0]?.message}`)), theme === themes[0]));
	}
	return said;
}

/* What look(page, nth) sees of each address, and what the page complained about, in a file. */
function lookAtAll(modules, out, addresses, look) {
	drive(modules, path.dirname(out), async browser => {
		const results = [];

		for (const [nth, address] of addresses.entries()) {
			const page = await openPage(browser, { viewport: { width: 1440, height: 1000 } });
			const errors = [];

			page.on('console', m => errors.push(`${m.type()}: ${m.text().slice(0, 300)}`));
			page.on('pageerror', e => errors.push(e.message));
			page.on('dialog', d => errors.push(`dialog: ${d.message()}`));
			await page.goto(address);
			await page.waitForFunction(() => window.app?.info?.value);
			results.push({ ...(await look(page, nth)), errors });
			await page.close();
		}
		fs.writeFileSync(out, JSON.stringify(results));
	});
}

module.exports = { axe, card, lookAtAll, save };
