#include "category/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/regex.h"

void ut_schema_release(struct ut_schema *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->rules[i].regex)
			regfree(s->rules[i].regex);
	}
	free(s->rules);
	ut_arena_release(&s->arena);
	*s = (struct ut_schema){ 0 };
}

/* Without blanks and tabs, in the arena. */
static struct ut_str squeezed(struct ut_arena *a, struct ut_str text)
{
	char *to = ut_arena_copy(a, text.ptr, text.len);
	size_t len = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] != ' ' && text.ptr[i] != '\t')
			to[len++] = text.ptr[i];
	}
	to[len] = '\0';
	return (struct ut_str){ to, len };
}

static struct ut_str schema_copied(struct ut_arena *a, struct ut_str text)
{
	return (struct ut_str){ ut_arena_copy(a, text.ptr, text.len), text.len };
}

int ut_schema_add(struct ut_schema *s, const struct ut_rule *rule, struct ut_err *err)
{
	bool squeeze = s->ignore_spaces && rule->kind != UT_RULE_MATCHES;
	struct ut_rule mine = *rule;
	int rc = 0;

	mine.text = (squeeze ? squeezed : schema_copied)(&s->arena, rule->text);
	mine.category = schema_copied(&s->arena, rule->category);
	mine.regex = NULL;
	if (rule->kind == UT_RULE_MATCHES) {
		mine.regex = UT_NEW(&s->arena, regex_t);
		rc = ut_regex(mine.regex, mine.text.ptr, mine.text.len, err);
	}
	if (rc)
		return rc;
	s->rules = ut_grow(s->rules, s->count + 1, &s->cap, sizeof(*s->rules));
	s->rules[s->count++] = mine;
	return 0;
}

/* ---- which rule fits ----------------------------------------------------------------------- */

static bool begins(struct ut_str name, struct ut_str start)
{
	return name.len >= start.len && !memcmp(name.ptr, start.ptr, start.len);
}

static bool ends(struct ut_str name, struct ut_str end)
{
	return name.len >= end.len && !memcmp(name.ptr + (name.len - end.len), end.ptr, end.len);
}

static bool schema_fits(const struct ut_rule *rule, struct ut_str name)
{
	switch (rule->kind) {
	case UT_RULE_EQUALS:
		return ut_str_eq(name, rule->text);
	case UT_RULE_STARTS:
		return begins(name, rule->text);
	case UT_RULE_ENDS:
		return ends(name, rule->text);
	case UT_RULE_CONTAINS:
		return rule->text.len && memmem(name.ptr, name.len, rule->text.ptr, rule->text.len);
	case UT_RULE_MATCHES:
	case UT_RULES:
		break;
	}
	return false;
}

/* Rules that look at the beginning come first, then the end, then the inside. */
static int order_of(enum ut_rule_kind kind)
{
	return kind == UT_RULE_EQUALS || kind == UT_RULE_STARTS ? 0 : kind == UT_RULE_ENDS ? 1 : 2;
}

/*
 * Does a go before b, the best so far? All of a name says more than its beginning; of two rules
 * with one text the later wins, as in the original. What looks inside is taken in its order.
 */
static bool better(const struct ut_rule *a, const struct ut_rule *b)
{
	int by_kind = order_of(a->kind) - order_of(b->kind);

	if (by_kind || order_of(a->kind) == 2)
		return by_kind < 0;
	if (a->text.len != b->text.len)
		return a->text.len > b->text.len;
	return a->kind <= b->kind;
}

static const struct ut_rule *best_rule(const struct ut_schema *s, struct ut_str name,
				       const char *whole)
{
	const struct ut_rule *best = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const struct ut_rule *rule = &s->rules[i];
		bool fit = rule->regex ? !regexec(rule->regex, whole, 0, NULL, 0)
				       : schema_fits(rule, name);

		if (fit && (!best || better(rule, best)))
			best = rule;
	}
	return best;
}

struct ut_str ut_schema_category(const struct ut_schema *s, struct ut_str name)
{
	struct ut_arena scratch = { 0 };
	const char *whole = ut_arena_copy(&scratch, name.ptr, name.len);
	const struct ut_rule *rule =
		best_rule(s, s->ignore_spaces ? squeezed(&scratch, name) : name, whole);

	ut_arena_release(&scratch);
	return rule ? rule->category : (struct ut_str){ 0 };
}
