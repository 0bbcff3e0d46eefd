/*
 * extra_issue.h - what went wrong on the way from the input to the output, as numbers.
 *
 * Passes say in words what they met (message.h); whatever can be counted is counted here as well,
 * so that a report can tell how much of the output to trust. A run has one number per issue.
 */
#ifndef UT_ACELYZER_EXTRA_ISSUE_H
#define UT_ACELYZER_EXTRA_ISSUE_H

#include <stdint.h>

/* What an issue means for whoever reads the output. */
enum ut_ace_severity {
	UT_ACE_NOTE,    /* handled; the numbers are right */
	UT_ACE_CAUTION, /* some numbers are estimates or may be off */
	UT_ACE_LOSS,    /* something is missing or wrong */
};

/* What the share of an issue is a share of. */
enum ut_ace_base {
	UT_ACE_OF_NOTHING,
	UT_ACE_OF_EVENTS,  /* read from the input */
	UT_ACE_OF_DEVICE,  /* spans with stamps */
	UT_ACE_OF_KERNELS, /* executions */
	UT_ACE_OF_FILES,
	UT_ACE_BASES
};

/* constant, key in reports, severity, base, what it is */
#define UT_ACE_ISSUE_LIST(X)                                                                       \
	X(CUT_FILE, "files_cut", LOSS, FILES, "files end in the middle")                           \
	X(REPAIRED_FILE, "files_repaired", CAUTION, FILES, "files are no proper JSON")             \
	X(PROCESSED_FILE, "files_processed_before", LOSS, FILES,                                   \
	  "files had been processed already and were left out")                                    \
	X(UNREAD_FILE, "files_unread", LOSS, FILES, "files are no traces and were left out")       \
	X(NOT_EVENT, "not_events", LOSS, EVENTS, "entries are no events and were left out")        \
	X(STRAY_END, "ends_without_begin", LOSS, EVENTS, "ends without a begin were left out")     \
	X(OPEN_BEGIN, "begins_without_end", LOSS, EVENTS, "begins without an end were left out")   \
	X(NEGATIVE, "negative_lengths", LOSS, EVENTS, "spans of negative length were left out")    \
	X(NO_LENGTH, "no_length", CAUTION, EVENTS, "spans without a length count as 0")            \
	X(ZERO, "zero_lengths", NOTE, EVENTS, "spans have no length")                              \
	X(ZERO_BUSY, "zero_but_busy", CAUTION, EVENTS,                                             \
	  "spans have no length, but their stamps have")                                           \
	X(BAD_STAMPS, "incomplete_stamps", CAUTION, EVENTS,                                        \
	  "spans have some stamps but not five good ones; they count as host spans")               \
	X(BROKEN, "incomplete_events", LOSS, EVENTS,                                               \
	  "events lack a time, a process or a name and were left out")                             \
	X(WRAP, "counter_wraps", NOTE, DEVICE,                                                     \
	  "spans at or after a wrap of the cycle counter, undone")                                 \
	X(LONG_SPAN, "longer_than_a_wrap", CAUTION, DEVICE,                                        \
	  "spans are longer than a turn of the cycle counter")                                     \
	X(EPOCH_MOVE, "epoch_moves", CAUTION, DEVICE,                                              \
	  "times an earlier start of the cycle counter was found")                                 \
	X(BAD_ORDER, "stamps_backwards", LOSS, DEVICE, "spans whose stamps go backwards")          \
	X(LENGTH_DOUBT, "lengths_disagree", CAUTION, DEVICE,                                       \
	  "spans whose length differs between host and cycles")                                    \
	X(CLOCK_OUTLIER, "clock_outliers", CAUTION, DEVICE,                                        \
	  "spans far from where the clock of their rank puts them")                                \
	X(CYCLE_OVERLAP, "cycles_overlap", NOTE, KERNELS,                                          \
	  "kernels begin before the one before has ended")                                         \
	X(OVERLAP, "overlaps_resolved", NOTE, EVENTS,                                              \
	  "spans of a thread overlap and were handled")                                            \
	X(OVERLAP_LEFT, "overlaps_left", CAUTION, EVENTS, "overlapping spans stay as they are")    \
	X(OVERLAP_LOST, "overlaps_dropped", LOSS, EVENTS, "overlapping spans were dropped")        \
	X(BAD_POWER, "bad_power", CAUTION, DEVICE,                                                 \
	  "readings of power are impossible, 0 W is used")                                         \
	X(OVER_100, "utilization_over_100", CAUTION, KERNELS, "kernels are faster than ideal")     \
	X(NO_TABLE, "no_ideal_cycles", CAUTION, KERNELS,                                           \
	  "kernels belong to no table of the compiler log")                                        \
	X(NO_CATEGORY, "no_category", CAUTION, KERNELS, "kernels are not in the compiler log")     \
	X(UNSURE_TABLE, "uncertain_tables", CAUTION, NOTHING,                                      \
	  "jobs whose table of the compiler log is a guess")                                       \
	X(FLOW_BACK, "flows_backwards", CAUTION, NOTHING,                                          \
	  "arrows end before they begin: clocks of ranks disagree")                                \
	X(FLOW_LOST, "flows_incomplete", LOSS, NOTHING,                                            \
	  "collectives without all of their steps have no arrows")                                 \
	X(COLL_LACKS, "collectives_incomplete", LOSS, NOTHING,                                     \
	  "collectives lack a rank that others have")                                              \
	X(MISSING_RANK, "ranks_missing", LOSS, NOTHING, "ranks are spoken of but not there")       \
	X(FREQUENCY, "frequency_off", CAUTION, NOTHING,                                            \
	  "ranks whose counter runs at another speed than --freq says")                            \
	X(NO_STAMPS, "no_stamps", CAUTION, NOTHING,                                                \
	  "no span has cycle stamps, so device times cannot be checked")                           \
	X(STOPPED, "analysis_stopped", LOSS, NOTHING, "a stage gave up")

enum ut_ace_issue {
#define UT_ACE_ISSUE_ENUM(issue, key, severity, base, text) UT_ACE_ISSUE_##issue,
	UT_ACE_ISSUE_LIST(UT_ACE_ISSUE_ENUM)
#undef UT_ACE_ISSUE_ENUM
	UT_ACE_ISSUES
};

struct ut_ace_part;

/* Adds what reading a file has met. */
void ut_ace_issues_read(uint64_t issues[UT_ACE_ISSUES], const struct ut_ace_part *part);

#endif
