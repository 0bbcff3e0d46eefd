/*
 * complog.h - what the compiler thought the kernels would take: the "Perf Summary" tables of its
 * log, or the ideal_cycles.json files of a torch-spyre cache.
 *
 * A table lists kernels with their category and ideal cycles; a log may hold several (one per
 * phase or model). Strings are ids of the string table given to the readers. Memory is the
 * arena's.
 */
#ifndef UT_ACELYZER_COMPLOG_H
#define UT_ACELYZER_COMPLOG_H

#include "acelyzer/event_table.h"
#include "acelyzer/message.h"
#include "acelyzer/options.h"

/* Kernel -> category. */
struct ut_ace_catmap {
	struct ut_idmap map; /* kernel -> category */
	uint32_t *cats;      /* categories in order of their first kernel, each once */
	size_t count, cap;
};

struct ut_ace_ideal {
	struct ut_idmap place; /* kernel -> place in cycles + 1 */
	double *cycles;
	size_t cycle_count, cycle_cap;
	uint32_t *kernels; /* in the order of the table */
	size_t kernel_count, kernel_cap;
	double time; /* us of all rows */
	const char *phase;
	struct ut_ace_catmap *cats;
};

struct ut_ace_complog {
	struct ut_ace_ideal *tables;
	size_t table_count, table_cap;
	size_t started;            /* tables that have begun */
	bool autopilot;            /* kernels were not compiled one by one */
	bool single;               /* one table: it counts for every job */
	struct ut_ace_catmap cats; /* release 1.0: of all tables */
};

struct ut_ace_complogs {
	struct ut_ace_complog *items; /* one for all ranks, or one per rank */
	size_t count;
};

/* How a log is read. */
struct ut_ace_complog_reader {
	struct ut_ace_table *table; /* for strings and memory */
	struct ut_ace_messages *messages;
	double core;                 /* MHz */
	enum ut_ace_release release; /* as release 1.2: phases, the row Total counts as a kernel */
};

void ut_ace_complog_text(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
			 const char *text, size_t len);

/* From a file; what cannot be read is a message and an empty log. A directory only for release 1.2.
 */
void ut_ace_complog_read(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
			 const char *path);

/* Frees the arrays. */
void ut_ace_complog_release(struct ut_ace_complog *log);

#endif
