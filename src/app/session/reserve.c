#include "session/reserve.h"

#include "base/disk_space.h"
#include "base/size.h"
#include "base/str.h"
#include "export/exporter.h"
#include "session/session_event.h"
#include "session/session_plan.h"
#include "text/out_space.h"
#include "text/pack.h"

/* Bytes for a byte of recording, of small tasks. */
#define PLAIN_RESULT  10u /* JSON */
#define BINARY_RESULT 4u  /* Perfetto */
#define SMALL_RESULT  2u  /* compressed, or our own format */

static uint64_t size_of_results(const struct ut_output_opts *out)
{
	uint64_t factor = 0;

	for (size_t i = 0; i < out->format_count; i++) {
		bool packed = out->output && ut_output_is_timeline(out) &&
			      ut_pack_by_name(out->output) != UT_PACK_NONE;

		factor += packed || out->formats[i] == &ut_export_utr ? SMALL_RESULT
			  : out->formats[i] == &ut_export_perfetto    ? BINARY_RESULT
								      : PLAIN_RESULT;
	}
	return factor;
}

/* One line if the disk has less than the reserve, or no more than that. */
static void reserve_say(const struct ut_disk_reserve *reserve, const struct ut_disk_space *space,
			const char *dir, const char *what, const struct ut_session_client *client)
{
	const struct ut_session_event event = { .kind = UT_SESSION_EVENT_REMARK, .level = UT_WARN };
	uint64_t wanted = ut_disk_reserve_wanted(reserve, space);
	uint64_t kept = ut_disk_reserve_kept(reserve, space);
	char free[32], full[32], low[32];

	ut_size_text(free, sizeof(free), space->free);
	ut_size_text(full, sizeof(full), wanted);
	ut_size_text(low, sizeof(low), kept);
	if (space->free <= kept)
		ut_session_notify_text(
			client, event,
			"almost nothing can be %s: %s are free in %s, and --disk-reserve "
			"keeps %s free",
			what, free, dir, full);
	else if (kept < wanted)
		ut_session_notify_text(
			client, event,
			"the disk is nearly full: %s are free in %s, less than the usual "
			"reserve of %s, so no more is %s when %s are left; --disk-reserve "
			"SIZE|PERCENT changes that",
			free, dir, full, what, low);
}

uint64_t ut_reserve_begin(const struct ut_session_plan *plan, const char *session_dir,
			  const char *results_dir, const struct ut_session_client *client)
{
	struct ut_disk_space here, there;
	uint64_t kept, factor = 0;
	bool known;

	ut_out_keep_free(&plan->reserve);
	known = ut_disk_space_path(results_dir, &there);
	if (!ut_disk_space_path(session_dir, &here))
		return 0;
	reserve_say(&plan->reserve, &here, session_dir, "recorded", client);
	if (known && there.device == here.device)
		factor = size_of_results(&plan->out);
	else if (known)
		reserve_say(&plan->reserve, &there, results_dir, "written", client);
	kept = ut_out_kept_free(&here);
	if (!kept || kept >= here.free)
		return kept;
	return here.free - (here.free - kept) / (1 + factor);
}

bool ut_reserve_reached(uint64_t bytes, const char *session_dir)
{
	struct ut_disk_space space;

	return bytes && ut_disk_space_path(session_dir, &space) && space.free < bytes;
}

void ut_reserve_results(const struct ut_disk_reserve *reserve, const char *dir,
			const struct ut_session_client *client)
{
	struct ut_disk_space space;

	ut_out_keep_free(reserve);
	if (ut_disk_space_path(dir, &space))
		reserve_say(reserve, &space, dir, "written", client);
}
