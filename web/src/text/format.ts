// format.ts - numbers as people read them: four digits, one unit, a narrow space before it.

const THIN = '\u202f',
	MINUS = '\u2212';

export function digits(v: number, n = 4): string {
	if (v === 0) return '0';
	const places = Math.max(0, Math.min(n - 1, n - 1 - Math.floor(Math.log10(Math.abs(v)))));

	return v.toFixed(places).replace('-', MINUS);
}

const scaled = (v: number, units: [number, string][], n: number): string => {
	const a = Math.abs(v);
	const [by, unit] = units.find(([least]) => a >= least * 0.99995) ?? units[units.length - 1];

	return `${digits(v / by, n)}${THIN}${unit}`;
};

const TIMES: [number, string][] = [
	[1e9, 's'],
	[1e6, 'ms'],
	[1e3, 'µs'],
];
const BYTES: [number, string][] = [
	[1e12, 'TB'],
	[1e9, 'GB'],
	[1e6, 'MB'],
	[1e3, 'kB'],
	[1, 'B'],
];

/* ns; below 1 µs without a fraction */
export function time(ns: number, n = 4): string {
	if (!Number.isFinite(ns)) return '–';
	if (Math.abs(ns) < 999.95)
		return `${Number.isInteger(ns) ? String(ns).replace('-', MINUS) : digits(ns, n)}${THIN}ns`;
	return scaled(ns, TIMES, n);
}

/* Below 1 kB whole ones have no fraction. */
export const bytes = (v: number, n = 4): string =>
	Number.isInteger(v) && Math.abs(v) < 1000 ? `${v}${THIN}B` : scaled(v, BYTES, n);

/* Joules, watts and the like, as small or large as they are: 18.12 µJ. */
const POWERS: [number, string][] = [
	[1e9, 'G'],
	[1e6, 'M'],
	[1e3, 'k'],
	[1, ''],
	[1e-3, 'm'],
	[1e-6, 'µ'],
	[1e-9, 'n'],
];

export const si = (v: number, unit: string, n = 4): string =>
	v === 0
		? `0${THIN}${unit}`
		: scaled(
				v,
				POWERS.map(([by, p]) => [by, p + unit]),
				n,
			);

/* What commands say, in the units of the page. */
export const sentence = (text: string): string => text.replace(/(\d) us\b/g, `$1${THIN}µs`);

const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+$)/g, THIN);

export const count = (v: number): string => grouped(Math.round(v).toString());

/* 1 rank, 2 ranks */
export const many = (n: number, word: string): string => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

export const percent = (share: number): string => `${(100 * share).toFixed(1)}${THIN}%`;

/* A difference: always with its sign. */
export const signed = (v: number, how: (v: number) => string): string =>
	`${v < 0 ? '−' : v > 0 ? '+' : ''}${how(Math.abs(v))}`;

const TIMES_FROM = 10; // above, a share of a share says less than how many times as much it is

/* A change by its share of what was there before. */
export const change = (share: number): string =>
	share >= TIMES_FROM ? `×${THIN}${digits(share + 1, 3)}` : signed(share, percent);

export function number(v: number): string {
	if (!Number.isFinite(v)) return '–';
	if (Number.isInteger(v) && Math.abs(v) < 1e15) return count(v);
	if (Math.abs(v) >= 1e15 || Math.abs(v) < 0.1) return v.toPrecision(4);
	return Math.abs(v) >= 1e3 ? count(v) : digits(v);
}

export const short = (v: number): string =>
	v >= 1e9
		? `${digits(v / 1e9, 3)}G`
		: v >= 1e6
			? `${digits(v / 1e6, 3)}M`
			: v >= 1e4
				? `${digits(v / 1e3, 3)}k`
				: number(v);

/* Steps of 1, 2 or 5 so that about `about` of them fit. */
export function step(span: number, about: number): number {
	const raw = span / Math.max(1, about),
		ten = 10 ** Math.floor(Math.log10(raw));

	return ([1, 2, 5, 10].find(k => k * ten >= raw * 0.999) ?? 10) * ten;
}

/* A time on the ruler: as many digits as its steps need, all in one unit. */
export function tick(t: number, stepBy: number, span: number): string {
	const [by, unit] = TIMES.find(([least]) => span >= least) ?? [1, 'ns'];
	const places = Math.max(0, Math.min(9, Math.ceil(-Math.log10(stepBy / by) - 1e-9)));

	const [whole, part] = (t / by).toFixed(places).split('.');

	return `${grouped(whole)}${part ? `.${part}` : ''}${THIN}${unit}`;
}

/* An exact time in full: 1.234 567 890 s. */
export function exact(ns: number): string {
	const whole = Math.floor(ns / 1e9),
		rest = Math.round(ns - whole * 1e9)
			.toString()
			.padStart(9, '0');

	return `${count(whole)}.${rest.replace(/(\d{3})(?=\d)/g, `$1${THIN}`)}${THIN}s`;
}

/* From when to when; of a moment far from the start, when and how long. */
export const between = (t0: number, t1: number): string =>
	(t1 - t0) * 1000 < t1 ? `${exact(t0)} + ${time(t1 - t0)}` : `${time(t0)} to ${time(t1)}`;

export function utc(start: string, t: number): string | null {
	if (!/^\d+$/.test(start) || start === '0') return null;
	const ns = BigInt(start) + BigInt(Math.round(t));
	const date = new Date(Number(ns / 1000000n)).toISOString();

	return `${date.slice(0, 19).replace('T', ' ')}.${(ns % 1000000000n).toString().padStart(9, '0')} UTC`;
}
