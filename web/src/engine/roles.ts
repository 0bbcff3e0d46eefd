// roles.ts - what part an event plays between a line of Python and a kernel, by its category.

const ROLES: [RegExp, string][] = [
	[/python|^py$/i, 'Python'],
	[/^tt_dnn|^torch_|^pytorch$/i, 'Op'],
	[/kernel|gpu_|memcpy|memset|device/i, 'Kernel'],
	[/runtime|driver|^call|api|opencl|level.?zero/i, 'Call'],
	[/cpu_op|^op$|operator|aten/i, 'Op'],
	[/mpi|message|comm/i, 'Message'],
];

export function roleOf(cat: string, name: string): string {
	for (const [pattern, role] of ROLES) if (pattern.test(cat)) return role;
	return /^(cu|cuda|cl|ze|hip)[A-Z]/.test(name) ? 'Call' : 'Task';
}
