// zone.tsx - find zone: how long all slices of one name took, and which of them took long.

import { useState } from 'preact/hooks';
import { exactly } from '../engine/query';
import type { GroupBy } from '../source/contract';
import type { App } from '../state/app';
import { count, time } from '../text/format';
import { plain } from '../text/label';
import { Chart } from './chart';
import { Empty, Failure, Name, Segments } from './kit';
import { useAnswer } from './load';

const BINS = 80;

function PickName({ app }: { app: App }) {
	const { value } = useAnswer(app, 'words', {}), id = 'zone-names';

	return <><input type="search" list={id} class="zname mono" aria-label="Name of the zone" placeholder="name" value={app.zone.value}
		onChange={e => { app.zone.value = e.currentTarget.value; }} />
	<datalist id={id}>{value?.slice(0, 2000).map(n => <option key={n} value={n.slice(0, 300)} />)}</datalist></>;
}

export function Zone({ app, compact }: { app: App; compact?: boolean }) {
	const [log, setLog] = useState(true), [self, setSelf] = useState(false), [counts, setCounts] = useState(true);
	const [group, setGroup] = useState<GroupBy>('none'), [argument, setArgument] = useState(''), [chosen, choose] = useState<[number, number] | null>(null);
	const name = app.zone.value, scope = app.scope.value;
	const { value: d, error } = useAnswer(app, 'distribution', name ? { scope, name, self, log, bins: BINS, group, argument } : null);
	const own = useAnswer(app, 'search', name && chosen && d ? { scope, limit: 1,
		query: `${exactly(name)} ${self ? 'self' : 'dur'}:${Math.floor(chosen[0])}..${Math.ceil(chosen[1])}` } : null);
	const range = chosen ? `${self ? 'self' : 'dur'}:${Math.floor(chosen[0])}..${Math.ceil(chosen[1])}` : '';

	return <section class={`card ${compact ? '' : 'tall'}`} aria-label="Find zone"><header><h2>Find zone</h2><PickName app={app} />
		{d && <span class="muted num">{count(d.count)} calls</span>}<span class="grow" />
		<Segments label="Time axis" value={log ? 'log' : 'lin'} set={v => { setLog(v === 'log'); choose(null); }} of={[{ id: 'log', title: 'log time' }, { id: 'lin', title: 'linear' }]} />
		{!compact && <Segments label="Counts" value={counts ? 'log' : 'lin'} set={v => setCounts(v === 'log')} of={[{ id: 'log', title: 'log count' }, { id: 'lin', title: 'linear' }]} />}
		<Segments label="Of" value={self ? 'self' : 'total'} set={v => setSelf(v === 'self')} of={[{ id: 'total', title: 'total' }, { id: 'self', title: 'self' }]} />
		{!compact && <label class="muted">by <select aria-label="Group by" value={group} onChange={e => setGroup(e.currentTarget.value as GroupBy)}>
			<option value="none">nothing</option><option value="track">track</option><option value="rank">rank</option><option value="parent">parent</option>
			{(d?.arguments.length ?? 0) > 0 && <option value="argument">argument</option>}</select></label>}
		{group === 'argument' && <select aria-label="Argument" value={argument} onChange={e => setArgument(e.currentTarget.value)}>
			<option value="">which?</option>{d?.arguments.map(a => <option key={a} value={a}>{plain(a)}</option>)}</select>}
	</header>
	{!name ? <Empty title="No name is chosen."><p>Choose one above, or press <kbd>G</kbd> on a selected slice.</p></Empty>
		: error ? <Failure app={app} text={error} /> : d && d.count === 0 ? <Empty title={`No slice is called ${plain(name).slice(0, 80)} here.`} />
			: d && <div class="body">
				<Chart label={`Durations of ${plain(name).slice(0, 200)}: half take ${time(d.p50)} or less, one in a hundred ${time(d.p99)} or more, the longest ${time(d.max)}.`}
					series={d.groups} low={d.low} high={d.high} log={log} logCount={counts} unit={v => time(v, 3)} chosen={chosen} onChoose={choose}
					marks={[{ at: d.p50, label: 'p50' }, { at: d.p99, label: 'p99' }]} />
				<dl class="stats">{([['min', d.min], ['p50', d.p50], ['mean', d.mean], ['p90', d.p90], ['p99', d.p99], ['max', d.max], ['sum', d.sum]] as const).map(([k, v]) =>
					<div key={k}><dt>{k}</dt><dd class="num">{time(v)}</dd></div>)}
				{chosen && <div><dt>selected</dt><dd class="num">{own.value ? `${count(own.value.count)} calls` : '…'}, {time(chosen[0], 3)} to {time(chosen[1], 3)}</dd></div>}</dl>
				<div class="row">
					<button type="button" class="btn sm" disabled={!chosen} onClick={() => {
						app.narrow({ label: `${plain(name).slice(0, 30)} ${time(chosen![0], 3)} to ${time(chosen![1], 3)}`, query: `${exactly(name)} ${range}` });
						app.tab.value = 'timeline';
					}}>Filter timeline</button>
					<button type="button" class="btn sm" disabled={!chosen} onClick={() => { app.search(`${exactly(name)} ${range}`); app.tab.value = 'timeline'; }}>Walk through them</button>
					<button type="button" class="btn sm" onClick={() => { app.select(d.outliers[0].id, true); app.tab.value = 'timeline'; }}>Show the longest</button></div>
				{!compact && <><h3>The longest</h3><ol class="outliers">{d.outliers.map(o => <li key={o.id}><button type="button" class="link"
					onClick={() => { app.select(o.id, true); app.tab.value = 'timeline'; }}><Name text={o.name} /></button>
				<span class="num muted">at {time(o.t)}</span><span class="num">{time(o.dur)}</span></li>)}</ol></>}
			</div>}
	</section>;
}
