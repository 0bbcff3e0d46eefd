// how.tsx - HOW it is looked at: the analyses, every option of the chosen one with what it costs, clones.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { plain } from '../text/label';
import { call, path, type Analysis, type Devices, type Option } from './api';
import { analysis, draft, edit, level, optionByKey, setOption, valueOf, wrongWith } from './draft';
import { loadMachines, lookForDevices, machineOf, machines, tests } from './machines';
import { AskName, Check, Field, Panel, Text } from './parts';
import { analyses, failed, loadAnalyses, server, tell } from './store';
import { when } from './words';

/* Five bars: what it costs to look. */
export function Bars({ level: n }: { level: number }) {
	return (
		<span class={`bars ${n > 3 ? 'much' : ''}`} role="img" aria-label={`overhead ${n} of 5`}>
			{[1, 2, 3, 4, 5].map(i => (
				<i key={i} class={i <= n ? 'on' : ''} style={{ height: `${2 + i * 2}px` }} />
			))}
		</span>
	);
}

function List() {
	const all = analyses.value?.analyses ?? [],
		groups = [...new Set(all.map(a => a.group))],
		chosen = analysis.value?.id;
	const walk = (e: KeyboardEvent): void => {
		const by = { ArrowDown: 1, ArrowUp: -1 }[e.key],
			at = all.findIndex(a => a.id === chosen);

		if (!by) return;
		e.preventDefault();
		const next = all[(at + by + all.length) % all.length];

		edit({ analysis: next.id, options: {} });
		(e.currentTarget as HTMLElement)
			.querySelector<HTMLElement>(`[data-nth="${all.indexOf(next)}"]`)
			?.focus();
	};

	return (
		<div class="analyses" role="radiogroup" aria-label="Analysis" onKeyDown={walk}>
			{groups.map(g => (
				<div key={g} role="presentation">
					<h3>{g}</h3>
					{all
						.filter(a => a.group === g)
						.map(a => (
							<button
								key={a.id}
								type="button"
								role="radio"
								data-nth={all.indexOf(a)}
								aria-checked={a.id === chosen}
								tabIndex={a.id === chosen ? 0 : -1}
								onClick={() => a.id !== chosen && edit({ analysis: a.id, options: {} })}>
								<bdi class="ellipsis">{plain(a.title)}</bdi>
								<span class="grow" />
								<Bars level={a.level} />
							</button>
						))}
				</div>
			))}
		</div>
	);
}

interface OptionProps {
	o: Option;
	value: string;
	set(v: string): void;
	disabled: boolean;
	why: string; // it is disabled
}

/* What it does, what it costs, and the words it stands for. */
function Hint({ o, why }: { o: Option; why: string }) {
	return (
		<>
			{o.help}
			{o.cost && <em> {o.cost}.</em>} <code>{o.words.replace('%', '…')}</code>
			{why && ` ${why}`}
		</>
	);
}

function OptionView({ o, value, set, disabled, why }: OptionProps) {
	const hint = <Hint o={o} why={why} />,
		wrong = wrongWith(o.key);

	if (o.kind === 'flag')
		return (
			<Check
				label={o.title}
				value={value === '1'}
				set={v => set(v ? '1' : '')}
				disabled={disabled}
				hint={hint}
			/>
		);
	if (o.kind === 'choice')
		return (
			<Field label={o.title} hint={hint} wrong={wrong}>
				{ids => (
					<select
						{...ids}
						value={value}
						disabled={disabled}
						onChange={e => set(e.currentTarget.value)}>
						<option value="">{o.key === 'group' ? 'default' : 'off'}</option>
						{o.choices?.map(c => (
							<option key={c} value={c}>
								{c}
							</option>
						))}
					</select>
				)}
			</Field>
		);
	return (
		<Text
			label={o.title}
			value={value}
			set={set}
			unit={o.unit}
			mono={o.kind === 'text'}
			wrong={wrong}
			hint={hint}
			disabled={disabled}
			placeholder={o.kind === 'number' ? 'off' : 'all'}
		/>
	);
}

