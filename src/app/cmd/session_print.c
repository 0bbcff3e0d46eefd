#include "cmd/session_print.h"

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/term.h"
#include "session/recordings.h"
#include "text/cells.h"

void ut_session_print_event(void *ctx, const struct ut_session_event *event)
{
	(void)ctx;
	switch (event->kind) {
	/* Intel's unitrace says these, too. */
	case UT_SESSION_EVENT_SHARED_NAME:
	case UT_SESSION_EVENT_RANK_LEFT_OUT:
	case UT_SESSION_EVENT_SILENT_PROCESS:
	case UT_SESSION_EVENT_TIMELINE:
	case UT_SESSION_EVENT_REPORT:
		ut_log_classic(event->level, "%s", event->text);
		break;
	case UT_SESSION_EVENT_REMARK:
		ut_log_line(event->level, event->module ? event->module : "session", "%s",
			    event->text);
		break;
	case UT_SESSION_EVENT_GROWING:
	case UT_SESSION_EVENT_COULD_NOT_RECORD:
	case UT_SESSION_EVENT_LOST:
	case UT_SESSION_EVENT_EMPTY:
	case UT_SESSION_EVENT_NO_DEVICE:
	case UT_SESSION_EVENT_TEST_TRACES:
	case UT_SESSION_EVENT_STILL_RUNNING:
	case UT_SESSION_EVENT_KEPT:
	case UT_SESSION_EVENT_FAILED:
		ut_log(event->level, "%s", event->text);
		break;
	case UT_SESSION_EVENT_STARTING:
		ut_log(UT_DEBUG, "the recording is kept in %s", event->path);
		break;
	case UT_SESSION_EVENT_SIZE:
		/* Not while a shell or another program has the terminal. */
		if (!event->text || tcgetpgrp(STDERR_FILENO) == getpgrp())
			ut_log_state(event->text);
		break;
	case UT_SESSION_EVENT_PROGRESS:
		ut_log_state(event->text);
		break;
	case UT_SESSION_EVENT_TABLE:
		fprintf(stderr, "\n%s\n", event->text);
		break;
	case UT_SESSION_EVENT_RESULTS:
		if (!ut_recordings_note(event->paths, event->count, event->rank))
			ut_log(UT_DEBUG, "the last recording cannot be noted");
		break;
	case UT_SESSION_EVENT_NOT_STARTED:
	case UT_SESSION_EVENT_ENDED:
	case UT_SESSION_EVENT_FINISHED:
		break; /* the command and its exit status are about these */
	}
}

struct ut_session_client ut_session_print(void)
{
	bool terminal = ut_term_is_screen(STDERR_FILENO);

	return (struct ut_session_client){
		.notify = ut_session_print_event,
		.wants_progress = ut_term_moves(STDERR_FILENO),
		/* What the program prints on the same terminal would be mixed with it. */
		.wants_size = ut_term_moves(STDERR_FILENO) && !isatty(STDOUT_FILENO),
		/* Names of C++ templates would leave nothing but blanks before short ones. */
		.name_columns = terminal ? UT_CELL_PAD : 0,
		.screen = terminal ? ut_term_columns(STDERR_FILENO) : 0,
		.colour = terminal && ut_term_has_colour(STDERR_FILENO),
	};
}
