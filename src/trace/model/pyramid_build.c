/*
 * pyramid_build.c - the pyramid of a whole store, its tracks shared among threads.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/thread_pool.h"
#include "model/pyramid_deal.h"

struct job {
	const struct ut_store *store;
	struct ut_pyramid *pyramid;
	const uint8_t *kinds;
	const uint32_t *order; /* tracks, the longest first */
	_Atomic size_t next;
};

static void build_track(const struct ut_store *s, const uint8_t *kinds, uint32_t track,
			struct ut_lanes *out)
{
	struct ut_dealer d = { .store = s, .kinds = kinds, .track = track };

	ut_deal_rows(&d);
	ut_deal_finish(&d, out);
}

static void pyramid_build_work(void *ctx)
{
	struct job *job = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&job->next, 1)) < job->pyramid->track_count) {
		uint32_t track = job->order[i];

		build_track(job->store, job->kinds, track, &job->pyramid->tracks[track]);
	}
}

static int by_length(const void *a, const void *b, void *store)
{
	const struct ut_rows *rows = ((const struct ut_store *)store)->rows;
	uint64_t x = rows[*(const uint32_t *)a].count, y = rows[*(const uint32_t *)b].count;

	return x > y ? -1 : x < y;
}

void ut_pyramid_build(struct ut_store *s, unsigned int threads)
{
	size_t tracks = s->trace.track_count;
	struct ut_pyramid *p;
	uint32_t *order;
	uint8_t *kinds;

	if (s->pyramid)
		return;
	p = ut_make(sizeof(*p));
	p->tracks = ut_make((tracks + 1) * sizeof(*p->tracks));
	p->track_count = tracks;
	kinds = ut_make((size_t)s->types.count + 1);
	for (uint32_t i = 0; i < s->types.count; i++)
		kinds[i] = ut_deal_kind(s->types.items[i].kind);
	order = ut_make((tracks + 1) * sizeof(*order));
	for (uint32_t i = 0; i < tracks; i++)
		order[i] = i;
	qsort_r(order, tracks, sizeof(*order), by_length, s);
	ut_thread_pool_run(
		ut_thread_pool_size(threads, tracks), pyramid_build_work,
		&(struct job){ .store = s, .pyramid = p, .kinds = kinds, .order = order });
	free(order);
	free(kinds);
	s->pyramid = p;
}
