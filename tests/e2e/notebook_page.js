// notebook_page.js - what cells of a notebook show, in a real page: frames draw their trace at the
// window asked for, keep to themselves, ask no network, and complain of nothing.
//
//   node notebook_page.js NODE_MODULES HOME OUT.json PAGE...
'use strict';
const fs = require('fs');
const { pathToFileURL } = require('url');
const { drive, openPage, settled } = require('./browser.js');

async function look(browser, file) {
	const page = await openPage(browser, { viewport: { width: 1200, height: 900 } });
	const seen = { complaints: [], frames: [] };

	page.on('console', m => seen.complaints.push(`${m.type()}: ${m.text()}`));
	page.on('pageerror', e => seen.complaints.push(String(e)));
	page.on('request', r => {
		if (!/^(file:|data:|blob:|about:)/.test(r.url())) seen.complaints.push(`asked for ${r.url()}`);
	});
	await page.goto(pathToFileURL(file).href);
	await page.waitForSelector('iframe');
	for (const element of await page.$$('iframe')) {
		const frame = await element.contentFrame();

		await frame.waitForSelector('canvas');
		await settled(frame);
		seen.frames.push({
			sandbox: await element.getAttribute('sandbox'),
			hash: await frame.evaluate(() => location.hash),
			tab: await frame.evaluate(() => document.querySelector('[role=tab][aria-selected=true]').innerText),
			text: await frame.evaluate(() => document.body.innerText),
			origin: await frame.evaluate(() => self.origin),
			reaches: await frame.evaluate(() => {
				try {
					return Boolean(parent.document.body);
				} catch {
					return false;
				}
			}),
			colours: await frame.evaluate(() => {
				const colours = new Set();

				for (const canvas of document.querySelectorAll('canvas')) {
					const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);

					for (let i = 0; i < data.length; i += 4)
						colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
				}
				return colours.size;
			}),
		});
	}
	seen.tables = await page.$$eval('table', all => all.map(t => t.innerText));
	await page.close();
	return seen;
}

const [modules, home, out, ...files] = process.argv.slice(2);

drive(modules, home, async browser => {
	const all = [];

	for (const file of files) all.push(await look(browser, file));
	fs.writeFileSync(out, JSON.stringify(all));
});
