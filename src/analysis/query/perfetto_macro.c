/* perfetto_macro.c - macros of PerfettoSQL: name!(...) becomes the text that it stands for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "query/perfetto_parts.h"
#include "query/token.h"

/* A macro may double what it is given, again and again: someone has to stop that. */
#define MOST_BYTES ((size_t)1 << 20)
#define MOST_CALLS 10000u
#define MOST_DEPTH 64u

struct expansion {
	const struct ut_perfetto *p;
	struct ut_buf *out;
	struct ut_err *err;
	unsigned int calls, depth;
};

/* Is the word that at follows called as a macro? Then *inside is behind its bracket. */
static bool perfetto_macro_is_call(const char *at, const char **inside)
{
	if (!ut_token_take(&at, "!") || !ut_token_take(&at, "("))
		return false;
	*inside = at;
	return true;
}

bool ut_pf_macro_used(const char *text, const char *end)
{
	while (text < end) {
		struct ut_token t = ut_token_next(&text);
		const char *inside;

		if (t.type == UT_TOKEN_WORD && perfetto_macro_is_call(text, &inside))
			return true;
	}
	return false;
}

/* ---- finding them -------------------------------------------------------------------------- */

static const struct ut_pf_macro *find_own(const struct ut_perfetto *p, const char *name)
{
	const struct ut_pf_macro *m = p->macros;

	while (m && strcasecmp(m->name, name) != 0)
		m = m->next;
	return m;
}

static void split_parameters(struct ut_pf_names *names, struct ut_arena *a, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",");

		names->items =
			ut_grow(names->items, names->count + 1, &names->cap, sizeof(*names->items));
		names->items[names->count++] = ut_arena_copy(a, list, len);
		list += list[len] ? len + 1 : len;
	}
}

static int perfetto_macro_find(const struct expansion *x, const char *name, struct ut_pf_macro *m,
			       struct ut_arena *a)
{
	const struct ut_pf_macro *own = find_own(x->p, name);
	unsigned int distance = 99;
	const char *near = NULL;

