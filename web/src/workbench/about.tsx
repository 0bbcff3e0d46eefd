// about.tsx - what a result is besides its trace: what was asked for, how it went, what it said.

import { useEffect, useState } from 'preact/hooks';
import type { App } from '../state/app';
import { bytes, count } from '../text/format';
import { plain } from '../text/label';
import { copy } from '../ui/kit';
import { api, call, path, resultPath, type Result, type ResultDetail } from './api';
import { configureAgain } from './draft';
import { Form, Panel, Text } from './parts';
import { Output, useGrowing } from './run';
import { desk, dialog, failed, find, isBusy } from './store';
import { ending, howItEnded, seconds, stateOf, when } from './words';

export interface Of {
	project: string;
	result: string;
}

/* Asked again when something about it has changed. */
export function useDetail({ project, result }: Of): ResultDetail | null {
	const [detail, set] = useState<ResultDetail | null>(null),
		r = find(project, result);

	useEffect(() => {
		const stop = new AbortController();

		call<ResultDetail>('GET', resultPath(project, result), undefined, stop.signal)
			.then(set)
			.catch((e: unknown) => {
				if (!stop.signal.aborted) failed(e);
			});
		return () => stop.abort();
	}, [project, result, r?.state, r?.hasNotes, r?.bytes]);
	return detail;
}

function Facts({ of }: { of: [string, string | undefined][] }) {
	return (
		<dl class="kv body">
			{of
				.filter(([, v]) => v)
				.map(([k, v]) => (
					<div key={k}>
						<dt>{k}</dt>
						<dd>{plain(v!).slice(0, 4000)}</dd>
					</div>
				))}
		</dl>
	);
}

const join = (words: Record<string, string> | undefined): string =>
	Object.entries(words ?? {})
		.map(([k, v]) => `${k}=${v}`)
		.join(' ');

/* What lies on another machine since the connection was lost. */
export function Fetch(of: Of) {
	const d = useDetail(of),
		[password, set] = useState('');

	if (!d?.far) return null;
	return (
		<Form
			button="Fetch it"
			run={() =>
				call('POST', `${resultPath(of.project, of.result)}/control`, {
					do: 'fetch',
					...(password ? { password } : {}),
				})
			}>
			{d.asked?.machine?.login === 'password' && (
				<Text label="Password" type="password" complete="off" value={password} set={set} />
			)}
		</Form>
	);
}

/* Analysis Configuration: what was asked for, and how to ask for it again. */
export function Asked({ project, result }: Of) {
	const d = useDetail({ project, result });

	if (!d) return <div class="page" aria-busy="true" />;
	const c = d.asked?.configuration;

	return (
		<div class="page">
			<Panel
				title="Analysis Configuration"
				head={
					c && (
						<button
							type="button"
							class="btn sm"
							onClick={() => void configureAgain(project, result)}>
							Configure again
						</button>
					)
				}
				help={
					<p>What this result was made with. Configure again begins with the same and runs anew.</p>
				}>
				<Facts
					of={[
						['Analysis', d.analysis || 'none: it was imported'],
						['Program', d.program],
						['From', d.asked?.from],
						['Working directory', d.asked?.directory],
						['Machine', d.target || (d.analysis && 'this machine')],
						['Options', join(c?.options)],
						['Environment', c?.environment?.map(v => `${v.name}=${v.value}`).join(' ')],
						['Made', when(d.made)],
					]}
				/>
				{d.asked?.shell && (
					<div class="line body">
						<code tabIndex={0} role="region" aria-label="Command line">
							{plain(d.asked.shell)}
						</code>
						<button type="button" class="btn sm" onClick={() => copy(desk, d.asked!.shell!)}>
							Copy
						</button>
					</div>
				)}
			</Panel>
			<Panel
				title="Notes"
				head={
					<button
						type="button"
						class="btn sm"
						onClick={() => (dialog.value = { kind: 'notes', project, result })}>
						Edit
					</button>
				}
				help={<p>What people say about this result: kept beside it, in notes.txt.</p>}>
				<p class="body notes">
					{d.notes ? plainLines(d.notes) : 'None. Say what you saw, and why you ran it.'}
				</p>
			</Panel>
			<Panel
				title="Files"
				head={
					<a class="btn sm" href={api(`${resultPath(project, result)}/download`)}>
						Download all
					</a>
				}
				help={
					<p>
						What lies in the folder of this result. Traces can be opened by any of our commands.
					</p>
				}>
				<ul class="chooserlist" aria-label="Files">
					{d.files.map(f => (
						<li key={f.name}>
							<a
								class="link mono ellipsis"
								href={api(`${resultPath(project, result)}/files/${path(f.name)}`)}>
								<bdi>{plain(f.name)}</bdi>
							</a>
							<span class="dim num">
								{f.trace ? 'trace, ' : ''}
								{bytes(f.bytes, 3)}
							</span>
						</li>
					))}
				</ul>
			</Panel>
		</div>
	);
}

