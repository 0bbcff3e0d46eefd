/*
 * log_columns.h - the first lines of a device log: which chip, and which column is what.
 */
#ifndef UT_TT_LOG_COLUMNS_H
#define UT_TT_LOG_COLUMNS_H

#include "base/str.h"
#include "tt/devlog.h"

#define UT_TT_MAX_FIELDS 64

struct ut_tt_columns {
	int at[UT_TT_COLUMNS]; /* field number; -1 = no such column */
	int count;             /* fields that a row must have at least, up to the last needed one */
	int lead;              /* fields up to the last one that differs from row to row */
	bool mixed;            /* among these are others */
	int most;              /* fields to cut a row into: the last one may hold commas */
};

/*
 * Cuts a line at its commas; at most max fields, without the blanks around them, the last one takes
 * the rest. A field in double
 * quotes may hold commas. Returns how many there are.
 */
int ut_tt_split(const char *line, size_t len, struct ut_str *fields, int max);

/* Is this the line with the names of the columns? */
bool ut_tt_is_header(const struct ut_str *fields, int count);

/* By name. What is missing and needed is an error; *missing names it. */
bool ut_tt_columns_named(struct ut_tt_columns *c, const struct ut_str *fields, int count,
			 const char **missing);

/* By the number of fields and what is in them, for a log that begins with its rows. */
bool ut_tt_columns_guess(struct ut_tt_columns *c, const struct ut_str *fields, int count);

/* The line about the chip, in one of its forms: arch, mhz and max_cores of log. mhz is 0 if the
 * line does not tell it. */
bool ut_tt_first_line(struct ut_tt_log *log, const char *line, size_t len);

#endif
