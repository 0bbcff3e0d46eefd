/*
 * session_news.h - what a session tells while it runs, and to whom.
 *
 * A client is one function that is called for every piece of news, in the order in which things
 * happen, by the thread that called the session; UT_NEWS_PROGRESS alone may come from another. The
 * command line's client prints (cmd/session_print.h), a server's would send, that of a test
 * remembers. All that a piece of news points to is gone when the function returns.
 *
 * Each piece has a kind and values for programs, and mostly a sentence for people.
 */
#ifndef UT_SESSION_SESSION_NEWS_H
#define UT_SESSION_SESSION_NEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/logger.h"

enum ut_news_kind {
	/* a sentence that no program needs to understand: level, room, text */
	UT_NEWS_REMARK,
	/* the name of the session is in use by others already: text */
	UT_NEWS_SHARED_NAME,
	/* this MPI rank records no devices: rank, text */
	UT_NEWS_RANK_LEFT_OUT,
	/* the program is about to start; path is the session directory */
	UT_NEWS_STARTING,
	/* the recording has become large: count is bytes, text says how to record less */
	UT_NEWS_GROWING,
	/* how much is recorded so far, and how fast: count is bytes, text; NULL when it is over */
	UT_NEWS_SIZE,
	/* the program could not be executed: code is errno */
	UT_NEWS_NOT_STARTED,
	/* the program has ended, results are about to be written: status as from waitpid(), path */
	UT_NEWS_ENDED,
	/* processes could not record: count, code is the errno of one, text */
	UT_NEWS_COULD_NOT_RECORD,
	/* how far the writing is: text; NULL when it is over */
	UT_NEWS_PROGRESS,
	/* a process has recorded nothing: pid, text */
	UT_NEWS_SILENT_PROCESS,
	/* a file was written: path; a timeline, or a report */
	UT_NEWS_TIMELINE,
	UT_NEWS_REPORT,
	/* tables that go to no file: text of many lines */
	UT_NEWS_TABLE,
	/* something is missing in the results: loss, count, text */
	UT_NEWS_LOST,
	/* nobody recorded anything: text says why */
	UT_NEWS_NOTHING,
	/* work of devices was asked for, and there is none: text */
	UT_NEWS_NO_DEVICE,
	/* all results are there: paths are the timelines that commands can read, count, rank */
	UT_NEWS_RESULTS,
	/* a trace of its own for each test: count, path of the folder */
	UT_NEWS_TEST_TRACES,
	/* processes of the run are still at work: count, path of the session directory */
	UT_NEWS_STILL_RUNNING,
	/* the recording stays on disk, as was asked for: path */
	UT_NEWS_KEPT,
	/* it went wrong, as the caller will see: text; path of the recording if there is one */
	UT_NEWS_FAILED,
	/* the last news: status as from waitpid(), code 0 or what the session returns */
	UT_NEWS_FINISHED,
};

/* What is missing, or not quite as the program meant it. */
enum ut_loss {
	UT_LOSS_DROPPED,  /* records that found no room */
	UT_LOSS_TORN,     /* records cut off at the end of a process */
	UT_LOSS_STRAY,    /* ends without a begin */
	UT_LOSS_IMPLICIT, /* tasks that ended only because an outer one did */
	UT_LOSS_UNFINISHED,
	UT_LOSS_UNKNOWN, /* records of a kind that we do not know */
	UT_LOSS_UNREAD,  /* pieces of a file */
	UT_LOSS_OLDER,   /* chunks that the flight recorder has recorded over */
	UT_LOSS_IGNORED, /* calls of threads that asked for that */
};

/* What a kind does not name is zero. */
struct ut_session_news {
	enum ut_news_kind kind;
	enum ut_log_level level; /* how urgent the text is */
	const char *room;        /* who speaks; for UT_DEBUG */
	const char *text;
	const char *path;
	const char *const *paths;
	uint64_t count;
	enum ut_loss loss;
	uint32_t pid;
	int32_t rank; /* -1 = none */
	int status, code;
};

/* Who listens, and what can be shown there. Zeroed: nobody. */
struct ut_session_client {
	void (*notify)(void *ctx, const struct ut_session_news *news);
	void *ctx;
	bool wants_progress;
	bool wants_size;     /* while the program runs: UT_NEWS_SIZE */
	size_t name_columns; /* longer names in a table lose their middle; 0 = whole */
	size_t screen;       /* columns of the terminal that tables are for; 0 = it is none */
	bool colour;         /* on it */
};

/* ---- for those who tell -------------------------------------------------------------------- */

/* A client of NULL hears nothing. */
void ut_session_tell(const struct ut_session_client *client, struct ut_session_news news);

/* The same with a sentence. */
void ut_session_say(const struct ut_session_client *client, struct ut_session_news news,
		    const char *fmt, ...) UT_PRINTF(3, 4);

/* For modules that know no sessions: their lines are remarks, their states progress. */
struct ut_logger ut_session_logger(struct ut_session_client *client);

#endif
