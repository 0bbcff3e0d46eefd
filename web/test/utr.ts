// utr.ts - made-up traces (synth.ts) as the bytes of a page: docs/formats/html.md and utr.md, written a second
// time, so that tests need no program.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync, gunzipSync } from 'node:zlib';
import { Held } from '../src/inline/held';
import type { Made, MadeRow } from './synth';

const BLOCK = 16384;
const ALIGN = 64;
/* enum ut_kind, enum ut_event_flag, enum ut_track_type, enum ut_track_role, enum ut_process_kind */
const KIND = { span: 0, mark: 1, counter: 2, asyncBegin: 3, asyncEnd: 4, flowOut: 5, flowIn: 6 };
const FLAG = { unfinished: 1, double: 1 << 5, notWork: 1 << 6, aside: 1 << 7 };
const TYPE = { thread: 0, lane: 1, async: 2, counter: 3 };
const ROLE: Record<string, number> = { thread: 1, queue: 2, counter: 5, lane: 6, async: 7, idle: 3 };
const DEVICE = 2;
const OF_HOST = 3;

class Bytes {
	private view = new DataView(new ArrayBuffer(1 << 12));
	length = 0;

	private room(n: number): number {
		const at = this.length;

		if (at + n > this.view.byteLength) {
			const next = new Uint8Array(Math.max(this.view.byteLength * 2, at + n));

			next.set(new Uint8Array(this.view.buffer));
			this.view = new DataView(next.buffer);
		}
		this.length += n;
		return at;
	}

	u8(...values: number[]): this {
		for (const v of values) {
			const at = this.room(1); // which may make another view

			this.view.setUint8(at, v);
		}
		return this;
	}

	u32(...values: number[]): this {
		for (const v of values) {
			const at = this.room(4);

			this.view.setUint32(at, v, true);
		}
		return this;
	}

	u64(...values: (number | bigint)[]): this {
		for (const v of values) {
			const at = this.room(8);

			this.view.setBigUint64(at, BigInt.asUintN(64, BigInt(v)), true);
		}
		return this;
	}

	put(bytes: Uint8Array): this {
		const at = this.room(bytes.length);

		new Uint8Array(this.view.buffer).set(bytes, at);
		return this;
	}

	align(): this {
		return this.put(new Uint8Array((ALIGN - (this.length % ALIGN)) % ALIGN));
	}

	done(): Uint8Array {
		return new Uint8Array(this.view.buffer, 0, this.length);
	}
}

/* CRC-32C, a byte at a time. */
function crc(bytes: Uint8Array): number {
	let sum = ~0;

	for (const b of bytes) {
		sum ^= b;
		for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0x82f63b78 : 0);
	}
	return ~sum >>> 0;
}

class Strings {
	private readonly known = new Map<string, number>([['', 0]]);
	readonly starts = new Bytes().u64(0);
	readonly text = new Bytes();

	of(text: string): number {
		let id = this.known.get(text);

		if (id === undefined) {
			this.known.set(text, (id = this.known.size));
			this.text.put(new TextEncoder().encode(text)).u8(0);
			this.starts.u64(this.text.length);
		}
		return id;
	}
}

/* Lists of arguments, each of a shape: its keys and the forms of its values. */
class Args {
	readonly shapes = new Bytes().u32(0, 0, 1);
	readonly keys = new Bytes();
	readonly words = new Bytes().u32(0);
	private readonly known = new Map<string, number>();
	private readonly lists = new Map<string, number>();

	constructor(private readonly strings: Strings) {}

	of(text: string): number {
		const known = this.lists.get(text);

		if (known !== undefined) return known;
		const all = Object.entries(JSON.parse(text) as Record<string, string | number>),
			form = (v: string | number) => (typeof v === 'string' ? 1 : 0x12),
			key = JSON.stringify(all.map(([k, v]) => [k, form(v)]));
		let shape = this.known.get(key);

		if (shape === undefined) {
			this.known.set(key, (shape = this.known.size + 1));
			this.shapes.u32(this.keys.length / 8, all.length, 1 + all.length);
			for (const [k, v] of all) this.keys.u32(this.strings.of(k)).u8(form(v), 0, 0, 0);
		}
		const list = this.words.length / 4;

		this.words.u32(shape);
		for (const [, v] of all) this.words.u32(typeof v === 'string' ? this.strings.of(v) : v);
		this.lists.set(text, list);
		return list;
	}
}

/* A column of a block as the page holds it: byte by byte, and of numbers that grow the steps. */
function planes(values: number[], size: number, steps: boolean, doubles = false): Uint8Array {
	const out = new Uint8Array(values.length * size),
		view = new DataView(new ArrayBuffer(8));
	let before = 0;

	values.forEach((v, i) => {
		const n = steps ? v - before : v;

		before = v;
		if (doubles) view.setFloat64(0, v, true);
		else view.setUint32(0, n >>> 0, true);
		if (!doubles) view.setInt32(4, Math.floor(n / 2 ** 32), true);
		for (let plane = 0; plane < size; plane++) out[plane * values.length + i] = view.getUint8(plane);
	});
	return out;
}

/* The type of a row in the file; kinds and flags are part of it. */
class Types {
	readonly bytes = new Bytes().u32(0, 0, 0);
	private readonly known = new Map<number, number>();

	constructor(
		private readonly made: Made,
		private readonly strings: Strings,
	) {}

