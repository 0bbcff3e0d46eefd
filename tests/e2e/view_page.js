// view_page.js - opens the real page on a real trace, from a server and from one file: it draws, and
// the console stays empty.
//
//   node view_page.js NODE_MODULES HOME ADDRESS...    VIEW_NAME: a slice of the trace (step)
'use strict';
const assert = require('assert');
const { drive, openPage } = require('./browser.js');

async function look(browser, address) {
	const page = await openPage(browser, { viewport: { width: 1300, height: 800 } });
	const complaints = [];

	page.on('console', m => complaints.push(`${m.type()}: ${m.text()}`));
	page.on('pageerror', e => complaints.push(String(e)));
	page.on('request', r => {
		if (!/^(http:\/\/127\.0\.0\.1|file:|data:|blob:)/.test(r.url()))
			complaints.push(`asked for ${r.url()}`);
	});
	await page.goto(address);
	await page.waitForSelector('canvas');
	await page.waitForFunction(name => [...document.querySelectorAll('.name')].some(e => e.title === name),
		process.env.VIEW_NAME || 'step');
	assert.doesNotMatch(page.url(), /token/);
	await page.waitForFunction(() => { // more than its grid is painted, which may come behind the tables
		const canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0];
		const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
		const colours = new Set();

		for (let i = 0; i < pixels.length; i += 4)
			colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
		return colours.size > 3;
	});
	assert.match(await page.title(), /unitrace/);
	assert.deepEqual(complaints, []);
	await page.close();
}

const [modules, home, ...addresses] = process.argv.slice(2);

drive(modules, home, async browser => {
	for (const address of addresses)
		await look(browser, address);
});