	if (own) {
		*m = *own;
		return 0;
	}
	for (const struct ut_pf_library_macro *l = ut_pf_library; l->name; l++) {
		if (!strcasecmp(l->name, name)) {
			*m = (struct ut_pf_macro){ .name = l->name, .body = l->body };
			split_parameters(&m->parameters, a, l->parameters);
			return 1;
		}
		if (ut_str_closer(name, l->name, &distance))
			near = l->name;
	}
	for (own = x->p->macros; own; own = own->next) {
		if (ut_str_closer(name, own->name, &distance))
			near = own->name;
	}
	if (ut_pf_missing(name))
		return ut_err_set(x->err, -EINVAL, "no such macro: %s; %s", name,
				  ut_pf_missing(name));
	return ut_err_set(x->err, -EINVAL, "no such macro: %s%s%s%s", name,
			  near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* ---- replacing them ------------------------------------------------------------------------ */

/* What is given to a call: texts between commas; *at is moved behind the closing bracket. */
static void read_arguments(struct ut_pf_names *given, struct ut_arena *a, const char **at)
{
	const char *end = ut_token_close(*at), *from = *at, *s = *at;
	size_t depth = 0;
	bool any = false;

	for (;;) {
		const char *here = s;
		struct ut_token t = ut_token_next(&s);
		bool last = t.type == UT_TOKEN_END || (!depth && ut_token_is(&t, ")"));

		if (last || (!depth && ut_token_is(&t, ","))) {
			if (last && !any && !given->count)
				break;
			given->items = ut_grow(given->items, given->count + 1, &given->cap,
					       sizeof(*given->items));
			given->items[given->count++] =
				ut_arena_copy(a, from, (size_t)(here - from));
			from = s;
			if (last)
				break;
			continue;
		}
		any |= t.type != UT_TOKEN_SPACE;
		depth += ut_token_is(&t, "(");
		depth -= ut_token_is(&t, ")");
	}
	*at = end;
}

static const char *argument_for(const struct ut_pf_macro *m, const struct ut_pf_names *given,
				const struct ut_token *t)
{
	for (size_t i = 0; t->type == UT_TOKEN_PARAMETER && i < m->parameters.count; i++) {
		const char *name = m->parameters.items[i];

		if (t->text[0] == '$' && strlen(name) == t->len - 1 &&
		    !strncasecmp(name, t->text + 1, t->len - 1))
			return given->items[i];
	}
	return NULL;
}

static int too_much(const struct expansion *x)
{
	return ut_err_set(x->err, -EINVAL,
			  "the macros of this statement never end, or stand for more than 1 MiB");
}

/* The body of a macro with what it is given in place of its parameters. */
static int substitute(const struct expansion *x, const struct ut_pf_macro *m,
		      const struct ut_pf_names *given, struct ut_buf *to)
{
	const char *s = m->body;
	struct ut_token t;

	ut_buf_text(to, "");
	while ((t = ut_token_next(&s)).type != UT_TOKEN_END) {
		const char *argument = argument_for(m, given, &t);

		if (argument)
			ut_buf_text(to, argument);
		else
			ut_buf_add(to, t.text, t.len);
		if (to->len > MOST_BYTES)
			return too_much(x);
	}
	return 0;
}

static int expand(struct expansion *x, const char *text);

static int expand_call(struct expansion *x, const struct ut_token *word, const char **at)
{
	struct ut_arena a = { 0 };
	struct ut_pf_names given = { 0 };
	struct ut_pf_macro m = { 0 };
	struct ut_buf text = { 0 };
	int found, rc;

	found = perfetto_macro_find(x, ut_arena_copy(&a, word->text, word->len), &m, &a);
	rc = found < 0 ? found : 0;
	read_arguments(&given, &a, at);
	if (!rc && given.count != m.parameters.count)
		rc = ut_err_set(x->err, -EINVAL, "%s!() takes %zu arguments, not %zu", m.name,
				m.parameters.count, given.count);
	if (!rc && (++x->calls > MOST_CALLS || x->depth >= MOST_DEPTH))
		rc = too_much(x);
	rc = rc ? rc : substitute(x, &m, &given, &text);
	if (!rc) {
		x->depth++;
		rc = expand(x, text.data);
		x->depth--;
	}
	ut_buf_release(&text);
	free(given.items);
	if (found == 1)
		free(m.parameters.items);
	ut_arena_release(&a);
	return rc;
}

static int expand(struct expansion *x, const char *text)
{
	struct ut_token t;
	int rc = 0;

	while (!rc && (t = ut_token_next(&text)).type != UT_TOKEN_END) {
		const char *inside;

		if (x->out->len > MOST_BYTES) {
			rc = too_much(x);
		} else if (t.type == UT_TOKEN_WORD && perfetto_macro_is_call(text, &inside)) {
			text = inside;
			rc = expand_call(x, &t, &text);
		} else {
			ut_buf_add(x->out, t.text, t.len);
		}
	}
	return rc;
}

int ut_pf_macro_expand(const struct ut_perfetto *p, const char *text, struct ut_buf *out,
		       struct ut_err *err)
{
	struct expansion x = { .p = p, .out = out, .err = err };

	ut_buf_text(out, "");
	return expand(&x, text);
}

/* ---- making them --------------------------------------------------------------------------- */

static struct ut_pf_macro *own_or_new(struct ut_perfetto *p, const char *name)
{
	struct ut_pf_macro *m = p->macros;

	while (m && strcasecmp(m->name, name) != 0)
		m = m->next;
	if (!m) {
		m = UT_NEW(&p->arena, struct ut_pf_macro);
		m->next = p->macros;
		p->macros = m;
	}
	return m;
}

int ut_pf_macro_define(struct ut_perfetto *p, const struct ut_pf_definition *d, struct ut_err *err)
{
	struct ut_pf_macro *m;

	if (!d->replace && find_own(p, d->name))
		return ut_err_set(err, -EINVAL,
				  "macro %s already exists; CREATE OR REPLACE PERFETTO MACRO "
				  "replaces it",
				  d->name);
	m = own_or_new(p, d->name);
	m->name = d->name;
	m->parameters = d->parameters;
	m->body = d->body;
	return 0;
}
