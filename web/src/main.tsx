// main.tsx - where the page begins. The same program is the worker of a page that holds its trace.

import { render } from 'preact';
import { HttpSource } from './source/http';
import { openInline, serveHeld, SheetSource } from './inline/inline';
import type { Source } from './source/contract';
import { bindAddress, sideOf } from './state/address';
import { App } from './state/app';
import { time } from './text/format';
import { Page } from './page/app';
import './style.css';

/* A one-file page has the trace in a script element of its own; else there is a server. */
async function source(before: boolean): Promise<Source> {
	const data = document.getElementById(before ? 'before' : 'trace');

	if (!data) return new HttpSource(before ? 'api/before/' : 'api/');
	return new SheetSource(
		await openInline(
			{ trace: data.textContent ?? '', module: document.getElementById('module')?.textContent ?? '' },
			document.getElementById('app')?.textContent || null,
		),
		(tool, name) => packedSheet(before ? 'before' : '', tool, name),
	);
}

/* The names of tools and sheets are ours, but what is in a page may be anybody's: compared, not queried. */
function packedSheet(side: string, tool: string, name: string): string | null {
	const all = [...document.querySelectorAll<HTMLElement>('script.sheet')];

	return (
		all.find(e => (e.dataset.side ?? '') === side && e.dataset.tool === tool && e.dataset.name === name)
			?.textContent ?? null
	);
}

/* The run from after is what is looked at, unless the address says otherwise. */
async function open(): Promise<App> {
	const wanted = sideOf(location.hash) === 'before';
	const after = await source(false),
		runs = (await after.ask('info', {})).before !== undefined;

	if (!runs) return new App(after);
	return wanted
		? new App(await source(true), 'before', () => Promise.resolve(after))
		: new App(after, 'after', () => source(true));
}

async function start(): Promise<void> {
	const root = document.getElementById('page')!;

	try {
		const app = await open();

		await app.open();
		app.foldMany();
		bindAddress(app, ranges => `${time(ranges[0][0])} to ${time(ranges[ranges.length - 1][1])}`);
		(window as unknown as { app: App }).app = app; // for tests and for the curious
		root.textContent = '';
		render(<Page app={app} />, root);
	} catch (e) {
		root.textContent = `This trace could not be opened: ${e instanceof Error ? e.message : String(e)}`;
		root.setAttribute('role', 'alert');
	}
}

if (typeof document === 'undefined') serveHeld(self as unknown as Parameters<typeof serveHeld>[0]);
else void start();
