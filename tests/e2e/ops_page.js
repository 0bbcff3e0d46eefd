// ops_page.js - opens pages of `unitrace ops` in a headless Chromium, uses them, and saves what they
// show.
//
//   node ops_page.js NODE_MODULES OUT.json PAGE...
//
// OUT.json: for each page what read(), use() and narrow() put into it. Exit 77: a part of this is
// not installed.
'use strict';
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const { drive, openPage, saved, settled } = require('./browser.js');

const [modules, out, ...pages] = process.argv.slice(2);
const table = '[role=grid][aria-label="Every op"]';

/* The rows that are in the page, as they are seen. */
const rows = page => page.evaluate(sel => [...document.querySelectorAll(`${sel} tbody [role=row]`)].map(row => ({
	cells: [...row.querySelectorAll('[role=gridcell]')].map(c => c.innerText.trim()),
	selected: row.getAttribute('aria-selected') === 'true',
	height: row.getBoundingClientRect().height })), table);

async function save(page) {
	const [download] = await Promise.all([page.waitForEvent('download'),
		page.locator('section[aria-label=Ops] button:text-is("CSV")').click()]);

	return (await saved(download)).toString();
}

/* What stands there at once. */
async function read(page, result) {
	await page.waitForSelector(`${table} [role=gridcell]`);
	await settled(page);
	result.rows = await rows(page);
	Object.assign(result, await page.evaluate(sel => {
		const box = document.querySelector(sel);
		const flat = e => e.innerText.replace(/\s+/g, ' ').trim();

		return {
			tabs: [...document.querySelectorAll('[role=tablist][aria-label="Views of this trace"] [role=tab]')].map(flat),
			tab: document.querySelector('[role=tab][aria-selected=true]').innerText,
			crumb: flat(document.querySelector('.crumb')),
			verdict: flat(document.querySelector('.verdict') ?? document.createElement('p')),
			tiles: [...document.querySelectorAll('.tile')].map(flat),
			heads: [...box.querySelectorAll('th')].map(flat),
			flags: [...box.querySelectorAll('td.warn, td.bad')].map(td => [flat(td), td.title]),
			cut: [...box.querySelectorAll('td .name')].filter(n => n.scrollWidth > n.clientWidth + 1).map(flat),
			scroll: { style: getComputedStyle(box).overflowY, more: box.scrollHeight - box.clientHeight },
			rowCount: Number(box.getAttribute('aria-rowcount')) - 1,
		};
	}, table));
}

/* Every column chosen, and the file that is then saved. */
async function chooseAll(page, result) {
	await page.locator('section[aria-label=Ops] button:text-is("Columns")').click();
	const boxes = page.locator('.chooser input[type=checkbox]');

	result.columns = await boxes.count();
	for (let i = 0; i < result.columns; i++)
		await boxes.nth(i).check();
	result.csv = await save(page);
	result.tall = Math.max(...(await rows(page)).map(r => r.height));
}

/* From a row to the timeline and back; with a slice there chosen, to its row. */
async function use(page, result) {
	const state = () => page.evaluate(() => ({ tab: app.tab.value, name: app.detail.value?.name,
		t: app.detail.value?.t, dur: app.detail.value?.dur,
		place: app.byTrack.value.get(app.detail.value?.track)?.kind }));

	await page.locator(`${table} tbody [role=row]`).first().click();
	await settled(page);
	result.picked = await state();
	result.details = await page.locator('section[aria-label="Details of the op"]').innerText();
	await page.locator(`${table} tbody [role=row]`).first().dblclick();
	await settled(page);
	result.opened = await state();
	result.drawer = await page.locator('.drawer .pane').last().innerText();
	await page.locator('canvas').first().focus();
	await page.keyboard.press(']');
	await settled(page);
	result.followed = await state();
	await page.keyboard.press('0');
	await settled(page);
	result.drawn = await page.evaluate(() => Number(/^([\d\s]+) rectangles?/.exec(app.status.value)?.[1].replace(/\s/g, '')));
	result.arrows = await page.evaluate(() => app.source.ask('flows', { t0: 0, t1: app.info.value.span + 1, limit: 1e6 })
		.then(f => f.from.t.map((t, i) => [t, f.to.t[i]])));
	result.places = await page.evaluate(() => app.places.value.map(p => [p.kind, p.name]));
	await page.evaluate(() => app.step(1, 'track'));
	await settled(page);
	result.stepped = await state();
	await page.locator('#tab-ops').click();
	await page.waitForSelector(`${table} [role=gridcell]`);
	await settled(page);
	result.back = (await rows(page)).map((r, i) => r.selected ? i : -1).filter(i => i >= 0);
	await page.locator('button:text-is("By name")').click();
	await settled(page);
	result.byName = await save(page);
}

async function narrow(page, result) {
	await page.setViewportSize({ width: 420, height: 800 });
	await settled(page);
	result.narrow = await page.evaluate(() => ({ width: document.scrollingElement.scrollWidth,
		about: document.querySelector('p.narrow').innerText,
		heads: [...document.querySelectorAll('[aria-label="Ops by name"] th')].filter(h => h.offsetWidth)
			.map(h => h.innerText.trim()),
		wide: [...document.querySelectorAll('.page > *')].map(e => Math.round(e.getBoundingClientRect().right)) }));
}

drive(modules, path.dirname(out), async browser => {
	const results = {};

	for (const name of pages) {
		const result = results[name] = { console: [], outside: [] };
		const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });

		page.on('console', m => result.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
		page.on('pageerror', e => result.console.push(`error: ${e.message}`));
		page.on('dialog', d => { result.console.push(`dialog: ${d.message()}`); d.dismiss(); });
		page.on('request', r => {
			if (!/^(file|data|blob):/.test(r.url()))
				result.outside.push(r.url());
		});
		await page.goto(pathToFileURL(name).href);
		await read(page, result);
		await use(page, result);
		await page.locator('button:text-is("Every call")').click();
		await chooseAll(page, result);
		await page.locator('button:text-is("By name")').click();
		await narrow(page, result);
		await page.close();
	}
	fs.writeFileSync(out, JSON.stringify(results));
});
