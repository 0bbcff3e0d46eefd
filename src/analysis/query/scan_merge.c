/* scan_merge.c - rows in the order of their time: a heap of tracks. */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "query/scan_parts.h"

/* One track of a merge: its next row that fulfils the conditions. */
struct head {
	uint64_t ts;
	uint32_t track;
	uint64_t row, row_end;
};

struct ut_scan_merge {
	struct head *heads; /* a heap, the earliest first */
	size_t count, cap;
	bool started;
	uint32_t steps; /* for a look at traces->stop now and then */
};

static bool earlier(const struct head *a, const struct head *b)
{
	return a->ts < b->ts || (a->ts == b->ts && a->track < b->track);
}

static void sink_down(struct ut_scan_merge *m, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;
		struct head swap;

		if (child >= m->count)
			return;
		if (child + 1 < m->count && earlier(&m->heads[child + 1], &m->heads[child]))
			child++;
		if (!earlier(&m->heads[child], &m->heads[i]))
			return;
		swap = m->heads[i];
		m->heads[i] = m->heads[child];
		m->heads[child] = swap;
		i = child;
	}
}

/* Moves a head to its next wanted row at or after row. 1, 0 at the end, -EINTR. */
static int scan_merge_advance(struct ut_scan *s, struct head *h)
{
	const struct ut_qtrack *k = &s->traces->tracks[h->track];
	const uint8_t *pass = ut_scan_passes(s, k->trace);
	uint32_t types = s->traces->traces[k->trace].store->types.count;

	for (; h->row < h->row_end; h->row++) {
		const struct ut_block *b = &k->rows->blocks[h->row / UT_BLOCK_ROWS];
		uint32_t i = (uint32_t)(h->row % UT_BLOCK_ROWS), type = b->type[i];
		struct ut_place p;

		if (!(++s->merge->steps % UT_BLOCK_ROWS) && s->traces->stop)
			return -EINTR;
		if (!pass[type < types ? type : 0])
			continue;
		h->ts = b->ts[i];
		if (!s->on_rows)
			return 1;
		ut_traces_place(s->traces, h->track, h->row, &p);
		if (ut_scan_row_passes(s, &p))
			return 1;
	}
	return 0;
}

static int start_merge(struct ut_scan *s)
{
	struct ut_scan_merge *m = s->merge;
	struct head h = { 0 };

	while (ut_scan_next_track(s, &h.track, &h.row, &h.row_end)) {
		int rc = scan_merge_advance(s, &h);

		if (rc < 0)
			return rc;
		if (!rc)
			continue;
		m->heads = ut_grow(m->heads, m->count + 1, &m->cap, sizeof(*m->heads));
		m->heads[m->count++] = h;
	}
	for (size_t i = m->count / 2; i-- > 0;)
		sink_down(m, i);
	return 0;
}

int ut_scan_next_merged(struct ut_scan *s)
{
	struct ut_scan_merge *m = s->merge;
	int rc = 0;

	if (!m->started) {
		m->started = true;
		rc = start_merge(s);
	} else if (m->count) {
		m->heads[0].row++;
		rc = scan_merge_advance(s, &m->heads[0]);
		if (!rc)
			m->heads[0] = m->heads[--m->count];
		sink_down(m, 0);
	}
	if (rc < 0 || !m->count)
		return rc < 0 ? rc : 0;
	ut_traces_place(s->traces, m->heads[0].track, m->heads[0].row, &s->at);
	return 1;
}

void ut_scan_by_ts(struct ut_scan *s)
{
	ut_scan_start(s);
	s->merge = ut_make(sizeof(*s->merge));
}

void ut_scan_end_merge(struct ut_scan *s)
{
	if (s->merge)
		free(s->merge->heads);
	free(s->merge);
	s->merge = NULL;
}
