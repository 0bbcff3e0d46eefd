// workbench.tsx - where the page of `unitrace serve` begins.
import { render } from 'preact';
import { forgetToken, takeToken, useToken } from './workbench/entry';
import { Workbench } from './workbench/shell';
import { loadServer } from './workbench/store';
import { why } from './workbench/api';
import './style.css';
import './workbench/workbench.css';

async function start(): Promise<void> {
	const root = document.getElementById('page')!,
		token = takeToken();

	try {
		const before = token ? await loadServer() : null, // who is known needs no token, and keeps it for another
			refused = token && !before?.known ? await useToken(token) : '';

		if (before?.known) forgetToken();
		await loadServer();
		root.textContent = '';
		render(<Workbench refused={refused} />, root);
	} catch (e) {
		root.textContent = `This server cannot be reached: ${why(e)}`;
		root.setAttribute('role', 'alert');
	}
}

void start();
