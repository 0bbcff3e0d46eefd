// view_ops.js - the tabs Kernels and Ops of the viewer in a headless Chromium.
//
//   node view_ops.js NODE_MODULES OUT.json RANGE ADDRESS...
//
// RANGE: T0,T1 that the second look is narrowed to. OUT.json: for each address { kernels, ops,
// byName } of the whole, the same of the range, and what went wrong. Exit 77: a part is missing.
'use strict';
const fs = require('fs');
const path = require('path');
const { launch } = require('./browser.js');

const [modules, out, range, ...pages] = process.argv.slice(2);

async function save(page, label) {
	await page.waitForSelector(`section[aria-label="${label}"] [role=gridcell]`);
	await page.waitForTimeout(400);
	const [download] = await Promise.all([page.waitForEvent('download'),
		page.locator(`section[aria-label="${label}"] button:text-is("CSV")`).click()]);

	return fs.readFileSync(await download.path(), 'utf8');
}

async function look(page) {
	const seen = {};

	await page.locator('#tab-kernels').click();
	seen.kernels = await save(page, 'Kernels');
	await page.locator('#tab-ops').click();
	seen.ops = await save(page, 'Ops');
	await page.locator('button:text-is("By name")').click();
	seen.byName = await save(page, 'Ops');
	return seen;
}

/* A kernel that is chosen in the timeline chooses the op that led to it. */
async function kernelToOp(page) {
	await page.evaluate(() => app.source.ask('search', { query: 'cat:kernel', limit: 1, scope: {} })
		.then(f => app.select(f.list[0].id)));
	await page.waitForTimeout(400);
	await page.locator('#tab-ops').click();
	return page.locator('section[aria-label="Details of the op"] h2').innerText();
}

async function main() {
	const browser = await launch(modules, path.dirname(out)), results = [];

	for (const address of pages) {
		const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, acceptDownloads: true });
		const errors = [];

		page.on('console', m => errors.push(`${m.type()}: ${m.text().slice(0, 300)}`));
		page.on('pageerror', e => errors.push(e.message));
		await page.goto(address);
		await page.waitForFunction('window.app');
		const all = await look(page);

		await page.evaluate(r => app.narrow({ label: 'part', ranges: [r] }), range.split(',').map(Number));
		const part = await look(page);

		results.push({ all, part, led: await kernelToOp(page), errors });
		await page.close();
	}
	await browser.close();
	fs.writeFileSync(out, JSON.stringify(results));
}

main().catch(error => {
	console.error(error.stack);
	process.exit(1);
});
