// report_page.js - opens a page that unitrace wrote, in a headless Chromium, uses it like a reader
// and tells what was there.
//
//   node report_page.js NODE_MODULES PAGE.html OUT.json
//
// OUT.json: { console: [...], requests: [...], bars, cells, lines, rows: names of the kernels as
// first shown, sorted and filtered, headings: [...], dark, wide }. Exit 77: a part of this is not
// installed.
'use strict';
const fs = require('fs');
const path = require('path');
const { launch } = require('./browser.js');

const [modules, file, out] = process.argv.slice(2);

async function main() {
	const browser = await launch(modules, path.dirname(out));
	const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: 'light' });
	const result = { console: [], requests: [], rows: {} };
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const kernels = page.locator('section', { has: page.getByPlaceholder('filter by name') });
	const names = () => kernels.locator('tbody tr td:first-child').allTextContents();

	page.on('console', m => result.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
	page.on('pageerror', e => result.console.push(`error: ${e.message}`));
	page.on('request', r => result.requests.push(r.url()));
	await page.goto(`file://${path.resolve(file)}`);
	result.title = await page.title();
	result.headings = await page.locator('h2').allTextContents();
	result.bars = await page.locator('svg').first().locator('rect.bar').count();
	result.cells = await page.locator('rect.cell').count();
	result.lines = await page.locator('path.line').count();
	result.facts = await page.locator('.fact').allTextContents();
	result.rows.first = await names();
	await kernels.getByRole('button', { name: 'Name' }).click();
	result.rows.sorted = await names();
	await kernels.getByRole('button', { name: 'Name' }).click();
	result.rows.reversed = await names();
	await page.getByPlaceholder('filter by name').fill('ALPHA');
	result.rows.filtered = await names();
	result.light = await back();
	await page.emulateMedia({ colorScheme: 'dark' });
	result.dark = await back();
	await page.setViewportSize({ width: 420, height: 800 });
	result.wide = await page.evaluate(() => document.documentElement.scrollWidth);
	fs.writeFileSync(out, JSON.stringify(result));
	await browser.close();
}

main().catch(error => {
	console.error(error.message);
	process.exit(1);
});
