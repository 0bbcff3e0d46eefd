import type { Browser } from './driver';
export interface Setting { browser: Browser; out: string; folder: string; only: string; axe: string | null; training: string; hostile: string }
export async function checks(s: Setting): Promise<void> {
	for (const [name, size, scheme, hash] of [['timeline-light', [1440, 900], 'light', ''], ['timeline-dark', [1440, 900], 'dark', '#w=2000000,4500000&a=2600000,3800000'], ['summary', [1280, 800], 'light', '#v=summary'], ['flame', [1280, 800], 'dark', '#v=flame'], ['zone', [1280, 800], 'light', '#v=zone&z=aten::addmm'], ['compare', [1280, 800], 'light', '#v=compare&z=Model.forward'], ['narrow', [420, 900], 'light', '#w=2000000,4500000'], ['narrow-summary', [420, 900], 'dark', '#v=summary']] as const) {
		const p = await s.browser.newPage({ viewport: { width: size[0], height: size[1] }, colorScheme: scheme });
		p.on('console', m => console.log(name, m.type(), m.text()));
		p.on('pageerror', e => console.log(name, 'ERROR', e.message));
		await p.goto(s.training + hash);
		await p.waitForTimeout(1200);
		if (name.startsWith('timeline')) { await p.mouse.click(700, 330); await p.waitForTimeout(400); }
		await p.screenshot({ path: `${s.folder}/${name}.png` });
		await p.close();
	}
}
