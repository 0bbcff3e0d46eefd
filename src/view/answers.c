#include "view/answers.h"

#include <errno.h>
#include <string.h>

#include "query/query.h"
#include "text/out.h"
#include "view/ask.h"
#include "view/view.h"
#include "view/view_parts.h"

static const struct {
	const char *method;
	int (*answer)(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		      struct ut_err *err);
} methods[] = {
	{ "info", ut_answer_info },
	{ "places", ut_answer_places },
	{ "types", ut_answer_types },
	{ "window", ut_answer_window },
	{ "flows", ut_answer_flows },
	{ "detail", ut_answer_detail },
	{ "at", ut_answer_at },
	{ "step", ut_answer_step },
	{ "search", ut_answer_search },
	{ "find", ut_answer_find },
	{ "aggregate", ut_answer_aggregate },
	{ "findings", ut_answer_findings },
	{ "list", ut_answer_list },
	{ "distribution", ut_answer_distribution },
	{ "tree", ut_answer_tree },
	{ "sql", ut_answer_sql },
	{ "words", ut_answer_words },
	{ "notes", ut_answer_notes },
	{ "note", ut_answer_note },
	{ "sheet", ut_answer_sheet },
};

int ut_view_ask(struct ut_view *v, const char *method, struct ut_str json, struct ut_out *out,
		enum ut_answer *kind, struct ut_err *err)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct ut_ask ask;
		int rc;

		if (strcmp(method, methods[i].method) != 0)
			continue;
		rc = ut_ask_read(&ask, json.ptr, json.len, err);
		if (rc)
			return rc;
		*kind = !strcmp(method, "window") ? UT_ANSWER_COLUMNS : UT_ANSWER_JSON;
		rc = methods[i].answer(v, &ask, out, err);
		ut_ask_release(&ask);
		return rc;
	}
	return ut_err_set(err, -ENOENT, "no such question: %.60s", method);
}

void ut_view_interrupt(struct ut_view *v)
{
	v->stopped = true;
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
