// profile.test.ts - samples as tables and trees, from a profile small enough to be added up by hand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Profile } from '../src/tools/profile';
import { codeOf } from '../src/inline/code';
import type { Stacks, Table } from '../src/source/contract';

const OWN = 0,
	SCRIPT = 8,
	LIBRARY = 2,
	INTERPRETER = 2 | 4;

/*
 * main (app) calls py (run.py:3), through the interpreter; py calls sort (lib) and itself.
 *
 *	node  1 main  2 eval (interpreter)  3 py  4 sort  5 py, of itself  6 eval, at its own work
 */
const stacks = (): Stacks => ({
	event: 'CPU time',
	events: ['CPU time', 'peak bytes'],
	unit: 'ns',
	weight: 100,
	samples: 10,
	span: 200,
	strings: [
		'',
		'main',
		'app',
		'eval',
		'/usr/bin/python3.11',
		'py',
		'run.py',
		'sort',
		'lib.so',
		'worker',
		'pack',
	],
	frames: {
		function: [0, 1, 3, 5, 7],
		module: [0, 2, 4, 6, 8],
		file: [0, 0, 0, 6, 0],
		line: [0, 0, 0, 3, 0],
		whose: [2, OWN, INTERPRETER, OWN | SCRIPT, LIBRARY],
	},
	nodes: {
		parent: [0, 0, 1, 2, 3, 3, 3],
		frame: [0, 1, 2, 3, 4, 3, 2],
		self: [0, 10, 0, 20, 40, 25, 5],
		samples: [0, 1, 0, 2, 4, 2, 1],
	},
	groups: {
		thread: {
			name: [9, 0],
			process: [2, 2],
			id: [7, 8],
			weight: [60, 40],
			total: [60, 40],
			samples: [6, 4],
		},
		task: {
			name: [0, 10, 9],
			process: [0, 0, 0],
			id: [0, 0, 0],
			weight: [70, 30, 0],
			total: [70, 30, 30],
			samples: [7, 3, 0],
		},
		process: { name: [2], process: [0], id: [5], weight: [100], total: [100], samples: [10] },
	},
	paths: { parent: [0, 0, 1], task: [0, 2, 1] }, // pack is inside a task that is called worker
	verdict: [],
});

const of = (t: Table, ...keys: string[]) =>
	Array.from({ length: t.rows }, (_, r) => keys.map(k => t.data[t.columns.findIndex(c => c.key === k)][r]));

test('a function that calls itself counts once', () => {
	const rows = of(new Profile(stacks()).table('function').table, 'name', 'self', 'total', 'samples');

	assert.deepEqual(rows, [
		['py', 45, 90, 4],
		['sort', 40, 40, 4],
		['main', 10, 100, 1],
		['eval', 5, 90, 1],
	]);
});

test('a line of Python has what it called', () => {
	const rows = of(new Profile(stacks()).table('python-line').table, 'name', 'line', 'self', 'total');

	assert.deepEqual(rows, [
		['py', 'run.py:3', 90, 90],
		['[outside Python]', null, 10, 10],
	]);
});

test('groups are told by name and number', () => {
	const p = new Profile(stacks());

	assert.deepEqual(of(p.table('thread').table, 'name', 'self'), [
		['worker (7)', 60],
		['[no name] (8)', 40],
	]);
	assert.deepEqual(of(p.table('task').table, 'name', 'self'), [
		['[outside any task]', 70],
		['pack', 30],
		['worker', 0],
	]);
	assert.deepEqual(of(p.table('task').table, 'name', 'total')[2], ['worker', 30]);
});

test('CPU time without a sample is nobody', () => {
	const s = stacks();

	s.strings.push('[not sampled]');
	s.frames.function.push(s.strings.length - 1);
	for (const key of ['module', 'file', 'line'] as const) s.frames[key].push(0);
	s.frames.whose.push(LIBRARY);
	s.nodes.parent.push(0);
	s.nodes.frame.push(5);
	s.nodes.self.push(50);
	s.nodes.samples.push(1);
	for (const by of ['own', 'python-line', 'function'] as const) {
		const rows = of(new Profile(s).table(by).table, 'name', 'self');

		assert.deepEqual(
			rows.find(r => r[0] === '[not sampled]'),
			['[not sampled]', 50],
		);
	}
});

test('trees leave out the interpreter on its way, and a function that calls itself is one', () => {
	const t = new Profile(stacks()).tree('top-down', -1, 100);

	assert.deepEqual(t.name, ['all', 'main', 'py', 'sort', 'eval']);
	assert.deepEqual(t.parent, [-1, 0, 1, 2, 2]);
	assert.deepEqual(t.total, [100, 100, 90, 40, 5]);
	assert.deepEqual(t.self, [0, 10, 45, 40, 5]);
	assert.deepEqual(t.count, [10, 10, 9, 4, 1]);
});

test('from the bottom each function comes with its callers', () => {
	const t = new Profile(stacks()).tree('bottom-up', -1, 100);
	const at = t.name.indexOf('sort');

	assert.equal(t.total[0], 100);
	assert.equal(t.total[at], 40);
	assert.deepEqual([t.name[at + 1], t.parent[at + 1], t.name[at + 2]], ['py', at, 'main']);
});

test('around one function it is the root', () => {
	const p = new Profile(stacks()),
		py = p.find('py', 'run.py'),
		up = p.tree('callers', py, 100),
		down = p.tree('callees', py, 100);

	assert.deepEqual(
		[up.name, up.total, up.count],
		[
			['py', 'main'],
			[90, 90],
			[9, 9],
		],
	);
	assert.deepEqual(
		[down.name, down.total, down.self],
		[
			['py', 'sort', 'eval'],
			[90, 40, 5],
			[45, 40, 5],
		],
	);
	assert.equal(p.find('py', 'another'), -1);
});

test('the stack of a sample is told from the inside', () => {
	const all = stacks(),
		one = (of: number[], node: number) => of.map((n, i) => (i === node ? n : 0)),
		nodes = { ...all.nodes, self: one(all.nodes.self, 4), samples: one(all.nodes.samples, 4) },
		p = new Profile({ ...all, weight: 40, nodes });

	assert.deepEqual(
		p.stack().map(f => [p.label(f.fn), f.file, f.line]),
		[
			['sort', '', 0],
			['py', 'run.py', 3],
			['eval', '', 0],
			['main', '', 0],
		],
	);
});

test('code that a page does not hold is said', () => {
	const code = { rows: [{ kind: 'line' as const }], notes: [] },
		held = { functions: [{ function: 'f', module: 'm', source: code, assembly: code }] };
	const ask = (name: string, ranges?: [number, number][]) =>
		codeOf(held, { scope: ranges ? { ranges } : {}, name, module: 'm', kind: 'source' });

	assert.deepEqual([ask('f').rows.length, ask('f').notes], [1, []]);
	assert.equal(ask('f', [[0, 1]]).notes.length, 1);
	assert.deepEqual([ask('g').rows, ask('g').notes.length], [[], 1]);
});
