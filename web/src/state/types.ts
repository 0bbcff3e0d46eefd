// types.ts - names, categories and colours of types, fetched page by page when first drawn.

import { signal } from '@preact/signals';
import { compile, type Query } from '../source/query';
import { TYPE_PAGE, type Source } from '../source/contract';
import { byCategory, byName, type ColourBy } from '../text/colour';
import { plain } from '../text/label';

export class TypeTable {
	readonly names: string[] = []; // as they are
	readonly labels: string[] = []; // as they are shown
	readonly cats: string[] = [];
	readonly loaded = signal(0);
	private readonly asked = new Set<number>();
	private colours = new Uint8Array(0);
	private coloursFor = '';
	private dimmed: { query: Query; of: Uint8Array } | null = null;

	constructor(private readonly source: Source) {}

	/* Asks for the page of a type unless that has been done. */
	want(type: number): void {
		const page = Math.floor(type / TYPE_PAGE);

		if (this.asked.has(page)) return;
		this.asked.add(page);
		this.source
			.ask('types', { first: page * TYPE_PAGE })
			.then(t => {
				if (t.names.every((name, i) => this.names[t.first + i] === name)) return;
				t.names.forEach((name, i) => {
					this.names[t.first + i] = name;
					this.labels[t.first + i] = plain(name);
					this.cats[t.first + i] = t.cats[i];
				});
				this.loaded.value++;
			})
			.catch(() => this.asked.delete(page));
	}

	/* The trace has grown: pages with numbers that were free may have got names. */
	renew(): void {
		for (const page of [...this.asked]) {
			const from = Math.max(1, page * TYPE_PAGE),
				known = this.names.slice(from, (page + 1) * TYPE_PAGE);

			if (known.length < TYPE_PAGE - 1 || known.includes('')) {
				this.asked.delete(page);
				this.want(page * TYPE_PAGE);
			}
		}
	}

	label(type: number): string {
		const known = this.labels[type];

		if (known === undefined) this.want(type);
		return known ?? '';
	}

	/* The colour of every known type; by rank it is the track's, so there is none here. */
	colourTable(by: ColourBy): Uint8Array {
		const key = `${by} ${this.loaded.peek()}`;

		if (key !== this.coloursFor) {
			this.coloursFor = key;
			this.colours = Uint8Array.from(this.names, (name, i) =>
				name === undefined ? 9 : by === 'name' ? byName(name) : byCategory(name, this.cats[i]),
			);
		}
		return this.colours;
	}

	colour(type: number, by: ColourBy): number {
		return this.colourTable(by)[type] ?? 9;
	}

	/* The filter, and the types that it does not want: they are drawn in grey. */
	unwanted(query: string): { query: Query; of: Uint8Array } | null {
		if (!query) return null;
		if (this.dimmed?.query.text !== query || this.dimmed.of.length !== this.names.length) {
			const q = compile(query);

			this.dimmed = {
				query: q,
				of: q.error
					? new Uint8Array(0)
					: Uint8Array.from(this.names, (name, i) =>
							Number(name !== undefined && !q.type(name, this.cats[i])),
						),
			};
		}
		return this.dimmed;
	}
}
