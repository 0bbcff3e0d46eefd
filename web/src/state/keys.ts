// keys.ts - what keys do, in one table: the help page, the command list and the keyboard read it.

import type { App } from './app';

export interface Command {
	keys: string[]; // as KeyboardEvent.key, lower case, with "shift+" or "ctrl+" before it
	title: string;
	group: string;
	run(app: App): void;
}

const focusSearch = () => document.getElementById('search')?.focus();

export function commands(tabs: () => { id: string; title: string }[]): Command[] {
	return [
		{ keys: ['w', 'arrowup'], title: 'Zoom in', group: 'Move', run: a => a.zoom(0.8) },
		{ keys: ['s', 'arrowdown'], title: 'Zoom out', group: 'Move', run: a => a.zoom(1.25) },
		{ keys: ['a', 'arrowleft'], title: 'Move left', group: 'Move', run: a => a.pan(-0.12) },
		{ keys: ['d', 'arrowright'], title: 'Move right', group: 'Move', run: a => a.pan(0.12) },
		{
			keys: ['f'],
			title: 'Focus on the selection; again: fill the window with it',
			group: 'Move',
			run: a => a.focus(),
		},
		{ keys: ['0'], title: 'Show everything', group: 'Move', run: a => a.fit() },
		{ keys: ['.'], title: 'Next slice of this name', group: 'Select', run: a => a.step(1, 'name') },
		{ keys: [','], title: 'Previous slice of this name', group: 'Select', run: a => a.step(-1, 'name') },
		{
			keys: ['shift+>', 'shift+.'],
			title: 'Next slice of this track',
			group: 'Select',
			run: a => a.step(1, 'track'),
		},
		{
			keys: ['shift+<', 'shift+,'],
			title: 'Previous slice of this track',
			group: 'Select',
			run: a => a.step(-1, 'track'),
		},
		{ keys: [']'], title: 'Along the arrow', group: 'Select', run: a => a.step(1, 'flow') },
		{ keys: ['['], title: 'Back along the arrow', group: 'Select', run: a => a.step(-1, 'flow') },
		{ keys: ['r'], title: 'Selected slice to area', group: 'Select', run: a => a.selectionToArea() },
		{ keys: ['m'], title: 'Mark the selection for a moment', group: 'Select', run: a => a.mark(false) },
		{
			keys: ['shift+m'],
			title: 'Mark the selection for good, with a note',
			group: 'Select',
			run: a => {
				a.dialog.value = 'note';
			},
		},
		{ keys: ['escape'], title: 'Clear the selection', group: 'Select', run: a => a.clear() },
		{ keys: ['enter'], title: 'Zoom to the area', group: 'Narrow down', run: a => a.zoomToArea() },
		{ keys: ['shift+enter'], title: 'Zoom and filter in', group: 'Narrow down', run: a => a.filterIn() },
		{
			keys: ['x'],
			title: 'Filter the area or the name out',
			group: 'Narrow down',
			run: a => a.filterOut(),
		},
		{ keys: ['backspace'], title: 'Undo the last narrowing', group: 'Narrow down', run: a => a.undo() },
		{
			keys: ['p'],
			title: 'Pin the track of the selection',
			group: 'Tracks',
			run: a => {
				const p = a.placeOfSelection();
				if (p) a.pin(p.id);
			},
		},
		{
			keys: ['h'],
			title: 'Hide the track of the selection',
			group: 'Tracks',
			run: a => {
				const p = a.placeOfSelection();
				if (p) a.hide(p.id);
			},
		},
		{
			keys: ['g'],
			title: 'Group tracks by name',
			group: 'Tracks',
			run: a => {
				a.grouped.value = !a.grouped.peek();
			},
		},
		{
			keys: ['z'],
			title: 'Find zone: all of the selected name',
			group: 'Select',
			run: a => {
				const d = a.detail.peek();
				if (d) {
					a.zone.value = d.name;
					a.tab.value = 'zone';
				}
			},
		},
		{
			keys: ['t'],
			title: 'Window as a table',
			group: 'Page',
			run: a => {
				a.asTable.value = !a.asTable.peek();
			},
		},
		{
			keys: ['q'],
			title: 'Drawer',
			group: 'Page',
			run: a => {
				a.drawer.value = !a.drawer.peek();
			},
		},
		{ keys: ['/'], title: 'Search', group: 'Page', run: focusSearch },
		{
			keys: ['ctrl+p'],
			title: 'Find tracks',
			group: 'Page',
			run: a => {
				a.dialog.value = 'tracks';
			},
		},
		{
			keys: ['ctrl+shift+p'],
			title: 'All commands',
			group: 'Page',
			run: a => {
				a.dialog.value = 'commands';
			},
		},
		{
			keys: ['?', 'shift+?'],
			title: 'Keys',
			group: 'Page',
			run: a => {
				a.dialog.value = 'help';
			},
		},
		...Array.from({ length: 9 }, (_, i): Command => ({
			keys: [String(i + 1)],
			title: `Tab ${i + 1}`,
			group: 'Page',
			run: a => {
				const t = tabs()[i];
				if (t) a.tab.value = t.id;
			},
		})),
	];
}

