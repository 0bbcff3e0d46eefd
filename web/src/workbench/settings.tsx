// settings.tsx - the passphrase, tokens of scripts, and what this server is.

import { useEffect, useState } from 'preact/hooks';
import { bytes } from '../text/format';
import { plain } from '../text/label';
import { copy } from '../ui/kit';
import { api, call, path, type Token } from './api';
import { SetPassphrase } from './entry';
import { Form, Panel, Text } from './parts';
import { desk, failed, loadServer, server, tell } from './store';
import { when } from './words';

export function logOut(): void {
	call('POST', 'logout')
		.then(() => loadServer())
		.catch(failed);
}

function Tokens() {
	const [all, set] = useState<Token[]>([]),
		[name, setName] = useState(''),
		[made, setMade] = useState('');
	const load = (): Promise<void> => call<Token[]>('GET', 'tokens').then(set);

	useEffect(() => void load().catch(failed), []);
	const make = async (): Promise<void> => {
		setMade((await call<{ token: string }>('POST', 'tokens', { name: name.trim() })).token);
		setName('');
		await load();
	};

	return (
		<Panel
			title="API tokens"
			help={
				<p>
					A script sends one with every request: <code>Authorization: Bearer TOKEN</code>. It can do
					everything that you can here. What there is to ask for is described by{' '}
					<a href={api('openapi.json')}>openapi.json</a>.
				</p>
			}>
			<div class="form">
				<ul class="chooserlist" aria-label="Tokens">
					{all.map(t => (
						<li key={t.name}>
							<bdi class="ellipsis">{plain(t.name)}</bdi>
							<span class="dim">
								made {when(t.made)}, {t.used ? `used ${when(t.used)}` : 'never used'}
							</span>
							<button
								type="button"
								class="btn sm"
								aria-label={`Take back ${plain(t.name)}`}
								onClick={() =>
									void call('DELETE', `tokens/${path(t.name)}`)
										.then(load)
										.catch(failed)
								}>
								Take back
							</button>
						</li>
					))}
					{!all.length && <li class="dim">None yet</li>}
				</ul>
				{made && (
					<p role="status">
						This is told once and never again: <code class="token">{made}</code>{' '}
						<button type="button" class="btn sm" onClick={() => copy(desk, made)}>
							Copy
						</button>
					</p>
				)}
			</div>
			<Form button="Make a token" disabled={!name.trim()} run={make}>
				<Text label="Name" value={name} set={setName} placeholder="nightly" />
			</Form>
		</Panel>
	);
}

export function Settings() {
	const s = server.value!;

	useEffect(() => void loadServer().catch(failed), []); // the storage as it is now
	return (
		<div class="page settings">
			<Panel
				title="Passphrase"
				help={
					<p>
						Whoever knows it can come in from any browser. Setting another one ends the sessions
						of everybody else.
					</p>
				}>
				<p class="body muted">
					{s.hasPassphrase
						? 'There is one. With another one, everybody else who is logged in has to come again.'
						: 'There is none: only this browser is let in, and whoever has the address that the terminal prints.'}
				</p>
				<SetPassphrase
					needsOld={s.hasPassphrase}
					done={() => {
						tell('The passphrase is set; everybody else has to log in again.');
						void loadServer().catch(failed);
					}}
				/>
			</Panel>
			<Tokens />
			<Panel title="This server" help={<p>What it was started with; see unitrace serve --help.</p>}>
				<dl class="kv body">
					<div>
						<dt>Data directory</dt>
						<dd class="mono">{plain(s.dataDirectory ?? '')}</dd>
					</div>
					<div>
						<dt>Storage</dt>
						<dd>
							{bytes(s.dataBytes ?? 0, 3)}{' '}
							{s.dataQuota === undefined
								? 'used, no quota'
								: `of ${bytes(s.dataQuota, 3)} used (--data-quota)`}
							{s.dataQuota !== undefined && (s.dataBytes ?? 0) >= s.dataQuota
								? ': full. Delete results and empty the trash.'
								: ''}
						</dd>
					</div>
					<div>
						<dt>Runs programs</dt>
						<dd>{s.profiling ? 'yes' : 'no (--enable-server-profiling)'}</dd>
					</div>
					<div>
						<dt>From other machines</dt>
						<dd>{s.remote ? 'yes, by TLS' : 'no (--allow-remote-access)'}</dd>
					</div>
					<div>
						<dt>Version</dt>
						<dd>{s.version}</dd>
					</div>
				</dl>
				<div class="form">
					<div class="row">
						<button type="button" class="btn" onClick={logOut}>
							Log out
						</button>
					</div>
				</div>
			</Panel>
		</div>
	);
}
