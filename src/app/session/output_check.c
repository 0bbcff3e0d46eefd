#include "session/output_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "export/out_check.h"
#include "session/session_event.h"
#include "text/out.h"

/* A variable that is not set leaves a hole in the name, which several ranks would share. */
static void report_unset(const struct ut_session_client *client, struct ut_arena *a,
			 const char *text)
{
	for (const char *p = text ? strstr(text, "%q{") : NULL; p; p = strstr(p + 1, "%q{")) {
		const char *name = ut_arena_copy(a, p + 3, strcspn(p + 3, "}"));

		if (!getenv(name))
			ut_session_notify_text(
				client,
				(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
							   .level = UT_WARN },
				"%s: the variable %s is not set", text, name);
	}
}

static int check_timeline(struct ut_output_names *n, const struct ut_output_who *who,
			  const struct ut_exporter *format, struct ut_err *err)
{
	const char *path;
	int rc;

	if (ut_output_timeline(n, who, format, &path, err))
		return -EINVAL;
	rc = ut_out_check(path, format, UT_OUT_OVERWRITE | UT_OUT_MAKES_FOLDERS, err);
	return rc == -EINVAL ? -ENOTSUP : rc; /* the name is fine, only not for this format */
}

static int check_report(struct ut_output_names *n, const struct ut_output_who *who,
			struct ut_err *err)
{
	const char *path;

	if (ut_output_report(n, who, "itt_summary", &path, err))
		return -EINVAL;
	return path ? ut_out_check(path, NULL, UT_OUT_OVERWRITE | UT_OUT_MAKES_FOLDERS, err) : 0;
}

int ut_output_check(const struct ut_output_opts *opts, const struct ut_output_who *who,
		    const struct ut_session_client *client, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_output_opts all = *opts;
	struct ut_output_names names = { .opts = &all, .arena = &arena };
	int rc = 0;

	all.overwrite = true; /* else it gets -2: in the same place, and so just as good or bad */
	for (size_t i = 0; !rc && i < opts->format_count; i++)
		rc = check_timeline(&names, who, opts->formats[i], err);
	if (!rc)
		rc = check_report(&names, who, err);
	if (!rc) {
		report_unset(client, &arena, opts->output);
		report_unset(client, &arena, opts->dir);
	}
	ut_arena_release(&arena);
	return rc;
}
