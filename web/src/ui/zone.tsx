// zone.tsx - find zone: how long all slices of one name took, and which of them took long.

import { useEffect } from 'preact/hooks';
import { exactly } from '../source/query';
import { trackOf, type Distribution, type GroupBy, type SliceRef, type Table } from '../source/contract';
import type { App } from '../state/app';
import { useKeptJson } from '../state/kept';
import { many, time } from '../text/format';
import { plain } from '../text/label';
import { Chart } from './chart';
import { cell, Empty, Failure, Name, placePath, Segments, Thinned } from './kit';
import { useAnswer } from './load';

const BINS = 80;

function PickName({ app }: { app: App }) {
	const { value } = useAnswer(app, 'words', {}),
		id = 'zone-names';

	return (
		<>
			<input
				type="search"
				list={id}
				class="zname mono"
				aria-label="Name of the zone"
				placeholder="name"
				value={app.zone.value}
				onChange={e => {
					app.zone.value = e.currentTarget.value;
				}}
			/>
			<datalist id={id}>
				{value?.slice(0, 2000).map(n => (
					<option key={n} value={n.slice(0, 300)} />
				))}
			</datalist>
		</>
	);
}

interface Choices {
	log: boolean; // time axis
	counts: boolean; // logarithm of counts
	self: boolean;
	group: GroupBy;
	argument: string;
}

interface ControlsProps {
	of: Choices;
	set(change: Partial<Choices>): void;
	keys: string[]; // arguments to group by
	compact?: boolean;
}

const LOG_TIME = [
	{ id: 'log', title: 'log time' },
	{ id: 'lin', title: 'linear' },
] as const;
const LOG_COUNT = [
	{ id: 'log', title: 'log count' },
	{ id: 'lin', title: 'linear' },
] as const;
const WHAT = [
	{ id: 'total', title: 'total' },
	{ id: 'self', title: 'self' },
] as const;

function Grouping({ of, set, keys }: ControlsProps) {
	const groups = ['none', 'track', 'rank', 'parent', ...(keys.length ? ['argument'] : [])];

	return (
		<>
			<label class="muted">
				by{' '}
				<select
					aria-label="Group by"
					value={of.group}
					onChange={e => set({ group: e.currentTarget.value as GroupBy })}>
					{groups.map(g => (
						<option key={g} value={g}>
							{g === 'none' ? 'nothing' : g}
						</option>
					))}
				</select>
			</label>
			{of.group === 'argument' && (
				<select
					aria-label="Argument"
					value={of.argument}
					onChange={e => set({ argument: e.currentTarget.value })}>
					<option value="">which?</option>
					{keys.map(a => (
						<option key={a} value={a}>
							{plain(a)}
						</option>
					))}
				</select>
			)}
		</>
	);
}

function Controls(p: ControlsProps) {
	const { of, set } = p,
		axis = (on: boolean) => (on ? 'log' : 'lin');

	return (
		<>
			<Segments
				label="Time axis"
				value={axis(of.log)}
				set={v => set({ log: v === 'log' })}
				of={[...LOG_TIME]}
			/>
			{!p.compact && (
				<Segments
					label="Counts"
					value={axis(of.counts)}
					set={v => set({ counts: v === 'log' })}
					of={[...LOG_COUNT]}
				/>
			)}
			<Segments
				label="Of"
				value={of.self ? 'self' : 'total'}
				set={v => set({ self: v === 'self' })}
				of={[...WHAT]}
			/>
			{!p.compact && <Grouping {...p} />}
		</>
	);
}

type Chosen = [number, number] | null;

interface ResultProps {
	app: App;
	name: string;
	d: Distribution;
	of: Choices;
	chosen: Chosen;
	choose(range: Chosen): void;
}

const queryOf = (name: string, of: Choices, [a, b]: [number, number]): string =>
	`${exactly(name)} ${of.self ? 'self' : 'dur'}:${Math.floor(a)}..${Math.ceil(b)}`;

function Stats({ app, name, d, of, chosen }: ResultProps) {
	const ask = chosen && { scope: app.scope.value, limit: 1, query: queryOf(name, of, chosen) };
	const own = useAnswer(app, 'search', ask);
	const all = [
		['min', d.min],
		['p50', d.p50],
		['mean', d.mean],
		['p90', d.p90],
		['p99', d.p99],
		['max', d.max],
		['sum', d.sum],
	] as const;

	return (
		<dl class="stats">
			{all.map(([k, v]) => (
				<div key={k}>
					<dt>{k}</dt>
					<dd class="num">{time(v)}</dd>
				</div>
			))}
			{chosen && (
				<div>
					<dt>selected</dt>
					<dd class="num">
						{own.value ? many(own.value.count, 'call') : '…'}, {time(chosen[0], 3)} to{' '}
						{time(chosen[1], 3)}
					</dd>
				</div>
			)}
		</dl>
	);
}

