// configure.tsx - Configure Analysis: WHERE, WHAT and HOW side by side, the command line below them.

import { useEffect } from 'preact/hooks';
import { plain } from '../text/label';
import { copy } from '../ui/kit';
import {
	askCommand,
	command,
	draft,
	newProject,
	otherProblems,
	start,
	starting,
	startWhereItWas,
} from './draft';
import { HowPanel } from './how';
import { Link } from './parts';
import { Badge } from './rail';
import { resultAddress } from './route';
import {
	analyses,
	choose,
	current,
	desk,
	dialog,
	failed,
	loadAnalyses,
	projects,
	runs,
	server,
} from './store';
import { WhatPanel } from './what';
import { WherePanel } from './where';
import { about } from './words';

const QUIET = 120; // ms after the last key until the line is asked for

function ProjectBar() {
	const all = projects.value ?? [];

	return (
		<div class="projectbar">
			{all.length ? (
				<>
					<label>
						Project{' '}
						<select value={current.value} onChange={e => choose(e.currentTarget.value)}>
							{all.map(p => (
								<option key={p.name} value={p.name}>
									{plain(p.name)}
								</option>
							))}
						</select>
					</label>
					<button type="button" class="btn sm" onClick={() => (dialog.value = { kind: 'project' })}>
						New…
					</button>
				</>
			) : (
				<label>
					Project{' '}
					<input
						type="text"
						value={newProject.value}
						placeholder="first"
						onInput={e => (newProject.value = e.currentTarget.value)}
					/>{' '}
					<span class="dim">the first one: it is made when you start</span>
				</label>
			)}
			<span class="grow" />
			{command.value && (
				<span class="muted">
					Result: <bdi>{plain(command.value.result)}</bdi>
				</span>
			)}
		</div>
	);
}

/* What is under way anywhere on this server. */
function Running() {
	if (!runs.value.length) return null;
	return (
		<section class="card running" aria-label="Runs under way">
			{runs.value.map(r => (
				<Link key={`${r.project}/${r.name}`} to={resultAddress(r.project, r.name)}>
					<Badge r={r} />
					<b>
						<bdi>{plain(r.name)}</bdi>
					</b>
					<span class="muted ellipsis">{plain(about(r))}</span>
				</Link>
			))}
		</section>
	);
}

/* The line is that of the button that is about to be pressed. */
function meant(paused: boolean): void {
	if ((draft.peek().paused ?? true) !== paused) draft.value = { ...draft.peek(), paused };
}

function CommandBar() {
	const line = command.value?.shell ?? '',
		can = server.value?.profiling === true && !starting.value,
		attach = draft.value.what === 'attach';

	return (
		<div class="go">
			<div class="line">
				<span class="dim" aria-hidden="true">
					$
				</span>
				<code aria-label="Equivalent command line" tabIndex={0} role="region">
					{plain(line)}
				</code>
				<button type="button" class="btn sm" disabled={!line} onClick={() => copy(desk, line)}>
					Copy
				</button>
			</div>
			{otherProblems.value.map(p => (
				<p key={p.text} class="isbad" role="alert">
					{p.field && `${p.field}: `}
					{p.text}
				</p>
			))}
			<div class="row tight">
				{!attach && (
					<button
						type="button"
						class="btn pri big"
						disabled={!can}
						title="Recording begins when the program, or you, say so"
						onPointerEnter={() => meant(true)}
						onFocus={() => meant(true)}
						onClick={() => void start(true)}>
						▶ Start Paused
					</button>
				)}
				<button
					type="button"
					class={`btn big ${attach ? 'pri' : ''}`}
					disabled={!can}
					onPointerEnter={() => meant(false)}
					onFocus={() => meant(false)}
					onClick={() => void start(false)}>
					Start
				</button>
			</div>
		</div>
	);
}

export function Configure() {
	const project = current.value;

	useEffect(() => {
		if (!analyses.peek()) void loadAnalyses().catch(failed);
	}, []);
	useEffect(() => void startWhereItWas(project), [project]);
	useEffect(() => {
		const timer = setTimeout(() => void askCommand(draft.value, project), command.peek() ? QUIET : 0);

		return () => clearTimeout(timer);
	}, [draft.value, project]);
	return (
		<div class="configurepage">
			<ProjectBar />
			<div class="panes">
				<WherePanel />
				<WhatPanel />
				<HowPanel />
			</div>
			<Running />
			<CommandBar />
		</div>
	);
}
