#include "cmd/view_show.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "ops/view_sheet.h"
#include "serve/serve.h"
#include "text/out.h"
#include "view/view_stage.h"

void ut_show_init(struct ut_show *s)
{
	s->stage = ut_stage_new();
	s->state.read = 1;
	pthread_mutex_init(&s->lock, NULL);
}

void ut_show_release(struct ut_show *s)
{
	ut_stage_free(s->stage);
	pthread_mutex_destroy(&s->lock);
	ut_buf_release(&s->trouble);
	ut_buf_release(&s->ended);
}

static void fill_state(struct ut_show *s, struct ut_view *v)
{
	s->state.trouble = s->trouble.len ? s->trouble.data : NULL;
	s->state.ended = s->ended.len ? s->ended.data : NULL;
	ut_view_set_state(v, &s->state);
}

static void view_show_report(struct ut_show *s, const char *event, struct ut_out *out)
{
	size_t len;
	const char *text = ut_out_data(out, &len);

	ut_serve_notify(s->server, event, text, len);
	ut_out_abandon(out);
}

void ut_show_view(struct ut_show *s, struct ut_view *v)
{
	static const struct ut_str all = { "{}", 2 };
	struct ut_out *out = ut_out_open_memory();
	struct ut_err err = { 0 };
	enum ut_answer kind;

	ut_view_ready(v, s->threads);
	if (s->code)
		ut_view_allow_code(v);
	if (s->state.read >= 1 && !s->state.live) /* the last one: all is there */
		ut_ops_attach(v, UT_OPS_VIEW_SLICES);
	s->state.generation++;
	fill_state(s, v);
	if (!ut_view_ask(v, "info", all, out, &kind, &err)) {
		ut_stage_show(s->stage, v);
		view_show_report(s, NULL, out);
	} else {
		ut_stage_show(s->stage, v);
		ut_out_abandon(out);
	}
}

void ut_show_state(struct ut_show *s)
{
	struct ut_view *v = ut_stage_take(s->stage);
	struct ut_out *out;

	if (!v)
		return;
	fill_state(s, v);
	out = ut_out_open_memory();
	ut_view_put_state(v, out);
	ut_stage_give(s->stage, v);
	view_show_report(s, "state", out);
}

void ut_show_trouble(struct ut_show *s, const char *text)
{
	pthread_mutex_lock(&s->lock);
	ut_buf_fmt(&s->trouble, "%s%s", s->trouble.len ? "\n" : "", text);
	ut_show_state(s);
	pthread_mutex_unlock(&s->lock);
}
