// browser.js - the headless Chromium that the page tests drive. Exit 77: it is not installed.
'use strict';
const fs = require('fs');
const path = require('path');

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

function findPlaywright(modules) {
	try {
		return require(path.join(modules, 'playwright-core'));
	} catch (e) {
		return skip('playwright-core is not installed');
	}
}

/* modules: the folder of playwright-core; home: where it may leave files; more: further flags. */
function launch(modules, home, more = []) {
	return findPlaywright(modules).chromium.launch({ executablePath: findBrowser(),
		args: [...flags, ...more], env: { ...process.env, HOME: home } });
}

module.exports = { launch, skip };
