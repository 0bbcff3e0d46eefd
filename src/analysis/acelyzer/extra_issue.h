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

/* constant, key in reports, severity, base, what it is, what to do about it */
#define UT_ACE_ISSUE_LIST(X)                                                                       \
	X(CUT_FILE, "files_cut", LOSS, FILES, "files end in the middle",                           \
	  "Copy the file again, or record once more: what comes after the cut is in no figure.")   \
	X(REPAIRED_FILE, "files_repaired", CAUTION, FILES, "files are no proper JSON",             \
	  "See under What was said what was repaired, and write the trace again if it matters.")   \
	X(PROCESSED_FILE, "files_processed_before", LOSS, FILES,                                   \
	  "files had been processed already and were left out",                                    \
	  "Give the traces that the devices left (-i), not the output of an earlier run.")         \
	X(UNREAD_FILE, "files_unread", LOSS, FILES, "files are no traces and were left out",       \
	  "Give traces with -i, and logs of the compiler with -c.")                                \
	X(NOT_EVENT, "not_events", LOSS, EVENTS, "entries are no events and were left out",        \
	  "Look for what wrote these entries between the recorder and here.")                      \
	X(STRAY_END, "ends_without_begin", LOSS, EVENTS, "ends without a begin were left out",     \
	  "Start recording before the work does; --event_limit leaves out what is incomplete.")    \
	X(OPEN_BEGIN, "begins_without_end", LOSS, EVENTS, "begins without an end were left out",   \
	  "Let the program end, or flush its trace, before the file is copied.")                   \
	X(NEGATIVE, "negative_lengths", LOSS, EVENTS, "spans of negative length were left out",    \
	  "Record again: the clock of the host was set back, or ends went to the wrong begins.")   \
	X(NO_LENGTH, "no_length", CAUTION, EVENTS, "spans without a length count as 0",            \
	  "Have whoever writes the trace give X events a dur.")                                    \
	X(ZERO, "zero_lengths", NOTE, EVENTS, "spans have no length",                              \
	  "Nothing to do: they take no time in any figure.")                                       \
	X(ZERO_BUSY, "zero_but_busy", CAUTION, EVENTS,                                             \
	  "spans have no length, but their stamps have",                                           \
	  "Their stamps tell how long they were: the clock of the host is too coarse for them.")   \
	X(BAD_STAMPS, "incomplete_stamps", CAUTION, EVENTS,                                        \
	  "spans have some stamps but not five good ones; they count as host spans",               \
	  "Record TS1 to TS5 for every span of the device.")                                       \
	X(BROKEN, "incomplete_events", LOSS, EVENTS,                                               \
	  "events lack a time, a process or a name and were left out",                             \
	  "See under What was said which; a tool between the recorder and here has lost members.") \
	X(WRAP, "counter_wraps", NOTE, DEVICE,                                                     \
	  "spans at or after a wrap of the cycle counter, undone",                                 \
	  "Nothing to do: their times are right.")                                                 \
	X(LONG_SPAN, "longer_than_a_wrap", CAUTION, DEVICE,                                        \
	  "spans are longer than a turn of the cycle counter",                                     \
	  "Cycles cannot tell such a length; compare it with the host's.")                         \
	X(EPOCH_MOVE, "epoch_moves", CAUTION, DEVICE,                                              \
	  "times an earlier start of the cycle counter was found",                                 \
	  "Check that the files of a rank belong to one run.")                                     \
	X(BAD_ORDER, "stamps_backwards", LOSS, DEVICE, "spans whose stamps go backwards",          \
	  "Leave the file out, or record again; their times mean nothing (--ignore_crit keeps "    \
	  "them).")                                                                                \
	X(LENGTH_DOUBT, "lengths_disagree", CAUTION, DEVICE,                                       \
	  "spans whose length differs between host and cycles",                                    \
	  "Check --freq first (see Clocks); what is left was delayed on the host.")                \
	X(CLOCK_OUTLIER, "clock_outliers", CAUTION, DEVICE,                                        \
	  "spans far from where the clock of their rank puts them",                                \
	  "Check --freq first (see Clocks); else the host noted these spans late.")                \
	X(CYCLE_OVERLAP, "cycles_overlap", NOTE, KERNELS,                                          \
	  "kernels begin before the one before has ended",                                         \
	  "Nothing to do: the device works on both.")                                              \
	X(OVERLAP, "overlaps_resolved", NOTE, EVENTS,                                              \
	  "spans of a thread overlap and were handled",                                            \
	  "Nothing to do: -O says how they are handled.")                                          \
	X(OVERLAP_LEFT, "overlaps_left", CAUTION, EVENTS, "overlapping spans stay as they are",    \
	  "Let them go to threads of their own: -O tid.")                                          \
	X(OVERLAP_LOST, "overlaps_dropped", LOSS, EVENTS, "overlapping spans were dropped",        \
	  "Keep them on threads of their own: -O tid.")                                            \
	X(BAD_POWER, "bad_power", CAUTION, DEVICE,                                                 \
	  "readings of power are impossible, 0 W is used",                                         \
	  "With --compat 1.2 use 1.0, whose scale fits real devices; else the readings are "       \
	  "broken.")                                                                               \
	X(OVER_100, "utilization_over_100", CAUTION, KERNELS, "kernels are faster than ideal",     \
	  "Give the compiler log of this very build (-c), and the core's clock (--freq "           \
	  "SOC:CORE).")                                                                            \
	X(NO_TABLE, "no_ideal_cycles", CAUTION, KERNELS,                                           \
	  "kernels belong to no table of the compiler log",                                        \
	  "Give the logs of all compiled graphs with -c.")                                         \
	X(NO_CATEGORY, "no_category", CAUTION, KERNELS, "kernels are not in the compiler log",     \
	  "Give the logs of all compiled graphs with -c.")                                         \
	X(UNSURE_TABLE, "uncertain_tables", CAUTION, NOTHING,                                      \
	  "jobs whose table of the compiler log is a guess",                                       \
	  "Give one log for each rank with -c, in the order of ranks.")                            \
	X(FLOW_BACK, "flows_backwards", CAUTION, NOTHING,                                          \
	  "arrows end before they begin: clocks of ranks disagree",                                \
	  "Align the clocks of the ranks: -S.")                                                    \
	X(FLOW_LOST, "flows_incomplete", LOSS, NOTHING,                                            \
	  "collectives without all of their steps have no arrows",                                 \
	  "Give the files of all ranks with -i, and align their clocks with -S.")                  \
	X(COLL_LACKS, "collectives_incomplete", LOSS, NOTHING,                                     \
	  "collectives lack a rank that others have", "Give the files of all ranks with -i.")      \
	X(MISSING_RANK, "ranks_missing", LOSS, NOTHING, "ranks are spoken of but not there",       \
	  "Give their files with -i, too.")                                                        \
	X(FREQUENCY, "frequency_off", CAUTION, NOTHING,                                            \
	  "ranks whose counter runs at another speed than --freq says",                            \
	  "Run again with --freq and what the devices ran at, which Clocks shows.")                \
	X(NO_STAMPS, "no_stamps", CAUTION, NOTHING,                                                \
	  "no span has cycle stamps, so device times cannot be checked",                           \
	  "Nothing to do for torch traces, which have none; flex traces have them.")               \
	X(STOPPED, "analysis_stopped", LOSS, NOTHING, "a stage gave up",                           \
	  "See under What was said why; what later stages would have done is missing.")

enum ut_ace_issue {
#define UT_ACE_ISSUE_ENUM(issue, key, severity, base, text, remedy) UT_ACE_ISSUE_##issue,
	UT_ACE_ISSUE_LIST(UT_ACE_ISSUE_ENUM)
#undef UT_ACE_ISSUE_ENUM
	UT_ACE_ISSUES
};

/* One of them, as the list has it. */
struct ut_ace_issue_kind {
	const char *key, *text, *remedy;
	enum ut_ace_severity severity;
	enum ut_ace_base base;
};

extern const struct ut_ace_issue_kind ut_ace_issue_kinds[UT_ACE_ISSUES];
extern const char *const ut_ace_severities[]; /* the words for them */
extern const char *const ut_ace_bases[UT_ACE_BASES];

struct ut_ace_part;

/* Adds what reading a file has met. */
void ut_ace_issues_read(uint64_t issues[UT_ACE_ISSUES], const struct ut_ace_part *part);

#endif
