#define UT_LOG_MODULE "metrics"
#include "metrics/roofline_read.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/logger.h"
#include "base/path.h"
#include "metrics/metrics_csv.h"
#include "metrics/roofline_columns.h"

#define UNITS  ((1u << UT_ROOF_UNITS) - 1)
#define LEVELS (((1u << UT_ROOF_PARTS) - 1) & ~UNITS)

/* ---- which files -------------------------------------------------------------------------- */

/* What one run has left, and what it is about. */
struct profile {
	const char *word;   /* as it was given; NULL = it was not */
	const char **files; /* in the roof's arena, as their names are */
	size_t count;
	uint32_t known; /* parts that have columns */
};

/* "dir/run" and "dir/run.csv" left dir/run.metrics.PID and dir/run.metrics.PID.csv. */
static char *pattern_of(struct ut_arena *a, const char *word)
{
	const char *base = ut_path_base(word), *dot = strchr(base, '.');
	size_t stem = (size_t)(base - word) + (dot ? (size_t)(dot - base) : strlen(base));

	return ut_str_fmt(a, "%.*s.metrics.*", (int)stem, word);
}

static void take_matches(struct profile *p, struct ut_arena *a, const char *pattern)
{
	glob_t found = { 0 };

	if (!glob(pattern, 0, NULL, &found)) {
		p->files = UT_NEW_N(a, const char *, found.gl_pathc);
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *path = found.gl_pathv[i];

			if (!ut_path_is_dir(path))
				p->files[p->count++] = ut_arena_copy(a, path, strlen(path));
		}
	}
	globfree(&found);
}

static int roofline_read_find(struct profile *p, struct ut_arena *a, struct ut_err *err)
{
	if (!p->word)
		return 0;
	if (ut_path_exists(p->word) && !ut_path_is_dir(p->word)) { /* whatever its letters mean */
		p->files = UT_NEW(a, const char *);
		p->files[p->count++] = p->word;
		return 0;
	}
	take_matches(p, a, p->word);
	if (!p->count)
		take_matches(p, a, pattern_of(a, p->word));
	if (p->count)
		return 0;
	return ut_err_set(err, -ENOENT,
			  "%s: no such file of metrics, nor %s: unitrace -q -g GROUP -o NAME makes "
			  "one",
			  p->word, pattern_of(a, p->word));
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct reading {
	struct ut_roof *roof;
	unsigned int run;
	struct ut_metrics_file *file;
	const struct ut_metrics_section *section; /* that columns are bound to */
	struct ut_roof_columns columns;
	double *values;
	size_t cap;
	/* The instance that is being read: tiles and samples have rows of their own. */
	struct ut_roof_work instance;
	uint32_t kernel; /* 0 = none */
	uint64_t group;
};

static void roofline_read_flush(struct reading *r)
{
	if (r->kernel)
		ut_roof_add(r->roof, r->run, ut_metrics_kernel(r->file, r->kernel), &r->instance);
	r->kernel = 0;
}

static int check_section(const char *path, const struct ut_metrics_section *s,
			 const struct ut_roof_columns *c, struct ut_err *err)
{
	if (s->layout == UT_METRICS_STALL)
		return ut_err_set(err, -EINVAL,
				  "%s:%llu: stalls of instructions, where metrics of kernels are "
				  "needed: record with -q",
				  path, (unsigned long long)s->line);
	if (!c->has_time)
		return ut_err_set(err, -EINVAL, "%s:%llu: there is no column GpuTime[ns]", path,
				  (unsigned long long)s->line);
	return 0;
}

static int set_section(struct reading *r, const char *path, const struct ut_metrics_section *s,
		       struct ut_err *err)
{
	r->section = s;
	ut_roof_columns_bind(&r->columns, s->columns, s->count);
	r->values = ut_grow(r->values, s->count, &r->cap, sizeof(*r->values));
	return check_section(path, s, &r->columns, err);
}

/* Tiles of an instance work at the same time, samples of it follow each other. */
static void roofline_read_add_row(struct reading *r, const struct ut_roof_work *row)
{
	struct ut_roof_work *sum = &r->instance;
	double ns = sum->ns;

	ut_roof_work_add(sum, row);
	sum->count = 1;
	if (r->section->layout != UT_METRICS_TIME)
		sum->ns = ns > row->ns ? ns : row->ns;
}

static int roofline_read_take_row(struct reading *r, const struct ut_metrics_row *row,
				  struct ut_err *err)
{
	struct ut_roof_work work;
	int rc = 0;

	if (row->is_repeated) {
		r->roof->lost.repeated++;
		return 0;
	}
	if (r->roof->only_simd && !ut_str_find(ut_metrics_kernel(r->file, row->kernel), "SIMD"))
		return 0;
	for (size_t i = 0; i < r->columns.count && !rc; i++) {
		r->values[i] = NAN;
		if (r->columns.items[i].about != UT_ROOF_ABOUT_NOTHING)
			rc = ut_metrics_value(r->file, i, &r->values[i], err);
	}
	if (rc)
		return rc;
	ut_roof_columns_take(&r->columns, r->values, &work);
	if (row->group != r->group || row->kernel != r->kernel) {
		roofline_read_flush(r);
		r->kernel = row->kernel;
		r->group = row->group;
		r->instance = work;
	} else {
		roofline_read_add_row(r, &work);
	}
	return 0;
}

static int roofline_read_read_file(struct ut_roof *roof, unsigned int run, const char *path,
				   const struct ut_logger *logger, struct ut_err *err)
{
	struct reading r = { .roof = roof, .run = run };
	struct ut_metrics_row row;
	int rc = ut_metrics_open(&r.file, path, logger, err);

	while (!rc && (rc = ut_metrics_next(r.file, &row, err)) > 0) {
		rc = row.section == r.section ? 0 : set_section(&r, path, row.section, err);
		if (!rc)
			rc = roofline_read_take_row(&r, &row, err);
	}
	if (!rc)
		roofline_read_flush(&r);
	free(r.values);
	ut_roof_columns_release(&r.columns);
	ut_metrics_close(r.file);
	return rc;
}

static int read_profile(struct ut_roof *r, unsigned int run, const struct profile *p,
			const struct ut_logger *logger, struct ut_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->count && !rc; i++)
		rc = roofline_read_read_file(r, run, p->files[i], logger, err);
	return rc;
}

