#include "report/about.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/label.h"
#include "base/grow.h"
#include "base/size.h"
#include "base/str.h"
#include "text/cells.h"
#include "text/out.h"

#define MOST_LISTED  8 /* processes in text */
#define NAME_COLUMNS 48

static const char *const kind_names[] = {
#define KIND_NAME(kind, text, val) text,
	UT_KIND_LIST(KIND_NAME)
#undef KIND_NAME
};

void ut_about_counts_text(struct ut_out *o, const uint64_t kinds[UT_KIND_COUNT],
			  const struct ut_losses *l)
{
	for (size_t i = 0; i < UT_KIND_COUNT; i++) {
		if (kinds[i])
			ut_out_fmt(o, "  %-9s %" PRIu64 "\n", kind_names[i], kinds[i]);
	}
	for (size_t i = 0; i < UT_LOSSES; i++) {
		if (l->all[i])
			ut_out_fmt(o, "  %s: %" PRIu64 "\n", ut_losses_names[i], l->all[i]);
	}
}

void ut_about_counts_json(struct ut_out *o, const uint64_t kinds[UT_KIND_COUNT],
			  const struct ut_losses *l)
{
	ut_out_text(o, ",\"events\":{");
	for (size_t i = 0; i < UT_KIND_COUNT; i++)
		ut_out_fmt(o, "%s\"%s\":%" PRIu64, i ? "," : "", kind_names[i], kinds[i]);
	ut_out_text(o, "},\"losses\":{");
	for (size_t i = 0; i < UT_LOSSES; i++)
		ut_out_fmt(o, "%s\"%s\":%" PRIu64, i ? "," : "", ut_losses_names[i], l->all[i]);
	ut_out_text(o, "}");
}

/* ---- counting ------------------------------------------------------------------------------ */

struct counts {
	uint64_t kinds[UT_KIND_COUNT];
	uint64_t tracks[UT_TRACK_COUNTER + 1]; /* by type; those with events */
	uint64_t all_tracks;
	bool any;
	uint64_t first, last;
};

/* One addition per row, by type; kinds afterwards. */
static void count_kinds(struct counts *c, const struct ut_store *s)
{
	uint64_t *types = ut_make(((size_t)s->types.count + 1) * sizeof(*types));

	for (size_t t = 0; t < s->trace.track_count; t++) {
		for (size_t n = 0; n < ut_rows_blocks(&s->rows[t]); n++) {
			const struct ut_block *b = &s->rows[t].blocks[n];

			for (uint32_t i = 0; i < b->count; i++)
				types[b->type[i] < s->types.count ? b->type[i] : 0]++;
		}
	}
	for (uint32_t i = 0; i < s->types.count; i++) {
		if (s->types.items[i].kind < UT_KIND_COUNT)
			c->kinds[s->types.items[i].kind] += types[i];
	}
	free(types);
}

static void about_count(struct counts *c, const struct ut_store *s)
{
	*c = (struct counts){ 0 };
	for (size_t t = 0; t < s->trace.track_count; t++) {
		const struct ut_rows *r = &s->rows[t];

		if (!r->count)
			continue;
		c->tracks[s->trace.tracks[t].type]++;
		c->all_tracks++;
		c->first = c->any && c->first < r->first ? c->first : r->first;
		c->last = c->any && c->last > r->last ? c->last : r->last;
		c->any = true;
	}
	count_kinds(c, s);
}

/* ---- what the file says about itself ------------------------------------------------------- */

const char *ut_about_dialect(const struct ut_trace *t)
{
	for (const struct ut_arg *a = &t->args[t->file_args]; a->type != UT_ARG_END; a++) {
		if (a->type == UT_ARG_STR &&
		    !strcmp(ut_strtab_get(&t->strings, a->key).ptr, "dialect"))
			return ut_strtab_get(&t->strings, a->value.str).ptr;
	}
	return "";
}

