// compare.test.ts - two tables beside each other: rows find each other, and what is missing is no 0.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Aggregates, Column, Table } from '../src/source/contract';
import { KINDS, kindTable } from '../src/page/bycat';
import { beside, differences, verdict } from '../src/ui/compare';

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

test('shares of kernels are those of busy time, or of all where cores work side by side', () => {
	const kind = KINDS.find(k => k.device)!,
		column = (key: string, title: string, type: Column['type']): Column => ({ key, title, type });
	const table = (busy: number): Table =>
		kindTable(kind, {
			slices: {
				rows: 2,
				columns: [
					column('name', 'Name', 'name'),
					column('total', 'Total', 'time'),
					column('share', 'Share of self', 'share'),
				],
				data: [
					['a', 'b'],
					[300, 100],
					[0.75, 0.25],
				],
			},
			devices: { rows: 1, columns: [column('busy', 'Busy', 'time')], data: [[busy]] },
		} as unknown as Aggregates);

	for (const [busy, title, shares] of [
		[500, 'Share of busy', [0.6, 0.2]],
		[10, 'Share of all', [0.75, 0.25]],
	] as const) {
		const t = table(busy),
			at = t.columns.findIndex(c => c.key === 'share');

		assert.equal(t.columns[at].title, title);
		assert.deepEqual(t.data[at], shares);
	}
});

test('runs without a common name were not compared, and are not alike', () => {
	const column = (key: string, type: Column['type']): Column => ({ key, title: key, type });
	const slices = (...names: string[]): Table => ({
		rows: names.length,
		columns: [
			column('name', 'name'),
			column('total', 'time'),
			column('count', 'count'),
			column('self', 'time'),
			column('mean', 'time'),
		],
		data: [names, names.map(() => 5), names.map(() => 1), names.map(() => 5), names.map(() => 5)],
	});
	const say = (a: Table, b: Table) => verdict(differences(a, b)).say;

	assert.equal(say(slices('a', 'b'), slices('c', 'd')), 'Nothing was compared: no name is in both.');
	assert.equal(say(slices('a'), slices()), 'Nothing was compared: B has no slices here.');
	assert.equal(say(slices(), slices('a')), 'Nothing was compared: A has no slices here.');
	assert.equal(say(slices(), slices()), 'Nothing was compared: neither run has slices here.');
	assert.equal(say(slices('a', 'b'), slices('b', 'c')), 'A and B work for the same time.');
});
