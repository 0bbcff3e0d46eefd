#include "read/read_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/logger.h"
#include "import/load.h"
#include "query/query.h"

uint32_t unitrace_read_version(void)
{
	return UNITRACE_READ_VERSION;
}

int ut_read_result(int rc, const struct ut_err *err, struct unitrace_error *error)
{
	if (!error)
		return rc;
	*error = (struct unitrace_error){ .code = rc };
	if (rc)
		snprintf(error->text, sizeof(error->text), "%s",
			 err->text[0] ? err->text : strerror(-rc));
	return rc;
}

void ut_read_share(struct unitrace_trace *trace)
{
	atomic_fetch_add_explicit(&trace->uses, 1, memory_order_relaxed);
}

void ut_read_drop(struct unitrace_trace *trace)
{
	if (atomic_fetch_sub_explicit(&trace->uses, 1, memory_order_acq_rel) != 1)
		return;
	ut_query_close(trace->query);
	for (size_t i = 0; trace->stores && i < trace->inputs.count; i++)
		ut_store_release(&trace->stores[i]);
	free(trace->stores);
	ut_inputs_release(&trace->inputs);
	pthread_mutex_destroy(&trace->asking);
	free(trace);
}

/* ---- open and close ------------------------------------------------------------------------ */

static void report_line(void *ctx, enum ut_log_level level, const char *room, const char *text)
{
	const struct unitrace_open_options *options = ctx;

	(void)room;
	if (level <= UT_WARN && options->warn)
		options->warn(options->ctx, text);
}

static int keep_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct unitrace_trace *trace = ctx;

	(void)err;
	ut_store_move(&trace->stores[i], store);
	return 0;
}

static int read_trace_load(struct unitrace_trace *trace, const char *const *paths, size_t count,
			   struct unitrace_open_options *options, struct ut_err *err)
{
	const struct ut_logger logger = { .line = report_line, .ctx = options };
	const struct ut_load how = { "reading", trace->threads, .checked = false,
				     .logger = &logger };
	int rc;

	if (!count || count > INT32_MAX)
		return ut_err_set(err, -EINVAL, "no trace is named");
	rc = ut_inputs_find(&trace->inputs, (int)count, paths, &logger, err);
	trace->inputs.logger = NULL;
	if (rc)
		return rc;
	trace->stores = ut_make((trace->inputs.count + 1) * sizeof(*trace->stores));
	return ut_load_each(&trace->inputs, &how, keep_store, trace, err);
}

int unitrace_open(struct unitrace_trace **trace, const char *const *paths, size_t count,
		  const struct unitrace_open_options *options, struct unitrace_error *error)
{
	struct unitrace_open_options own = { 0 };
	struct unitrace_trace *t = ut_make(sizeof(*t));
	struct ut_err err = { 0 };
	int rc;

	if (options)
		memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
	atomic_init(&t->uses, 1);
	pthread_mutex_init(&t->asking, NULL);
	t->threads = ut_load_threads(own.threads);
	rc = read_trace_load(t, paths, count, &own, &err);
	if (rc) {
		ut_read_drop(t);
		t = NULL;
	}
	*trace = t;
	return ut_read_result(rc, &err, error);
}

void unitrace_close(struct unitrace_trace *trace)
{
	if (trace)
		ut_read_drop(trace);
}

const char *unitrace_path(const struct unitrace_trace *trace, size_t i)
{
	return i < trace->inputs.count ? trace->inputs.paths[i] : NULL;
}
