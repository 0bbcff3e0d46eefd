// bundle.mjs - makes the page, its tests and its benchmark from web/. tools/web.sh runs it.
//
//   node web/bundle.mjs NODE_MODULES OUT page|test|bench
import { createRequire } from 'node:module';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const [modules, out, ...what] = process.argv.slice(2);
const esbuild = createRequire(path.resolve(modules, 'x.js'))('esbuild');
const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const LIMIT = 120 * 1024;
const shared = {
	bundle: true,
	nodePaths: [path.resolve(modules)],
	jsx: 'automatic',
	jsxImportSource: 'preact',
	target: 'es2022',
	charset: 'utf8',
	legalComments: 'none',
	logLevel: 'warning',
	define: { 'process.env.NODE_ENV': '"production"' },
};

/* One script and one style; what they weigh when sent is the budget of the whole page. */
async function page() {
	const result = await esbuild.build({
		...shared,
		entryPoints: { app: `${here}/src/main.tsx` },
		outdir: out,
		format: 'iife',
		minify: true,
		write: true,
		metafile: true,
		charset: 'ascii',
	});
	let total = 0;

	for (const file of result.metafile ? Object.keys(result.metafile.outputs) : []) {
		const { readFileSync } = await import('node:fs');
		const bytes = gzipSync(readFileSync(file), { level: 9 });

		total += bytes.length;
		writeFileSync(`${file}.gz`, bytes);
		console.log(`${path.basename(file)}: ${(bytes.length / 1024).toFixed(1)} KiB gzipped`);
	}
	if (total > LIMIT) throw new Error(`the page weighs ${total} bytes gzipped, more than ${LIMIT}`);
}

async function test() {
	const files = readdirSync(`${here}/test`).filter(
		f => f.endsWith('.test.ts') || f === 'serve.ts' || f === 'pages.ts',
	);

	await esbuild.build({
		...shared,
		entryPoints: files.map(f => `${here}/test/${f}`),
		outdir: `${out}/test`,
		format: 'esm',
		platform: 'node',
		outExtension: { '.js': '.mjs' },
		sourcemap: 'inline',
		target: 'node20',
		external: ['playwright-core', 'axe-core'],
	});
}

async function bench() {
	await esbuild.build({
		...shared,
		entryPoints: { bench: `${here}/bench/bench.tsx` },
		outdir: out,
		format: 'iife',
		minify: true,
	});
}

mkdirSync(out, { recursive: true });
for (const w of what) await { page, test, bench }[w]();