const wordOf = (e: KeyboardEvent): string =>
	`${e.ctrlKey || e.metaKey ? 'ctrl+' : ''}${e.shiftKey ? 'shift+' : ''}${e.key.toLowerCase()}`;

const inText = (e: KeyboardEvent): boolean => {
	const of = e.target as HTMLElement;

	return of.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(of.tagName);
};

/* Keys that a control under the focus needs for itself. */
const belongsToControl = (e: KeyboardEvent): boolean => {
	const of = e.target as HTMLElement,
		own = ['Enter', ' ', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End'];

	return (
		own.includes(e.key) &&
		of.matches('button, a, [role=tab], [role=treeitem], [role=row], [role=separator], summary')
	);
};

/* Held keys go on by themselves, frame by frame, at the same pace on every machine. */
const GLIDE: Record<string, [zoom: number, pan: number]> = {
	w: [-1, 0],
	s: [1, 0],
	a: [0, -1],
	d: [0, 1],
	arrowup: [-1, 0],
	arrowdown: [1, 0],
	arrowleft: [0, -1],
	arrowright: [0, 1],
};
const GLIDE_AFTER = 180; // ms

export function bindKeys(app: App, all: Command[]): () => void {
	const table = new Map(all.flatMap(c => c.keys.map(k => [k, c] as const))),
		held = new Map<string, number>();
	let frame = 0,
		last = 0;
	const glide = (now: number): void => {
		const dt = Math.min(50, now - last) / 1000;

		last = now;
		for (const [key, since] of held)
			if (now - since > GLIDE_AFTER) {
				const [zoom, pan] = GLIDE[key];

				if (zoom) app.zoom(Math.exp(zoom * dt * 2.2));
				else app.pan(pan * dt * 0.9);
			}
		frame = held.size ? requestAnimationFrame(glide) : 0;
	};
	const down = (e: KeyboardEvent): void => {
		const word = wordOf(e),
			command = table.get(word);

		if (!command || e.altKey || (inText(e) && !word.startsWith('ctrl+')) || belongsToControl(e)) return;
		if (app.dialog.peek()) {
			// it has the keyboard; but Escape may come before it stands
			if (word === 'escape') app.dialog.value = '';
			return;
		}
		if (document.querySelector('dialog[open]')) return; // of whoever frames us
		e.preventDefault();
		if (e.repeat && GLIDE[word]) return;
		command.run(app);
		if (GLIDE[word]) {
			held.set(word, performance.now());
			last = performance.now();
			frame ||= requestAnimationFrame(glide);
		}
	};
	const up = (e: KeyboardEvent): void => {
		held.delete(e.key.toLowerCase());
	};
	const blur = (): void => held.clear();

	addEventListener('keydown', down);
	addEventListener('keyup', up);
	addEventListener('blur', blur);
	return () => {
		removeEventListener('keydown', down);
		removeEventListener('keyup', up);
		removeEventListener('blur', blur);
		cancelAnimationFrame(frame);
	};
}
