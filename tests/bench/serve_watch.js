// serve_watch.js - pages of unitrace serve in Chromium that follow a run until it has ended: for bench_serve.py.
//
//   node serve_watch.js NODE_MODULES HOME JSON      {origin, path, cookie: {name, value}, pages}
//
// Prints a JSON list: how often each page has drawn something new, and how many slices it saw in the end.
'use strict';
const { launch } = require('../e2e/browser.js');

async function follow(page, values) {
	await page.goto(`${values.origin}${values.path}`);
	await page.waitForFunction(() => window.app?.info?.value, null, { timeout: 60000 }); // a short run may be over
	await page.evaluate(() => {
		window.seen = 0;
		window.app.info.subscribe(() => window.seen++);
	});
	await page.waitForFunction(() => window.app && !window.app.info.value.live && window.app.info.value.read === undefined,
		null, { timeout: 300000, polling: 250 });
	return page.evaluate(() => ({ grown: window.seen, slices: window.app.info.value.slices }));
}

async function main() {
	const [modules, home, json] = process.argv.slice(2);
	const values = JSON.parse(json);
	const browser = await launch(modules, home);
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });

	await context.addCookies([{ ...values.cookie, url: values.origin }]);
	const pages = await Promise.all(Array.from({ length: values.pages }, () => context.newPage()));

	console.log(JSON.stringify(await Promise.all(pages.map(p => follow(p, values)))));
	await browser.close();
}

main().catch(e => {
	console.error(e);
	process.exit(1);
});
