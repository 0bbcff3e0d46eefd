#include "session/test_traces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter_sink.h"
#include "analyze/window.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "export/exporter.h"
#include "import/load.h"
#include "import/spool/reader.h"
#include "model/nesting.h"
#include "session/output_names.h"
#include "session/session_event.h"
#include "text/out.h"

#define CATEGORY  "pytest"
#define FILE_ARG  "trace"
#define MOST_ARGS 16
#define MOST_NAME 200

/* A test: when it ran, and the name of its file without a suffix. */
struct test {
	uint64_t from, to;
	uint32_t name; /* string id */
};

struct work {
	struct ut_output_opts opts; /* of one test; output is its name */
	struct ut_arena arena;
	struct ut_output_names names;
	struct test *tests; /* of the store that is looked at */
	size_t count, cap;
	size_t written;
	struct ut_session_client client;
};

/* ---- which tests there are ----------------------------------------------------------------- */

/* The name comes from a recording: no way out of the folder. */
static bool is_safe(struct ut_str name)
{
	if (!name.len || name.len > MOST_NAME || name.ptr[0] == '.' || name.ptr[0] == '-')
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !strchr("._-", c))
			return false;
	}
	return true;
}

/* The string id of the file's name; 0 if there is none. */
static uint32_t file_name(const struct ut_store *s, uint32_t list)
{
	struct ut_arg args[MOST_ARGS];
	size_t count = ut_arglists_get(&s->args, list, args, MOST_ARGS);

	for (size_t i = 0; i < count && i < MOST_ARGS; i++) {
		if (args[i].type == UT_ARG_STR &&
		    !strcmp(ut_strtab_get(&s->trace.strings, args[i].key).ptr, FILE_ARG) &&
		    is_safe(ut_strtab_get(&s->trace.strings, args[i].value.str)))
			return args[i].value.str;
	}
	return 0;
}

static bool may_be_test(const struct ut_store *s, const struct ut_type *type)
{
	return (type->kind == UT_KIND_SPAN || type->kind == UT_KIND_ASYNC_BEGIN) &&
	       !strcmp(ut_strtab_get(&s->trace.strings, type->cat).ptr, CATEGORY);
}

static void add_test(struct work *w, struct test t)
{
	w->tests = ut_grow(w->tests, w->count + 1, &w->cap, sizeof(*w->tests));
	w->tests[w->count++] = t;
}

static void look_at_track(struct work *w, const struct ut_store *s, uint32_t track)
{
	const struct ut_rows *rows = &s->rows[track];
	struct ut_async_end *ends = NULL; /* only where spans overlap */
	uint64_t row = 0;

	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		const struct ut_block *b = &rows->blocks[n];

		for (uint32_t i = 0; i < b->count; i++, row++) {
			struct ut_event e;
			uint32_t name;

			if (!b->args[i] || !may_be_test(s, ut_store_type(s, b->type[i])))
				continue;
			e = ut_block_event(s, track, b, i);
			name = file_name(s, e.args);
			if (name && e.kind == UT_KIND_ASYNC_BEGIN && !ends) {
				ends = ut_make((size_t)rows->count * sizeof(*ends));
				ut_nesting_of_track(s, track, ends);
			}
			if (name)
				add_test(w, (struct test){ e.ts, ends ? ends[row].ts : 0, name });
			if (name && e.kind == UT_KIND_SPAN)
				w->tests[w->count - 1].to = ut_event_end(&e);
		}
	}
	free(ends);
}

/* ---- one file ------------------------------------------------------------------------------ */

