/*
 * events.h - what happens, for pages that listen: a stream of lines in the form of server-sent
 * events.
 *
 *     event: changed     something about projects or results is different: ask, if you want to know
 *     event: run         how a run goes: an object, as results have it, once a second at most
 *     event: end         the server ends
 *
 * One thread looks at runs that are under way, at those that the server finds when it starts as
 * well, and takes care of what others have left. Any thread.
 */
#ifndef UT_SITE_EVENTS_H
#define UT_SITE_EVENTS_H

#include <stddef.h>

struct ut_events;
struct ut_site;

struct ut_events *ut_events_new(void);
void ut_events_free(struct ut_events *e); /* NULL is fine */

/* Looks at the site's runs until it is stopped. */
void ut_events_run(struct ut_events *e, struct ut_site *site);
void ut_events_stop(struct ut_events *e);

/* Something about projects or results is different. */
void ut_events_changed(struct ut_events *e);

/* A run is under way there. */
void ut_events_watch(struct ut_events *e, const char *project, const char *result);

#endif
