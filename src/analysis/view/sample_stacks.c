#include "view/sample_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/store.h"
#include "sample/hot_summary.h"
#include "sample/prof.h"
#include "sample/sample_walk.h"
#include "sample/whose.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/view_parts.h"

/* ---- which samples -------------------------------------------------------------------------- */

static bool is_in(const struct ut_ask_scope *s, uint64_t time)
{
	size_t low = 0, high = s->range_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->ranges[mid].to <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->range_count && s->ranges[low].from <= time;
}

static bool sample_stacks_is_wanted(void *ctx, const struct ut_sample_seen *e)
{
	const struct ut_stacks_scope *s = ctx;
	const struct ut_view_track *t = &s->view->tracks[s->trace->first_track + e->track];

	if (s->tracks && !s->tracks[t - s->view->tracks])
		return false;
	return !s->ask->scope.has_ranges || is_in(&s->ask->scope, ut_view_time(t, e->ts));
}

/* Rows that are named after a thread, such as its waits, are of no use here: a thread is. */
static void choose_tracks(struct ut_stacks_scope *s)
{
	const struct ut_ask_scope *of = &s->ask->scope;

	s->tracks = ut_make((s->view->track_count + 1u) * sizeof(*s->tracks));
	for (size_t i = 0; i < of->track_count; i++) {
		if (of->tracks[i] < s->view->track_count)
			s->tracks[of->tracks[i]] = true;
	}
}

void ut_view_profile(struct ut_prof *p, struct ut_prof_opts *opts, struct ut_stacks_scope *scope)
{
	const struct ut_view *v = scope->view;

	if (scope->ask && scope->ask->scope.has_tracks)
		choose_tracks(scope);
	if (scope->ask && (scope->tracks || scope->ask->scope.has_ranges)) {
		opts->wanted = sample_stacks_is_wanted;
		opts->ctx = scope;
	}
	ut_prof_init(p, opts);
	for (size_t i = 0; i < v->trace_count; i++) {
		scope->trace = &v->traces[i];
		ut_prof_add(p, scope->trace->store);
	}
	ut_prof_finalize(p);
	free(scope->tracks);
	scope->tracks = NULL;
}

/* ---- what was sampled ----------------------------------------------------------------------- */

struct events {
	const struct ut_strtab *strings;
	struct ut_str names[16];
	size_t count;
};

static void note_event(void *ctx, uint32_t event)
{
	struct events *e = ctx;
	struct ut_str name = ut_strtab_get(e->strings, event);

	for (size_t i = 0; i < e->count; i++) {
		if (!ut_str_cmp(e->names[i], name))
			return;
	}
	if (e->count < sizeof(e->names) / sizeof(e->names[0]))
		e->names[e->count++] = name;
}

