// view_hotspots.js - the tab Hotspots of the viewer in a headless Chromium.
//
//   node view_hotspots.js NODE_MODULES OUT.json FUNCTION FROM TO THREAD ADDRESS...
//
// OUT.json: for each address the tables by function, module, line, thread, task and process as CSV; what
// the verdict says; around FUNCTION its callers and callees and its code; the table of functions of the
// time from FROM to TO (ns) alone, and of THREAD alone; what the drawer below the timeline shows of that
// area; and what went wrong. Exit 77: a part is missing.
'use strict';
const fs = require('fs');
const path = require('path');
const { drive, openPage, settled } = require('./browser.js');
const { card, save } = require('./viewer.js');

const [modules, out, fn, from, to, thread, ...pages] = process.argv.slice(2);
const area = { t0: Number(from), t1: Number(to) };

const press = (page, where, title) => page.locator(`${where} button:text-is("${title}")`).first().click();
const boxes = (page, label) => page.locator(`.flame[aria-label="${label}"] .box`).evaluateAll(all =>
	all.map(b => ({ say: b.getAttribute('aria-label'), level: Number(b.getAttribute('aria-level')),
		tone: b.className })));

/* What is shown is of this area: the number of samples above it has changed. */
async function choose(page, of) {
	await page.evaluate(a => {
		const tracks = a.thread && window.app.places.value.filter(p => p.kind === 'thread' && p.name === a.thread)
			.map(p => p.track);

		window.app.setArea(tracks ? { t0: a.t0, t1: a.t1, tracks } : { t0: a.t0, t1: a.t1 });
	}, of);
	await settled(page);
	const seen = { functions: await save(page, 'Hotspots') };

	await page.evaluate(() => window.app.setArea(null));
	await settled(page);
	return seen;
}

async function look(browser, address) {
	const page = await openPage(browser, { viewport: { width: 1300, height: 900 } });
	const seen = { console: [], by: {} };

	page.on('console', m => seen.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
	page.on('pageerror', e => seen.console.push(`error: ${e.message}`));
	await page.goto(address);
	await page.waitForFunction(() => window.app);
	await page.locator('[role=tab]:text-is("Hotspots")').click();
	await page.waitForSelector('.flame[aria-label="Flame graph of samples"] .box');
	seen.verdict = (await page.locator('.verdict').innerText()).replace(/\s+/g, ' ');
	seen.flame = await boxes(page, 'Flame graph of samples');
	for (const [by, title] of [['function', 'Function'], ['own', 'Own code'], ['module', 'Module'], ['line', 'Line'],
		['thread', 'Thread'], ['task', 'Task'], ['process', 'Process']]) {
		await press(page, card('Hotspots'), title);
		await settled(page);
		seen.by[by] = await save(page, 'Hotspots');
	}
	await press(page, card('Hotspots'), 'Function');
	for (const order of ['Top-down', 'Bottom-up']) {
		await press(page, card('Samples by stack'), order);
		await settled(page);
		seen[order] = await save(page, 'Samples by stack');
	}
	await press(page, card('Samples by stack'), 'Flame graph');
	await page.locator('.flame[aria-label="Flame graph of samples"] .box', { hasText: fn }).first().click();
	await page.waitForSelector(card('Callers and callees'));
	seen.around = await page.locator(`${card('Callers and callees')} header`).innerText();
	seen.callers = await boxes(page, 'Callers of samples');
	seen.callees = await boxes(page, 'Callees of samples');
	seen.source = await save(page, 'Code');
	await press(page, card('Code'), 'Assembly');
	await settled(page);
	seen.assembly = (await page.locator(`${card('Code')} [role=gridcell]`).count()) ? await save(page, 'Code') : '';
	seen.narrow = await choose(page, area);
	seen.thread = await choose(page, { t0: 0, t1: 1e15, thread });
	await page.evaluate(a => {
		window.app.setArea(a);
		window.app.tab.value = 'timeline';
		window.app.drawer.value = true;
		window.app.drawerTab.value = 'samples';
	}, area);
	await page.waitForSelector('.flame[aria-label="Flame graph of the area\'s samples"] .box');
	seen.drawer = await boxes(page, "Flame graph of the area's samples");
	/* the first sample of the area: its stack */
	await page.evaluate(async a => {
		const place = window.app.places.value.find(p => p.kind === 'thread' && p.lanes.some(l => l.kind === 'marks')),
			lane = place.lanes.findIndex(l => l.kind === 'marks'),
			ref = await window.app.source.ask('at', { track: place.track, lane, t: (a.t0 + a.t1) / 2, slack: 1e9 });

		window.app.select(ref.id);
	}, area);
	await page.waitForSelector('section[aria-label="Stack"] li');
	seen.stack = (await page.locator('section[aria-label="Stack"] li').allInnerTexts()).map(t => t.split(/\s/)[0]);
	await page.close();
	return seen;
}

drive(modules, path.dirname(out), async browser => {
	const result = [];

	for (const address of pages)
		result.push(await look(browser, address));
	fs.writeFileSync(out, JSON.stringify(result));
});
