// analyze_page.js - the page of `unitrace analyze --html` in a headless Chromium: every tab of analyze
// is used like a reader would, and what it shows is what its sheets say.
//
//   node analyze_page.js NODE_MODULES PAGE.html WANT.json
//
// WANT.json: { step: the row of a step of rank 1, kernels: all rows, hostile: a name in the trace }.
// Exit 77: a part of this is not installed.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { drive, openPage, saved, settled } = require('./browser.js');

const [modules, file, wanted] = process.argv.slice(2);
const want = JSON.parse(fs.readFileSync(wanted, 'utf8'));
const TABS = ['Steps', 'Overlap', 'Stragglers', 'Energy', 'Kernels by rank', 'Trust'];

/* As the page prints times: four digits, one unit. */
function time(ns) {
	const [by, unit] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']].find(([least]) => Math.abs(ns) >= least * 0.99995) || [1, 'ns'];
	const v = ns / by;

	return by === 1 && Number.isInteger(v) ? `${v}\u202fns`
		: `${v.toFixed(Math.max(0, Math.min(3, 3 - Math.floor(Math.log10(Math.abs(v))))))}\u202f${unit}`;
}

async function open(page, title) {
	await page.getByRole('tab', { name: title, exact: true }).click();
	await page.waitForSelector('.page .verdict, .tl');
	await settled(page);
}

const verdict = page => page.locator('.verdict .h').first().innerText();

/* The cells of a grid's rows, by the titles of its columns. */
async function cells(page, label) {
	await page.waitForSelector(`[role=grid][aria-label="${label}"]`); // a tab may still show the one before it
	return page.evaluate(name => {
		const box = [...document.querySelectorAll('[role=grid]')].find(g => g.getAttribute('aria-label') === name);
		const titles = [...box.querySelectorAll('th')].map(t => t.innerText.replace(/[▾▴]/g, '').trim());

		return [...box.querySelectorAll('tbody tr[role=row]')].map(r =>
			Object.fromEntries([...r.querySelectorAll('td')].map((c, i) => [titles[i], c.innerText.trim()])));
	}, label);
}

async function summary(page) {
	assert.match(await verdict(page), /^Rank 1 makes the others wait/);
	const findings = await page.locator('.findings li').allInnerTexts();
	const arrows = findings.find(f => f.includes('have no arrows'));

	// the remedy stands beside what it is about, above the tables
	assert.match(arrows, /Give the files of all ranks with -i/);
	const top = await page.locator('.findings').evaluate(e => e.getBoundingClientRect().top);
	const grid = await page.locator('.grid').first().evaluate(e => e.getBoundingClientRect().top);
	assert.ok(top < grid, `findings at ${top}, tables at ${grid}`);
	const crumb = await page.locator('.crumb').innerText();
	assert.match(crumb, /both\.json/);
	assert.match(crumb, /AIU job, 2 ranks, written \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
	assert.match(await page.getByLabel('What was recorded').innerText(), /AIU job, 2 ranks, written/);
}

async function steps(page) {
	await open(page, 'Steps');
	const rows = await cells(page, 'Steps'), step = want.step;
	const row = rows.find(r => r.Rank === '1' && r.Step === String(step.step));

	assert.equal(row.Length, time(step.length));
	assert.equal(row.Compute, time(step.compute));
	assert.equal(row['Exposed comm.'], time(step.exposed));
	assert.equal(row.Idle, time(step.idle));
	// the bar is as long as its parts: against the longest step, which has the whole width
	const bar = await page.locator('[aria-label=Steps] tbody tr[role=row]', { hasText: time(step.compute) }).first()
		.locator('.pieces').evaluate(e => [...e.children].map(i => i.getBoundingClientRect().width));
	const whole = await page.locator('[aria-label=Steps] .pieces').first().evaluate(e => e.getBoundingClientRect().width);
	assert.ok(Math.abs(bar[0] / bar[1] - step.compute / step.exposed) < 0.1, `${bar}`);
	assert.ok(bar.reduce((a, b) => a + b) <= whole + 0.5);
	assert.equal(await page.locator('.chart').count(), 1);
	// a click selects the step on the tracks of its rank, a double click goes there
	const nth = rows.indexOf(row);
	const line = page.locator('[aria-label=Steps] tbody tr[role=row]').nth(nth);
	await line.click();
	assert.equal(await line.getAttribute('aria-selected'), 'true');
	const area = await page.evaluate(() => ({ ...window.app.area.value,
		ranks: [...new Set(window.app.area.value.tracks.map(t => window.app.byTrack.value.get(t).rank))] }));
	assert.deepEqual([area.t0, area.t1, area.ranks], [step.begin, step.end, [1]]);
	await line.dblclick();
	await page.waitForSelector('canvas');
	assert.equal(await page.evaluate(() => window.app.tab.value), 'timeline');
}

async function timeline(page) {
	await page.waitForFunction(() => /rectangles/.test(document.querySelector('.status').innerText));
	await settled(page);
	const heads = await page.locator('[role=tree]').innerText();
	for (const name of ['rank 0', 'rank 1', 'AIU Device0', 'AIU Device1', 'kernels', 'DMA', 'Power Watts'])
		assert.ok(heads.includes(name), `${name} in ${heads}`);
	const painted = await page.evaluate(() => {
		const canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0];
		const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
		const colours = new Set();

		for (let i = 0; i < pixels.length; i += 4)
			colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
		return colours.size;
	});
	assert.ok(painted > 5, `${painted} colours`);
	// what the area of the step adds up to is what the step says: its kernels compute that long
	const sums = await page.evaluate(async () => {
		const a = await window.app.source.ask('aggregate', { scope: window.app.areaScope.value });
		const at = key => a.slices.data[a.slices.columns.findIndex(c => c.key === key)];

		return at('name').map((name, i) => [name, at('total')[i]]);
	});
	const compute = sums.filter(([name]) => name.endsWith('Cmpt Exec')).reduce((s, [, t]) => s + t, 0);
	assert.equal(compute, want.step.compute);
}

