// view_metrics.js - the tab Metrics of the viewer in a headless Chromium.
//
//   node view_metrics.js NODE_MODULES OUT.json ADDRESS...
//
// OUT.json: for each address the table of kernels as CSV, what is shown of a kernel that is chosen in
// the table and of one that is chosen in the timeline, and what went wrong. Exit 77: a part is missing.
'use strict';
const { card, lookAtAll, save } = require('./viewer.js');
const { settled } = require('./browser.js');

const [modules, out, ...pages] = process.argv.slice(2);

async function texts(page, selector) {
	return (await page.locator(selector).allInnerTexts()).map(t => t.trim());
}

/* All columns, not only those that are shown at first. */
async function allColumns(page) {
	await page.locator(`${card('Kernels')} button:text-is("Columns")`).click();
	const off = page.locator(`${card('Kernels')} .chooser input:not(:checked)`);

	while (await off.count()) await off.first().check();
	await page.locator(`${card('Kernels')} button:text-is("Columns")`).click();
}

async function shown(page) {
	return {
		kernel: await page.locator(`${card('The kernel')} h2`).innerText(),
		verdict: (await texts(page, `${card('The kernel')} .body p`))[0],
		bars: await page.locator(`${card('The kernel')} .plotbar`).count(),
		roof: (await texts(page, `${card('Its place under the roof')} header .muted`))[0] ?? '',
		disc: await page.locator(`${card('Its place under the roof')} .plotpoint.on`).count(),
		counters: await texts(page, `${card('Counters')} h3`),
		lines: await page.locator(`${card('Counters')} path.series`).evaluateAll(all => all.map(p => p.getAttribute('d').length > 0)),
		selected: await texts(page, `${card('Kernels')} tr[aria-selected=true] td:first-child`),
	};
}

/* All that is asked for has been answered. */
async function settle(page, name) {
	await page.waitForFunction(wanted => {
		const kernel = document.querySelector('section[aria-label="The kernel"]');

		return kernel?.querySelector('h2')?.innerText === wanted && kernel.querySelector('dl.kv') &&
			document.querySelector('section[aria-label="Its place under the roof"] .plotpoint') &&
			document.querySelector('section[aria-label="Counters"] svg');
	}, name);
}

const pick = (page, name) => page.locator(`${card('Kernels')} td`, { hasText: name }).first().click();

/* Where a double click on a kernel of the memory's table leads. */
async function opened(page, name, arrived) {
	await page.locator('#tab-memory').click();
	await page.locator(`${card('Kernels')} td`, { hasText: name }).first().dblclick();
	await arrived();
	return page.evaluate(() => [app.tab.value, app.detail.value?.name]);
}

async function look(page) {
	const seen = {};

	await page.locator('#tab-metrics').click();
	await settle(page, 'sgemm_128x256_ffma_tn'); // the longest
	seen.first = await shown(page);
	await allColumns(page);
	seen.csv = await save(page, 'Kernels');
	await pick(page, 'chase(int*)');
	await page.waitForSelector(card('Instructions'));
	await page.waitForFunction(() => app.detail.value?.name === 'chase(int*)');
	await settle(page, 'chase(int*)');
	seen.chase = await shown(page);
	seen.instructions = await save(page, 'Instructions');
	seen.event = await page.evaluate(() => app.detail.value && app.detail.value.name);
	await page.locator('#tab-timeline').click();
	seen.chain = await page.evaluate(() => app.detail.value.chain.map(c => [c.role, c.name, c.at ?? '']));
	await page.waitForSelector(`${card('Metrics')} p`);
	seen.drawer = await texts(page, `${card('Metrics')} p`);
	await page.evaluate(() => app.source.ask('search', { query: 'name:"sgemm_128x256_ffma_tn"', limit: 1, scope: {} })
		.then(f => app.select(f.list[0].id)));
	await page.waitForFunction(() => app.detail.value?.name.startsWith('sgemm'));
	await page.locator('button:text-is("Metrics of this kernel")').click();
	await settle(page, 'sgemm_128x256_ffma_tn');
	await page.waitForSelector(`${card('Its place under the roof')} .plotpoint.on`);
	seen.sgemm = await shown(page);
	seen.opened = await opened(page, 'chase(int*)', () => page.waitForFunction(() => {
		const box = document.querySelector('section[aria-label="Where its instructions wait"]')?.getBoundingClientRect();

		return box && box.top >= 0 && box.bottom <= innerHeight;
	}));
	seen.unsampled = await opened(page, 'sgemm_128x256_ffma_tn', () => page.waitForFunction(
		() => app.tab.value === 'timeline' && app.detail.value?.name !== 'chase(int*)'));
	await page.locator('#tab-metrics').click();
	await page.setViewportSize({ width: 420, height: 800 });
	await settled(page);
	seen.width = await page.evaluate(() => document.documentElement.scrollWidth);
	return seen;
}

/* The page of `unitrace metrics -s`: the code with its samples. */
async function lookAtCode(page) {
	const code = card('The code with its samples');

	await page.waitForSelector(`${code} [role=gridcell]`);
	const lines = await texts(page, `${code} tbody tr[role=row]`);

	await page.locator(`${code} button:text-is("Assembly")`).click();
	await page.waitForFunction(() => document.body.innerText.includes('EXIT ;'));
	return { lines, instructions: await texts(page, `${code} tbody tr[role=row]`),
		reasons: await texts(page, 'section.card h2') };
}

lookAtAll(modules, out, pages, async page => {
	const stalls = await page.evaluate(() => app.info.value.tools.some(t => t.id === 'charts'));

	return stalls ? lookAtCode(page) : look(page);
});
