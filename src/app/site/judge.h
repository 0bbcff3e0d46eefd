/*
 * judge.h - the verdict of a result: the one sentence that its Summary begins with, kept beside it
 * for lists.
 *
 *     verdict.json    {"verdict":"Host-bound", "tone":"bad", "say":..., "why":...}; all are ""
 * where there is nothing to say
 *
 * One thread asks the result's viewer, as the page would, one result after the other: when a run
 * has ended, when a trace was imported, and when somebody looks at a result that has none. Any
 * thread.
 */
#ifndef UT_SITE_JUDGE_H
#define UT_SITE_JUDGE_H

#include <stdbool.h>

struct ut_judge;
struct ut_site;

struct ut_judge *ut_judge_new(void);
void ut_judge_free(struct ut_judge *j); /* NULL is fine */

void ut_judge_run(struct ut_judge *j, struct ut_site *site);
void ut_judge_stop(struct ut_judge *j);

/* Judges it soon, unless it has been. anew: even then. */
void ut_judge_add(struct ut_judge *j, const char *project, const char *result, bool anew);

#endif