async function others(page) {
	await open(page, 'Overlap');
	assert.match(await verdict(page), /of the time is communication that no kernel hides/);
	assert.equal((await cells(page, 'Overlap')).length, 2);
	await open(page, 'Stragglers');
	assert.match(await verdict(page), /^Rank 1 makes the others wait/);
	const [first, second] = await cells(page, 'Stragglers');
	assert.equal(first.Rank, '1'); // the greatest excess on top
	assert.equal(second['Late by'], '–'); // rank 0 never came last: not measured, not 0
	assert.equal(await page.locator('[aria-label=Stragglers] td.bad').count(), 1);
	assert.match(await page.locator('[aria-label=Stragglers] td.bad').getAttribute('title'), /others wait for it/);
	const fills = await page.locator('[aria-label=Stragglers] .pieces').evaluateAll(all => all.map(e =>
		[...e.children].map(i => getComputedStyle(i).backgroundColor)));
	assert.deepEqual(fills.map(f => f.length), [12, 12]);
	assert.notEqual(fills[0][0], fills[1][0]);
	await open(page, 'Energy');
	assert.match(await verdict(page), /^The job used \d+(\.\d+)?\u202f[mµn]?J/);
	assert.equal((await page.locator('.legend span').allInnerTexts()).join(), 'rank 0,rank 1');
	assert.equal((await cells(page, 'Energy by rank')).length, 2);
	await open(page, 'Trust');
	assert.match(await verdict(page), /can be trusted/);
	assert.equal((await cells(page, 'Issues')).every(r => r['What to do'].length > 10), true);
}

async function kernels(page) {
	await open(page, 'Kernels by rank');
	const rows = await cells(page, 'Kernels by rank');
	const byTotal = [...want.kernels].sort((a, b) => b.total - a.total);

	assert.deepEqual(rows.map(r => r.Total), byTotal.map(k => time(k.total)));
	const head = page.locator('[aria-label="Kernels by rank"] th button', { hasText: 'Kernel' }).first();
	await head.click();
	const names = (await cells(page, 'Kernels by rank')).map(r => r.Kernel);
	assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b)));
	await page.getByLabel('Filter Kernels by rank').fill('ALPHA');
	assert.equal((await cells(page, 'Kernels by rank')).length, 2);
	await page.getByLabel('Filter Kernels by rank').fill('');
	// CSV has the numbers as they are
	const [download] = await Promise.all([page.waitForEvent('download'),
		page.locator('section[aria-label="Kernels by rank"]').getByRole('button', { name: 'CSV' }).click()]);
	const csv = (await saved(download)).toString().trim().split('\n');
	assert.equal(csv.length, want.kernels.length + 1);
	assert.ok(csv[0].includes('total_ns') && csv[0].includes('energy'));
	const alpha = want.kernels.find(k => k.name.startsWith('alpha') && k.rank === 1);
	assert.ok(csv.some(l => l.startsWith(`${alpha.name},1,${alpha.total},`)), csv.join('\n'));
	// the name is there, and is text
	assert.ok((await page.locator('[aria-label="Kernels by rank"]').last().innerText()).includes('onerror'));
}

async function narrow(page) {
	await page.setViewportSize({ width: 420, height: 800 });
	for (const title of ['Summary', ...TABS]) {
		await open(page, title);
		const wide = await page.evaluate(() => document.documentElement.scrollWidth);
		assert.ok(wide <= 420, `${title} is ${wide} wide`);
		assert.ok((await verdict(page)).length > 10);
	}
	await open(page, 'Steps');
	const [row] = await cells(page, 'Steps');
	assert.ok(row.Rank && row.Step && row.Length, JSON.stringify(row));
}

drive(modules, path.dirname(path.resolve(wanted)), async browser => {
	const page = await openPage(browser, { viewport: { width: 1440, height: 1200 }, colorScheme: 'light' });
	const said = [];

	page.on('console', m => said.push(`${m.type()}: ${m.text().slice(0, 300)}`));
	page.on('pageerror', e => said.push(`error: ${e.message}`));
	page.on('dialog', d => said.push(`dialog: ${d.message()}`));
	page.on('request', r => /^(file|data|blob):/.test(r.url()) || said.push(`asked for ${r.url()}`));
	await page.goto(`file://${path.resolve(file)}`);
	await page.waitForSelector('.findings');
	const tabs = await page.getByRole('tab').allInnerTexts();
	assert.deepEqual(tabs.slice(0, 8), ['Summary', ...TABS, 'Timeline']);
	await summary(page);
	await steps(page);
	await timeline(page);
	await others(page);
	await kernels(page);
	await narrow(page);
	await page.emulateMedia({ colorScheme: 'dark' });
	await open(page, 'Stragglers');
	assert.equal(await page.evaluate(() => window.hacked), undefined);
	assert.deepEqual(said, []);
});
