// devlog_page.js - opens pages of `unitrace devlog` in a headless Chromium, uses them, and saves
// what they show.
//
//   node devlog_page.js NODE_MODULES OUT.json PAGE_OR_URL...
//
// OUT.json: for each page { lanes: [{chip, core, risc, bars}], before, zoomed, hover, tables, console,
// outside }; for the dashboard { frame, download }. Exit 77: a part of this is not installed.
'use strict';
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const { launch } = require('./browser.js');

const [modules, out, ...pages] = process.argv.slice(2);

/* Where a bar of the view is, as a point of the canvas. */
function pointOfWidest() {
	const { lanes, xOf } = window.devlog;
	let best = null;

	for (const lane of lanes)
		for (const [i, bar] of window.devlog.bars(lane).entries())
			if (bar.kind && lane.y < 500 && (!best || bar.cycles > best.cycles))
				best = { cycles: bar.cycles, label: bar.label, x: xOf(bar.start + bar.cycles / 2),
					y: 24 + lane.y + bar.depth * 9 + 4, i };
	return best;
}

async function read(page, result) {
	await page.waitForFunction(() => window.devlog && window.devlog.ready());
	Object.assign(result, await page.evaluate(() => ({
		lanes: window.devlog.lanes.map(lane => ({ chip: lane.chip.id, core: lane.core, risc: lane.risc,
			bars: window.devlog.bars(lane) })),
		before: { from: window.devlog.view.from, to: window.devlog.view.to, drawn: window.devlog.drawn() },
		tables: document.querySelectorAll('table').length,
		rows: [...document.querySelectorAll('tbody tr')].length })));
}

async function use(page, result) {
	const canvas = page.locator('#timeline');
	const point = await page.evaluate(pointOfWidest);

	if (point) {
		await canvas.hover({ position: { x: point.x, y: point.y } });
		result.hover = { want: point.label, cycles: point.cycles,
			got: await page.locator('#tip').textContent() };
		await page.mouse.wheel(0, -600);
	}
	await page.waitForFunction(() => window.devlog.ready());
	result.zoomed = await page.evaluate(() => ({ from: window.devlog.view.from, to: window.devlog.view.to }));
	await canvas.dblclick({ position: { x: 300, y: 10 } });
	await page.waitForFunction(() => window.devlog.ready());
	result.reset = await page.evaluate(() => ({ from: window.devlog.view.from, to: window.devlog.view.to }));
}

async function main() {
	const browser = await launch(modules, path.dirname(out));
	const results = {};

	for (const name of pages) {
		const url = name.startsWith('http') ? name : pathToFileURL(name).href;
		const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
		const result = results[name] = { console: [], outside: [] };

		page.on('console', m => result.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
		page.on('pageerror', e => result.console.push(`error: ${e.message}`));
		page.on('request', r => {
			if (r.url() !== url && !r.url().startsWith('data:') &&
				!(url.startsWith('http') && r.url().startsWith(url)))
				result.outside.push(r.url());
		});
		const begun = Date.now();

		await page.goto(url);
		if (name.startsWith('http')) {
			result.frame = await page.frameLocator('iframe').locator('h1').textContent();
			const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);

			result.download = { name: download.suggestedFilename(),
				bytes: fs.statSync(await download.path()).size };
		} else {
			await read(page, result);
			await use(page, result);
		}
		result.ms = Date.now() - begun;
		await page.close();
	}
	fs.writeFileSync(out, JSON.stringify(results));
	await browser.close();
}

main().catch(error => {
	console.error(error.message);
	process.exit(1);
});
