// browse.tsx - choosing a file, a folder or a process of the server's machine.

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Table } from '../source/contract';
import { plain } from '../text/label';
import { Grid } from '../ui/grid';
import { Dialog } from '../ui/kit';
import { call, path as encode, why, type Folder, type Process } from './api';
import { secretFor } from './machines';
import { desk } from './store';

const above = (path: string): string => path.replace(/\/+$/, '').replace(/\/[^/]*$/, '') || '/';
const below = (path: string, name: string): string => `${path.replace(/\/+$/, '')}/${name}`;

function FolderDialog({
	what,
	first,
	pick,
	close,
}: {
	what: 'file' | 'folder';
	first: string;
	pick(path: string): void;
	close(): void;
}) {
	const [path, setPath] = useState(first.startsWith('/') ? (what === 'file' ? above(first) : first) : ''),
		[folder, setFolder] = useState<Folder | null>(null),
		[error, setError] = useState('');

	useEffect(() => {
		const stop = new AbortController();

		call<Folder>('GET', `folder?path=${encodeURIComponent(path)}`, undefined, stop.signal)
			.then(f => {
				setFolder(f);
				setError('');
			})
			.catch((e: unknown) => {
				if (!stop.signal.aborted) setError(why(e));
			});
		return () => stop.abort();
	}, [path]);
	const entries = (folder?.entries ?? []).filter(e => e.folder || what === 'file');
	const at = folder?.path ?? path;

	return (
		<Dialog title={what === 'file' ? 'Choose a file' : 'Choose a folder'} close={close}>
			<div class="form">
				<p class="mono ellipsis">
					<bdi>{plain(at)}</bdi>
				</p>
				{error && (
					<p class="isbad" role="alert">
						{error}
					</p>
				)}
				<ul class="chooserlist files" aria-label="Entries">
					{at !== '/' && (
						<li>
							<button type="button" class="link" onClick={() => setPath(above(at))}>
								.. (up)
							</button>
						</li>
					)}
					{entries.map(e => (
						<li key={e.name}>
							<button
								type="button"
								class="link mono"
								onClick={() => {
									if (e.folder) setPath(below(at, e.name));
									else {
										pick(below(at, e.name));
										close();
									}
								}}>
								<bdi>
									{plain(e.name)}
									{e.folder && '/'}
								</bdi>
							</button>
							{e.program && !e.folder && <span class="dim">program</span>}
						</li>
					))}
					{folder?.more && <li class="dim">There are more than can be listed; type the path.</li>}
				</ul>
				{what === 'folder' && (
					<div class="row">
						<button
							type="button"
							class="btn pri"
							disabled={!folder}
							onClick={() => {
								pick(at);
								close();
							}}>
							Choose this folder
						</button>
					</div>
				)}
			</div>
		</Dialog>
	);
}

export function BrowseButton({
	what,
	value,
	set,
}: {
	what: 'file' | 'folder';
	value: string;
	set(v: string): void;
}) {
	const [open, setOpen] = useState(false);

	return (
		<>
			<button
				type="button"
				class="btn sm"
				aria-label={`Browse for a ${what}`}
				title="Browse"
				onClick={() => setOpen(true)}>
				…
			</button>
			{open && <FolderDialog what={what} first={value} pick={set} close={() => setOpen(false)} />}
		</>
	);
}

const COLUMNS: Table['columns'] = [
	{ key: 'name', title: 'Process', type: 'name' },
	{ key: 'pid', title: 'PID', type: 'text' },
	{ key: 'cpu', title: 'CPU time', type: 'time' },
	{ key: 'words', title: 'Command', type: 'text', wide: true },
];

/* What could be attached to, the busiest on top. */
export function Processes({
	target,
	pid,
	pick,
}: {
	target: string; // name of another machine; '': this one
	pid: number;
	pick(pid: number): void;
}) {
	const [all, set] = useState<Process[] | null>(null),
		[error, setError] = useState('');
	const load = (): void => {
		const all = target
			? call<Process[]>('POST', `machines/${encode(target)}/processes`, secretFor(target))
			: call<Process[]>('GET', 'processes');

		setError('');
		all.then(set).catch((e: unknown) => setError(why(e)));
	};

	useEffect(load, []);
	const table = useMemo<Table>(
		() => ({
			columns: COLUMNS,
			rows: all?.length ?? 0,
			data: [
				(all ?? []).map(p => p.name),
				(all ?? []).map(p => String(p.pid)),
				(all ?? []).map(p => p.cpu * 1e9),
				(all ?? []).map(p => p.words),
			],
		}),
		[all],
	);

	return (
		<div class="processes">
			{error && (
				<p class="isbad" role="alert">
					{error}
				</p>
			)}
			<button type="button" class="btn sm" onClick={load}>
				Look again
			</button>
			{all && (
				<Grid
					app={desk}
					table={table}
					label="Processes"
					file="processes"
					sort="cpu"
					selected={r => Number(table.data[1][r]) === pid}
					onPick={r => pick(Number(table.data[1][r]))}
				/>
			)}
		</div>
	);
}
