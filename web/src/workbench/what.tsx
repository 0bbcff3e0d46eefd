// what.tsx - WHAT is run: a program, a process that runs already, or the ranks of an MPI job.

import { Segments } from '../ui/kit';
import type { Variable, What } from './api';
import { BrowseButton, Processes } from './browse';
import { draft, edit, type Past, past, wrongWith } from './draft';
import { Check, Panel, Text, type TextProps } from './parts';
import { server } from './store';

function Environment() {
	const all: Variable[] = [...(draft.value.environment ?? []), { name: '', value: '' }];
	const set = (at: number, change: Partial<Variable>): void => {
		const next = all.map((v, i) => (i === at ? { ...v, ...change } : v));

		edit({
			environment: next.filter((v, i) => v.name || v.value || i === at).filter(v => v.name || v.value),
		});
	};
	const wrong = wrongWith('environment');

	return (
		<div class={`field ${wrong ? 'wrong' : ''}`} role="group" aria-label="Environment variables">
			<span class="flabel">Environment</span>
			<div class="env">
				{all.map((v, i) => (
					<div key={i}>
						<input
							type="text"
							class="mono"
							aria-label={`Name of variable ${i + 1}`}
							placeholder="NAME"
							value={v.name}
							spellcheck={false}
							onInput={e => set(i, { name: e.currentTarget.value })}
						/>
						<input
							type="text"
							class="mono"
							aria-label={`Value of variable ${i + 1}`}
							placeholder="value"
							value={v.value}
							spellcheck={false}
							onInput={e => set(i, { value: e.currentTarget.value })}
						/>
					</div>
				))}
			</div>
			{wrong && <p class="isbad">{wrong}</p>}
		</div>
	);
}

interface EntryProps extends Omit<TextProps, 'value' | 'set' | 'wrong'> {
	of: Past | 'duration' | 'resumeAfter' | 'stopAfter' | 'maxSize' | 'keepLast' | 'name';
}

/* A text of the configuration. */
const Entry = ({ of, ...p }: EntryProps) => (
	<Text {...p} value={draft.value[of] ?? ''} set={v => edit({ [of]: v })} wrong={wrongWith(of)} />
);

/* One that is often typed again, or found on the disk. */
const Again = ({ of, browse, ...p }: EntryProps & { of: Past; browse?: 'file' | 'folder' }) => (
	<Entry
		{...p}
		of={of}
		mono
		list={past(of)}
		after={
			browse &&
			server.value?.profiling &&
			!draft.value.target && ( // the files of another machine are not here
				<BrowseButton what={browse} value={draft.value[of] ?? ''} set={v => edit({ [of]: v })} />
			)
		}
	/>
);

function Program() {
	return (
		<>
			{draft.value.what === 'mpi' && (
				<Again
					of="launcher"
					label="MPI launcher"
					placeholder="mpiexec -n 4"
					hint="Stands before unitrace, so that each rank is recorded."
				/>
			)}
			<Again
				of="application"
				label="Application"
				placeholder="bash, python, /path/to/program"
				browse="file"
			/>
			<Again of="parameters" label="Application parameters" placeholder="run.sh" />
			<Again of="directory" label="Working directory" placeholder="the home folder" browse="folder" />
			<Environment />
		</>
	);
}

function Attach() {
	const d = draft.value;

	return (
		<>
			<Text
				label="Process"
				mono
				value={d.pid ? String(d.pid) : ''}
				set={v => edit({ pid: Number.parseInt(v, 10) || undefined })}
				wrong={wrongWith('pid')}
				placeholder="PID, or choose one below"
			/>
			<Entry
				of="duration"
				label="Stop after"
				placeholder="when I click Stop"
				hint="10s, 2min. The process itself goes on."
			/>
			{server.value?.profiling && (
				<Processes
					key={d.target}
					target={d.target ?? ''}
					pid={d.pid ?? 0}
					pick={pid => edit({ pid })}
				/>
			)}
		</>
	);
}

function Limits() {
	const d = draft.value,
		attach = d.what === 'attach';

	return (
		<details class="advanced">
			<summary>Advanced</summary>
			{!attach && (
				<>
					<Check
						label="Analyze child processes"
						value={d.children ?? true}
						set={children => edit({ children })}
						hint="Also what the program starts: a script's programs, workers, ranks."
					/>
					<div class="pair">
						<Entry
							of="resumeAfter"
							label="Auto-resume after"
							placeholder="at once"
							hint="10s, 250ms"
						/>
						<Entry
							of="stopAfter"
							label="Auto-stop after"
							placeholder="never"
							hint="Recording ends, the program goes on."
						/>
					</div>
				</>
			)}
			<div class="pair">
				<Entry
					of="maxSize"
					label="Limit the result's size"
					placeholder="no limit"
					hint="4G: recording stops then."
				/>
				<Entry
					of="keepLast"
					label="Keep only the last"
					placeholder="everything"
					hint="10s or 64M before the end."
				/>
			</div>
			<Entry of="name" label="Name of the result" placeholder="the next number" />
		</details>
	);
}

export function WhatPanel() {
	const d = draft.value;

	return (
		<Panel
			title="WHAT"
			help={
				<>
					<p>
						A program with its parameters, split into words as a shell would, but run by none: for
						pipes or <code>source env.sh</code> write a script, and run <code>bash</code> with{' '}
						<code>run.sh</code>.
					</p>
					<p>
						To record only a part, start paused and call <code>__itt_resume()</code>, or{' '}
						<code>itt.resume()</code> in Python, where it begins.
					</p>
					<p>Attach takes CPU samples of a process that runs already.</p>
				</>
			}>
			<div class="panelbody">
				<Segments
					label="Kind of target"
					value={d.what ?? 'launch'}
					set={(what: What) => edit({ what })}
					of={[
						{ id: 'launch', title: 'Launch Application' },
						{ id: 'attach', title: 'Attach to Process' },
						{ id: 'mpi', title: 'MPI Job' },
					]}
				/>
				{d.what === 'attach' ? <Attach /> : <Program />}
				<Limits />
			</div>
		</Panel>
	);
}
