/*
 * setup.h - what is measured between which markers: the rules, as data.
 *
 * Both families of logs have their own set; a named setup puts further rules in front. The order
 * is that of the statistics. All constant.
 */
#ifndef UT_TT_SETUP_H
#define UT_TT_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tt/devlog.h"

#define UT_TT_MAX_RULES 32 /* bits in a mark */

enum ut_tt_across {
	UT_TT_ACROSS_CORE,     /* in the rows of each core */
	UT_TT_ACROSS_DEVICE,   /* in the rows of a chip */
	UT_TT_ACROSS_OPS,      /* in the rows of each op on a chip */
	UT_TT_ACROSS_DISPATCH, /* in the rows of each op on the cores that dispatch */
	UT_TT_ACROSS_KINDS
};

enum ut_tt_rule_type {
	UT_TT_ADJACENT,   /* from the last start to the first end behind it, again and again */
	UT_TT_SESSION,    /* from the first start to the last end: once */
	UT_TT_LAUNCH,     /* the same in each launch */
	UT_TT_OP,         /* the same in each op */
	UT_TT_OP_CORE,    /* the same in each op on each of its cores */
	UT_TT_SUM,        /* the values of a marker, added up */
	UT_TT_EVENT_LIST, /* no time: a list of what the device noted */
};

/* Which markers a rule begins or ends with. */
struct ut_tt_match {
	const char *risc;         /* "ANY" is any */
	const char *const *zones; /* closed by NULL; one that ends in '*': part of it */
	bool one;                 /* a single zone: JSON has no list then */
	bool any_core;            /* JSON only */
	const char *phase;        /* NULL = any */
	int timer;                /* of the older family */
};

struct ut_tt_rule {
	const char *name;
	enum ut_tt_across across;
	enum ut_tt_rule_type type;
	struct ut_tt_match start, end; /* SUM and EVENT_LIST have only a start: the marker */
};

struct ut_tt_setup {
	bool zones;      /* for which family */
	bool detect_ops; /* of the younger one */
	const struct ut_tt_rule *rules[UT_TT_MAX_RULES];
	uint8_t by_name[UT_TT_MAX_RULES]; /* their numbers in order of their names */
	size_t count;
};

extern const char *const ut_tt_across_names[];
extern const char *const ut_tt_rule_type_names[];

/* False: there is no setup of that name for this family. NULL is "default_setup". */
bool ut_tt_setup_find(struct ut_tt_setup *s, bool zones, const char *name);

/* Notes in the marks and RISCs of log which rules they begin and end. */
void ut_tt_setup_bind(const struct ut_tt_setup *s, struct ut_tt_log *log);

static inline uint32_t ut_tt_starts(const struct ut_tt_log *log, uint32_t row)
{
	const struct ut_tt_row *r = &log->rows[row];

	return log->marks[r->mark].starts & ut_tt_risc_of(log, r)->starts;
}

static inline uint32_t ut_tt_ends(const struct ut_tt_log *log, uint32_t row)
{
	const struct ut_tt_row *r = &log->rows[row];

	return log->marks[r->mark].ends & ut_tt_risc_of(log, r)->ends;
}

#endif
