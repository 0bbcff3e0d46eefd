/*
 * json_write.h - an object, a list, a value after the other: commas and quotes are ours.
 *
 *     struct ut_json_writer w = { &buf };
 *     ut_write_open(&w, NULL, '{');
 *     ut_write_text(&w, "name", name);
 *     ut_write_close(&w, '}');
 *
 * A key of NULL is for lists and for the value that is the whole text. Valid JSON for any bytes.
 */
#ifndef UT_TEXT_JSON_WRITE_H
#define UT_TEXT_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_buf;
struct ut_doc;

struct ut_json_writer {
	struct ut_buf *to;
	bool comma; /* is due before the next value */
};

void ut_write_open(struct ut_json_writer *w, const char *key, char bracket);
void ut_write_close(struct ut_json_writer *w, char bracket);
void ut_write_text(struct ut_json_writer *w, const char *key, const char *value); /* NULL: null */
void ut_write_bytes(struct ut_json_writer *w, const char *key, const char *value, size_t len);
void ut_write_u64(struct ut_json_writer *w, const char *key, uint64_t value);
void ut_write_i64(struct ut_json_writer *w, const char *key, int64_t value);
void ut_write_double(struct ut_json_writer *w, const char *key, double value);
void ut_write_flag(struct ut_json_writer *w, const char *key, bool value);
void ut_write_null(struct ut_json_writer *w, const char *key);
/* A value that is JSON already. */
void ut_write_raw(struct ut_json_writer *w, const char *key, const char *json, size_t len);
/* A value that was read (json_doc.h), as it was. NULL: null. */
void ut_write_doc(struct ut_json_writer *w, const char *key, const struct ut_doc *t);

#endif
