// devlog_page.js - opens pages of `unitrace devlog` in a headless Chromium, uses them, and saves
// what they show.
//
//   node devlog_page.js NODE_MODULES OUT.json all|use|look PAGE_OR_URL...
//
// look: what is seen at first. use: and what is there when it is used. all: and what axe-core says.
// OUT.json: per page what `look` and the functions below it found. Exit 77: a part of this is not
// installed.
'use strict';
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const { drive, openPage, saved, settled } = require('./browser.js');
const viewer = require('./viewer.js');

const [modules, out, how, ...pages] = process.argv.slice(2);
const CELL = '.heat td[data-at]';

/* Texts that are drawn on any canvas, so that labels can be read. */
function listen() {
	const draw = CanvasRenderingContext2D.prototype.fillText;

	window.drawn = [];
	CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
		window.drawn.push(String(text));
		return draw.call(this, text, ...rest);
	};
}

const cells = page => page.$$eval(CELL, all => all.map(td => ({ at: td.dataset.at, text: td.firstChild.textContent,
	label: td.querySelector('.sr').textContent, tone: td.className, selected: td.getAttribute('aria-selected') })));

/* What is seen at first. */
async function look(page, result) {
	await page.waitForSelector(CELL);
	result.firstCells = await page.evaluate(() => performance.now());
	result.title = await page.title();
	result.bar = await page.textContent('.crumb');
	result.tab = await page.textContent('[role=tab][aria-selected=true]');
	result.cells = await cells(page);
	result.tops = await page.evaluate(() => ['.verdict', '.heat'].map(s =>
		document.querySelector(s).getBoundingClientRect().top));
	result.verdict = await page.$eval('.verdict', v => ({ tone: v.className, text: v.textContent }));
	result.grid = await page.getAttribute('.heat [role=grid]', 'aria-label');
	result.legend = await page.$$eval('.heatlegend span', all => all.map(s => s.textContent));
	result.bars = await page.evaluate(async () => {
		const { columns, data, rows } = await window.app.source.ask('list', { scope: {}, limit: 1e6 });
		const at = key => data[columns.findIndex(c => c.key === key)];

		return Array.from({ length: rows }, (_, i) =>
			['name', 'track', 'start', 'dur', 'cat'].map(key => at(key)[i]));
	});
}

/* By op and by RISC; then a core by mouse and by keyboard. */
async function useCores(page, result) {
	const choose = async (nth, value) => {
		await page.locator('label.choose select').nth(nth).selectOption(value);
		await settled(page);
	};
	const options = await page.$$eval('label.choose select', all =>
		all.map(s => [...s.options].map(o => [o.value, o.textContent])));
	const op = options.length - 1, measure = options.length - 2; // a chip may come before them

	result.options = options;
	result.byOp = {};
	for (const [value, text] of options.at(-1).slice(0, 12)) {
		await choose(op, value);
		result.byOp[text] = await cells(page);
	}
	await choose(op, '-1');
	result.byMeasure = {};
	for (const [value, text] of options.at(-2)) {
		await choose(measure, value);
		result.byMeasure[text] = await cells(page);
	}
	await choose(measure, 'kernel');
	await page.locator(CELL).last().click();
	await settled(page);
	result.clicked = { cells: await cells(page), area: await page.evaluate(() => {
		const { app } = window, area = app.area.value;

		return area.tracks.map(t => app.byTrack.value.get(t).name);
	}) };
	await page.locator(CELL).first().focus();
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('Space');
	result.typed = { at: await page.evaluate(() => document.activeElement.dataset.at), cells: await cells(page) };
}

/* The timeline: its rows, colours and labels; a slice there chooses its core here. */
async function useTimeline(page, result) {
	await page.evaluate(() => {
		window.app.clear();
		window.app.tab.value = 'timeline';
		window.drawn.length = 0;
	});
	await page.waitForSelector('.tl canvas');
	await settled(page);
	result.labels = await page.evaluate(() => [...new Set(window.drawn)]);
	result.colours = await page.evaluate(() => {
		const found = new Map();

		for (const canvas of document.querySelectorAll('.tl canvas')) {
			if (!canvas.width || !canvas.height) continue;
			const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;

			for (let i = 0; i < pixels.length; i += 4)
				if (pixels[i + 3] === 255) {
					const hex = `#${[0, 1, 2].map(k => pixels[i + k].toString(16).padStart(2, '0')).join('')}`;

					found.set(hex, (found.get(hex) ?? 0) + 1);
				}
		}
		const style = getComputedStyle(document.documentElement);

		return Object.fromEntries(Array.from({ length: 10 }, (_, i) =>
			[`c${i}`, found.get(style.getPropertyValue(`--c${i}`).trim()) ?? 0]));
	});
	result.heads = await page.$$eval('.hd', all => all.map(h => h.textContent));
	result.scrolls = null;
	if (await page.$('.vbar i')) {
		const thumb = await page.locator('.vbar i').boundingBox();

		await page.mouse.move(thumb.x + 3, thumb.y + 5);
		await page.mouse.down();
		await page.mouse.move(thumb.x + 3, thumb.y + 2000, { steps: 4 });
		await page.mouse.up();
		await settled(page);
		result.scrolls = await page.$eval('[role=scrollbar]', bar => ({ at: Number(bar.getAttribute('aria-valuenow')),
			most: Number(bar.getAttribute('aria-valuemax')) }));
		result.scrolls.heads = await page.$$eval('.hd', all => all.map(h => h.textContent));
	}
	const before = await page.evaluate(() => ({ ...window.app.view.value }));

	await page.keyboard.press('w');
	await settled(page);
	const after = await page.evaluate(() => ({ ...window.app.view.value }));

	result.zoomed = (after.t1 - after.t0) / (before.t1 - before.t0);
	result.chosen = await page.evaluate(async () => {
		const { app } = window, { list } = await app.source.ask('search', { query: 'cat:kernel', limit: 200, scope: {} });
		const one = list.at(-1), track = Math.floor(one.id / 2 ** 32);

		app.select(one.id);
		app.tab.value = 'cores';
		return app.byTrack.value.get(track).name;
	});
	await page.waitForSelector(CELL);
	await settled(page);
	result.chosenCells = (await cells(page)).filter(c => c.selected === 'true').map(c => c.at);
}

