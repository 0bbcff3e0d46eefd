/*
 * merge_log.c - what a merge tells its user: one line each about ranks, clocks and pids.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/logger.h"
#include "merge/plan.h"
#include "text/cells.h"

#define REPORTED_GAPS 5

/* ---- clocks ---------------------------------------------------------------------------------- */

/* The names of files that one line is about: "a.json, b.json and 3 more". */
static void name_files(const struct ut_merge_plan *p, bool (*about)(const struct ut_merge_file *),
		       struct ut_buf *out)
{
	size_t named = 0, more = 0;

	for (size_t i = 0; i < p->count; i++) {
		if (p->files[i].left_out || !about(&p->files[i]))
			continue;
		if (named == 3)
			more++;
		else
			ut_buf_fmt(out, "%s%s", named++ ? ", " : "", p->files[i].name);
	}
	if (more)
		ut_buf_fmt(out, " and %zu more", more);
}

static bool is_unplaced(const struct ut_merge_file *f)
{
	return !f->placed;
}

/* Hosts that were brought together by evidence. */
static void report_hosts(const struct ut_merge_clocks *c, const struct ut_logger *logger)
{
	char time[UT_CELL_TIME];

	ut_logger_log(logger, UT_INFO,
		      "clocks: %zu hosts brought together to within %s, by %" PRIu64
		      " messages and collective calls and %" PRIu64 " measurements",
		      c->hosts, ut_cell_time(time, c->error), c->evidence, c->measured);
	if (c->others)
		ut_logger_log(
			logger, UT_WARN,
			"clocks: %zu host%s placed by the wall clock alone, which may be wrong by "
			"milliseconds",
			c->others, c->others == 1 ? " is" : "s are");
	if (c->backwards)
		ut_logger_log(
			logger, UT_WARN,
			"clocks: %" PRIu64 " of %" PRIu64
			" messages that were looked at arrive before they were sent, by up to %s",
			c->backwards, c->messages, ut_cell_time(time, c->most_backwards));
}

void ut_merge_log_clocks(const struct ut_merge_plan *p, const struct ut_logger *logger)
{
	struct ut_buf names = { 0 };

	if (p->clocks.hosts)
		report_hosts(&p->clocks, logger);
	else if (p->aligned > 1)
		ut_logger_log(logger, UT_INFO, "clocks: %zu files aligned to that of %s",
			      p->aligned, p->files[p->reference].name);
	if (p->placed && p->unplaced) {
		name_files(p, is_unplaced, &names);
		ut_logger_log(logger, UT_WARN,
			      "clocks: not aligned, because they do not say when they started: %s "
			      "(--offset FILE=NS moves them)",
			      names.data);
		ut_buf_release(&names);
	}
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The ranks that files and processes say they are, each once, in order. */
struct ranks {
	int32_t *items;
	size_t count, cap;
	int64_t world; /* how many there should be */
};

static void merge_log_add_rank(struct ranks *r, int32_t rank)
{
	if (rank < 0)
		return;
	r->items = ut_grow(r->items, r->count + 1, &r->cap, sizeof(*r->items));
	r->items[r->count++] = rank;
	r->world = rank >= r->world ? (int64_t)rank + 1 : r->world;
}

static int merge_log_by_value(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static void collect_ranks(const struct ut_merge_plan *p, struct ranks *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct ut_facts *f = &p->files[i].facts;
		struct ut_str job = ut_facts_member(f, "distributedInfo"), size;
		int64_t world;

		if (p->files[i].left_out)
			continue;
		merge_log_add_rank(r, f->rank);
		for (uint32_t k = 0; k < f->process_count; k++)
			merge_log_add_rank(r, f->processes[k].rank);
		size = ut_facts_inside(job, "world_size");
		if (size.len && ut_json_scaled(size, 0, &world) && world > r->world &&
		    world < INT32_MAX)
			r->world = world;
	}
	if (r->count)
		qsort(r->items, r->count, sizeof(*r->items), merge_log_by_value);
	for (size_t i = 0; i < r->count; i++) {
		if (!i || r->items[i] != r->items[i - 1])
			r->items[kept++] = r->items[i];
	}
	r->count = kept;
}

/* "2, 4-9" */
static void name_missing(const struct ranks *r, struct ut_buf *out)
{
	int64_t next = 0, gaps = 0;

	for (size_t i = 0; i <= r->count; i++) {
		int64_t here = i < r->count ? r->items[i] : r->world;

		if (here > next && gaps++ < REPORTED_GAPS) {
			ut_buf_fmt(out, "%s%" PRId64, out->len ? ", " : "", next);
			if (here > next + 1)
				ut_buf_fmt(out, "-%" PRId64, here - 1);
		}
		next = here + 1;
	}
	if (gaps > REPORTED_GAPS)
		ut_buf_text(out, ", ...");
}

/* One file alone, or files that know nothing of ranks, are no job. */
static void report_ranks(const struct ut_merge_plan *p, const struct ut_logger *logger)
{
	struct ut_buf missing = { 0 };
	struct ranks r = { 0 };

	collect_ranks(p, &r);
	if (r.count > 1 && (int64_t)r.count < r.world) {
		name_missing(&r, &missing);
		ut_logger_log(logger, UT_INFO, "ranks: %zu of %" PRId64 "; missing: %s", r.count,
			      r.world, missing.data);
	}
	ut_buf_release(&missing);
	free(r.items);
}

/* ---- all of it ------------------------------------------------------------------------------- */

void ut_merge_log(const struct ut_merge_plan *p, enum ut_merge_numbers pids,
		  const struct ut_logger *logger)
{
	report_ranks(p, logger);
	ut_merge_log_clocks(p, logger);
	if (p->new_pids && pids == UT_MERGE_AUTO)
		ut_logger_log(logger, UT_INFO,
			      "pids: %zu changed, because an earlier file uses the same "
			      "(--pids keep prevents that)",
			      p->new_pids);
}
