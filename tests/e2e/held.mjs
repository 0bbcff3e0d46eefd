// held.mjs - who answers inside a page that holds its trace, opened without a browser.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/* What modules of web/src export; modules: NODE_MODULES with esbuild. */
export async function load(modules, web, exports) {
	const machine = readdirSync(path.join(modules, '@esbuild'))[0];
	const built = execFileSync(path.join(modules, '@esbuild', machine, 'bin/esbuild'),
		['--bundle', '--format=esm', '--log-level=error', '--loader=ts'],
		{ cwd: path.resolve(web, 'src'), input: exports });

	return import('data:text/javascript;base64,' + built.toString('base64'));
}

const element = (html, id) => new RegExp(`id="${id}">([^<]*)<`).exec(html)[1];

/* The trace of a page, which answers as the page itself would. */
export async function openPage(modules, web, page) {
	const { open } = await load(modules, web, "export { open } from './inline/inline';");
	const html = readFileSync(page, 'utf8');

	return open({ trace: element(html, 'trace'), module: element(html, 'module') });
}
