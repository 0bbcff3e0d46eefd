// dialogs.tsx - keys, commands, tracks, a note.

import { useState } from 'preact/hooks';
import type { App } from '../state/app';
import type { Command } from '../state/keys';
import { plain } from '../text/label';
import { Dialog, placePath } from './kit';

const SHOWN: Record<string, string> = {
	arrowup: '↑',
	arrowdown: '↓',
	arrowleft: '←',
	arrowright: '→',
	escape: 'Esc',
	backspace: 'Backspace',
	enter: 'Enter',
};

const keyText = (key: string): string =>
	key
		.split('+')
		.map(k => SHOWN[k] ?? (k.length > 1 ? k[0].toUpperCase() + k.slice(1) : k.toUpperCase()))
		.join(' ');

function Help({ all, close }: { all: Command[]; close(): void }) {
	const groups = [...new Set(all.map(c => c.group))];

	return (
		<Dialog title="Keys" close={close}>
			<div class="helpgrid">
				{groups.map(g => (
					<section key={g}>
						<h3>{g}</h3>
						<dl>
							{all
								.filter(c => c.group === g && !/^Tab \d/.test(c.title))
								.map(c => (
									<div key={c.title}>
										<dt>
											{c.keys
												.filter(k => !/^shift\+[?<>]$/.test(k))
												.map(k => (
													<kbd key={k}>{keyText(k)}</kbd>
												))}
										</dt>
										<dd>{c.title}</dd>
									</div>
								))}
							{g === 'Page' && (
								<div>
									<dt>
										<kbd>1</kbd> to <kbd>9</kbd>
									</dt>
									<dd>Tabs, from the left</dd>
								</div>
							)}
						</dl>
					</section>
				))}
				<section>
					<h3>Mouse</h3>
					<dl>
						{[
							['Click', 'select'],
							['Drag', 'select an area; its borders can be moved'],
							['Shift drag', 'move'],
							['Ctrl wheel', 'zoom at the pointer'],
							['Wheel', 'scroll'],
							['Shift wheel', 'move'],
							['Double click', 'fill the window with the slice'],
						].map(([k, t]) => (
							<div key={k}>
								<dt>{k}</dt>
								<dd>{t}</dd>
							</div>
						))}
					</dl>
				</section>
				<section>
					<h3>Search</h3>
					<dl>
						{[
							['word other', 'all words in the name'],
							['"exact"', 'this name'],
							['/regex/', 'regular expression'],
							['-word', 'not this one'],
							['dur:>40us', 'longer; also self:, dur:1ms..2ms'],
							['cat: track: rank: dev:', 'fields'],
							['arg.KEY:value', 'arguments'],
						].map(([k, t]) => (
							<div key={k}>
								<dt class="mono">{k}</dt>
								<dd>{t}</dd>
							</div>
						))}
					</dl>
				</section>
			</div>
		</Dialog>
	);
}

/* A list that typing narrows down and Enter chooses from. */
function Chooser({
	title,
	items,
	close,
}: {
	title: string;
	items: { id: string; title: string; hint?: string; run(): void }[];
	close(): void;
}) {
	const [text, setText] = useState(''),
		[at, setAt] = useState(0),
		words = text.toLowerCase().split(/\s+/).filter(Boolean);
	const list = items.filter(i => words.every(w => i.title.toLowerCase().includes(w))).slice(0, 200);
	const choose = (i: number) => {
		if (list[i]) {
			close();
			list[i].run();
		}
	};

	return (
		<Dialog title={title} close={close}>
			<input
				type="search"
				class="chooserinput"
				aria-label={title}
				value={text}
				autoFocus
				onInput={e => {
					setText(e.currentTarget.value);
					setAt(0);
				}}
				onKeyDown={e => {
					const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];

					if (by) {
						e.preventDefault();
						setAt(Math.max(0, Math.min(list.length - 1, at + by)));
					}
					if (e.key === 'Enter') {
						e.preventDefault();
						choose(at);
					}
				}}
			/>
			<ul class="chooserlist" role="listbox" aria-label={title}>
				{list.map((i, k) => (
					<li key={i.id} role="option" aria-selected={k === at} onClick={() => choose(k)}>
						<span>{i.title}</span>
						<span class="dim">{i.hint}</span>
					</li>
				))}
			</ul>
		</Dialog>
	);
}

function NoteDialog({ app, close }: { app: App; close(): void }) {
	const [text, setText] = useState('');

	return (
		<Dialog title="Mark with a note" close={close}>
			<form
				class="noteform"
				onSubmit={e => {
					e.preventDefault();
					app.mark(true, text);
					close();
				}}>
				<label>
					Note{' '}
					<input type="text" value={text} autoFocus onInput={e => setText(e.currentTarget.value)} />
				</label>
				<button type="submit" class="btn pri">
					Keep
				</button>
			</form>
			{app.notes.value.length > 0 && (
				<ul class="chooserlist">
					{app.notes.value.map(n => (
						<li key={n.id}>
							<button
								type="button"
								class="link"
								onClick={() => {
									close();
									app.show(n.t0, n.t1);
								}}>
								{plain(n.text || 'mark').slice(0, 200)}
							</button>
							<button
								type="button"
								class="btn sm ghost"
								aria-label="Remove this note"
								onClick={() => app.saveNote(n, true)}>
								✕
							</button>
						</li>
					))}
				</ul>
			)}
		</Dialog>
	);
}

export function Dialogs({ app, all }: { app: App; all: Command[] }) {
	const close = () => {
		app.dialog.value = '';
	};

	switch (app.dialog.value) {
		case 'help':
			return <Help all={all} close={close} />;
		case 'note':
			return <NoteDialog app={app} close={close} />;
		case 'commands':
			return (
				<Chooser
					title="Commands"
					close={close}
					items={all.map(c => ({
						id: c.title,
						title: c.title,
						hint: keyText(c.keys[0]),
						run: () => c.run(app),
					}))}
				/>
			);
		case 'tracks':
			return (
				<Chooser
					title="Tracks"
					close={close}
					items={app.places.value.map(p => ({
						id: String(p.id),
						title: `${placePath(app, p)} ${plain(p.sub ?? ' ').trim()}`,
						hint: p.kind,
						run: () => app.seek(p),
					}))}
				/>
			);
		default:
			return null;
	}
}
