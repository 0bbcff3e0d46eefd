/*
 * opt.h - options as a table: parsed, shown by --help, completed by shells and printed in the
 * manual from the same lines.
 *
 * A table is an array closed by ut_opt_end(). Values are stored through the pointers in it; a
 * string points into argv. Long options may be shortened as long as they stay unique; an exact
 * name always wins. --opt=value, --opt value, -o value and -ovalue are the same. Short flags are
 * not grouped, but one that counts may be said several times at once (-vv). Parsing stops at the
 * first plain word, as a launcher must, or after "--".
 */
#ifndef UT_BASE_OPT_H
#define UT_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct ut_arena;

enum ut_opt_type {
	UT_OPT_END,
	UT_OPT_HEADING, /* starts a section of the help; help is its title */
	UT_OPT_FLAG,
	UT_OPT_STR,
	UT_OPT_U64,
	UT_OPT_LIST,
	UT_OPT_CALL,
};

/* What a repeated option was given, in order. {0} is empty; release frees the array only. */
struct ut_opt_list {
	const char **items;
	size_t count;
};

void ut_opt_list_add(struct ut_opt_list *list, const char *item);
void ut_opt_list_release(struct ut_opt_list *list);

/* value is NULL when the option takes none. A message set here is prefixed with the option. */
typedef int (*ut_opt_call_fn)(void *ctx, const char *value, struct ut_err *err);

struct ut_opt {
	enum ut_opt_type type;
	char letter;       /* 0 when there is only a long name */
	bool hidden;       /* works, but help does not list it */
	bool optional;     /* a value may follow a '=', and nothing else is one */
	const char *name;  /* without the dashes */
	const char *arg;   /* how --help names the value; NULL for flags */
	const char *help;  /* one line, no full stop */
	const char *words; /* values for completion: "a b c", "<file>" or "<dir>"; may be NULL */
	union {
		bool *flag;
		const char **str;
		uint64_t *u64;
		struct ut_opt_list *list;
		void *ctx;
	} dst;
	uint64_t min, max;   /* UT_OPT_U64 */
	ut_opt_call_fn call; /* UT_OPT_CALL */
};

/* One constructor per type, so that the wrong kind of pointer does not compile. */
static inline struct ut_opt ut_opt_base(enum ut_opt_type type, char c, const char *name,
					const char *arg, const char *help)
{
	return (struct ut_opt){ .type = type, .letter = c, .name = name, .arg = arg, .help = help };
}

static inline struct ut_opt ut_opt_flag(char c, const char *name, bool *dst, const char *help)
{
	struct ut_opt o = ut_opt_base(UT_OPT_FLAG, c, name, NULL, help);

	o.dst.flag = dst;
	return o;
}

static inline struct ut_opt ut_opt_str(char c, const char *name, const char *arg, const char **dst,
				       const char *help)
{
	struct ut_opt o = ut_opt_base(UT_OPT_STR, c, name, arg, help);

	o.dst.str = dst;
	return o;
}

/* Takes a whole number from 0; ut_opt_range() narrows it. */
static inline struct ut_opt ut_opt_u64(char c, const char *name, const char *arg, uint64_t *dst,
				       const char *help)
{
	struct ut_opt o = ut_opt_base(UT_OPT_U64, c, name, arg, help);

	o.dst.u64 = dst;
	o.max = UINT64_MAX;
	return o;
}

static inline struct ut_opt ut_opt_strs(char c, const char *name, const char *arg,
					struct ut_opt_list *dst, const char *help)
{
	struct ut_opt o = ut_opt_base(UT_OPT_LIST, c, name, arg, help);

	o.dst.list = dst;
	return o;
}

/* arg NULL: the option takes no value and call() gets NULL; so does one that is optional. */
static inline struct ut_opt ut_opt_call(const char *name, const char *arg, ut_opt_call_fn call,
					void *ctx, const char *help)
{
	struct ut_opt o = ut_opt_base(UT_OPT_CALL, 0, name, arg, help);

	o.dst.ctx = ctx;
	o.call = call;
	return o;
}

static inline struct ut_opt ut_opt_heading(const char *title)
{
	return (struct ut_opt){ .type = UT_OPT_HEADING, .help = title };
}

static inline struct ut_opt ut_opt_end(void)
{
	return (struct ut_opt){ .type = UT_OPT_END };
}

/* Additions to the above. */
static inline struct ut_opt ut_opt_letter(char c, struct ut_opt o)
{
	o.letter = c;
	return o;
}

static inline struct ut_opt ut_opt_range(struct ut_opt o, uint64_t min, uint64_t max)
{
	o.min = min;
	o.max = max;
	return o;
}

static inline struct ut_opt ut_opt_words(struct ut_opt o, const char *words)
{
	o.words = words;
	return o;
}

static inline struct ut_opt ut_opt_optional(struct ut_opt o)
{
	o.optional = true;
	return o;
}

static inline struct ut_opt ut_opt_hidden(struct ut_opt o)
{
	o.hidden = true;
	return o;
}

/*
 * Returns how many words were taken (the index of the first plain one, past a "--"), or -EINVAL
 * with *err naming the option and, where there is one, the option that was probably meant.
 */
int ut_opt_parse(const struct ut_opt *table, int argc, const char *const *argv,
		 struct ut_err *err) UT_MUST_CHECK;

/* The lines of --help. */
void ut_opt_help(FILE *to, const struct ut_opt *table);

/* Does the option take a value? */
bool ut_opt_has_value(const struct ut_opt *o);

/* A copy that outlives the caller's frame; count includes the end. */
struct ut_opt *ut_opt_copy(struct ut_arena *a, const struct ut_opt *table, size_t count);

#endif
