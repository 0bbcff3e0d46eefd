/*
 * analyses.h - what can be analysed and how, as data: options of `unitrace record` with their
 * explanations, and analyses as choices of them.
 *
 * Those that we bring are read only; a clone of one has all options open, and lies in the server's
 * own folder. What an option becomes on the command line is said in its row, and nowhere else.
 */
#ifndef UT_WORKBENCH_ANALYSES_H
#define UT_WORKBENCH_ANALYSES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ut_arena;
struct ut_json_writer;
struct ut_data_dir;
struct ut_doc;

enum ut_option_kind {
	UT_OPTION_FLAG,
	UT_OPTION_CHOICE, /* one of several words */
	UT_OPTION_NUMBER, /* whole, from low to high */
	UT_OPTION_TEXT,
};

/* Something that `unitrace record` can be told. Values are texts; "" = it is left out. */
struct ut_run_option {
	const char *key;
	const char *title;
	const char *help; /* what it is for, in a sentence or two */
	const char *cost; /* what it costs, in words; "" = nothing worth a word */
	enum ut_option_kind kind;
	const char *words;   /* on the command line: "-k", "-g %", "--sampling=%" */
	const char *choices; /* of a choice, separated by blanks */
	const char *unit;    /* of a number; "" = none */
	double low, high;    /* of it */
	const char *with;    /* key of the option without which it means nothing; NULL = none */
	unsigned int level;  /* what it costs, of five */
	bool attach;         /* also for a process that runs already */
};

extern const struct ut_run_option ut_run_options[];
extern const size_t ut_run_option_count;

const struct ut_run_option *ut_run_option_find(const char *key); /* NULL = there is none */

/* Is this a value of it? "" always is. */
int ut_run_option_check(const struct ut_run_option *o, const char *value,
			struct ut_err *err) UT_MUST_CHECK;

/* A value that an analysis gives an option. */
struct ut_analysis_value {
	const char *key, *value;
	bool open; /* can be changed without a clone */
};

#define UT_ANALYSIS_VALUES 32

struct ut_analysis {
	const char *id; /* of ours: a word; of others: their title */
	const char *group;
	const char *title;
	const char *help;
	const char *base; /* of a clone: id of the one it was made from; NULL = it is ours */
	struct ut_analysis_value values[UT_ANALYSIS_VALUES];
	size_t count;
};

/* Ours and those of the data directory; in the arena. NULL = there is none. */
const struct ut_analysis *ut_analysis_find(const struct ut_data_dir *s, struct ut_arena *a,
					   const char *id);

/* Is it, or what it is a clone of, about nothing but devices? */
bool ut_analysis_is_of_device(const struct ut_analysis *a);

/* All of them with all options: {"options": [...], "analyses": [...]}. */
int ut_analyses_write(const struct ut_data_dir *s, struct ut_json_writer *w,
		      struct ut_err *err) UT_MUST_CHECK;

/* A clone, as {"title", "base", "help", "options": {key: value}}; one of that title is replaced if
 * replace is set, otherwise -EEXIST. */
int ut_analyses_save(const struct ut_data_dir *s, const struct ut_doc *clone, bool replace,
		     struct ut_err *err) UT_MUST_CHECK;
int ut_analyses_remove(const struct ut_data_dir *s, const char *title,
		       struct ut_err *err) UT_MUST_CHECK;

/* What it costs, of five: the most that one of these options does. */
unsigned int ut_analysis_level(const struct ut_analysis *a);

#endif
