// view_footer.js - the command at the bottom of the viewer's page, in a headless Chromium.
//
//   node view_footer.js NODE_MODULES OUT.json SQL ADDRESS
//
// OUT.json: the command of each tab, that of SQL before and after SQL was run, and that of Hotspots with
// the difference to the other run; what went wrong. Exit 77: a part is missing.
'use strict';
const fs = require('fs');
const path = require('path');
const { drive, openPage, settled } = require('./browser.js');

const [modules, out, sql, address] = process.argv.slice(2);

async function look(browser) {
	const page = await openPage(browser, { viewport: { width: 1800, height: 900 } });
	const seen = { console: [], tabs: {} };
	const footer = async () => {
		await settled(page);
		return page.evaluate(() => document.querySelector('footer.status button.mono')?.textContent ?? '');
	};
	const open = title => page.locator(`[role=tab]:text-is("${title}")`).first().click();

	page.on('console', m => seen.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
	page.on('pageerror', e => seen.console.push(`error: ${e.message}`));
	await page.goto(address);
	await page.waitForFunction(() => window.app);
	await settled(page);
	for (const title of ['Summary', 'Timeline', 'Log', 'SQL', 'Hotspots']) {
		await open(title);
		seen.tabs[title] = await footer();
	}
	await page.getByLabel('Difference').check();
	seen.difference = await footer();
	await open('SQL');
	await page.locator('textarea[aria-label=SQL]').fill(sql);
	await page.getByRole('button', { name: /^Run/ }).click();
	await page.locator('[aria-label=Answer]').first().waitFor();
	seen.sql = await footer();
	fs.writeFileSync(out, JSON.stringify(seen));
}

drive(modules, path.dirname(out), look);
