/* ranks_summary.c - the sentence that comes first. */
#include <inttypes.h>

#include "ranks/ranks_open.h"
#include "ranks/ranks_table.h"
#include "text/cells.h"

#define LITTLE 0.02 /* of the ranks' time: not worth a name */
#define MUCH   0.25 /* of all waiting: one rank's doing */
#define NAMED  0.1  /* of what it does: worth a word */

static double ranks_summary_part(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static uint32_t worst_rank(const struct ut_rank_view *v)
{
	uint32_t worst = 0;

	for (uint32_t i = 0; i < v->ranks->count; i++)
		worst = v->sums.ranks[i].caused > v->sums.ranks[worst].caused ? i : worst;
	return worst;
}

static uint64_t caused_by_all(const struct ut_rank_view *v)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < v->ranks->count; i++)
		sum += v->sums.ranks[i].caused;
	return sum;
}

/* The call in which most of it was waited. */
static const struct ut_rank_wait *longest_wait(const struct ut_rank_view *v, uint32_t rank)
{
	for (size_t i = 0; i < v->sums.wait_count; i++) {
		if (v->sums.waits[i].rank == rank)
			return &v->sums.waits[i];
	}
	return NULL;
}

static void add_where(const struct ut_rank_view *v, const struct ut_rank_sum *s, struct ut_buf *out)
{
	struct ut_str task = ut_strtab_get(&v->ranks->strings, s->blamed_task);
	double share = 100 * ranks_summary_part(s->blamed, s->caused);

	if (s->blamed_task == UT_RANK_IN_CALL)
		ut_buf_fmt(out, ", %.0f %% of it because of calls of its own", share);
	else if (ut_str_is(task, UT_RANK_AFTER_END))
		ut_buf_fmt(out, ", %.0f %% of it because its process had ended", share);
	else if (!s->blamed_task)
		ut_buf_fmt(out, ", %.0f %% of it because of what it does in no task", share);
	else
		ut_buf_fmt(out, ", %.0f %% of it because of its task \"%.*s\"", share,
			   (int)(task.len < 200 ? task.len : 200), task.ptr);
}

/* What keeps the numbers from being those of the whole job, in front of them. */
static void add_doubts(const struct ut_rank_view *v, struct ut_buf *out)
{
	const struct ut_ranks *r = v->ranks;
	size_t lossy = 0;
	bool unknown = false;

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		lossy += one->lossy;
		for (size_t k = 0; k < one->open_count; k++)
			unknown = unknown || !ut_rank_time(&one->calls[one->opens[k].call]);
	}
	if (r->world > (int64_t)r->count)
		ut_buf_fmt(out, "%zu of %" PRId64 " ranks are here. Of these: ", r->count,
			   r->world);
	if (lossy)
		ut_buf_fmt(out, "Records of %zu rank%s are lost. In the rest: ", lossy,
			   lossy == 1 ? "" : "s");
	if (unknown)
		ut_buf_text(out, "Without calls of unknown length: ");
}

/* Whose doing most of the waiting is. */
static void add_worst(const struct ut_rank_view *v, struct ut_buf *out)
{
	uint32_t rank = worst_rank(v);
	const struct ut_rank_sum *s = &v->sums.ranks[rank];
	uint64_t wait = v->sums.all.wait[0], total = v->sums.all.total;
	const struct ut_rank_wait *longest = longest_wait(v, rank);
	char time[UT_CELL_TIME], all[UT_CELL_TIME];

	if (ranks_summary_part(wait, total) < LITTLE) {
		ut_buf_fmt(out, "Ranks hardly wait for each other: %.1f %% of their time",
			   100 * ranks_summary_part(wait, total));
		return;
	}
	if (2 * caused_by_all(v) < wait) {
		ut_buf_fmt(out, "Ranks wait %.1f %% of their time (%s), %s",
			   100 * ranks_summary_part(wait, total), ut_cell_time(all, wait),
			   v->ranks->silent_count ? "for ranks that have made no call"
			   : v->ranks->world > (int64_t)v->ranks->count
				   ? "for ranks that are not here"
				   : "most of it for whom is not recorded");
		return;
	}
	if (ranks_summary_part(s->caused, wait) < MUCH) {
		ut_buf_fmt(out,
			   "Ranks wait %.1f %% of their time (%s), for nobody in particular; most "
			   "of it, %.0f %%, for rank %" PRId32,
			   100 * ranks_summary_part(wait, total), ut_cell_time(all, wait),
			   100 * ranks_summary_part(s->caused, wait), v->ranks->items[rank].rank);
		return;
	}
	ut_buf_fmt(out,
		   "Rank %" PRId32 " makes %" PRIu32
		   " other%s wait: %s of the %s that ranks wait in "
		   "all (%.0f %%)",
		   v->ranks->items[rank].rank, s->waiters, s->waiters == 1 ? "" : "s",
		   ut_cell_time(time, s->caused), ut_cell_time(all, wait),
		   100 * ranks_summary_part(s->caused, wait));
	add_where(v, s, out);
	if (longest)
		ut_buf_fmt(out, "; most are in %s",
			   ut_strtab_get(&v->ranks->strings, longest->call).ptr);
	if (ranks_summary_part(s->indirect, s->caused) > NAMED)
		ut_buf_fmt(out, ", and %.0f %% of it reaches them through another rank",
			   100 * ranks_summary_part(s->indirect, s->caused));
}

