/*
 * diff_rule.h - what a difference must not do: the conditions of `diff --fail-if`.
 *
 *     rules     = rule *("," rule)             \, in a rule is a comma
 *     rule      = ["name~" REGEX ":"] condition
 *     condition = "new" | "vanished" | metric op amount
 *     metric    = count | total | self | mean | min | p50 | p90 | p99 | max
 *     op        = ">" | ">=" | "<" | "<=" | "=" | "!="
 *     amount    = ["-"] NUMBER ("%" | ns | us | ms | s | min | h), for count just NUMBER or "%"
 *
 * A condition is about the change, after minus before: "p50>5%" is met where the median has grown
 * by more than 5 %, "total<-10ms" where 10 ms were saved. A change of durations is met only if it
 * is at least as sure (one run each: as far apart) as asked for; counts, new and vanished names are
 * facts. What is new or has
 * vanished changes its count, total and self time from or to 0, which is no percentage of the one
 * that was not there; its other metrics do not change.
 */
#ifndef UT_ANALYZE_DIFF_RULE_H
#define UT_ANALYZE_DIFF_RULE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyze/diff.h"
#include "base/arena.h"
#include "base/err.h"

struct ut_diff_rule {
	const char *text; /* as the user wrote it */
	bool has_regex;
	regex_t regex; /* for the name */
	enum {
		UT_RULE_NEW,
		UT_RULE_VANISHED,
		UT_RULE_CHANGE
	} type;
	unsigned int metric; /* place in the list of metrics */
	char op[3];
	double amount; /* ns, a number, or percent */
	bool percent;
};

/* A word that rules know, and whether its amounts are times or plain numbers. */
struct ut_rule_metric {
	const char *word;
	bool is_time;
};

/* {0} is none. */
struct ut_diff_rules {
	const struct ut_rule_metric *metrics; /* NULL = those of spans: UT_DIFF_METRIC_LIST */
	size_t metric_count;
	struct ut_arena arena;
	struct ut_diff_rule *items;
	size_t count, cap;
	enum ut_significance least; /* changes that are less sure do not count */
};

/* Adds the rules in text. */
int ut_diff_rules_add(struct ut_diff_rules *r, const char *text, struct ut_err *err) UT_MUST_CHECK;
void ut_diff_rules_release(struct ut_diff_rules *r);

/* Is the rule about what has this name? And does its change meet the condition? */
bool ut_diff_rule_names(const struct ut_diff_rule *rule, const char *name);
bool ut_diff_rule_holds(const struct ut_diff_rule *rule, double old, double new);

/* A rule and a row that meets its condition. */
struct ut_diff_failure {
	const struct ut_diff_rule *rule;
	const struct ut_diff_row *row;
};

/*
 * A gate that compared nothing has not passed: -ENODATA if a side has no spans, if there is a rule
 * that no row could have met or missed, or if one side has spans that never ended, whose lengths
 * were not measured, and the other has not as many. "new" needs no row.
 */
int ut_diff_rules_compared(const struct ut_diff_rules *r, const struct ut_diff *d,
			   struct ut_err *err) UT_MUST_CHECK;

/* -ENODATA, for a rule that was compared with nothing. */
int ut_diff_rule_idle(const struct ut_diff_rule *rule, bool fits, struct ut_err *err) UT_MUST_CHECK;

/* All of them, rule by rule; free() the list. */
struct ut_diff_failure *ut_diff_rules_check(const struct ut_diff_rules *r, const struct ut_diff *d,
					    size_t *count);

#endif