	of(r: MadeRow): number {
		const key = r.type * 16 + KIND[r.kind] * 2 + Number(r.unfinished),
			known = this.known.get(key);

		if (known !== undefined) return known;
		const cat = this.made.cats[r.type] ?? '',
			span = r.kind === 'span';
		const flags =
			(r.unfinished ? FLAG.unfinished : 0) |
			(r.kind === 'counter' ? FLAG.double : 0) |
			(span && cat === 'frame' ? FLAG.aside : 0) |
			(span && cat === 'idle' ? FLAG.notWork : 0);

		this.bytes.u32(this.strings.of(this.made.names[r.type] ?? ''), this.strings.of(cat));
		this.bytes.u8(KIND[r.kind], flags, 0, 0);
		this.known.set(key, this.known.size + 1);
		return this.known.size;
	}
}

function image(made: Made): [Uint8Array, types: number] {
	const strings = new Strings(),
		args = new Args(strings),
		types = new Types(made, strings);
	const rows = new Bytes(),
		tracks = new Bytes(),
		trackPlaces = new Bytes(),
		processes = new Bytes(),
		processPlaces = new Bytes();
	const owners = new Map<number, number>(); // place -> process
	let count = 0;
	const owner = (id: number): number => {
		const p = made.places[id],
			above = p.parent >= 0 && p.kind !== 'device' ? owner(p.parent) : -1;

		if (above >= 0) return above;
		if (!owners.has(id)) {
			owners.set(id, owners.size);
			processes
				.u64(id + 1)
				.u32(
					0,
					strings.of(p.kind === 'rank' ? 'python3' : p.name),
					0,
					0,
					p.rank >>> 0,
					owners.size,
					0,
					0,
				);
			processPlaces
				.u8(p.kind === 'device' ? DEVICE : OF_HOST, 0, 0, 0)
				.u32(0, 0, -1 >>> 0, -1 >>> 0, 0);
		}
		return owners.get(id)!;
	};

	made.tracks.forEach((t, index) => {
		const place = made.places.find(p => p.track === index)!;
		const type =
			place.kind === 'counter'
				? TYPE.counter
				: place.kind === 'async'
					? TYPE.async
					: place.kind === 'thread' || place.kind === 'queue'
						? TYPE.thread
						: TYPE.lane;

		tracks.u64(t.length, t[0]?.t ?? 0, Math.max(0, ...[t.at(-1)?.t ?? 0]), place.tid ?? index + 1);
		tracks.u32(
			owner(place.id),
			strings.of(place.name),
			strings.of(place.unit ?? ''),
			0,
			0,
			index,
			type,
			0,
		);
		trackPlaces.u8(ROLE[place.kind] ?? 0, 0, 0, 0).u32(0, 0, 0);
		count += t.length;
		for (let first = 0; first < t.length; first += BLOCK) {
			const of = t.slice(first, first + BLOCK);

			const counter = place.kind === 'counter';

			rows.put(
				planes(
					of.map(r => r.t),
					8,
					true,
				),
			);
			rows.put(
				planes(
					of.map(r => r.val),
					8,
					false,
					counter,
				),
			);
			rows.put(
				planes(
					of.map(r => types.of(r)),
					4,
					false,
				),
			);
			rows.put(
				planes(
					of.map(r => (r.args ? args.of(r.args) : 0)),
					4,
					true,
				),
			);
		}
	});
	const trace = new Bytes().u64(count, BigInt(made.info.start), 0, made.info.clockError, 0, made.info.span);

	trace.put(new Uint8Array(128)).u32(0, 0).u64(0);
	const sections: [id: number, bytes: Bytes][] = [
		[1, trace],
		[2, strings.text],
		[3, strings.starts],
		[4, types.bytes],
		[5, processes],
		[6, tracks],
		[7, new Bytes().put(new Uint8Array(16))],
		[8, new Bytes()],
		[9, args.shapes],
		[10, args.keys],
		[11, args.words],
		[12, rows],
		[20, processPlaces],
		[21, trackPlaces],
	];
	const body = new Bytes().put(new Uint8Array(64)),
		toc = new Bytes();

	for (const [id, bytes] of sections) {
		toc.u32(id, id < 20 ? 1 : 0)
			.u64(body.length, bytes.length)
			.u32(0, 0);
		body.put(bytes.done()).align();
	}
	const at = body.length,
		header = new Bytes()
			.put(Uint8Array.of(0x89, 0x75, 0x74, 0x72, 13, 10, 0x1a, 10))
			.u32(0x01020304)
			.u8(1, 0, 1, 0);

	header
		.u64(at + toc.length + 8, at)
		.u32(sections.length, 0)
		.u64(0, 0, 0);
	const sum = crc(header.done());

	body.put(toc.done()).u32(crc(toc.done())).put(new TextEncoder().encode('utr\n'));
	const all = body.done();

	all.set(header.done());
	new DataView(all.buffer).setUint32(36, sum, true);
	return [all, types.bytes.length / 12];
}

/* What the element "trace" of a page holds, before it is deflated. */
export function heldBytes(made: Made): Uint8Array {
	const [bytes, types] = image(made);
	const head = { info: { ...made.info, types }, whole: {}, traces: [{ bytes: bytes.length, groups: [] }] };
	const json = new TextEncoder().encode(JSON.stringify(head));

	return new Bytes().put(new TextEncoder().encode('UTI2')).u32(json.length).put(json).put(bytes).done();
}

export const packed = (made: Made): string => deflateSync(heldBytes(made), { level: 6 }).toString('base64');

/* The module, as the build has made it: gzip. */
export const module = (): Buffer =>
	readFileSync(path.resolve(process.env.UNITRACE_BUILD ?? 'build', 'web/module.wasm.gz'));

export const held = (made: Made): Promise<Held> => Held.open(heldBytes(made), gunzipSync(module()));
