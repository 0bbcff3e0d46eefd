// stalls.tsx - the code of a kernel with its samples: its lines and instructions, what each waits for most and
// which instruction that comes from. Of the page of `unitrace metrics -s`, and of a kernel in the viewer.

import { useMemo, useState } from 'preact/hooks';
import type {
	Cell,
	CodePlace,
	Column,
	CountedCode,
	StallFinding,
	StallReport,
	Table,
} from '../source/contract';
import type { App } from '../state/app';
import { useKept } from '../state/kept';
import { count, percent } from '../text/format';
import { plain } from '../text/label';
import { Grid } from '../ui/grid';
import { Empty, Failure, Segments } from '../ui/kit';
import { exactly, useAnswer } from '../ui/load';

type What = 'lines' | 'instructions';

/* ---- one of them ---------------------------------------------------------------------------- */

function Where({ place, through }: { place: Partial<CodePlace>; through?: string }) {
	return (
		<div class="stallplace">
			{place.text && <code>{plain(place.text)}</code>}
			{through && <p class="muted">through {plain(through)}</p>}
			{place.control && <p class="muted">{plain(place.control)}</p>}
			{place.source && <p class="mono">{plain(place.source)}</p>}
			{place.file && <p class="muted mono">{plain(place.file)}</p>}
		</div>
	);
}

/* reason: said where nothing around it does. */
export function StallItem({ f, reason }: { f: StallFinding; reason?: boolean }) {
	return (
		<li class="stall">
			<p>
				<b>{count(f.samples)}</b> samples, {percent(f.share)}
				{reason && `, ${plain(f.reason)}`}
			</p>
			<Where place={f.instruction} />
			{f.causes.length > 0 && <p class="muted">waits for</p>}
			{f.causes.map((c, i) => (
				<Where key={i} place={c} through={c.through} />
			))}
			{f.more_causes && <p class="muted">or {count(f.more_causes)} others</p>}
		</li>
	);
}

/* ---- all of them ---------------------------------------------------------------------------- */

const lineOf = (c: Partial<CodePlace>): string | null =>
	c.file && c.line ? `${c.file.split('/').pop()}:${c.line}` : null;

/* Without what columns beside it say. */
const sourceOf = (c: Partial<CodePlace>): string =>
	(c.source ?? '').replace(/^Line \d+:\s*/, '').replace(/\t/g, ' ');
const textOf = (c: Partial<CodePlace>): string => (c.text ?? '').replace(/^\/\* \[[0-9A-F]+\] \*\/\s*/, '');
const addressOf = (c: Partial<CodePlace>): string => `0x${(c.address ?? 0).toString(16).padStart(4, '0')}`;

/* What was found out about a line or an instruction; what most of it waits for first. */
const findingsOf = (r: StallReport, what: What, c: CountedCode): StallFinding[] =>
	r.findings
		.filter(({ instruction: i }) =>
			what === 'lines' ? i.file === c.file && i.line === c.line : i.address === c.address,
		)
		.sort((a, b) => b.samples - a.samples);

/* "0x0030 LDG.E R7, desc[UR4][R6.64] ;", and how many others it may be. */
function causeOf(found: StallFinding[] | undefined, reason: string | undefined): string | null {
	const f = found?.find(x => x.reason === reason),
		others = f ? f.causes.length - 1 + (f.more_causes ?? 0) : 0;

	if (!f?.causes.length) return null;
	return `${addressOf(f.causes[0])} ${textOf(f.causes[0])}${others > 0 ? ` (or ${count(others)} more)` : ''}`;
}

/* Without columns that would be empty, and are not what it is about. */
function tableOf(columns: [Column, Cell[]][], rows: number): Table {
	const shown = columns.filter(
		([c, cells]) => !['cause', 'place', 'source'].includes(c.key) || cells.some(v => v !== null),
	);

	return { columns: shown.map(([c]) => c), data: shown.map(([, cells]) => cells), rows };
}

const linesTable = (of: CountedCode[]): Table =>
	tableOf(
		[
			[{ key: 'place', title: 'Line', type: 'text' }, of.map(lineOf)],
			[{ key: 'code', title: 'Source', type: 'code' }, of.map(c => sourceOf(c) || null)],
			[{ key: 'samples', title: 'Samples', type: 'count' }, of.map(c => c.samples || null)],
			[{ key: 'share', title: 'Of the kernel', type: 'share' }, of.map(c => c.share || null)],
			[{ key: 'reason', title: 'Waits most for', type: 'text' }, of.map(c => c.reason ?? null)],
		],
		of.length,
	);

