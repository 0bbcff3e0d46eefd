/*
 * stall_advice.c - what the reasons of stalls mean and what helps against each.
 */
#include "metrics/stall_report.h"

struct advice {
	const char *reason, *text;
};

static const struct advice intel[] = {
	{ "Sbid",
	  "waits for a result of memory, a sampler or the math unit: load earlier, keep more "
	  "loads in flight, or need fewer" },
	{ "Send",
	  "the message cannot be sent yet: fewer and larger accesses, more of them in shared "
	  "local memory" },
	{ "Pipe", "the pipe it needs is taken: mix kinds of instructions, or need fewer" },
	{ "Dist",
	  "waits for a result of an ALU instruction before it: more independent work between "
	  "the two" },
	{ "Sync", "waits at a barrier or fence: balance the work of threads, use fewer barriers" },
	{ "Control", "waits for a branch: less divergence, loops unrolled" },
	{ "InstrFetch", "instructions are not there yet: less code in hot loops, less divergence" },
	{ "Other", "waits for something else: arbitration, or a thread that begins or ends" },
};

static const struct advice nvidia[] = {
	{ "long_scoreboard",
	  "waits for global, local or texture memory: load earlier, keep more loads "
	  "in flight, coalesce, or reuse through shared memory" },
	{ "short_scoreboard", "waits for shared memory, special functions or a shuffle: avoid bank "
			      "conflicts, use wider accesses" },
	{ "wait", "waits for the fixed latency of the instruction before it: more independent work "
		  "between the two, or more warps" },
	{ "math_pipe_throttle",
	  "the arithmetic pipe is full: this is what it is bound by; use other "
	  "pipes (tensor, half precision) or need fewer operations" },
	{ "mio_throttle",
	  "the queue of shared memory and special functions is full: wider accesses, "
	  "fewer of them" },
	{ "lg_throttle",
	  "the queue of global and local memory is full: wider and fewer accesses, no "
	  "spilled registers" },
	{ "tex_throttle", "the queue of textures is full: fewer texture and surface accesses" },
	{ "barrier",
	  "waits for other warps at a barrier: balance the work before it, smaller blocks" },
	{ "membar", "waits for a memory fence: fewer fences, or of a narrower scope" },
	{ "branch_resolve", "waits for the target of a branch: less divergence, loops unrolled" },
	{ "branch_resolving", "waits for the target of a branch: less divergence, loops unrolled" },
	{ "no_instruction",
	  "instructions are not there yet: less code in hot loops, less divergence, "
	  "larger grids" },
	{ "no_instructions",
	  "instructions are not there yet: less code in hot loops, less divergence, "
	  "larger grids" },
	{ "imc_miss",
	  "a constant is not in the cache: same address for all threads of a warp, fewer "
	  "distinct constants" },
	{ "dispatch", "the dispatcher holds it back: other instructions or registers conflict" },
	{ "drain",
	  "memory writes have to leave before the warp ends: coalesced stores, fewer at once "
	  "at the end" },
	{ "not_selected", "could run, but another warp did: there are enough warps" },
	{ "other", "waits for something else" },
	{ "sleeping", "sleeps as the program asked for" },
	{ "gmma", "waits for a matrix instruction of the warp group: more of them in flight" },
	{ "warpgroup_arrive", "waits for the other warps of its group: balance their work" },
	{ "tensor_fence", "waits for tensor memory" },
	{ "misc", "waits for something else" },
};

const char *ut_stall_advice(enum ut_stall_maker maker, struct ut_str reason)
{
	const struct advice *list = maker == UT_STALL_INTEL ? intel : nvidia;
	size_t count = maker == UT_STALL_INTEL ? sizeof(intel) / sizeof(*intel)
					       : sizeof(nvidia) / sizeof(*nvidia);

	for (size_t i = 0; i < count; i++) {
		if (ut_str_is(reason, list[i].reason))
			return list[i].text;
	}
	return NULL;
}
