/*
 * table_report.h - every table that we print: columns, and rows that are pushed through
 * begin, add, end. What a reader sees of it is up to a printer: a table on a terminal, CSV, TSV,
 * JSON, JSON lines, or rows for a page.
 *
 * Cells stay typed until then, so units, names of any bytes, widths, colours, order and limits are
 * handled here, once. CSV and JSON are written as rows come. A table for people is laid out by the
 * first rows, a bounded number of them; those that follow get the same columns. Only --sort keeps
 * all rows. One owner, one thread.
 */
#ifndef UT_TEXT_TABLE_REPORT_H
#define UT_TEXT_TABLE_REPORT_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_out;
struct ut_report;

enum ut_report_format {
	UT_REPORT_TABLE,
	UT_REPORT_CSV,
	UT_REPORT_TSV,
	UT_REPORT_JSON,
	UT_REPORT_JSONL,
	UT_REPORT_PAGE, /* {"columns":[{key, title, unit, type}],"rows":[[...]]} */
	UT_REPORT_FORMATS,
	UT_REPORT_CALL = UT_REPORT_FORMATS, /* no text at all: rows go to opts.row */
	UT_REPORT_TYPED, /* the same, of CSV's columns, which opts.begin is told */
};

/* "table", ...; what --format takes. */
extern const char *const ut_report_format_words[UT_REPORT_FORMATS];

/* ---- columns ------------------------------------------------------------------------------- */

/* Kind, and how people see it: texts to the left, all others to the right. */
#define UT_REPORT_TYPE_LIST(X)                                                                     \
	X(ANY, "any")     /* of a query: each value has a type of its own */                       \
	X(TEXT, "text")   /* a name or the like: any bytes */                                      \
	X(WORD, "word")   /* one of a few: quotes where they are needed */                         \
	X(COUNT, "count") /* a whole number */                                                     \
	X(NUMBER, "number")                                                                        \
	X(TIME, "time")   /* ns; people: "12.34 ms" */                                             \
	X(BYTES, "bytes") /* people: "1.50 MiB" */                                                 \
	X(SHARE, "share") /* percent; people: "12.3%" */

enum ut_report_type {
#define UT_REPORT_TYPE(type, word) UT_REPORT_##type,
	UT_REPORT_TYPE_LIST(UT_REPORT_TYPE)
#undef UT_REPORT_TYPE
};

/* Who gets a column; 0 = all. The same one may stand at different places for different readers. */
enum ut_report_reader {
	UT_FOR_PEOPLE = 1u << 0,
	UT_FOR_CSV = 1u << 1, /* and TSV */
	UT_FOR_JSON = 1u << 2,
	UT_FOR_PROGRAMS = UT_FOR_CSV | UT_FOR_JSON,
	UT_FOR_NOBODY = 1u << 3, /* only to order by */
};

enum ut_report_digits {
	UT_DIGITS_OWN,        /* people: six, or one for shares; programs: all, or four decimals */
	UT_DIGITS_ALL = 17,   /* %.17g: what the CSV of counters has always had */
	UT_DIGITS_FIXED = 32, /* so many decimals: FIXED + n; otherwise n digits */
};

struct ut_report_column {
	const char *key;   /* for programs and --sort */
	const char *title; /* for people */
	const char *unit; /* added to the key of programs as "_ns"; NULL = none, "%" is not added */
	enum ut_report_type type;
	unsigned int readers;
	unsigned int least,
		most;        /* for people: columns; most 0 = any. Wider ones lose their middle */
	uint8_t digits;      /* for people, of a real number */
	uint8_t data_digits; /* for programs */
	bool left;           /* for people: to the left, whatever the type says */
	bool if_any;         /* people do not see it if no row has something in it */
	bool optional;       /* JSON leaves the member out where a row has none */
	bool rest;           /* ut_report_left() adds up this one */
	const char *group; /* JSON: neighbours of one group are an object of their own, null if all
			      are none; CSV: "group_key" */
};

struct ut_report_table {
	const struct ut_report_column *columns; /* to live until end */
	size_t count;
	bool ruled; /* people: a line below the titles, and newlines in texts are told */
};

