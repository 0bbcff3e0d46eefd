// contract.ts - what the page asks, and what it is answered. docs/design/021-viewer.md explains it.
//
// Every question is a method of one name with one JSON object; every answer is JSON, but for
// windows, which are columns (window.ts). The same table serves the HTTP server and the columns
// inside a one-file page, so no view knows where its numbers come from.
//
// Times are ns from info.start, as numbers: exact up to 104 days. An event is known by
// track * 2^32 + row, which is exact up to 2 million tracks.

export type EventId = number;
export type Time = number;

const ROWS = 2 ** 32;

export const eventId = (track: number, row: number): EventId => track * ROWS + row;
export const trackOf = (id: EventId): number => Math.floor(id / ROWS);
export const rowOf = (id: EventId): number => id % ROWS;

export interface Loss {
	name: string;
	text: string;
	count: number;
}

/* A tool that has attached sheets to this trace, for tabs of its own (web/src/tools). */
export interface Tool {
	id: string;
	title: string;
	sheets: string[]; // what can be asked for
}

export interface Info {
	title: string;
	subtitle?: string; // of the input: what it is, of when
	files: string[];
	start: string; // ns since 1970 as text, "0": unknown
	span: Time; // the trace is [0, span)
	slices: number;
	samples: number; // of counters
	ranks: number;
	types: number; // see Types
	cats: string[]; // categories of slices, the most frequent first; at most 256
	paused?: [Time, Time][]; // when nothing was recorded, because it was asked so
	losses: Loss[];
	failed?: string; // which programs failed, and how, in a sentence
	notes: string[]; // what the recorder had to say
	clockError: number; // ns, 0: unknown
	command?: string; // the program that was recorded
	cli?: string; // how a terminal is told about this trace: "run.utr"
	live: boolean; // a program is still being recorded
	generation?: number; // of a trace that grows: another one is another, larger trace
	read?: number; // share of the files that has been read; absent: all
	bytes?: number; // of a recording
	ended?: string; // how the recording ended, in words
	trouble?: string; // lines: what could not be read, and why
	before?: string; // title of a run to compare with: a source of its own
	left?: string; // what was left out of a one-file page, in a sentence
	thinned?: boolean; // slices were: only the tables of the whole trace are exact
	tools?: Tool[];
	first?: string; // the tab that opens first; none: the timeline
	links?: { href: string; title: string }[]; // files that the server has beside the page
	can: { sql: boolean; notes: boolean; again?: boolean };
}

export type PlaceKind =
	'rank' | 'process' | 'device' | 'thread' | 'queue' | 'lane' | 'async' | 'idle' | 'counter' | 'group';

export type LaneKind = 'spans' | 'overlap' | 'async' | 'marks' | 'flows' | 'counter';

/* One node of the tree of places, parents before children. What holds events has a track. */
export interface Place {
	id: number;
	parent: number; // -1: at the top
	kind: PlaceKind;
	name: string;
	sub?: string; // pid, host, model: said beside the name
	rank: number; // -1: none
	track: number; // -1: it only holds others
	unit?: string;
	tid?: number; // of a thread
	calls?: number; // of a row of calls, told of afterwards: the thread that made them
	cpu?: number; // share of a CPU that the thread used, where recorded
	lanes: { kind: LaneKind; count: number }[];
}

/* Types (name, category) in pages of TYPE_PAGE, since a trace may have millions. */
export const TYPE_PAGE = 4096;

export interface Types {
	first: number;
	names: string[];
	cats: string[];
}

/* What a table, tree or histogram is about. Without ranges: everything. */
export interface Scope {
	ranges?: [Time, Time][]; // disjoint, in order
	tracks?: number[];
	query?: string; // see query.ts
}

/* Is it about the whole trace? */
export const isWhole = (scope: Scope, span: Time): boolean =>
	!scope.query &&
	!scope.tracks &&
	(!scope.ranges || (scope.ranges.length === 1 && scope.ranges[0][0] <= 0 && scope.ranges[0][1] >= span));

export interface WindowAsk {
	t0: Time;
	t1: Time;
	pixels: number;
	lanes: [track: number, lane: number][];
}

/* A picture is drawn by the view (Grid's picture), and is nothing to sort or save. */
export type ColumnType =
	'text' | 'name' | 'code' | 'time' | 'count' | 'share' | 'number' | 'bytes' | 'event' | 'picture';

export interface Column {
	key: string;
	title: string;
	type: ColumnType;
	unit?: string;
	hint?: string;
	wide?: boolean; // shown only where there is room
	signed?: boolean; // a difference: shown with its sign, sorted by its size
}

export type Cell = string | number | null; // null: not measured

export interface Table {
	columns: Column[];
	data: Cell[][]; // one array per column
	rows: number;
	more?: number; // rows that were left out
}

export interface SliceRef {
	id: EventId;
	name: string;
	cat: string;
	t: Time;
	dur: number;
	role?: string; // in a chain: Python line, op, task, call, kernel
	at?: string; // of Python there: "net.py:14"
	depth?: number;
}

