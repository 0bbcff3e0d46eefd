#include "query/owner.h"

#include <stdlib.h>

#include "base/grow.h"
#include "query/arg.h"

static int by_set(const void *a, const void *b)
{
	const struct ut_owner *x = a, *y = b;

	return (x->set > y->set) - (x->set < y->set);
}

static void owner_add_track(struct ut_traces *t, uint32_t track)
{
	const struct ut_qtrack *k = &t->tracks[track];
	uint64_t id = k->first_id;

	for (size_t n = 0; n < ut_rows_blocks(k->rows); n++) {
		const struct ut_block *b = &k->rows->blocks[n];

		for (uint32_t i = 0; i < b->count; i++, id++) {
			struct ut_place p;
			int64_t set;

			ut_traces_place(t, track, id - k->first_id, &p);
			set = ut_place_args(t, &p);
			if (!set)
				continue;
			t->owners = ut_grow(t->owners, t->owner_count + 1, &t->owner_cap,
					    sizeof(*t->owners));
			t->owners[t->owner_count++] = (struct ut_owner){ .set = set, .id = id };
		}
	}
}

bool ut_owner_find(struct ut_traces *t, int64_t set, uint64_t *id)
{
	struct ut_owner key = { .set = set }, *found;

	if (!t->owners) {
		t->owners = ut_grow(NULL, 1, &t->owner_cap, sizeof(*t->owners));
		for (uint32_t i = 0; i < t->track_count && !t->stop; i++)
			owner_add_track(t, i);
		qsort(t->owners, t->owner_count, sizeof(*t->owners), by_set);
	}
	found = bsearch(&key, t->owners, t->owner_count, sizeof(*t->owners), by_set);
	if (found)
		*id = found->id;
	return found;
}
