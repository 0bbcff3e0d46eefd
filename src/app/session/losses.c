#include "session/losses.h"

#include <inttypes.h>
#include <stddef.h>

#include "model/trace.h"
#include "session/session_news.h"

void ut_losses_report(const struct ut_session_client *client, const struct ut_losses *l)
{
	const struct {
		enum ut_loss loss;
		uint64_t count;
		const char *one, *many, *what;
	} kinds[] = {
		{ UT_LOSS_DROPPED, l->dropped, "record", "records",
		  "found no room and went missing (disk full or down to its reserve, or "
		  "--max-size or ulimit -f reached)" },
		{ UT_LOSS_TORN, l->torn, "record", "records",
		  "got cut off when the process ended" },
		{ UT_LOSS_STRAY, l->stray_ends, "end", "ends", "of a task came without a begin" },
		{ UT_LOSS_IMPLICIT, l->implicit_ends, "task", "tasks",
		  "ended only because an outer one did" },
		{ UT_LOSS_UNFINISHED, l->seen_ends, "task", "tasks",
		  "never ended; shown up to the end of the process" },
		{ UT_LOSS_UNFINISHED, l->unfinished - l->seen_ends, "task", "tasks",
		  "never ended; shown up to the last sign of life" },
		{ UT_LOSS_UNKNOWN, l->unknown, "record", "records",
		  "of a kind that this version does not know" },
		{ UT_LOSS_UNREAD, l->unread, "piece", "pieces", "of a file could not be read" },
	};
	struct ut_session_news news = { .kind = UT_NEWS_LOST, .level = UT_WARN };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		news.loss = kinds[i].loss;
		news.count = kinds[i].count;
		if (news.count)
			ut_session_say(client, news, "%" PRIu64 " %s %s", news.count,
				       news.count == 1 ? kinds[i].one : kinds[i].many,
				       kinds[i].what);
	}
	news.level = UT_INFO;
	news.loss = UT_LOSS_OLDER;
	news.count = l->overwritten;
	if (news.count)
		ut_session_say(client, news,
			       "flight recorder: %" PRIu64 " older chunks were recorded over",
			       news.count);
	news.loss = UT_LOSS_IGNORED;
	news.count = l->ignored;
	if (news.count)
		ut_session_say(client, news,
			       "%" PRIu64 " calls came from threads that asked to be ignored",
			       news.count);
}
