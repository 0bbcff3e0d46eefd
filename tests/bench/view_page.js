// view_page.js - opens a trace in a viewer, in a headless Chromium: the time until there is a
// picture, the memory of the tab, and how frames follow each other while the picture moves.
//
//   node view_page.js NODE_MODULES SUBJECT ARGUMENT...
//
//   ours UNITRACE TRACE...      from the command's start, the server's included
//   saved FILE.html             a page of ours with the trace inside
//   speedscope TRACE.json
//   catapult ASSETS TRACE.json  the viewer of chrome://tracing, as Perfetto's UI carries it
//   perfetto FOLDER TRACE.json  Perfetto's UI
//
// Prints a JSON object; { "failed": WHY } if the viewer cannot. Exit 77: a part of this is not
// installed. What asks for something outside of this machine does not get it; outside says what.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');
const { pathToFileURL } = require('url');
const { launch, skip } = require('../e2e/browser.js');

const PATIENCE = Number(process.env.BENCH_VIEW_PATIENCE || 120) * 1000;
const FRAMES = Number(process.env.BENCH_VIEW_FRAMES || 300);
const GL = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
	'.json': 'application/json', '.wasm': 'application/wasm', '.woff2': 'font/woff2' };
const [modules, subject, ...rest] = process.argv.slice(2);

/* ---- what is opened, and how it moves ------------------------------------------------------- */

/* The files of a folder, and the trace as /trace.json. */
function serve(root, trace) {
	return new Promise(resolve => {
		const server = http.createServer((request, response) => {
			const name = decodeURIComponent(new URL(request.url, 'http://x').pathname);
			const file = name === '/trace.json' ? trace :
				path.join(root, path.normalize(name === '/' ? '/index.html' : name));
			const from = fs.createReadStream(file);

			from.on('error', () => response.writeHead(404).end());
			from.on('open', () => response.writeHead(200,
				{ 'Content-Type': TYPES[path.extname(file)] || 'application/octet-stream' }));
			from.pipe(response);
		});

		server.listen(0, '127.0.0.1', () => resolve(server));
	});
}

const inTime = what => Promise.race([what, new Promise((done, fail) =>
	setTimeout(() => fail(new Error(`no picture in ${PATIENCE / 1000} s`)), PATIENCE).unref())]);

const homeOf = server => `http://127.0.0.1:${server.address().port}`;

function address(child) {
	return new Promise((resolve, reject) => {
		let text = '';

		child.stderr.on('data', data => {
			const found = (text += data).match(/http:\S+/);

			if (found) resolve(found[0]);
		});
		child.on('exit', () => reject(new Error(text.trim() || 'the server has ended')));
	});
}

/* Pages of ours say how many rectangles they drew. */
const oursIsDrawn = () => window.timeline && window.timeline.drawn > 0;

/* From everything to 10 us and back, twice, from one end to the other all the while. */
const moveOurs = (i, frames) => {
	const app = window.timeline.app, span = app.info.peek().span;
	const depth = (1 - Math.cos((i / frames) * 4 * Math.PI)) / 2;
	const wide = span * (1e4 / span) ** depth, at = span * (0.5 + 0.4 * Math.sin(i / 37));

	app.show(at - wide / 2, at + wide / 2);
};

/* As its button "Load" does, without the dialogue that shows progress. */
const openCatapult = async () => {
	const text = await (await fetch('/trace.json')).text(), model = new tr.Model();
	const viewer = window.viewer = window.profilingView.timelineView;

	window.__hideTraceViewerPolyfillWarning = true;
	new tr.importer.Import(model).importTraces([text]);
	viewer.model = model;
	while (!viewer.trackView?.viewport) await new Promise(requestAnimationFrame);
	for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
};

const moveCatapult = (i, frames) => {
	const viewport = window.viewer.trackView.viewport, to = viewport.currentDisplayTransform.clone();
	const { min, max } = window.viewer.model.bounds, span = max - min;
	const depth = (1 - Math.cos((i / frames) * 4 * Math.PI)) / 2;
	const wide = span * (0.01 / span) ** depth, at = min + span * (0.5 + 0.4 * Math.sin(i / 37));

	to.xSetWorldBounds(at - wide / 2, at + wide / 2, 1200);
	viewport.setDisplayTransformImmediately(to);
};

/* In and out under a pointer that goes from one side to the other. */
const moveWheel = (i, frames) => {
	const x = innerWidth * (0.5 + 0.3 * Math.sin(i / 37)), y = innerHeight * 0.6;
	const deltaY = 40 * (Math.floor((i / frames) * 4) % 2 ? 1 : -1);

	document.elementFromPoint(x, y).dispatchEvent(new WheelEvent('wheel', { bubbles: true,
		cancelable: true, ctrlKey: true, deltaY, clientX: x, clientY: y }));
};

