#include "session/losses.h"

#include <inttypes.h>
#include <stddef.h>

#include "model/trace.h"
#include "session/session_event.h"

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
	struct ut_session_event event = { .kind = UT_SESSION_EVENT_LOST, .level = UT_WARN };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		event.loss = kinds[i].loss;
		event.count = kinds[i].count;
		if (event.count)
			ut_session_notify_text(client, event, "%" PRIu64 " %s %s", event.count,
					       event.count == 1 ? kinds[i].one : kinds[i].many,
					       kinds[i].what);
	}
	event.level = UT_INFO;
	event.loss = UT_LOSS_OLDER;
	event.count = l->overwritten;
	if (event.count)
		ut_session_notify_text(client, event,
				       "flight recorder: %" PRIu64
				       " older chunks were recorded over",
				       event.count);
	event.loss = UT_LOSS_IGNORED;
	event.count = l->ignored;
	if (event.count)
		ut_session_notify_text(client, event,
				       "%" PRIu64
				       " calls came from threads that asked to be ignored",
				       event.count);
}
