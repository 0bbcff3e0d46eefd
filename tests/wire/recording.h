/*
 * recording.h - a session in a folder of its own, and everything that was recorded in it, read
 * back record by record.
 */
#ifndef TESTS_WIRE_RECORDING_H
#define TESTS_WIRE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/control.h"
#include "wire/spool.h"
#include "wire/writer.h"

struct recording {
	char dir[64];
	char path[512]; /* of the spool that was found last */
	struct ut_control *control;
};

/* cmocka's setup and teardown; recording_drop() removes the folder. */
int recording_make(void **state);
int recording_drop(void **state);

/* The same in a folder under parent. */
int recording_make_in(struct recording *r, const char *parent);

/* The path of the newest spool; fails the test if there is none. */
const char *recording_path(struct recording *r);
size_t recording_count(const struct recording *r); /* of spools */

/* One finished record of a data chunk, or of a META chunk (thread 0). */
struct record {
	uint32_t thread;
	uint64_t part; /* ticks at which its part starts */
	uint64_t ticks;
	enum ut_word kind;
	uint32_t payload;
	enum ut_rec type;
	size_t count;
	uint64_t words[12]; /* the first of them */
	size_t order;
};

struct records {
	struct record *items;
	size_t count;
	uint64_t torn;
	size_t chunks, meta_chunks;
	uint64_t bytes; /* of the file that were claimed */
	uint64_t dropped, overwritten;
	uint32_t status, threads;
};

/* All records, those of one thread together and in order. Release with records_release(). */
struct records records_read(const char *path);
void records_release(struct records *all);

/* How many records of this type there are; UT_REC_NONE = words. */
size_t records_of(const struct records *all, enum ut_rec type);

/* Makes a word or a record of the test's own thread; the numbers come back in the record. */
void put_number(struct ut_tbuf *t, uint32_t number);      /* a BEGIN with payload number */
void put_long(struct ut_tbuf *t, uint64_t a, uint64_t b); /* a COUNTER */

/* The same for a recording of one thread that is too large to keep; gives its status. */
uint32_t expect_numbers_in(const char *path, size_t count);

/* Checks that the numbers of one thread are 0, 1, 2, ... count - 1. */
void expect_numbers(const struct records *all, uint32_t thread, size_t count);

#endif
