#include "view/attached.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/view.h"
#include "view/view_parts.h"

static const char *attached_copied(struct ut_view *v, const char *text)
{
	return text ? ut_arena_copy(&v->arena, text, strlen(text)) : NULL;
}

void ut_view_attached_release(struct ut_view_attached *a)
{
	for (size_t i = 0; i < a->sheet_count; i++)
		ut_out_abandon(a->sheets[i].json);
	free(a->sheets);
	free(a->links);
}

/* Where a sheet of this name is or belongs: behind the others of its tool. */
static size_t attached_place_of(const struct ut_view_attached *a, const char *tool,
				const char *name)
{
	size_t at = a->sheet_count;

	for (size_t i = 0; i < a->sheet_count; i++) {
		if (strcmp(a->sheets[i].tool, tool) != 0)
			continue;
		if (!strcmp(a->sheets[i].name, name))
			return i;
		at = i + 1;
	}
	return at;
}

static bool is_at(const struct ut_view_attached *a, size_t at, const char *tool, const char *name)
{
	return at < a->sheet_count && !strcmp(a->sheets[at].tool, tool) &&
	       !strcmp(a->sheets[at].name, name);
}

static void put_sheet(struct ut_view *v, struct ut_view_sheet sheet)
{
	struct ut_view_attached *a = &v->attached;
	size_t at = attached_place_of(a, sheet.tool, sheet.name);

	if (is_at(a, at, sheet.tool, sheet.name)) {
		ut_out_abandon(a->sheets[at].json);
		a->sheets[at].json = sheet.json;
		a->sheets[at].make = sheet.make;
		return;
	}
	a->sheets = ut_grow(a->sheets, a->sheet_count + 1, &a->sheet_cap, sizeof(*a->sheets));
	memmove(&a->sheets[at + 1], &a->sheets[at], (a->sheet_count - at) * sizeof(*a->sheets));
	a->sheet_count++;
	sheet.tool = attached_copied(v, sheet.tool);
	sheet.title = attached_copied(v, sheet.title);
	sheet.name = attached_copied(v, sheet.name);
	a->sheets[at] = sheet;
}

void ut_view_attach(struct ut_view *v, const char *tool, const char *title, const char *name,
		    struct ut_out *json)
{
	put_sheet(v, (struct ut_view_sheet){ tool, title, name, json, NULL });
}

void ut_view_attach_later(struct ut_view *v, const char *tool, const char *title, const char *name,
			  ut_view_sheet_maker make)
{
	put_sheet(v, (struct ut_view_sheet){ tool, title, name, NULL, make });
}

const char *ut_view_sheet_json(struct ut_view *v, size_t sheet, size_t *len)
{
	struct ut_view_sheet *s = &v->attached.sheets[sheet];
	const char *json;

	pthread_mutex_lock(&v->sheet_lock);
	if (!s->json) {
		s->json = ut_out_open_memory();
		s->make(v, s->json);
	}
	json = ut_out_data(s->json, len); /* it writes a NUL behind it */
	pthread_mutex_unlock(&v->sheet_lock);
	return json;
}

void ut_view_group(struct ut_view *v, size_t trace, uint32_t track, const char *group)
{
	struct ut_view_trace *t = &v->traces[trace];

	if (!t->groups)
		t->groups = ut_make((t->store->trace.track_count + 1) * sizeof(*t->groups));
	t->groups[track] = attached_copied(v, group);
}

void ut_view_describe(struct ut_view *v, const struct ut_view_about *about)
{
	v->attached.input = attached_copied(v, about->input);
	v->attached.subtitle = attached_copied(v, about->subtitle);
	v->attached.first = attached_copied(v, about->first);
	v->attached.address = attached_copied(v, about->address);
	v->attached.no_file = about->no_file;
}

void ut_view_link(struct ut_view *v, const char *path, const char *title)
{
	struct ut_view_attached *a = &v->attached;

	a->links = ut_grow(a->links, a->link_count + 1, &a->link_cap, sizeof(*a->links));
	a->links[a->link_count++] =
		(struct ut_view_file_link){ attached_copied(v, path), attached_copied(v, title) };
}

void ut_view_allow_again(struct ut_view *v)
{
	v->attached.again = true;
}

void ut_view_allow_code(struct ut_view *v)
{
	v->code = true;
}

size_t ut_view_traces(const struct ut_view *v)
{
	return v->trace_count;
}

struct ut_store *ut_view_store(struct ut_view *v, size_t trace)
{
	return v->traces[trace].store;
}

uint64_t ut_view_slices(const struct ut_view *v)
{
	return v->slices;
}

uint64_t ut_view_span(const struct ut_view *v)
{
	return v->span;
}

uint64_t ut_view_since(const struct ut_view *v, size_t trace, uint64_t ts)
{
	const struct ut_view_track as_track = { .trace = &v->traces[trace] };

	return ut_view_time(&as_track, ts);
}

int ut_answer_sheet(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err)
{
	for (size_t i = 0; i < v->attached.sheet_count; i++) {
		const char *json;
		size_t len;

		if (!ut_ask_is(a->tool, v->attached.sheets[i].tool) ||
		    !ut_ask_is(a->name, v->attached.sheets[i].name))
			continue;
		json = ut_view_sheet_json(v, i, &len);
		ut_out_write(out, json, len);
		return 0;
	}
	return ut_err_set(err, -EINVAL, "no such sheet: %.*s of %.*s",
			  a->name.len < 60 ? (int)a->name.len : 60, a->name.ptr ? a->name.ptr : "",
			  a->tool.len < 60 ? (int)a->tool.len : 60, a->tool.ptr ? a->tool.ptr : "");
}
