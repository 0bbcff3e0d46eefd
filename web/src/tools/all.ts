// all.ts - the tabs of tools, in the order in which the page shows them. A tab is there if its tool
// has attached what it needs. They use the kit of web/src/ui and own no table, chart or colour.

import { DEVLOG_TABS } from './devlog';
import type { Tab } from '../ui/tab';
import { ANALYZE_TABS } from './analyze';

export const TOOL_TABS: Tab[] = [...DEVLOG_TABS, ...ANALYZE_TABS];
