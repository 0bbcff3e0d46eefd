#include "session/session_event.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void ut_session_notify(const struct ut_session_client *client, struct ut_session_event event)
{
	int saved_errno = errno;

	if (client && client->notify)
		client->notify(client->ctx, &event);
	errno = saved_errno;
}

void ut_session_notify_text(const struct ut_session_client *client, struct ut_session_event event,
			    const char *fmt, ...)
{
	char text[2048]; /* as long as a line of the log can be */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	event.text = text;
	ut_session_notify(client, event);
}

static void session_event_take_line(void *ctx, enum ut_log_level level, const char *module,
				    const char *text)
{
	ut_session_notify(ctx, (struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
							  .level = level,
							  .module = module,
							  .text = text });
}

static void take_state(void *ctx, const char *text)
{
	ut_session_notify(
		ctx, (struct ut_session_event){ .kind = UT_SESSION_EVENT_PROGRESS, .text = text });
}

struct ut_logger ut_session_logger(struct ut_session_client *client)
{
	return (struct ut_logger){ .line = session_event_take_line,
				   .state = client->wants_progress ? take_state : NULL,
				   .ctx = client };
}
