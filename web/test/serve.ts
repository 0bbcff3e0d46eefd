// serve.ts - a server that answers the contract from a page, as the one in C will: tests ask it.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Held } from '../src/inline/held';
import type { Method } from '../src/source/contract';

/* No inline script or style, nothing from elsewhere: what the real server will demand. */
const POLICY =
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE =
	'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>unitrace</title><link rel="icon" href="data:,"><link rel="stylesheet" href="app.css"></head><body><div id="page"></div><script src="app.js"></script></body></html>';

async function body(q: IncomingMessage): Promise<string> {
	let text = '';

	for await (const part of q) text += String(part);
	return text;
}

const FILES: Record<string, string> = { '/app.js': 'text/javascript', '/app.css': 'text/css' };

/* Like SQLite's: one answer for one question, and an error that says where. */
function sql(text: string) {
	if (!/^\s*select/i.test(text)) throw new Error('near "' + text.slice(0, 10) + '": syntax error');
	return {
		columns: [
			{ key: 'name', title: 'name', type: 'text' },
			{ key: 'n', title: 'n', type: 'number' },
		],
		rows: 2,
		data: [
			['alpha', '<b>beta</b>'],
			[3, 4],
		],
	};
}

/* live: sends this much more of the trace when it is watched. */
export function serve(held: Held, out: string, live = 0): Promise<{ url: string; server: Server }> {
	const info = held.ask('info', {});
	const server = createServer((q, a) => {
		const url = q.url ?? '/';

		a.setHeader('Content-Security-Policy', POLICY);
		if (url === '/api/live') {
			a.setHeader('Content-Type', 'text/event-stream');
			a.write(
				live
					? `data: ${JSON.stringify({ ...info, live: true, span: info.span * (1 + live) })}\n\n`
					: ':\n\n', // only to know that the page is there
			);
			return;
		}
		if (q.method === 'GET') {
			const type = FILES[url];

			a.setHeader('Content-Type', type ?? 'text/html; charset=utf-8');
			a.end(type ? readFileSync(path.join(out, url)) : PAGE);
			return;
		}
		body(q)
			.then(text => {
				const method = url.replace('/api/', '') as Method,
					ask: unknown = JSON.parse(text);

				if (q.headers['x-unitrace'] !== '1') throw new Error('refused');
				const answer: unknown =
					method === 'sql'
						? sql((ask as { text: string }).text)
						: method === 'info'
							? { ...info, live: live > 0, can: { sql: true, notes: true } }
							: held.ask(method, ask as never);

				a.setHeader(
					'Content-Type',
					answer instanceof ArrayBuffer ? 'application/octet-stream' : 'application/json',
				);
				if (method === 'search')
					// as a search over many files does: first what one of them holds
					a.write(`${JSON.stringify({ count: 1, list: [], tracks: [] })}\n`);
				a.end(answer instanceof ArrayBuffer ? Buffer.from(answer) : JSON.stringify(answer));
			})
			.catch((e: Error) => {
				a.statusCode = 400;
				a.end(e.message);
			});
	});

	return new Promise(done =>
		server.listen(0, '127.0.0.1', () =>
			done({ server, url: `http://127.0.0.1:${(server.address() as { port: number }).port}/` }),
		),
	);
}