async function useTables(page, result) {
	await page.click('[role=tab]:has-text("Durations")');
	await page.waitForSelector('[role=grid][aria-label="Duration Stats Table"]');
	result.tables = await page.evaluate(async () => {
		const { app } = window, ask = name => app.source.ask('sheet', { tool: 'devlog', name });

		return { stats: (await ask('stats')).chips, zones: (await ask('zones')).zones, ops: (await ask('ops')).ops };
	});
	result.shownTables = await page.$$eval('[role=grid]', all => all.map(g =>
		[g.getAttribute('aria-label'), Number(g.getAttribute('aria-rowcount'))]));
	await page.click('[role=tab]:has-text("Summary")');
	await page.waitForSelector('.verdict');
	result.summary = await page.textContent('.page');
}

async function small(page, result) {
	await page.setViewportSize({ width: 420, height: 800 });
	await page.evaluate(() => { window.app.tab.value = 'cores'; });
	await page.waitForSelector(CELL);
	await settled(page);
	result.small = await page.evaluate(cell => ({ wide: document.documentElement.scrollWidth,
		title: document.querySelector('.crumb').textContent.trim().length,
		font: Math.min(...[...document.querySelectorAll(`${cell}, .verdict p`)].map(e => parseFloat(getComputedStyle(e).fontSize))),
		cut: [...document.querySelectorAll(cell)].filter(e => e.scrollWidth > e.clientWidth + 1).length }), CELL);
}

async function axe(page, result) {
	await page.setViewportSize({ width: 1280, height: 900 });
	result.axe = [];
	for (const tab of ['cores', 'durations']) {
		await page.evaluate(t => { window.app.tab.value = t; }, tab);
		result.axe.push(...await viewer.axe(page, modules, ['light', 'dark', 'contrast']));
	}
}

async function served(page, result) {
	await page.waitForSelector(CELL);
	result.links = await page.$$eval('select[aria-label=Files] option', all => all.map(o => o.textContent));
	await Promise.all([page.waitForNavigation(), page.click('button:has-text("Refresh")')]);
	await page.waitForSelector(CELL);
	const [download] = await Promise.all([page.waitForEvent('download'),
		page.selectOption('select[aria-label=Files]', 'download')]);

	result.download = { name: download.suggestedFilename(), bytes: (await saved(download)).length };
	result.cells = await cells(page);
}

async function visit(browser, name, result) {
	const url = name.startsWith('http') ? name : pathToFileURL(name).href;
	const page = await openPage(browser, { viewport: { width: 1280, height: 900 } });

	page.on('console', m => result.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
	page.on('pageerror', e => result.console.push(`error: ${e.message}`));
	page.on('request', r => {
		if (r.url() !== url && !/^(data|blob):/.test(r.url()) &&
			!(url.startsWith('http') && r.url().startsWith(url)))
			result.outside.push(r.url());
	});
	await page.addInitScript(listen);
	await page.goto(url);
	if (name.startsWith('http')) {
		await served(page, result);
	} else {
		await look(page, result);
		if (how === 'look') return page.close();
		if (!name.includes('many')) {
			await useCores(page, result);
			await useTables(page, result);
			if (how === 'all') await axe(page, result);
			await page.evaluate(() => { window.app.theme.value = 'light'; });
		}
		await useTimeline(page, result);
		await small(page, result);
		result.elements = await page.$$eval('img, iframe, b b', all => all.length);
	}
	await page.close();
}

drive(modules, path.dirname(out), async browser => {
	const results = {};

	for (const name of pages) {
		results[name] = { console: [], outside: [] };
		await visit(browser, name, results[name]);
	}
	fs.writeFileSync(out, JSON.stringify(results));
});
