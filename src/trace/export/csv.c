/*
 * csv.c - one line per event, for spreadsheets, pandas and awk; see docs/formats/csv.md.
 *
 * Columns are never reordered; new ones are added at the end. Quoting is that of RFC 4180. What a
 * line says of its track is the same for all of its events: made once and kept.
 */
#include "export/exporter.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "export/args_json.h"
#include "export/event_words.h"
#include "model/counter.h"
#include "model/event.h"
#include "model/pairs.h"
#include "model/store.h"
#include "model/trace.h"
#include "text/csv_write.h"
#include "text/out.h"

static const char columns[] = "trace,pid,process,tid,track,kind,ts_ns,dur_ns,name,category,depth,"
			      "value,id,flags,args\n";

struct track {
	char *text; /* trace to track, with the comma behind; NULL = not made yet */
	size_t len;
	uint32_t name, process; /* string ids that it was made of: they may come late */
	struct ut_depth depth;
};

struct csv {
	struct ut_sink sink;
	struct ut_out *out;
	struct ut_out *scratch; /* where text is made that has to be quoted */
	struct ut_pairs pairs;  /* also how many traces are complete */
	struct track *tracks;
	size_t track_cap;
};

/* ---- fields -------------------------------------------------------------------------------- */

static void csv_put_string(struct ut_out *o, const struct ut_trace *t, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&t->strings, id);

	if (s.len)
		ut_csv_put_field(o, s.ptr, s.len);
	ut_out_text(o, ",");
}

static void start_scratch(struct csv *c)
{
	size_t len;

	ut_out_advance(c->scratch, ut_out_data(c->scratch, &len));
}

/* ---- tracks -------------------------------------------------------------------------------- */

static void csv_put_id(struct csv *c, const struct ut_trace *t, uint64_t id, uint32_t text)
{
	if (text) {
		csv_put_string(c->scratch, t, text);
		return;
	}
	ut_out_u64(c->scratch, id);
	ut_out_text(c->scratch, ",");
}

static void make_track(struct csv *c, struct track *to, const struct ut_trace *t, uint32_t index)
{
	const struct ut_track *track = &t->tracks[index];
	const struct ut_process *process = &t->processes[track->process];
	const char *text;

	start_scratch(c);
	ut_out_u64(c->scratch, c->pairs.traces);
	ut_out_text(c->scratch, ",");
	csv_put_id(c, t, process->pid, process->pid_text);
	csv_put_string(c->scratch, t, process->name);
	if (track->type == UT_TRACK_THREAD)
		csv_put_id(c, t, track->id, track->id_text);
	else
		ut_out_text(c->scratch, ",");
	csv_put_string(c->scratch, t, track->name);
	text = ut_out_data(c->scratch, &to->len);
	free(to->text);
	to->text = ut_make(to->len + 1);
	memcpy(to->text, text, to->len);
	to->name = track->name;
	to->process = process->name;
}

static struct track *track_at(struct csv *c, const struct ut_trace *t, uint32_t index)
{
	struct track *track;

	c->tracks = ut_grow(c->tracks, (size_t)index + 1, &c->track_cap, sizeof(*c->tracks));
	track = &c->tracks[index];
	if (!track->text || track->name != t->tracks[index].name ||
	    track->process != t->processes[t->tracks[index].process].name)
		make_track(c, track, t, index);
	return track;
}

static void forget_tracks(struct csv *c)
{
	for (size_t i = 0; i < c->track_cap; i++) {
		free(c->tracks[i].text);
		ut_depth_release(&c->tracks[i].depth);
	}
	free(c->tracks);
	c->tracks = NULL;
	c->track_cap = 0;
}

/* ---- events -------------------------------------------------------------------------------- */

static void put_args(struct csv *c, const struct ut_trace *t, const struct ut_event *e)
{
	const char *text;
	size_t len;

	start_scratch(c);
	if (e->kind == UT_KIND_SAMPLE)
		ut_sample_json(c->scratch, t, e);
	else
		ut_args_json(c->scratch, t, e->args);
	text = ut_out_data(c->scratch, &len);
	ut_csv_put_field(c->out, text, len);
}

static void csv_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	struct csv *c = (struct csv *)sink;
	struct ut_out *o = c->out;
	struct track *track;

	if (e->kind >= UT_KIND_COUNT)
		return; /* from a newer collector; the importer has counted it */
	assert(e->track < t->track_count);
	track = track_at(c, t, e->track);
	ut_out_write(o, track->text, track->len);
	ut_out_text(o, ut_kind_words[e->kind]);
	ut_out_text(o, ",");
	ut_out_u64(o, e->ts);
	ut_out_text(o, ",");
	if (e->kind == UT_KIND_SPAN)
		ut_out_u64(o, e->val);
	ut_out_text(o, ",");
	csv_put_string(o, t, e->name);
	csv_put_string(o, t, e->cat);
	if (e->kind == UT_KIND_SPAN)
		ut_out_u64(o, ut_depth_of(&track->depth, e));
	ut_out_text(o, ",");
	if (e->kind == UT_KIND_COUNTER && !ut_counter_ends(e->val, e->flags))
		ut_counter_json(o, e);
	else if (e->kind == UT_KIND_SAMPLE && ut_sample_weight(e->val) != UT_SAMPLE_WEIGHT_ARG)
		ut_out_u64(o, ut_sample_weight(e->val));
	ut_out_text(o, ",");
	if (ut_pairs_has(e))
		ut_out_u64(o, ut_pairs_of(&c->pairs, e));
	ut_out_text(o, ",");
	ut_flag_words(o, e->flags);
	ut_out_text(o, ",");
	if (e->args || ut_sample_has_stack(t, e))
		put_args(c, t, e);
	ut_out_text(o, "\n");
}

static struct ut_sink *csv_open(struct ut_out *out)
{
	struct csv *c = ut_make(sizeof(*c));

	c->sink.event = csv_event;
	c->out = out;
	c->scratch = ut_out_open_memory();
	ut_out_text(out, columns);
	return &c->sink;
}

static void csv_end_trace(struct ut_sink *sink, const struct ut_trace *t)
{
	struct csv *c = (struct csv *)sink;

	(void)t;
	forget_tracks(c);
	ut_pairs_end_trace(&c->pairs);
}

static void csv_close(struct ut_sink *sink)
{
	struct csv *c = (struct csv *)sink;

	forget_tracks(c);
	ut_out_abandon(c->scratch);
	free(c);
}

const struct ut_exporter ut_export_csv = {
	.name = "csv",
	.suffix = ".csv",
	.open = csv_open,
	.end_trace = csv_end_trace,
	.close = csv_close,
};