static void put_events(struct ut_out *out, const struct ut_view *v)
{
	struct events e = { .count = 0 };

	for (size_t i = 0; i < v->trace_count; i++) {
		e.strings = &v->traces[i].store->trace.strings;
		ut_sample_events(v->traces[i].store, note_event, &e);
	}
	ut_out_text(out, ",\"events\":[");
	for (size_t i = 0; i < e.count; i++) {
		ut_out_text(out, i ? "," : "");
		ut_out_json_str(out, e.names[i].ptr, e.names[i].len);
	}
	ut_out_text(out, "]");
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Numbers of one member of an array of structs. */
struct column {
	const char *key;
	size_t at, size; /* offset, 4 or 8 bytes */
};

#define COLUMN(of, member, key)                                                                    \
	{                                                                                          \
		key, offsetof(of, member), sizeof(((of *)0)->member)                               \
	}

static void put_columns(struct ut_out *out, const struct column *c, size_t columns,
			const void *items, size_t stride, size_t count)
{
	for (size_t i = 0; i < columns; i++) {
		ut_out_fmt(out, "%s\"%s\":[", i ? "," : "", c[i].key);
		for (size_t n = 0; n < count; n++) {
			const char *at = (const char *)items + n * stride + c[i].at;
			uint32_t narrow;
			uint64_t wide;

			if (c[i].size == sizeof(narrow)) {
				memcpy(&narrow, at, sizeof(narrow));
				wide = narrow;
			} else {
				memcpy(&wide, at, sizeof(wide));
			}
			ut_out_text(out, n ? "," : "");
			ut_out_u64(out, wide);
		}
		ut_out_text(out, "]");
	}
}

static void sample_stacks_put_frames(struct ut_out *out, const struct ut_prof *p)
{
	static const struct column columns[] = {
		COLUMN(struct ut_prof_frame, function, "function"),
		COLUMN(struct ut_prof_frame, module, "module"),
		COLUMN(struct ut_prof_frame, file, "file"),
		COLUMN(struct ut_prof_frame, line, "line"),
	};

	ut_out_text(out, ",\"frames\":{");
	put_columns(out, columns, sizeof(columns) / sizeof(columns[0]), p->frames,
		    sizeof(*p->frames), p->frame_count);
	/* 0 to 3: whose; 4: of an interpreter; 8: of a script */
	ut_out_text(out, ",\"whose\":[");
	for (size_t i = 0; i < p->frame_count; i++) {
		const struct ut_prof_frame *f = &p->frames[i];

		ut_out_text(out, i ? "," : "");
		ut_out_u64(out, (uint64_t)ut_prof_owner(p, f) |
					(ut_prof_is_interpreter(p, f) ? 4u : 0) |
					(ut_prof_is_script(p, f) ? 8u : 0));
	}
	ut_out_text(out, "]}");
}

static void put_nodes(struct ut_out *out, const struct ut_prof *p)
{
	static const struct column columns[] = {
		COLUMN(struct ut_prof_node, parent, "parent"),
		COLUMN(struct ut_prof_node, frame, "frame"),
		COLUMN(struct ut_prof_node, self, "self"),
		COLUMN(struct ut_prof_node, samples, "samples"),
	};

	ut_out_text(out, ",\"nodes\":{");
	put_columns(out, columns, sizeof(columns) / sizeof(columns[0]), p->nodes, sizeof(*p->nodes),
		    p->node_count);
	ut_out_text(out, "}");
}

static void put_groups(struct ut_out *out, const struct ut_prof *p)
{
	static const struct column columns[] = {
		COLUMN(struct ut_prof_group, name, "name"),
		COLUMN(struct ut_prof_group, process, "process"),
		COLUMN(struct ut_prof_group, id, "id"),
		COLUMN(struct ut_prof_group, weight, "weight"),
		COLUMN(struct ut_prof_group, total, "total"),
		COLUMN(struct ut_prof_group, samples, "samples"),
	};
	static const struct column of_paths[] = {
		COLUMN(struct ut_prof_path, parent, "parent"),
		COLUMN(struct ut_prof_path, group, "task"),
	};
	static const char *const keys[UT_GROUPS] = {
		[UT_GROUP_THREAD] = "thread",
		[UT_GROUP_TASK] = "task",
		[UT_GROUP_PROCESS] = "process",
	};

	ut_out_text(out, ",\"groups\":{");
	for (unsigned int i = 0; i < UT_GROUPS; i++) {
		ut_out_fmt(out, "%s\"%s\":{", i ? "," : "", keys[i]);
		put_columns(out, columns, sizeof(columns) / sizeof(columns[0]), p->groups[i].items,
			    sizeof(*p->groups[i].items), p->groups[i].count);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "},\"paths\":{");
	put_columns(out, of_paths, sizeof(of_paths) / sizeof(of_paths[0]), p->paths,
		    sizeof(*p->paths), p->path_count);
	ut_out_text(out, "}");
}

static void put_strings(struct ut_out *out, const struct ut_prof *p)
{
	ut_out_text(out, ",\"strings\":[\"\"");
	for (uint32_t i = 1; i <= p->strings.count; i++) {
		struct ut_str s = ut_prof_text(p, i);

		ut_out_text(out, ",");
		ut_out_json_str(out, s.ptr, s.len);
	}
	ut_out_text(out, "]");
}

/* ---- the answer ----------------------------------------------------------------------------- */

static void put_summary(struct ut_out *out, const struct ut_prof *p)
{
	struct ut_hot_summary v;

	ut_hot_summary_init(&v, p);
	ut_out_text(out, ",\"verdict\":[");
	for (size_t i = 0; i < v.count; i++) {
		const struct ut_hot_summary_line *l = &v.lines[i];

		ut_out_fmt(out, "%s{\"function\":%u,\"say\":", i ? "," : "", l->function);
		ut_out_json_str(out, l->say.data, l->say.len);
		ut_out_text(out, ",\"why\":");
		ut_out_json_str(out, l->why.data ? l->why.data : "", l->why.len);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "]");
	ut_hot_summary_release(&v);
}

void ut_put_stacks(struct ut_out *out, const struct ut_view *v, const struct ut_prof *p)
{
	struct ut_str event = ut_prof_text(p, p->event);

	ut_out_text(out, "{\"event\":");
	ut_out_json_str(out, event.ptr, event.len);
	put_events(out, v);
	ut_out_fmt(out, ",\"unit\":\"%s\",\"weight\":", ut_prof_unit(p));
	ut_out_u64(out, p->weight);
	ut_out_text(out, ",\"samples\":");
	ut_out_u64(out, p->samples);
	ut_out_text(out, ",\"span\":");
	ut_out_u64(out, p->span);
	sample_stacks_put_frames(out, p);
	put_nodes(out, p);
	put_groups(out, p);
	put_strings(out, p);
	put_summary(out, p);
}

int ut_answer_stacks(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err)
{
	struct ut_stacks_scope scope = { .view = v, .ask = a };
	struct ut_prof_opts opts = { .event = a->event.len ? a->event.ptr : NULL };
	struct ut_prof p;

	(void)err;
	ut_view_profile(&p, &opts, &scope);
	ut_put_stacks(out, v, &p);
	ut_out_text(out, "}");
	ut_prof_release(&p);
	return 0;
}
