// view_code.js - from a kernel to its code in the viewer, in a headless Chromium.
//
//   node view_code.js NODE_MODULES OUT.json KERNEL ADDRESS...
//
// OUT.json: for each address what a double click on the kernel shows: the table of instructions and that of
// lines as rows, what is said of the heaviest and of one that is picked, notes. Exit 77: a part is missing.
'use strict';
const { axe, card, lookAtAll, save } = require('./viewer.js');
const { settled } = require('./browser.js');

const [modules, out, kernel, ...pages] = process.argv.slice(2);
const CODE = card('The code with its samples');

/* Rows of a table of a card, by key. */
async function rows(page, label) {
	const cells = line => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(,|$)/g)].map(m => m[1].replace(/^"|"$/g, '').replace(/""/g, '"'));
	const [head, ...lines] = (await save(page, label)).trimEnd().split('\n').map(cells);

	return lines.map(l => Object.fromEntries(head.map((k, i) => [k, l[i]])));
}

const text = async (page, selector) => (await page.locator(selector).innerText()).replace(/\u00a0/g, ' ');

async function look(page) {
	const seen = { rows: [] };

	await page.locator('#tab-metrics').click();
	await page.locator(`${card('Kernels')} td`, { hasText: kernel.split('(')[0] }).first().click();
	await page.waitForSelector(`${CODE} button:text-is("Show it")`);
	await settled(page);
	seen.before = await page.locator(`${CODE} [role=gridcell]`).count();
	await page.locator('#tab-memory').click();
	await page.locator(`${card('Kernels')} td`, { hasText: kernel.split('(')[0] }).first().dblclick();
	await page.waitForSelector(`${CODE} [role=gridcell], ${CODE} [role=note]`);
	seen.answer = await page.evaluate(name => app.source.ask('stalls', { name }), kernel);
	seen.notes = await page.locator(`${CODE} [role=note]`).allInnerTexts();
	seen.addresses = await rows(page, 'Instructions');
	if (!seen.notes.length) {
		seen.rows = await rows(page, 'The code with its samples');
		seen.chosen = await text(page, `${CODE} .stallchosen`);
		await page.locator(`${CODE} [role=row]`, { hasText: /STS|EXIT/ }).first().click();
		seen.picked = await text(page, `${CODE} .stallchosen`);
		await page.locator(`${CODE} .seg button:text-is("Source")`).click();
		seen.lines = await rows(page, 'The code with its samples');
		await page.locator(`${CODE} .seg button:text-is("Assembly")`).click();
	}
	seen.axe = await axe(page, modules);
	await page.setViewportSize({ width: 420, height: 800 });
	await settled(page);
	seen.width = await page.evaluate(() => document.documentElement.scrollWidth);
	return seen;
}

lookAtAll(modules, out, pages, look);
