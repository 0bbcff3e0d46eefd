/*
 * metric_list.h - the metrics that a backend shall measure, on their way from the launcher: a text
 * of lines "NAME|NAME<tab>UNIT". Of the names, which mean the same, a device's first is measured,
 * and the very first is what the metric is called; a last name "-" says that the metric may be
 * missing without a word. Header only: backends use it in the traced
 * process, without malloc.
 */
#ifndef UT_BASE_METRIC_LIST_H
#define UT_BASE_METRIC_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct ut_metric_entry {
	struct ut_str names; /* "NAME|NAME" */
	struct ut_str unit;  /* empty = none */
};

/* The piece of *rest in front of one of these letters, or all of it; *rest goes behind. */
static inline struct ut_str ut_metric_piece(struct ut_str *rest, char at)
{
	const char *end = rest->len ? memchr(rest->ptr, at, rest->len) : NULL;
	struct ut_str piece = { rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len };

	rest->ptr += piece.len + (end != NULL);
	rest->len -= piece.len + (end != NULL);
	return piece;
}

/* The next metric; false at the end. */
static inline bool ut_metric_next(struct ut_str *rest, struct ut_metric_entry *entry)
{
	while (rest->len) {
		struct ut_str line = ut_metric_piece(rest, '\n');

		entry->names = ut_metric_piece(&line, '\t');
		entry->unit = line;
		if (entry->names.len)
			return true;
	}
	return false;
}

/* Is the number among those of "1-3,7,9-"? Every one is if there is no list. */
static inline bool ut_metric_wants_instance(const char *list, uint64_t number)
{
	const char *p = list;

	while (p && *p) {
		char *end;
		uint64_t from = strtoull(p, &end, 10), to = from;

		if (*end == '-')
			to = end[1] && end[1] != ',' ? strtoull(end + 1, &end, 10) : UINT64_MAX;
		if (number >= from && number <= to)
			return true;
		p = strchr(end, ',');
		if (p)
			p++;
	}
	return !list;
}

#endif
