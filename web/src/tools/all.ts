// all.ts - the tabs of tools, in the order in which the page shows them. A tab is there if its tool
// has attached what it needs. They use the kit of web/src/ui and own no table, chart or colour.

import type { ComponentChild } from 'preact';
import type { Detail, Info } from '../source/contract';
import type { App } from '../state/app';
import type { Tab } from '../ui/tab';
import { ANALYZE_TABS } from './analyze';
import { CHART_TABS } from './charts';
import { DEVLOG_TABS } from './devlog';
import { hasSamples, HOTSPOTS_TABS, SampleDetails } from './hotspots';
import { hasVerdicts, KernelDetails } from './kernels';
import { MEMORY_TABS } from './memory';
import { hasMetrics, METRICS_TABS, MetricsDetails } from './metrics';
import { hasOps, OpDetails, OPS_TABS } from './ops';
import { RANKS_TABS } from './ranks';
import { ROOFLINE_TABS } from './roofline';

export const TOOL_TABS: Tab[] = [
	...CHART_TABS,
	...HOTSPOTS_TABS,
	...OPS_TABS,
	...DEVLOG_TABS,
	...ANALYZE_TABS,
	...METRICS_TABS,
	...MEMORY_TABS,
	...ROOFLINE_TABS,
	...RANKS_TABS,
];

/* What tools know about a slice of the timeline, for the drawer. */
export const TOOL_DETAILS: {
	needs(info: Info): boolean;
	beside?: boolean; // short enough to stand beside the facts, where it is seen at once
	view(props: { app: App; detail: Detail }): ComponentChild;
}[] = [
	{ needs: hasVerdicts, beside: true, view: KernelDetails },
	{ needs: hasMetrics, beside: true, view: MetricsDetails },
	{ needs: hasSamples, view: SampleDetails },
	{ needs: hasOps, view: OpDetails },
];
