// summary.tsx - what the trace says at once: a verdict, tiles, the heaviest names, losses.

import type { Aggregates, Table } from '../source/contract';
import type { App } from '../state/app';
import { count, percent, time, utc } from '../text/format';
import { plain } from '../text/label';
import { Grid } from './grid';
import { Failure } from './kit';
import { useAnswer } from './load';
import { Zone } from './zone';

interface Verdict {
	tone: 'bad' | 'warn' | '';
	say: string;
	why: string;
	action?: { title: string; run(app: App): void };
}

const cell = (t: Table, row: number, key: string): number | string | null => t.data[t.columns.findIndex(c => c.key === key)]?.[row] ?? null;

const IDLE_BAD = 0.5, LOSS_TONE = 'warn';

/* One sentence that can be proven from the tables; nothing is judged without a reason. */
function verdict(app: App, a: Aggregates): Verdict {
	const { devices, slices } = a, info = app.info.value;
	const worst = [...Array(devices.rows).keys()].sort((x, y) => Number(cell(devices, x, 'share')) - Number(cell(devices, y, 'share')))[0];
	const lost = info.losses.filter(l => ['dropped', 'overwritten', 'torn'].includes(l.name));

	if (lost.length)
		return { tone: 'warn', say: `${count(lost.reduce((s, l) => s + l.count, 0))} records were lost.`, why: lost.map(l => `${count(l.count)} ${l.text}`).join('; ') };
	if (worst !== undefined && Number(cell(devices, worst, 'share')) < IDLE_BAD)
		return { tone: 'bad', say: `${plain(String(cell(devices, worst, 'name')))} is idle ${percent(1 - Number(cell(devices, worst, 'share')))} of the time.`,
			why: `It is busy for ${time(Number(cell(devices, worst, 'busy')))} of ${time(a.span)}; its longest gap is ${time(Number(cell(devices, worst, 'gap')))}.`,
			action: { title: 'Show it', run: x => { x.tab.value = 'timeline'; x.fit(); } } };
	if (!slices.rows)
		return { tone: '', say: 'This trace holds no slices.', why: 'Nothing was recorded, or a filter leaves nothing.' };
	const order = [...Array(slices.rows).keys()].sort((x, y) => Number(cell(slices, y, 'self')) - Number(cell(slices, x, 'self')))[0];

	return { tone: '', say: `${plain(String(cell(slices, order, 'name'))).slice(0, 120)} takes the most time of its own: ${time(Number(cell(slices, order, 'self')))}.`,
		why: `${count(Number(cell(slices, order, 'count')))} times, ${time(Number(cell(slices, order, 'mean')))} on average.`,
		action: { title: 'Show the longest', run: x => { x.tab.value = 'timeline'; x.select(Number(cell(slices, order, 'longest')), true); } } };
}

interface TileProps {
	title: string;
	value: string;
	say: string;
	tone?: 'bad' | 'warn';
}

function Tile({ title, value, say, tone }: TileProps) {
	return <div class={`tile ${tone ?? ''}`}><p class="tt">{title}{tone && <span class="flag" aria-label="flagged"> ⚑</span>}</p><p class="tv num">{value}</p><p class="ts">{say}</p></div>;
}

function tiles(app: App, a: Aggregates): TileProps[] {
	const info = app.info.value, d = a.devices, at = utc(info.start, 0), rows = [...Array(d.rows).keys()];
	const busy = rows.length ? rows.reduce((s, r) => s + Number(cell(d, r, 'busy')), 0) / rows.length : null;
	const share = busy === null ? null : busy / a.span, unfinished = info.losses.find(l => l.name === 'unfinished')?.count ?? 0;

	return [{ title: 'Length', value: time(a.span), say: at ? `recorded ${at.slice(0, 16)} UTC` : 'when is not known' },
		{ title: 'Slices', value: count(info.slices), say: `${count(a.slices.rows)} names, ${count(a.threads.rows)} tracks` },
		{ title: 'Devices busy', value: share === null ? '–' : percent(share), tone: share !== null && share < IDLE_BAD ? 'bad' : undefined,
			say: busy === null ? 'no device in this trace' : `${time(busy)} of ${time(a.span)}, mean of ${d.rows}` },
		{ title: 'Ranks', value: info.ranks ? count(info.ranks) : '–', say: info.ranks ? `${info.files.length} file${info.files.length === 1 ? '' : 's'}` : 'not a parallel job' },
		{ title: 'Unfinished', value: count(unfinished), tone: unfinished ? LOSS_TONE : undefined, say: unfinished ? 'slices that never ended' : 'every slice ended' }];
}

export function Summary({ app }: { app: App }) {
	const { value: a, error } = useAnswer(app, 'aggregate', { scope: app.scope.value });

	if (error)
		return <div class="page"><Failure app={app} text={error} /></div>;
	if (!a)
		return <div class="page" aria-busy="true" />;
	const v = verdict(app, a), names = a.slices.data[0], longest = a.slices.columns.findIndex(c => c.key === 'longest');

	if (!app.zone.peek() && a.slices.rows)
		app.zone.value = String([...names.keys()].map(i => [names[i], Number(a.slices.data[1][i])] as const).sort((x, y) => y[1] - x[1])[0][0]);
	return <div class="page">
		<section class={`verdict ${v.tone}`} aria-label="Verdict"><div><p class="h">{v.say}</p><p class="e">{v.why}</p></div><span class="grow" />
			{v.action && <button type="button" class="btn" onClick={() => v.action!.run(app)}>{v.action.title}</button>}</section>
		<div class="tiles">{tiles(app, a).map(t => <Tile key={t.title} {...t} />)}</div>
		<div class="two"><section class="card" aria-label="Slices by name"><header><h2>Slices by name</h2><span class="muted">double click: find zone</span></header>
			<Grid app={app} table={a.slices} label="Slices by name" file="slices" sort="total" selected={r => names[r] === app.zone.value}
				onPick={r => { app.zone.value = String(names[r]); app.select(Number(a.slices.data[longest][r])); }} onOpen={() => { app.tab.value = 'zone'; }} /></section>
		<Zone app={app} compact /></div>
		<div class="two"><section class="card" aria-label="Tracks"><header><h2>Tracks</h2></header><Grid app={app} table={a.threads} label="Tracks" file="tracks" sort="busy" /></section>
			<section class="card" aria-label="What was recorded"><header><h2>What was recorded</h2></header><dl class="kv body">
				{[['Trace', app.info.value.title], ['Files', app.info.value.files.join(', ')], ['Command', app.info.value.command ?? '–'],
					['Clock error', app.info.value.clockError ? `±${time(app.info.value.clockError)}` : 'not known'],
					...app.info.value.losses.map(l => [l.text, count(l.count)]), ...app.info.value.notes.map(n => ['Note', n])]
					.map(([k, t], i) => <div key={i}><dt>{plain(k)}</dt><dd>{plain(t).slice(0, 2000)}</dd></div>)}</dl></section></div>
	</div>;
}
