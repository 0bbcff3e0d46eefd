// entry.tsx - coming in: a token that works once, a passphrase, and what to do without either.

import { useEffect, useState } from 'preact/hooks';
import { call, Refusal, why } from './api';
import { Form, Text } from './parts';
import { loadServer, server } from './store';

const TOKEN = 'one-time-token';

export const LEAST = 8; // characters of a passphrase

/* A token on its way to become a cookie. The page may be loaded again before that is done: this tab remembers
 * it, and the name under which it has begun, by which the server knows that it is the same one. */
interface Pending {
	token: string;
	browser: string;
}

const PENDING = 'unitrace.entering';

function keep(p: Pending | null): void {
	try {
		if (p) sessionStorage.setItem(PENDING, JSON.stringify(p));
		else sessionStorage.removeItem(PENDING);
	} catch {
		// then a page that is loaded again needs a new address
	}
}

function kept(): Pending | null {
	try {
		return JSON.parse(sessionStorage.getItem(PENDING) ?? 'null') as Pending | null;
	} catch {
		return null;
	}
}

const newName = (): string =>
	[...crypto.getRandomValues(new Uint8Array(16))].map(b => b.toString(16).padStart(2, '0')).join('');

/* Takes the token out of the address before anything else sees it. */
export function takeToken(): Pending | null {
	const url = new URL(location.href),
		token = url.searchParams.get(TOKEN) ?? '';

	if (!token) return kept();
	url.searchParams.delete(TOKEN);
	const pending = kept()?.token === token ? kept()! : { token, browser: newName() };

	keep(pending);
	history.replaceState(null, '', url.pathname + url.search + url.hash);
	return pending;
}

export const forgetToken = (): void => keep(null);

/* Why the token was of no use; '' if it was. */
export async function useToken(pending: Pending): Promise<string> {
	try {
		await call('POST', 'login', pending);
		forgetToken();
		return '';
	} catch (e) {
		if (e instanceof Refusal && e.status) forgetToken(); // without an answer it may be tried again
		return why(e);
	}
}

/* Counts down to when one may try again. */
function useWait(): [number, (s: number) => void] {
	const [until, set] = useState(0),
		[now, tick] = useState(Date.now());
	const left = Math.max(0, Math.ceil((until - now) / 1000));

	useEffect(() => {
		if (!left) return;
		const timer = setTimeout(() => tick(Date.now()), 250);

		return () => clearTimeout(timer);
	});
	return [
		left,
		s => {
			tick(Date.now());
			set(Date.now() + s * 1000);
		},
	];
}

function LogIn() {
	const [words, set] = useState(''),
		[wrong, setWrong] = useState(''),
		[wait, setWait] = useWait();
	const enter = async (): Promise<void> => {
		setWrong('');
		try {
			await call('POST', 'login', { passphrase: words });
			await loadServer();
		} catch (e) {
			if (!(e instanceof Refusal)) throw e;
			if (e.wait) setWait(e.wait);
			setWrong(e.status === 403 ? 'That is not the passphrase.' : e.wait ? '' : e.message);
			set('');
		}
	};

	return (
		<Form button={wait ? `Wait ${wait} s` : 'Log in'} disabled={!words || wait > 0} run={enter}>
			<Text
				label="Passphrase"
				type="password"
				value={words}
				set={set}
				wrong={wait ? `Too many wrong passphrases. Try again in ${wait} s.` : wrong}
				complete="current-password"
				focus
			/>
			<p class="dim">
				Forgotten? Start the server with <code>--reset-passphrase</code>: it forgets the passphrase
				and prints a new address.
			</p>
		</Form>
	);
}

/* Sets a passphrase: the first one, or another one. */
export function SetPassphrase({ needsOld, done }: { needsOld: boolean; done(): void }) {
	const [old, setOld] = useState(''),
		[words, set] = useState(''),
		[again, setAgain] = useState('');
	const differs = again && words !== again ? 'The two are not the same.' : '',
		short = words && words.length < LEAST ? `At least ${LEAST} characters.` : '';
	const run = async (): Promise<void> => {
		await call('PUT', 'passphrase', { passphrase: words, ...(needsOld ? { old } : {}) });
		setOld('');
		set('');
		setAgain('');
		done();
	};

	return (
		<Form
			button="Set passphrase"
			disabled={words.length < LEAST || words !== again || (needsOld && !old)}
			run={run}>
			{needsOld && (
				<Text
					label="Current passphrase"
					type="password"
					value={old}
					set={setOld}
					complete="current-password"
				/>
			)}
			<Text
				label={needsOld ? 'New passphrase' : 'Passphrase'}
				type="password"
				value={words}
				set={set}
				wrong={short}
				hint={`At least ${LEAST} characters. Only a digest of it is kept.`}
				complete="new-password"
				focus={!needsOld}
			/>
			<Text
				label="Confirm"
				type="password"
				value={again}
				set={setAgain}
				wrong={differs}
				complete="new-password"
			/>
		</Form>
	);
}

export function Brand() {
	return (
		<span class="brand">
			<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
				<rect class="f0" x="1" y="3" width="11" height="3.4" rx="1.2" />
				<rect class="f1" x="5" y="8.3" width="13" height="3.4" rx="1.2" />
				<rect class="f2" x="9" y="13.6" width="7" height="3.4" rx="1.2" />
			</svg>
			<span>unitrace</span>
		</span>
	);
}

/* Whoever is not let in yet sees this and nothing else. */
export function Entry({ refused }: { refused: string }) {
	const s = server.value;
	const refresh = (): void => void loadServer().catch(() => undefined);

	return (
		<main class="entry" id="main" tabIndex={-1} aria-busy={!s}>
			<div class="card">
				<Brand />
				{s?.known && s.needsPassphrase && (
					<>
						<h1>Set a passphrase first</h1>
						<p>
							This server can be reached from other machines. Whoever knows the passphrase can
							see all results{s.profiling ? ' and run programs with your rights' : ''}.
						</p>
						<SetPassphrase needsOld={false} done={refresh} />
					</>
				)}
				{s && !s.known && (
					<>
						<h1>{s.hasPassphrase ? 'Log in' : 'Open the address of the terminal'}</h1>
						{refused && (
							<p class="isbad" role="alert">
								This address does not let you in: {refused}.
							</p>
						)}
						{s.hasPassphrase ? (
							<LogIn />
						) : (
							<p>
								<code>unitrace serve</code> has printed an address that works once; open that
								one. For a new one, end the server with Ctrl-C and start it again. Set a
								passphrase once you are in, and you can come again.
							</p>
						)}
					</>
				)}
			</div>
		</main>
	);
}
