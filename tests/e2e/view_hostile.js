// view_hostile.js - opens a trace full of hostile names in the real page, from the real server, and
// looks at every tab: the names are text, the console stays empty, nothing is asked for elsewhere.
//
//   node view_hostile.js NODE_MODULES HOME ADDRESS
'use strict';
const assert = require('assert');
const { drive, openPage, settled } = require('./browser.js');

const TURNS = /[\u202a-\u202e\u2066-\u2069]/;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/;

async function tab(page, name) {
	await page.getByRole('tab', { name, exact: true }).click();
	await settled(page);
	const text = await page.evaluate('document.querySelector("#page").textContent');

	assert.ok(text.length < 300000, `${name}: ${text.length} characters of text`);
	assert.doesNotMatch(text, TURNS, name);
	assert.doesNotMatch(text, CONTROLS, name);
	assert.equal(await page.locator('#page img, #page script, #page iframe, #page b b').count(), 0, name);
	assert.equal(await page.evaluate('window.hacked'), undefined, name);
}

async function look(page) {
	const ids = await page.evaluate(
		'app.source.ask("search", { query: "", limit: 100, scope: {} }).then(f => f.list.map(h => h.id))');

	for (const name of ['Timeline', 'Summary', 'Flame graph', 'Find zone', 'Compare', 'SQL', 'Log'])
		await tab(page, name);
	await page.getByRole('tab', { name: 'Timeline', exact: true }).click();
	for (const id of ids) {
		await page.evaluate(`app.select(${id}, true)`);
		await page.waitForFunction(wanted => app.detail.value?.id === wanted, id);
	}
	await page.evaluate('app.search("<img")');
	await page.waitForFunction(() => app.hits.value.count > 0 && !app.hits.value.busy);
	await tab(page, 'Timeline');
	return ids.length;
}

const [modules, home, address] = process.argv.slice(2);

drive(modules, home, async browser => {
	const complaints = [], page = await openPage(browser, { viewport: { width: 1300, height: 800 } });

	page.on('console', m => complaints.push(`${m.type()}: ${m.text()}`));
	page.on('pageerror', e => complaints.push(String(e)));
	page.on('dialog', d => complaints.push(`dialog: ${d.message()}`));
	page.on('request', r => {
		if (!/^(http:\/\/127\.0\.0\.1|data:)/.test(r.url()))
			complaints.push(`asked for ${r.url()}`);
	});
	await page.goto(address);
	await page.waitForSelector('canvas');
	assert.ok(await look(page) > 10);
	assert.deepEqual(complaints, []);
});
