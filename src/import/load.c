#include "import/load.h"

#include <sched.h>

#include "base/progress.h"
#include "base/tell.h"

/* A launcher that binds its ranks has given each of them some of the cores. */
unsigned int ut_load_threads(uint64_t asked)
{
	cpu_set_t set;

	if (asked)
		return (unsigned int)asked;
	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) < 1)
		return 1;
	return (unsigned int)CPU_COUNT(&set);
}

static void warn(void *ctx, const char *path, const char *text)
{
	const struct ut_load *how = ctx;

	ut_tell(how->teller, UT_WARN, "%s: %s", path, text);
}

int ut_load_each(const struct ut_inputs *in, const struct ut_load *how,
		 int (*each)(void *ctx, size_t i, struct ut_store *store, struct ut_err *err),
		 void *ctx, struct ut_err *err)
{
	struct ut_load own = *how;
	struct ut_progress progress;
	const struct ut_import_opts opts = {
		.threads = how->threads,
		.warn = warn,
		.ctx = &own,
		.progress = &progress.done,
		.checked = how->checked,
	};
	int rc;

	ut_progress_start(&progress, how->teller, how->label, in->bytes);
	rc = ut_inputs_each(in, &opts, each, ctx, err);
	ut_progress_done(&progress);
	return rc;
}
