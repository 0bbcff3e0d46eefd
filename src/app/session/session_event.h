/*
 * session_event.h - the events of a session while it runs, and its client.
 *
 * A client is one function that is called for every event, in the order in which things
 * happen, by the thread that called the session; UT_SESSION_EVENT_PROGRESS alone may come from
 * another. The command line's client prints (cmd/session_print.h), a server's would send, that of a
 * test remembers. All that an event points to is gone when the function returns.
 *
 * Each event has a kind and values for programs, and mostly a sentence for people.
 */
#ifndef UT_SESSION_SESSION_EVENT_H
#define UT_SESSION_SESSION_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/logger.h"

enum ut_session_event_kind {
	/* a sentence that no program needs to understand: level, module, text */
	UT_SESSION_EVENT_REMARK,
	/* the name of the session is in use by others already: text */
	UT_SESSION_EVENT_SHARED_NAME,
	/* this MPI rank records no devices: rank, text */
	UT_SESSION_EVENT_RANK_LEFT_OUT,
	/* the program is about to start; path is the session directory */
	UT_SESSION_EVENT_STARTING,
	/* the recording has become large: count is bytes, text says how to record less */
	UT_SESSION_EVENT_GROWING,
	/* how much is recorded so far, and how fast: count is bytes, text; NULL when it is over */
	UT_SESSION_EVENT_SIZE,
	/* the program could not be executed: code is errno */
	UT_SESSION_EVENT_NOT_STARTED,
	/* the program has ended, results are about to be written: status as from waitpid(), path */
	UT_SESSION_EVENT_ENDED,
	/* processes could not record: count, code is the errno of one, text */
	UT_SESSION_EVENT_COULD_NOT_RECORD,
	/* how far the writing is: text; NULL when it is over */
	UT_SESSION_EVENT_PROGRESS,
	/* a process has recorded nothing: pid, text */
	UT_SESSION_EVENT_SILENT_PROCESS,
	/* a file was written: path; a timeline, or a report */
	UT_SESSION_EVENT_TIMELINE,
	UT_SESSION_EVENT_REPORT,
	/* tables that go to no file: text of many lines */
	UT_SESSION_EVENT_TABLE,
	/* something is missing in the results: loss, count, text */
	UT_SESSION_EVENT_LOST,
	/* nobody recorded anything: text says why */
	UT_SESSION_EVENT_EMPTY,
	/* work of devices was asked for, and there is none: text */
	UT_SESSION_EVENT_NO_DEVICE,
	/* all results are there: paths are the timelines that commands can read, count, rank */
	UT_SESSION_EVENT_RESULTS,
	/* a trace of its own for each test: count, path of the folder */
	UT_SESSION_EVENT_TEST_TRACES,
	/* processes of the run are still at work: count, path of the session directory */
	UT_SESSION_EVENT_STILL_RUNNING,
	/* the recording stays on disk, as was asked for: path */
	UT_SESSION_EVENT_KEPT,
	/* it went wrong, as the caller will see: text; path of the recording if there is one */
	UT_SESSION_EVENT_FAILED,
	/* the last event: status as from waitpid(), code 0 or what the session returns */
	UT_SESSION_EVENT_FINISHED,
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
struct ut_session_event {
	enum ut_session_event_kind kind;
	enum ut_log_level level; /* how urgent the text is */
	const char *module;      /* who speaks; for UT_DEBUG */
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
	void (*notify)(void *ctx, const struct ut_session_event *event);
	void *ctx;
	bool wants_progress;
	bool wants_size;     /* while the program runs: UT_SESSION_EVENT_SIZE */
	size_t name_columns; /* longer names in a table lose their middle; 0 = whole */
	size_t screen;       /* columns of the terminal that tables are for; 0 = it is none */
	bool colour;         /* on it */
};

/* ---- for those who send -------------------------------------------------------------------- */

/* A client of NULL hears nothing. */
void ut_session_notify(const struct ut_session_client *client, struct ut_session_event event);

/* The same with a sentence. */
void ut_session_notify_text(const struct ut_session_client *client, struct ut_session_event event,
			    const char *fmt, ...) UT_PRINTF(3, 4);

/* For modules that know no sessions: their lines are remarks, their states progress. */
struct ut_logger ut_session_logger(struct ut_session_client *client);

#endif
