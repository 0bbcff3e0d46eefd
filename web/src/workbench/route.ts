// route.ts - which page is shown: its address, and how to get to another without loading anything again.

import { signal } from '@preact/signals';
import { base, path } from './api';

export type Route =
	| { page: 'welcome' | 'configure' | 'settings' }
	| { page: 'result'; project: string; result: string }
	| { page: 'compare'; project: string; result: string; beforeProject: string; beforeResult: string };

const part = (text: string): string => {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
};

function parse(pathname: string): Route {
	const [page, ...names] = pathname.slice(base.length).split('/').map(part);

	if (page === 'configure' || page === 'settings') return { page };
	if (page === 'r' && names[0] && names[1]) return { page: 'result', project: names[0], result: names[1] };
	if (page === 'compare' && names[3])
		return {
			page,
			project: names[0],
			result: names[1],
			beforeProject: names[2],
			beforeResult: names[3],
		};
	return { page: 'welcome' };
}

export const route = signal<Route>(parse(location.pathname));

export const WELCOME = base;
export const CONFIGURE = `${base}configure`;
export const SETTINGS = `${base}settings`;
export const resultAddress = (project: string, result: string): string =>
	`${base}r/${path(project, result)}/`;
export const compareAddress = (
	project: string,
	result: string,
	beforeProject: string,
	beforeResult: string,
): string => `${base}compare/${path(project, result, beforeProject, beforeResult)}/`;

export function go(address: string, replace = false): void {
	history[replace ? 'replaceState' : 'pushState'](null, '', address);
	route.value = parse(location.pathname);
}

/* A step back within a page is that page's own business. */
addEventListener('popstate', () => {
	const next = parse(location.pathname);

	if (JSON.stringify(next) !== JSON.stringify(route.peek())) route.value = next;
});

/* Links are links: with Ctrl, or another button, the browser does what it always does. */
export function follow(e: MouseEvent): void {
	const link = e.currentTarget as HTMLAnchorElement;

	if (e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || e.defaultPrevented) return;
	e.preventDefault();
	go(link.getAttribute('href')!);
}
