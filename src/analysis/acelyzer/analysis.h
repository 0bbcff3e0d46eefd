/*
 * analysis.h - an analysis at work: the events, what was asked for, what was found.
 *
 * A run is a table that passes change one after the other (stage.h has their order). Passes do no
 * input or output: what they have to say goes to messages, what they counted to found, and the
 * command prints and writes both. Everything in a run lives until release.
 */
#ifndef UT_ACELYZER_ANALYSIS_H
#define UT_ACELYZER_ANALYSIS_H

#include "acelyzer/complog.h"
#include "acelyzer/event_arg.h"
#include "acelyzer/event_table.h"
#include "acelyzer/extra_issue.h"
#include "acelyzer/message.h"
#include "acelyzer/name.h"
#include "acelyzer/options.h"

/* How long the kernels of one name took, of one process. */
struct ut_ace_stat {
	uint32_t name; /* string id, numbers as [N] */
	int64_t pid;
	double share, total; /* %, us */
	uint64_t calls;
	double mean, median, min, max, stdev; /* us */
	double gap[UT_ACE_STAMPS - 1][5];     /* TS2-TS1 .. TS5-TS4 in cycles: the same five */
	size_t order;                         /* of appearance */
};

struct ut_ace_active {
	int64_t pid;
	double kernels, start, end, percent; /* us */
};

/* One line of the table of categories. */
struct ut_ace_category {
	int64_t pid;
	uint32_t log;      /* which compiler log */
	const char *phase; /* release 1.2 */
	struct ut_str name;
	double time, ideal; /* us */
	uint64_t calls;
	double cycles; /* of the device's clock: the layout before 1.0 */
	size_t order;  /* in which the lines were made */
	bool total;    /* of its process and table, whose sums these are: */
	double group_time, group_ideal, group_cycles;
};

struct ut_ace_iteration {
	int64_t pid;
	double mean; /* us */
	uint64_t count;
	double *starts; /* us, of each one that was seen, counted or not, finished or not */
	size_t start_count, start_cap;
};

/* -R: kernels of a process, from the begin of the first to the end of the last. */
struct ut_ace_comm {
	int64_t pid;                /* as the output shows it */
	double start, end, compute; /* us */
};

/* Results, for files, reports and whoever else wants them. Arrays belong to the run. */
struct ut_ace_found {
	struct ut_ace_stat *stats; /* by pid, then by total */
	size_t stat_count, stat_cap;
	struct ut_ace_active *active;
	size_t active_count, active_cap;
	struct ut_ace_category *categories; /* in the order of the table */
	size_t category_count, category_cap;
	struct ut_ace_iteration *iterations;
	size_t iteration_count, iteration_cap;
	struct ut_ace_comm *comm;
	size_t comm_count, comm_cap;
	uint32_t *devices; /* ids of the ranks that have a device, in order of appearance */
	size_t device_count, device_cap;
	bool has_stats, has_comm; /* these passes have run */
};

/* What one stage leaves for a later one; each is private to its file, in the table's arena. */
struct ut_ace_normal;
struct ut_ace_align;
struct ut_ace_overlaps;
struct ut_ace_util;
struct ut_ace_comms;
struct ut_ace_launches;
struct ut_ace_batches;
struct ut_ace_flows;

struct ut_ace_analysis {
	struct ut_ace_table table;
	struct ut_ace_names names;
	struct ut_ace_opts opts;
	struct ut_ace_messages messages;
	struct ut_ace_complogs logs;
	struct ut_ace_found found;
	struct ut_ace_normal *normal;
	struct ut_ace_align *align;
	struct ut_ace_overlaps *overlaps;
	struct ut_ace_util *util;
	struct ut_ace_comms *comms;
	struct ut_ace_launches *launches;
	struct ut_ace_batches *batches;
	struct ut_ace_flows *flows;
	bool epochs_late; /* the profile has no barrier between the phases of normalisation */
	double *shifts;   /* by pid id: us added to ts / f by the alignment of ranks; NULL = none */
	size_t shift_count;
	uint64_t issues[UT_ACE_ISSUES]; /* what went wrong, by enum ut_ace_issue */
	uint64_t bad_events;            /* dropped because they lacked something */
	bool is_named;                  /* names of processes are written, or not wanted */
	bool full_names;                /* names of kernels keep their numbers */
	bool checked;                   /* the order of kernels */
	bool forgot_dev_us, forgot_all; /* helper values of stamps are not shown any more */
	struct ut_err err;              /* why a pass gave up */
};

/*
 * What passes keep for a later one. The last pass that needs it frees it; if a profile
 * switches that pass off, the end of the run does.
 */
#define UT_ACE_STATE_LIST(X)   X(normal) X(align) X(util) X(comms) X(launches) X(batches)
#define UT_ACE_STATE_END(name) void ut_ace_end_##name(struct ut_ace_analysis *a);
UT_ACE_STATE_LIST(UT_ACE_STATE_END)
#undef UT_ACE_STATE_END

void ut_ace_init(struct ut_ace_analysis *a, const struct ut_ace_opts *opts);
void ut_ace_release(struct ut_ace_analysis *a);

/* The power that takes a charge (a difference of readings) in a time; more than the device can
 * have is a bad reading. */
#define UT_ACE_MOST_WATTS 100.0
double ut_ace_watts(const struct ut_ace_analysis *a, double charge, double us);

/* Name flags of an event. */
static inline uint64_t ut_ace_flags_of(struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	uint64_t known = ut_ace_name_known(&a->names, e->name);

	return known ? known : ut_ace_name_flags(&a->names, &a->table, e->name);
}

static inline struct ut_ace_dev *ut_ace_dev_of(struct ut_ace_analysis *a,
					       const struct ut_ace_event *e)
{
	return &a->table.devs[e->dev];
}

/* Stamp i (0..4) on the device's clock in us, aligned between ranks. */
double ut_ace_dev_us(const struct ut_ace_analysis *a, const struct ut_ace_event *e, int i);

/* Is it work of the device, and is that a kernel, as the dialect of its file says? */
bool ut_ace_is_device(struct ut_ace_analysis *a, const struct ut_ace_event *e);
bool ut_ace_is_kernel(struct ut_ace_analysis *a, const struct ut_ace_event *e);

/* A counter with one value, added to seq. Earlier pointers to events become invalid. */
struct ut_ace_event *ut_ace_add_counter(struct ut_ace_analysis *a, uint32_t pid, double ts,
					uint32_t name, const struct ut_arg *value);

/* An event as the reference prints it in messages; owned by the caller. */
char *ut_ace_describe(const struct ut_ace_analysis *a, const struct ut_ace_event *e);

#endif
