/*
 * complog_dir.h - a torch-spyre cache as a compiler log, and what both readers share.
 */
#ifndef UT_ACELYZER_COMPLOG_DIR_H
#define UT_ACELYZER_COMPLOG_DIR_H

#include "acelyzer/complog.h"

struct ut_ace_ideal_row {
	uint32_t kernel, cat; /* string ids */
	double cycles;
	bool is_total, is_empty;
};

void ut_ace_catmap_add(struct ut_ace_catmap *m, uint32_t kernel, uint32_t cat);

/* A table begins; it counts only after the end. */
struct ut_ace_ideal *ut_ace_complog_begin(const struct ut_ace_complog_reader *r,
					  struct ut_ace_complog *log, const char *phase);
void ut_ace_complog_row(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
			struct ut_ace_ideal *t, const struct ut_ace_ideal_row *row);
/* False if there was such a table already. */
bool ut_ace_complog_end(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log);

/* DIR/inductor-spyre/KERNEL/perf/ideal_cycles.json, kernels in the order of their names. */
int ut_ace_complog_dir(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
		       const char *dir, struct ut_err *err) UT_MUST_CHECK;

#endif
