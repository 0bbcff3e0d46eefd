/*
 * timer_ring.h - samples that a process takes of itself, where the kernel takes none for us.
 *
 * A handler of the process puts registers and the top of the stack into a free slot; the launcher
 * reads slots and frees them, a hundred times a second. Threads that end leave word of how long
 * they ran in the header, if there is room. One file "PID-NANOSECONDS.ring" for each program that a
 * process runs, made at its first sample: a page of header, text as in /proc/self/maps (mappings
 * that can be executed), the states of the slots, the slots. The process maps it; the launcher
 * reads and writes, so that a program that makes it shorter ends nobody.
 *
 * A slot belongs to the handler while it is UT_SLOT_WRITING, to the launcher while UT_SLOT_FULL.
 * One that stays UT_SLOT_WRITING was left by a thread that was killed; it is lost, others remain.
 */
#ifndef UT_WIRE_TIMER_RING_H
#define UT_WIRE_TIMER_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define UT_TIMER_MAGIC   "uttick\n\032"
#define UT_TIMER_VERSION 4
#define UT_TIMER_SUFFIX  ".ring"

#define UT_TIMER_HEADER_BYTES 4096u
#define UT_TIMER_MAPS_BYTES   65536u
#define UT_TIMER_STACK_BYTES  8192u
#define UT_TIMER_PYTHON       128u
#define UT_TIMER_ENDS         64u
#define UT_TIMER_SLOTS_LEAST  64u
#define UT_TIMER_SLOTS_MOST   4096u

/* In the order of perf_event_open(): ax bx cx dx si di bp sp ip r8 ... r15. */
#define UT_TIMER_REGS   17u
#define UT_TIMER_REG_SP 7u
#define UT_TIMER_REG_IP 8u

enum ut_slot_state {
	UT_SLOT_FREE,
	UT_SLOT_WRITING,
	UT_SLOT_FULL,
};

/* A thread that has ended: with it ends all that /proc would say. */
struct ut_timer_end {
	_Atomic uint32_t state; /* enum ut_slot_state */
	uint32_t tid;
	uint64_t born, gone; /* ns, CLOCK_MONOTONIC */
	uint64_t ran;        /* ns of CPU time */
	char name[16];
};

struct ut_timer_header {
	char magic[8]; /* written last */
	uint32_t version;
	uint32_t pid, ppid;
	uint32_t slots;
	uint64_t start;      /* ns, CLOCK_MONOTONIC: when the program began, or was forked */
	uint64_t proc_start; /* field 22 of /proc/PID/stat */
	uint64_t used;       /* ns of CPU time of the first thread until then */
	uint32_t maps_bytes; /* of the text */
	_Atomic uint32_t next;
	_Atomic uint32_t lost;    /* samples that found no slot */
	_Atomic uint32_t unarmed; /* threads that got no timer */
	_Atomic uint32_t next_end;
	struct ut_timer_end ends[UT_TIMER_ENDS];
};

/* A Python function that runs: where its code lies, and how far it has come. */
struct ut_timer_call {
	uint64_t code;  /* address of its code object */
	uint64_t check; /* ut_python_fingerprint() of it: another function may come to lie there */
	uint32_t at;    /* bytes from its first instruction; UINT32_MAX = it has not begun */
	uint32_t first; /* 1: the interpreter was entered for it */
};

/* Those of the thread at this moment, innermost first. Their names are read from outside. */
struct ut_timer_python {
	uint32_t known; /* 0: nobody has looked */
	uint32_t count;
	uint64_t rest; /* address of the frame that did not fit any more; 0 = that is all */
	struct ut_timer_call calls[UT_TIMER_PYTHON];
};

struct ut_timer_slot {
	uint32_t tid, reserved;
	uint64_t time;   /* ns, CLOCK_MONOTONIC */
	uint64_t weight; /* ns of CPU time */
	uint32_t cpu;
	uint32_t stack_bytes; /* from the stack pointer upwards */
	uint64_t regs[UT_TIMER_REGS];
	uint64_t stack[UT_TIMER_STACK_BYTES / 8];
	struct ut_timer_python python;
};

_Static_assert(sizeof(struct ut_timer_header) <= UT_TIMER_HEADER_BYTES, "the header is one page");

#define UT_TIMER_STATES_AT (UT_TIMER_HEADER_BYTES + UT_TIMER_MAPS_BYTES)

/* Where the slots begin: behind their states, at a multiple of 4 KiB. */
static inline size_t ut_timer_slots_at(uint32_t slots)
{
	return UT_TIMER_STATES_AT + ((slots * sizeof(uint32_t) + 4095u) & ~(size_t)4095);
}

static inline size_t ut_timer_ring_bytes(uint32_t slots)
{
	return ut_timer_slots_at(slots) + slots * sizeof(struct ut_timer_slot);
}

#endif
