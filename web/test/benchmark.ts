// benchmark.ts - runs the benchmark page and prints what it measured.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BenchmarkResult } from '../benchmark/benchmark';
import type { Browser } from './driver';
import { big } from './synth';
import { module, packed } from './utr';

export async function benchmark(b: Browser, out: string): Promise<void> {
	const file = path.join(out, 'pages', 'benchmark.html'),
		js = readFileSync(path.join(out, 'benchmark.js'), 'utf8').replace(/<\/(script)/gi, '<\\/$1');

	writeFileSync(
		file,
		`<!doctype html><html lang="en"><meta charset="utf-8"><title>benchmark</title><style>${readFileSync(path.join(out, 'benchmark.css'), 'utf8')}</style><div id="page"></div><script type="application/octet-stream" id="trace">${packed(big(1e6))}</script><script type="application/octet-stream" id="module">${module().toString('base64')}</script><script id="app">${js}</script></html>`,
	);
	const p = await b.newPage({ viewport: { width: 1440, height: 900 } });

	p.on('pageerror', e => console.log('error', e.message));
	await p.goto(pathToFileURL(file).href);
	const r = await p.evaluate<BenchmarkResult>('window.benchmark()');
	const ms = (v: number) => `${v.toFixed(1)} ms`;

	console.log(
		`${r.slices} slices: lanes built in ${ms(r.build)}, first picture after ${ms(r.open)}; ${r.frames} frames: ` +
			`our work ${ms(r.draw[0])} median, ${ms(r.draw[1])} p99; between frames ${ms(r.frame[0])} median, ${ms(r.frame[1])} p99; ` +
			`windows ${ms(r.answer[0])} median, ${ms(r.answer[1])} p99; table of all ${ms(r.aggregate)}, search ${ms(r.search)}`,
	);
	await p.screenshot({ path: path.join(out, 'pages', 'benchmark.png') });
	await p.close();
}
