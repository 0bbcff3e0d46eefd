/*
 * session_export.h - the other way into this room: traces of any format, or recordings that are
 * still on disk, become files of other formats.
 */
#ifndef UT_SESSION_SESSION_EXPORT_H
#define UT_SESSION_SESSION_EXPORT_H

#include <stdbool.h>

#include "base/disk_space.h"
#include "base/err.h"
#include "session/output_names.h"
#include "session/session_event.h"

/* Owner: the client. */
struct ut_export_plan {
	struct ut_output_opts out;
	int count;
	const char *const *inputs; /* files and folders: all recordings, or any traces */
	bool live;                 /* also of processes that still record */
	bool remove;               /* recordings, afterwards */
	struct ut_disk_reserve reserve;
};

/* Will the results find their places? As ut_session_check(). */
int ut_session_export_check(const struct ut_export_plan *plan,
			    const struct ut_session_client *client,
			    struct ut_err *err) UT_MUST_CHECK;

/* Events come as from ut_session_run(); a failure is only returned. */
int ut_session_export(const struct ut_export_plan *plan, const struct ut_session_client *client,
		      struct ut_err *err) UT_MUST_CHECK;

#endif
