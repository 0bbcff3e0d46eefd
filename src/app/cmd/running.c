#include "cmd/running.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "launch/liveness.h"
#include "wire/control.h"

struct search {
	struct ut_arena *arena;
	const char *name;
	char named[1024]; /* the file of that name */
	char here[PATH_MAX];
	const char *found;
	uint64_t start; /* of what was found */
};

static bool is_here(const struct search *s, const char *dir, const char *pid)
{
	char link[64], cwd[PATH_MAX];
	ssize_t n;

	if (!strcmp(ut_path_dir(s->arena, dir), s->here))
		return true;
	snprintf(link, sizeof(link), "/proc/%.20s/cwd", pid);
	n = readlink(link, cwd, sizeof(cwd) - 1);
	cwd[n > 0 ? n : 0] = '\0';
	return n > 0 && !strcmp(cwd, s->here);
}

static void running_look(void *ctx, const char *dir, const char *pid)
{
	struct search *s = ctx;
	struct ut_control *c;
	bool fits;

	if ((s->found && !strcmp(s->found, dir)) || (!s->name && !is_here(s, dir, pid)))
		return;
	c = ut_control_map(dir);
	if (!c)
		return;
	fits = !s->name || !strncmp(c->state_path, s->named, sizeof(s->named));
	if (fits && (!s->found || c->start.mono > s->start)) {
		s->found = ut_arena_copy(s->arena, dir, strlen(dir));
		s->start = c->start.mono;
	}
	ut_control_close(c);
}

const char *ut_running_find(struct ut_arena *a, const char *name)
{
	struct search s = { .arena = a, .name = name };

	if (name ? ut_named_path(name, s.named, NULL) != 0 : !getcwd(s.here, sizeof(s.here)))
		return NULL;
	ut_liveness_each(running_look, &s);
	return s.found;
}
