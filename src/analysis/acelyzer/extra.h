/*
 * extra.h - what an analysis can tell beyond the reference: where the time of each rank and step
 * went, who is late, what each kernel cost in energy, and how much of all that can be trusted.
 *
 * An extra watches a run through the callback after each stage (stage.h), because some things are
 * gone at the end: preparations, the host's own times. When the run is over and its events are in
 * order, ut_ace_extra_finish() works out the rest. Nothing here changes the run, except that it
 * counts issues. Without an extra a run costs nothing more.
 *
 * Times in results are whole nanoseconds since extra.zero, so that parts add up to the whole
 * exactly. Owner: the caller of init; the run must outlive it.
 */
#ifndef UT_ACELYZER_EXTRA_H
#define UT_ACELYZER_EXTRA_H

#include "acelyzer/analysis.h"

/* What a device does. Where two kinds overlap, the time counts for the one listed first. */
enum ut_ace_work {
	UT_ACE_WORK_COMPUTE,
	UT_ACE_WORK_COMM,     /* steps of collectives, sends and receives */
	UT_ACE_WORK_TRANSFER, /* between host and device */
	UT_ACE_WORK_PREP,
	UT_ACE_WORKS
};

#define UT_ACE_IDLE  UT_ACE_WORKS /* a part, but no work */
#define UT_ACE_PARTS (UT_ACE_WORKS + 1)

/* Where a stretch of time went, ns. The parts add up to the length. */
struct ut_ace_split {
	int64_t length;
	int64_t part[UT_ACE_PARTS];  /* not covered by any part before it */
	int64_t whole[UT_ACE_WORKS]; /* covered or not */
};

struct ut_ace_step {
	int64_t begin;
	struct ut_ace_split split;
	double energy; /* J */
};

enum ut_ace_step_source {
	UT_ACE_STEPS_RUN,        /* nothing repeats: the whole run is one step */
	UT_ACE_STEPS_ITERATIONS, /* the sequence of kernels repeats */
	UT_ACE_STEPS_PROFILER,   /* spans called ProfilerStep#N */
};

struct ut_ace_interval {
	int64_t begin, end;
};

struct ut_ace_intervals {
	struct ut_ace_interval *items;
	size_t count, cap;
	bool unsorted;
};

/* Power from ts on. */
struct ut_ace_sample {
	int64_t ts;
	double watts, joules; /* joules: up to here */
};

/* How the cycle counter of a rank ran against the host's clock. */
struct ut_ace_clock_fit {
	uint64_t points, outliers;
	double mhz;       /* 0 = too few points */
	double rms, most; /* us, of what is no outlier */
};

/* What being late looks like: of a rank, over collectives or over steps. */
struct ut_ace_late {
	uint64_t seen, last; /* how many it took part in; in how many it was last */
	double total;        /* ns by which it was later than the median of the others */
	int64_t most;
};

struct ut_ace_extra_rank {
	int64_t rank;
	struct ut_ace_intervals work[UT_ACE_WORKS]; /* after finish: disjoint */
	struct ut_ace_split all;                    /* from the first work to the last */
	int64_t begin;
	struct ut_ace_step *steps;
	size_t step_count, step_cap;
	enum ut_ace_step_source source;
	struct ut_ace_sample *samples;
	size_t sample_count, sample_cap;
	int64_t power_end;     /* until when the last sample holds */
	double energy, active; /* J: of the whole time, and of that in which it computed */
	struct ut_ace_clock_fit fit;
	struct ut_ace_late coll, step;
	int64_t step_excess; /* median over steps of what it took beyond the median rank, ns */
	bool straggler;
};

/* The kernels of one name on one rank. */
struct ut_ace_kernel {
	uint32_t name; /* string id, numbers as [N] */
	uint32_t rank; /* place in ranks */
	bool comm;
	uint64_t calls;
	double total, min, max, square; /* us; square: sum of squared distances to the mean */
	double mean, median;            /* us; median < 0: not known */
	double energy;                  /* J */
};

/* One collective operation: when each rank came. */
struct ut_ace_coll {
	uint32_t name;                    /* string id, numbers as [N] */
	uint32_t ranks;                   /* that took part */
	int64_t begin, end, first, last;  /* ns; of arrivals: the first and the last */
	int64_t late;                     /* the last against the median of the others */
	uint32_t last_rank, first_member; /* place in ranks; in members */
};

struct ut_ace_coll_member {
	uint32_t rank;
	int64_t begin, end, arrival;
};

/* What a stage did to the number of events. */
struct ut_ace_stage_count {
	const char *stage; /* a constant */
	uint64_t before, added, dropped;
};

struct ut_ace_trust {
	double device, doubted, lost; /* us of device spans */
	double percent;               /* of the device time, neither doubted nor lost */
	uint64_t events, spans, kernels, files;
	uint64_t count[3]; /* issues by severity */
	char stopped[256]; /* why the run ended early; "" = it did not */
};

struct ut_ace_extra {
	struct ut_arena arena;
	double zero; /* us */
	struct ut_ace_extra_rank *ranks;
	size_t rank_count, rank_cap;
	struct ut_idmap rank_index;    /* number + 2^32 -> place in ranks + 1 */
	struct ut_ace_kernel *kernels; /* by rank, then by total */
	size_t kernel_count, kernel_cap;
	struct ut_ace_coll *colls; /* by begin */
	size_t coll_count, coll_cap;
	struct ut_ace_coll_member *members; /* of colls, one after the other, by rank */
	size_t member_count, member_cap;
	size_t coll_ranks; /* how many ranks take part in collectives */
	int64_t *missing;  /* ranks that events name but no input has */
	size_t missing_count, missing_cap;
	struct ut_ace_stage_count *stages; /* that changed something */
	size_t stage_count, stage_cap;
	struct ut_ace_trust trust;
	bool has_power;
	/* of the watch */
	uint32_t *preps;
	size_t prep_count, prep_cap;
	uint8_t *marks; /* by event: enum ut_ace_mark */
	size_t mark_count;
	uint64_t last_seq, last_events;
};

void ut_ace_extra_init(struct ut_ace_extra *x, const struct ut_ace_analysis *a);
void ut_ace_extra_release(struct ut_ace_extra *x);

/* To be called after each stage. */
void ut_ace_extra_after(struct ut_ace_extra *x, struct ut_ace_analysis *a, const char *stage);

/*
 * To be called once, when the run is over and the events are in order. stopped says why the run
 * ended early; NULL = it did not.
 */
void ut_ace_extra_finish(struct ut_ace_extra *x, struct ut_ace_analysis *a, const char *stopped);

#endif
