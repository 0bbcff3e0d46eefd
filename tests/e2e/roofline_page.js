// roofline_page.js - opens a page of `unitrace roofline` in a headless Chromium, uses it, and saves what
// it shows.
//
//   node roofline_page.js NODE_MODULES OUT.json PAGE
//
// Exit 77: a part of this is not installed.
'use strict';
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const { drive, openPage, settled } = require('./browser.js');

const [modules, out, name] = process.argv.slice(2);
const places = 'section[aria-label^="Roofline"]';

/* Names of discs that stand on names of lines, which are turned or set to the right. */
function covered(sel) {
	const all = [...document.querySelectorAll(`${sel} svg text.plotlabel`)], isLine = t => t.hasAttribute('transform');
	const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 3 && b.top < a.bottom - 3;

	return all.filter(t => !isLine(t) && all.some(other => isLine(other) && other.textContent &&
		!/rotate\(-/.test(other.getAttribute('transform')) && meet(t.getBoundingClientRect(), other.getBoundingClientRect())))
		.map(t => t.textContent);
}

const seen = async page => ({ covered: await page.evaluate(covered, places), ...await page.evaluate(sel => ({
	tab: document.querySelector('[role=tab][aria-selected=true]').innerText,
	verdict: document.querySelector('.verdict').innerText.replace(/\s+/g, ' '),
	discs: [...document.querySelectorAll(`${sel} svg circle`)].filter(c => c.querySelector('title')).map(c => ({
		x: Number(c.getAttribute('cx')), y: Number(c.getAttribute('cy')), r: Number(c.getAttribute('r')),
		title: c.querySelector('title').textContent })),
	texts: [...document.querySelectorAll(`${sel} svg text`)].map(t => t.textContent),
	rows: [...document.querySelectorAll('[role=grid][aria-label="Kernels"] tbody [role=row]')].map(row => ({
		cells: [...row.querySelectorAll('[role=gridcell]')].map(c => c.innerText.trim()),
		selected: row.getAttribute('aria-selected') === 'true' })),
	levels: [...document.querySelectorAll('[role=grid][aria-label="Levels of memory"] tbody [role=row]')].map(row =>
		row.innerText.split(/\s/)[0]),
	width: document.scrollingElement.scrollWidth,
}), places) });

drive(modules, path.dirname(out), async browser => {
	const page = await openPage(browser, { viewport: { width: 1200, height: 900 } });
	const result = { console: [], outside: [] };

	page.on('console', m => result.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
	page.on('pageerror', e => result.console.push(`error: ${e.message}`));
	page.on('dialog', d => { result.console.push(`dialog: ${d.message()}`); d.dismiss(); });
	page.on('request', r => {
		if (!/^(file|data|blob):/.test(r.url()))
			result.outside.push(r.url());
	});
	await page.goto(pathToFileURL(name).href);
	await page.waitForSelector(`${places} svg circle title`, { state: 'attached' });
	await settled(page);
	result.first = await seen(page);
	await page.locator('[role=grid][aria-label="Kernels"] tbody [role=row]').nth(2).click();
	await settled(page);
	result.picked = await seen(page);
	const last = await page.evaluate(sel => {
		const all = [...document.querySelectorAll(`${sel} svg circle`)].filter(c => c.querySelector('title'));
		const one = all.findIndex(c => /saxpy/.test(c.textContent));

		all[one].dispatchEvent(new MouseEvent('click', { bubbles: true }));
		return one;
	}, places);
	await settled(page);
	result.disc = last;
	result.clicked = await seen(page);
	await page.setViewportSize({ width: 420, height: 800 });
	await settled(page);
	result.narrow = await seen(page);
	fs.writeFileSync(out, JSON.stringify(result));
});
