/* session.c - see session.h. */
#include "collect/session.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "import/contract.h"
#include "import/spool/reader.h"
#include "wire/control.h"

struct watch {
	struct contract contract; /* first */
	struct session *s;
};

static void __attribute__((format(printf, 2, 3))) say(struct session *s, const char *format, ...)
{
	va_list args;

	s->text = ut_grow(s->text, s->len + 4096, &s->cap, 1);
	va_start(args, format);
	s->len += (size_t)vsnprintf(s->text + s->len, 4096, format, args);
	va_end(args);
}

static const char *text_of(const struct ut_trace *t, uint32_t id)
{
	return ut_strtab_get(&t->strings, id).ptr;
}

static void say_args(struct session *s, const struct ut_trace *t, uint32_t at)
{
	for (; t->args[at].type != UT_ARG_END; at++) {
		const struct ut_arg *a = &t->args[at];

		if (a->type == UT_ARG_STR)
			say(s, " %s='%s'", text_of(t, a->key), text_of(t, a->value.str));
		else if (a->type == UT_ARG_F64)
			say(s, " %s=%g", text_of(t, a->key), a->value.f64);
		else
			say(s, " %s=%" PRId64, text_of(t, a->key), a->value.i64);
	}
}

static void see(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	static const char *const kinds[] = {
#define KIND_NAME(kind, text, val) text,
		UT_KIND_LIST(KIND_NAME)
#undef KIND_NAME
	};
	struct watch *w = (struct watch *)(void *)sink;

	contract_event(&w->contract, t, e);
	say(w->s, "%s %s", kinds[e->kind], text_of(t, e->name));
	if (e->kind == UT_KIND_COUNTER)
		say(w->s, "=%" PRIu64, e->val);
	if (e->kind == UT_KIND_COUNTER && t->tracks[e->track].unit)
		say(w->s, " %s", text_of(t, t->tracks[e->track].unit));
	if (e->flags & UT_EV_UNFINISHED)
		say(w->s, " unfinished");
	if (e->flags & UT_EV_IMPLICIT_END)
		say(w->s, " implicit");
	say_args(w->s, t, e->args);
	say(w->s, "\n");
}

static void read_spool(struct session *s, const char *path)
{
	struct watch w = { .contract.sink.event = see, .s = s };
	struct ut_trace trace;

	ut_trace_init(&trace);
	assert_int_equal(ut_import_spool(path, &trace, &w.contract.sink, NULL), 0);
	contract_trace(&w.contract, &trace);
	s->ignored += trace.losses.ignored;
	s->unfinished += trace.losses.unfinished;
	s->stray_ends += trace.losses.stray_ends;
	contract_release(&w.contract);
	ut_trace_release(&trace);
}

int session_make(void **state)
{
	struct session *s = calloc(1, sizeof(*s));

	*state = s;
	snprintf(s->dir, sizeof(s->dir), "/tmp/ut_collect_XXXXXX");
	if (!mkdtemp(s->dir) || ut_control_create(s->dir, &s->control, NULL))
		return -1;
	s->control->flags = UT_CONTROL_FOLLOW_CHILDREN;
	return 0;
}

int session_drop(void **state)
{
	struct session *s = *state;
	int rc = ut_path_remove_tree(s->dir, NULL);

	ut_control_close(s->control);
	free(s->text);
	free(s);
	return rc;
}

void session_run(struct session *s, void (*program)(void))
{
	struct ut_spool_info *list = NULL;
	pid_t pid = fork();

	if (!pid) {
		setenv(UT_SESSION_ENV, s->dir, 1);
		program();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &s->status, 0), pid);
	assert_int_equal(ut_spool_list(s->dir, &list, &s->spools, NULL), 0);
	s->len = 0;
	say(s, "%s", "");
	for (size_t i = 0; i < s->spools; i++)
		read_spool(s, list[i].path);
	free(list);
}
