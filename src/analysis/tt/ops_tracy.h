/*
 * ops_tracy.h - the ops report from what tt-metal leaves since 2024, in one folder (".logs"):
 *
 *	tracy_ops_data.csv          messages: an op and what is known of it, traces, signposts
 *	tracy_ops_times.csv         zones of the host: when an op ran, what it called
 *	cpp_device_perf_report.csv  a row per op and device
 *	profile_log_device.csv      markers of the device, if there is no such report
 *
 * Any of them may be missing; so may an op in any of them, which its row then tells.
 */
#ifndef UT_TT_OPS_TRACY_H
#define UT_TT_OPS_TRACY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/opt.h"

struct ut_arena;
struct ut_ops_report;

/* The folder of these files: this one, or ".logs" in it; NULL if there are none. */
const char *ut_ops_tracy_folder(struct ut_arena *a, const char *folder);

/* Zeroed is fine. */
struct ut_ops_tracy_opts {
	const struct ut_logger *logger; /* hears what the report does without; may be NULL */
	bool device_only;               /* leave the host's files alone */
	bool legacy;                    /* the device's markers, also if there is a report */
	struct ut_opt_list analyses;    /* of the markers: only these; empty = all */
	/*
	 * If there is nothing of the host: what each core did between two ops. Initialised and
	 * released by the caller; it has no rows if there is nothing to tell. May be NULL.
	 */
	struct ut_ops_report *cores;
};

/* Is this one of them, by its name? */
bool ut_ops_tracy_file(const char *path);

/* Fills r, which the caller has initialised and releases, also on failure. Leaves it in order. */
int ut_ops_read_tracy(struct ut_ops_report *r, const char *folder,
		      const struct ut_ops_tracy_opts *opts, struct ut_err *err) UT_MUST_CHECK;

/* The same from texts at hand, which are written to and must stay as long as r. */
struct ut_ops_text {
	char *data;
	size_t len;
};

void ut_ops_read_tracy_texts(struct ut_ops_report *r, struct ut_ops_text messages,
			     struct ut_ops_text times, struct ut_ops_text device);

#endif
