// view_torn.js - slices that never ended, in a real browser: their right end frays where it can be seen, in
// every theme, and the ends of others do not.
//
//   node view_torn.js NODE_MODULES HOME ADDRESS...
'use strict';
const assert = require('assert');
const { drive, openPage, settled } = require('./browser.js');

/* How often the colour changes in the last 30 pixels before the end of each slice, or of the canvas; by name. */
function edges() {
	const canvas = document.querySelector('canvas.main'), ratio = canvas.width / canvas.clientWidth, seen = {};

	for (const row of timeline.layout.rows)
		for (const lane of row.lanes) {
			const y = Math.round((row.y - timeline.scroll + lane.y + 2) * ratio);
			const window = timeline.data.get(lane.track, lane.lane, app.view.value);

			for (let i = window.first; i < window.last && !lane.mark; i++) {
				const end = Math.min(canvas.width, Math.round(timeline.xOf(window.of.start[i] + window.of.length[i]) * ratio));
				const line = canvas.getContext('2d').getImageData(end - 30, y, 28, 1).data;
				let changes = 0;

				for (let x = 4; x < line.length; x += 4)
					changes += [0, 1, 2].some(k => line[x + k] !== line[x + k - 4]);
				seen[app.types.label(window.of.type[i])] = changes;
			}
		}
	return seen;
}

async function look(browser, address) {
	const page = await openPage(browser, { viewport: { width: 1300, height: 800 } });
	const shown = async (t0, t1) => {
		await page.evaluate(([a, b]) => app.show(a, b), [t0, t1]);
		await settled(page);
		return page.evaluate(edges);
	};

	await page.goto(address);
	await page.waitForFunction(() => window.app?.info?.value);
	await page.evaluate(() => { app.tab.value = 'timeline'; });
	await page.waitForFunction(() => window.timeline?.layout.rows.length > 2);
	for (const theme of ['light', 'dark', 'contrast']) {
		await page.evaluate(t => { app.theme.value = t; }, theme);
		const all = await shown(0, 200000), cut = await shown(60000, 90000);

		for (const name of ['main', 'request', 'stuck']) {
			assert.ok(all[name] >= 4, `${theme}: ${name} frays: ${JSON.stringify(all)}`);
			assert.ok(cut[name] <= 1, `${theme}: ${name} goes on: ${JSON.stringify(cut)}`);
		}
		for (const name of ['query', 'whole']) assert.ok(all[name] <= 1, `${theme}: ${name} ended: ${JSON.stringify(all)}`);
	}
	await page.close();
}

const [modules, home, ...addresses] = process.argv.slice(2);

drive(modules, home, async browser => {
	for (const address of addresses) await look(browser, address);
});
