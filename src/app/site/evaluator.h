/*
 * evaluator.h - the verdict of a result: the one sentence that its Summary begins with, kept beside
 * it for lists.
 *
 *     verdict.json    {"verdict":"Host-bound", "tone":"bad", "say":..., "why":...}; all are ""
 * where there is nothing to say
 *
 * One thread asks the result's viewer, as the page would, one result after the other: when a run
 * has ended, when a trace was imported, and when somebody looks at a result that has none. Any
 * thread.
 */
#ifndef UT_SITE_EVALUATOR_H
#define UT_SITE_EVALUATOR_H

#include <stdbool.h>

struct ut_evaluator;
struct ut_site;

struct ut_evaluator *ut_evaluator_new(void);
void ut_evaluator_free(struct ut_evaluator *j); /* NULL is fine */

void ut_evaluator_run(struct ut_evaluator *j, struct ut_site *site);
void ut_evaluator_stop(struct ut_evaluator *j);

/* Evaluates it soon, unless it has been. anew: even then. */
void ut_evaluator_add(struct ut_evaluator *j, const char *project, const char *result, bool anew);

#endif
