// all.ts - the tabs of tools, in the order in which the page shows them. A tab is there if its tool
// has attached what it needs. They use the kit of web/src/ui and own no table, chart or colour.

import type { ComponentChild } from 'preact';
import type { Detail, Info } from '../source/contract';
import type { App } from '../state/app';
import type { Tab } from '../ui/tab';
import { ANALYZE_TABS } from './analyze';
import { DEVLOG_TABS } from './devlog';
import { hasOps, OpDetails, OPS_TABS } from './ops';

export const TOOL_TABS: Tab[] = [...OPS_TABS, ...DEVLOG_TABS, ...ANALYZE_TABS];

/* What tools know about a slice of the timeline, for the drawer. */
export const TOOL_DETAILS: {
	needs(info: Info): boolean;
	view(props: { app: App; detail: Detail }): ComponentChild;
}[] = [{ needs: hasOps, view: OpDetails }];
