#include "acelyzer/event_arg.h"

#include <stdlib.h>

#include "base/grow.h"

#define MOST_ARGS 256 /* of a list that is looked into; the rest is passed on unread */

bool ut_ace_arg(const struct ut_ace_table *t, uint32_t list, uint32_t key, struct ut_arg *arg)
{
	struct ut_arg args[MOST_ARGS];
	size_t n = list ? ut_arglists_get(&t->lists, list, args, MOST_ARGS) : 0;

	for (size_t i = 0; i < n && i < MOST_ARGS; i++) {
		if (args[i].key == key) {
			*arg = args[i];
			return true;
		}
	}
	return false;
}

/* All arguments of a list, in memory that the caller frees; room for one more. */
static struct ut_arg *copy_list(const struct ut_ace_table *t, uint32_t list, size_t *count)
{
	size_t n = list ? ut_arglists_get(&t->lists, list, NULL, 0) : 0;
	struct ut_arg *args = ut_make((n + 1) * sizeof(*args));

	if (n)
		ut_arglists_get(&t->lists, list, args, n);
	*count = n;
	return args;
}

uint32_t ut_ace_arg_set(struct ut_ace_table *t, uint32_t list, const struct ut_arg *arg)
{
	size_t n, i;
	struct ut_arg *args = copy_list(t, list, &n);

	for (i = 0; i < n && args[i].key != arg->key; i++)
		;
	args[i] = *arg;
	list = ut_arglists_add(&t->lists, args, i == n ? n + 1 : n);
	free(args);
	return list;
}

uint32_t ut_ace_arg_drop(struct ut_ace_table *t, uint32_t list, uint32_t key)
{
	size_t n, kept = 0;
	struct ut_arg *args = copy_list(t, list, &n);

	for (size_t i = 0; i < n; i++) {
		if (args[i].key != key)
			args[kept++] = args[i];
	}
	if (kept < n)
		list = ut_arglists_add(&t->lists, args, kept);
	free(args);
	return list;
}

struct ut_arg ut_ace_str_arg(uint32_t key, uint32_t str)
{
	return (struct ut_arg){ .key = key, .type = UT_ARG_STR, .value.str = str };
}

struct ut_arg ut_ace_num_arg(uint32_t key, double value)
{
	return (struct ut_arg){ .key = key, .type = UT_ARG_F64, .value.f64 = value };
}

struct ut_arg ut_ace_int_arg(uint32_t key, int64_t value)
{
	return (struct ut_arg){ .key = key, .type = UT_ARG_I64, .value.i64 = value };
}

bool ut_ace_arg_num(const struct ut_ace_table *t, const struct ut_arg *arg, double *value)
{
	struct ut_str s;
	char *end;

	switch ((enum ut_arg_type)arg->type) {
	case UT_ARG_U64:
	case UT_ARG_PTR:
	case UT_ARG_BOOL:
		*value = (double)arg->value.u64;
		return true;
	case UT_ARG_I64:
		*value = (double)arg->value.i64;
		return true;
	case UT_ARG_F64:
		*value = arg->value.f64;
		return true;
	case UT_ARG_STR:
	case UT_ARG_JSON:
		s = ut_ace_str(t, arg->value.str);
		*value = strtod(s.ptr, &end);
		return s.len && end != s.ptr && (size_t)(end - s.ptr) == s.len;
	case UT_ARG_END:
		break;
	}
	return false;
}