function DeviceList({ of, there, children }: { of: Devices; there: string; children?: ComponentChildren }) {
	return (
		<p class={`devices ${of.devices.length ? 'muted' : 'note'}`}>
			{of.devices.length
				? `Devices ${there}: ${of.devices.map(d => `${d.number}: ${plain(d.name)}`).join(', ')}.`
				: `No device was found ${there}.`}
			{of.notes.length > 0 && <span class="dim"> {of.notes.map(plain).join('; ')}.</span>}
			{children}
		</p>
	);
}

/* What there is to be looked at, or why not: before a run that would find nothing. */
function DevicesHere() {
	const [found, set] = useState<Devices | null>(null);

	useEffect(() => {
		call<Devices>('GET', 'devices')
			.then(set)
			.catch(() => undefined);
	}, []);
	return found && <DeviceList of={found} there="here" />;
}

/* The same of another machine, as it told when it was asked last. */
function DevicesThere({ name }: { name: string }) {
	const m = machineOf(name),
		[busy, setBusy] = useState(false),
		testing = tests.value[name] === 'busy';
	const look = (): void => {
		setBusy(true);
		lookForDevices(name)
			.catch(failed)
			.finally(() => setBusy(false));
	};

	useEffect(() => {
		if (!machines.peek()) void loadMachines().catch(() => undefined);
	}, []);
	if (!m) return null;
	if (!m.devices)
		return (
			<p class="devices note">
				{testing
					? `Looking for the devices of ${plain(name)}…`
					: `Which devices ${plain(name)} has is not known yet. Test the connection to see its devices.`}
			</p>
		);
	return (
		<DeviceList of={m.devices} there={`on ${plain(name)}`}>
			<span class="dim"> Asked {when(m.devices.asked)}.</span>{' '}
			<button type="button" class="btn sm" disabled={busy || testing} onClick={look}>
				Look for devices again
			</button>
		</DeviceList>
	);
}

export const DevicesOf = ({ target }: { target: string | undefined }) =>
	target ? <DevicesThere key={target} name={target} /> : <DevicesHere />;

/* A clone as it is kept, with the values that were changed. */
const keepClone = (a: Analysis, changed: Record<string, string>): Promise<void> =>
	call('PUT', `analyses/${path(a.title)}`, {
		title: a.title,
		base: a.base,
		help: a.help,
		options: { ...Object.fromEntries(a.options.map(o => [o.key, o.value])), ...changed },
	});

/* What has been kept is no change any more; what was changed meanwhile is. */
function forgetKept(a: Analysis, kept: Record<string, string>): void {
	if (draft.peek().analysis !== a.id) return;
	const left = Object.entries(draft.peek().options ?? {}).filter(([key, value]) => kept[key] !== value);

	edit({ options: Object.fromEntries(left) });
}

let saving: ReturnType<typeof setTimeout> | undefined;

/* Ours are changed for this run, and only where they are open; clones are changed for good. */
function change(a: Analysis, key: string, value: string): void {
	setOption(key, value);
	if (a.base === undefined) return;
	clearTimeout(saving);
	const changed = { ...draft.peek().options };

	saving = setTimeout(() => {
		keepClone(a, changed)
			.then(loadAnalyses)
			.then(() => forgetKept(a, changed))
			.catch(failed);
	}, 400);
}

