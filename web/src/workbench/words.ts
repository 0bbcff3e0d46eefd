// words.ts - how runs went and when things were, in words.

import { bytes } from '../text/format';
import type { Result, State } from './api';

const STATES: Record<State, string> = {
	ready: '',
	starting: 'starting',
	running: 'recording',
	paused: 'paused',
	writing: 'writing',
	failed: 'failed',
	cut: 'cut off',
};

const SIGNALS: Record<number, string> = {
	1: 'SIGHUP',
	2: 'SIGINT',
	3: 'SIGQUIT',
	4: 'SIGILL',
	6: 'SIGABRT',
	7: 'SIGBUS',
	8: 'SIGFPE',
	9: 'SIGKILL',
	11: 'SIGSEGV',
	13: 'SIGPIPE',
	15: 'SIGTERM',
};

/* How a program ended, by what waitpid() says: '' as it should. */
export function ending(status: number | undefined): string {
	if (!status) return '';
	const by = status & 0x7f;

	if (by) return `ended by ${SIGNALS[by] ?? `signal ${by}`}`;
	return `exit status ${(status >> 8) & 0xff}`;
}

/* For the log: what was not seen is not taken for a good end. */
export const howItEnded = (status: number | undefined): string =>
	status === undefined ? 'not known' : ending(status) || 'exit status 0';

export interface Mark {
	text: string;
	tone: '' | 'good' | 'warn' | 'bad';
	live: boolean;
}

/* The badge of a result: what is under way, else what went wrong, else what it found. */
export function badge(r: Result): Mark | null {
	const state = STATES[r.state];

	if (r.state === 'failed' || r.state === 'cut') return { text: state, tone: 'bad', live: false };
	if (state) return { text: state, tone: r.state === 'running' ? 'bad' : 'warn', live: true };
	if (r.status && r.status & 0x7f) return { text: 'killed', tone: 'bad', live: false };
	if (r.status) return { text: ending(r.status).replace(' status', ''), tone: 'bad', live: false };
	if (r.trouble) return { text: 'look', tone: 'warn', live: false };
	if (r.verdict) return { text: r.verdict, tone: r.tone, live: false };
	return null;
}

/* How a run went, in a word or two; what it found is told elsewhere. */
export const stateOf = (r: Result): string =>
	STATES[r.state] || (r.analysis ? 'done' : 'imported: nothing was run here');

export const seconds = (s: number): string =>
	s < 60
		? `${s < 10 ? s.toFixed(1) : Math.round(s)}\u202fs`
		: `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')}`;

/* The second line of a result. */
export function about(r: Result): string {
	if (r.state === 'failed' && r.trouble) return r.trouble;
	return [
		r.verdict === 'failed' ? '' : ending(r.status), // it is said
		r.state === 'ready' ? r.trouble || r.say : '',
		r.analysis || 'imported',
		r.seconds !== undefined && (r.seconds > 0 || r.state === 'running') ? seconds(r.seconds) : '',
		r.bytes ? bytes(r.bytes, 3) : '',
		when(r.made),
	]
		.filter(Boolean)
		.join(', ');
}

const two = (n: number): string => String(n).padStart(2, '0');

/* today 14:05, yesterday 09:12, 3 Nov 2026 */
export function when(made: number, now = new Date()): string {
	if (!made) return '';
	const d = new Date(made * 1000),
		clock = `${two(d.getHours())}:${two(d.getMinutes())}`;
	const day = (of: Date): number => Math.floor((of.getTime() - of.getTimezoneOffset() * 60000) / 86400000);
	const ago = day(now) - day(d);

	if (ago === 0) return `today ${clock}`;
	if (ago === 1) return `yesterday ${clock}`;
	return d.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}
