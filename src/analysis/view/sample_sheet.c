#include "view/sample_stacks.h"

#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/store.h"
#include "sample/hot_verdict.h"
#include "sample/prof.h"
#include "sample/sample_walk.h"
#include "text/out.h"
#include "view/annotated.h"
#include "view/attached.h"
#include "view/view_parts.h"

#define MOST_MOMENTS 1000000u /* of a page: beyond, it cannot be narrowed */

/* ---- when each sample was ------------------------------------------------------------------- */

/* Columns of one track: times as steps, so that they pack well. */
enum {
	TIME,
	NODE,
	WEIGHT,
	TASK,
	COLUMNS
};

struct telling {
	const struct ut_view *view;
	const struct ut_view_trace *trace;
	struct ut_out *out;
	struct ut_buf columns[COLUMNS];
	uint32_t track; /* of the trace */
	uint32_t thread, process;
	uint64_t last; /* time */
	uint64_t count;
	bool any;
};

static void end_track(struct telling *t)
{
	static const char *const keys[COLUMNS] = {
		[TIME] = "t", [NODE] = "node", [WEIGHT] = "weight", [TASK] = "task"
	};
	const struct ut_view_track *track;

	if (!t->columns[TIME].len)
		return;
	track = &t->view->tracks[t->trace->first_track + t->track];
	ut_out_fmt(t->out, "%s{\"place\":%u,\"thread\":%u,\"process\":%u", t->any ? "," : "",
		   track->place, t->thread, t->process);
	for (unsigned int i = 0; i < COLUMNS; i++) {
		ut_out_fmt(t->out, ",\"%s\":[", keys[i]);
		ut_out_write(t->out, t->columns[i].data, t->columns[i].len);
		ut_out_text(t->out, "]");
		t->columns[i].len = 0;
	}
	ut_out_text(t->out, "}");
	t->any = true;
	t->last = 0;
}

static void tell(void *ctx, const struct ut_prof_moment *m)
{
	struct telling *t = ctx;
	uint64_t time = ut_view_since(t->view, (size_t)(t->trace - t->view->traces), m->ts);
	const uint64_t cells[COLUMNS] = {
		[NODE] = m->node, [WEIGHT] = m->weight, [TASK] = m->path
	};

	if (t->count++ >= MOST_MOMENTS)
		return;
	if (m->track != t->track)
		end_track(t);
	t->track = m->track;
	t->thread = m->group[UT_GROUP_THREAD];
	t->process = m->group[UT_GROUP_PROCESS];
	for (unsigned int i = 0; i < COLUMNS; i++) {
		uint64_t cell = i == TIME ? time - t->last : cells[i];

		ut_buf_fmt(&t->columns[i], "%s%llu", t->columns[i].len ? "," : "",
			   (unsigned long long)cell);
	}
	t->last = time;
}

/* ---- the sheet ------------------------------------------------------------------------------ */

/* Samples of one event: the tree, then the moments. */
static void put_event(struct ut_view *v, const char *event, struct ut_out *out)
{
	struct telling t = { .view = v, .out = ut_out_open_memory() };
	const struct ut_prof_opts opts = { .event = event, .each = tell, .ctx = &t };
	struct ut_prof p;
	const char *text;
	size_t len;

	ut_prof_init(&p, &opts);
	for (size_t i = 0; i < v->trace_count; i++) {
		t.trace = &v->traces[i];
		ut_prof_add(&p, t.trace->store);
		end_track(&t);
	}
	ut_prof_settle(&p);
	ut_put_stacks(out, v, &p);
	text = ut_out_data(t.out, &len);
	if (t.count <= MOST_MOMENTS) {
		ut_out_text(out, ",\"moments\":[");
		ut_out_write(out, text, len);
		ut_out_text(out, "]");
	}
	ut_out_text(out, "}");
	ut_out_abandon(t.out);
	for (unsigned int i = 0; i < COLUMNS; i++)
		ut_buf_release(&t.columns[i]);
	ut_prof_release(&p);
}

struct making {
	struct ut_view *view;
	struct ut_out *out;
	const struct ut_strtab *strings;
	struct ut_buf done; /* names, each between NULs */
	bool any;
};

static void make_event(void *ctx, uint32_t event)
{
	struct making *m = ctx;
	struct ut_str name = ut_strtab_get(m->strings, event);

	for (size_t at = 0; at < m->done.len; at += strlen(m->done.data + at) + 1) {
		if (!strcmp(m->done.data + at, name.ptr))
			return;
	}
	ut_buf_add(&m->done, name.ptr, name.len);
	ut_buf_char(&m->done, '\0');
	ut_out_text(m->out, m->any ? "," : "");
	put_event(m->view, name.ptr, m->out);
	m->any = true;
}

/* What the question without an event is about comes first. */
static void make_samples(struct ut_view *v, struct ut_out *out)
{
	struct making m = { .view = v, .out = out };

	ut_out_text(out, "{\"events\":[");
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_store *s = v->traces[i].store;
		uint32_t usual = ut_sample_event(s, NULL);

		m.strings = &s->trace.strings;
		if (usual)
			make_event(&m, usual);
	}
	for (size_t i = 0; i < v->trace_count; i++) {
		m.strings = &v->traces[i].store->trace.strings;
		ut_sample_events(v->traces[i].store, make_event, &m);
	}
	ut_out_text(out, "]}");
	ut_buf_release(&m.done);
}

/* What to optimise first is the verdict of the page, where no device is what it is about. */
static void make_findings(struct ut_view *v, struct ut_out *out)
{
	struct ut_stacks_scope scope = { .view = v };
	struct ut_prof_opts opts = { .event = NULL };
	struct ut_hot_verdict verdict;
	struct ut_prof p;

	ut_view_profile(&p, &opts, &scope);
	ut_hot_verdict_init(&verdict, &p);
	ut_out_text(out, "[");
	for (size_t i = 0; i < verdict.count; i++) {
		const struct ut_hot_verdict_line *l = &verdict.lines[i];

		ut_out_fmt(out, "%s{\"tone\":\"%s\",\"tab\":\"hotspots\",\"say\":", i ? "," : "",
			   i ? "" : "warn");
		ut_out_json_str(out, l->say.data, l->say.len);
		ut_out_text(out, ",\"why\":");
		ut_out_json_str(out, l->why.data ? l->why.data : "", l->why.len);
		ut_out_text(out, l->is_unseen ? ",\"about\":\"unseen\"}" : "}");
	}
	ut_out_text(out, "]");
	ut_hot_verdict_release(&verdict);
	ut_prof_release(&p);
}

static bool has_device(const struct ut_view *v)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (uint32_t n = 0; n < t->process_count; n++) {
			if (ut_is_device(t, n))
				return true;
		}
	}
	return false;
}

static bool has_samples(const struct ut_store *s)
{
	for (uint32_t i = 0; i < s->types.count; i++) {
		if (ut_store_type(s, i)->kind == UT_KIND_SAMPLE)
			return ut_sample_event(s, NULL) != 0;
	}
	return false;
}

void ut_view_attach_stacks(struct ut_view *v)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		if (!has_samples(v->traces[i].store))
			continue;
		ut_view_attach_later(v, "hotspots", "Hotspots", "samples", make_samples);
		ut_view_attach_later(v, "hotspots", "Hotspots", "code", ut_make_code_sheet);
		if (!has_device(v))
			ut_view_attach_later(v, "hotspots", "Hotspots", "findings", make_findings);
		return;
	}
}
