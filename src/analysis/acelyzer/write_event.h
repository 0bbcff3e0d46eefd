/*
 * write_event.h - one event as JSON: as the output shows it, or as it is between two stages.
 *
 * A writer remembers the JSON of the strings that it has written, since names repeat a million
 * times. Several writers may read one run at once, each with an output of its own.
 */
#ifndef UT_ACELYZER_WRITE_EVENT_H
#define UT_ACELYZER_WRITE_EVENT_H

#include "acelyzer/analysis.h"

struct ut_out;

struct ut_ace_writer {
	const struct ut_ace_analysis *a;
	struct ut_out *out; /* not owned */
	struct ut_out *scratch;
	struct ut_arena arena;
	struct ut_str *texts; /* by string id: with quotes; ptr NULL = not made yet */
	struct ut_str *jobs;  /* by file: its name as shown */
	size_t text_count;
	bool tid_numbers; /* a tid that is a text is written as ut_ace_tid_number() */
};

/* A number that stands for a tid in place of its text; no thread has one as high. */
int64_t ut_ace_tid_number(uint32_t id);

void ut_ace_writer_init(struct ut_ace_writer *w, const struct ut_ace_analysis *a,
			struct ut_out *out);
void ut_ace_writer_release(struct ut_ace_writer *w);

/* As the output shows it: the members that its phase has, in the reference's order. */
void ut_ace_put_event(struct ut_ace_writer *w, const struct ut_ace_event *e);

/* Everything that is known about it now, helper values included. */
void ut_ace_put_raw(struct ut_ace_writer *w, const struct ut_ace_event *e);

#endif
