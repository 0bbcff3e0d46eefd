// parts.tsx - small parts of the page: fields that say what is wrong with them, questions, help, links.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Dialog } from '../ui/kit';
import { isAbort, why } from './api';
import { follow } from './route';

export function Link({
	to,
	class: c,
	children,
	...more
}: {
	to: string;
	class?: string;
	title?: string;
	children: ComponentChildren;
}) {
	return (
		<a href={to} class={c} onClick={follow} {...more}>
			{children}
		</a>
	);
}

export interface FieldProps {
	label: string;
	wrong?: string;
	hint?: ComponentChildren;
	children(ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }): ComponentChildren;
}

/* A label, its control, and below it what is wrong, else a hint. */
export function Field({ label, wrong, hint, children }: FieldProps) {
	const id = useId(),
		said = wrong || hint;

	return (
		<div class={`field ${wrong ? 'wrong' : ''}`}>
			<label for={id}>{label}</label>
			{children({
				id,
				...(said ? { 'aria-describedby': `${id}-say` } : {}),
				...(wrong ? { 'aria-invalid': true as const } : {}),
			})}
			{said && (
				<p id={`${id}-say`} class={wrong ? 'isbad' : 'dim'}>
					{said}
				</p>
			)}
		</div>
	);
}

export interface TextProps {
	label: string;
	value: string;
	set(v: string): void;
	wrong?: string;
	hint?: ComponentChildren;
	placeholder?: string;
	mono?: boolean;
	type?: 'text' | 'password';
	list?: string[]; // what was typed here before
	unit?: string;
	disabled?: boolean;
	focus?: boolean;
	complete?: string; // autocomplete
	after?: ComponentChildren;
}

export function Text(p: TextProps) {
	const list = useId();

	return (
		<Field label={p.label} wrong={p.wrong} hint={p.hint}>
			{ids => (
				<span class="in">
					<input
						{...ids}
						{...({ type: p.type ?? 'text', list: p.list?.length ? list : undefined } as object)}
						class={p.mono ? 'mono' : ''}
						value={p.value}
						placeholder={p.placeholder}
						disabled={p.disabled}
						autoFocus={p.focus}
						spellcheck={false}
						autocomplete={p.complete ?? 'off'}
						onInput={e => p.set(e.currentTarget.value)}
					/>
					{p.unit && <span class="ux">{p.unit}</span>}
					{p.after}
					{p.list && p.list.length > 0 && (
						<datalist id={list}>
							{p.list.map(v => (
								<option key={v} value={v} />
							))}
						</datalist>
					)}
				</span>
			)}
		</Field>
	);
}

export function Check({
	label,
	value,
	set,
	hint,
	disabled,
}: {
	label: string;
	value: boolean;
	set(v: boolean): void;
	hint?: ComponentChildren;
	disabled?: boolean;
}) {
	const id = useId();

	return (
		<div class="check">
			<input
				type="checkbox"
				id={id}
				checked={value}
				disabled={disabled}
				aria-describedby={hint ? `${id}-say` : undefined}
				onChange={e => set(e.currentTarget.checked)}
			/>
			<label for={id}>{label}</label>
			{hint && (
				<p id={`${id}-say`} class="dim">
					{hint}
				</p>
			)}
		</div>
	);
}

/* What one stands in front of: a question mark that opens a few sentences. */
export function Help({ about, children }: { about: string; children: ComponentChildren }) {
	const [open, set] = useState(false),
		box = useRef<HTMLDivElement>(null),
		id = useId();

	useEffect(() => {
		if (!open) return;
		const away = (e: Event): void => {
			if (!box.current?.contains(e.target as Node)) set(false);
		};

		addEventListener('pointerdown', away);
		return () => removeEventListener('pointerdown', away);
	}, [open]);
	return (
		<div
			class="help"
			ref={box}
			onKeyDown={e => {
				if (e.key === 'Escape' && open) {
					e.stopPropagation();
					set(false);
					box.current?.querySelector('button')?.focus();
				}
			}}>
			<button
				type="button"
				aria-label={`Help: ${about}`}
				aria-expanded={open}
				aria-controls={id}
				onClick={() => set(!open)}>
				?
			</button>
			<div id={id} class="helptext" role="note" hidden={!open}>
				{children}
			</div>
		</div>
	);
}

export function Panel({
	title,
	head,
	help,
	children,
	class: c = '',
}: {
	title: string;
	head?: ComponentChildren;
	help: ComponentChildren;
	children: ComponentChildren;
	class?: string;
}) {
	return (
		<section class={`card panel ${c}`} aria-label={title}>
			<header>
				<h2>{title}</h2>
				{head}
				<span class="grow" />
				<Help about={title}>{help}</Help>
			</header>
			{children}
		</section>
	);
}

/* A form that does something and says why it could not. */
export function Form({
	children,
	button,
	run,
	disabled,
	beside,
}: {
	children: ComponentChildren;
	button: string;
	run(): Promise<unknown>;
	disabled?: boolean;
	beside?: ComponentChildren;
}) {
	const [busy, setBusy] = useState(false),
		[error, setError] = useState('');
	const submit = (e: Event): void => {
		e.preventDefault();
		if (busy || disabled) return;
		setBusy(true);
		setError('');
		run()
			.catch((e: unknown) => setError(isAbort(e) ? '' : why(e)))
			.finally(() => setBusy(false));
	};

	return (
		<form class="form" onSubmit={submit}>
			{children}
			{error && (
				<p class="isbad" role="alert">
					{error}
				</p>
			)}
			<div class="row">
				<button type="submit" class="btn pri" disabled={busy || disabled}>
					{button}
				</button>
				{beside}
			</div>
		</form>
	);
}

/* One name, in a dialog of its own. */
export function AskName({
	title,
	label,
	first,
	button,
	hint,
	run,
	close,
}: {
	title: string;
	label: string;
	first: string;
	button: string;
	hint?: string;
	run(name: string): Promise<unknown>;
	close(): void;
}) {
	const [name, set] = useState(first);

	return (
		<Dialog title={title} close={close}>
			<Form button={button} disabled={!name.trim()} run={() => run(name.trim()).then(close)}>
				<Text label={label} value={name} set={set} hint={hint} focus />
			</Form>
		</Dialog>
	);
}
