// summary.tsx - what the trace says at once: a verdict, tiles, the heaviest names, losses.

import type { Aggregates } from '../source/contract';
import type { App } from '../state/app';
import { count, many, percent, time, utc } from '../text/format';
import { plain } from '../text/label';
import { Findings, useFindings, Verdict } from './findings';
import { Grid } from './grid';
import { cell, Pending, Tile, type TileProps } from './kit';
import { useAnswer } from './load';
import { worthALook, Zone } from './zone';

const IDLE_BAD = 0.5,
	LOSS_TONE = 'warn';

/* idleIsBad: nothing explains why a device had nothing to do. */
function tiles(app: App, a: Aggregates, idleIsBad: boolean): TileProps[] {
	const info = app.info.value,
		d = a.devices,
		at = utc(info.start, 0),
		rows = [...Array(d.rows).keys()];
	const busy = rows.length ? rows.reduce((s, r) => s + Number(cell(d, r, 'busy')), 0) / rows.length : null;
	const share = busy === null ? null : busy / a.span,
		unfinished = info.losses.find(l => l.name === 'unfinished')?.count ?? 0;

	return [
		{
			title: 'Length',
			value: time(a.span),
			say: at ? `recorded ${at.slice(0, 16)} UTC` : 'the trace has no date',
		},
		{
			title: 'Slices',
			value: count(info.slices),
			say: `${many(a.slices.rows, 'name')}, ${many(a.threads.rows, 'track')}`,
		},
		{
			title: 'Devices busy',
			value: share === null ? '–' : percent(share),
			tone: share !== null && share < IDLE_BAD && idleIsBad ? 'bad' : undefined,
			say:
				busy === null
					? 'no device in this trace'
					: `${time(busy)} of ${time(a.span)}, mean of ${d.rows}`,
		},
		{
			title: 'Ranks',
			value: info.ranks ? count(info.ranks) : '–',
			say: info.ranks
				? `${info.files.length} file${info.files.length === 1 ? '' : 's'}`
				: 'not a parallel job',
		},
		{
			title: 'Unfinished',
			value: count(unfinished),
			tone: unfinished ? LOSS_TONE : undefined,
			say: unfinished ? 'slices that never ended' : 'every slice ended',
		},
	];
}

export function Summary({ app }: { app: App }) {
	const { value: a, error } = useAnswer(app, 'aggregate', { scope: app.scope.value }),
		found = useFindings(app);

	if (error || !a) return <Pending app={app} error={error} />;
	const v = found[0],
		idle = found.find(f => f.about === 'idle'),
		names = a.slices.data[0],
		longest = a.slices.columns.findIndex(c => c.key === 'longest');

	if (!app.zone.peek() && a.slices.rows) app.zone.value = worthALook(a.slices, app.info.peek().ranks);
	return (
		<div class="page">
			{v && <Verdict app={app} finding={v} />}
			<div class="tiles">
				{tiles(app, a, idle?.tone !== 'warn').map(t => (
					<Tile key={t.title} {...t} />
				))}
			</div>
			{found.length > 1 && <Findings app={app} all={found.slice(1)} />}
			<div class="two">
				<section class="card" aria-label="Slices by name">
					<header>
						<h2>Slices by name</h2>
						<span class="muted">double click: find zone</span>
					</header>
					<Grid
						app={app}
						table={a.slices}
						label="Slices by name"
						file="slices"
						sort="total"
						selected={r => names[r] === app.zone.value}
						onPick={r => {
							app.zone.value = String(names[r]);
							app.select(Number(a.slices.data[longest][r]));
						}}
						onOpen={() => {
							app.tab.value = 'zone';
						}}
					/>
				</section>
				<Zone app={app} compact />
			</div>
			<div class="two">
				<section class="card" aria-label="Tracks">
					<header>
						<h2>Tracks</h2>
					</header>
					<Grid app={app} table={a.threads} label="Tracks" file="tracks" sort="busy" />
				</section>
				<section class="card" aria-label="What was recorded">
					<header>
						<h2>What was recorded</h2>
					</header>
					<dl class="kv body">
						{[
							['Trace', app.info.value.title],
							...(app.info.value.subtitle ? [['About', app.info.value.subtitle]] : []),
							['Files', app.info.value.files.join(', ')],
							['Command', app.info.value.command ?? '–'],
							[
								'Clock error',
								app.info.value.clockError
									? `±${time(app.info.value.clockError)}`
									: 'not known',
							],
							...app.info.value.losses.map(l => [l.text, count(l.count)]),
							...app.info.value.notes.map(n => ['Note', n]),
						].map(([k, t], i) => (
							<div key={i}>
								<dt>{plain(k)}</dt>
								<dd>{plain(t).slice(0, 2000)}</dd>
							</div>
						))}
					</dl>
				</section>
			</div>
		</div>
	);
}
