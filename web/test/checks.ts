// checks.ts - every control of the page, used as a person would, against numbers counted by hand.

import { COMPARE, COMPARE_ELSEWHERE } from './check_compare';
import { LOOK, LOOK_ELSEWHERE } from './check_look';
import { ELSEWHERE, PAGE } from './check_page';
import { TABLES } from './check_tables';
import { TIMELINE } from './check_timeline';
import { TRACKS } from './check_tracks';
import { done, opened, shown, type Setting } from './shown';

async function one(name: string, folder: string, run: () => Promise<void>): Promise<boolean> {
	const from = Date.now();

	try {
		await run();
		console.log(`ok ${name} (${Date.now() - from} ms)`);
		return true;
	} catch (e) {
		for (const s of [...shown]) {
			await s.p.screenshot({ path: `${folder}/${name.replace(/\W+/g, '-').slice(0, 40)}.png` });
			await s.close();
		}
		console.log(`not ok ${name}\n${e instanceof Error ? e.stack : String(e)}`);
		return false;
	}
}

export async function checks(set: Setting): Promise<void> {
	const all: Record<string, () => Promise<void>> = {};
	let failed = 0;

	for (const [name, check] of Object.entries({
		...PAGE,
		...TIMELINE,
		...TRACKS,
		...TABLES,
		...COMPARE,
		...LOOK,
	}))
		all[name] = async () => {
			const s = await opened(set, set.training);

			await check(s, set);
			await done(s);
		};
	for (const [name, check] of Object.entries({ ...ELSEWHERE, ...COMPARE_ELSEWHERE, ...LOOK_ELSEWHERE }))
		all[name] = () => check(set);
	for (const [name, check] of Object.entries(all))
		if (name.includes(set.only)) failed += Number(!(await one(name, set.folder, check)));
	if (failed) throw new Error(`${failed} failed`);
}