static int test_traces_write_file(struct work *w, struct ut_store *store, const struct test *t,
				  const struct ut_exporter *format, struct ut_err *err)
{
	const struct ut_output_who who = { .app = CATEGORY, .rank = -1, .first = true };
	struct ut_filter_view view;
	struct ut_filter_sink part;
	struct ut_out *out;
	struct ut_sink *sink;
	const char *path;
	int rc;

	w->opts.output =
		ut_str_fmt(&w->arena, "%s%s", ut_strtab_get(&store->trace.strings, t->name).ptr,
			   format->suffix);
	rc = ut_output_timeline(&w->names, &who, format, &path, err);
	if (rc)
		return rc;
	out = ut_out_open(path, w->opts.overwrite ? UT_OUT_OVERWRITE : 0);
	sink = format->open(out);
	ut_filter_view_init(&view, NULL, store);
	ut_filter_sink_init(&part, &view, sink);
	part.trace.first = t->from;
	part.trace.last = t->to;
	part.trace.losses = (struct ut_losses){ 0 }; /* they are those of the whole run */
	ut_store_send(store, 0, &part.sink);
	format->end_trace(sink, &part.trace);
	format->close(sink);
	ut_filter_sink_release(&part);
	ut_filter_view_release(&view);
	return ut_out_commit(out, err);
}

static int write_test(struct work *w, struct ut_store *store, const struct test *t,
		      struct ut_err *err)
{
	uint64_t to = t->to == UINT64_MAX ? t->to : t->to + 1;
	struct ut_window window;
	int rc = 0;

	ut_window_open(&window, store, t->from, to);
	for (size_t i = 0; i < w->opts.format_count && !rc; i++)
		rc = test_traces_write_file(w, store, t, w->opts.formats[i], err);
	ut_window_close(&window);
	w->written += !rc;
	return rc;
}

static int write_store(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct work *w = ctx;
	int rc = 0;

	(void)i;
	w->count = 0;
	for (uint32_t track = 0; track < store->trace.track_count; track++)
		look_at_track(w, store, track);
	for (size_t n = 0; n < w->count && !rc; n++)
		rc = write_test(w, store, &w->tests[n], err);
	return rc;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int test_traces_write_all(struct work *w, const struct ut_spool_info *list, size_t count,
				 struct ut_err *err)
{
	const struct ut_logger logger = ut_session_logger(&w->client);
	const struct ut_load how = {
		.label = "tests", .threads = ut_load_threads(0), .checked = true, .logger = &logger
	};
	const char **paths = UT_NEW_N(&w->arena, const char *, count + 1);
	struct ut_inputs in = { 0 };
	int rc;

	for (size_t i = 0; i < count; i++)
		paths[i] = list[i].path;
	rc = ut_inputs_find(&in, (int)count, paths, &logger, err);
	if (!rc)
		rc = ut_load_each(&in, &how, write_store, w, err);
	ut_inputs_release(&in);
	return rc;
}

static void test_traces_report(const struct work *w, const char *dir)
{
	struct ut_session_event event = { .kind = UT_SESSION_EVENT_TEST_TRACES,
					  .level = w->written ? UT_INFO : UT_WARN,
					  .count = w->written,
					  .path = dir };

	if (!w->written)
		ut_session_notify_text(
			&w->client, event,
			"no test was recorded: does pytest load the plugin of unitrace?");
	else if (!w->opts.quiet)
		ut_session_notify_text(&w->client, event, "Traces of %zu test%s are stored in %s",
				       w->written, w->written == 1 ? "" : "s", dir);
}

int ut_test_traces_write(const char *dir, const struct ut_output_opts *out,
			 const struct ut_spool_info *list, size_t count,
			 const struct ut_session_client *client, struct ut_err *err)
{
	struct work w = { .opts = *out, .client = *client };
	int rc = ut_path_mkdirs(dir, err);

	w.opts.dir = dir;
	w.opts.result_dir = NULL;
	w.opts.export_mode = true;
	if (!w.opts.format_count)
		w.opts.formats[w.opts.format_count++] = &ut_export_chrome;
	w.names = (struct ut_output_names){ .opts = &w.opts, .arena = &w.arena, .client = client };
	if (!rc && count)
		rc = test_traces_write_all(&w, list, count, err);
	if (!rc)
		test_traces_report(&w, dir);
	free(w.tests);
	ut_arena_release(&w.arena);
	return rc;
}
