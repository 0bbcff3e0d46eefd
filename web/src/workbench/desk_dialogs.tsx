// desk_dialogs.tsx - the questions of the page: names, imports, notes, what to compare, the trash.

import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes } from '../text/format';
import { plain } from '../text/label';
import { Dialog, Segments } from '../ui/kit';
import { api, call, path, Refusal, resultPath, type Deleted, type Place, type ResultDetail } from './api';
import { BrowseButton } from './browse';
import { AskName, Field, Form, Text } from './parts';
import { compareAddress, go, resultAddress } from './route';
import {
	addProject,
	changeResult,
	choose,
	current,
	dialog,
	everyResult,
	failed,
	find,
	isBusy,
	loadProjects,
	projects,
	renameProject,
	restore,
	server,
	tell,
	trash,
	treeReads,
} from './store';
import { Tour } from './tour';
import { when } from './words';

const close = (): void => {
	dialog.value = null;
};

/* Which project: a list, or a field for the first one. */
function ProjectChoice({ value, set }: { value: string; set(v: string): void }) {
	const all = projects.value ?? [];

	if (!all.length)
		return <Text label="Project" value={value} set={set} hint="There is none yet: this one is made." />;
	return (
		<Field label="Project">
			{ids => (
				<select {...ids} value={value} onChange={e => set(e.currentTarget.value)}>
					{all.map(p => (
						<option key={p.name} value={p.name}>
							{plain(p.name)}
						</option>
					))}
				</select>
			)}
		</Field>
	);
}

/* ---- import ---- */

/* fetch() does not tell how much has been sent. */
function upload(
	project: string,
	file: File,
	result: string,
	progress: (share: number) => void,
	stop: AbortSignal,
): Promise<Place> {
	const query = new URLSearchParams({ file: file.name, ...(result ? { result } : {}) });

	return new Promise((done, fail) => {
		const r = new XMLHttpRequest();
		const refuse = (): void => {
			let text = '';

			try {
				text = (JSON.parse(r.responseText) as { error: string }).error;
			} catch {
				// a proxy's page, or nothing
			}
			fail(new Refusal(r.status, text || `the file did not arrive (${r.status || 'no answer'})`));
		};

		r.open('POST', api(`projects/${path(project)}/results?${query.toString()}`));
		r.setRequestHeader('X-Unitrace', '1');
		r.setRequestHeader('Content-Type', 'application/octet-stream');
		r.upload.onprogress = e => e.lengthComputable && progress(e.loaded / e.total);
		r.onload = () => (r.status === 200 ? done(JSON.parse(r.responseText) as Place) : refuse());
		r.onerror = refuse;
		r.onabort = () => fail(new DOMException('stopped', 'AbortError'));
		stop.addEventListener('abort', () => r.abort());
		r.send(file);
	});
}

function FileDrop({ files, set }: { files: File[]; set(f: File[]): void }) {
	const [over, setOver] = useState(false);

	return (
		<Field
			label="Files"
			hint={
				files.length
					? files.map(f => `${plain(f.name)}, ${bytes(f.size, 3)}`).join('; ')
					: 'Chrome and Perfetto traces, .utr, CSV of metrics, also compressed. Each becomes a result.'
			}>
			{ids => (
				<div
					class={`drop ${over ? 'over' : ''}`}
					onDragOver={e => {
						e.preventDefault();
						setOver(true);
					}}
					onDragLeave={() => setOver(false)}
					onDrop={e => {
						e.preventDefault();
						setOver(false);
						set([...(e.dataTransfer?.files ?? [])]);
					}}>
					<input
						{...ids}
						type="file"
						multiple
						onChange={e => set([...(e.currentTarget.files ?? [])])}
					/>
					<span class="dim">or drop them here</span>
				</div>
			)}
		</Field>
	);
}

