// samples.ts - samples of a one-file page: its sheet "samples" holds the answer to "stacks" about
// everything, and the moment of each sample, so that an area can be cut out here.

import type { Code, Methods, Place, SampleGroups, Scope, Stacks, StallCode } from '../source/contract';

/* Samples of one thread as columns; times are steps from one to the next. */
interface Moments {
	place: number;
	thread: number; // index of its group
	process: number;
	t: number[];
	node: number[];
	weight: number[];
	task: number[]; // number of the path
}

export interface SamplesSheet {
	events: (Stacks & { moments?: Moments[] })[]; // the usual one first
}

export interface CodeSheet {
	functions: {
		function: string;
		module: string;
		source: Code;
		assembly: Code;
	}[];
}

export interface KernelSheet {
	kernels: { kernel: string; code: StallCode }[];
}

const emptied = (g: SampleGroups): SampleGroups => ({
	...g,
	weight: g.weight.map(() => 0),
	total: g.weight.map(() => 0),
	samples: g.samples.map(() => 0),
});

/* The samples of some places in some stretches of time. */
function narrowed(
	all: SamplesSheet['events'][0],
	ranges: Scope['ranges'],
	places: ReadonlySet<number> | null,
): Stacks {
	const self = all.nodes.self.map(() => 0),
		samples = self.map(() => 0),
		groups = {
			thread: emptied(all.groups.thread),
			task: emptied(all.groups.task),
			process: emptied(all.groups.process),
		};
	let weight = 0,
		count = 0,
		first = Infinity,
		last = -Infinity;
	const add = (g: SampleGroups, at: number, w: number, taken: number) => {
		g.weight[at] += w;
		g.total[at] += w;
		g.samples[at] += taken;
	};
	/* A task inside one of the same name counts once. */
	const addAround = (path: number, w: number) => {
		const { parent, task } = all.paths,
			done = new Set([task[path]]);

		for (let at = parent[path]; at; at = parent[at]) {
			if (!done.has(task[at])) groups.task.total[task[at]] += w;
			done.add(task[at]);
		}
	};

	for (const m of all.moments!) {
		let t = 0,
			range = 0;

		if (places && !places.has(m.place)) continue;
		for (let i = 0; i < m.t.length; i++) {
			t += m.t[i];
			while (ranges && range < ranges.length && ranges[range][1] <= t) range++;
			if (ranges && (range === ranges.length || ranges[range][0] > t)) continue;
			const w = m.weight[i],
				taken = all.nodes.samples[m.node[i]] ? 1 : 0; // CPU time without a sample has none

			first = Math.min(first, t);
			last = Math.max(last, t);
			weight += w;
			count += taken;
			self[m.node[i]] += w;
			samples[m.node[i]] += taken;
			add(groups.thread, m.thread, w, taken);
			add(groups.process, m.process, w, taken);
			add(groups.task, all.paths.task[m.task[i]], w, taken);
			addAround(m.task[i], w);
		}
	}
	return {
		...all,
		nodes: { ...all.nodes, self, samples },
		groups,
		weight,
		samples: count,
		span: last > first ? last - first : 0,
		verdict: [], // nobody here can judge
	};
}

export function stacksOf(sheet: SamplesSheet, ask: Methods['stacks']['ask'], places: Place[]): Stacks {
	const all = sheet.events.find(e => !ask.event || e.event === ask.event),
		{ ranges, tracks } = ask.scope;

	if (!all) throw new Error('this page has no such samples');
	if (!ranges && !tracks) return all;
	if (!all.moments)
		throw new Error(
			'there are too many samples for a page to know when each was: unitrace view TRACE does',
		);
	const wanted = tracks && new Set(places.filter(p => tracks.includes(p.track)).map(p => p.id));

	return narrowed(all, ranges, wanted ?? null);
}

export function codeOf(sheet: CodeSheet, ask: Methods['annotate']['ask']): Code {
	const of = sheet.functions.find(f => f.function === ask.name && f.module === ask.module),
		code = of?.[ask.kind];

	if (!code)
		return {
			rows: [],
			notes: ['this page holds the code of the functions that took most: unitrace view shows all'],
		};
	return {
		rows: code.rows,
		notes:
			code.rows.length && (ask.scope.ranges || ask.scope.tracks)
				? [...code.notes, 'the times are those of the whole recording']
				: code.notes,
	};
}

export function stallsOf(sheet: KernelSheet, ask: Methods['stalls']['ask']): StallCode {
	const of = sheet.kernels.find(k => k.kernel === ask.name)?.code,
		left = 'this page holds the code of the kernels with most samples: unitrace view shows all';

	if (!of) return { notes: [left], modules: [], module: '', report: null };
	return ask.module && ask.module !== of.module
		? { ...of, notes: [left], module: ask.module, report: null }
		: of;
}
