/*
 * view_show.h - what the pages of `unitrace view` look at, while it grows: each larger view takes
 * the place of the one before, and pages hear of it and of how far the reading is.
 */
#ifndef UT_CMD_VIEW_SHOW_H
#define UT_CMD_VIEW_SHOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "import/inputs.h"
#include "view/view.h"

struct ut_serve;
struct ut_stage;

struct ut_show {
	const struct ut_inputs *inputs;
	const struct ut_inputs *before; /* a run to compare them with; NULL = none */
	unsigned int threads;
	bool code; /* whoever looks may see source and machine code: see view.h */
	struct ut_stage *stage;
	struct ut_serve *server;
	_Atomic uint64_t done;    /* bytes that have been read */
	_Atomic bool stop;        /* nobody looks any more */
	_Atomic bool is_complete; /* all that can be read has been */
	_Atomic bool failed;      /* some of it cannot, which the user has been told */
	pthread_mutex_t lock;     /* of all below */
	struct ut_view_state state;
	struct ut_buf trouble, ended;
};

void ut_show_init(struct ut_show *s);
void ut_show_release(struct ut_show *s);

/* Makes a view ready and shows it; it is taken over. With the lock. */
void ut_show_view(struct ut_show *s, struct ut_view *v);

/* The state has changed: whoever looks hears of it. With the lock. */
void ut_show_state(struct ut_show *s);

/* What could not be read, for the terminal and for pages. Takes the lock. */
void ut_show_trouble(struct ut_show *s, const char *text);

/*
 * Reads the inputs; what has been read is shown meanwhile. Those that cannot be read are told and
 * passed over; *shown says whether there is anything to look at.
 */
int ut_show_files(struct ut_show *s, bool *shown, struct ut_err *err) UT_MUST_CHECK;

/*
 * Follows a session until it has ended, and shows what it has recorded. launcher: a socket whose
 * other end is closed for writing when all files of the session are written, and which is closed
 * here when they are open; 0 = there is none, and what came last may be gone before it was seen.
 */
int ut_show_session(struct ut_show *s, const char *dir, int launcher,
		    struct ut_err *err) UT_MUST_CHECK;

/* Is a recording under way in this directory, as far as we can see? */
bool ut_show_is_live(const char *dir);

#endif
