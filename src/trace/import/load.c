#include "import/load.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#include "base/logger.h"
#include "base/progress.h"

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

static void load_warn(void *ctx, const char *path, const char *text)
{
	const struct ut_load *how = ctx;

	ut_logger_log(how->logger, UT_WARN, "%s: %s", path, text);
}

/* ---- what is missing ----------------------------------------------------------------------- */

enum missing {
	MISSING_ENDS,      /* of spans that last until their process ended */
	MISSING_LAST_SIGN, /* of spans that last until the last sign of life */
	MISSING_RECORDS,
	MISSING_PARTS, /* of records */
	MISSING_KINDS
};

struct counted {
	uint64_t count;
	size_t inputs, first; /* how many have some, and the first of them */
};

struct counting {
	const struct ut_inputs *in;
	int (*each)(void *ctx, size_t i, struct ut_store *store, struct ut_err *err);
	void *ctx;
	struct counted of[MISSING_KINDS];
	struct counted failed; /* processes */
	struct ut_buf failure; /* the first of them, and how */
};

static void count_failures(struct counting *c, size_t input, const struct ut_trace *t)
{
	struct ut_buf how = { 0 };
	uint64_t before = c->failed.count;

	for (size_t i = 0; i < t->process_count; i++) {
		const struct ut_process *p = &t->processes[i];

		how.len = 0;
		if (!ut_process_failure(t, p, &how))
			continue;
		if (!c->failed.count++) {
			ut_buf_fmt(&c->failure, "%s (%" PRIu64 ") failed: %s",
				   ut_strtab_get(&t->strings, p->name).ptr, p->pid, how.data);
			c->failed.first = input;
		}
	}
	c->failed.inputs += c->failed.count > before;
	ut_buf_release(&how);
}

static int count_each(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct counting *c = ctx;
	const struct ut_losses *l = &store->trace.losses;
	uint64_t seen = l->seen_ends < l->unfinished ? l->seen_ends : l->unfinished;
	const uint64_t counts[MISSING_KINDS] = { seen, l->unfinished - seen, l->dropped, l->torn };

	for (size_t k = 0; k < MISSING_KINDS; k++) {
		struct counted *of = &c->of[k];

		if (counts[k] && !of->inputs++)
			of->first = i;
		of->count += counts[k];
	}
	count_failures(c, i, &store->trace);
	return c->each(c->ctx, i, store, err);
}

/* One line for each kind, however many inputs there are. */
static void report_missing(const struct counting *c, const struct ut_logger *logger)
{
	static const char *const texts[MISSING_KINDS][3] = {
		{ "span", "spans", "never ended; shown up to the end of the process" },
		{ "span", "spans", "never ended; shown up to the last sign of life" },
		{ "record", "records", "went missing while recording: no room" },
		{ "record", "records", "got cut off when the process ended" },
	};

	if (c->failed.count > 1)
		ut_logger_log(logger, UT_WARN, "%s: %s; %" PRIu64 " more failed",
			      c->in->paths[c->failed.first], c->failure.data, c->failed.count - 1);
	else if (c->failed.count)
		ut_logger_log(logger, UT_WARN, "%s: %s", c->in->paths[c->failed.first],
			      c->failure.data);
	for (size_t k = 0; k < MISSING_KINDS; k++) {
		const struct counted *of = &c->of[k];
		char more[64] = "";

		if (of->inputs > 1)
			snprintf(more, sizeof(more), " and %zu more", of->inputs - 1);
		if (of->count)
			ut_logger_log(logger, UT_WARN, "%s%s: %" PRIu64 " %s %s",
				      c->in->paths[of->first], more, of->count,
				      texts[k][of->count != 1], texts[k][2]);
	}
}

int ut_load_each(const struct ut_inputs *in, const struct ut_load *how,
		 int (*each)(void *ctx, size_t i, struct ut_store *store, struct ut_err *err),
		 void *ctx, struct ut_err *err)
{
	struct ut_load own = *how;
	struct counting counting = { .in = in, .each = each, .ctx = ctx };
	struct ut_progress progress;
	const struct ut_import_opts opts = {
		.threads = how->threads,
		.warn = load_warn,
		.ctx = &own,
		.progress = &progress.done,
		.checked = how->checked,
	};
	int rc;

	ut_progress_start(&progress, how->logger, how->label, in->bytes);
	rc = ut_inputs_each(in, &opts, count_each, &counting, err);
	ut_progress_done(&progress);
	if (!rc && !how->reports_losses)
		report_missing(&counting, how->logger);
	ut_buf_release(&counting.failure);
	return rc;
}
