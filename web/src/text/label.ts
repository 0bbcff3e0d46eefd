// label.ts - names that fit. Names come from programs: they may be huge, hold control characters or
// turn the direction of the text; what is shown is always one line of plain text.

const TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]/g;

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

const LONG = 40, // letters: what is shorter fits everywhere
	HUGE = 1 << 15; // and what is longer is no function that anybody wrote

/* Where the arguments of a function begin; -1: it is no function, or more than one. */
function argumentsAt(name: string): number {
	let depth = 0,
		at = -1;

	for (let i = 0; i < name.length; i++) {
		const c = name[i];

		if (c === '(' && depth === 0) {
			if (at >= 0) return -1;
			at = i;
		}
		depth += '<({['.includes(c) ? 1 : '>)}]'.includes(c) ? -1 : 0;
		if (depth < 0) return -1;
	}
	return depth ? -1 : at;
}

/* The last of a and b outside of brackets; -1: neither. */
function lastOutside(name: string, of: string): number {
	let depth = 0;

	for (let i = name.length - 1; i >= 0; i--) {
		const c = name[i];

		depth += '>)}]'.includes(c) ? 1 : '<({['.includes(c) ? -1 : 0;
		if (depth === 0 && name.startsWith(of, i)) return i;
	}
	return -1;
}

/*
 * A long C++ function as people call it: without the type that it returns, namespaces and parameters;
 * its class and the arguments of its template stay. Other names are as they are.
 */
export function telling(name: string): string {
	if (name.length <= LONG || name.length > HUGE || !/\)( const)?( \[[^\]]*\])*$/.test(name)) return name;
	const bare = name.replace(/\(anonymous namespace\)::/g, ''),
		end = argumentsAt(bare);

	if (end < 0) return name;
	const head = bare.slice(0, end).trim(),
		whole = head.slice(lastOutside(head, ' ') + 1);
	const at = lastOutside(whole, '::'),
		inside = at < 0 ? '' : whole.slice(lastOutside(whole.slice(0, at), '::') + 2, at),
		own = /^[A-Z]|<.*>$/.test(inside) ? `${inside}::` : '';

	if (withoutTemplates(head).includes('operator')) return name;
	return (own + whole.slice(at < 0 ? 0 : at + 2)).replace(/\b(?:[a-z_]\w*::)+(?=\w)/g, '') || name;
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
		const bare = withoutTemplates(telling(name).slice(0, MOST));

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