void ut_about_line(struct ut_out *o, const struct ut_store *s, const char *format)
{
	const char *dialect = ut_about_dialect(&s->trace);
	struct counts c;

	about_count(&c, s);
	ut_out_text(o, *format ? format : "trace");
	if (*dialect)
		ut_out_fmt(o, " (%s)", dialect);
	ut_out_fmt(o, ", %" PRIu64 " event%s on %" PRIu64 " track%s of %zu process%s", s->row_count,
		   s->row_count == 1 ? "" : "s", c.all_tracks, c.all_tracks == 1 ? "" : "s",
		   s->trace.process_count, s->trace.process_count == 1 ? "" : "es");
}

/* ---- text ---------------------------------------------------------------------------------- */

static void text_format(struct ut_out *o, const struct ut_about *a)
{
	const char *dialect = ut_about_dialect(&a->store->trace);
	char bytes[32];

	ut_out_fmt(o, "  format    %s", a->format);
	if (*dialect)
		ut_out_fmt(o, ", dialect %s", dialect);
	if (a->bytes)
		ut_out_fmt(o, ", %s", ut_size_text(bytes, sizeof(bytes), a->bytes));
	ut_out_text(o, "\n");
}

static void text_processes(struct ut_out *o, const struct ut_trace *t)
{
	for (uint32_t i = 0; i < t->process_count && i < MOST_LISTED; i++) {
		struct ut_buf label = { 0 }, cell = { 0 }, how = { 0 };

		ut_label_process(&label, t, i);
		ut_cell_name(&cell, label.data, label.len, NAME_COLUMNS);
		if (ut_process_failure(t, &t->processes[i], &how))
			ut_out_fmt(o, "  process   %s, failed: %s\n", cell.data, how.data);
		else
			ut_out_fmt(o, "  process   %s\n", cell.data);
		ut_buf_release(&how);
		ut_buf_release(&label);
		ut_buf_release(&cell);
	}
	if (t->process_count > MOST_LISTED)
		ut_out_fmt(o, "  process   ... and %zu more\n", t->process_count - MOST_LISTED);
}

static void text_tracks(struct ut_out *o, const struct counts *c)
{
	static const char *const names[] = { "thread", "lane", "async row", "counter" };
	const char *comma = "";

	ut_out_fmt(o, "  tracks    %" PRIu64, c->all_tracks);
	for (size_t i = 0; i <= UT_TRACK_COUNTER; i++) {
		if (!c->tracks[i])
			continue;
		ut_out_fmt(o, "%s%" PRIu64 " %s%s", *comma ? comma : " (", c->tracks[i], names[i],
			   c->tracks[i] == 1 ? "" : "s");
		comma = ", ";
	}
	ut_out_text(o, *comma ? ")\n" : "\n");
}

/* When it was, if the trace knows; UTC. */
static void text_time(struct ut_out *o, const struct ut_trace *t, const struct counts *c)
{
	char length[32], date[32];
	time_t seconds = (time_t)((c->first + (uint64_t)t->realtime_offset) / 1000000000);
	struct tm tm;

	ut_out_fmt(o, "  time      %s", ut_time_text(length, sizeof(length), c->last - c->first));
	if (t->realtime_offset && gmtime_r(&seconds, &tm) &&
	    strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm))
		ut_out_fmt(o, ", from %s\n", date);
	else
		ut_out_fmt(o, ", from %" PRIu64 " ns of a clock that is not related to the day\n",
			   c->first);
}

static void text_keys(struct ut_out *o, const struct ut_trace *t)
{
	const char *comma = "";

	for (int k = 0; k < 2; k++) {
		uint32_t list = k ? t->global_args : t->file_args;

		for (const struct ut_arg *a = &t->args[list]; a->type != UT_ARG_END; a++) {
			struct ut_str key = ut_strtab_get(&t->strings, a->key);
			struct ut_buf cell = { 0 };

			ut_cell_name(&cell, key.ptr, key.len, NAME_COLUMNS);
			ut_out_fmt(o, "%s%s", *comma ? comma : "  metadata  ", cell.data);
			ut_buf_release(&cell);
			comma = ", ";
		}
	}
	ut_out_text(o, *comma ? "\n" : "");
}

