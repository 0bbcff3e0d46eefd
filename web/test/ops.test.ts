// ops.test.ts - the rows of an ops report: unpacked as they were told, added up as a naive loop does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byOp, Ops, summed, unpackColumn, unrolled, type OpsSheet } from '../src/tools/ops_sheet';

/* Six rows: two programs that are shared, times of their own, and a note that one row has. */
const sheet = (): OpsSheet => ({
	rows: 6,
	ownClock: false,
	host: [0, 100, null, 200, 100, 100],
	device: [50, 100, null, null, 300, 100],
	parts: [[1, 2, 1, 3, 2, 1], null, [0, 0, 1, 0, 0, 0], []],
	columns: [
		{ key: 'OP CODE' },
		{ key: 'HOST DURATION [ns]', type: 'time' },
		{ key: 'DEVICE KERNEL DURATION [ns]', type: 'time' },
		{ key: 'HOST START TS', type: 'number', steps: true },
		{ key: 'PROBLEM' },
		{ key: 'mm Count', type: 'count', missing: 0 },
		{ key: 'INPUT_0_Y', type: 'count' },
		{ key: 'INPUT_0_X', type: 'count' },
	],
	cells: [
		[{ part: 0, v: [1, 2, 3], words: [null, ' a', 'b', '<i>'] }],
		[{ part: 1, v: [10, 20, null, 40, 50, 60] }],
		[{ part: 1, at: [0, 0, 2], v: [5, 7, 11] }],
		[{ part: 1, at: [0, 0, 1, 0, 0], v: [1000, 100, 200, 'odd', 5] }],
		[{ part: 2, v: [1], words: [null, 'no device'] }],
		[{ part: 0, at: [1], v: [3] }],
		[{ part: 0, v: [2, 3, 4] }],
		[{ part: 0, at: [0, 0], v: [8, 9] }],
	],
});

test('columns are what the parts of their rows say', () => {
	const s = sheet(),
		column = (i: number) => unpackColumn(s, i);

	assert.deepEqual(column(0), [' a', 'b', ' a', '<i>', 'b', ' a']);
	assert.deepEqual(column(1), [10, 20, null, 40, 50, 60]);
	assert.deepEqual(column(2), [5, 7, null, null, 11, null]);
	assert.deepEqual(column(3), [1000, 1100, null, 1300, 'odd', 1305]);
	assert.deepEqual(column(4), [null, null, 'no device', null, null, null]);
	assert.deepEqual(column(5), [0, 3, 0, 0, 3, 0]);
	assert.deepEqual(summed([null, 5, -2, 'x', 1]), [null, 5, 3, 'x', 4]);
});

test('a run is all its items', () => {
	const s: OpsSheet = {
		rows: 6,
		ownClock: false,
		host: [0, [2, 100], [3, null]],
		device: [[6, null]],
		parts: [[[5, 1], 2], null, [[2, 0], 1, [3, 0]], []],
		columns: [
			{ key: 'OP CODE' },
			{ key: 'HOST START TS', type: 'number', steps: true },
			{ key: 'PROBLEM' },
			{ key: 'mm Count', type: 'count', missing: 0 },
		],
		cells: [
			[{ part: 0, v: [[2, 1]], words: [null, 'a'] }],
			[{ part: 1, v: [7, [4, 100], null] }],
			[{ part: 2, v: [1], words: [null, 'odd'] }],
			[{ part: 1, at: [1, [2, 0]], v: [[3, 5]] }],
		],
	};

	assert.deepEqual(unpackColumn(s, 0), ['a', 'a', 'a', 'a', 'a', 'a']);
	assert.deepEqual(unpackColumn(s, 1), [7, 107, 207, 307, 407, null]);
	assert.deepEqual(unpackColumn(s, 2), [null, null, 'odd', null, null, null]);
	assert.deepEqual(unpackColumn(s, 3), [0, 5, 5, 5, 0, 0]);
	assert.deepEqual(new Ops(s).host, [0, 100, 200, null, null, null]);
	assert.deepEqual(unrolled<number | string>([]), []);
});

test('a column is unpacked when somebody looks at it', () => {
	const s = sheet();
	let looked = 0;
	const host = s.cells[1];

	Object.defineProperty(s.cells[1], 0, {
		get: () => (looked++, { part: 1, v: [10, 20, null, 40, 50, 60] }),
	});
	const t = new Ops({ ...s, cells: s.cells.map((c, i) => (i === 1 ? host : c)) }).table([5, 0]),
		before = looked;

	assert.deepEqual(t.data[0], ['a', 'a']);
	assert.equal(looked, before);
	assert.deepEqual(t.data[1], [60, 10]);
	assert.ok(looked > before);
});

test('rows of a narrowing, and the row of a slice', () => {
	const ops = new Ops(sheet());

	assert.deepEqual(ops.rowsIn({}), [0, 1, 2, 3, 4, 5]);
	assert.deepEqual(ops.rowsIn({ ranges: [[100, 400]] }), [1, 3]);
	assert.deepEqual(ops.rowsIn({ query: '-"a"' }), [1, 3, 4]);
	assert.equal(ops.rowOf(false, 100, 'b'), 1);
	assert.equal(ops.rowOf(true, 450, 'b'), 4);
	assert.equal(ops.rowOf(true, 100, 'b'), -1);
	assert.deepEqual(ops.column('INPUTS'), ['2×8', '3×9', '2×8', '4', '3×9', '2×8']);
});

test('calls of an op are added up, and what nobody measured stays open', () => {
	const t = byOp(new Ops(sheet()), [0, 1, 2, 3, 4, 5]),
		column = (key: string) => t.data[t.columns.findIndex(c => c.key === key)];

	assert.deepEqual(column('name'), ['a', 'b', '<i>']);
	assert.deepEqual(column('calls'), [3, 2, 1]);
	assert.deepEqual(column('host'), [70, 70, 40]);
	assert.deepEqual(column('device'), [5, 18, null]);
	assert.deepEqual(column('mean'), [5, 9, null]);
	assert.deepEqual(column('share'), [5 / 23, 18 / 23, null]);
	assert.deepEqual(column('longest'), [0, 4, 3]);
	assert.equal(column('gap'), undefined);
});
