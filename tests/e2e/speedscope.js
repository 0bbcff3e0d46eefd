// speedscope.js - opens a trace in speedscope, in a headless Chromium, and saves what it read.
//
//   node speedscope.js NODE_MODULES ORACLES TRACE.json OUT.json
//
// NODE_MODULES has playwright-core, ORACLES has speedscope.
//
// OUT.json: { profile: speedscope's own export of what it loaded, console: [...], outside: [...] }.
// Exit 77: a part of this is not installed.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const { PATIENCE, launch, saved, skip } = require('./browser.js');

const [modules, oracles, trace, out] = process.argv.slice(2);
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
	'.json': 'application/json' };

/* speedscope's own files, and the trace as /trace.json. */
function serve(root) {
	return new Promise(resolve => {
		const server = http.createServer((request, response) => {
			const name = new URL(request.url, 'http://x').pathname;
			const file = name === '/trace.json' ? trace :
				path.join(root, path.normalize(name === '/' ? '/index.html' : name));

			fs.readFile(file, (error, data) => {
				response.writeHead(error ? 404 : 200,
					{ 'Content-Type': types[path.extname(file)] || 'application/octet-stream' });
				response.end(data);
			});
		});

		server.listen(0, '127.0.0.1', () => resolve(server));
	});
}

async function main() {
	const root = path.join(oracles, 'speedscope/dist/release');

	if (!fs.existsSync(root))
		skip('speedscope is not installed');
	const server = await serve(root);
	const home = `http://127.0.0.1:${server.address().port}`;
	const browser = await launch(modules, path.dirname(out),
		['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']);
	const page = await browser.newPage({ acceptDownloads: true });
	const result = { console: [], outside: [] };

	page.setDefaultTimeout(PATIENCE);

	page.on('console', m => result.console.push(`${m.type()}: ${m.text().slice(0, 300)}`));
	page.on('pageerror', e => result.console.push(`error: ${e.message}`));
	page.on('request', r => {
		if (!r.url().startsWith(home) && !/^(data|blob):/.test(r.url()))
			result.outside.push(r.url());
	});
	await page.goto(`${home}/#profileURL=${home}/trace.json`);
	await page.getByText('Export').waitFor();
	const download = page.waitForEvent('download');
	await page.getByText('Export').click();
	result.profile = JSON.parse(await saved(await download));
	fs.writeFileSync(out, JSON.stringify(result));
	await browser.close();
	server.close();
}

main().catch(error => {
	console.error(error.message);
	process.exit(1);
});
