/*
 * view_stage.h - the view that is shown now. A trace that grows is a row of views, each larger than
 * the one before; who asks holds on to the one that was there, and the next takes its place
 * meanwhile.
 *
 * Nobody waits: taking, giving back and showing are a few instructions under a lock, views are made
 * before and freed after it. Any thread.
 */
#ifndef UT_VIEW_VIEW_STAGE_H
#define UT_VIEW_VIEW_STAGE_H

struct ut_stage;
struct ut_view;

struct ut_stage *ut_stage_new(void);
void ut_stage_free(struct ut_stage *s); /* nobody has taken anything; NULL is fine */

/* The view is taken over, and is ready. */
void ut_stage_show(struct ut_stage *s, struct ut_view *v);

/* The latest; NULL = none has been shown yet. To be given back. */
struct ut_view *ut_stage_take(struct ut_stage *s);
void ut_stage_give(struct ut_stage *s, struct ut_view *v);

/* ut_view_interrupt() for all that somebody has, and for those that are taken from now on. */
void ut_stage_interrupt(struct ut_stage *s);

#endif
