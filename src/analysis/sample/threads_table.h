/*
 * threads_table.h - what threads did (threads.h), as tables and in a few words.
 */
#ifndef UT_SAMPLE_THREADS_TABLE_H
#define UT_SAMPLE_THREADS_TABLE_H

#include <stdbool.h>

#include "base/err.h"

struct ut_buf;
struct ut_out;
struct ut_report_opts;
struct ut_threads;

/* which table, its word on the command line, its heading for people */
#define UT_THREADS_TABLE_LIST(X)                                                                   \
	X(THREADS, "threads", "Threads")                                                           \
	X(CPUS, "cpus", "CPUs busy at once")                                                       \
	X(REGIONS, "regions", "Parallel regions")                                                  \
	X(WAITS, "waits", "What threads waited for")

enum ut_threads_table {
#define UT_THREADS_TABLE_ENUM(table, word, heading) UT_THREADS_TABLE_##table,
	UT_THREADS_TABLE_LIST(UT_THREADS_TABLE_ENUM)
#undef UT_THREADS_TABLE_ENUM
	UT_THREADS_TABLES
};

extern const char *const ut_threads_table_words[UT_THREADS_TABLES];

/* Has the table such a column? */
int ut_threads_check_sort(enum ut_threads_table which, const char *sort,
			  struct ut_err *err) UT_MUST_CHECK;

/* How parallel the program was, and what kept it from being more so: a sentence each. */
void ut_threads_summary_text(struct ut_buf *b, const struct ut_threads *t);

/* Are there rows for it? */
bool ut_threads_has(const struct ut_threads *t, enum ut_threads_table which);

/* One table, and for people what it is called. */
void ut_threads_heading(struct ut_out *out, enum ut_threads_table which);
void ut_threads_print(struct ut_out *out, const struct ut_threads *t, enum ut_threads_table which,
		      const struct ut_report_opts *opts);

#endif