/* Lines stay lines. */
const plainLines = (text: string): string => text.split('\n').map(plain).join('\n');

interface RunEvent {
	time?: number;
	kind?: string;
	level?: string;
	text?: string;
	path?: string;
	paths?: string[];
	count?: number;
	pid?: number;
	status?: number;
}

function parseEvents(text: string): RunEvent[] {
	return text
		.split('\n')
		.filter(Boolean)
		.map(line => {
			try {
				return JSON.parse(line) as RunEvent;
			} catch {
				return { text: line }; // its beginning was not kept
			}
		});
}

const KINDS: Record<string, (n: RunEvent) => string> = {
	starting: n => `started, recording into ${n.path ?? ''}`,
	'not-started': n => `${n.path ?? 'the program'} could not be started`,
	ended: n => `the program has ended${n.status ? `: ${ending(n.status)}` : ''}`,
	'could-not-record': n => `process ${n.pid ?? ''} could not be recorded`,
	'silent-process': n => `process ${n.pid ?? ''} ended without a word`,
	timeline: n => `timeline: ${n.path ?? ''}`,
	report: n => `report: ${n.path ?? ''}`,
	lost: n => `${count(n.count ?? 0)} events were lost`,
	nothing: () => 'nothing was recorded',
	results: n => `results: ${(n.paths ?? []).join(', ')}`,
	'still-running': n => `process ${n.pid ?? ''} is still running`,
	kept: n => `kept: ${n.path ?? ''}`,
	finished: () => 'finished',
};

const said = (n: RunEvent): string => n.text ?? KINDS[n.kind ?? '']?.(n) ?? n.path ?? n.kind ?? '';
const clock = (t: number | undefined): string => (t ? new Date(t * 1000).toLocaleTimeString('en-GB') : '');

function Happened({ project, r }: { project: string; r: Result }) {
	const text = useGrowing(project, r.name, 'log', isBusy(r)),
		events = parseEvents(text).filter(n => n.kind !== 'growing');

	return (
		<ul class="body loglist" aria-label="What happened">
			{events.map((n, i) => (
				<li
					key={i}
					class={
						n.level === 'error'
							? 'isbad'
							: n.level === 'warning' || n.kind === 'lost'
								? 'iswarn'
								: ''
					}>
					<span class="dim num">{clock(n.time)}</span>{' '}
					{said(n).includes('\n') ? (
						<pre class="output">{plainLines(said(n).trimEnd()).slice(0, 20000)}</pre>
					) : (
						plain(said(n)).slice(0, 2000)
					)}
				</li>
			))}
			{!events.length && <li class="dim">Nothing was said by the recorder.</li>}
		</ul>
	);
}

/* Collection Log: how it went, what happened, what the program said. */
export function CollectionLog({ project, result, app }: Of & { app?: App }) {
	const r = find(project, result);
	const said = useGrowing(project, result, 'output', !!r && isBusy(r)),
		info = app?.info.value;

	if (!r) return null;
	return (
		<div class="page">
			<Panel
				title="Collection Log"
				help={
					<p>
						How the run went: what the recorder had to say, how the program ended, what was lost.
						A run that failed says why here.
					</p>
				}>
				<Facts
					of={[
						['State', stateOf(r)],
						['How it ended', r.analysis && !isBusy(r) ? howItEnded(r.status) : ''],
						['Why', r.trouble],
						['Ran', r.seconds !== undefined ? seconds(r.seconds) : ''],
						['Found', r.say],
						['Size', r.bytes ? bytes(r.bytes, 3) : ''],
						['Made', when(r.made)],
						...(info?.losses ?? []).map((l): [string, string] => [l.text, count(l.count)]),
						...(info?.notes ?? []).map((n, i): [string, string] => [`Remark ${i + 1}`, n]),
					]}
				/>
				{r.analysis && <Happened project={project} r={r} />}
			</Panel>
			{r.analysis && (
				<Panel title="Output" help={<p>What the program wrote to its terminal, in one stream.</p>}>
					<Output text={said} label="Output of the program" />
				</Panel>
			)}
		</div>
	);
}