/* ---- profiles ------------------------------------------------------------------------------- */

/* What the first header of the first file is about. */
static int roofline_read_look(struct profile *p, struct ut_err *err)
{
	struct ut_metrics_file *file = NULL;
	struct ut_roof_columns columns = { 0 };
	const struct ut_metrics_section *s;
	int rc;

	if (!p->word)
		return 0;
	rc = ut_metrics_open(&file, p->files[0], NULL, err);
	s = rc ? NULL : ut_metrics_section(file, 0);
	if (s) {
		ut_roof_columns_bind(&columns, s->columns, s->count);
		p->known = columns.known;
		rc = check_section(p->files[0], s, &columns, err);
		ut_roof_columns_release(&columns);
	}
	ut_metrics_close(file);
	return rc;
}

/* The run whose time counts comes first: the one with bytes. */
static void put_in_order(struct profile *p)
{
	struct profile other;

	if (p[0].word && (p[0].known & LEVELS || !p[1].word))
		return;
	other = p[0];
	p[0] = p[1];
	p[1] = other;
}

static int roofline_read_check(const struct profile *p, const struct ut_logger *logger,
			       struct ut_err *err)
{
	uint32_t known = p[0].known | p[1].known;
	const char *word = p[0].word;

	if (!(known & (UNITS | LEVELS)))
		return ut_err_set(
			err, -EINVAL,
			"%s: no column tells operations or bytes: record with -g Roofline "
			"(NVIDIA), ComputeBasic and VectorEngine138 (Intel)",
			word);
	if (!(known & UNITS))
		ut_logger_log(
			logger, UT_WARN,
			"%s: operations were not measured (Intel: -g VectorEngine138); memory "
			"alone "
			"decides what kernels are bound by",
			word);
	if (!(known & LEVELS))
		ut_logger_log(
			logger, UT_WARN,
			"%s: bytes were not measured (Intel: -g ComputeBasic); operations alone "
			"decide what kernels are bound by",
			word);
	return 0;
}

static void report_losses(const struct ut_roof *r, const struct ut_logger *logger)
{
	if (r->lost.repeated)
		ut_logger_log(logger, UT_WARN, "%zu row%s there more than once: %s counted once",
			      r->lost.repeated, r->lost.repeated == 1 ? " is" : "s are",
			      r->lost.repeated == 1 ? "it is" : "they are");
	if (r->lost.kernels)
		ut_logger_log(logger, UT_WARN,
			      "%zu kernel%s in one of the two files only (%.1f %% of the time) and "
			      "without a place under the roof",
			      r->lost.kernels, r->lost.kernels == 1 ? " is" : "s are",
			      r->ns > 0 ? 100 * r->lost.ns / r->ns : 0.0);
	if (r->lost.uneven)
		ut_logger_log(
			logger, UT_WARN,
			"%zu kernel%s ran more often in one run than in the other: operations are "
			"scaled to the run with the bytes",
			r->lost.uneven, r->lost.uneven == 1 ? "" : "s");
}

static int read_both(struct ut_roof *r, struct profile *p, const struct ut_logger *logger,
		     struct ut_err *err)
{
	bool more = p[1].word && p[1].known & ~p[0].known;
	int rc = read_profile(r, 0, &p[0], logger, err);

	if (!rc && more)
		rc = read_profile(r, 1, &p[1], logger, err);
	else if (!rc && p[1].word)
		ut_logger_log(logger, UT_INFO, "%s has nothing that %s lacks, and was not needed",
			      p[1].word, p[0].word);
	if (rc)
		return rc;
	ut_roof_place(r);
	report_losses(r, logger);
	return 0;
}

int ut_roof_read(struct ut_roof *r, const char *compute, const char *memory,
		 const struct ut_logger *logger, struct ut_err *err)
{
	struct profile p[2] = { { .word = memory }, { .word = compute } };
	int rc = 0;

	for (size_t i = 0; i < 2 && !rc; i++) {
		rc = roofline_read_find(&p[i], &r->arena, err);
		if (!rc)
			rc = roofline_read_look(&p[i], err);
	}
	if (!rc) {
		put_in_order(p);
		rc = roofline_read_check(p, logger, err);
	}
	if (!rc)
		rc = read_both(r, p, logger, err);
	return rc;
}
