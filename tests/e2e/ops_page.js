// ops_page.js - opens pages of `unitrace ops` in a headless Chromium, uses them, and saves what they
// show.
//
//   node ops_page.js NODE_MODULES OUT.json PAGE...
//
// OUT.json: for each page { lanes: [{name, bars}], drawn, hover, device, zoomed, moved, reset, rows,
// console, outside }. Exit 77: a part of this is not installed.
'use strict';
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const { launch } = require('./browser.js');

const [modules, out, ...pages] = process.argv.slice(2);
const view = page => page.evaluate(() => ({ from: window.ops.view.from, to: window.ops.view.to }));
const ready = page => page.waitForFunction(() => window.ops.ready());

async function read(page, result) {
	await page.waitForFunction(() => window.ops && window.ops.ready());
	Object.assign(result, await page.evaluate(() => ({
		lanes: window.ops.lanes.map(lane => ({ name: lane.name, bars: lane.bars.map(bar =>
			({ code: bar.row['OP CODE'], from: bar.from, to: bar.to, level: bar.level })) })),
		drawn: window.ops.drawn(),
		rows: [...document.querySelectorAll('tbody')].map(body => body.rows.length) })));
}

async function use(page, result) {
	const canvas = page.locator('#timeline'), range = page.locator('#range');
	const point = await page.evaluate(() => {
		const lane = window.ops.lanes[0], bar = lane.bars[0];

		return { x: window.ops.xOf((bar.from + bar.to) / 2), y: 22 + lane.y + bar.level * 16 + 5 };
	});

	await canvas.hover({ position: point });
	result.hover = await page.locator('#tip').textContent();
	result.device = await page.locator('#device').textContent();
	await page.mouse.wheel(0, -600);
	await ready(page);
	result.zoomed = await view(page);
	await range.click({ position: { x: (await range.boundingBox()).width - 4, y: 10 } });
	await ready(page);
	result.moved = await view(page);
	await canvas.dblclick({ position: { x: 300, y: 10 } });
	await ready(page);
	result.reset = await view(page);
}

async function main() {
	const browser = await launch(modules, path.dirname(out));
	const results = {};

	for (const name of pages) {
		const result = results[name] = { console: [], outside: [] };
		const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });

		page.on('console', m => result.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
		page.on('pageerror', e => result.console.push(`error: ${e.message}`));
		page.on('request', r => {
			if (!r.url().startsWith('file:') && !r.url().startsWith('data:'))
				result.outside.push(r.url());
		});
		await page.goto(pathToFileURL(name).href);
		await read(page, result);
		await use(page, result);
		await page.close();
	}
	await browser.close();
	fs.writeFileSync(out, JSON.stringify(results));
}

main().catch(error => {
	console.error(error.message);
	process.exit(1);
});
