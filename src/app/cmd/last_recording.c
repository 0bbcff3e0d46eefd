#include "cmd/last_recording.h"

#include "base/log.h"
#include "cmd/words.h"
#include "mpijob/job.h"
#include "session/recordings.h"

/* Of the ranks of a job only the first speaks. */
static bool may_speak(void)
{
	return !ut_job_look().rank;
}

static bool report_missing(const char *gone)
{
	if (may_speak() && gone)
		ut_log(UT_ERR,
		       "no trace given, and the last recording made here, %s, is gone; name a "
		       "trace, or record a program: unitrace PROGRAM",
		       gone);
	else if (may_speak())
		ut_log(UT_ERR, "no trace given, and no recording was made in this directory; name "
			       "a trace, or record a program: unitrace PROGRAM");
	return false;
}

bool ut_last_recording_fill(struct ut_words *words, struct ut_arena *a)
{
	struct ut_recording last;

	if (words->count)
		return true;
	last = ut_recordings_last(a);
	if (!last.count)
		return report_missing(last.first);
	words->items = last.paths;
	words->count = last.count;
	if (may_speak() && words->count > 1)
		ut_log(UT_INFO, "no trace given: taking the last recording, %s and %d more",
		       words->items[0], words->count - 1);
	else if (may_speak())
		ut_log(UT_INFO, "no trace given: taking the last recording, %s", words->items[0]);
	return true;
}
