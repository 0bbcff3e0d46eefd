// analyze_trust.tsx - trust: what the files lack, and what was done about it.

import type { Finding, Table } from '../source/contract';
import type { App } from '../state/app';
import { count, percent, time } from '../text/format';
import { Verdict } from '../ui/findings';
import { Grid } from '../ui/grid';
import { cell } from '../ui/kit';
import { useSheet } from '../ui/load';
import { Card, SheetGrid, Sheets, TOOL, TRUSTED, type Trust, has, num, OFF_CLOCK } from './analyze_parts';

function trustVerdict(t: Trust): Finding {
	const why = [
		`${time(t.device)} of device time: ${time(t.doubted)} in doubt, ${time(t.lost)} lost.`,
		`${count(t.read)} events were read, ${count(t.kept)} were there after all stages.`,
		...(t.missingCount ? [`Ranks that are missing: ${t.missing.join(', ')}.`] : []),
		...(t.stopped ? [`The analysis stopped: ${t.stopped}.`] : []),
	].join(' ');

	if (t.share === null) return { tone: '', say: 'There is no device time to speak of.', why };
	return {
		tone: t.share < TRUSTED ? 'bad' : t.errors || t.warnings ? 'warn' : '',
		say: `${percent(t.share)} of the device time can be trusted; kinds of errors: ${count(t.errors)}, of warnings: ${count(t.warnings)}.`,
		why,
	};
}

/* Issues and messages: the worst first, and coloured. */
function Flagged({ app, name, title, hint }: { app: App; name: string; title: string; hint?: string }) {
	const { value: t } = useSheet<Table>(app, TOOL, name);

	if (!t) return null;
	return (
		<Card title={title} hint={hint}>
			<Grid
				app={app}
				table={t}
				label={title}
				file={name}
				flag={(r, key) => {
					const s = cell(t, r, 'severity');

					if (key !== 'severity' || s === 'info') return null;
					return s === 'error'
						? { tone: 'bad', why: 'something is missing or wrong' }
						: { tone: 'warn', why: 'some numbers are estimates or may be off' };
				}}
			/>
		</Card>
	);
}

function Clocks({ app }: { app: App }) {
	const { value: t } = useSheet<Table>(app, TOOL, 'clocks');

	if (!t) return null;
	const off = (r: number): boolean =>
		cell(t, r, 'detected') !== null &&
		Math.abs(num(t, r, 'detected') / num(t, r, 'given') - 1) > OFF_CLOCK;

	return (
		<Card title="Clocks" hint="a straight line through host times and cycles of each rank">
			<Grid
				app={app}
				table={t}
				label="Clocks"
				file="clocks"
				flag={(r, key) =>
					key === 'detected' && off(r)
						? {
								tone: 'warn',
								why: 'more than 1 % from what --freq says: run again with this one',
							}
						: null
				}
			/>
		</Card>
	);
}

export function TrustTab({ app }: { app: App }) {
	const { value: t, error } = useSheet<Trust>(app, TOOL, 'trust');

	return (
		<Sheets app={app} error={error} ready={!!t}>
			{() => (
				<>
					<Verdict app={app} finding={trustVerdict(t!)} />
					<Flagged app={app} name="issues" title="Issues" hint="and what to do about each" />
					<Clocks app={app} />
					{has(app, 'stages') && (
						<Card title="Stages" hint="that changed the number of events">
							<SheetGrid app={app} name="stages" label="Stages" file="stages" />
						</Card>
					)}
					<Flagged app={app} name="messages" title="What was said" />
					<p class="muted">
						Trust is the share of device time that is still there and about whose length and place
						host and device agree.
					</p>
				</>
			)}
		</Sheets>
	);
}