const subjects = {
	ours: {
		async open(page, [unitrace, ...traces]) {
			const child = spawn(unitrace, ['view', '--no-browser', '-p', '0', ...traces],
				{ stdio: ['ignore', 'ignore', 'pipe'] });

			this.end = () => child.kill();
			await page.goto(await address(child));
			await page.waitForFunction(oursIsDrawn, null, { timeout: PATIENCE });
		},
		move: moveOurs,
	},
	saved: {
		async open(page, [file]) {
			await page.goto(pathToFileURL(file).href);
			await page.waitForFunction(oursIsDrawn, null, { timeout: PATIENCE });
		},
		move: moveOurs,
	},
	speedscope: {
		flags: GL,
		async open(page, [trace]) {
			const server = await serve(path.join(modules, '../../oracles/node_modules/speedscope/dist/release'), trace);

			this.end = () => server.close();
			await page.goto(`${homeOf(server)}/#profileURL=${homeOf(server)}/trace.json`);
			await page.getByText('Export').waitFor({ timeout: PATIENCE });
			await page.waitForSelector('canvas', { timeout: PATIENCE });
		},
		move: moveWheel,
	},
	catapult: {
		async open(page, [root, trace]) {
			const server = await serve(root, trace);

			this.end = () => server.close();
			await page.goto(`${homeOf(server)}/catapult_trace_viewer.html`);
			await page.waitForFunction(() => window.profilingView, null, { timeout: PATIENCE });
			await inTime(page.evaluate(openCatapult));
		},
		move: moveCatapult,
	},
	perfetto: {
		async open(page, [root, trace]) {
			const server = await serve(root, trace);

			this.end = () => server.close();
			await page.goto(`${homeOf(server)}/#!/?url=${homeOf(server)}/trace.json`);
			await page.waitForSelector('.pf-track', { timeout: PATIENCE });
			await page.waitForFunction(() => !document.querySelector('.pf-progress-anim-active'),
				null, { timeout: PATIENCE });
		},
		move: moveWheel,
	},
};

/* ---- measuring ------------------------------------------------------------------------------ */

/* ms between frames, and of our own pages ms of work in them. */
const play = ([frames, move]) => new Promise(done => {
	const step = eval(move), gaps = [];
	let last = 0, i = 0;

	requestAnimationFrame(function frame(now) {
		if (last) gaps.push(now - last);
		last = now;
		if (i === frames) return done({ gaps, work: window.timeline?.frames.slice(-frames) ?? [] });
		step(i++, frames);
		requestAnimationFrame(frame);
	});
});

function quantile(values, q) {
	const sorted = [...values].sort((a, b) => a - b);

	return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

/* MB that the process of the tab has to itself: the browser may keep a spare one, which is small. */
async function tabMemory(browser) {
	const session = await browser.newBrowserCDPSession();
	const { processInfo } = await session.send('SystemInfo.getProcessInfo');
	const kib = processInfo.filter(p => p.type === 'renderer').map(p => {
		const text = fs.readFileSync(`/proc/${p.id}/smaps_rollup`, 'utf8');

		return [...text.matchAll(/^Private_\w+: +(\d+)/gm)].reduce((sum, m) => sum + Number(m[1]), 0);
	});

	return Math.max(...kib) / 1024;
}

async function main() {
	const what = subjects[subject] || skip(`nobody knows how to open ${subject}`);
	const home = fs.mkdtempSync(path.join(os.tmpdir(), 'view-page-'));
	const browser = await launch(modules, home, what.flags);
	const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
	const result = {}, outside = [];

	await page.route(url => !/^(data|blob|file):|127\.0\.0\.1/.test(url.href), r => {
		outside.push(r.request().url());
		return r.abort();
	});
	page.on('crash', () => { result.failed = 'the tab has crashed'; });
	try {
		const began = performance.now();

		await what.open(page, rest);
		result.open = performance.now() - began;
		result.memory = await tabMemory(browser);
		await page.evaluate(play, [30, `(${what.move})`]);
		const { gaps, work } = await page.evaluate(play, [FRAMES, `(${what.move})`]);

		result.frame = [0.5, 0.99].map(q => quantile(gaps, q));
		result.work = [0.5, 0.99].map(q => quantile(work, q));
		result.after = await tabMemory(browser);
		if (process.env.BENCH_VIEW_PICTURE)
			await page.screenshot({ path: `${process.env.BENCH_VIEW_PICTURE}-${subject}.png` });
	} catch (error) {
		result.failed ??= error.message.split('\n')[0];
		if (process.env.BENCH_VIEW_PICTURE)
			await page.screenshot({ path: `${process.env.BENCH_VIEW_PICTURE}-${subject}.png` }).catch(() => {});
	}
	result.outside = outside;
	console.log(JSON.stringify(result));
	what.end?.();
	await browser.close();
	fs.rmSync(home, { recursive: true, force: true });
	process.exit(0);
}

main().catch(error => {
	console.error(error.message);
	process.exit(1);
});
