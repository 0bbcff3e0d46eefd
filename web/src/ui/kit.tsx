// kit.tsx - small parts that all views share.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Cell, Place, Table } from '../source/contract';
import type { App } from '../state/app';
import { plain, telling } from '../text/label';

/* A name from a program: one line of text, whatever is in it. In short: where there is little room. */
export function Name({ text, title, brief }: { text: string; title?: boolean; brief?: boolean }) {
	const shown = plain(text);

	return (
		<bdi class="mono name" title={title === false ? undefined : shown.slice(0, 1000)}>
			{brief ? plain(telling(text)) : shown}
		</bdi>
	);
}

/* Where a place is: rank 0 / train.py / main. */
export function placePath(app: App, of: Place | undefined): string {
	const words: string[] = [];

	for (let p = of; p; p = app.byId.value.get(p.parent)) words.unshift(plain(p.name));
	return words.join(' / ');
}

const TAIL = 7; // letters

/* What is too long loses its middle, not the end, which tells like names apart. */
export function Cut({ text, className }: { text: string; className: string }) {
	if (text.length <= 2 * TAIL) return <span class={className}>{text}</span>;
	return (
		<span class={`${className} tailed`}>
			<span>{text.slice(0, -TAIL)}</span>
			<span>{text.slice(-TAIL)}</span>
		</span>
	);
}

export function Swatch({ app, type }: { app: App; type: number }) {
	void app.types.loaded.value;
	return (
		<span
			class={`sw k${app.types.colour(type, app.colourBy.value === 'name' ? 'name' : 'cat')}`}
			aria-hidden="true"
		/>
	);
}

export interface Choice<T extends string> {
	id: T;
	title: string;
	hint?: string;
}

export function Segments<T extends string>({
	label,
	of,
	value,
	set,
}: {
	label: string;
	of: Choice<NoInfer<T>>[];
	value: T;
	set(v: NoInfer<T>): void;
}) {
	return (
		<span class="seg" role="group" aria-label={label}>
			{of.map(c => (
				<button
					key={c.id}
					type="button"
					aria-pressed={c.id === value}
					title={c.hint}
					onClick={() => set(c.id)}>
					{c.title}
				</button>
			))}
		</span>
	);
}

/* Left and right move between tabs, as everywhere. */
export function tabKeys(e: KeyboardEvent): void {
	const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
	const all = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]')];

	if (!by || !all.length) return;
	const next = all[(all.indexOf(document.activeElement as HTMLElement) + by + all.length) % all.length];

	e.preventDefault();
	next.focus();
	next.click();
}

/* Beside numbers of a page that lacks slices, unless they are of the whole trace. */
export function Thinned({ app }: { app: App }) {
	if (!app.info.value.thinned) return null;
	return (
		<span class="iswarn" title={app.info.value.left}>
			counted in the slices of this page
		</span>
	);
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
	return (
		<div class="empty">
			<p class="h">{title}</p>
			{children}
		</div>
	);
}

export function Failure({ text, app }: { text: string; app: App }) {
	return (
		<div class="empty bad" role="alert">
			<p class="h">This could not be answered.</p>
			<p>{plain(text)}</p>
			<button type="button" class="btn sm" onClick={() => copy(app, text)}>
				Copy the message
			</button>
		</div>
	);
}

/* In the place of a page whose answer is not there yet, or never will be. */
export function Pending({ app, error }: { app: App; error: string }) {
	if (!error) return <div class="page" aria-busy="true" />;
	return (
		<div class="page">
			<Failure app={app} text={error} />
		</div>
	);
}

export function copy(app: App, text: string): void {
	const done = () => app.say('copied');

	if (navigator.clipboard)
		navigator.clipboard
			.writeText(text)
			.then(done)
			.catch(() => app.fail(new Error('the browser does not let this page copy')));
	else app.fail(new Error('the browser does not let this page copy'));
}

