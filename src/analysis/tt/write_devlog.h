/*
 * write_devlog.h - the files that the original writes, byte for byte, from an analysis.
 *
 * Each function writes one whole file; errors stick to the ut_out.
 */
#ifndef UT_TT_WRITE_DEVLOG_H
#define UT_TT_WRITE_DEVLOG_H

#include "tt/durations.h"

struct ut_out;

/* What the analysis JSON says about the run beside its results. */
struct ut_tt_about_run {
	const char *log;    /* path of the input as it was given */
	const char *folder; /* of the output */
	uint64_t port;
};

/* Does the original print statistics for this log? The older family: only for one architecture. */
bool ut_tt_has_stats(const struct ut_tt_log *log);

/* device_stats.txt, and what is printed. */
void ut_tt_write_stats(const struct ut_tt_analysis *a, struct ut_out *out);

/* device_rearranged_timestamps.csv */
void ut_tt_write_rearranged(const struct ut_tt_log *log, struct ut_out *out);

/* device_chrome_tracing.json as it was for logs of timer numbers. */
void ut_tt_write_chrome(const struct ut_tt_log *log, struct ut_out *out);

/* device_analysis_data.json. Makes the texts of the log's marks. */
void ut_tt_write_analysis(const struct ut_tt_analysis *a, const struct ut_tt_about_run *run,
			  struct ut_out *out);

/* What happened when, for all cores, by number: x + 100 y. The caller frees. */
uint32_t *ut_tt_cores_by_place(const struct ut_tt_log *log, const struct ut_tt_chip *chip);

#endif
