/*
 * guard.h - what a statement may reach: the given traces, memory up to a limit, nothing else.
 *
 * Statements come from pages, assistants and scripts and are taken for hostile. Functions and
 * modules of SQLite are allowed by name: what the linked SQLite has beyond the lists cannot be
 * called. Temporary data (temporary tables, sorting, what a statement materialises) lies in memory:
 * the connection's VFS has no files, so nothing is written to a disk and no name of a file can be
 * opened. What one call of a function can compute is bounded as well, because statements are
 * interrupted between calls only. So is the memory that SQLite needs for a statement; one that is
 * to stop gets none any more.
 */
#ifndef UT_QUERY_GUARD_H
#define UT_QUERY_GUARD_H

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#define UT_PATTERN_MOST 1000       /* bytes of LIKE and GLOB: each is compared with all of a text */
#define UT_SEARCH_MOST  (64 << 10) /* bytes of a text for REGEXP: it is searched from each on */

struct ut_guard {
	sqlite3 *db;
	sqlite3 *own;   /* a connection with SQLite's functions as they are, see bounded.c */
	char **refused; /* functions of SQLite that are not in the list */
	size_t count, cap;
	const char *why; /* the last refusal; NULL = none */
};

/* A database in memory, before anything is added to it. Returns an SQLite code; ut_guard_close()
 * follows in any case. */
int ut_guard_open(struct ut_guard *s);
void ut_guard_close(struct ut_guard *s);

/* bounded.c: functions of db that work for a moment at most, by those of own. An SQLite code. */
int ut_bounded_add(sqlite3 *db, sqlite3 *own);

/* From here on every statement is checked; s stays where it is. */
void ut_guard_lock(struct ut_guard *s);

/* Between statements: gives memory of temporary data back, where no temporary table holds it.
 * SQLite keeps what a statement that failed has used. */
void ut_guard_shrink(struct ut_guard *s);

/* May statements call a function of this name? Those that SQLite does not know yet are allowed. */
bool ut_guard_may_call(const struct ut_guard *s, const char *function);

/*
 * Bytes of temporary data that all connections of the process may hold together: a quarter of the
 * machine's memory, 2 GiB at most, until it is set. Beyond that statements fail with SQLITE_FULL.
 */
size_t ut_guard_temp_limit(void);
void ut_guard_set_temp_limit(size_t bytes);
size_t ut_guard_temp_used(void);

/*
 * heap.c. Statements run between these two, on one thread: SQLite gives them no more memory when
 * *stop is set, or beyond the limit, which is that of all of them together: a quarter of the
 * machine's memory, 4 GiB at most, until it is set (0: as before). They fail with SQLITE_NOMEM.
 */
void ut_guard_begin(const volatile sig_atomic_t *stop);
void ut_guard_end(void);
bool ut_guard_is_stopped(void);
size_t ut_guard_memory_limit(void);
void ut_guard_set_memory_limit(size_t bytes);
size_t ut_guard_memory_used(void);

/* Before the first connection. */
void ut_guard_watch_heap(void);

#endif