function Import() {
	const [from, setFrom] = useState<'upload' | 'path'>('upload'),
		[project, setProject] = useState(current.value || 'imported'),
		[files, setFiles] = useState<File[]>([]),
		[where, setWhere] = useState(''),
		[name, setName] = useState(''),
		[share, setShare] = useState(-1),
		stop = useRef(new AbortController());
	const send = async (): Promise<Place> => {
		let last: Place = { project, result: null };

		for (const [i, file] of files.entries())
			last = await upload(
				project,
				file,
				files.length === 1 ? name : '',
				s => setShare((i + s) / files.length),
				stop.current.signal,
			);
		return last;
	};
	const run = async (): Promise<void> => {
		if (!find(project, '') && !projects.peek()?.some(p => p.name === project)) await addProject(project);
		choose(project);
		stop.current = new AbortController();
		try {
			const place =
				from === 'upload'
					? await send()
					: await call<Place>('POST', `projects/${path(project)}/results`, {
							path: where,
							...(name ? { result: name } : {}),
						});

			await loadProjects();
			close();
			if (place.result && files.length < 2) go(resultAddress(place.project, place.result));
			tell(files.length > 1 ? `${files.length} results imported.` : `Imported ${place.result ?? ''}.`);
		} finally {
			setShare(-1);
		}
	};

	useEffect(() => () => stop.current.abort(), []);
	return (
		<Dialog title="Import a trace" close={close}>
			<Form
				button="Import"
				disabled={!project || (from === 'upload' ? !files.length : !where)}
				run={run}
				beside={
					share >= 0 && (
						<>
							<progress max={1} value={share} aria-label="Sent" />
							<span class="num">{Math.round(100 * share)} %</span>
							<button type="button" class="btn" onClick={() => stop.current.abort()}>
								Stop
							</button>
						</>
					)
				}>
				<Segments
					label="From"
					value={from}
					set={setFrom}
					of={[
						{ id: 'upload', title: 'From this computer' },
						{ id: 'path', title: 'From a path of the server' },
					]}
				/>
				<ProjectChoice value={project} set={setProject} />
				{from === 'upload' ? (
					<FileDrop files={files} set={setFiles} />
				) : (
					<Text
						label="Path on the server"
						mono
						value={where}
						set={setWhere}
						placeholder="/data/run.json"
						hint={
							server.value?.profiling
								? 'It is copied.'
								: `Within ${server.value?.dataDirectory ?? 'the data directory'} only: elsewhere needs --enable-server-profiling. It is copied.`
						}
						after={
							server.value?.profiling && (
								<BrowseButton what="file" value={where} set={setWhere} />
							)
						}
					/>
				)}
				{files.length < 2 && (
					<Text
						label="Name of the result"
						value={name}
						set={setName}
						placeholder="that of the file"
					/>
				)}
			</Form>
		</Dialog>
	);
}

/* ---- one result ---- */

function Rename({ project, result }: { project: string; result: string }) {
	const [name, setName] = useState(result),
		[to, setTo] = useState(project);
	const run = async (): Promise<void> => {
		await changeResult(project, result, {
			...(name !== result ? { name } : {}),
			...(to !== project ? { project: to } : {}),
		});
		close();
	};

	return (
		<Dialog title="Rename or move" close={close}>
			<Form button="Rename" disabled={!name || (name === result && to === project)} run={run}>
				<Text label="Name" value={name} set={setName} focus />
				<ProjectChoice value={to} set={setTo} />
			</Form>
		</Dialog>
	);
}

function Notes({ project, result }: { project: string; result: string }) {
	const [text, set] = useState<string | null>(null);

	useEffect(() => {
		call<ResultDetail>('GET', resultPath(project, result))
			.then(d => set(d.notes))
			.catch((e: unknown) => {
				failed(e);
				close();
			});
	}, []);
	return (
		<Dialog title={`Notes on ${plain(result).slice(0, 80)}`} close={close}>
			<Form
				button="Save"
				disabled={text === null}
				run={() => changeResult(project, result, { notes: text ?? '' }).then(close)}>
				<Field label="What there is to say about it" hint="Kept beside the result as notes.txt.">
					{ids => (
						<textarea
							{...ids}
							rows={8}
							value={text ?? ''}
							readOnly={text === null} // what is there comes first: it would replace what is typed
							autoFocus
							onInput={e => set(e.currentTarget.value)}
						/>
					)}
				</Field>
			</Form>
		</Dialog>
	);
}

/* ---- two results ---- */

const SEPARATOR = '\n'; // no name has one

