/*
 * hot_summary.h - what to optimise first, in sentences: what of the program's own code takes most,
 * how much that is and where it comes from; what is lost to causes that have names.
 */
#ifndef UT_SAMPLE_HOT_SUMMARY_H
#define UT_SAMPLE_HOT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct ut_prof;

#define UT_HOT_SUMMARY_MAX 5u

struct ut_hot_summary_line {
	struct ut_buf say; /* one sentence, no full stop */
	struct ut_buf why; /* what can be done, or how it is known; may be empty */
	uint64_t weight;   /* of the profile's */
	uint32_t function; /* name, a string of the profile; 0 = no single one */
	bool is_unseen;    /* about time that samples say too little of, not what took it */
};

/* The first line is the verdict; none if there are no samples. */
struct ut_hot_summary {
	struct ut_hot_summary_line lines[UT_HOT_SUMMARY_MAX];
	size_t count;
};

void ut_hot_summary_init(struct ut_hot_summary *v, const struct ut_prof *p); /* settled */
void ut_hot_summary_release(struct ut_hot_summary *v);

/* Are there too few samples of CPU time for any share of it to mean something? */
bool ut_prof_is_too_few(const struct ut_prof *p);

/* An amount as people say it: "1.23 s", "4.50 MiB", "12345 cycles". */
void ut_prof_amount(const struct ut_prof *p, uint64_t weight, struct ut_buf *b);

#endif
