/*
 * table_report_parts.h - what the printers of table_report.h share.
 */
#ifndef UT_TEXT_TABLE_REPORT_PARTS_H
#define UT_TEXT_TABLE_REPORT_PARTS_H

#include "base/arena.h"
#include "text/table_report.h"

struct ut_report;

/* One per format. A printer gets all cells of a row and takes those that are for its reader. */
struct ut_report_printer {
	unsigned int reader;
	void (*begin)(struct ut_report *r);
	void (*row)(struct ut_report *r, const struct ut_report_cell *cells);
	void (*end)(struct ut_report *r);
};

/* The text of a cell that waits for the widths. */
struct ut_report_shown {
	size_t start, len, columns; /* in text */
};

/* What people see of a column. */
struct ut_report_shape {
	size_t width, cut; /* columns of blanks, and of text: cut 0 = any */
	bool numbers;      /* there are numbers ... */
	bool texts;        /* ... and other things */
	bool any;          /* there is something */
	bool hidden;
};

struct ut_report {
	struct ut_out *out; /* not owned */
	struct ut_report_opts opts;
	const struct ut_report_printer *printer;
	struct ut_report_table table;
	uint64_t rows;          /* printed, of this table */
	uint64_t left;          /* not printed */
	long double rest;       /* of those */
	char **names;           /* what programs call each column, in the arena */
	struct ut_str *members; /* the same as JSON has it, with the colon */
	struct ut_arena arena;  /* of the table */
	struct ut_buf scratch;

	/* --sort: all rows, in copies */
	struct ut_report_cell *kept;
	size_t kept_count, kept_cap;
	size_t sort_column;
	bool sort_rises, sorted;

	/* people: rows that wait for the widths */
	struct ut_report_shape *shapes;
	struct ut_report_shown *shown;
	size_t waiting, shown_cap;
	struct ut_buf text;
	bool laid_out;
};

extern const struct ut_report_printer ut_report_table_printer, ut_report_csv_printer,
	ut_report_tsv_printer, ut_report_json_printer, ut_report_jsonl_printer,
	ut_report_page_printer;

extern const char *const ut_report_type_words[];

/* Does this printer's reader get the column? */
bool ut_report_has(const struct ut_report *r, size_t column);

/* The shortest digits that read back as the same number, always to be seen as a real one. */
void ut_report_put_real(struct ut_buf *b, double value);
void ut_report_put_big(struct ut_buf *b, uint64_t high, uint64_t low);
void ut_report_put_blob(struct ut_buf *b, struct ut_str bytes);

/* A real number with the digits that the column has for it; false: it has none, all are wanted. */
bool ut_report_put_digits(struct ut_buf *b, uint8_t digits, double value);

#endif