function ResultChoice({ label, value, set }: { label: string; value: string; set(v: string): void }) {
	const all = projects.value ?? [];

	return (
		<Field label={label}>
			{ids => (
				<select {...ids} value={value} onChange={e => set(e.currentTarget.value)}>
					<option value="">choose one</option>
					{all
						.filter(p => p.results.some(r => !isBusy(r)))
						.map(p => (
							<optgroup key={p.name} label={plain(p.name)}>
								{p.results
									.filter(r => !isBusy(r))
									.map(r => (
										<option key={r.name} value={p.name + SEPARATOR + r.name}>
											{plain(r.name)} ({plain(r.analysis || 'imported')}, {when(r.made)}
											)
										</option>
									))}
							</optgroup>
						))}
				</select>
			)}
		</Field>
	);
}

function Compare({ project, result }: { project: string; result: string }) {
	const older = everyResult.value.filter(
		r => !isBusy(r) && r.project === project && r.name !== result && r.state !== 'failed',
	);
	const [after, setAfter] = useState(result ? project + SEPARATOR + result : ''),
		[before, setBefore] = useState(older.length ? project + SEPARATOR + older[0].name : '');
	const run = async (): Promise<void> => {
		const [p, r] = after.split(SEPARATOR),
			[bp, br] = before.split(SEPARATOR);

		close();
		go(compareAddress(p, r, bp, br));
		return Promise.resolve();
	};

	return (
		<Dialog title="Compare two results" close={close}>
			<Form button="Compare" disabled={!after || !before || after === before} run={run}>
				<ResultChoice label="R1: before" value={before} set={setBefore} />
				<ResultChoice label="R2: after" value={after} set={setAfter} />
				<p class="dim">The viewer shows R1, R2 and the difference, name by name.</p>
			</Form>
		</Dialog>
	);
}

/* ---- the trash ---- */

function Trash() {
	const [all, set] = useState<Deleted[] | null>(null),
		[sure, setSure] = useState(''), // about these
		ids = (all ?? []).map(d => d.id).join(' '),
		asked = useRef(0);
	const load = (): void => {
		const nth = ++asked.current;

		trash()
			.then(now => nth === asked.current && set(now))
			.catch(failed);
	};
	const empty = (): void => {
		if (sure !== ids) return setSure(ids);
		call('DELETE', 'trash').then(load).catch(failed);
	};

	useEffect(load, [treeReads.value]); // somebody deletes or restores while one looks
	return (
		<Dialog title="Trash" close={close}>
			<div class="form">
				<p class="dim">What was deleted is kept for a week.</p>
				<ul class="chooserlist" aria-label="Deleted">
					{all?.map(d => (
						<li key={d.id}>
							<span class="ellipsis">
								<bdi>
									{plain(d.project)}
									{d.result !== null && ` / ${plain(d.result)}`}
								</bdi>
							</span>
							<span class="dim">{when(d.deleted)}</span>
							<button
								type="button"
								class="btn sm"
								aria-label={`Restore ${plain(d.result ?? d.project)}`}
								onClick={() => void restore(d.id).then(load).catch(failed)}>
								Restore
							</button>
						</li>
					))}
					{all && !all.length && <li class="dim">It is empty.</li>}
				</ul>
				{all && all.length > 0 && (
					<div class="row">
						<button type="button" class="btn" onClick={empty}>
							{sure === ids ? 'Really remove all: this cannot be undone' : 'Empty the trash'}
						</button>
					</div>
				)}
			</div>
		</Dialog>
	);
}

export function DeskDialogs() {
	const d = dialog.value;

	switch (d?.kind) {
		case 'project':
			return (
				<AskName
					title="New project"
					label="Name"
					first=""
					button="Create"
					hint="One for each program, kernel or question. It becomes a folder of this name."
					run={addProject}
					close={close}
				/>
			);
		case 'renameProject':
			return (
				<AskName
					title="Rename project"
					label="Name"
					first={d.project}
					button="Rename"
					run={name => renameProject(d.project, name)}
					close={close}
				/>
			);
		case 'import':
			return <Import />;
		case 'rename':
			return <Rename {...d} />;
		case 'notes':
			return <Notes {...d} />;
		case 'compare':
			return <Compare {...d} />;
		case 'trash':
			return <Trash />;
		case 'tour':
			return <Tour close={close} />;
		default:
			return null;
	}
}
