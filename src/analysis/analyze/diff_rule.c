#include "analyze/diff_rule.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/regex.h"
#include "base/size.h"
#include "base/str.h"

static const struct ut_rule_metric span_metrics[] = {
#define UT_RULE_METRIC(metric, word) { word, UT_DIFF_METRIC_##metric != UT_DIFF_METRIC_COUNT },
	UT_DIFF_METRIC_LIST(UT_RULE_METRIC)
#undef UT_RULE_METRIC
};

static int parse_metric(const struct ut_diff_rules *r, const char **at, struct ut_diff_rule *rule)
{
	for (size_t i = 0; i < r->metric_count; i++) {
		const char *word = r->metrics[i].word;
		size_t len = strlen(word);
		char next = strncmp(*at, word, len) ? 'a' : (*at)[len];

		if (!isalnum((unsigned char)next) && next != '_') {
			rule->metric = (unsigned int)i;
			*at += len;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_op(const char **at, char op[3])
{
	static const char *const ops[] = { ">=", "<=", "!=", "==", ">", "<", "=" };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		size_t len = strlen(ops[i]);

		if (!strncmp(*at, ops[i], len)) {
			memcpy(op, ops[i][0] == '=' ? "=" : ops[i], ops[i][0] == '=' ? 2 : len + 1);
			*at += len;
			return 0;
		}
	}
	return -EINVAL;
}

static const char *skip_blank(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

/* What a bare number of nanoseconds or seconds would be, people do not agree upon. */
static int parse_amount(const char *at, bool is_time, struct ut_diff_rule *rule)
{
	bool negative = *at == '-';
	char *end;
	uint64_t ns;

	at += negative || *at == '+';
	if (!isdigit((unsigned char)*at) && *at != '.')
		return -EINVAL;
	rule->amount = strtod(at, &end);
	if (!isfinite(rule->amount))
		return -EINVAL; /* a rule that no trace could break */
	end += strspn(end, " ");
	rule->percent = !strcmp(end, "%");
	if (!rule->percent && *end) {
		if (!is_time || ut_time_parse(at, &ns, NULL))
			return -EINVAL;
		rule->amount = (double)ns;
	} else if (!rule->percent && is_time && rule->amount != 0) {
		return -EINVAL;
	}
	rule->amount = negative ? -rule->amount : rule->amount;
	return 0;
}

static int parse_condition(const struct ut_diff_rules *r, struct ut_diff_rule *rule, const char *at)
{
	at = skip_blank(at);
	rule->type = !strcmp(at, "new")        ? UT_RULE_NEW
		     : !strcmp(at, "vanished") ? UT_RULE_VANISHED
					       : UT_RULE_CHANGE;
	if (rule->type != UT_RULE_CHANGE)
		return 0;
	if (parse_metric(r, &at, rule))
		return -EINVAL;
	at = skip_blank(at);
	if (parse_op(&at, rule->op))
		return -EINVAL;
	return parse_amount(skip_blank(at), r->metrics[rule->metric].is_time, rule);
}

static int compile_regex(struct ut_diff_rule *rule, const char *text, struct ut_err *err)
{
	int rc = ut_regex_extended(&rule->regex, text, err);

	rule->has_regex = !rc;
	return rc;
}

/* text is ours to cut up. */
static int parse_rule(const struct ut_diff_rules *r, struct ut_diff_rule *rule, char *text,
		      struct ut_err *err)
{
	const char *condition = text;
	char *colon = strrchr(text, ':');
	int rc;

	if (ut_str_starts(text, "name~")) {
		if (!colon)
			return ut_err_set(err, -EINVAL, "'%s' lacks ':' and a condition", text);
		*colon = '\0';
		rc = compile_regex(rule, text + strlen("name~"), err);
		if (rc)
			return rc;
		condition = colon + 1;
	}
	if (parse_condition(r, rule, condition))
		return ut_err_set(err, -EINVAL,
				  "'%s' is no condition; such are p50>5%%, total>10ms, count!=0, "
				  "new, vanished",
				  condition);
	return 0;
}

/* The rule up to the next comma; *at moves behind it, or becomes NULL. */
static char *next_rule(struct ut_arena *a, const char **at)
{
	struct ut_buf b = { 0 };
	const char *p = skip_blank(*at);

	for (; *p && *p != ','; p++) {
		p += p[0] == '\\' && p[1] == ',';
		ut_buf_char(&b, *p);
	}
	*at = *p ? p + 1 : NULL;
	while (b.len && b.data[b.len - 1] == ' ')
		b.len--;
	return ut_buf_take(&b, a);
}

int ut_diff_rules_add(struct ut_diff_rules *r, const char *text, struct ut_err *err)
{
	if (!r->metrics) {
		r->metrics = span_metrics;
		r->metric_count = sizeof(span_metrics) / sizeof(span_metrics[0]);
	}
	while (text) {
		char *word = next_rule(&r->arena, &text);
		struct ut_diff_rule *rule;
		int rc;

		r->items = ut_grow(r->items, r->count + 1, &r->cap, sizeof(*r->items));
		rule = &r->items[r->count++];
		rule->text = ut_arena_copy(&r->arena, word, strlen(word));
		rc = parse_rule(r, rule, word, err);
		if (rc)
			return rc;
	}
	return 0;
}

void ut_diff_rules_release(struct ut_diff_rules *r)
{
	for (size_t i = 0; i < r->count; i++) {
		if (r->items[i].has_regex)
			regfree(&r->items[i].regex);
	}
	free(r->items);
	ut_arena_release(&r->arena);
	*r = (struct ut_diff_rules){ 0 };
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool diff_rule_holds(double value, const char *op, double amount)
{
	if (!strcmp(op, ">="))
		return value >= amount;
	if (!strcmp(op, "<="))
		return value <= amount;
	if (!strcmp(op, "!="))
		return value != amount;
	if (op[0] == '=')
		return value == amount;
	return op[0] == '>' ? value > amount : value < amount;
}

bool ut_diff_rule_names(const struct ut_diff_rule *rule, const char *name)
{
	return !rule->has_regex || !regexec(&rule->regex, name, 0, NULL, 0);
}

bool ut_diff_rule_holds(const struct ut_diff_rule *rule, double old, double new)
{
	if (rule->percent && !(old > 0))
		return false;
	return diff_rule_holds(rule->percent ? 100 * (new - old) / old : new - old, rule->op,
			       rule->amount);
}

static bool names_row(const struct ut_diff_rule *rule, const struct ut_diff *d,
		      const struct ut_diff_row *row)
{
	const uint32_t *key;
	const struct ut_stats *s = ut_diff_texts(d, row, &key);

	return ut_diff_rule_names(rule, ut_strtab_get(&s->strings, key[UT_BY_NAME]).ptr);
}

/* Were lengths measured? Those of spans that never ended were not. */
static bool has_lengths(const struct ut_stats_group *g)
{
	return !g || g->unfinished < g->dist.count;
}

/* Sums change from or to 0, but not by a percentage of 0; the others need spans on both sides. */
static bool is_comparable(const struct ut_diff_rule *rule, const struct ut_diff_row *row)
{
	if (rule->type == UT_RULE_VANISHED)
		return row->before;
	if (rule->type == UT_RULE_CHANGE && rule->metric != UT_DIFF_METRIC_COUNT &&
	    (!has_lengths(row->before) || !has_lengths(row->after)))
		return false;
	if (rule->type == UT_RULE_NEW || (row->before && row->after))
		return true;
	return rule->metric <= UT_DIFF_METRIC_SELF && (row->before || !rule->percent);
}

static bool is_met(const struct ut_diff_rules *r, const struct ut_diff_rule *rule,
		   const struct ut_diff *d, const struct ut_diff_row *row)
{
	if (!names_row(rule, d, row) || !is_comparable(rule, row))
		return false;
	if (rule->type != UT_RULE_CHANGE)
		return rule->type == UT_RULE_NEW ? !row->before : !row->after;
	if (rule->metric != UT_DIFF_METRIC_COUNT && row->significance < r->least)
		return false;
	return ut_diff_rule_holds(rule, row->old[rule->metric], row->new[rule->metric]);
}

int ut_diff_rule_idle(const struct ut_diff_rule *rule, bool fits, struct ut_err *err)
{
	return ut_err_set(err, -ENODATA, "nothing was compared for --fail-if '%s': %s", rule->text,
			  fits ? "no name that it fits has this, measured, on both sides"
			       : "it fits no name on either side");
}

/* Spans of a run that never ended: a killed run has them, its counterpart has not. */
static double unfinished(const struct ut_diff_side *side, const struct ut_stats_group *g)
{
	return g && side->run_count ? (double)g->unfinished / (double)side->run_count : 0;
}

static int check_ends(const struct ut_diff_rule *rule, const struct ut_diff *d,
		      const struct ut_diff_row *row, struct ut_err *err)
{
	double before = unfinished(d->before, row->before);
	double after = unfinished(d->after, row->after);
	const uint32_t *key;
	const struct ut_stats *s = ut_diff_texts(d, row, &key);
	const bool both = row->before && row->after;
	const bool sum = rule->metric <= UT_DIFF_METRIC_SELF && (row->before || !rule->percent);

	if (rule->type != UT_RULE_CHANGE || rule->metric == UT_DIFF_METRIC_COUNT ||
	    (!both && !sum) || before == after)
		return 0;
	return ut_err_set(err, -ENODATA,
			  "--fail-if '%s' cannot be decided: '%s' never ended %g times before and "
			  "%g times after, so its lengths were not measured",
			  rule->text, ut_strtab_get(&s->strings, key[UT_BY_NAME]).ptr, before,
			  after);
}

/* Calls that are far apart, and so few that this may be chance, are no reason to pass. */
static int check_few(const struct ut_diff_rules *r, const struct ut_diff_rule *rule,
		     const struct ut_diff *d, const struct ut_diff_row *row, struct ut_err *err)
{
	const uint32_t *key;
	const struct ut_stats *s = ut_diff_texts(d, row, &key);

	if (rule->type != UT_RULE_CHANGE || rule->metric == UT_DIFF_METRIC_COUNT || !row->few ||
	    row->significance >= r->least || !is_comparable(rule, row) ||
	    !ut_diff_rule_holds(rule, row->old[rule->metric], row->new[rule->metric]))
		return 0;
	return ut_err_set(err, -ENODATA,
			  "--fail-if '%s' cannot be decided: '%s' has changed that much, but %g "
			  "and %g calls are too few to tell this from chance (compare several runs "
			  "with --against, leave out what is rare with --min-count, or take every "
			  "change for real with --confidence noise)",
			  rule->text, ut_strtab_get(&s->strings, key[UT_BY_NAME]).ptr,
			  row->old[UT_DIFF_METRIC_COUNT], row->new[UT_DIFF_METRIC_COUNT]);
}

int ut_diff_rules_compared(const struct ut_diff_rules *r, const struct ut_diff *d,
			   struct ut_err *err)
{
	bool before = false, after = false, both = false;

	if (!r->count)
		return 0;
	for (size_t k = 0; k < d->count; k++) {
		before |= d->rows[k].before != NULL;
		after |= d->rows[k].after != NULL;
		both |= d->rows[k].before && d->rows[k].after;
	}
	if (!before || !after)
		return ut_err_set(err, -ENODATA,
				  "nothing was compared: %s no spans, or none that the options "
				  "choose",
				  before  ? "the run after has"
				  : after ? "the run before has"
					  : "both runs have");
	if (!both)
		return ut_err_set(err, -ENODATA, "nothing was compared: no name is on both sides");
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_diff_rule *rule = &r->items[i];
		bool fits = false, compared = rule->type == UT_RULE_NEW;

		for (size_t k = 0; k < d->count; k++) {
			int rc = 0;

			if (!names_row(rule, d, &d->rows[k]))
				continue;
			fits = true;
			compared |= is_comparable(rule, &d->rows[k]);
			rc = check_ends(rule, d, &d->rows[k], err);
			if (!rc)
				rc = check_few(r, rule, d, &d->rows[k], err);
			if (rc)
				return rc;
		}
		if (!compared)
			return ut_diff_rule_idle(rule, fits, err);
	}
	return 0;
}

struct ut_diff_failure *ut_diff_rules_check(const struct ut_diff_rules *r, const struct ut_diff *d,
					    size_t *count)
{
	struct ut_diff_failure *list = NULL;
	size_t cap = 0;

	*count = 0;
	for (size_t i = 0; i < r->count; i++) {
		for (size_t k = 0; k < d->count; k++) {
			if (!is_met(r, &r->items[i], d, &d->rows[k]))
				continue;
			list = ut_grow(list, *count + 1, &cap, sizeof(*list));
			list[(*count)++] = (struct ut_diff_failure){ &r->items[i], &d->rows[k] };
		}
	}
	return list;
}
