// browser.js - the headless Chromium that the page tests drive. Exit 77: it is not installed.
//
//   node browser.js NODE_MODULES HOME
//
// starts one for several scripts and prints its address, which they find in UNITRACE_BROWSER
// (browser_support.py); it ends when its input does.
'use strict';
const fs = require('fs');
const path = require('path');
const { watch } = require('../../web/test/settled.js');

/* ms; every wait is for a condition, and only a fault makes it last this long. */
const PATIENCE = 150000 * (Number(process.env.UNITRACE_PATIENCE) || 1);

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
	'--disable-background-networking', '--disable-component-update', '--disable-sync',
	'--disable-dev-shm-usage'];

function skip(why) {
	console.error(why);
	process.exit(77);
}

function findBrowser() {
	const names = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

	return names.find(name => fs.existsSync(name)) || skip('chromium is not installed');
}

function chromium(modules) {
	try {
		return require(path.join(modules, 'playwright-core')).chromium;
	} catch (e) {
		return skip('playwright-core is not installed');
	}
}

const options = (home, more) => ({ executablePath: findBrowser(), args: [...flags, ...more], env: { ...process.env, HOME: home } });

/* modules: the folder of playwright-core; home: where it may leave files; more: further flags, which take one of its own. */
function launch(modules, home, more = []) {
	const shared = process.env.UNITRACE_BROWSER;

	return shared && !more.length ? chromium(modules).connect(shared) : chromium(modules).launch(options(home, more));
}

/* A window of its own, without cookies. */
async function openPage(browser, how = {}) {
	const context = await browser.newContext({ acceptDownloads: true, ...how });
	const page = await context.newPage();

	context.setDefaultTimeout(PATIENCE);
	await context.addInitScript(watch);
	page.once('close', () => context.close().catch(() => undefined)); // it may be gone with the browser
	return page;
}

/* Until the page, or a frame of it, has nothing left to do. */
async function settled(page) {
	if (!await page.evaluate(limit => window.settled(limit), PATIENCE))
		throw new Error(`it does not settle; pending: ${await page.evaluate(() => [...window.pending].join())}`);
}

/* What a download holds. */
async function saved(download) {
	const parts = [];

	for await (const part of await download.createReadStream()) parts.push(part); // a shared browser knows no path
	return Buffer.concat(parts);
}

/* fn(browser), and the browser is closed, whatever happens; an exit status says that it went wrong. */
function drive(modules, home, fn, more) {
	launch(modules, home, more).then(browser => fn(browser).finally(() => browser.close())).catch(error => {
		console.error(error.stack);
		process.exit(1);
	});
}

module.exports = { PATIENCE, drive, launch, openPage, saved, settled, skip };

if (require.main === module) {
	const [modules, home] = process.argv.slice(2);

	chromium(modules).launchServer(options(home, [])).then(server => {
		console.log(server.wsEndpoint());
		process.stdin.resume().on('end', () => server.close());
	});
}
