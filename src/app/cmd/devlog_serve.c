#include "cmd/devlog_serve.h"

#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/path.h"
#include "cmd/view_serve.h"
#include "tt/devlog_page.h"
#include "tt/devlog_run.h"
#include "view/view.h"

#define TARBALL "device_perf_results.tgz"

/* Names that we write, and what the page calls them; the tarball has a date in the name offered. */
static const struct {
	const char *name, *title, *type;
} results[] = {
	{ TARBALL, "Download Artifacts: everything, as a tarball", "application/gzip" },
	{ "device_stats.txt", "Statistics (text)", "text/plain; charset=utf-8" },
	{ "device_kernels.csv", "Ops (CSV)", "text/csv; charset=utf-8" },
	{ "device_rearranged_timestamps.csv", "Timestamps by core (CSV)",
	  "text/csv; charset=utf-8" },
	{ "device_chrome_tracing.json", "Timeline (Chrome JSON)", "application/json" },
	{ "device_trace.utr", "Timeline (.utr)", "application/octet-stream" },
	{ "device_analysis_data.json", "Analysis (JSON)", "application/json" },
	{ "profile_log_device.csv", "The log itself", "text/csv; charset=utf-8" },
	{ "device_perf.html", "This page as one file", "text/html; charset=utf-8" },
};

#define RESULTS (sizeof(results) / sizeof(results[0]))

struct dashboard {
	const struct ut_devlog_opts *opts;
	ut_devlog_refresh_fn refresh;
	struct ut_arena arena;
	struct ut_view_file files[RESULTS + 1];
	size_t count;
	char save_as[80];
};

/* The log is read once more; what is doubtful in it has been told when its results were made. */
static int devlog_serve_make_view(struct dashboard *d, struct ut_view **view, struct ut_err *err)
{
	struct ut_devlog_opts quiet = *d->opts;
	struct ut_tt_alignment align;
	struct ut_devlog log;
	int rc;

	quiet.logger = NULL;
	rc = ut_devlog_open(&log, quiet.input, &quiet, err);
	if (rc)
		return rc;
	ut_tt_align(&log.analysis, quiet.alignment, &align);
	*view = ut_tt_make_view(&(struct ut_tt_shown){
		.a = &log.analysis,
		.align = &align,
		.chip = UT_TT_ALL_CHIPS,
		.log = quiet.input,
		.trace = ut_path_join(&d->arena, quiet.output, "device_trace.utr"),
	});
	ut_tt_alignment_release(&align);
	ut_devlog_close(&log);
	return 0;
}

static void name_tarball(struct dashboard *d)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(d->save_as, sizeof(d->save_as), "%Y_%m_%d_%H_%M_%S_" TARBALL, &tm);
}

static int again(void *ctx, struct ut_view **view, struct ut_err *err)
{
	struct dashboard *d = ctx;
	int rc = d->refresh(d->opts, err);

	name_tarball(d);
	return rc ? rc : devlog_serve_make_view(d, view, err);
}

/* What this run has written; the tarball also under the name that it has always had here. */
static void list_files(struct dashboard *d)
{
	for (size_t i = 0; i < RESULTS; i++) {
		char *file = ut_path_join(&d->arena, d->opts->output, results[i].name);
		bool packed = !strcmp(results[i].name, TARBALL);

		if (!ut_path_exists(file))
			continue;
		d->files[d->count++] =
			(struct ut_view_file){ .path = packed ? "download" : results[i].name,
					       .title = results[i].title,
					       .file = file,
					       .type = results[i].type,
					       .save_as = packed ? d->save_as : NULL };
	}
}

int ut_devlog_serve(const struct ut_devlog_opts *o, ut_devlog_refresh_fn refresh,
		    struct ut_err *err)
{
	struct dashboard d = { .opts = o, .refresh = refresh };
	struct ut_view *view;
	int rc;

	name_tarball(&d);
	list_files(&d);
	rc = devlog_serve_make_view(&d, &view, err);
	if (!rc)
		rc = ut_view_offer(&(struct ut_view_offer){ .name = "Device Profiler Dashboard",
							    .port = (uint16_t)o->port,
							    .files = d.files,
							    .file_count = d.count,
							    .again = again,
							    .ctx = &d },
				   view, err);
	ut_arena_release(&d.arena);
	return rc;
}
