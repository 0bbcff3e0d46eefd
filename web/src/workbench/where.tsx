// where.tsx - WHERE it runs: this machine, or another one that is reached by ssh.

import { useEffect, useState } from 'preact/hooks';
import { bytes } from '../text/format';
import { plain } from '../text/label';
import { Dialog, Segments } from '../ui/kit';
import { draft, edit, wrongWith } from './draft';
import {
	acceptKey,
	addressOf,
	dropMachine,
	forgetKey,
	loadMachines,
	machineOf,
	machines,
	NEW,
	passwords,
	saveMachine,
	testMachine,
	tests,
	type Machine,
	type Tested,
} from './machines';
import { Form, Panel, Text } from './parts';
import { failed, server } from './store';

const SAYS: Record<Tested['state'], [string, 'good' | 'warn' | 'bad']> = {
	ready: ['ready', 'good'],
	'unknown-key': ['look at its key', 'warn'],
	'changed-key': ['another key', 'bad'],
	refused: ['not let in', 'bad'],
	unreachable: ['not reached', 'bad'],
	unsuitable: ['cannot be used', 'bad'],
};

function mark(m: Machine): [string, '' | 'good' | 'warn' | 'bad'] {
	const t = tests.value[m.name];

	if (t === 'busy') return ['testing…', ''];
	if (t) return SAYS[t.state];
	return m.key ? ['not tested', ''] : ['key not accepted', 'warn'];
}

function Fields({ m, set, isNew }: { m: Machine; set(m: Machine): void; isNew: boolean }) {
	const to = (change: Partial<Machine>): void => set({ ...m, ...change });

	return (
		<>
			<Text
				label="Name"
				value={m.name}
				set={name => to({ name })}
				disabled={!isNew}
				focus={isNew}
				hint="What it is called here."
			/>
			<div class="pair">
				<Text
					label="Host"
					mono
					value={m.host}
					set={host => to({ host })}
					placeholder="gpu-node.example"
					hint="A name, an address, or an alias of ssh_config."
				/>
				<Text
					label="Port"
					mono
					value={m.port ? String(m.port) : ''}
					set={v => to({ port: Number.parseInt(v, 10) || null })}
					placeholder="22"
				/>
			</div>
			<Text label="User" mono value={m.user} set={user => to({ user })} placeholder="as ssh has it" />
			<Segments
				label="Log in by"
				value={m.login}
				set={(login: Machine['login']) => to({ login })}
				of={[
					{ id: 'key', title: 'Key' },
					{ id: 'password', title: 'Password' },
				]}
			/>
			{m.login === 'key' && (
				<Text
					label="Key file"
					mono
					value={m.identity}
					set={identity => to({ identity })}
					placeholder="the agent's, or the usual ones"
					hint="On the machine that unitrace serve runs on: ~/.ssh/id_ed25519."
				/>
			)}
			{m.login === 'password' && (
				<p class="dim">
					It is asked for where it is used, and kept in memory as long as the run lasts.
				</p>
			)}
			<Text
				label="Folder there"
				mono
				value={m.folder}
				set={folder => to({ folder })}
				placeholder="~/.cache/unitrace"
				hint="For our own files, which are copied there once for each version, and for results until they are here."
			/>
		</>
	);
}

function Edit({ first, close }: { first: Machine; close(): void }) {
	const [m, set] = useState(first),
		isNew = !first.name;
	const save = async (): Promise<void> => {
		await saveMachine({ ...m, name: m.name.trim(), host: m.host.trim() }, isNew);
		edit({ target: m.name.trim() });
		close();
		void testMachine(m.name.trim()).catch(failed);
	};

	return (
		<Dialog title={isNew ? 'Add a machine' : `Machine ${plain(first.name)}`} close={close}>
			<Form button="Save and test" disabled={!m.name.trim() || !m.host.trim()} run={save}>
				<Fields m={m} set={set} isNew={isNew} />
			</Form>
		</Dialog>
	);
}

