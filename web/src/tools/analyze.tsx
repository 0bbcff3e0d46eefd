// analyze.tsx - tabs of `unitrace analyze`: where the time of a job on AIU devices went, who is late,
// what it cost in energy, and how much of that can be trusted. src/analysis/acelyzer/page_*.c write the sheets.

import { hasSheet, type Tab } from '../ui/tab';
import { TOOL } from './analyze_parts';
import { Steps, Overlap } from './analyze_steps';
import { Stragglers, Kernels } from './analyze_ranks';
import { Energy } from './analyze_energy';
import { TrustTab } from './analyze_trust';

const tab = (id: string, title: string, sheet: string, view: Tab['view']): Tab => ({
	id,
	title,
	needs: info => hasSheet(info, TOOL, sheet),
	view,
});

export const ANALYZE_TABS: Tab[] = [
	tab('steps', 'Steps', 'steps', Steps),
	tab('overlap', 'Overlap', 'overlap', Overlap),
	tab('stragglers', 'Stragglers', 'stragglers', Stragglers),
	tab('energy', 'Energy', 'energy', Energy),
	tab('rank-kernels', 'Kernels by rank', 'kernels', Kernels),
	tab('trust', 'Trust', 'trust', TrustTab),
];
