/*
 * table_options.h - the options of all commands that print tables, the same in each of them, and
 * what they make of a report (text/table_report.h).
 */
#ifndef UT_CMD_TABLE_OPTIONS_H
#define UT_CMD_TABLE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"

struct ut_report_opts;

struct ut_table_opts {
	bool json, csv, csv_safe;
	const char *sort, *colour;
	/* UINT64_MAX: not given */
	uint64_t rows;  /* that people get */
	uint64_t limit; /* that anybody gets */
	uint64_t width;
};

#define UT_TABLE_OPTS .rows = UINT64_MAX, .limit = UINT64_MAX, .width = UINT64_MAX

/* For a command's table of options: which of them it has, in this order. */
#define UT_TABLE_OPT_JSON(o) ut_opt_flag('j', "json", &(o)->json, "print JSON, in ns")
#define UT_TABLE_OPT_CSV(o)  ut_opt_flag(0, "csv", &(o)->csv, "print CSV, in ns")
#define UT_TABLE_OPT_CSV_SAFE(o)                                                                   \
	ut_opt_flag(0, "csv-safe", &(o)->csv_safe,                                                 \
		    "CSV: put a ' before texts that a spreadsheet would run as a formula")
#define UT_TABLE_OPT_SORT(o)                                                                       \
	ut_opt_str(0, "sort", "COLUMN", &(o)->sort,                                                \
		   "order by a column: the largest first, texts from A to Z; COLUMN:asc and "      \
		   "COLUMN:desc say which way")
#define UT_TABLE_OPT_ROWS(o, usual)                                                                \
	ut_opt_u64('n', "rows", "N", &(o)->rows, "rows of the table, 0 for all (" usual ")")
#define UT_TABLE_OPT_LIMIT(o)                                                                      \
	ut_opt_u64(0, "limit", "N", &(o)->limit,                                                   \
		   "rows in every format, CSV and JSON, too; 0 for all (all)")
#define UT_TABLE_OPT_WIDTH(o, usual)                                                               \
	ut_opt_u64('w', "width", "N", &(o)->width,                                                 \
		   "characters of a table's text; longer ones lose their middle; 0 for all "       \
		   "(" usual ")")
#define UT_TABLE_OPT_COLOUR(o)                                                                     \
	ut_opt_words(ut_opt_str(0, "color", "WHEN", &(o)->colour,                                  \
				"titles in bold: auto, always or never (auto: on a terminal, "     \
				"unless NO_COLOR is set)"),                                        \
		     "auto always never")

/* Options that contradict each other, and words that none of them takes. */
int ut_table_opts_check(const struct ut_table_opts *o, struct ut_err *err) UT_MUST_CHECK;

/*
 * How to print on a descriptor (-1: neither a terminal nor anything like it). usual: how many rows
 * people get who do not say it; programs get all unless there is a limit.
 */
struct ut_report_opts ut_table_report(const struct ut_table_opts *o, int fd, uint64_t usual);

#endif
