/*
 * metric_groups.h - which hardware metrics are measured together, under names that people can
 * remember: the groups of --group. They come from files (share/metrics/nvidia.ini is part of the
 * program and tells the form; users have their own) and reach the backend as a list
 * (base/metric_list.h).
 *
 * Owner: whoever called init; texts live in the arena. Not thread-safe.
 */
#ifndef UT_METRICS_METRIC_GROUPS_H
#define UT_METRICS_METRIC_GROUPS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define UT_METRIC_DEFAULT_GROUP "ComputeBasic"

enum ut_metric_mode {
	UT_METRIC_QUERY = 1,
	UT_METRIC_SAMPLING = 2,
};

struct ut_metric_line {
	struct ut_str names; /* "NAME|NAME", as metric_list.h has them */
	struct ut_str unit, about;
};

struct ut_metric_group {
	struct ut_str name, about;
	struct ut_str like; /* names of other vendors' groups, separated by blanks */
	unsigned int modes; /* enum ut_metric_mode */
	struct ut_metric_line *lines;
	size_t line_count, line_cap;
};

struct ut_metric_groups {
	struct ut_arena arena;
	struct ut_metric_group *items; /* those read later come first */
	size_t count, cap;
};

/* The groups that come with the program. */
void ut_metric_groups_init(struct ut_metric_groups *g);
void ut_metric_groups_release(struct ut_metric_groups *g);

/* Adds those of a text; file is for messages. */
int ut_metric_groups_read(struct ut_metric_groups *g, const char *file, struct ut_str text,
			  struct ut_err *err) UT_MUST_CHECK;

/* The same from a file. */
int ut_metric_groups_open(struct ut_metric_groups *g, const char *path,
			  struct ut_err *err) UT_MUST_CHECK;

/*
 * The group of this name, in any case of letters, or the one that another vendor's of this name
 * leads to. -ENOENT with a message that names those that there are for this mode.
 */
int ut_metric_groups_find(const struct ut_metric_groups *g, const char *name,
			  enum ut_metric_mode mode, const struct ut_metric_group **group,
			  struct ut_err *err) UT_MUST_CHECK;

/* Its metrics for a backend. */
void ut_metric_group_list(const struct ut_metric_group *group, struct ut_buf *to);

/* What --metric-list prints, in the form of Intel's unitrace; groups are numbered from first on. */
void ut_metric_groups_print(const struct ut_metric_groups *g, size_t first, struct ut_buf *to);

#endif
