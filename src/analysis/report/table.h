/*
 * table.h - the summary as text, CSV or JSON. The summary is finished; names may hold any bytes.
 */
#ifndef UT_REPORT_TABLE_H
#define UT_REPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct ut_out;
struct ut_report_opts;
struct ut_summary;

/* As a report; without --sort. */
void ut_table_print(struct ut_out *o, const struct ut_summary *s,
		    const struct ut_report_opts *opts);

/* Aligned columns for people; at most limit rows (0 = all), then one line on the rest. */
void ut_table_text(struct ut_out *o, const struct ut_summary *s, size_t limit);

/* For programs: whole names, ns, share in percent of all self time; none if it is no work. */
void ut_table_csv(struct ut_out *o, const struct ut_summary *s);
void ut_table_json(struct ut_out *o, const struct ut_summary *s);

#endif
