#include "make_flex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/profile.h"
#include "acelyzer/stage.h"
#include "make_run.h"

void flex_add(struct ut_buf *b, const struct flex_span *s)
{
	int part = strstr(s->name, " DmaI")        ? 0
		   : strstr(s->name, " Cmpt Prep") ? 1
		   : strstr(s->name, " Cmpt Exec") ? 2
						   : 3;

	ut_buf_fmt(b,
		   "%s{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
		   "\"args\":{",
		   b->len ? ",\n" : "[", s->name, s->rank, part, s->from, s->to - s->from);
	for (int i = 0; i < 5; i++)
		ut_buf_fmt(b, "%s\"TS%d\":\"%lld\"", i ? "," : "", i + 1,
			   (long long)((i <= part ? s->from : s->to) * 1000));
	if (s->group)
		ut_buf_fmt(b, ",\"CollGroup\":\"%s\"", s->group);
	if (s->peer)
		ut_buf_fmt(b, ",\"Peer\":\"%s\"", s->peer);
	if (s->power > 0)
		ut_buf_fmt(b, ",\"Power\":\"%.0f\"", s->power);
	ut_buf_text(b, "}}");
}

static int watch(void *ctx, struct ut_aiu *a, unsigned int number, const char *stage,
		 struct ut_err *err)
{
	(void)number;
	(void)err;
	ut_ace_extra_after(ctx, a, stage);
	return 0;
}

void flex_run_text(struct ut_aiu *a, struct ut_ace_extra *x, const struct ut_ace_opts *opts,
		   const char *text)
{
	const char *texts[] = { text, NULL };
	struct ut_ace_profile profile;
	struct ut_err err = { 0 };

	make_run(a, opts, texts);
	ut_ace_profile_all(&profile, opts->release);
	ut_ace_extra_init(x, a);
	assert_int_equal(ut_ace_run(a, &profile, watch, x, &err), 0);
	assert_int_equal(ut_ace_pass_sort_final(a), 0);
	ut_ace_extra_finish(x, a, NULL);
}

void flex_run(struct ut_aiu *a, struct ut_ace_extra *x, const struct flex_span *spans, size_t n)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_buf b = { 0 };

	opts.no_mp_sync = true;
	for (size_t i = 0; i < n; i++)
		flex_add(&b, &spans[i]);
	ut_buf_text(&b, "]");
	flex_run_text(a, x, &opts, b.data);
	ut_buf_release(&b);
}