/* What leads from the histogram to the timeline. */
function Ways({ app, name, d, of, chosen }: ResultProps) {
	const go = (how: () => void) => () => {
		how();
		app.tab.value = 'timeline';
	};
	const label = chosen && `${plain(name).slice(0, 30)} ${time(chosen[0], 3)} to ${time(chosen[1], 3)}`;
	const filter = go(() => app.narrow({ label: label!, query: queryOf(name, of, chosen!) }));

	return (
		<div class="row">
			<button type="button" class="btn sm" disabled={!chosen} onClick={filter}>
				Filter timeline
			</button>
			<button
				type="button"
				class="btn sm"
				disabled={!chosen}
				onClick={go(() => app.search(queryOf(name, of, chosen!)))}>
				Walk through them
			</button>
			<button type="button" class="btn sm" onClick={go(() => app.select(d.outliers[0].id, true))}>
				Show the longest
			</button>
		</div>
	);
}

/* All have the same name: what tells them apart is where and when. */
function Outliers({ app, of }: { app: App; of: SliceRef[] }) {
	const show = (id: number) => {
		app.select(id, true);
		app.tab.value = 'timeline';
	};

	return (
		<>
			<h3>The longest</h3>
			<ol class="outliers">
				{of.map(o => (
					<li key={o.id}>
						<button type="button" class="link" onClick={() => show(o.id)}>
							<Name text={placePath(app, app.byTrack.value.get(trackOf(o.id)))} />
						</button>
						<span class="num muted">at {time(o.t)}</span>
						<span class="num">{time(o.dur)}</span>
					</li>
				))}
			</ol>
		</>
	);
}

function Result(p: ResultProps & { compact?: boolean }) {
	const { d, of, name } = p;
	const say =
		`Durations of ${plain(name).slice(0, 200)}: half take ${time(d.p50)} or less, ` +
		`one in a hundred ${time(d.p99)} or more, the longest ${time(d.max)}.`;
	const marks = [
		{ at: d.p50, label: 'p50' },
		{ at: d.p99, label: 'p99' },
	];

	if (d.count === 0) return <Empty title={`No slice is called ${plain(name).slice(0, 80)} here.`} />;
	return (
		<div class="body">
			<Chart
				label={say}
				series={d.groups}
				low={d.low}
				high={d.high}
				log={of.log}
				logCount={of.counts}
				unit={v => time(v, 3)}
				times
				chosen={p.chosen}
				onChoose={p.choose}
				marks={marks}
			/>
			<Stats {...p} />
			<Ways {...p} />
			{!p.compact && <Outliers app={p.app} of={d.outliers} />}
		</div>
	);
}

const FIRST: Choices = { log: true, counts: true, self: false, group: 'none', argument: '' };

/* The name to begin with: of those that there are several of in a rank, the one with the most self time. */
export function worthALook(t: Table, ranks: number): string {
	const rows = [...Array(t.rows).keys()],
		several = rows.filter(r => Number(cell(t, r, 'count')) > Math.max(1, ranks));
	const self = (r: number) => Number(cell(t, r, 'self') ?? 0);

	return String(
		cell(
			t,
			(several.length ? several : rows).reduce((x, y) => (self(y) > self(x) ? y : x)),
			'name',
		),
	);
}

export function Zone({ app, compact }: { app: App; compact?: boolean }) {
	const [of, setOf] = useKeptJson(app, 'zone', FIRST),
		[chosen, choose] = useKeptJson<Chosen>(app, 'zone.range', null);
	const name = app.zone.value,
		{ self, log, group, argument } = of;
	const ask = { scope: app.scope.value, name, self, log, bins: BINS, group, argument };
	const { value: d, error } = useAnswer(app, 'distribution', name ? ask : null);
	const { value: all } = useAnswer(app, 'aggregate', name ? null : { scope: app.scope.value });

	useEffect(() => {
		if (!app.zone.peek() && all?.slices.rows)
			app.zone.value = worthALook(all.slices, app.info.peek().ranks);
	}, [all]);
	const set = (change: Partial<Choices>) => {
		setOf({ ...of, ...change });
		if ('log' in change || 'self' in change) choose(null);
	};

	return (
		<section class={`card ${compact ? '' : 'tall'}`} aria-label="Find zone">
			<header>
				<h2>Find zone</h2>
				<Thinned app={app} />
				<PickName app={app} />
				{d && <span class="muted num">{many(d.count, 'call')}</span>}
				<span class="grow" />
				<Controls of={of} set={set} keys={d?.arguments ?? []} compact={compact} />
			</header>
			{!name && all && (
				<Empty title="No name is chosen.">
					<p>
						Choose one above, or press <kbd>Z</kbd> on a selected slice.
					</p>
				</Empty>
			)}
			{name && error && <Failure app={app} text={error} />}
			{name && !error && d && (
				<Result
					app={app}
					name={name}
					d={d}
					of={of}
					chosen={chosen}
					choose={choose}
					compact={compact}
				/>
			)}
		</section>
	);
}
