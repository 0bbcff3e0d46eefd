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
const { launch } = require('./browser.js');

const [modules, out, name] = process.argv.slice(2);
const places = 'section[aria-label^="Roofline"]';

/* Names of discs that a line goes through. */
function crossed(sel) {
	const points = [...document.querySelectorAll(`${sel} svg path.series`)].flatMap(line =>
		Array.from({ length: Math.ceil(line.getTotalLength() / 4) }, (_, i) => line.getPointAtLength(4 * i)));

	return [...document.querySelectorAll(`${sel} svg text.plotlabel:not([transform])`)].filter(text => {
		const b = text.getBBox();

		return points.some(p => p.x > b.x + 1 && p.x < b.x + b.width - 1 && p.y > b.y + 2 && p.y < b.y + b.height - 3);
	}).map(text => text.textContent);
}

const seen = async page => ({ crossed: await page.evaluate(crossed, places), ...await page.evaluate(sel => ({
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

async function main() {
	const browser = await launch(modules, path.dirname(out));
	const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
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
	await page.waitForTimeout(300);
	result.first = await seen(page);
	await page.locator('[role=grid][aria-label="Kernels"] tbody [role=row]').nth(2).click();
	await page.waitForTimeout(200);
	result.picked = await seen(page);
	const last = await page.evaluate(sel => {
		const all = [...document.querySelectorAll(`${sel} svg circle`)].filter(c => c.querySelector('title'));
		const one = all.findIndex(c => /saxpy/.test(c.textContent));

		all[one].dispatchEvent(new MouseEvent('click', { bubbles: true }));
		return one;
	}, places);
	await page.waitForTimeout(200);
	result.disc = last;
	result.clicked = await seen(page);
	await page.setViewportSize({ width: 420, height: 800 });
	await page.waitForTimeout(400);
	result.narrow = await seen(page);
	await browser.close();
	fs.writeFileSync(out, JSON.stringify(result));
}

main().catch(e => { console.error(e); process.exit(1); });
