/*
 * memory_report.h - what programs keep in memory, from the samples of stores
 * (model/memory_samples.h): who had it when it was most, who never gave it back, who allocated how
 * much and for how long.
 *
 * A block belongs to the innermost function of its stack that is not there only to allocate
 * (memory_owner.h); total is what has a function anywhere on its stack. Numbers are estimates where
 * allocations were drawn, with a variance.
 *
 * Owner: the caller. Not thread-safe.
 */
#ifndef UT_SAMPLE_MEMORY_REPORT_H
#define UT_SAMPLE_MEMORY_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hashtab.h"
#include "model/memory_samples.h"
#include "model/strtab.h"

struct ut_store;

/* what lines stand for, its word on the command line */
#define UT_MEMORY_BY_LIST(X)                                                                       \
	X(FUNCTION, "function")                                                                    \
	X(MODULE, "module")                                                                        \
	X(LINE, "line")                                                                            \
	X(STACK, "stack")                                                                          \
	X(THREAD, "thread")                                                                        \
	X(TASK, "task")                                                                            \
	X(PROCESS, "process")

enum ut_memory_by {
#define UT_MEMORY_BY_ENUM(by, word) UT_MEMORY_BY_##by,
	UT_MEMORY_BY_LIST(UT_MEMORY_BY_ENUM)
#undef UT_MEMORY_BY_ENUM
	UT_MEMORY_BYS
};

extern const char *const ut_memory_by_words[UT_MEMORY_BYS];

struct ut_memory_amount {
	double bytes, count;
	double variance; /* of bytes; 0 = exact */
};

struct ut_memory_line {
	uint32_t name, module, file; /* ids in the strings of the report; 0 = none */
	uint32_t line;
	struct ut_memory_amount of[UT_MEMORY_SAMPLES];
	double total;       /* live at the peak, with what was allocated below */
	double freed, life; /* blocks of those allocated; ns that these lived in all */
	/* who called it most, by bytes of each kind: name, bytes */
	uint32_t caller[UT_MEMORY_SAMPLES];
	double caller_bytes[UT_MEMORY_SAMPLES];
};

/* A process, each with a peak of its own. */
struct ut_memory_process {
	uint32_t name;
	uint64_t pid;
	uint64_t peak_at; /* ns since its trace began */
	struct ut_memory_amount of[UT_MEMORY_SAMPLES];
};

struct ut_memory_report {
	enum ut_memory_by by;
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_memory_line *lines;
	size_t count, cap;
	struct ut_hashtab by_key;
	struct ut_memory_process *processes;
	size_t process_count, process_cap;
	struct ut_memory_amount of[UT_MEMORY_SAMPLES];
	uint64_t samples;
	uint8_t *name_parts; /* after sort; by string, of lines: enum ut_name_part */
};

void ut_memory_report_init(struct ut_memory_report *r, enum ut_memory_by by);
void ut_memory_report_add(struct ut_memory_report *r, const struct ut_store *store);
void ut_memory_report_sort(struct ut_memory_report *r); /* by the peak, then what was allocated */
void ut_memory_report_release(struct ut_memory_report *r);

#endif
