// run.tsx - a run under way: what it does, what it says, and the buttons that steer it.

import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes } from '../text/format';
import { plain } from '../text/label';
import { call, resultPath, type Piece, type Result } from './api';
import { Help } from './parts';
import { Badge } from './rail';
import { control, isBusy } from './store';
import { seconds } from './words';

const AGAIN = 500; // ms between two looks at what the program says
const MOST = 256 * 1024; // characters that are shown of it

/* A text of a result that grows while it runs: its end, piece by piece. */
export function useGrowing(project: string, result: string, what: 'output' | 'log', busy: boolean): string {
	const [text, set] = useState(''),
		next = useRef(0);

	useEffect(() => {
		const stop = new AbortController();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const look = (): void => {
			call<Piece>(
				'GET',
				`${resultPath(project, result)}/${what}?from=${next.current}`,
				undefined,
				stop.signal,
			)
				.then(p => {
					next.current = p.next;
					if (p.text) set(t => (t + p.text).slice(-MOST));
					if (busy || p.text) timer = setTimeout(look, AGAIN);
				})
				.catch(() => undefined); // the next change asks again
		};

		look();
		return () => {
			stop.abort();
			clearTimeout(timer);
		};
	}, [project, result, what, busy]);
	return text;
}

/* What terminals make of it, without the colours. */
export const readable = (text: string): string =>
	text
		.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]/g, '')
		.replace(/[^\n]*\r(?!\n)/g, '')
		.replace(/\r/g, '')
		.replace(/[\0-\x08\x0b-\x1f\x7f]/g, '·');

/* Follows its end unless somebody has scrolled away from it. */
export function Output({ text, label, lines }: { text: string; label: string; lines?: number }) {
	const box = useRef<HTMLPreElement>(null),
		atEnd = useRef(true);

	useEffect(() => {
		if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
	}, [text]);
	return (
		<pre
			class="output"
			ref={box}
			tabIndex={0}
			role="log"
			aria-label={label}
			style={lines ? { maxHeight: `${lines * 1.5}em` } : undefined}
			onScroll={e => {
				const b = e.currentTarget; // it may have left the page meanwhile

				atEnd.current = b.scrollTop + b.clientHeight > b.scrollHeight - 24;
			}}>
			{readable(text) || <span class="dim">The program has said nothing yet.</span>}
		</pre>
	);
}

/* How long it has been going on: the server tells now and then, in between we count. */
function Clock({ r }: { r: Result }) {
	const [, tick] = useState(0),
		told = useRef({ s: r.seconds ?? 0, at: Date.now() });

	if (told.current.s !== (r.seconds ?? 0)) told.current = { s: r.seconds ?? 0, at: Date.now() };
	useEffect(() => {
		const timer = setInterval(() => tick(n => n + 1), 1000);

		return () => clearInterval(timer);
	}, []);
	const base = r.seconds ?? Math.max(0, Date.now() / 1000 - r.made);

	return (
		<span class="num">
			{seconds(r.seconds === undefined ? base : base + (Date.now() - told.current.at) / 1000)}
		</span>
	);
}

/* Above a run that is under way: state, buttons, the last lines of what it says. */
export function RunStrip({ project, r }: { project: string; r: Result }) {
	const said = useGrowing(project, r.name, 'output', isBusy(r)),
		[open, setOpen] = useState(true),
		paused = r.state === 'paused',
		can = r.state === 'running' || paused;
	const button = (title: string, what: string, hint: string, on = can) => (
		<button
			type="button"
			class="btn sm"
			disabled={!on}
			title={hint}
			onClick={() => control(project, r.name, what)}>
			{title}
		</button>
	);

	return (
		<section class="runstrip" aria-label="Run under way">
			<header>
				<Badge r={r} />
				<b class="ellipsis">
					<bdi>{plain(r.name)}</bdi>
				</b>
				<Clock r={r} />
				<span class="muted ellipsis">
					{r.bytes ? bytes(r.bytes, 3) : ''} {plain(r.program).slice(0, 160)}
					{r.target && ` on ${plain(r.target)}`}
				</span>
				<span class="grow" />
				{button('Resume', 'resume', 'Record from now on', paused)}
				{button('Pause', 'pause', 'The program goes on, and is not recorded', r.state === 'running')}
				{button('Stop', 'stop', 'End the program as Ctrl-C would, and keep what was recorded')}
				{button('Cancel', 'cancel', 'End everything at once', r.state !== 'writing')}
				<button
					type="button"
					class="btn sm ghost"
					aria-expanded={open}
					onClick={() => setOpen(!open)}>
					Output
				</button>
				<Help about="A run">
					<p>
						<b>Resume</b> and <b>Pause</b> switch the recording; the program can do the same with{' '}
						<code>__itt_resume()</code> and <code>__itt_pause()</code>, and the latest word
						counts. <b>Stop</b> ends the program as Ctrl-C would, and keeps what was recorded.{' '}
						<b>Cancel</b> ends everything at once.
					</p>
					<p>You may leave this page, or end the server: the run goes on.</p>
				</Help>
			</header>
			{r.trouble && <p class="iswarn">{plain(r.trouble)}</p>}
			{open && <Output text={said} label="Output of the program" lines={7} />}
		</section>
	);
}
