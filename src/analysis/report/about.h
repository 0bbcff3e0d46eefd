/*
 * about.h - what a loaded trace is, in the words of `info` and `validate`.
 */
#ifndef UT_REPORT_ABOUT_H
#define UT_REPORT_ABOUT_H

#include "model/store.h"

struct ut_out;

/* The tool whose dialect a foreign file is written in; "" = unknown. */
const char *ut_about_dialect(const struct ut_trace *t);

/* One line: "chrome (torch), 1234 events on 8 tracks of 2 processes". */
void ut_about_line(struct ut_out *o, const struct ut_store *s, const char *format);

/* Everything; bytes is the size of the file. */
struct ut_about {
	const char *path, *format;
	uint64_t bytes;
	const struct ut_store *store;
};

void ut_about_text(struct ut_out *o, const struct ut_about *a);
void ut_about_json(struct ut_out *o, const struct ut_about *a);

/* Parts that recordings have, too: events by kind and losses, "  NAME N" or ,"events":{...}. */
void ut_about_counts_text(struct ut_out *o, const uint64_t kinds[UT_KIND_COUNT],
			  const struct ut_losses *losses);
void ut_about_counts_json(struct ut_out *o, const uint64_t kinds[UT_KIND_COUNT],
			  const struct ut_losses *losses);

#endif