export interface Detail extends SliceRef {
	track: number;
	lane: number;
	self: number | null; // null: has none, see event.md
	type: number;
	kind: 'span' | 'mark';
	unfinished: boolean;
	args: [key: string, value: string][];
	parents: SliceRef[]; // the outermost first
	chain: SliceRef[]; // what led here and what it led to, in order of cause
	before: SliceRef[]; // arrows that arrive
	after: SliceRef[]; // arrows that leave
	nth: number; // of all of this name, from 1; 0: there was no time to count them
	ofName: number;
	ofNameTotal: number;
}

export interface Flows {
	from: { track: number[]; lane: number[]; row: number[]; t: number[] };
	to: { track: number[]; lane: number[]; row: number[]; t: number[] };
	more: number;
}

export interface Found {
	count: number;
	list: SliceRef[];
	tracks: number[];
}

export interface Aggregates {
	slices: Table;
	threads: Table;
	counters: Table;
	devices: Table;
	span: number; // ns of the scope
}

export type GroupBy = 'none' | 'track' | 'rank' | 'parent' | 'argument';

export interface DistributionAsk {
	scope: Scope;
	name: string;
	self: boolean;
	log: boolean;
	bins: number;
	group: GroupBy;
	argument?: string;
	low?: number; // edges of another histogram, to lay this one over it
	high?: number;
}

export interface Distribution {
	low: number;
	high: number;
	log: boolean;
	groups: { label: string; counts: number[]; sum: number; count: number }[];
	count: number;
	sum: number;
	min: number;
	max: number;
	mean: number;
	p50: number;
	p90: number;
	p99: number;
	outliers: SliceRef[]; // the longest first
	arguments: string[]; // keys to group by
}

export type TreeKind = 'top-down' | 'bottom-up' | 'time-order' | 'callers' | 'callees';

/* Nodes as columns, parents before children; node 0 is all. */
export interface Tree {
	parent: number[];
	name: string[];
	type: number[];
	total: number[];
	self: number[];
	count: number[];
	start?: number[]; // time order only
	left: number; // nodes too small to be listed
}

/* What samples are told apart by beside their stacks; names are numbers of strings. */
export interface SampleGroups {
	name: number[]; // 0: outside any task, or without a name
	process: number[]; // its name, 0: none
	id: number[]; // of a thread or process
	weight: number[];
	total: number[]; // of a task: with the tasks inside it
	samples: number[];
}

/*
 * Samples of CPUs or memory as a tree (src/analysis/view/sample_stacks.h); tools/profile.ts makes tables and flame
 * graphs of it. A node is a frame below the node that called it, callers come first; node 0 is around
 * all, and frame 0 is nowhere.
 */
export interface Stacks {
	event: string; // what was sampled
	events: string[]; // what else could be asked for
	unit: 'ns' | 'bytes' | '';
	weight: number; // of all samples
	samples: number;
	span: number; // ns from the first to the last
	strings: string[]; // the first one is none
	frames: {
		function: number[];
		module: number[];
		file: number[];
		line: number[];
		whose: number[]; // 0 the program, 1 a script's library, 2 a library, 3 the kernel; + 4: an interpreter; + 8: a script
	};
	nodes: { parent: number[]; frame: number[]; self: number[]; samples: number[] };
	groups: { thread: SampleGroups; task: SampleGroups; process: SampleGroups };
	paths: { parent: number[]; task: number[] }; // tasks inside tasks (index of the group); path 0 is outside any
	verdict: { say: string; why: string; function: number }[]; // of the whole, or of what was asked for
}

/* A line or an instruction of a function, as `hotspots --annotate --json` tells it. */
export interface CodeRow {
	kind: 'line' | 'instruction';
	[weight: `self${string}` | `total${string}`]: number | null | undefined; // self_ns, total_bytes, self
	file?: string | null;
	line?: number | null;
	address?: string | null;
	text?: string | null;
}

export interface Code {
	rows: CodeRow[];
	notes: string[]; // what cannot be shown, and why
}

/* An instruction of a kernel, and where it comes from. */
export interface CodePlace {
	address: number;
	text: string;
	control?: string; // what it tells the scheduler
	file?: string;
	line?: number;
	source?: string;
}

export interface StallFinding {
	reason: string;
	samples: number;
	share: number;
	instruction: CodePlace;
	causes: (CodePlace & { through?: string })[];
	more_causes?: number;
}

/* A line of the source, or an instruction, and the samples that it took. */
export interface CountedCode extends Partial<CodePlace> {
	samples: number;
	share: number;
	reason?: string; // that most of them wait for
	reason_samples?: number;
}

/* Why a kernel waits, as `metrics -s --json` tells it. */
export interface StallReport {
	kernel: string;
	assembly: string; // the file it was read from
	samples: number;
	stalls: number;
	reasons: { reason: string; samples: number; advice?: string }[];
	findings: StallFinding[];
	lines?: CountedCode[]; // those with samples
	instructions?: CountedCode[]; // all of the kernel
}

