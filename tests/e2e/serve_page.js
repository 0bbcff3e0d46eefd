// serve_page.js - the page of unitrace serve in a real Chromium, done as a person would do it.
//
//   node serve_page.js NODE_MODULES HOME SCENARIO JSON
//
// JSON: {address, ...} as test_serve_page.py gives it. Prints a JSON object of what was measured. What goes
// wrong is told with the step that it happened in, and a picture beside HOME.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const { launch, openPage, settled, skip } = require('./browser.js');

/* What a person does, in words that a person has. */
class Desk {
	constructor(page, values, home) {
		this.page = page;
		this.values = values;
		this.home = home;
		this.complaints = [];
		this.expected = [];
		this.at = 'the beginning';
		page.on('console', m => {
			if (!['info', 'log', 'debug', 'verbose'].includes(m.type()) &&
				!m.text().includes('willReadFrequently')) // that is our looking at pixels
				this.complaints.push(`${this.at}: ${m.type()}: ${m.text()} ${m.location().url}`);
		});
		page.on('response', async r => {
			if (r.status() >= 500)
				this.complaints.push(`${this.at}: ${r.url()}: ${await r.text().catch(String)}`);
		});
		page.on('pageerror', e => this.complaints.push(`${this.at}: ${e.stack}`));
		page.on('dialog', d => {
			this.complaints.push(`${this.at}: a dialog says ${d.message()}`);
			d.dismiss();
		});
		page.on('request', r => {
			if (!r.url().startsWith(values.origin) && !/^(data|blob):/.test(r.url()))
				this.complaints.push(`${this.at}: asked for ${r.url()}`);
		});
	}

	step(text) {
		this.at = text;
	}

	/* Refusals that belong to the step: the browser tells the console of each. */
	expect(...statuses) {
		this.expected.push(...statuses.map(String));
	}

	button(name, exact = false) {
		return this.page.getByRole('button', { name, exact });
	}

	/* Of what was deleted; the viewer has an Undo of its own. */
	undo(name) {
		return this.page.locator('.toast', { hasText: `Deleted ${name}.` }).getByRole('button', { name: 'Undo', exact: true });
	}

	/* One of several that exclude each other. */
	pressed(name) {
		return this.page.locator('[aria-pressed=true]').and(this.button(name, true)).waitFor();
	}

	/* Nothing is under way any more. */
	settled() {
		return settled(this.page);
	}

	/* Has the test do something that a page cannot, and waits until it has. */
	async ask(what) {
		const lines = readline.createInterface({ input: process.stdin });
		const answer = new Promise(done => lines.once('line', done));

		console.log(what);
		await answer;
		lines.close();
	}

	/* What somebody else does meanwhile. */
	async elsewhere(method, what, data) {
		const answer = await this.page.request.fetch(`${this.values.origin}/api/v1/${what}`,
			{ method, data, headers: { 'X-Unitrace': '1' } });

		assert.ok(answer.ok(), `${method} ${what}: ${answer.status()}`);
	}

	/* The next answer to a question is given when it is asked for, and arrives when it is let go. */
	async hold(what) {
		let given, letGo;
		const isGiven = new Promise(done => (given = done)), isLetGo = new Promise(done => (letGo = done));

		await this.page.route(typeof what === 'string' ? `**/api/v1/${what}` : what, async route => {
			const response = await route.fetch();

			given();
			await isLetGo;
			await route.fulfill({ response });
		}, { times: 1 });
		return { isGiven, letGo };
	}

	tab(name) {
		return this.page.locator('.tabs').getByRole('tab', { name });
	}

	label(name, exact = true) {
		return this.page.locator('input, select, textarea').and(this.page.getByLabel(name, { exact }));
	}

	sees(text) {
		return this.page.getByText(text).first().waitFor();
	}

	row(name) {
		return this.page.locator('.rrow', { hasText: name });
	}

	async menu(name, item) {
		await this.button(`Actions for ${name}`, true).click();
		await this.page.getByRole('menuitem', { name: item }).click();
	}

	async newProject(name) {
		await this.button('New project', true).click();
		await this.label('Name').fill(name);
		await this.button('Create').click();
		await this.page.locator('.prow', { hasText: name }).waitFor();
	}

