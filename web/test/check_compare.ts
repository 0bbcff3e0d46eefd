// check_compare.ts - two scopes of one trace, and two runs.

import assert from 'node:assert/strict';
import { signed, time } from '../src/text/format';
import * as naive from './naive';
import { all, done, opened, parts, type Check, type Setting, type Shown } from './shown';
import { twoRuns } from './synth';

export const COMPARE: Record<string, Check> = {
	async 'compare: sorted differences, two histograms'(s) {
		await s.p.evaluate('app.zone.value = "optimizer.zero_grad", app.tab.value = "compare"');
		await s.p.locator('select[aria-label=B]').selectOption('all.rank2');
		await s.settle();
		await s.until('document.querySelector("[aria-label=Differences] tbody tr")');
		await s.settle();
		const total = (rank: number) =>
			all
				.filter(
					x =>
						x.name === 'optimizer.zero_grad' &&
						parts.places.find(p => p.track === x.track)!.rank === rank,
				)
				.reduce((n, x) => n + x.end - x.start, 0);
		const rows = await s.rows('Differences'),
			row = rows.find(r => r[0] === 'optimizer.zero_grad')!;

		assert.deepEqual(row.slice(1, 4), [time(total(0)), time(total(2)), `+${time(total(2) - total(0))}`]);
		assert.equal(await s.p.locator('.chart .legend span').count(), 2);
		await s.p.getByRole('button', { name: 'Flame graph' }).click();
		await s.until('document.querySelectorAll(".box.more").length > 0');
	},
};

const [after, before] = twoRuns().map(p => naive.byName(naive.slices(p), 0, Infinity));
const total = (of: Map<string, naive.Sum>, name: string): number => of.get(name)?.total ?? 0;
const by = (name: string): number => total(after, name) - total(before, name);

async function differences(s: Shown): Promise<void> {
	const names = [...new Set([...after.keys(), ...before.keys()])].sort(
		(x, y) => Math.abs(by(y)) - Math.abs(by(x)),
	);
	const cell = (v: number | undefined) => (v === undefined ? '–' : time(v));

	await s.until('document.querySelectorAll("[aria-label=Differences] tbody tr").length === 5');
	const got = await s.rows('Differences');

	for (const row of got) {
		const name = row[0],
			a = before.get(name),
			b = after.get(name);

		assert.deepEqual(row.slice(1, 4), [cell(a?.total), cell(b?.total), signed(by(name), time)], name);
		assert.deepEqual(
			row.slice(5, 7),
			[a, b].map(x => (x ? String(x.count) : '–')),
		);
		assert.equal(row.at(-1), a ? (b ? 'in both' : 'gone') : 'new');
	}
	assert.deepEqual(
		got.map(r => Math.abs(by(r[0]))),
		names.map(n => Math.abs(by(n))),
		'the largest difference on top',
	);
}

/* Two runs, as `view --compare` serves them: what differs, where, and how it is spread. */
async function runsCheck(set: Setting): Promise<void> {
	const s = await opened(set, set.two);

	await s.p.evaluate('app.tab.value = "compare"');
	await differences(s);
	const self = (of: Map<string, naive.Sum>) => [...of.values()].reduce((n, v) => n + (v.self ?? 0), 0);

	assert.match(
		(await s.text('.verdict .h'))!,
		self(after) > self(before) ? /B works .* longer than A/ : /less/,
	);
	assert.match((await s.text('.verdict .e'))!, /compute \(.*1 new name, 1 name gone/);
	await s.p.locator('[role=grid][aria-label=Differences] tbody tr').filter({ hasText: 'compute' }).click();
	await s.until(`document.querySelectorAll("[aria-label='Both distributions'] .legend span").length === 2`);
	const stats = (await s.text('[aria-label="Both distributions"] .stats'))!;

	for (const of of [before, after]) assert.ok(stats.includes(time(of.get('compute')!.max)), stats);
	assert.ok((await s.p.locator('[aria-label="Both distributions"] .bar').count()) > 3, 'A as bars');
	assert.ok(
		await s.p.locator('[aria-label="Both distributions"] path.series').getAttribute('d'),
		'B as a line',
	);
	await s.p.getByRole('button', { name: 'Flame graph' }).click();
	await s.until('document.querySelectorAll(".box.more").length > 0');
	const box = (name: string) => s.p.locator(`.box[aria-label^="${name}"]`);

	assert.match((await box('compute').getAttribute('class'))!, /more much/);
	assert.match((await box('load').getAttribute('class'))!, /same/);
	assert.match((await box('copy less').getAttribute('class'))!, /more much/);
	assert.equal(
		await box('compute').getAttribute('title'),
		`compute: A ${time(total(before, 'compute'))}, B ${time(total(after, 'compute'))}, ${signed(by('compute'), time)}`,
	);
	await s.p.getByRole('button', { name: 'As in A' }).click();
	await s.until(`document.querySelector('.box[aria-label^="copy more"]')`);
	assert.match((await box('copy more').getAttribute('class'))!, /less much/);
	await otherRun(s);
	await done(s);
}

/* The timeline of the other run, and areas of both against each other. */
async function otherRun(s: Shown): Promise<void> {
	await s.p.evaluate('app.tab.value = "timeline", app.setArea({ t0: 0, t1: 100000, tracks: null })');
	await s.p.evaluate('app.tab.value = "compare"');
	await s.p.getByRole('button', { name: 'Keep area as B' }).click();
	await s.until('location.hash.includes("compare.kept")');
	await s.p.getByRole('button', { name: 'Before', exact: true }).click();
	await s.until('window.app?.side === "before" && document.title.startsWith("before")');
	assert.equal(await s.state('area.value'), null, 'an area is of one run');
	await s.p.evaluate('app.setArea({ t0: 100000, t1: 200000, tracks: null })');
	await s.p.getByRole('button', { name: 'Keep area as A' }).click();
	await s.p.getByRole('button', { name: 'Differences' }).click();
	await s.p.locator('select[aria-label=A]').selectOption('kept a');
	await s.p.locator('select[aria-label=B]').selectOption('kept b');
	await s.until(
		'[...document.querySelectorAll("[aria-label=Differences] tbody tr")].some(r => r.cells[0].textContent === "compute" && r.cells[5].textContent + r.cells[6].textContent === "11")',
	);
	const rows = await s.rows('Differences');

	assert.deepEqual(rows.find(r => r[0] === 'compute')!.slice(1, 4), [
		time(30_100),
		time(45_000),
		signed(14_900, time),
	]);
	await s.until('location.hash.includes("compare.a=") && location.hash.includes("compare.b=")');
	await s.p.reload();
	await s.until(
		'window.app?.side === "before" && document.querySelector("select[aria-label=A]")?.value === "kept a"',
	);
}

export const COMPARE_ELSEWHERE = { 'two runs: verdict, differences, histograms, flame graphs': runsCheck };