export interface StallCode {
	notes: string[]; // what is missing, and what to do
	modules: { module: string; samples: number }[]; // that have a kernel of this name
	module: string; // which of them this is about
	report: StallReport | null; // null: there is no code of it
}

export interface Note {
	id: string;
	t0: Time;
	t1: Time;
	text: string;
}

/* Something worth a look, and how it is known. The first one is the verdict of the page. */
export interface Finding {
	tone: 'bad' | 'warn' | ''; // costs time and we can say why; worth a look; neither
	say: string; // one sentence
	why: string; // the evidence
	gain?: number; // ns that could be won at most
	about?: string; // what of: a tool that says more about it speaks in its place
	event?: EventId; // where to see it...
	range?: [Time, Time];
	query?: string;
	tab?: string; // ...there, instead of in the timeline
}

/* The sheet of a tool that holds a list of Finding: they come before those of the trace. */
export const FINDINGS = 'findings';

/* A chart as src/trace/draw/chart_json.c writes it: what it shows, and nothing about how. */
export interface ChartAxis {
	title?: string; // with its unit
	numbers: 'short' | 'hex' | 'ns';
	log: boolean;
	low?: number; // both or none: what the data need
	high?: number;
	names?: string[]; // of bars: a place for each, instead of a scale
}

export interface ChartSeries {
	kind: 'line' | 'points' | 'bars';
	name: string;
	x?: (number | null)[]; // without: 0, 1, 2, ...
	y: (number | null)[]; // null: a hole
	low?: (number | null)[]; // y are means of several samples: the least of them...
	high?: (number | null)[]; // ... and the greatest
	weight?: (number | null)[]; // of points: their areas
	notes?: string[]; // what each is
	labels?: string[]; // of points: what stands beside them
	colour?: number; // the nth of the palette, from 1
	dashed?: boolean;
	label?: boolean; // the name stands on the line
	named?: boolean; // notes stand beside points
}

export interface ChartData {
	title?: string;
	subtitle?: string;
	note?: string;
	stacked: boolean;
	sideways: boolean;
	x: ChartAxis;
	y: ChartAxis;
	series: ChartSeries[];
	spans?: { from: number; to: number; name?: string }[]; // stretches of x that have a name
}

/* One object of a tool, for its tabs; everything tabular in it is a Table. */
export type Sheet = object;

export interface Methods {
	info: { ask: Record<string, never>; answer: Info };
	places: { ask: Record<string, never>; answer: Place[] };
	types: { ask: { first: number }; answer: Types };
	window: { ask: WindowAsk; answer: ArrayBuffer };
	flows: { ask: { t0: Time; t1: Time; limit: number; tracks?: number[] }; answer: Flows };
	detail: { ask: { id: EventId }; answer: Detail | null };
	at: { ask: { track: number; lane: number; t: Time; slack: number }; answer: SliceRef | null };
	step: {
		ask: { id: EventId; by: 1 | -1; along: 'name' | 'track' | 'flow' };
		answer: EventId | null;
	};
	search: { ask: { query: string; limit: number; scope: Scope }; answer: Found };
	find: {
		ask: { query: string; from: EventId | null; by: 1 | -1; scope: Scope };
		answer: { id: EventId; nth: number } | null;
	};
	/* by: slices are told apart by these arguments too, each a column of its own. */
	aggregate: { ask: { scope: Scope; by?: string[] }; answer: Aggregates };
	findings: { ask: { scope: Scope }; answer: Finding[] };
	list: { ask: { scope: Scope; limit: number }; answer: Table };
	distribution: { ask: DistributionAsk; answer: Distribution };
	tree: { ask: { scope: Scope; kind: TreeKind; name?: string; nodes: number }; answer: Tree };
	sql: { ask: { text: string }; answer: Table };
	words: { ask: Record<string, never>; answer: string[] }; // for completion: names, tables
	notes: { ask: Record<string, never>; answer: Note[] };
	note: { ask: { note: Note; gone: boolean }; answer: Note[] };
	sheet: { ask: { tool: string; name: string }; answer: Sheet };
	stacks: { ask: { scope: Scope; event?: string }; answer: Stacks };
	annotate: {
		ask: { scope: Scope; event?: string; name: string; module: string; kind: 'source' | 'assembly' };
		answer: Code;
	};
	stalls: { ask: { name: string; module?: string }; answer: StallCode }; // of a kernel that was sampled
	again: { ask: Record<string, never>; answer: null }; // makes all anew, where info.can says so
}

export type Method = keyof Methods;

export interface Source {
	/*
	 * A long answer may come in parts: each is a whole answer about what has been looked at so far,
	 * and replaces the one before. The promise holds the last one.
	 */
	ask<M extends Method>(
		method: M,
		ask: Methods[M]['ask'],
		signal?: AbortSignal,
		part?: (answer: Methods[M]['answer']) => void,
	): Promise<Methods[M]['answer']>;
	/*
	 * Calls back when a trace has grown, or something else about it has changed, and with a
	 * sentence when whoever answers is gone ('': is there again); returns how to stop.
	 */
	watch(grown: (changes: Partial<Info>) => void, gone?: (why: string) => void): () => void;
}