/* ---- cells --------------------------------------------------------------------------------- */

enum ut_report_cell_type {
	UT_CELL_NONE,
	UT_CELL_U64,
	UT_CELL_I64,
	UT_CELL_BIG, /* 128 bits, unsigned */
	UT_CELL_REAL,
	UT_CELL_BOOL,
	UT_CELL_TEXT,
	UT_CELL_BLOB,
	UT_CELL_JSON, /* a text that is JSON already */
};

/* Texts need to live only until ut_report_add() returns. */
struct ut_report_cell {
	enum ut_report_cell_type type;
	const char *said; /* what people see instead: "-", "new"; NULL = the value */
	union {
		uint64_t u64; /* bool, too */
		int64_t i64;
		double real;
		struct ut_str text;
		struct {
			uint64_t high, low;
		} big;
	};
};

static inline struct ut_report_cell ut_report_none(void)
{
	return (struct ut_report_cell){ .type = UT_CELL_NONE };
}

static inline struct ut_report_cell ut_report_u64(uint64_t value)
{
	return (struct ut_report_cell){ .type = UT_CELL_U64, .u64 = value };
}

static inline struct ut_report_cell ut_report_i64(int64_t value)
{
	return (struct ut_report_cell){ .type = UT_CELL_I64, .i64 = value };
}

static inline struct ut_report_cell ut_report_real(double value)
{
	return (struct ut_report_cell){ .type = UT_CELL_REAL, .real = value };
}

static inline struct ut_report_cell ut_report_str(struct ut_str s)
{
	return (struct ut_report_cell){ .type = UT_CELL_TEXT, .text = s };
}

struct ut_report_cell ut_report_text(const char *s);

static inline struct ut_report_cell ut_report_said(struct ut_report_cell cell, const char *said)
{
	cell.said = said;
	return cell;
}

/* ---- a report ------------------------------------------------------------------------------ */

#define UT_REPORT_WIDTH_OWN SIZE_MAX
struct ut_report_opts {
	enum ut_report_format format;
	const char *sort; /* key, key:asc or key:desc; NULL = as they come */
	uint64_t limit;   /* rows; 0 = all */
	size_t width;  /* people: columns of a text; 0 = any; UT_REPORT_WIDTH_OWN: as columns say */
	size_t screen; /* people: columns of their terminal, to be fitted; 0 = it is none */
	bool colour;
	/* JSON: what stands around and between rows; NULL = "[", "", ",\n", "]\n" */
	const char *open, *first, *next, *close;
	/* UT_REPORT_CALL, _TYPED: who gets the rows that are left, in order */
	void (*begin)(void *ctx, const char *const *names, size_t columns);
	void (*row)(void *ctx, const struct ut_report_cell *cells);
	void *ctx;
};

/* The out stays the caller's. */
struct ut_report *ut_report_open(struct ut_out *out, const struct ut_report_opts *opts);
void ut_report_close(struct ut_report *r);

/* -EINVAL: the table has no column that --sort names. A report may have several tables. */
int ut_report_begin(struct ut_report *r, const struct ut_report_table *table,
		    struct ut_err *err) UT_MUST_CHECK;
void ut_report_add(struct ut_report *r, const struct ut_report_cell *cells);
void ut_report_end(struct ut_report *r);

/* Both at once, where the order has been checked or there is none; and end with close. */
struct ut_report *ut_report_start(struct ut_out *out, const struct ut_report_opts *opts,
				  const struct ut_report_table *table);
void ut_report_finish(struct ut_report *r);

/* Is it for people? They get a line about rows left out, and no table if it has no rows. */
bool ut_report_for_people(const struct ut_report *r);

/* How many rows of the table the limit has left out; *rest is the sum of their rest column. */
uint64_t ut_report_left(const struct ut_report *r, long double *rest);

/* The check of begin, before work begins. sort may be NULL. */
int ut_report_check_sort(const struct ut_report_table *table, const char *sort,
			 struct ut_err *err) UT_MUST_CHECK;

#endif
