// shell.tsx - the frame: the rail at the left, the page that the address names, and what is said to everybody.

import { useEffect } from 'preact/hooks';
import type { Theme } from '../state/app';
import { plain } from '../text/label';
import { followTheme } from '../page/app';
import { MenuView } from '../ui/kit';
import { Configure } from './configure';
import { DeskDialogs } from './desk_dialogs';
import { Entry } from './entry';
import { listen } from './events';
import { Rail } from './rail';
import { RailButton, ResultPage } from './result';
import { route } from './route';
import { logOut, Settings } from './settings';
import { desk, dialog, failed, loadProjects, lost, railOpen, server, toast } from './store';
import { Welcome } from './welcome';

const NEXT: Record<Theme, Theme> = { auto: 'dark', dark: 'light', light: 'contrast', contrast: 'auto' };
const TITLES = { welcome: 'Welcome', configure: 'Configure Analysis', settings: 'Settings' };

function Top({ title }: { title: string }) {
	const s = server.value!;

	return (
		<header class="top">
			<RailButton />
			<h1 class="ellipsis">{title}</h1>
			<div class="crumb opt">
				<bdi class="ellipsis mono">{plain(s.dataDirectory ?? '')}</bdi>
				<span class={`badge ${s.profiling ? 'good' : ''}`}>
					{s.profiling ? 'profiling enabled' : 'view only'}
				</span>
			</div>
			<span class="grow" />
			<button type="button" class="btn opt" onClick={() => (dialog.value = { kind: 'tour' })}>
				Tour
			</button>
			<button
				type="button"
				class="btn ghost"
				aria-label={`Colours: ${desk.theme.value}`}
				title={`Colours: ${desk.theme.value}`}
				onClick={() => {
					desk.theme.value = NEXT[desk.theme.value];
				}}>
				◐
			</button>
			<button type="button" class="btn" onClick={logOut}>
				Log out
			</button>
		</header>
	);
}

function Plain({ page }: { page: 'welcome' | 'configure' | 'settings' }) {
	const View = { welcome: Welcome, configure: Configure, settings: Settings }[page];

	useEffect(() => {
		document.title = `${TITLES[page]} - unitrace`;
	}, [page]);
	return (
		<>
			<Top title={TITLES[page]} />
			<main id="main" tabIndex={-1}>
				<View />
			</main>
		</>
	);
}

function Toasts() {
	const t = toast.value;

	return (
		<>
			<div class="toasts" role={t?.tone === 'bad' ? 'alert' : 'status'} aria-live="polite">
				{t && (
					<div class={`toast ${t.tone}`}>
						<span>{plain(t.text).slice(0, 500)}</span>
						{t.act && (
							<button
								type="button"
								class="btn sm"
								onClick={() => {
									toast.value = null;
									t.act!.run();
								}}>
								{t.act.title}
							</button>
						)}
						<button
							type="button"
							class="btn sm ghost"
							aria-label="Dismiss"
							onClick={() => {
								toast.value = null;
							}}>
							✕
						</button>
					</div>
				)}
			</div>
			{lost.value && (
				<div class="lost" role="alert">
					{lost.value}
				</div>
			)}
		</>
	);
}

/* Whoever is in. */
function Inside() {
	const at = route.value;

	useEffect(() => {
		void loadProjects().catch(failed);
		return listen();
	}, []);
	return (
		<>
			<a
				class="skip"
				href="#main"
				onClick={e => {
					e.preventDefault();
					document.getElementById('main')?.focus();
				}}>
				Skip to the content
			</a>
			<div class="shell">
				<Rail />
				{railOpen.value && <div class="railback" onClick={() => (railOpen.value = false)} />}
				<div class="work">
					{at.page === 'result' || at.page === 'compare' ? (
						<ResultPage key={JSON.stringify(at)} of={at} />
					) : (
						<Plain page={at.page} />
					)}
				</div>
			</div>
			<DeskDialogs />
			<Toasts />
			<MenuView app={desk} />
			<div class="sr" role="status" aria-live="polite">
				{desk.said.value}
			</div>
		</>
	);
}

export function Workbench({ refused }: { refused: string }) {
	const s = server.value;

	useEffect(() => followTheme(desk), []);
	return s?.known && !s.needsPassphrase ? <Inside /> : <Entry refused={refused} />;
}
