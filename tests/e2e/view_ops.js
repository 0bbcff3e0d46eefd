// view_ops.js - the tabs Kernels and Ops of the viewer in a headless Chromium.
//
//   node view_ops.js NODE_MODULES OUT.json RANGE ADDRESS...
//
// RANGE: T0,T1 that the second look is narrowed to. OUT.json: for each address { kernels, ops,
// byName } of the whole, the same of the range, and what went wrong. Exit 77: a part is missing.
'use strict';
const { card, lookAtAll, save } = require('./viewer.js');
const { settled } = require('./browser.js');

const [modules, out, range, ...pages] = process.argv.slice(2);

/* Once what was asked for has come. */
async function table(page, label) {
	await settled(page);
	return save(page, label);
}

async function look(page) {
	const seen = {};

	await page.locator('#tab-kernels').click();
	seen.kernels = await table(page, 'Kernels');
	await page.locator('#tab-ops').click();
	seen.ops = await table(page, 'Ops');
	await page.locator('button:text-is("By name")').click();
	seen.byName = await table(page, 'Ops');
	return seen;
}

/* A kernel that is chosen in the timeline chooses the op that led to it. */
async function kernelToOp(page) {
	await page.evaluate(() => app.source.ask('search', { query: 'cat:kernel', limit: 1, scope: {} })
		.then(f => app.select(f.list[0].id)));
	await settled(page);
	await page.locator('#tab-ops').click();
	return page.locator('section[aria-label="Details of the op"] h2').innerText();
}

lookAtAll(modules, out, pages, async page => {
	const all = await look(page);

	await page.evaluate(r => app.narrow({ label: 'part', ranges: [r] }), range.split(',').map(Number));
	return { all, part: await look(page), led: await kernelToOp(page) };
});
