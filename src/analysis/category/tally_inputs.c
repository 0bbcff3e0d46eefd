#include "category/tally_inputs.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_log.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "category/tally.h"
#include "import/load.h"
#include "text/file_text.h"
#include "text/source.h"
#include "text/tar_read.h"

#define UT_LOG_MODULE "category"
#include "base/logger.h"

#define MOST_BYTES (256u << 20) /* of a report: a line for each kernel of a process */

struct gathering {
	struct ut_tally *tally;
	const struct ut_tally_load *how;
	struct ut_arena arena;
	struct ut_inputs traces; /* read together, in parallel, at the end */
	size_t reports;          /* that had tables */
};

static int add_report(void *ctx, const char *name, struct ut_str text, struct ut_err *err)
{
	struct gathering *g = ctx;

	(void)err;
	if (ut_tally_report(g->tally, text))
		g->reports++;
	else
		ut_logger_log(g->how->logger, UT_WARN, "%s: no table of unitrace in it; left out",
			      name);
	return 0;
}

static void add_trace(struct gathering *g, const char *path)
{
	struct ut_inputs *in = &g->traces;

	in->paths = ut_grow(in->paths, in->count + 1, &in->cap, sizeof(*in->paths));
	in->paths[in->count++] = strdup(path);
}

static int tally_inputs_add_file(struct gathering *g, const char *path, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	struct ut_source s;
	int rc = ut_source_open(&s, path, err);

	if (rc)
		return rc;
	if (ut_tar_is(s.head, s.head_len)) {
		rc = ut_tar_each(&s, MOST_BYTES, add_report, g, err);
	} else if (strcmp(path, "-") && ut_importer_for(s.head, s.head_len)) {
		add_trace(g, path);
	} else {
		rc = ut_file_rest(&s, MOST_BYTES, &text, err);
		if (!rc)
			rc = add_report(g, path,
					(struct ut_str){ text.len ? text.data : "", text.len },
					err);
	}
	ut_buf_release(&text);
	ut_source_close(&s);
	return rc;
}

static int tally_inputs_by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int tally_inputs_is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The files of a folder, not of those in it. */
static int add_folder(struct gathering *g, const char *path, struct ut_err *err)
{
	struct dirent **entries;
	int count = scandir(path, &entries, tally_inputs_is_shown, tally_inputs_by_name), rc = 0;

	if (count < 0)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		const char *file = ut_path_join(&g->arena, path, entries[i]->d_name);

		if (!rc && !ut_path_is_dir(file))
			rc = tally_inputs_add_file(g, file, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int tally_inputs_add_path(struct gathering *g, const char *path, struct ut_err *err)
{
	return ut_path_is_dir(path) ? add_folder(g, path, err)
				    : tally_inputs_add_file(g, path, err);
}

static int tally_inputs_add_word(struct gathering *g, const char *word, struct ut_err *err)
{
	glob_t found = { 0 };
	int rc = 0;

	if (!strcmp(word, "-") || ut_path_exists(word) || glob(word, 0, NULL, &found))
		return tally_inputs_add_path(g, word, err); /* which says what is wrong with it */
	for (size_t i = 0; !rc && i < found.gl_pathc; i++)
		rc = tally_inputs_add_path(g, found.gl_pathv[i], err);
	globfree(&found);
	return rc;
}

static int log_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	(void)i;
	(void)err;
	ut_device_log_store(ctx, store);
	return 0;
}

static int add_traces(struct gathering *g, struct ut_err *err)
{
	const struct ut_load how = { "summary", g->how->threads, .checked = false,
				     .logger = g->how->logger };
	struct ut_device_log log;
	int rc;

	if (!g->traces.count)
		return 0;
	ut_device_log_init(&log, false);
	rc = ut_load_each(&g->traces, &how, log_store, &log, err);
	ut_device_log_finish(&log);
	if (!rc && !log.work_count)
		ut_logger_log(g->how->logger, UT_WARN,
			      "no work of devices in %s; record with "
			      "--chrome-kernel-logging",
			      g->traces.count > 1 ? "the traces" : g->traces.paths[0]);
	g->reports += !rc && log.work_count;
	if (!rc)
		ut_tally_traces(g->tally, &log);
	ut_device_log_release(&log);
	return rc;
}

int ut_tally_inputs(struct ut_tally *t, const struct ut_tally_load *how, int count,
		    const char *const *words, struct ut_err *err)
{
	struct gathering g = { .tally = t, .how = how };
	int rc = 0;

	for (int i = 0; !rc && i < count; i++)
		rc = tally_inputs_add_word(&g, words[i], err);
	if (!rc)
		rc = add_traces(&g, err);
	if (!rc && !g.reports)
		rc = ut_err_set(err, -ENODATA,
				"nothing to sum up: neither a report of unitrace (-h -d -r) nor a "
				"trace with work of devices");
	if (t->odd_lines)
		ut_logger_log(how->logger, UT_WARN,
			      "lines in tables that are no rows: %llu; left out",
			      (unsigned long long)t->odd_lines);
	ut_inputs_release(&g.traces);
	ut_arena_release(&g.arena);
	return rc;
}