function instructionsTable(r: StallReport, of: CountedCode[]): Table {
	const found = new Map<number, StallFinding[]>();

	for (const f of r.findings)
		found.set(f.instruction.address, [...(found.get(f.instruction.address) ?? []), f]);
	return tableOf(
		[
			[{ key: 'code', title: 'Instruction', type: 'code' }, of.map(textOf)],
			[{ key: 'share', title: 'Of the kernel', type: 'share' }, of.map(c => c.share || null)],
			[{ key: 'reason', title: 'Waits most for', type: 'text' }, of.map(c => c.reason ?? null)],
			[
				{ key: 'part', title: 'Of them', type: 'share', hint: 'its samples that waited for that' },
				of.map(c => (c.reason_samples ? c.reason_samples / c.samples : null)),
			],
			[
				{ key: 'cause', title: 'Depends on', type: 'code', hint: 'what it waits for' },
				of.map(c => causeOf(found.get(c.address ?? -1), c.reason)),
			],
			[{ key: 'samples', title: 'Samples', type: 'count' }, of.map(c => c.samples || null)],
			[{ key: 'address', title: 'Address', type: 'text' }, of.map(addressOf)],
			[{ key: 'place', title: 'Line', type: 'text' }, of.map(lineOf)],
			[{ key: 'source', title: 'Source', type: 'code' }, of.map(c => sourceOf(c) || null)],
		],
		of.length,
	);
}

const heaviest = (of: CountedCode[]): number =>
	of.reduce((most, c, i) => (c.samples > of[most].samples ? i : most), 0);

/* The code, line by line, and below it all that is known of the chosen one; the heaviest, at first. */
export function Listing({ app, report: r, first }: { app: App; report: StallReport; first: What }) {
	const [what, choose] = useKept<What>(app, 'stalls.code', first),
		[picked, pick] = useState<[What, number] | null>(null),
		of = r[what] ?? [],
		row = picked?.[0] === what && picked[1] < of.length ? picked[1] : heaviest(of),
		table = useMemo(() => (what === 'lines' ? linesTable(of) : instructionsTable(r, of)), [r, what]),
		chosen = of[row],
		found = chosen ? findingsOf(r, what, chosen) : [];

	return (
		<>
			<header>
				<h2>The code with its samples</h2>
				<Segments
					label="What"
					value={what}
					set={choose}
					of={[
						{ id: 'lines', title: 'Source' },
						{ id: 'instructions', title: 'Assembly' },
					]}
				/>
				<span class="muted mono opt">{plain(r.assembly)}</span>
			</header>
			{of.length ? (
				<Grid
					app={app}
					table={table}
					label="The code with its samples"
					file={what}
					key={what}
					reveal={heaviest(of)}
					selected={i => i === row}
					onPick={i => pick([what, i])}
				/>
			) : (
				<Empty title="Lines of the source are not known: compile with -lineinfo or -gline-tables-only." />
			)}
			{chosen && (
				<div class="stallchosen" role="region" aria-label="The chosen one">
					{found.length ? (
						<ol class="stalls">
							{found.map((f, i) => (
								<StallItem key={i} f={f} reason />
							))}
						</ol>
					) : (
						<Where place={chosen} />
					)}
				</div>
			)}
		</>
	);
}

/* ---- of a kernel in a trace ----------------------------------------------------------------- */

/* The code is read when somebody asks for it: a program may have to be run for that. */
export function KernelCode({
	app,
	kernel,
	asked,
	ask,
}: {
	app: App;
	kernel: string;
	asked: boolean;
	ask(): void;
}) {
	const [module, choose] = useState(''),
		question = { name: kernel, ...(module ? { module } : {}) },
		loaded = useAnswer(app, 'stalls', asked ? question : null),
		code = exactly(loaded, question),
		notes = loaded.error || !code ? [] : code.notes;

	return (
		<section
			class="card code"
			aria-label="The code with its samples"
			aria-busy={asked && !code && !loaded.error}>
			{code?.report ? (
				<Listing
					app={app}
					report={code.report}
					first="instructions"
					key={`${kernel} ${code.module}`}
				/>
			) : (
				<header>
					<h2>The code with its samples</h2>
					{!asked && (
						<button type="button" class="btn sm" onClick={ask}>
							Show it
						</button>
					)}
					{asked && !code && !loaded.error && <span class="muted">is being read …</span>}
				</header>
			)}
			{loaded.error && <Failure app={app} text={loaded.error} />}
			{notes.map(n => (
				<p class="muted pad lack" role="note" key={n}>
					{plain(n)}
				</p>
			))}
			{code && code.modules.length > 1 && (
				<p class="pad">
					<label>
						{count(code.modules.length)} modules have a kernel of this name:{' '}
						<select value={code.module} onChange={e => choose(e.currentTarget.value)}>
							{code.modules.map(m => (
								<option key={m.module} value={m.module}>
									{plain(m.module)}, {count(m.samples)} samples
								</option>
							))}
						</select>
					</label>
				</p>
			)}
		</section>
	);
}
