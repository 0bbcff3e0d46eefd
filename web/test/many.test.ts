// many.test.ts - thousands of tracks: nothing may be quadratic in them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layout } from '../src/draw/rows';
import { HeldSource } from '../src/inline/inline';
import { App } from '../src/state/app';
import { Maker } from './synth';
import { held } from './utr';

function wide(ranks: number) {
	const m = new Maker();

	for (let r = 0; r < ranks; r++) {
		const top = m.place(-1, 'rank', `Rank ${r}`, { rank: r });

		for (let i = 0; i < 20; i++) {
			const t = m.place(top, i < 16 ? 'thread' : 'queue', `t${i}`);

			for (let k = 0; k < 5; k++) m.slice(t, `work ${k}`, 'task', k * 1000 + r, 900);
		}
	}
	return m.parts('wide');
}

/* CPU time: the wall clock of a busy machine says nothing. */
async function cost(ranks: number): Promise<number> {
	const parts = wide(ranks),
		from = process.cpuUsage();
	const app = new App(new HeldSource(await held(parts)));

	await app.open();
	assert.equal(layout(app).rows.length, ranks * 22);
	app.grouped.value = true;
	assert.equal(layout(app).rows.length, 20 + ranks * 20);
	app.grouped.value = false;
	app.closed.value = new Set(app.places.value.filter(p => p.kind === 'rank').map(p => p.id));
	assert.equal(layout(app).rows.length, ranks);
	assert.equal((await app.source.ask('aggregate', { scope: {} })).threads.rows, ranks * 20);
	const used = process.cpuUsage(from);

	return used.user + used.system;
}

test('four times the tracks, about four times the work', async () => {
	await cost(100);
	const few = await cost(200),
		many = await cost(800);

	assert.ok(many < few * 9, `${many / few} times the work`);
});
