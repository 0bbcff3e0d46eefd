#include "cmd/stats_device.h"

#include <errno.h>

#include "analyze/device_log.h"
#include "analyze/device_summary.h"
#include "base/log.h"
#include "cmd/words.h"
#include "import/load.h"
#include "model/store.h"
#include "report/table_device.h"
#include "text/out.h"

static int stats_device_add_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	(void)i;
	(void)err;
	ut_device_log_store(ctx, store);
	return 0;
}

static int stats_device_print(const struct ut_stats_device *o, const struct ut_device_log *log,
			      struct ut_err *err)
{
	struct ut_out *out = ut_out_open("-", 0);
	struct ut_device_summary s;

	ut_device_summary_make(&s, log);
	ut_device_print(out, log, &s, &o->report);
	ut_device_summary_release(&s);
	return ut_out_commit(out, err);
}

int ut_stats_device(const struct ut_stats_device *o, const struct ut_words *words,
		    struct ut_err *err)
{
	const struct ut_load how = { "stats", o->threads, .checked = false,
				     .logger = ut_log_stderr() };
	struct ut_inputs in = { 0 };
	struct ut_device_log log;
	int rc = ut_inputs_find(&in, words->count, words->items, ut_log_stderr(), err);

	ut_device_log_init(&log, false);
	if (!rc)
		rc = ut_load_each(&in, &how, stats_device_add_store, &log, err);
	ut_device_log_finish(&log);
	if (!rc && !log.work_count && !log.calls_count)
		rc = ut_err_set(err, -ENODATA,
				"no work of devices in there; record with --chrome-kernel-logging");
	if (!rc)
		rc = stats_device_print(o, &log, err);
	ut_device_log_release(&log);
	ut_inputs_release(&in);
	return rc;
}
