#include "cmd/session_print.h"

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/term.h"
#include "session/recordings.h"
#include "text/cells.h"

void ut_session_print_news(void *ctx, const struct ut_session_news *news)
{
	(void)ctx;
	switch (news->kind) {
	/* Intel's unitrace says these, too. */
	case UT_NEWS_SHARED_NAME:
	case UT_NEWS_RANK_LEFT_OUT:
	case UT_NEWS_SILENT_PROCESS:
	case UT_NEWS_TIMELINE:
	case UT_NEWS_REPORT:
		ut_log_classic(news->level, "%s", news->text);
		break;
	case UT_NEWS_REMARK:
		ut_log_line(news->level, news->room ? news->room : "session", "%s", news->text);
		break;
	case UT_NEWS_GROWING:
	case UT_NEWS_COULD_NOT_RECORD:
	case UT_NEWS_LOST:
	case UT_NEWS_NOTHING:
	case UT_NEWS_NO_DEVICE:
	case UT_NEWS_TEST_TRACES:
	case UT_NEWS_STILL_RUNNING:
	case UT_NEWS_KEPT:
	case UT_NEWS_FAILED:
		ut_log(news->level, "%s", news->text);
		break;
	case UT_NEWS_STARTING:
		ut_log(UT_DEBUG, "the recording is kept in %s", news->path);
		break;
	case UT_NEWS_SIZE:
		/* Not while a shell or another program has the terminal. */
		if (!news->text || tcgetpgrp(STDERR_FILENO) == getpgrp())
			ut_log_state(news->text);
		break;
	case UT_NEWS_PROGRESS:
		ut_log_state(news->text);
		break;
	case UT_NEWS_TABLE:
		fprintf(stderr, "\n%s\n", news->text);
		break;
	case UT_NEWS_RESULTS:
		if (!ut_recordings_note(news->paths, news->count, news->rank))
			ut_log(UT_DEBUG, "the last recording cannot be noted");
		break;
	case UT_NEWS_NOT_STARTED:
	case UT_NEWS_ENDED:
	case UT_NEWS_FINISHED:
		break; /* the command and its exit status are about these */
	}
}

struct ut_session_client ut_session_print(void)
{
	bool terminal = ut_term_is_screen(STDERR_FILENO);

	return (struct ut_session_client){
		.notify = ut_session_print_news,
		.wants_progress = ut_term_moves(STDERR_FILENO),
		/* What the program prints on the same terminal would be mixed with it. */
		.wants_size = ut_term_moves(STDERR_FILENO) && !isatty(STDOUT_FILENO),
		/* Names of C++ templates would leave nothing but blanks before short ones. */
		.name_columns = terminal ? UT_CELL_PAD : 0,
		.screen = terminal ? ut_term_columns(STDERR_FILENO) : 0,
		.colour = terminal && ut_term_has_colour(STDERR_FILENO),
	};
}
