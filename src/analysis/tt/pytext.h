/*
 * pytext.h - values as Python prints them, and JSON as its json module lays it out: two blanks a
 * level, keys in order (the caller's duty).
 */
#ifndef UT_TT_PYTEXT_H
#define UT_TT_PYTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "tt/devlog.h"

struct ut_out;

/* repr() of a str. */
void ut_py_str(struct ut_buf *b, struct ut_str s);

/* repr() of a float: the shortest digits that read back, never without a point or an exponent. */
#define UT_PY_DOUBLE_ROOM 40
void ut_py_double(char text[UT_PY_DOUBLE_ROOM], double value);

/* The bytes as they stand inside a JSON string; lives in the arena. */
char *ut_py_escape(struct ut_arena *a, const char *s, size_t len, size_t *out_len);

/* What a marker is called in the analysis JSON, escaped: made once per mark. */
const char *ut_tt_mark_text(struct ut_tt_log *log, uint32_t mark, size_t *len);

/* JSON under way. */
struct ut_py_json {
	struct ut_out *out;
	int depth;
	bool empty; /* nothing written yet at this level */
};

void ut_py_open(struct ut_py_json *j, char bracket);
void ut_py_close(struct ut_py_json *j, char bracket);
void ut_py_item(struct ut_py_json *j);                 /* before each element of a list */
void ut_py_key(struct ut_py_json *j, const char *key); /* before each value of an object */

void ut_py_put_str(struct ut_py_json *j, const char *key, const char *value);
void ut_py_put_u64(struct ut_py_json *j, const char *key, uint64_t value);
void ut_py_put_i64(struct ut_py_json *j, const char *key, int64_t value);
void ut_py_put_double(struct ut_py_json *j, const char *key, double value);
void ut_py_put_bool(struct ut_py_json *j, const char *key, bool value);
void ut_py_put_list(struct ut_py_json *j, const char *key, const char *const *items);

#endif