function Options({ a }: { a: Analysis }) {
	const isClone = a.base !== undefined,
		attach = draft.value.what === 'attach',
		others = isClone
			? (analyses.value?.options ?? []).filter(o => !a.options.some(of => of.key === o.key))
			: [];
	const row = (o: Option, open: boolean) => {
		const off = o.with && !valueOf(a, o.with) ? optionByKey.value.get(o.with)?.title : '',
			unfit = attach && !o.attach;

		return (
			<OptionView
				key={o.key}
				o={o}
				value={valueOf(a, o.key)}
				set={v => change(a, o.key, v)}
				disabled={!open || !!off || unfit}
				why={open && !unfit && off ? `Only with “${off}”.` : ''}
			/>
		);
	};

	return (
		<>
			{server.value?.profiling && a.options.some(o => o.key === 'devices') && (
				<DevicesOf target={draft.value.target} />
			)}
			{attach && (
				<p class="note">
					A process that runs already can be sampled; what is grey takes a program that is started.
				</p>
			)}
			{!attach && a.options.some(o => !o.open) && (
				<p class="dim">What is grey is part of this analysis: clone it to change that.</p>
			)}
			{a.options.map(({ key, open }) => {
				const o = optionByKey.value.get(key);

				return o && row(o, open);
			})}
			{others.length > 0 && (
				<details class="advanced">
					<summary>All other options</summary>
					{others.map(o => row(o, true))}
				</details>
			)}
		</>
	);
}

function Overhead({ a }: { a: Analysis }) {
	const costs = a.options
		.filter(o => valueOf(a, o.key))
		.map(o => optionByKey.value.get(o.key)?.cost)
		.filter(Boolean);

	return (
		<div class="overhead" role="group" aria-label="Expected overhead">
			<b>Expected overhead</b> <Bars level={level.value} />
			<span class="muted">{costs.length ? costs.join('; ') : 'hardly any'}</span>
		</div>
	);
}

export function CloneDialog({ a, close }: { a: Analysis; close(): void }) {
	const clone = async (title: string): Promise<void> => {
		await call('POST', 'analyses', {
			title,
			base: a.base ?? a.id,
			help: a.help,
			options: Object.fromEntries(a.options.map(o => [o.key, valueOf(a, o.key)])),
		});
		await loadAnalyses();
		edit({ analysis: analyses.peek()?.analyses.find(x => x.title === title)?.id ?? a.id, options: {} });
		tell(`“${title}” is yours: every option can be changed, and is kept.`);
	};

	return (
		<AskName
			title="Clone the analysis"
			label="Title"
			first={`${a.title} 2`}
			button="Clone"
			hint="A custom analysis has every option open and is kept on the server."
			run={clone}
			close={close}
		/>
	);
}

export function HowPanel() {
	const a = analysis.value,
		[cloning, setCloning] = useState(false);
	const drop = (): void => {
		if (!a) return;
		call('DELETE', `analyses/${path(a.title)}`)
			.then(() => {
				edit({ analysis: a.base ?? 'hotspots', options: {} });
				return loadAnalyses();
			})
			.then(() => tell(`Deleted the analysis “${a.title}”.`))
			.catch(failed);
	};

	return (
		<Panel
			title="HOW"
			class="how"
			head={
				a && (
					<>
						<bdi class="muted ellipsis">{plain(a.title)}</bdi>
						<button type="button" class="btn sm" onClick={() => setCloning(true)}>
							Clone to edit
						</button>
						{a.base !== undefined && (
							<button type="button" class="btn sm" onClick={drop}>
								Delete
							</button>
						)}
					</>
				)
			}
			help={
				<>
					<p>
						What is recorded, and so what the result can tell. Begin with <b>Snapshot</b>;
						Hotspots for CPU time, GPU offload for devices that wait, GPU compute hotspots for
						slow kernels.
					</p>
					<p>
						Bars show how much the program is slowed down. Ours are read only but for what is
						open; a clone is yours, with every option.
					</p>
				</>
			}>
			<div class="howbody">
				<List />
				{a && (
					<div class="panelbody options" role="group" aria-label={`Options of ${plain(a.title)}`}>
						<p class="muted">{plain(a.help)}</p>
						{wrongWith('analysis') && <p class="isbad">{wrongWith('analysis')}</p>}
						<Options key={a.id} a={a} />
						<Overhead a={a} />
					</div>
				)}
			</div>
			{cloning && a && <CloneDialog a={a} close={() => setCloning(false)} />}
		</Panel>
	);
}
