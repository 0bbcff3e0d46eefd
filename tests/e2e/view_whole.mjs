// view_whole.mjs - what a page that lacks slices says of the whole trace, and of its second half, as JSON.
//
//   node view_whole.mjs NODE_MODULES PAGE.html WEB
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inflateSync } from 'node:zlib';

const [modules, page, web] = process.argv.slice(2);
const machine = readdirSync(path.join(modules, '@esbuild'))[0];
const built = execFileSync(path.join(modules, '@esbuild', machine, 'bin/esbuild'),
	['--bundle', '--format=esm', '--log-level=error', '--loader=ts'],
	{ cwd: path.resolve(web, 'src'), input: "export { Engine } from './engine/engine'; export { readContainer } from './engine/container';" });
const { Engine, readContainer } = await import('data:text/javascript;base64,' + built.toString('base64'));
const packed = /id="trace">([^<]*)</.exec(readFileSync(page, 'utf8'))[1];
const engine = new Engine(readContainer(new Uint8Array(inflateSync(Buffer.from(packed, 'base64')))));
const info = engine.answer('info', {});

function rows(scope) {
	const t = engine.answer('aggregate', { scope }).slices;

	return Array.from({ length: t.rows }, (_, i) => Object.fromEntries(t.columns.map((c, k) => [c.key, t.data[k][i]])));
}

const whole = rows({}), names = engine.answer('types', { first: 0 }).names;

console.log(JSON.stringify({
	thinned: info.thinned === true,
	slices: info.slices,
	whole: whole.map(r => ({ ...r, typeName: names[r.type], longestName: engine.answer('detail', { id: r.longest })?.name })),
	half: rows({ ranges: [[Math.floor(info.span / 2), info.span]] }),
}));
