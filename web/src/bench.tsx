// bench.tsx - where the page of `unitrace serve` begins.
import { render } from 'preact';
import { forgetToken, takeToken, useToken } from './bench/entry';
import { Bench } from './bench/shell';
import { loadServer } from './bench/store';
import { why } from './bench/api';
import './style.css';
import './bench/bench.css';

async function start(): Promise<void> {
	const root = document.getElementById('page')!,
		token = takeToken();

	try {
		const before = token ? await loadServer() : null, // who is known needs no token, and keeps it for another
			refused = token && !before?.known ? await useToken(token) : '';

		if (before?.known) forgetToken();
		await loadServer();
		root.textContent = '';
		render(<Bench refused={refused} />, root);
	} catch (e) {
		root.textContent = `This server cannot be reached: ${why(e)}`;
		root.setAttribute('role', 'alert');
	}
}

void start();
