// tour.tsx - a minute's walk: six stops, each with the place it is about lit up.

import { useEffect, useRef, useState } from 'preact/hooks';
import { remember } from './store';

const STOPS: { at: string; title: string; text: string }[] = [
	{
		at: '.rail header',
		title: 'Projects',
		text: 'Results live in projects at the left, one for each program or question. The verdict beside a result says what bounds it; the three dots rename, compare, download and delete it, and what was deleted can be undone.',
	},
	{
		at: '.rail .configure',
		title: 'Configure Analysis',
		text: 'WHERE it runs, WHAT is run, and HOW it is looked at: three panes side by side. Each has a question mark that explains it.',
	},
	{
		at: '.go, .rail .configure',
		title: 'The command line',
		text: 'Whatever you click is a command line, shown at the bottom of that page while you click. Copy it into a script and you have the same recording.',
	},
	{
		at: '.go .btn.pri, .rail .configure',
		title: 'Start paused',
		text: 'Begins with recording off, until the program calls __itt_resume() (itt.resume() in Python) or you click Resume. So results hold what you want to see and no warm-up.',
	},
	{
		at: '.railbox',
		title: 'While it runs',
		text: 'A run shows what the program says and its timeline as it grows. Pause, Resume and Stop are above it. You may close the page: the run goes on, and its result will be here.',
	},
	{
		at: '.railbox',
		title: 'Looking',
		text: 'A result opens with its Summary: one sentence on what to do first, and a link to the evidence. Timeline, flame graph, kernels and the rest are tabs; in them, the question mark key lists all keys.',
	},
];

export function Tour({ close }: { close(): void }) {
	const [at, set] = useState(0),
		box = useRef<HTMLDivElement>(null),
		stop = STOPS[at],
		last = at === STOPS.length - 1;
	const end = (): void => {
		remember('toured', '1');
		close();
	};

	useEffect(() => {
		const lit = document.querySelector(stop.at);

		lit?.classList.add('lit');
		lit?.scrollIntoView({ block: 'nearest' });
		box.current?.querySelector<HTMLElement>('.btn.pri')?.focus();
		return () => lit?.classList.remove('lit');
	}, [at]);
	return (
		<div
			class="tour card"
			ref={box}
			role="dialog"
			aria-label="Tour"
			aria-describedby="tour-text"
			onKeyDown={e => {
				e.stopPropagation();
				if (e.key === 'Escape') end();
			}}>
			<header>
				<h2>{stop.title}</h2>
				<span class="grow" />
				<span class="dim num">
					{at + 1} of {STOPS.length}
				</span>
			</header>
			<p id="tour-text" aria-live="polite">
				{stop.text}
			</p>
			<div class="row">
				<button type="button" class="btn pri" onClick={() => (last ? end() : set(at + 1))}>
					{last ? 'Done' : 'Next'}
				</button>
				<button type="button" class="btn" disabled={!at} onClick={() => set(at - 1)}>
					Back
				</button>
				<span class="grow" />
				<button type="button" class="btn ghost" onClick={end}>
					Skip the tour
				</button>
			</div>
		</div>
	);
}
