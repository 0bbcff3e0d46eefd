// theme.ts - the tokens of the style sheet as numbers, for what is drawn pixel by pixel.

import { COLOURS } from '../text/colour';

export const TONES = 16; // how full a pixel is, in steps

export interface Palette {
	css: Record<string, string>;
	fills: Uint32Array; // colour * TONES + tone
	thin: Uint32Array; // the same, of slices too narrow to have an outline
	greys: Uint32Array; // the same, for what a filter leaves out
	edges: Uint32Array; // outline of each colour
	bars: string[]; // of each colour, in the minimap
	surface: number;
	sunken: number;
	line: number;
	sel: number; // surface under an area
	selSunken: number;
	counterFill: number; // below the least value of a pixel
	counterBand: number; // between the least and the greatest
	counterLine: number;
	hatch: Record<'late' | 'idle', [line: number, ground: number]>;
	dark: boolean;
}

type Rgb = [number, number, number];

const TOKENS = [
	'bg',
	'surface',
	'raised',
	'sunken',
	'line',
	'line2',
	'text',
	'text2',
	'text3',
	'accent',
	'accent-bg',
	'on-accent',
	'bad',
	'warn',
	'warn-bg',
	'ink',
	'edge',
	'font',
	'mono',
	'seq2',
	...Array.from({ length: COLOURS }, (_, i) => `c${i}`),
];

function rgb(hex: string): Rgb {
	const h = hex.replace('#', ''),
		full = h.length === 3 ? [...h].map(c => c + c).join('') : h;

	return [0, 2, 4].map(i => parseInt(full.slice(i, i + 2), 16) || 0) as Rgb;
}

const mix = (a: Rgb, b: Rgb, share: number): Rgb =>
	a.map((v, i) => Math.round(v + (b[i] - v) * share)) as Rgb;

/* As ImageData has it on little-endian machines, and there are no others with browsers. */
const word = ([r, g, b]: Rgb): number => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;

export function readPalette(root: HTMLElement): Palette {
	const style = getComputedStyle(root),
		css: Record<string, string> = {};

	for (const name of TOKENS) css[name] = style.getPropertyValue(`--${name}`).trim();
	const surface = rgb(css.surface),
		sunken = rgb(css.sunken),
		accent = rgb(css.accent);
	const dark = surface[0] + surface[1] + surface[2] < 384;
	const strong = css.edge.startsWith('#'), // the theme of high contrast
		line = mix(surface, rgb(css.line), strong ? 0.35 : 1);
	const fills = new Uint32Array(COLOURS * TONES),
		thin = new Uint32Array(COLOURS * TONES),
		greys = new Uint32Array(COLOURS * TONES);
	const edges = new Uint32Array(COLOURS),
		bars: string[] = [];

	for (let c = 0; c < COLOURS; c++) {
		const colour = rgb(css[`c${c}`]);

		bars.push(`rgb(${mix(colour, rgb(css.ink), strong ? 0.4 : 0).join()})`);
		edges[c] = word(mix(colour, dark ? surface : rgb(css.ink), dark ? 0.35 : strong ? 1 : 0.4));
		for (let t = 0; t < TONES; t++) {
			const least = strong ? 0.7 : 0.3,
				share = least + ((1 - least) * t) / (TONES - 1),
				tone = mix(surface, colour, share);

			fills[c * TONES + t] = word(tone);
			thin[c * TONES + t] = word(strong ? mix(tone, rgb(css.ink), 0.5) : tone);
			greys[c * TONES + t] = word(mix(mix(surface, rgb(css.line2), share), colour, 0.08));
		}
	}
	return {
		css,
		fills,
		thin,
		greys,
		edges,
		bars,
		surface: word(surface),
		sunken: word(sunken),
		line: word(line),
		sel: word(mix(surface, accent, dark ? 0.17 : 0.13)),
		selSunken: word(mix(sunken, accent, dark ? 0.17 : 0.13)),
		counterFill: word(mix(surface, rgb(css.c6), dark ? 0.45 : 0.5)),
		counterBand: word(mix(surface, rgb(css.c6), dark ? 0.6 : 0.75)),
		counterLine: word(mix(rgb(css.c6), rgb(css.ink), dark ? 0 : 0.3)),
		dark,
		hatch: {
			late: [word(rgb(css.warn)), word(rgb(css['warn-bg']))],
			idle: [word(rgb(css.line2)), word(surface)],
		},
	};
}
