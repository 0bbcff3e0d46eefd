/*
 * fuzz_acelyzer.c - libFuzzer target: any bytes as a trace for `unitrace analyze`.
 *
 * The first eight bytes choose options and a stage to leave out; what follows is one file, or
 * several, separated by a line "\n---\n". What comes out must be JSON, whatever went in.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/file_merge.h"
#include "acelyzer/profile.h"
#include "acelyzer/stage.h"
#include "acelyzer/write_event.h"
#include "plain_json.h"
#include "text/out.h"

#define MOST_FILES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ut_ace_opts options(const uint8_t *b)
{
	struct ut_ace_opts o = {
		.release = b[0] & 1 ? UT_ACE_1_2 : UT_ACE_1_0,
		.flow = b[0] & 2,
		.coll_events = b[0] & 4,
		.summarize = b[0] & 8,
		.flex_ts_fix = b[0] & 16,
		.no_mp_sync = b[0] & 32,
		.mp_sync_v2 = b[0] & 64,
		.keep_prep = b[0] & 128,
		.keep_names = b[1] & 1,
		.drop_globals = b[1] & 2,
		.skip_events = b[1] & 4,
		.split_events = b[1] & 8,
		.ignore_crit = !(b[1] & 16),
		.stats = !(b[1] & 32),
		.refine = !(b[1] & 64),
		.power_stats = b[1] & 128,
		.overlap = (enum ut_ace_overlap)(b[2] % 5),
		.counters = b[3] ? b[3] : UT_ACE_POWER_TS4 | UT_ACE_COLL_BW | UT_ACE_PREP_QUEUE,
		.tid_streams = (int8_t)b[4],
		.soc = b[5] ? b[5] * 4.0 : 1000,
		.core = b[6] ? b[6] * 4.0 : 1100,
		.keep_phases = "",
		.limit = { .count = INT64_MAX, .ts_end = 1e300, .free_types = "M" },
		.threads = 1,
	};

	return o;
}

static int look(void *ctx, struct ut_ace_analysis *a, unsigned int number, const char *stage,
		struct ut_err *err)
{
	const struct ut_ace_table *t = &a->table;

	(void)ctx;
	(void)number;
	(void)stage;
	(void)err;
	for (size_t i = 0; i < t->seq_count; i++) {
		if (t->seq[i] >= t->event_count || t->events[t->seq[i]].dev >= t->dev_count)
			abort();
	}
	return 0;
}

static void write_all(const struct ut_ace_analysis *a)
{
	struct ut_out *o = ut_out_open_memory();
	struct ut_ace_writer w;
	const char *text;
	size_t len;

	ut_ace_writer_init(&w, a, o);
	ut_out_text(o, "[");
	for (size_t i = 0; i < a->table.seq_count; i++) {
		const struct ut_ace_event *e = &a->table.events[a->table.seq[i]];

		ut_out_text(o, i ? "," : "");
		ut_ace_put_event(&w, e);
		ut_out_text(o, ",");
		ut_ace_put_raw(&w, e);
	}
	ut_out_text(o, "]");
	text = ut_out_data(o, &len);
	must_be_json(text, len);
	ut_ace_writer_release(&w);
	ut_out_abandon(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_ace_part parts[MOST_FILES];
	struct ut_ace_profile profile;
	struct ut_ace_opts opts;
	const char *text = (const char *)data + 8, *end = (const char *)data + size;
	size_t count = 0;
	struct ut_ace_analysis a;

	if (size < 8)
		return 0;
	opts = options(data);
	while (text <= end && count < MOST_FILES) {
		const char *cut = memmem(text, (size_t)(end - text), "\n---\n", 5);
		const char *stop = cut ? cut : end;
		char path[] = "fuzz-0.json";

		path[5] = (char)('0' + count);
		if (!ut_ace_read_text(&parts[count], path, text, (size_t)(stop - text),
				      opts.release, NULL))
			ut_ace_finalize(&parts[count++], opts.release);
		text = cut ? cut + 5 : end + 1;
	}
	ut_ace_init(&a, &opts);
	ut_ace_merge(&a.table, parts, count);
	for (size_t i = 0; i < count; i++)
		ut_ace_part_release(&parts[i]);
	ut_ace_profile_all(&profile, opts.release);
	if (data[7] && data[7] <= UT_ACE_MOST_STAGES)
		profile.on[data[7] - 1] = false;
	if (!ut_ace_run(&a, &profile, look, NULL, NULL))
		write_all(&a);
	ut_ace_release(&a);
	return 0;
}
