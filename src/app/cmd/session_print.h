/*
 * session_print.h - the command line as a client of a session: its news as lines on stderr.
 */
#ifndef UT_CMD_SESSION_PRINT_H
#define UT_CMD_SESSION_PRINT_H

#include "session/session_news.h"

/* A client for what stderr is now; progress is shown on a terminal only. */
struct ut_session_client ut_session_print(void);

/* What that client does with a piece of news. */
void ut_session_print_news(void *ctx, const struct ut_session_news *news);

#endif
