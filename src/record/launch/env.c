#include "launch/env.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

void ut_env_init(struct ut_env *env, struct ut_arena *a, char *const *from)
{
	size_t n = 0;

	while (from && from[n])
		n++;
	*env = (struct ut_env){ .arena = a, .count = n, .cap = n + 16 };
	env->vars = UT_NEW_N(a, char *, env->cap);
	if (n)
		memcpy(env->vars, from, n * sizeof(*from));
}

static bool is_named(const char *var, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(var, name, len) && var[len] == '=';
}

const char *ut_env_get(const struct ut_env *env, const char *name)
{
	for (size_t i = 0; i < env->count; i++) {
		if (is_named(env->vars[i], name))
			return env->vars[i] + strlen(name) + 1;
	}
	return NULL;
}

static void remove_all(struct ut_env *env, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < env->count; i++) {
		if (!is_named(env->vars[i], name))
			env->vars[kept++] = env->vars[i];
	}
	env->count = kept;
	env->vars[kept] = NULL;
}

void ut_env_set(struct ut_env *env, const char *name, const char *value)
{
	remove_all(env, name);
	if (env->count + 2 > env->cap) {
		char **vars = UT_NEW_N(env->arena, char *, env->cap * 2);

		memcpy(vars, env->vars, env->count * sizeof(*vars));
		env->vars = vars;
		env->cap *= 2;
	}
	env->vars[env->count++] = ut_str_fmt(env->arena, "%s=%s", name, value);
	env->vars[env->count] = NULL;
}

bool ut_env_preload(struct ut_env *env, const char *path)
{
	const char *old = ut_env_get(env, "LD_PRELOAD");

	if (strpbrk(path, ": "))
		return false;
	ut_env_set(env, "LD_PRELOAD",
		   old && old[0] ? ut_str_fmt(env->arena, "%s:%s", path, old) : path);
	return true;
}
