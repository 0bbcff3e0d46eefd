// view_ranks.js - the tab Ranks of the viewer in a headless Chromium.
//
//   node view_ranks.js NODE_MODULES OUT.json ADDRESS...
//
// OUT.json: for each address the sheet as the page has it, what is written on the tab, where its links
// lead, and what went wrong. Exit 77: a part is missing.
'use strict';
const path = require('path');
const { axe, card, lookAtAll, save } = require('./viewer.js');
const { settled } = require('./browser.js');

const [modules, out, ...pages] = process.argv.slice(2);
const texts = async (page, selector) => (await page.locator(selector).allInnerTexts()).map(t => t.trim());

/* What is selected once a link has led to the timeline. */
async function arrived(page) {
	await page.waitForFunction(() => app.tab.value === 'timeline' && app.detail.value);
	const seen = await page.evaluate(() => ({ name: app.detail.value.name, t: app.detail.value.t, dur: app.detail.value.dur,
		rank: app.byTrack.value.get(app.detail.value.track).rank, view: app.view.value }));

	await page.evaluate(() => app.clear());
	await page.locator('#tab-ranks').click();
	await page.waitForSelector(card('Verdict'));
	return seen;
}

async function look(page, nth) {
	const seen = {};

	await page.locator('#tab-ranks').click();
	await page.waitForSelector(`${card('Who does what to whom')} [role=gridcell]`);
	seen.sheet = await page.evaluate(() => app.source.ask('sheet', { tool: 'ranks', name: 'ranks' }));
	seen.verdict = await texts(page, `${card('Verdict')} p`);
	seen.tiles = await texts(page, '.tiles .tile .tv');
	seen.flagged = await texts(page, '.tiles .tile.warn .tt');
	seen.bars = await page.locator(`${card('Time of each rank')} .plotbar`).count();
	seen.heat = await page.locator(`${card('Who does what to whom')} [role=gridcell]`).evaluateAll(all => all.map(c => c.title));
	seen.along = await page.locator(`${card('Imbalance along the run')} [role=gridcell]`).count();
	await page.locator(`${card('Who does what to whom')} button:text-is("Bytes")`).click();
	await page.waitForFunction(() => [...document.querySelectorAll('[role=gridcell]')].some(c => c.title.startsWith('from ')));
	seen.bytes = await page.locator(`${card('Who does what to whom')} [role=gridcell]`).evaluateAll(all => all.map(c => c.title));
	seen.waits = await save(page, 'What was waited for');
	await page.locator(`[aria-label="Which table"] button:text-is("Messages")`).click();
	await page.waitForFunction(() => document.querySelector('[role=grid][aria-label="Messages"]'));
	seen.matrix = await save(page, 'Tables');
	await page.screenshot({ path: path.join(path.dirname(out), `ranks-${nth}.png`), fullPage: true });
	await page.locator(`${card('Verdict')} button`).click();
	seen.shown = await arrived(page);
	await page.locator(`${card('What was waited for')} [role=row]`).nth(2).dblclick();
	seen.second = await arrived(page);
	const place = page.locator(`${card('Imbalance along the run')} [role=gridcell]`).first();

	await place.focus();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	seen.keys = await arrived(page);
	await page.locator(`${card('Who does what to whom')} [role=gridcell]`).first().click();
	seen.chosen = await page.evaluate(() => app.kept.value.get('ranks.rank'));
	seen.arrows = await page.evaluate(() => app.source.ask('flows', { t0: 0, t1: app.info.value.span, limit: 1000 }).then(f => f.from.t.length));
	seen.axe = await axe(page, modules);
	await page.setViewportSize({ width: 420, height: 800 });
	await settled(page);
	seen.width = await page.evaluate(() => document.documentElement.scrollWidth);
	return seen;
}

/* Several ranks, and nothing that they do to each other. */
async function lookAtNothing(page) {
	await page.locator('#tab-ranks').click();
	await page.waitForSelector('.empty');
	return { empty: await texts(page, '.empty p') };
}

lookAtAll(modules, out, pages, async (page, nth) => {
	const empty = await page.evaluate(() => app.source.ask('sheet', { tool: 'ranks', name: 'ranks' }).then(s => 'nothing' in s));

	return (empty ? lookAtNothing : look)(page, nth);
});