export function save(name: string, text: string): void {
	const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' })),
		a = document.createElement('a');

	a.href = url;
	a.download = name;
	a.click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* A dialog that gives the focus back where it was. The browser may close it by itself; whoever drew it is told,
 * so that what is drawn and what is shown never differ. */
export function Dialog({
	title,
	close,
	children,
}: {
	title: string;
	close(): void;
	children: ComponentChildren;
}) {
	const box = useRef<HTMLDialogElement>(null),
		latest = useRef(close);

	latest.current = close;
	/* Before anything is painted: a key that follows at once is for the dialog. */
	useLayoutEffect(() => {
		const before = document.activeElement as HTMLElement | null,
			d = box.current!,
			closed = (): void => {
				if (!d.open) latest.current();
			};

		d.showModal();
		d.addEventListener('close', closed);
		return () => {
			d.removeEventListener('close', closed); // it is told later, when another one may be shown
			d.close();
			before?.focus();
		};
	}, []);
	return (
		<dialog
			ref={box}
			class="dialog"
			aria-label={title}
			onCancel={e => {
				e.preventDefault();
				close();
			}}
			onClick={e => {
				if (e.target === box.current) close();
			}}>
			<header>
				<h2>{title}</h2>
				<span class="grow" />
				<button type="button" class="btn sm ghost" aria-label="Close" onClick={close}>
					✕
				</button>
			</header>
			{children}
		</dialog>
	);
}

/* A menu at a point: arrows walk it, Escape closes it and gives the focus back. */
export function MenuView({ app }: { app: App }) {
	const menu = app.menu.value,
		box = useRef<HTMLUListElement>(null);

	/* Before anything is painted: a key that follows at once is for the menu. */
	useLayoutEffect(() => {
		const before = document.activeElement as HTMLElement | null,
			b = box.current;

		if (!menu || !b) return;
		const r = b.getBoundingClientRect();

		b.style.left = `${Math.max(4, Math.min(menu.x, innerWidth - r.width - 4))}px`;
		b.style.top = `${Math.max(4, Math.min(menu.y, innerHeight - r.height - 4))}px`;
		b.querySelector('button')?.focus();
		return () => before?.focus();
	}, [menu]);
	if (!menu) return null;
	const close = () => {
		app.menu.value = null;
	};
	const keys = (e: KeyboardEvent) => {
		const all = [...box.current!.querySelectorAll('button')],
			at = all.indexOf(document.activeElement as HTMLButtonElement);
		const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];

		e.stopPropagation();
		if (by) {
			e.preventDefault();
			all[(at + by + all.length) % all.length].focus();
		} else if (e.key === 'Escape' || e.key === 'Tab') {
			e.preventDefault();
			close();
		}
	};

	return (
		<>
			<div class="menuback" onPointerDown={close} />
			<ul class="menu" ref={box} role="menu" aria-label="Actions" onKeyDown={keys}>
				{menu.items.map(i => (
					<li key={i.title} role="none">
						<button
							type="button"
							role="menuitem"
							onClick={() => {
								close();
								i.run();
							}}>
							{i.title}
						</button>
					</li>
				))}
			</ul>
		</>
	);
}

/* A cell by the key of its column; null: there is none, or it was not measured. */
export const cell = (t: Table, row: number, key: string): Cell =>
	t.data[t.columns.findIndex(c => c.key === key)]?.[row] ?? null;

export interface TileProps {
	title: string;
	value: string;
	say: string;
	tone?: 'bad' | 'warn';
}

export function Tile({ title, value, say, tone }: TileProps) {
	return (
		<div class={`tile ${tone ?? ''}`}>
			<p class="tt">
				{title}
				{tone && (
					<span class="flag" aria-label="flagged">
						{' '}
						⚑
					</span>
				)}
			</p>
			<p class="tv num">{value}</p>
			<p class="ts">{say}</p>
		</div>
	);
}
