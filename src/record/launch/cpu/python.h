/*
 * python.h - the Python functions on a stack, between the native ones.
 *
 * Looks into the process from outside: its threads, their frames, the code that these run. The
 * interpreter is not asked, the GIL not taken, the process not stopped. So the Python part of a
 * stack is that of a moment later than the sample: rounds are short where there is Python, and
 * outer frames, which are the same then, are matched first.
 *
 * A native frame of the interpreter's loop stands for the Python functions that this call of the
 * loop runs: they take its place. What does not fit stays native. Owner: the image. One thread.
 */
#ifndef UT_LAUNCH_CPU_PYTHON_H
#define UT_LAUNCH_CPU_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "symbol/python_layout.h"

struct ut_elf;
struct ut_perf_sample;
struct ut_remote;
struct ut_unwind;

#define UT_PYTHON_LOOPS   8u
#define UT_PYTHON_UNKNOWN UINT32_MAX
#define UT_PYTHON_KNOWN   8u

/* What a code object says about itself. */
struct ut_python_code {
	uint64_t address, check; /* another check: the memory has been used again */
	const char *name, *file;
	const uint8_t *lines;
	size_t line_bytes;
	uint32_t first_line;
	/* lines of instructions that were looked up: the table has to be walked for each */
	struct {
		uint32_t at, line;
	} known[UT_PYTHON_KNOWN];
};

struct ut_python {
	struct ut_python_layout layout;
	uint64_t state;                /* address of the interpreter's state */
	uint64_t code_type, text_type; /* of its types; 0 = not known */
	struct {
		uint64_t start, end;
	} loops[UT_PYTHON_LOOPS]; /* addresses of the interpreter's loop */
	size_t loop_count;
	bool ready;     /* the layout is known */
	uint64_t tries; /* how often it was looked for */
	struct ut_arena arena;
	struct ut_python_code *codes;
	size_t code_count, code_cap;
	struct ut_idmap code_at;   /* address -> index + 1 */
	struct ut_idmap thread_at; /* tid -> index + 1 in threads */
	uint64_t *threads;
	size_t thread_count, thread_cap;
};

/* A Python function on a stack. */
struct ut_python_frame {
	uint32_t code; /* index; UT_PYTHON_UNKNOWN: it cannot be told which */
	uint32_t line;
	bool first; /* the outermost one of its call of the loop */
};

/* Is it CPython? bias is added to the file's addresses. NULL if not. */
struct ut_python *ut_python_new(const struct ut_elf *file, const char *path, uint64_t bias);

/* The pieces into which a compiler has taken the loop apart: stripped files have no names of them.
 */
void ut_python_find_pieces(struct ut_python *p, const struct ut_unwind *u, uint64_t bias);
void ut_python_free(struct ut_python *p); /* NULL is fine */

static inline bool ut_python_is_loop(const struct ut_python *p, uint64_t address)
{
	for (size_t i = 0; i < p->loop_count; i++) {
		if (address >= p->loops[i].start && address < p->loops[i].end)
			return true;
	}
	return false;
}

/*
 * The Python stack of a sample, innermost first: as the thread has found it itself, or as it is in
 * the process now. 0 = it cannot be told.
 */
size_t ut_python_stack(struct ut_python *p, struct ut_remote *r,
		       const struct ut_perf_sample *sample, struct ut_python_frame *frames,
		       size_t most);

#endif
