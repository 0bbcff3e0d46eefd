// code.ts - source and machine code of a one-file page, which has that of the functions and kernels that
// took most as sheets.

import type { Code, Methods, StallCode } from '../source/contract';

export interface CodeSheet {
	functions: {
		function: string;
		module: string;
		source: Code;
		assembly: Code;
	}[];
}

export interface KernelSheet {
	kernels: { kernel: string; code: StallCode }[];
}

export function codeOf(sheet: CodeSheet, ask: Methods['annotate']['ask']): Code {
	const of = sheet.functions.find(f => f.function === ask.name && f.module === ask.module),
		code = of?.[ask.kind];

	if (!code)
		return {
			rows: [],
			notes: ['this page holds the code of the functions that took most: unitrace view shows all'],
		};
	return {
		rows: code.rows,
		notes:
			code.rows.length && (ask.scope.ranges || ask.scope.tracks)
				? [...code.notes, 'the times are those of the whole recording']
				: code.notes,
	};
}

export function stallsOf(sheet: KernelSheet, ask: Methods['stalls']['ask']): StallCode {
	const of = sheet.kernels.find(k => k.kernel === ask.name)?.code,
		left = 'this page holds the code of the kernels with most samples: unitrace view shows all';

	if (!of) return { notes: [left], modules: [], module: '', report: null };
	return ask.module && ask.module !== of.module
		? { ...of, notes: [left], module: ask.module, report: null }
		: of;
}
