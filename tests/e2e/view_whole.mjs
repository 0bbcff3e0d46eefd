// view_whole.mjs - what a page that lacks slices says of the whole trace, and of its second half, as JSON.
//
//   node view_whole.mjs NODE_MODULES PAGE.html WEB
import { openPage } from './held.mjs';

const [modules, page, web] = process.argv.slice(2);
const held = await openPage(modules, web, page);
const info = held.ask('info', {});

function rows(scope) {
	const t = held.ask('aggregate', { scope }).slices;

	return Array.from({ length: t.rows }, (_, i) => Object.fromEntries(t.columns.map((c, k) => [c.key, t.data[k][i]])));
}

const whole = rows({}), names = held.ask('types', { first: 0 }).names;

console.log(JSON.stringify({
	thinned: info.thinned === true,
	slices: info.slices,
	whole: whole.map(r => ({ ...r, typeName: names[r.type], longestName: r.longest === null ? null : held.ask('detail', { id: r.longest })?.name })),
	half: rows({ ranges: [[Math.floor(info.span / 2), info.span]] }),
}));
