/*
 * advice.h - what to do first about a program, in one sentence with its evidence: the verdicts of
 * `stats --device`, `kernels` and `ranks`, weighed against each other by how much time each could
 * win. Attached as findings, so that the first of them is the verdict of the page; samples have
 * their own (sample_stacks.h).
 */
#ifndef UT_VIEW_ADVICE_H
#define UT_VIEW_ADVICE_H

struct ut_view;

/* If the traces have devices, or ranks that call each other. */
void ut_view_attach_advice(struct ut_view *v);

#endif
