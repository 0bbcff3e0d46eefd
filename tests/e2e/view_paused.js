// view_paused.js - a recording with a pause in a real browser: hatched where nothing was recorded on
// purpose, from the moment of the pause to that of the resumption, and nowhere else.
//
//   node view_paused.js NODE_MODULES HOME ADDRESS
'use strict';
const assert = require('assert');
const { drive, openPage, settled } = require('./browser.js');

/* Shares of pixels that are not the background, just above the lower edge of the canvas: before, in and behind the pause. */
function marked() {
	const [begin, end] = app.info.value.paused.sort((a, b) => b[1] - b[0] - (a[1] - a[0]))[0],
		canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0],
		ratio = canvas.width / canvas.clientWidth, strip = 60,
		pixels = canvas.getContext('2d').getImageData(0, canvas.height - strip, canvas.width, strip);
	const share = (from, to) => {
		let other = 0, all = 0;
		const x0 = Math.max(0, Math.ceil(from * ratio) + 2), x1 = Math.min(canvas.width, Math.floor(to * ratio) - 2);
		const colour = (x, y) => [0, 1, 2].map(i => pixels.data[4 * (y * canvas.width + x) + i]).join();
		const seen = new Map();

		for (let y = 0; y < strip; y++)
			for (let x = x0; x < x1; x++, all++) seen.set(colour(x, y), (seen.get(colour(x, y)) ?? 0) + 1);
		other = all - Math.max(0, ...seen.values());
		return all ? other / all : 0;
	};
	const a = timeline.xOf(begin), b = timeline.xOf(end);

	return { before: share(0, a), inside: share(a, b), behind: share(b, canvas.clientWidth), seconds: (end - begin) / 1e9 };
}

const [modules, home, address] = process.argv.slice(2);

drive(modules, home, async browser => {
	const page = await openPage(browser, { viewport: { width: 1300, height: 800 } });

	await page.goto(address);
	await page.waitForFunction(() => window.app?.info?.value && window.timeline);
	await page.evaluate(() => { app.tab.value = 'timeline'; });
	await page.waitForSelector('canvas');
	await settled(page);
	const seen = await page.evaluate(marked);

	console.log(JSON.stringify(seen));
	assert.ok(seen.inside > 0.05, 'the pause is hatched');
	assert.ok(seen.before < 0.03 && seen.behind < 0.03, 'nothing else is');
	assert.ok(seen.seconds > 0.55 && seen.seconds < 30, 'it lasts as long as it was told');
});
