// pictures.js - pictures of pages, for the guides. tools/pictures.sh runs it.
//
//   node pictures.js NODE_MODULES FOLDER NAME=PAGE[#ADDRESS]...
//
// A page is a file, or an address of a server. Writes FOLDER/NAME.png, the upper part of the page in a
// window of 1100 x 760. Exit 77: a part of this is not installed.
'use strict';
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');
const { launch } = require('../tests/e2e/browser.js');

const [modules, folder, ...pages] = process.argv.slice(2);

if (!folder || modules === '-h' || modules === '--help') { // the comment above
	const header = fs.readFileSync(__filename, 'utf8').split("'use strict'")[0];

	console.log(header.replace(/^\/\/ ?/gm, '').trim());
	process.exit(modules?.startsWith('-') ? 0 : 2);
}

async function main() {
	const browser = await launch(modules, folder);
	const page = await browser.newPage({ viewport: { width: 1100, height: 760 }, colorScheme: 'light' });

	for (const word of pages) {
		const [, name, file, address] = /^([^=]*)=([^#]*)(#.*)?$/.exec(word);

		await page.goto('about:blank'); // another address alone would not open the page again
		await page.goto((/^https?:/.test(file) ? file : pathToFileURL(path.resolve(file)).href) + (address ?? ''));
		await page.waitForLoadState(/^https?:/.test(file) ? 'load' : 'networkidle'); // servers go on telling
		await page.waitForTimeout(1500); // what draws itself piece by piece
		await page.screenshot({ path: path.join(folder, `${name}.png`) });
	}
	await browser.close();
}

main().catch(e => { console.error(e); process.exit(1); });
