// label.ts - names that fit. Names come from programs: they may be huge, hold control characters or
// turn the direction of the text; what is shown is always one line of plain text.

const TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]/g;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
const MOST = 4096;

const cache = new Map<string, string>();

/* Control characters as pictures, marks that turn text around taken out, the middle of a huge name
 * left out. */
export function plain(name: string): string {
	const known = cache.get(name);

	if (known !== undefined) return known;
	let out = name.length > MOST ? `${name.slice(0, MOST / 2)}…${name.slice(-MOST / 2)}` : name;

	out = out
		.replace(CONTROL, c => {
			const code = c.charCodeAt(0);

			return code < 32 ? String.fromCharCode(0x2400 + code) : code === 127 ? '\u2421' : '\ufffd';
		})
		.replace(TURNS, '');
	out = out || '(no name)';
	if (cache.size > 20000) cache.clear();
	cache.set(name, out);
	return out;
}

/* C++ template arguments: often the longest part, and the least telling. */
export function withoutTemplates(name: string): string {
	if (!name.includes('<')) return name;
	let depth = 0,
		out = '';

	for (const c of name) {
		if (c === '<') depth++;
		if (depth === 0) out += c;
		if (c === '>' && depth > 0) depth--;
	}
	return out || name;
}

/* The middle goes first, never the end. */
export function middle(name: string, most: number): string {
	if (name.length <= most) return name;
	const tail = (most - 1) >> 1;

	return `${name.slice(0, most - 1 - tail)}…${name.slice(name.length - tail)}`;
}

/* Widths of letters, measured once: fitting a label then needs no call into the canvas. */
export class Widths {
	private readonly ascii = new Float32Array(128);
	private readonly other = new Map<string, number>();

	constructor(private readonly context: CanvasRenderingContext2D) {
		for (let i = 32; i < 127; i++) this.ascii[i] = context.measureText(String.fromCharCode(i)).width;
	}

	of(text: string): number {
		let sum = 0;

		for (let i = 0; i < text.length; i++) {
			const code = text.charCodeAt(i);

			sum += code < 128 ? this.ascii[code] : this.letter(text[i]);
		}
		return sum;
	}

	private letter(c: string): number {
		let w = this.other.get(c);

		if (w === undefined) this.other.set(c, (w = this.context.measureText(c).width));
		return w;
	}

	/* The name as it fits into a width; '' if nothing useful does. */
	fit(name: string, width: number): string {
		if (name.length < 200 && this.of(name) <= width) return name;
		const bare = withoutTemplates(name.slice(0, MOST));

		if (bare.length < 200 && this.of(bare) <= width) return bare;
		let low = 0,
			high = Math.min(bare.length, 160);

		while (low < high) {
			const mid = (low + high + 1) >> 1;

			if (this.of(middle(bare, mid)) <= width) low = mid;
			else high = mid - 1;
		}
		return low < 3 ? '' : middle(bare, low);
	}
}
