// compare.test.ts - two tables beside each other: rows find each other, and what is missing is no 0.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Table } from '../src/source/contract';
import { beside } from '../src/ui/compare';

const table = (names: string[], busy: (number | null)[]): Table => ({
	rows: names.length,
	columns: [
		{ key: 'name', title: 'Name', type: 'name' },
		{ key: 'busy', title: 'Busy', type: 'time' },
		{ key: 'track', title: 'Track number', type: 'number' },
	],
	data: [names, busy, names.map((_, i) => i)],
});

test('numbers of A, of B, and their difference; what only one has is not known of the other', () => {
	const t = beside(table(['a', 'b', 'c'], [10, 20, null]), table(['b', 'd', 'c'], [25, 7, 3]), ['name']);

	assert.deepEqual(
		t.columns.map(c => c.key),
		['name', 'busy.a', 'busy.b', 'busy.diff'],
	);
	assert.deepEqual(t.data, [
		['a', 'b', 'c', 'd'],
		[10, 20, null, null],
		[null, 25, 3, 7],
		[null, 5, null, null],
	]);
});

test('of several that are called the same, the first is compared with the first', () => {
	const t = beside(table(['w', 'w'], [1, 2]), table(['w', 'w', 'w'], [10, 20, 30]), ['name']);

	assert.deepEqual(t.data[0], ['w', 'w', 'w']);
	assert.deepEqual(t.data[3], [9, 18, null]);
});
