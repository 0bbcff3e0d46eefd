/*
 * evidence.c - the clocks of several hosts, by what ranks measured and by what they sent each
 * other.
 *
 * Only if files of several hosts are merged: then each is read once more, through the model, and
 * what its calls prove is kept, a bounded amount of each. Rank 0 finds the maps, all get them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/importer.h"
#include "merge/merge.h"
#include "model/store.h"
#include "mpijob/mpijob.h"
#include "ranks/ranks_pack.h"

#define MOST_PIECES  (4u << 20) /* of all files together */
#define LEAST_PIECES 1024u      /* of each */

/* ---- reading ------------------------------------------------------------------------------- */

/* Files of no rank have nothing to say about messages. */
static bool has_rank(const struct ut_merge_file *f)
{
	bool any = f->facts.rank >= 0;

	for (uint32_t i = 0; !any && i < f->facts.process_count; i++)
		any = f->facts.processes[i].rank >= 0;
	return any;
}

/* Every file is an origin, in order, whether it is read or not: so origins are files. */
static int evidence_read_file(const struct ut_merge *m, size_t i, struct ut_ranks *r,
			      struct ut_err *err)
{
	const struct ut_import_opts opts = { .threads = m->threads };
	const struct ut_merge_file *f = &m->files[i];
	size_t budget = MOST_PIECES / (m->count + 1), before = r->count;
	struct ut_store store;
	int rc;

	if (f->left_out || f->clock == UINT32_MAX || !has_rank(f)) {
		r->origins++;
		return 0;
	}
	rc = ut_import(f->path, &opts, &store, err);
	if (rc)
		return rc;
	rc = ut_ranks_add(r, &store, err);
	ut_store_release(&store);
	if (!rc)
		ut_ranks_thin(r, before, budget > LEAST_PIECES ? budget : LEAST_PIECES);
	return rc;
}

/* What others have read, behind what rank 0 has: shares are in the order of files. */
static int evidence_gather(struct ut_merge *m, struct ut_ranks *r, struct ut_err *err)
{
	struct ut_gathered all = { 0 };
	struct ut_buf mine = { 0 };
	int rc = 0;

	if (m->job->ranks == 1)
		return 0;
	if (m->job->rank)
		ut_ranks_pack(r, &mine);
	ut_mpijob_gather(m->job, mine.data, mine.len, &all);
	for (size_t i = 1; !rc && i < all.count; i++)
		rc = ut_ranks_unpack(r, all.data + all.starts[i],
				     (size_t)(all.starts[i + 1] - all.starts[i]), err);
	ut_gathered_release(&all);
	ut_buf_release(&mine);
	r->thin = true;
	return ut_mpijob_agree(m->job, rc, err);
}

/* ---- maps ---------------------------------------------------------------------------------- */

static void copy_map(const struct ut_time_map *from, struct ut_time_map *to)
{
	for (size_t i = 0; i < from->count; i++)
		ut_time_map_knot(to, from->knots[i].at, from->knots[i].add, from->knots[i].error);
}

/* Files have the map of the clock that their ranks have; those without ranks, of their host's. */
static void set_maps(struct ut_merge *m, const struct ut_ranks *r, uint32_t clocks)
{
	uint32_t *clock_of = ut_make(((size_t)clocks + 1) * sizeof(*clock_of)); /* + 1 */

	for (size_t i = 0; i < r->count; i++)
		clock_of[m->files[r->items[i].origin].clock] = r->items[i].clock + 1;
	for (size_t i = 0; i < m->count; i++) {
		struct ut_merge_file *f = &m->files[i];

		if (!f->left_out && f->clock != UINT32_MAX && clock_of[f->clock])
			copy_map(&r->clocks[clock_of[f->clock] - 1].map, &f->map);
	}
	free(clock_of);
}

static void sum_up(const struct ut_merge *m, const struct ut_ranks *r, struct ut_merge_clocks *c)
{
	for (size_t i = 0; i < r->clock_count; i++) {
		const struct ut_rank_clock *clock = &r->clocks[i];
		uint64_t error = ut_time_map_worst(&clock->map);

		c->hosts += clock->proven;
		c->others += !clock->proven;
		c->evidence += clock->evidence;
		c->measured += clock->measured;
		c->error = clock->proven && error > c->error ? error : c->error;
	}
	/* each piece is told by both of its clocks, and a measurement is two pieces */
	c->evidence /= 2;
	c->evidence -= c->evidence > 2 * c->measured ? 2 * c->measured : c->evidence;
	c->hosts = c->hosts > 1 || c->evidence || c->measured ? c->hosts : 0;
	c->messages = r->messages;
	c->backwards = r->backwards;
	c->most_backwards = r->most_backwards;
	for (size_t i = 0; i < r->count; i++) {
		if (r->clocks[r->items[i].clock].root)
			c->epoch = m->files[r->items[i].origin].epoch;
	}
}

static void solve(struct ut_merge *m, struct ut_ranks *r, uint32_t clocks,
		  struct ut_merge_clocks *c)
{
	ut_ranks_find_clocks(r, m->threads);
	if (r->clock_count < 2)
		return;
	sum_up(m, r, c);
	if (c->hosts)
		set_maps(m, r, clocks);
}

/* ---- from rank 0 to all -------------------------------------------------------------------- */

static void report_all(struct ut_merge *m, struct ut_merge_clocks *c)
{
	struct ut_buf b = { 0 };
	const char *at;
	size_t len;
	char *data;

	if (m->job->ranks == 1)
		return;
	ut_buf_add(&b, (const char *)c, sizeof(*c));
	for (size_t i = 0; i < m->count; i++) {
		const struct ut_time_map *map = &m->files[i].map;

		ut_buf_add(&b, (const char *)&map->count, sizeof(map->count));
		if (map->count)
			ut_buf_add(&b, (const char *)map->knots, map->count * sizeof(*map->knots));
	}
	len = b.len;
	data = ut_mpijob_bcast(m->job, b.data, &len);
	at = data + sizeof(*c);
	memcpy(c, data, sizeof(*c));
	for (size_t i = 0; m->job->rank && i < m->count; i++) {
		size_t count;

		memcpy(&count, at, sizeof(count));
		at += sizeof(count);
		for (size_t k = 0; k < count; k++, at += sizeof(struct ut_time_knot)) {
			struct ut_time_knot knot;

			memcpy(&knot, at, sizeof(knot));
			ut_time_map_knot(&m->files[i].map, knot.at, knot.add, knot.error);
		}
	}
	free(data);
	ut_buf_release(&b);
}

int ut_merge_find_clocks(struct ut_merge *m, size_t first, size_t count,
			 struct ut_merge_clocks *clocks, struct ut_err *err)
{
	uint32_t hosts = m->rules.no_align ? 0 : ut_merge_place(m->files, m->count);
	struct ut_ranks r;
	int rc = 0;

	*clocks = (struct ut_merge_clocks){ 0 };
	if (hosts < 2)
		return 0;
	ut_ranks_init(&r);
	for (size_t i = first; !rc && i < first + count; i++)
		rc = evidence_read_file(m, i, &r, err);
	rc = ut_mpijob_agree(m->job, rc, err);
	if (!rc)
		rc = evidence_gather(m, &r, err);
	if (!rc && !m->job->rank)
		solve(m, &r, hosts, clocks);
	if (!rc)
		report_all(m, clocks);
	ut_ranks_release(&r);
	return rc;
}
