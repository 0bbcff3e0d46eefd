#include "tt/devlog_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "base/path.h"
#include "base/str.h"
#include "model/build.h"
#include "model/trace.h"
#include "tt/write_devlog.h"
#include "view/view.h"

/* ---- what is shown -------------------------------------------------------------------------- */

uint32_t ut_tt_shown_chips(const struct ut_tt_shown *s, uint32_t *from)
{
	bool all = s->chip == UT_TT_ALL_CHIPS;

	*from = all ? 0 : s->chip;
	return all ? (uint32_t)s->a->log->chip_count : s->chip + 1;
}

/* RISCs in the order in which people look for them, others behind. */
static uint32_t risc_rank(const struct ut_tt_log *log, uint32_t risc)
{
	static const char *const order[] = { "BRISC",   "NCRISC",  "TRISC_0",
					     "TRISC_1", "TRISC_2", "ERISC" };

	for (uint32_t i = 0; i < 6; i++) {
		if (ut_tt_is(log, log->riscs[risc].name, order[i]))
			return i;
	}
	return 6 + risc;
}

/* There are few, and they mostly are in order. */
static void sort_lanes(const struct ut_tt_log *log, uint32_t *lanes, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t lane = lanes[i];
		size_t at = i;

		for (; at && risc_rank(log, log->lanes[lanes[at - 1]].risc) >
				     risc_rank(log, log->lanes[lane].risc);
		     at--)
			lanes[at] = lanes[at - 1];
		lanes[at] = lane;
	}
}

uint32_t *ut_tt_shown_lanes(const struct ut_tt_shown *s, size_t *count)
{
	const struct ut_tt_log *log = s->a->log;
	uint32_t *lanes = ut_make((log->lane_count + 1) * sizeof(*lanes));
	uint32_t from, end = ut_tt_shown_chips(s, &from);

	*count = 0;
	for (uint32_t c = from; c < end; c++) {
		uint32_t *cores = ut_tt_cores_by_place(log, &log->chips[c]);

		for (uint32_t i = 0; i < log->chips[c].core_count; i++) {
			const struct ut_tt_core *core = &log->cores[cores[i]];

			for (uint32_t k = 0; k < core->lane_count; k++)
				lanes[*count + k] = core->lane + k;
			sort_lanes(log, lanes + *count, core->lane_count);
			*count += core->lane_count;
		}
		free(cores);
	}
	return lanes;
}

/* ---- the store ------------------------------------------------------------------------------ */

void ut_tt_make_store(const struct ut_tt_shown *s, struct ut_store *store)
{
	struct ut_build build;
	struct ut_trace trace;

	ut_build_init(&build);
	ut_trace_init(&trace);
	ut_tt_send(s->a, s->align, s->chip, &trace, &build.sink);
	ut_build_end_trace(&build, &trace);
	ut_build_finish(&build, store);
	ut_trace_release(&trace);
}

/* The tracks of a store by the lane that they show: number + 1. The caller frees. */
static uint32_t *tracks_of_lanes(const struct ut_tt_log *log, const struct ut_trace *trace)
{
	uint32_t *tracks = ut_make((log->lane_count + 1) * sizeof(*tracks));
	struct ut_idmap chips = { 0 };

	for (uint32_t i = 0; i < log->chip_count; i++)
		ut_idmap_put(&chips, (uint64_t)log->chips[i].id, i + 1);
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ut_track *t = &trace->tracks[i];
		uint32_t chip = ut_idmap_get(&chips, trace->processes[t->process].pid);

		if (t->type == UT_TRACK_THREAD && chip && t->id > UT_TT_OPS_TRACK)
			tracks[log->cores[log->chips[chip - 1].core].lane + (uint32_t)t->id -
			       UT_TT_OPS_TRACK - 1] = i + 1;
	}
	ut_idmap_release(&chips);
	return tracks;
}

/* Chip, core, RISC: each core is a group. */
static void group_cores(const struct ut_tt_log *log, const uint32_t *tracks, struct ut_view *v)
{
	for (size_t i = 0; i < log->lane_count; i++) {
		const struct ut_tt_core *core = &log->cores[log->lanes[i].core];
		char group[48];

		if (!tracks[i])
			continue;
		snprintf(group, sizeof(group), "core (%" PRId32 ", %" PRId32 ")", core->x, core->y);
		ut_view_group(v, 0, tracks[i] - 1, group);
	}
}

/* In the order in which people look for them. */
static void order_tracks(const struct ut_tt_shown *s, const uint32_t *tracks,
			 struct ut_trace *trace)
{
	size_t count;
	uint32_t *lanes = ut_tt_shown_lanes(s, &count);

	for (size_t i = 0; i < count; i++) {
		if (tracks[lanes[i]])
			trace->tracks[tracks[lanes[i]] - 1].sort_index = (int32_t)i;
	}
	free(lanes);
}

/* ---- the view ------------------------------------------------------------------------------- */

/* The date is that of the file: a log does not tell its own. */
static void devlog_page_describe(const struct ut_tt_shown *s, struct ut_view *v)
{
	const struct ut_tt_log *log = s->a->log;
	uint32_t from, end = ut_tt_shown_chips(s, &from), cores = 0;
	struct ut_buf b = { 0 };
	struct stat st;

	for (uint32_t c = from; c < end; c++)
		cores += log->chips[c].core_count;
	ut_buf_fmt(&b, "%s, %" PRIu64 " MHz, %" PRIu32 " chip%s, %" PRIu32 " core%s, %zu rows",
		   log->arch, log->mhz, end - from, end - from == 1 ? "" : "s", cores,
		   cores == 1 ? "" : "s", log->row_count);
	if (strcmp(s->log, "-") != 0 && !stat(s->log, &st)) {
		struct tm tm;
		char date[40];

		if (gmtime_r(&st.st_mtime, &tm) &&
		    strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm))
			ut_buf_fmt(&b, ", log of %s", date);
	}
	ut_view_describe(v, &(struct ut_view_about){ .input = strcmp(s->log, "-") != 0
								      ? ut_path_base(s->log)
								      : "standard input",
						     .subtitle = b.data,
						     .first = "cores" });
	ut_buf_release(&b);
}

static struct ut_view *devlog_page_make_view(const struct ut_tt_shown *s, struct ut_store *store,
					     bool lent)
{
	uint32_t *tracks = tracks_of_lanes(s->a->log, &store->trace);
	struct ut_view *v = ut_view_new();

	order_tracks(s, tracks, &store->trace);
	if (lent)
		ut_view_lend(v, s->trace, store);
	else
		ut_view_add(v, s->trace, store);
	group_cores(s->a->log, tracks, v);
	free(tracks);
	ut_view_ready(v, 0);
	devlog_page_describe(s, v);
	ut_tt_attach_sheets(s, v);
	return v;
}

struct ut_view *ut_tt_view_of(const struct ut_tt_shown *s, struct ut_store *store)
{
	return devlog_page_make_view(s, store, true);
}

struct ut_view *ut_tt_make_view(const struct ut_tt_shown *s)
{
	struct ut_store store;

	ut_tt_make_store(s, &store);
	return devlog_page_make_view(s, &store, false);
}
