// memory.test.ts - the facts of a kernel in the picture of the memory hierarchy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lines, type Memory } from '../src/tools/memory';

const kernel = (facts: Record<string, number>, flags: Memory['flags']): Memory => ({
	device: 'NVIDIA H200',
	maker: 'nvidia',
	launches: 1,
	levels: [],
	rates: {},
	facts,
	flags,
});

test('a fact without a value has no line, whatever a verdict says of it', () => {
	const said = lines(
		kernel({ tensor: 99 }, [
			{ at: 'active', why: 'blocks end at different times' },
			{ at: 'tensor', why: 'full' },
		]),
	);

	assert.deepEqual(
		said.map(l => l.title),
		['Tensor pipe'],
	);
	assert.notEqual(said[0].value, '');
	assert.equal(said[0].why, 'full');
});

test('the two occupancies say which they are', () => {
	const said = lines(kernel({ achieved_occupancy: 75, occupancy: 100 }, []));

	assert.deepEqual(
		said.map(l => l.title),
		['Achieved occupancy', 'Theoretical occupancy'],
	);
});
