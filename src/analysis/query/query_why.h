/*
 * query_why.h - why SQL has found nothing, if it asks for a name that no trace has.
 */
#ifndef UT_QUERY_QUERY_WHY_H
#define UT_QUERY_QUERY_WHY_H

#include <stddef.h>

struct ut_buf;
struct ut_store;

/*
 * Appends a line about the first NAME of a condition name = 'NAME' that is no text of any trace,
 * with the nearest name that there is; nothing if there is no such condition.
 */
void ut_query_why(struct ut_buf *b, const char *sql, const struct ut_store *stores, size_t count);

#endif
