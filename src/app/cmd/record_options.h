/*
 * record_options.h - every option of `unitrace record`, checked and ready to use.
 *
 * They are those of Intel's unitrace, so that command lines and scripts written for it keep
 * working, and a few of our own. Owner: the command; ut_record_opts_release() frees the lists.
 */
#ifndef UT_CMD_RECORD_OPTIONS_H
#define UT_CMD_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "cmd/record_view.h"
#include "session/session_plan.h"

struct ut_arena;

#define UT_SAMPLING_HZ 1000 /* where nobody says how often */

struct ut_record_opts {
	struct ut_session_plan plan; /* of the session, all but the program */
	const char *pause, *resume, *stop;
	uint64_t teardown_signal;
	int64_t event_buffer; /* -1 = no limit */
	bool verbose;
	bool device_list, metric_list, version, help;
	const char *debug, *event_log;
	struct ut_record_view view;
};

void ut_record_opts_init(struct ut_record_opts *o);
void ut_record_opts_release(struct ut_record_opts *o);

/* The table for o; lives in the arena. */
const struct ut_opt *ut_record_table(struct ut_arena *a, struct ut_record_opts *o);

/* What no single option can see: exclusions, files that must be there, formats. */
int ut_record_check(struct ut_record_opts *o, struct ut_err *err) UT_MUST_CHECK;

/* --attach: what is sampled takes the place of the program. words: what else was given. */
int ut_record_attach(struct ut_record_opts *o, struct ut_arena *a, int words,
		     struct ut_err *err) UT_MUST_CHECK;

#define UT_RECORD_UNSUPPORTED_HEADING "Accepted, without effect in this version"

/* Those in use of the rows below that heading, as "--stall-sampling, --group"; "" = none. */
const char *ut_record_unsupported(struct ut_arena *a, const struct ut_opt *table);

#endif
