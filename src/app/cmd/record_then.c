#include "cmd/record_then.h"

#include <string.h>

#include "base/arena.h"
#include "base/opt.h"
#include "cmd/cmd.h"
#include "cmd/record_options.h"
#include "cmd/record_run.h"
#include "cmd/words.h"
#include "launch/run.h"
#include "session/session_run.h"

struct written {
	struct ut_arena *arena;
	struct ut_words words;
};

static void note_results(void *ctx, const char *const *paths, uint64_t count)
{
	struct written *w = ctx;

	w->words.items = UT_NEW_N(w->arena, const char *, count + 1);
	for (uint64_t i = 0; i < count; i++)
		w->words.items[i] = ut_arena_copy(w->arena, paths[i], strlen(paths[i]));
	w->words.count = (int)count;
}

int ut_record_then(const struct ut_record_then *t, struct ut_arena *a, int argc,
		   const char *const *argv)
{
	struct written w = { .arena = a };
	struct ut_session_plan *plan = &t->record->plan;
	struct ut_session_result result = { 0 };
	struct ut_err err = { 0 };
	int status;

	plan->argc = argc;
	plan->argv = argv;
	status = ut_record_run(&(struct ut_record_run){ .cmd = t->cmd,
							.plan = plan,
							.view = &t->record->view,
							.results = note_results,
							.ctx = &w },
			       &result);
	if (status >= 0)
		return status;
	if (w.words.count && t->report(t->ctx, &w.words, &err)) {
		status = ut_cmd_fail(t->cmd, &err);
		if (!result.status)
			return status;
	}
	ut_launch_end_as(result.status);
}

size_t ut_record_pick(const struct ut_opt *from, const char *const *names, size_t count,
		      struct ut_opt *to)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		for (const struct ut_opt *o = from; o->type; o++) {
			if (o->name && !strcmp(o->name, names[i]))
				to[found++] = *o;
		}
	}
	return found;
}
