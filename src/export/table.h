/*
 * table.h - the summary as text, CSV or JSON. The summary is finished; names may hold any bytes.
 */
#ifndef UT_EXPORT_TABLE_H
#define UT_EXPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct ut_out;
struct ut_summary;

/* Aligned columns for people; at most limit rows (0 = all), then one line on the rest. */
void ut_table_text(struct ut_out *o, const struct ut_summary *s, size_t limit);

/* For programs: whole names, ns, share in percent of all self time; none if it is no work. */
void ut_table_csv(struct ut_out *o, const struct ut_summary *s);
void ut_table_json(struct ut_out *o, const struct ut_summary *s);

/*
 * What `unitrace -r` prints: the oneCCL tasks of one process, in the layout of Intel's tool.
 * rank -1 = none. Nothing at all without such a task.
 */
void ut_table_ccl(struct ut_out *o, const struct ut_summary *s, uint32_t pid, int32_t rank);

#endif
