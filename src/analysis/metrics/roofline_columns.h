/*
 * roofline_columns.h - which columns of a file of metrics say what the roofline needs: time,
 * operations, bytes, hits; Intel's and NVIDIA's names.
 *
 * Titles are "NAME[UNIT]" or "NAME". Intel counts instructions; one stands for as many operations
 * as its lanes do if all of them multiply and add. NVIDIA counts operations of threads, but halves
 * by instructions, of which each does two.
 */
#ifndef UT_METRICS_ROOFLINE_COLUMNS_H
#define UT_METRICS_ROOFLINE_COLUMNS_H

#include "metrics/roofline.h"

/* What a column is about. */
enum ut_roof_about {
	UT_ROOF_ABOUT_NOTHING,
	UT_ROOF_ABOUT_TIME,    /* ns */
	UT_ROOF_ABOUT_DONE,    /* of a part */
	UT_ROOF_ABOUT_READ,    /* of a level */
	UT_ROOF_ABOUT_WRITTEN, /* of a level */
	UT_ROOF_ABOUT_HITS,    /* of a level, percent */
	UT_ROOF_ABOUT_BUSY,    /* of the FP16 tensor units, percent; the original's table has it */
};

struct ut_roof_column {
	enum ut_roof_about about;
	unsigned int part; /* a level's number as a part, too */
	double factor;     /* of the number: operations or bytes */
	bool is_rough;     /* counts only where no other column tells the same */
	bool only_splits;  /* READ, WRITTEN: another column tells the sum of both */
};

/* One for each title of a header, in its order. {0} has none. */
struct ut_roof_columns {
	struct ut_roof_column *items;
	size_t count, cap;
	uint32_t known;   /* parts that have a column */
	bool has_time;    /* ns */
	bool counts_work; /* any unit: what the original calls the compute profile */
	bool is_intel;
};

void ut_roof_columns_release(struct ut_roof_columns *c);

/* For a new header, in the place of an old one. What several columns tell counts once. */
void ut_roof_columns_bind(struct ut_roof_columns *c, const struct ut_str *titles, size_t count);

/* A row's numbers, one for each title; those that are not finite or below 0 do not count. */
void ut_roof_columns_take(const struct ut_roof_columns *c, const double *values,
			  struct ut_roof_work *work);

#endif
