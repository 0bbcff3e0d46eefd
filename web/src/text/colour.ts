// colour.ts - which of the ten colours a slice has: by category, by name, or by rank.

import { withoutTemplates } from './label';

export type ColourBy = 'cat' | 'name' | 'rank';
export const COLOURS = 11; // ten to tell things apart, and one for frames, which are nobody's work
const HASHED = 10;
const FRAME = 10;

/* Ordered: the first that matches decides. docs: shared palette, see docs/design/021-viewer.md. */
const KERNELS: [RegExp, number][] = [
	[/^BRISC-KERNEL$/, 4],
	[/^NCRISC-KERNEL$/, 2],
	[/^(TRISC[\w-]*-)?KERNEL$/, 0],
	[/nccl|allreduce|all_reduce|allgather|all_gather|reduce_scatter|broadcast|sendrecv|^mpi_/i, 4],
	[/adam|sgd|optimi[sz]er|multi_tensor|zero_grad/i, 5],
	[/gemm|nvjet|cutlass|matmul|addmm|linear|conv|cublas|\bmm\b/i, 0],
	[/attn|attention|sdpa|flash/i, 3],
	[/norm/i, 2],
	[/memcpy|memset|memory|malloc|copy|alloc/i, 9],
	[/softmax|reduce|sum|loss|argmax|topk|sort/i, 6],
	[/elementwise|gelu|relu|add|mul|fill|cast|dropout|unrolled|vectorized/i, 1],
];

const CATS: [RegExp, number][] = [
	[/frame|^step/i, FRAME],
	[/python|^py$/i, 8],
	[/runtime|driver|^call|api\b/i, 7],
	[/mpi|nccl|comm|message/i, 4],
	[/memcpy|memset|memory/i, 9],
	[/^firmware$/, 9],
];

const isWork = /kernel|cpu_op|^op$|aten|gpu|device/i;

/* FNV-1a of the name without template arguments and trailing digits: stable across runs. */
export function hashName(name: string): number {
	const bare = withoutTemplates(name.slice(0, 512)).replace(/[\d_.]+$/, '');
	let h = 0x811c9dc5;

	for (let i = 0; i < bare.length; i++) h = Math.imul(h ^ bare.charCodeAt(i), 0x01000193);
	return h >>> 0;
}

const first = (rules: [RegExp, number][], text: string): number | undefined =>
	rules.find(([pattern]) => pattern.test(text))?.[1];

export function byCategory(name: string, cat: string): number {
	if (!isWork.test(cat)) {
		const c = first(CATS, cat);

		if (c !== undefined) return c;
		if (/^(cu|cuda|cl|ze|hip)[A-Z]/.test(name)) return 7;
	}
	const kernel = first(KERNELS, name.slice(0, 512));

	if (kernel !== undefined && (isWork.test(cat) || kernel === 4)) return kernel;
	return isWork.test(cat)
		? hashName(name) % HASHED
		: /task|itt|user/i.test(cat)
			? 3
			: hashName(cat || name) % HASHED;
}

export const byName = (name: string): number => hashName(name) % HASHED;
export const byRank = (rank: number): number => (rank < 0 ? 9 : rank % HASHED);
