/*
 * check_places.c - tracks that are far away from the others in time, and ids that two share.
 */
#include "analyze/check.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/store.h"

#define MIN_SILENCE UINT64_C(600000000000) /* ten minutes */

/* ---- time ---------------------------------------------------------------------------------- */

struct extent {
	uint64_t first, last;
	uint32_t track;
};

static int by_first(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->track < y->track ? -1 : 1;
}

static size_t list_extents(const struct ut_store *s, struct extent *list)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->trace.track_count; i++) {
		if (s->rows[i].count)
			list[n++] = (struct extent){ s->rows[i].first, s->rows[i].last, i };
	}
	if (n)
		qsort(list, n, sizeof(*list), by_first);
	return n;
}

/* Where the longest silence of all tracks is; those on its smaller side are the ones far away. */
static void check_times(struct ut_check *c)
{
	struct extent *list = ut_make((c->store->trace.track_count + 1) * sizeof(*list));
	size_t n = list_extents(c->store, list), cut = 0, first, last;
	uint64_t end = n ? list[0].last : 0, covered = 0, silence = 0;

	for (size_t i = 1; i < n; i++) {
		if (list[i].first > end && list[i].first - end > silence) {
			silence = list[i].first - end;
			cut = i;
		}
		end = list[i].last > end ? list[i].last : end;
	}
	covered = n ? end - list[0].first - silence : 0;
	first = cut < n - cut ? 0 : cut;
	last = cut < n - cut ? cut : n;
	for (size_t i = first; silence > MIN_SILENCE && silence / 10 > covered && i < last; i++)
		ut_check_note(c, UT_CHECK_ID_FAR_AWAY, list[i].track, list[i].first, 0);
	free(list);
}

/* ---- ids ----------------------------------------------------------------------------------- */

static int by_pid(const void *a, const void *b, void *processes)
{
	const struct ut_process *x = (const struct ut_process *)processes + *(const uint32_t *)a;
	const struct ut_process *y = (const struct ut_process *)processes + *(const uint32_t *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->pid_text != y->pid_text)
		return x->pid_text < y->pid_text ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static bool same_pid(const struct ut_process *a, const struct ut_process *b)
{
	return a->pid == b->pid && a->pid_text == b->pid_text && a->host == b->host;
}

static int check_places_by_thread(const void *a, const void *b, void *tracks)
{
	const struct ut_track *x = (const struct ut_track *)tracks + *(const uint32_t *)a;
	const struct ut_track *y = (const struct ut_track *)tracks + *(const uint32_t *)b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->id_text < y->id_text ? -1 : x->id_text > y->id_text;
}

static bool same_thread(const struct ut_track *a, const struct ut_track *b)
{
	return a->process == b->process && a->id == b->id && a->id_text == b->id_text;
}

static uint32_t first_track(const struct ut_trace *t, uint32_t process)
{
	for (uint32_t i = 0; i < t->track_count; i++) {
		if (t->tracks[i].process == process)
			return i;
	}
	return UT_CHECK_NOWHERE;
}

/* Looks for a track only once: there may be many of both. */
static void note_pid(struct ut_check *c, uint32_t process)
{
	const struct ut_trace *t = &c->store->trace;
	bool first = !c->findings[UT_CHECK_ID_SAME_PID].count;

	ut_check_note(c, UT_CHECK_ID_SAME_PID, first ? first_track(t, process) : 0, 0,
		      t->processes[process].name);
}

static void check_pids(struct ut_check *c)
{
	const struct ut_trace *t = &c->store->trace;
	uint32_t *order = ut_make((t->process_count + 1) * sizeof(*order));

	for (uint32_t i = 0; i < t->process_count; i++)
		order[i] = i;
	qsort_r(order, t->process_count, sizeof(*order), by_pid, t->processes);
	for (size_t i = 1; i < t->process_count; i++) {
		const struct ut_process *a = &t->processes[order[i - 1]];
		const struct ut_process *b = &t->processes[order[i]];

		if (same_pid(a, b) && a->name != b->name && a->name && b->name)
			note_pid(c, order[i]);
	}
	free(order);
}

static void check_threads(struct ut_check *c)
{
	const struct ut_trace *t = &c->store->trace;
	uint32_t *order = ut_make((t->track_count + 1) * sizeof(*order));
	size_t n = 0;

	for (uint32_t i = 0; i < t->track_count; i++) {
		if (t->tracks[i].type == UT_TRACK_THREAD)
			order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), check_places_by_thread, t->tracks);
	for (size_t i = 1; i < n; i++) {
		if (same_thread(&t->tracks[order[i - 1]], &t->tracks[order[i]]))
			ut_check_note(c, UT_CHECK_ID_SAME_THREAD, order[i],
				      c->store->rows[order[i]].first, 0);
	}
	free(order);
}

void ut_check_places(struct ut_check *c)
{
	check_times(c);
	check_pids(c);
	check_threads(c);
}
