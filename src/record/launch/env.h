/*
 * env.h - the environment that the program gets: ours, with changes.
 *
 * Everything lives in the arena; the strings of the original are shared, not copied.
 */
#ifndef UT_LAUNCH_ENV_H
#define UT_LAUNCH_ENV_H

#include <stdbool.h>
#include <stddef.h>

struct ut_arena;

struct ut_env {
	struct ut_arena *arena; /* not owned */
	char **vars;            /* closed by NULL: what execve() wants */
	size_t count, cap;
};

void ut_env_init(struct ut_env *env, struct ut_arena *a, char *const *from);

/* The value of name; NULL if it is not set. */
const char *ut_env_get(const struct ut_env *env, const char *name);

/* Sets name, replacing every earlier setting. */
void ut_env_set(struct ut_env *env, const char *name, const char *value);

/* Puts a library in front of those that LD_PRELOAD names. False: its path cannot stand there. */
bool ut_env_preload(struct ut_env *env, const char *path);

#endif
