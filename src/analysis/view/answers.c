#include "view/answers.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/thread_pool.h"
#include "query/query.h"
#include "text/out.h"
#include "view/ask.h"
#include "view/view.h"
#include "view/view_parts.h"

typedef int (*answer_fn)(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
			 struct ut_err *err);

/* aside: may look at every row. While it does, on all cores, others still move about. */
static const struct {
	const char *method;
	answer_fn answer;
	bool aside;
} methods[] = {
	{ "info", ut_answer_info, false },
	{ "places", ut_answer_places, false },
	{ "types", ut_answer_types, false },
	{ "window", ut_answer_window, false },
	{ "flows", ut_answer_flows, false },
	{ "detail", ut_answer_detail, false },
	{ "at", ut_answer_at, false },
	{ "step", ut_answer_step, false },
	{ "search", ut_answer_search, true },
	{ "find", ut_answer_find, true },
	{ "aggregate", ut_answer_aggregate, true },
	{ "findings", ut_answer_findings, true },
	{ "list", ut_answer_list, true },
	{ "distribution", ut_answer_distribution, true },
	{ "tree", ut_answer_tree, true },
	{ "sql", ut_answer_sql, true },
	{ "words", ut_answer_words, false },
	{ "notes", ut_answer_notes, false },
	{ "note", ut_answer_note, false },
	{ "sheet", ut_answer_sheet, false },
	{ "stacks", ut_answer_stacks, true },
	{ "annotate", ut_answer_annotate, true },
	{ "stalls", ut_answer_stalls, true },
};

struct asked {
	answer_fn answer;
	struct ut_view *view;
	const struct ut_ask *ask;
	struct ut_out *out;
	struct ut_err *err;
	int rc;
};

static void answer_asked(void *ctx)
{
	struct asked *a = ctx;

	a->rc = a->answer(a->view, a->ask, a->out, a->err);
}

int ut_view_ask(struct ut_view *v, const char *method, struct ut_str json, struct ut_out *out,
		enum ut_answer *kind, struct ut_err *err)
{
	static const char before[] = "before/";

	if (v->before && !strncmp(method, before, sizeof(before) - 1))
		return ut_view_ask(v->before, method + sizeof(before) - 1, json, out, kind, err);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct ut_ask ask;
		struct asked asked = { methods[i].answer, v, &ask, out, err, 0 };
		int rc;

		if (strcmp(method, methods[i].method) != 0)
			continue;
		rc = ut_ask_read(&ask, json.ptr, json.len, err);
		if (rc)
			return rc;
		*kind = !strcmp(method, "window") ? UT_ANSWER_COLUMNS : UT_ANSWER_JSON;
		if (methods[i].aside)
			ut_thread_pool_run_background(answer_asked, &asked);
		else
			answer_asked(&asked);
		ut_ask_release(&ask);
		return asked.rc;
	}
	return ut_err_set(err, -ENOENT, "no such question: %.60s", method);
}

void ut_view_interrupt(struct ut_view *v)
{
	v->stopped = true;
	if (v->before)
		ut_view_interrupt(v->before);
	if (v->query)
		ut_query_interrupt(v->query);
}

void ut_put_ref(struct ut_out *out, const struct ut_view *v, const struct ut_view_row *row,
		int open)
{
	struct ut_str name = ut_view_type_name(v, row->type), cat = ut_view_type_cat(v, row->type);

	ut_out_text(out, "{\"id\":");
	ut_out_u64(out, ut_view_id(v, row->track, row->row));
	ut_out_text(out, ",\"name\":");
	ut_out_json_str(out, name.ptr, name.len);
	ut_out_text(out, ",\"cat\":");
	ut_out_json_str(out, cat.ptr, cat.len);
	ut_out_text(out, ",\"t\":");
	ut_out_u64(out, row->start);
	ut_out_text(out, ",\"dur\":");
	ut_out_u64(out, row->end - row->start);
	ut_out_text(out, open ? "" : "}");
}
