// findings.tsx - what is worth a look: the verdict on top, and the list of the others.

import { useEffect, useState } from 'preact/hooks';
import { FINDINGS, type Finding } from '../source/contract';
import type { App } from '../state/app';
import { sentence, time } from '../text/format';
import { plain } from '../text/label';
import { useAnswer } from './load';

const canShow = (f: Finding): boolean =>
	f.event !== undefined || f.range !== undefined || f.query !== undefined || f.tab !== undefined;

/* What tools say of the whole trace. Null: it is not there yet. */
function useToolFindings(app: App): Finding[] | null {
	const [all, set] = useState<Finding[] | null>(null);
	const tools = (app.info.value.tools ?? []).filter(t => t.sheets.includes(FINDINGS));

	useEffect(() => {
		Promise.all(
			tools.map(t => app.source.ask('sheet', { tool: t.id, name: FINDINGS }) as Promise<Finding[]>),
		)
			.then(lists => set(lists.flat()))
			.catch(e => app.fail(e));
	}, [tools.map(t => t.id).join()]);
	return all;
}

const LATE = 1000; // ms: then what the trace itself says stands in for what tools have not said yet

function useLate(ms: number): boolean {
	const [late, set] = useState(false);

	useEffect(() => {
		const timer = setTimeout(() => set(true), ms);

		return () => clearTimeout(timer);
	}, []);
	return late;
}

/* Those of tools first; of a part of the trace, only what is known of that part. */
export function useFindings(app: App): Finding[] {
	const scope = app.scope.value,
		own = useToolFindings(app),
		late = useLate(LATE),
		found = useAnswer(app, 'findings', { scope }).value;

	if (scope.ranges || scope.query) return found ?? [];
	if (!own) return late ? (found ?? []) : [];
	const said = new Set(own.map(f => f.about).filter(Boolean));

	return [...own, ...(found ?? []).filter(f => !said.has(f.about))];
}

function Show({ app, f, className }: { app: App; f: Finding; className: string }) {
	if (!canShow(f)) return null;
	return (
		<button type="button" class={className} onClick={() => app.visit(f)}>
			Show it
		</button>
	);
}

export function Verdict({ app, finding: v }: { app: App; finding: Finding }) {
	return (
		<section class={`verdict ${v.tone}`} aria-label="Verdict">
			<div>
				<p class="h">{sentence(plain(v.say))}</p>
				<p class="e">{sentence(plain(v.why))}</p>
			</div>
			<span class="grow" />
			<Show app={app} f={v} className="btn" />
		</section>
	);
}

export function Findings({ app, all }: { app: App; all: Finding[] }) {
	return (
		<section class="card" aria-label="What else to look at">
			<header>
				<h2>What else to look at</h2>
			</header>
			<ol class="findings">
				{all.map((f, i) => (
					<li key={i} class={f.tone}>
						<span class="nth">{i + 1}</span>
						<div>
							<p class="fs">{sentence(plain(f.say))}</p>
							<p class="muted">
								{sentence(plain(f.why))} <Show app={app} f={f} className="link" />
							</p>
						</div>
						<span class="num">
							{f.gain ? (
								<>
									{time(f.gain)}
									<br />
									<span class="dim">at most</span>
								</>
							) : (
								''
							)}
						</span>
					</li>
				))}
			</ol>
		</section>
	);
}
