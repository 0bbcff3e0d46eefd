// view_hotspots_two.js - samples of two runs in the viewer's tab Hotspots.
//
//   node view_hotspots_two.js NODE_MODULES OUT.json ADDRESS...
//
// OUT.json: for each address the boxes of the flame graph with *Difference* ticked, what each says and its
// colours; and what went wrong. Exit 77: a part is missing.
'use strict';
const { card, lookAtAll } = require('./viewer.js');

const [modules, out, ...pages] = process.argv.slice(2);
const FLAME = '.flame[aria-label="Flame graph of samples"]';

async function look(page) {
	await page.locator('[role=tab]:text-is("Hotspots")').click();
	await page.waitForSelector(`${FLAME} .box`);
	await page.locator(`${card('Samples by stack')} label:has-text("Difference") input`).check();
	await page.waitForSelector(`${FLAME} .box[aria-label*="since before"]`);
	return {
		boxes: await page.locator(`${FLAME} .box`).evaluateAll(all => all.map(b => ({
			say: b.getAttribute('aria-label').replace(/\u202f/g, ' '),
			rgb: getComputedStyle(b).backgroundColor.match(/[\d.]+/g).map(Number),
		}))),
	};
}

lookAtAll(modules, out, pages, look);
