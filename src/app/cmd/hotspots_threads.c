/* hotspots_threads.c - `unitrace hotspots --threads`: what threads did. See hotspots_report.h. */
#include "cmd/hotspots_report.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "cmd/hotspots_options.h"
#include "cmd/words.h"
#include "import/load.h"
#include "sample/threads.h"
#include "sample/threads_table.h"
#include "text/out.h"
#include "text/table_report.h"

#define USUAL_ROWS 20

static int add_threads(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	(void)i;
	(void)err;
	ut_threads_add(ctx, store);
	return 0;
}

static int print_threads(const struct ut_hotspots_opts *o, struct ut_threads *t, struct ut_err *err)
{
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);
	bool people = report.format == UT_REPORT_TABLE;
	struct ut_out *out = ut_out_open("-", 0);
	struct ut_buf summary = { 0 };

	ut_threads_sort(t);
	ut_threads_summary_text(&summary, t);
	if (people && summary.len)
		ut_out_fmt(out, "%s\n", summary.data);
	for (enum ut_threads_table which = 0; which < UT_THREADS_TABLES; which++) {
		if (which != o->which && !(o->every && people && ut_threads_has(t, which)))
			continue;
		if (people)
			ut_threads_heading(out, which);
		ut_threads_print(out, t, which, &report);
	}
	ut_buf_release(&summary);
	return ut_out_commit(out, err);
}

int ut_hotspots_report_threads(const struct ut_hotspots_opts *o, const struct ut_words *words,
			       struct ut_err *err)
{
	const struct ut_load how = { "hotspots", ut_load_threads(0), .logger = ut_log_stderr() };
	struct ut_inputs in = { .logger = how.logger };
	struct ut_threads t;
	int rc = ut_inputs_find(&in, words->count, words->items, how.logger, err);

	ut_threads_init(&t);
	if (!rc)
		rc = ut_load_each(&in, &how, add_threads, &t, err);
	if (!rc && !t.count)
		rc = ut_err_set(err, -ENODATA, "%s: no samples of threads in it", words->items[0]);
	if (!rc)
		rc = print_threads(o, &t, err);
	ut_threads_release(&t);
	ut_inputs_release(&in);
	return rc;
}