void ut_about_text(struct ut_out *o, const struct ut_about *a)
{
	const struct ut_trace *t = &a->store->trace;
	struct counts c;

	about_count(&c, a->store);
	ut_cell_text(o, a->path);
	ut_out_text(o, "\n");
	text_format(o, a);
	text_processes(o, t);
	text_tracks(o, &c);
	if (c.any)
		text_time(o, t, &c);
	ut_about_counts_text(o, c.kinds, &t->losses);
	text_keys(o, t);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_str(struct ut_out *o, const char *key, struct ut_str s)
{
	ut_out_fmt(o, "\"%s\":", key);
	ut_out_json_str(o, s.ptr, s.len);
}

static void json_text(struct ut_out *o, const char *key, const char *text)
{
	json_str(o, key, (struct ut_str){ text, strlen(text) });
}

static void json_processes(struct ut_out *o, const struct ut_trace *t)
{
	uint32_t *threads = ut_make((t->process_count + 1) * sizeof(*threads));

	for (size_t i = 0; i < t->track_count; i++)
		threads[t->tracks[i].process] += t->tracks[i].type == UT_TRACK_THREAD;
	ut_out_text(o, ",\"processes\":[");
	for (uint32_t i = 0; i < t->process_count; i++) {
		const struct ut_process *p = &t->processes[i];
		struct ut_buf id = { 0 }, how = { 0 };

		ut_label_id(&id, t, p->pid, p->pid_text);
		ut_out_text(o, i ? ",\n {" : "\n {");
		if (p->pid_text)
			json_str(o, "pid", (struct ut_str){ id.data, id.len });
		else
			ut_out_fmt(o, "\"pid\":%" PRIu64, p->pid);
		ut_out_text(o, ",");
		json_str(o, "name", ut_strtab_get(&t->strings, p->name));
		ut_out_text(o, ",\"rank\":");
		if (p->rank >= 0)
			ut_out_fmt(o, "%" PRId32, p->rank);
		else
			ut_out_text(o, "null");
		ut_out_text(o, ",");
		json_str(o, "host", ut_strtab_get(&t->strings, p->host));
		ut_out_fmt(o, ",\"threads\":%" PRIu32, threads[i]);
		if (ut_process_failure(t, p, &how)) {
			ut_out_text(o, ",");
			json_str(o, "failed", (struct ut_str){ how.data, how.len });
		}
		ut_out_text(o, "}");
		ut_buf_release(&how);
		ut_buf_release(&id);
	}
	ut_out_text(o, "]");
	free(threads);
}

static void json_keys(struct ut_out *o, const struct ut_trace *t)
{
	const char *comma = "";

	ut_out_text(o, ",\"metadata\":[");
	for (int k = 0; k < 2; k++) {
		uint32_t list = k ? t->global_args : t->file_args;

		for (const struct ut_arg *a = &t->args[list]; a->type != UT_ARG_END; a++) {
			struct ut_str key = ut_strtab_get(&t->strings, a->key);

			ut_out_text(o, comma);
			ut_out_json_str(o, key.ptr, key.len);
			comma = ",";
		}
	}
	ut_out_text(o, "]");
}

void ut_about_json(struct ut_out *o, const struct ut_about *a)
{
	const struct ut_trace *t = &a->store->trace;
	struct counts c;

	about_count(&c, a->store);
	ut_out_text(o, "{");
	json_text(o, "path", a->path);
	ut_out_text(o, ",");
	json_text(o, "format", a->format);
	ut_out_text(o, ",");
	json_text(o, "dialect", ut_about_dialect(t));
	ut_out_fmt(o, ",\"bytes\":%" PRIu64 ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64,
		   a->bytes, c.first, c.last);
	ut_out_text(o, ",\"realtime_offset_ns\":");
	if (t->realtime_offset)
		ut_out_i64(o, t->realtime_offset);
	else
		ut_out_text(o, "null");
	ut_out_fmt(o,
		   ",\"tracks\":{\"threads\":%" PRIu64 ",\"lanes\":%" PRIu64 ",\"async\":%" PRIu64
		   ",\"counters\":%" PRIu64 "}",
		   c.tracks[UT_TRACK_THREAD], c.tracks[UT_TRACK_LANE], c.tracks[UT_TRACK_ASYNC],
		   c.tracks[UT_TRACK_COUNTER]);
	ut_about_counts_json(o, c.kinds, &t->losses);
	json_processes(o, t);
	json_keys(o, t);
	ut_out_text(o, "}");
}
