/*
 * verify_files.h - what -V of release 1.3 checks: spans of the device that overlap, kernels outside
 * of the calls that scheduled them.
 *
 * The events are taken as the files have them: no pass has run, ids are not made those of ranks.
 * Only the order of seq changes.
 */
#ifndef UT_ACELYZER_VERIFY_FILES_H
#define UT_ACELYZER_VERIFY_FILES_H

#include "acelyzer/analysis.h"

struct ut_ace_frame;

enum ut_ace_finding {
	UT_ACE_FOUND_OVERLAP,        /* a span begins before the one before it in its stream ends */
	UT_ACE_FOUND_OUTSIDE,        /* a kernel is not inside of its call */
	UT_ACE_FOUND_ORPHAN_KERNELS, /* of a correlation that no call has */
	UT_ACE_FOUND_ORPHAN_PARENTS, /* a call without kernels */
	UT_ACE_FINDINGS,
};

/* What one correlation has: calls, from the first begin to the last end, and kernels. */
struct ut_ace_corr {
	int64_t id;
	double begin, end; /* us */
	uint64_t kernels;
	bool called;
};

/* An event that is wrong, or a correlation that is. */
struct ut_ace_instance {
	uint32_t event, corr; /* index */
};

struct ut_ace_instances {
	struct ut_ace_instance *items;
	size_t count, cap;
};

struct ut_ace_verification {
	struct ut_ace_instances found[UT_ACE_FINDINGS];
	uint64_t count[UT_ACE_FINDINGS]; /* of orphans kernels are counted, not correlations */
	struct ut_ace_corr *corrs;       /* in order of appearance */
	size_t corr_count, corr_cap;
	uint32_t stream; /* the key of that argument */
};

void ut_ace_verification_make(struct ut_ace_verification *v, struct ut_ace_analysis *a);
void ut_ace_verification_release(struct ut_ace_verification *v);

/* Is anything of it an error? */
bool ut_ace_verification_fails(const struct ut_ace_verification *v);

/* The report: -f text, or JSON. 0 or negative errno. */
int ut_ace_verification_write(const struct ut_ace_verification *v, const struct ut_ace_analysis *a,
			      const struct ut_ace_frame *f, const char *path, bool text,
			      struct ut_err *err) UT_MUST_CHECK;

#endif
