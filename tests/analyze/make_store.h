/*
 * make_store.h - stores made by hand, for the tests of analyses.
 *
 *     struct maker m;
 *     make_start(&m);
 *     uint32_t t = make_thread(&m, 0, 1, "main");
 *     make_span(&m, t, "a", 0, 10);
 *     make_finish(&m, &store);
 */
#ifndef UT_TESTS_ANALYZE_MAKE_STORE_H
#define UT_TESTS_ANALYZE_MAKE_STORE_H

#include "model/build.h"

struct maker {
	struct ut_build build;
	uint32_t process;
};

/* With one process, "app" of pid 100. */
void make_start(struct maker *m);
void make_process(struct maker *m, uint32_t pid, const char *name, int32_t rank);
uint32_t make_track(struct maker *m, enum ut_track_type type, uint64_t id, const char *name);

void make_row(struct maker *m, uint32_t track, struct ut_event e, const char *name,
	      const char *cat);
void make_span(struct maker *m, uint32_t track, const char *name, uint64_t ts, uint64_t length);
void make_kind(struct maker *m, uint32_t track, enum ut_kind kind, const char *name, uint64_t ts,
	       uint64_t val);
void make_double(struct maker *m, uint32_t track, const char *name, uint64_t ts, double value);

void make_finish(struct maker *m, struct ut_store *store);

/* The next of a fixed row of numbers, which look random. */
uint64_t make_random(uint64_t *seed);

#endif
