// tab.ts - what a tab is: the page's own are in app.tsx, those of tools in web/src/tools.

import type { ComponentChild } from 'preact';
import type { Info } from '../source/contract';
import type { App } from '../state/app';

/* A view with data. */
export interface Tab {
	id: string;
	title: string;
	needs(info: Info): boolean;
	badge?(info: Info): { text: string; tone: '' | 'warn' | 'bad' } | null;
	view(props: { app: App }): ComponentChild;
}

/* Has this tool attached this sheet? */
export const hasSheet = (info: Info, tool: string, name: string): boolean =>
	info.tools?.some(t => t.id === tool && t.sheets.includes(name)) ?? false;
