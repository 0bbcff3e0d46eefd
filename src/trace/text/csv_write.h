/*
 * csv_write.h - fields of CSV files: which need quotes, and what spreadsheets must not run.
 *
 * Rows and columns are the report's: table_report_csv.c. Reading CSV: csv_read.h.
 */
#ifndef UT_TEXT_CSV_WRITE_H
#define UT_TEXT_CSV_WRITE_H

#include <stdbool.h>
#include <stddef.h>

struct ut_buf;
struct ut_out;

/*
 * A spreadsheet takes a text that begins with = + - @ for a formula, and runs it. In safe mode (off
 * at start; set once) such texts get a ' in front, numbers excepted.
 */
void ut_csv_set_safe(bool safe);
/* Does this text need it? Never outside of safe mode. */
bool ut_csv_guarded(const char *s, size_t len);

/*
 * A field of a CSV file, as RFC 4180 has it, guarded; NULs and bad UTF-8 are replaced. The first
 * always in quotes, the second where they are needed.
 */
void ut_csv_put_quoted(struct ut_out *o, const char *s, size_t len);
void ut_csv_put_field(struct ut_out *o, const char *s, size_t len);

/*
 * Quoted and guarded likewise, at the end of text, for files that are read line by line: control
 * characters become blanks.
 */
void ut_csv_add_quoted(struct ut_buf *text, const char *s, size_t len);

/* May a text do without quotes? */
bool ut_csv_plain(const char *s, size_t len);

/* In quotes, with all bytes as they are: SQL may make any. guard: with a ' in front. */
void ut_csv_put_bytes(struct ut_out *o, const char *s, size_t len, bool guard);

#endif
