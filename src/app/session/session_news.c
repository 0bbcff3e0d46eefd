#include "session/session_news.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void ut_session_tell(const struct ut_session_client *client, struct ut_session_news news)
{
	int saved_errno = errno;

	if (client && client->notify)
		client->notify(client->ctx, &news);
	errno = saved_errno;
}

void ut_session_say(const struct ut_session_client *client, struct ut_session_news news,
		    const char *fmt, ...)
{
	char text[2048]; /* as long as a line of the log can be */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	news.text = text;
	ut_session_tell(client, news);
}

static void take_line(void *ctx, enum ut_log_level level, const char *room, const char *text)
{
	ut_session_tell(
		ctx, (struct ut_session_news){
			     .kind = UT_NEWS_REMARK, .level = level, .room = room, .text = text });
}

static void take_state(void *ctx, const char *text)
{
	ut_session_tell(ctx, (struct ut_session_news){ .kind = UT_NEWS_PROGRESS, .text = text });
}

struct ut_logger ut_session_logger(struct ut_session_client *client)
{
	return (struct ut_logger){ .line = take_line,
				   .state = client->wants_progress ? take_state : NULL,
				   .ctx = client };
}
