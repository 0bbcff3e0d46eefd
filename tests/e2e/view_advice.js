// view_advice.js - what the Summary says to do first, in a headless Chromium.
//
//   node view_advice.js NODE_MODULES OUT.json ADDRESS...
//
// OUT.json: for each address the verdict, what else is said, where its link leads, what went wrong. Exit 77:
// a part is missing.
'use strict';
const { lookAtAll } = require('./viewer.js');
const { settled } = require('./browser.js');

const [modules, out, ...pages] = process.argv.slice(2);
const texts = async (page, selector) => (await page.locator(selector).allInnerTexts()).map(t => t.trim().replace(/\u202f/g, ' '));

async function look(page) {
	await page.locator('#tab-summary').click();
	await page.waitForSelector('section[aria-label="Verdict"] .h');
	const seen = { verdict: await texts(page, 'section[aria-label="Verdict"] .h'), why: await texts(page, 'section[aria-label="Verdict"] .e'),
		others: await texts(page, '.findings .fs'), flags: await texts(page, '.tile.bad') };

	await page.locator('section[aria-label="Verdict"] button').click();
	await page.waitForFunction(() => app.tab.value !== 'summary');
	await settled(page);
	return { ...seen, ...await page.evaluate(() => ({ tab: app.tab.value, view: app.view.value, selected: app.detail.value?.name ?? null })) };
}

lookAtAll(modules, out, pages, look);