	configure() {
		return this.page.locator('.rail .configure').click();
	}

	analysis(name) {
		return this.page.getByRole('radio', { name, exact: false }).first().click();
	}

	line() {
		return this.page.getByLabel('Equivalent command line').textContent();
	}

	/* The line has the words in it, now or soon. */
	lineHas(text) {
		return this.page.waitForFunction(
			t => document.querySelector('[aria-label="Equivalent command line"]').textContent.includes(t), text);
	}

	async lineLacks(text) {
		await this.page.waitForFunction(
			t => !document.querySelector('[aria-label="Equivalent command line"]').textContent.includes(t), text);
	}

	async idle() {
		await this.page.waitForFunction(() => !document.querySelector('.runstrip'));
	}

	painted() {
		return this.page.waitForFunction(() => {
			const canvas = [...document.querySelectorAll('canvas')]
				.sort((a, b) => b.width * b.height - a.width * a.height)[0];

			if (!canvas || !canvas.width || !canvas.height) return false;
			const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
			const colours = new Set();

			for (let i = 0; i < pixels.length && colours.size <= 3; i += 4)
				colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
			return colours.size > 3;
		});
	}

	/* A picture for people: tests need none. */
	async shot(name) {
		if (process.env.UNITRACE_PICTURES) await this.picture(name);
	}

	picture(name) {
		return this.page.screenshot({ path: path.join(this.home, `${name}.png`) });
	}

	/* Nothing to complain about but what was expected. */
	settle() {
		const left = this.complaints.filter(c => {
			const at = this.expected.findIndex(s => c.includes(`status of ${s}`));

			if (at < 0) return true;
			this.expected.splice(at, 1);
			return false;
		});

		assert.deepEqual(left, []);
	}
}

/* Findings of axe-core that matter, in whatever is shown now; colours only: of what a theme changes. */
async function axe(d, colours = false) {
	await d.settled();
	const found = await d.page.evaluate(async ([source, rules]) => {
		if (!window.axe) (0, eval)(source);
		const { violations } = await window.axe.run(document, { resultTypes: ['violations'], ...rules });

		return violations.filter(v => ['serious', 'critical'].includes(v.impact))
			.map(v => `${v.id}: ${v.nodes.map(n => n.html.slice(0, 160)).join(' | ')}`);
	}, [d.values.axe, colours ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}]).catch(e => [String(e)]);

	assert.deepEqual(found, [], d.at);
}

module.exports = { Desk, axe, assert, fs, path };

async function main() {
	const [modules, home, scenario, json] = process.argv.slice(2);
	const values = JSON.parse(json);
	const scenarios = { ...require('./serve_page_projects.js'), ...require('./serve_page_runs.js'),
		...require('./serve_page_where.js') };

	values.origin = new URL(values.address).origin;
	if (scenario === 'accessible') {
		try {
			values.axe = fs.readFileSync(path.join(modules, 'axe-core/axe.min.js'), 'utf8');
		} catch {
			skip('axe-core is not installed');
		}
	}
	const browser = await launch(modules, home);
	const d = new Desk(await openPage(browser, { viewport: { width: 1440, height: 900 },
		ignoreHTTPSErrors: true, bypassCSP: scenario === 'accessible',
		permissions: ['clipboard-read', 'clipboard-write'] }), values, home);

	d.browser = browser;
	d.context = d.page.context();
	try {
		if (scenarios[scenario].entering) await scenarios[scenario].entering(d);
		await d.page.goto(values.address);
		await d.page.locator('.rail, .entry h1').first().waitFor(); // the token has become a cookie
		const measured = await scenarios[scenario](d);

		d.settle();
		console.log(JSON.stringify(measured ?? {}));
	} catch (e) {
		console.error(`at "${d.at}", ${d.page.url()}\ncomplaints: ${JSON.stringify(d.complaints, null, 1)}`);
		await d.picture('wrong').catch(() => undefined);
		throw e;
	} finally {
		await browser.close();
	}
}

if (require.main === module)
	main().catch(e => {
		console.error(e);
		process.exit(1);
	});
