/*
 * perfetto_json.h - JSON text as the value of a debug annotation.
 *
 * Objects and arrays become nested annotations; empty ones are written in the older field
 * nested_value; null is an annotation without a value. What is nested too deep and
 * numbers that fit neither 64 bits nor a double become strings, and ANNOTATION_EXACT tells us what
 * they were.
 */
#ifndef UT_EXPORT_PERFETTO_JSON_H
#define UT_EXPORT_PERFETTO_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct ut_buf;
struct ut_pbuf;

/* The value's fields of the annotation that is being written. */
void ut_perfetto_put_json(struct ut_pbuf *b, const char *text, size_t len);

/* What a JSON string stands for; other text as it is. Any bytes. */
void ut_perfetto_plain_text(struct ut_buf *b, const char *text, size_t len);

#endif
