// view_live.js - the page of a recording that is under way, in a real browser: it grows, follows until
// it is moved, is never blank meanwhile, says how the program ended, and that the server is gone. Samples
// alone make it grow, too.
//
//   node view_live.js NODE_MODULES HOME UNITRACE STEPS BURN
'use strict';
const assert = require('assert');
const { spawn } = require('child_process');
const { PATIENCE, drive, openPage } = require('./browser.js');

const [modules, home, unitrace, steps, burn] = process.argv.slice(2);
const words = ['begin', 'outer', 'many', '30', 'wait', 'many', '40', 'wait', 'sleep', '300', 'many', '50', 'wait', 'end'];

function record(...what) {
	const p = spawn(unitrace, ['--view', '--no-browser', ...what], { cwd: home });

	p.ended = new Promise(done => p.on('exit', done));
	p.address = new Promise((found, failed) => {
		let heard = '';

		p.stderr.on('data', d => {
			heard += d;
			const match = /http:\S+token=\w+/.exec(heard);

			if (match) found(match[0]);
		});
		p.on('exit', () => failed(new Error(`no address: ${heard}`)));
		setTimeout(() => failed(new Error(`no address: ${heard}`)), PATIENCE).unref();
	});
	return p;
}

/* Counts frames in which nothing is drawn although there was something before. */
function watchPicture() {
	const canvas = [...document.querySelectorAll('canvas')].sort((a, b) => b.width * b.height - a.width * a.height)[0];
	const seen = { frames: 0, blank: 0 };
	const look = () => {
		const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, 40).data,
			colours = new Set();

		for (let i = 0; i < pixels.length; i += 4)
			colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
		seen.frames++;
		if (colours.size < 3) seen.blank++;
		requestAnimationFrame(look);
	};

	window.seen = seen;
	look();
}

async function look(browser, p) {
	const page = await openPage(browser, { viewport: { width: 1300, height: 800 } });
	const complaints = [];
	const until = f => page.waitForFunction(f);
	const pressed = how => page.locator(`[aria-pressed=${how}]`).and(page.getByRole('button', { name: 'Follow' })).waitFor();

	page.on('pageerror', e => complaints.push(String(e)));
	await page.goto(await p.address);
	await until(() => document.querySelector('.crumb')?.innerText.includes('31 slices'));
	assert.match(await page.innerText('.crumb'), /live \d+:\d\d/);
	await pressed(true);
	await until(() => document.body.innerText.includes('31 rows')); // which of them are in sight is up to their times
	await page.evaluate(watchPicture);
	p.stdin.write('\n');
	await until(() => document.querySelector('.crumb')?.innerText.includes('71 slices'));
	await until(() => document.body.innerText.includes('41 rows'));
	await page.locator('canvas').nth(1).hover();
	await page.keyboard.press('w');
	await pressed(false);
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))); // it has zoomed
	const view = () => page.evaluate(() => ({ ...window.app.view.value }));
	const chosen = await view();

	p.stdin.write('\n');
	await until(() => document.querySelector('.crumb')?.innerText.includes('121 slices'));
	assert.deepEqual(await view(), chosen); // the window has stayed
	await page.getByRole('button', { name: 'Follow' }).click();
	await pressed(true);
	p.stdin.write('\n');
	await until(() => document.querySelector('.crumb')?.innerText.includes('recording ended: exit status 0'));
	assert.equal(await page.getByRole('button', { name: 'Follow' }).count(), 0);
	const seen = await page.evaluate(() => window.seen);

	assert.ok(seen.frames > 10, `${seen.frames} frames`);
	assert.equal(seen.blank, 0, `${seen.blank} of ${seen.frames} frames were blank`);
	assert.deepEqual(complaints, []);
	p.kill('SIGTERM');
	await until(() => /unitrace (has ended|does not answer)/.test(document.querySelector('.status')?.innerText ?? ''));
	assert.ok(await page.locator('canvas').first().isVisible());
	assert.equal(await p.ended, 0);
}

/* A program that marks nothing. */
async function lookAtSamples(browser, p) {
	const page = await openPage(browser, { viewport: { width: 1300, height: 800 } });

	await page.goto(await p.address);
	await page.waitForFunction(() => window.app?.info?.value?.samples > 0);
	await page.evaluate(() => { app.tab.value = 'timeline'; });
	await page.waitForFunction(() => app.info.value.live && document.body.innerText.includes('This trace has no slices.'));
	assert.doesNotMatch(await page.innerText('body'), /paused/);
	const before = await page.evaluate(() => app.view.value.t1);

	await page.waitForFunction(t1 => app.view.value.t1 > t1, before);
	p.kill('SIGTERM'); // for the program; the second is for the server
	await page.waitForFunction(() => !app.info.value.live);
	p.kill('SIGTERM');
	await p.ended;
}

async function watch(browser, what, fn) {
	const p = record(...what);

	try {
		await fn(browser, p);
	} finally {
		p.kill('SIGKILL');
	}
}

drive(modules, home, async browser => {
	await watch(browser, [steps, ...words], look);
	await watch(browser, ['--sampling', burn, 'shares', '20000'], lookAtSamples);
});
