/*
 * losses.h - the sentences about what is missing in the results: a full disk, records that were cut
 * off, tasks that never ended.
 *
 * The counts come from the recording (model/trace.h: UT_LOSSES_LIST); spools count in their header.
 */
#ifndef UT_SESSION_LOSSES_H
#define UT_SESSION_LOSSES_H

struct ut_losses;
struct ut_session_client;

/* One event, UT_SESSION_EVENT_LOST, for each kind that is not 0. */
void ut_losses_report(const struct ut_session_client *client, const struct ut_losses *losses);

#endif
