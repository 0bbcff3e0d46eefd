#include "mcp/mcp_traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/logger.h"
#include "import/load.h"
#include "mcp/mcp_folders.h"
#include "model/store.h"
#include "query/query.h"
#include "view/view.h"

#define ODD_MOST 4096u /* bytes of what is odd about files */

static void close_trace(struct ut_mcp_trace *t)
{
	if (!t)
		return;
	ut_query_close(t->query); /* reads the stores, which the view has */
	ut_view_free(t->view);
	ut_inputs_release(&t->inputs);
	ut_buf_release(&t->odd);
	free(t);
}

void ut_mcp_traces_release(struct ut_mcp_traces *t)
{
	for (size_t i = 0; i < UT_MCP_TRACES; i++)
		close_trace(t->items[i]);
	*t = (struct ut_mcp_traces){ 0 };
}

/* ---- opening ------------------------------------------------------------------------------- */

static void mcp_traces_note(void *ctx, enum ut_log_level level, const char *room, const char *text)
{
	struct ut_mcp_trace *t = ctx;

	(void)room;
	if (level <= UT_WARN && t->odd.len + strlen(text) < ODD_MOST)
		ut_buf_fmt(&t->odd, "%s\n", text);
}

static int keep_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct ut_mcp_trace *t = ctx;

	(void)err;
	ut_view_add(t->view, t->inputs.paths[i], store);
	return 0;
}

/* What was found in a folder need not be what may be read: links lead anywhere. */
static int leave_out_links(struct ut_mcp_trace *t, const struct ut_mcp_folders *folders,
			   struct ut_err *err)
{
	size_t kept = 0, left = 0;

	for (size_t i = 0; i < t->inputs.count; i++) {
		if (ut_mcp_folders_has(folders, t->inputs.paths[i])) {
			t->inputs.paths[kept++] = t->inputs.paths[i];
		} else {
			free(t->inputs.paths[i]);
			left++;
		}
	}
	t->inputs.count = kept;
	if (left)
		ut_buf_fmt(&t->odd, "%zu links are left out, since they are not followed\n", left);
	return kept ? 0 : ut_err_set(err, -ENOENT, "there is no trace that may be read");
}

static int mcp_traces_load(struct ut_mcp_trace *t, const struct ut_mcp_folders *folders,
			   const char *const *paths, size_t count, unsigned int threads,
			   struct ut_err *err)
{
	const struct ut_logger logger = { .line = mcp_traces_note, .ctx = t };
	const struct ut_load how = { "reading", ut_load_threads(threads), .checked = false,
				     .logger = &logger };
	int rc;

	rc = ut_inputs_find(&t->inputs, (int)count, paths, &logger, err);
	t->inputs.logger = NULL;
	if (!rc)
		rc = leave_out_links(t, folders, err);
	if (!rc)
		rc = ut_load_each(&t->inputs, &how, keep_store, t, err);
	if (!rc)
		ut_view_ready(t->view, threads);
	return rc;
}

/* The place for one more: a free one, or that of the one that was not used for longest. */
static size_t make_place(struct ut_mcp_traces *t)
{
	size_t oldest = 0;

	for (size_t i = 0; i < UT_MCP_TRACES; i++) {
		if (!t->items[i])
			return i;
		if (t->items[i]->used < t->items[oldest]->used)
			oldest = i;
	}
	close_trace(t->items[oldest]);
	t->items[oldest] = NULL;
	return oldest;
}

int ut_mcp_traces_open(struct ut_mcp_traces *t, const struct ut_mcp_folders *folders,
		       const char *const *paths, size_t count, struct ut_mcp_trace **trace,
		       struct ut_err *err)
{
	struct ut_mcp_trace *one = ut_make(sizeof(*one));
	int rc;

	one->view = ut_view_new();
	rc = mcp_traces_load(one, folders, paths, count, t->threads, err);
	if (rc) {
		close_trace(one);
		return rc;
	}
	snprintf(one->name, sizeof(one->name), "t%" PRIu64, ++t->opened);
	one->used = ++t->clock;
	t->items[make_place(t)] = one;
	*trace = one;
	return 0;
}

/* ---- finding ------------------------------------------------------------------------------- */

static int mcp_traces_unknown(const struct ut_mcp_traces *t, const char *name, struct ut_err *err)
{
	struct ut_buf open = { 0 };
	int rc;

	for (size_t i = 0; i < UT_MCP_TRACES; i++) {
		if (t->items[i])
			ut_buf_fmt(&open, " %s", t->items[i]->name);
	}
	if (!open.len)
		rc = ut_err_set(err, -ENOENT, "no trace is open: call open first");
	else
		rc = ut_err_set(err, -ENOENT, "no trace %.40s is open; there are:%s", name,
				open.data);
	ut_buf_release(&open);
	return rc;
}

int ut_mcp_traces_get(struct ut_mcp_traces *t, const char *name, struct ut_mcp_trace **trace,
		      struct ut_err *err)
{
	struct ut_mcp_trace *found = NULL;

	for (size_t i = 0; i < UT_MCP_TRACES; i++) {
		struct ut_mcp_trace *one = t->items[i];

		if (!one)
			continue;
		if (name && *name ? !strcmp(one->name, name) : !found || one->used > found->used)
			found = one;
	}
	if (!found)
		return mcp_traces_unknown(t, name ? name : "", err);
	found->used = ++t->clock;
	*trace = found;
	return 0;
}

int ut_mcp_trace_query(struct ut_mcp_trace *trace, unsigned int threads, struct ut_err *err)
{
	int rc;

	if (trace->query)
		return 0;
	rc = ut_query_open(&trace->query, ut_load_threads(threads), err);
	for (size_t i = 0; !rc && i < trace->inputs.count; i++)
		ut_query_add(trace->query, trace->inputs.paths[i], ut_view_store(trace->view, i));
	return rc;
}
