/*
 * json.h - reads JSON of any size through a window that slides over it.
 *
 * The reader is a cursor in the window. Functions read the value at the cursor in place and move
 * behind it. Where the window ends too early they return false with trouble UT_JSON_SHORT, and
 * the caller starts again from its mark with more text in the window, so that what lies between
 * two marks (an event, say) is always in one piece and pointers into it hold until the next mark:
 *
 *	do {
 *		ut_json_mark(&j);
 *		do
 *			more = ut_json_element(&j) && read_event(&j);
 *		while (!more && ut_json_again(&j));
 *	} while (more);
 *
 * After the last false, trouble tells the end of the array (UT_JSON_NONE) from the end of the
 * input, text that is no JSON and a failed read. What tools get wrong and what can only mean one
 * thing is read anyway and noted in repairs[]. Depth is bounded; nothing recurses.
 * One owner, one thread.
 */
#ifndef UT_BASE_JSON_H
#define UT_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

#define UT_JSON_DEPTH 512u        /* deeper nesting is refused */
#define UT_JSON_MOST  (64u << 20) /* bytes between two marks; more is refused */

/* Bytes behind damage without an event: more is an input that never ends, or is no trace. */
#define UT_JSON_BARREN (256u << 20)

enum ut_json_trouble {
	UT_JSON_NONE,
	UT_JSON_SHORT,   /* the window ends here; after ut_json_again() said no: the input does */
	UT_JSON_BAD,     /* no JSON: why and where say more */
	UT_JSON_FAILED,  /* the input could not be read: err says more */
	UT_JSON_ENDLESS, /* given up by whoever looked for more: why and where say more */
};

/* kind, what was found */
#define UT_JSON_REPAIR_LIST(X)                                                                     \
	X(EXTRA_COMMA, "a comma with nothing behind it")                                           \
	X(NO_COMMA, "a missing comma")                                                             \
	X(NUMBER, "a number that JSON does not know (NaN, Infinity, 007, .5)")                     \
	X(CONTROL, "a raw control byte in a string")                                               \
	X(ESCAPE, "an escape that JSON does not know")                                             \
	X(SURROGATE, "half of a surrogate pair, which stands for no letter")                       \
	X(ZERO, "a zero byte between values")

enum ut_json_repair {
#define UT_JSON_REPAIR_ENUM(kind, text) UT_JSON_##kind,
	UT_JSON_REPAIR_LIST(UT_JSON_REPAIR_ENUM)
#undef UT_JSON_REPAIR_ENUM
	UT_JSON_REPAIRS
};

struct ut_json_note {
	uint64_t count, first; /* first: offset in the input */
	uint64_t next;         /* offsets below have been counted: text may be read twice */
};

typedef ssize_t ut_json_read(void *ctx, void *to, size_t len, struct ut_err *err);

struct ut_json {
	const char *at;   /* the cursor */
	const char *end;  /* of the window; quotes follow there, so that no loop runs past them */
	const char *mark; /* what lies behind it stays in the window */
	bool fresh;       /* just inside a bracket: no comma is due */
	bool mark_fresh;
	bool plain; /* set by the caller; cleared by blanks between tokens and by repairs */
	bool eof;   /* the window reaches to the end of the input */
	uint8_t trouble;
	const char *why; /* one phrase, e.g. "a key without a colon" */
	uint64_t where;  /* offset of the trouble */
	uint64_t base;   /* offset of the window's first byte */
	struct ut_json_note repairs[UT_JSON_REPAIRS];
	struct ut_err err;
	ut_json_read *read;
	void *ctx;
	char *buf;
	size_t cap;
};

/* Reads nothing yet. base is the offset of the first byte that read() will give. */
void ut_json_init(struct ut_json *j, ut_json_read *read, void *ctx, uint64_t base);

/* The same from offset 0 on, where a small window of so many bytes is better. */
void ut_json_init_window(struct ut_json *j, ut_json_read *read, void *ctx, size_t window);

/* The whole input is this text, which is copied. */
void ut_json_init_text(struct ut_json *j, const char *text, size_t len);
void ut_json_release(struct ut_json *j);

/* Forgets the window: what read() gives from now on lies at base. */
void ut_json_seek(struct ut_json *j, uint64_t base);

static inline uint64_t ut_json_offset(const struct ut_json *j, const char *p)
{
	return j->base + (uint64_t)(p - j->buf);
}

static inline void ut_json_mark(struct ut_json *j)
{
	j->mark = j->at;
	j->mark_fresh = j->fresh;
	j->trouble = UT_JSON_NONE;
}

/* After a false: brings more of the input and returns to the mark; false if that cannot help. */
bool ut_json_again(struct ut_json *j);

/* Puts the trouble into words, "PATH: offset N: why", and returns its negative errno. */
int ut_json_error(const struct ut_json *j, const char *path, struct ut_err *err);

/* Steps over blanks to the next byte that counts; 0 where there is none (UT_JSON_SHORT). */
char ut_json_peek(struct ut_json *j);

/* Into the array or object that the cursor is on, after ut_json_peek(). */
static inline void ut_json_enter(struct ut_json *j)
{
	j->at++;
	j->fresh = true;
}

/*
 * To the next member's value, or behind the closing bracket (false, UT_JSON_NONE). The key is raw
 * text without its quotes. The value must be read or skipped before the next call.
 */
bool ut_json_member(struct ut_json *j, struct ut_str *key);

/* The same for arrays. */
bool ut_json_element(struct ut_json *j);

/* Any value; span (or NULL) is its raw text, with quotes if it is a string. */
bool ut_json_skip(struct ut_json *j, struct ut_str *span);

/* A string; raw is what stands between its quotes. False if the value is none. */
bool ut_json_string(struct ut_json *j, struct ut_str *raw);

/* Makes the next value contiguous and stays in front of it: what follows needs no second try. */
bool ut_json_hold(struct ut_json *j, struct ut_str *span);

/*
 * What raw text between quotes stands for: escapes are resolved (a lone surrogate becomes U+FFFD),
 * anything else is copied, valid UTF-8 or not. out has room for raw.len bytes. Returns the length.
 */
size_t ut_json_decode(struct ut_str raw, char *out);

/* Is there something for ut_json_decode() to do? */
bool ut_json_escaped(struct ut_str raw);

/*
 * A value that ut_json_skip() accepted, still in the window, as strict JSON without blanks and
 * without needless escapes: equal strings come out equal.
 */
void ut_json_minify(struct ut_str value, struct ut_buf *out);

enum ut_json_type {
	UT_JSON_U64,
	UT_JSON_I64, /* negative */
	UT_JSON_F64, /* a fraction, an exponent, NaN or an infinity */
	UT_JSON_BIG, /* a whole number that fits neither; f64 is the nearest */
	UT_JSON_NOT, /* no number */
};

struct ut_json_number {
	uint64_t u64;
	int64_t i64;
	double f64; /* always set, correctly rounded */
};

/* text is the whole token. Also takes what UT_JSON_NUMBER repairs. */
enum ut_json_type ut_json_number(struct ut_str text, struct ut_json_number *n);

/*
 * A decimal number times 10^scale as a whole number (scale 3: microseconds to ns). Exact, rounded
 * to nearest, ties away from zero. False if text is no finite number or the result does not fit.
 */
bool ut_json_scaled(struct ut_str text, int scale, int64_t *out);

#endif