/* What a test has found, and what to do about it. */
function Found({ m, t }: { m: Machine; t: Tested }) {
	const act = (run: Promise<void>): void => void run.catch(failed);

	if (t.state === 'ready')
		return (
			<p class="dim" role="status">
				{plain(t.host ?? '')}, {t.cores} cores
				{t.devices &&
					`, ${t.devices.devices.length || 'no'} ${t.devices.devices.length === 1 ? 'device' : 'devices'}`}
				. {t.copied ? `Our files were copied there (${bytes(t.copied, 3)}).` : 'Our files are there.'}
			</p>
		);
	if (t.state === 'unknown-key')
		return (
			<div class="note" role="alert">
				<p>{plain(m.host)} has not been here before. Is this its key?</p>
				<p>
					<code>{t.fingerprint}</code>
				</p>
				<p class="dim">
					There, <code>ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub</code> tells. Nothing has
					been sent to it yet.
				</p>
				<button
					type="button"
					class="btn sm pri"
					onClick={() => act(acceptKey(m.name, t.fingerprint ?? ''))}>
					Accept this key
				</button>
			</div>
		);
	return (
		<div role="alert">
			<p class="isbad">{plain(t.text)}</p>
			{t.state === 'changed-key' && (
				<>
					<p>
						It shows <code>{t.fingerprint}</code> now.
					</p>
					<button type="button" class="btn sm" onClick={() => act(forgetKey(m.name))}>
						Forget the old key
					</button>
				</>
			)}
		</div>
	);
}

/* The chosen machine: its password, and whether it can be used. */
function Chosen({ m, change }: { m: Machine; change(): void }) {
	const t = tests.value[m.name];

	return (
		<div class="machine">
			{(m.login === 'password' || m.identity) && (
				<Text
					label={m.login === 'password' ? 'Password' : 'Passphrase of the key'}
					type="password"
					complete="off"
					value={passwords.value[m.name] ?? ''}
					set={v => (passwords.value = { ...passwords.peek(), [m.name]: v })}
					wrong={wrongWith('password')}
					placeholder={m.login === 'password' ? '' : 'none'}
				/>
			)}
			{wrongWith('target') && (
				<p class="isbad" role="alert">
					{plain(wrongWith('target'))}
				</p>
			)}
			{t && t !== 'busy' && <Found m={m} t={t} />}
			<div class="row tight">
				<button
					type="button"
					class="btn sm"
					disabled={t === 'busy'}
					onClick={() => void testMachine(m.name).catch(failed)}>
					Test connection
				</button>
				<button type="button" class="btn sm" onClick={change}>
					Edit…
				</button>
				<button
					type="button"
					class="btn sm"
					onClick={() => {
						edit({ target: '' });
						void dropMachine(m.name).catch(failed);
					}}>
					Remove
				</button>
			</div>
		</div>
	);
}

function Choice({
	name,
	title,
	about,
	badge,
}: {
	name: string;
	title: string;
	about: string;
	badge: [string, string];
}) {
	const on = name === (draft.value.target ?? '');

	return (
		<label class={on ? 'on' : ''}>
			<input type="radio" name="target" checked={on} onChange={() => edit({ target: name })} />
			<b class="ellipsis">
				<bdi>{plain(title)}</bdi>
			</b>
			<span class={`badge ${badge[1]}`}>{badge[0]}</span>
			<small>{plain(about)}</small>
		</label>
	);
}

function Help() {
	return (
		<>
			<p>
				The machine that the program runs on. This machine is the one that unitrace serve runs on;
				others are reached by its ssh, with its configuration: aliases and jump hosts work.
			</p>
			<p>
				Nothing has to be installed there: our own files are copied into a folder of yours, once for
				each version. The run goes on when the connection is lost, and its result is fetched when it
				is back.
			</p>
			<p>A machine is known by its key. Look at it once; whoever shows another one later is refused.</p>
		</>
	);
}

export function WherePanel() {
	const profiling = server.value?.profiling === true,
		[edited, setEdited] = useState<Machine | null>(null),
		chosen = machineOf(draft.value.target);

	useEffect(() => void loadMachines().catch(failed), [profiling]);
	return (
		<Panel title="WHERE" help={<Help />}>
			<div class="panelbody">
				<div class="where" role="radiogroup" aria-label="Machine">
					<Choice
						name=""
						title="This machine"
						about={location.hostname}
						badge={profiling ? ['ready', 'good'] : ['view only', 'warn']}
					/>
					{machines.value?.map(m => (
						<Choice
							key={m.name}
							name={m.name}
							title={m.name}
							about={addressOf(m)}
							badge={mark(m)}
						/>
					))}
				</div>
				{chosen && <Chosen key={chosen.name} m={chosen} change={() => setEdited(chosen)} />}
				{draft.value.target && machines.value && !chosen && (
					<p class="isbad" role="alert">
						There is no machine “{plain(draft.value.target)}” any more: choose another one.
					</p>
				)}
				{profiling ? (
					<button type="button" class="btn sm" onClick={() => setEdited(NEW)}>
						Add a machine…
					</button>
				) : (
					<p class="note">
						This server starts nothing. Restart it with <code>--enable-server-profiling</code>, or
						copy the command line into a terminal and import what it records.
					</p>
				)}
			</div>
			{edited && <Edit first={edited} close={() => setEdited(null)} />}
		</Panel>
	);
}
