// pages.ts - the page in a real Chromium, driven as a person would drive it.
//
//   node pages.mjs NODE_MODULES OUT [benchmark|PART OF A CHECK'S NAME]
//
// Exit 77: a part of this is not installed.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { benchmark } from './benchmark';
import { checks } from './checks';
import type { Browser } from './driver';
import { hostile, oneCategory, training, twoRuns, type Made } from './synth';
import { module, packed } from './utr';

const [modules, out, what] = process.argv.slice(2);
const flags = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	'--disable-dev-shm-usage',
	'--enable-precise-memory-info',
];

function skip(why: string): never {
	console.error(`SKIP: ${why}`);
	process.exit(77);
}

/* What `unitrace export -o run.html` writes: one file, nothing else is loaded. */
export function onePage(parts: Made, before?: Made): string {
	const js = readFileSync(path.join(out, 'app.js'), 'utf8')
		.replace(/<\/(script)/gi, '<\\/$1')
		.replace(/<!--/g, '<\\!--');
	const css = readFileSync(path.join(out, 'app.css'), 'utf8');
	const element = (id: string, p?: Made) =>
		p ? `<script type="application/octet-stream" id="${id}">${packed(p)}</script>` : '';

	const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
	const policy = `default-src 'none'; script-src ${hash(js)} 'wasm-unsafe-eval'; worker-src blob:; style-src ${hash(css)}; img-src data:`;

	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width,initial-scale=1"><title>unitrace</title><style>${css}</style></head><body><div id="page"></div>${element('trace', parts)}<script type="application/octet-stream" id="module">${module().toString('base64')}</script>${element('before', before)}<script id="app">${js}</script></body></html>`;
}

async function main(): Promise<void> {
	const browser =
		['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync) ??
		skip('chromium is not installed (tools/setup.sh test)');
	const from = createRequire(path.resolve(modules, 'x.js'));
	let chromium: { launch(o: object): Promise<Browser> };

	try {
		({ chromium } = from('playwright-core') as { chromium: typeof chromium });
	} catch {
		skip('playwright-core is not installed (tools/setup.sh test)');
	}
	const folder = path.resolve(out, 'pages');

	mkdirSync(folder, { recursive: true });
	const page = (name: string, parts: Made, before?: Made): string => {
		writeFileSync(path.join(folder, `${name}.html`), onePage(parts, before));
		return pathToFileURL(path.join(folder, `${name}.html`)).href;
	};
	const b = await chromium!.launch({
		executablePath: browser,
		args: flags,
		env: { ...process.env, HOME: folder },
	});

	try {
		if (what === 'benchmark') await benchmark(b, path.resolve(out));
		else
			await checks({
				browser: b,
				out: path.resolve(out),
				folder,
				only: what ?? '',
				axe: axe(from),
				training: page('training', training(4, 24)),
				hostile: page('hostile', hostile()),
				two: page('two', ...twoRuns()),
				plain: page('plain', oneCategory()),
			});
	} finally {
		await b.close();
	}
}

function axe(from: NodeJS.Require): string | null {
	try {
		return readFileSync(from.resolve('axe-core/axe.min.js'), 'utf8');
	} catch {
		return null;
	}
}

main().catch(e => {
	console.error(e);
	process.exit(1);
});
