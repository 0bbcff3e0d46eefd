/*
 * build.h - a spool made by hand, word by word, and what the importer makes of it, as text.
 *
 * One tick is one nanosecond. Domain 1 is "dom", thread 1 is called "main", thread 2 "two".
 */
#ifndef TESTS_IMPORT_BUILD_H
#define TESTS_IMPORT_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/contract.h"
#include "wire/spool.h"

struct build {
	char *bytes;
	size_t size;
	size_t meta_words, pos; /* words used of the META chunk; next word of the data chunk */
	size_t end;             /* first word behind the data chunk */
	char *names[1024];      /* string number i + 1 */
	uint32_t name_count;
	uint32_t parts[8]; /* by thread */
	char path[64];
};

void build_start(struct build *b);
void build_release(struct build *b);
struct ut_spool_header *build_header(struct build *b);

/* The number of a string, defined when it is new. */
uint32_t build_name(struct build *b, const char *text);

/* A definition. */
void build_define(struct build *b, enum ut_rec type, const uint64_t *words, size_t count,
		  const void *bytes, size_t len);

/* A new data chunk of so many units; then the next part of this thread, or a certain one. */
void build_chunk(struct build *b, size_t units);
void build_thread(struct build *b, uint32_t thread, uint64_t ticks);
void build_part(struct build *b, uint32_t thread, uint32_t number, uint64_t ticks);

void build_raw(struct build *b, uint64_t word);
void build_begin(struct build *b, uint64_t ticks, const char *name);
void build_end(struct build *b, uint64_t ticks);
void build_bytes(struct build *b, enum ut_rec type, uint64_t ticks, const uint64_t *words,
		 size_t count, const void *bytes, size_t len);

#define BUILD_LONG(b, type, ticks, ...)                                                            \
	build_bytes(b, UT_REC_##type, ticks, (const uint64_t[]){ __VA_ARGS__ },                    \
		    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), NULL, 0)
#define BUILD_DEFINE(b, type, ...)                                                                 \
	build_define(b, UT_REC_##type, (const uint64_t[]){ __VA_ARGS__ },                          \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), NULL, 0)

static inline uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/* Writes the file; build_release() removes it. */
const char *build_file(struct build *b);

/* One line per event: "track: kind name time+value flags {arguments}". */
struct seen {
	struct contract contract; /* first */
	struct ut_trace trace;
	struct ut_event *events;
	size_t count, cap;
	char *text;
	size_t len, text_cap;
};

void seen_import(struct seen *s, struct build *b);
void seen_release(struct seen *s);

/* The whole text; then the builder and what was seen are released. */
void expect_events(struct build *b, const char *text);

#endif
