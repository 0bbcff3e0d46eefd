/*
 * session_print.h - the command line as a client of a session: its events as lines on stderr.
 */
#ifndef UT_CMD_SESSION_PRINT_H
#define UT_CMD_SESSION_PRINT_H

#include "session/session_event.h"

/* A client for what stderr is now; progress is shown on a terminal only. */
struct ut_session_client ut_session_print(void);

/* What that client does with an event. */
void ut_session_print_event(void *ctx, const struct ut_session_event *event);

#endif