void ut_rank_summary_text(const struct ut_rank_view *v, struct ut_buf *out)
{
	const struct ut_ranks *r = v->ranks;
	size_t before = out->len;

	ut_ranks_unfinished(r, out);
	if (out->len > before) {
		/* What follows is about waits: without any there is nothing to add. */
		if (r->count < 2 ||
		    ranks_summary_part(v->sums.all.wait[0], v->sums.all.total) < LITTLE)
			return;
		ut_buf_text(out, ". ");
	}
	if (r->count < 2 && r->world > 1) {
		ut_buf_fmt(out,
			   "One of %" PRId64
			   " ranks is here: whom it waits for is seen with the traces of all",
			   r->world);
		return;
	}
	if (r->count < 2) {
		ut_buf_text(out, "There is one rank: nobody to wait for");
		return;
	}
	add_doubts(v, out);
	add_worst(v, out);
}

void ut_rank_efficiency(const struct ut_rank_view *v, struct ut_buf *out)
{
	const struct ut_rank_pop *p = &v->pop;
	char idle[UT_CELL_TIME];

	ut_buf_fmt(out,
		   "Parallel efficiency %.1f %% = load balance %.1f %% x communication %.1f %% "
		   "(serialisation %.1f %% x transfer %.1f %%)",
		   100 * p->parallel, 100 * p->balance, 100 * p->communication,
		   100 * p->serialisation, 100 * p->transfer);
	if (v->ranks->world > (int64_t)v->ranks->count)
		ut_buf_text(out, " of those that are here, whose waits for others count as "
				 "transfer");
	if (!ut_ranks_ended(v->ranks))
		ut_buf_text(out, ", of a job that did not end as it should");
	if (v->sums.all.idle)
		ut_buf_fmt(out, ". MPI itself was idle for %s in calls",
			   ut_cell_time(idle, v->sums.all.idle));
}

const char *ut_rank_table_empty_text(const struct ut_rank_view *v, enum ut_rank_table table)
{
	const struct {
		enum ut_rank_table table;
		size_t rows;
		const char *why;
	} empty[] = {
		{ UT_RANK_TABLE_WAITS, v->sums.wait_count, "No rank waits for another" },
		{ UT_RANK_TABLE_MATRIX, v->sums.pair_count, "No rank sends another one a message" },
		{ UT_RANK_TABLE_STEPS, v->path.step_count,
		  "There are no steps: no outermost task is there equally often in all ranks, "
		  "and more than once (--step TASK chooses one)" },
		{ UT_RANK_TABLE_COLLECTIVES, v->colls.count, "There is no collective operation" },
		{ UT_RANK_TABLE_CLOCKS, v->ranks->clock_count, "All ranks have one clock" },
	};

	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		if (empty[i].table == table && !empty[i].rows)
			return empty[i].why;
	}
	return NULL;
}

void ut_rank_view_make(struct ut_rank_view *v, struct ut_ranks *r, struct ut_str step)
{
	v->ranks = r;
	ut_ranks_sum(r, &v->sums);
	ut_ranks_pop(r, &v->sums, &v->pop);
	ut_ranks_path(r, step, &v->path);
	ut_ranks_colls(r, &v->colls);
}

void ut_rank_view_release(struct ut_rank_view *v)
{
	ut_rank_sums_release(&v->sums);
	ut_rank_path_release(&v->path);
	ut_rank_colls_release(&v->colls);
}
