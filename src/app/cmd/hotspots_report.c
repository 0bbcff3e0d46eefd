#include "cmd/hotspots_report.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "cmd/hotspots_options.h"
#include "cmd/words.h"
#include "draw/picture.h"
#include "draw/scene.h"
#include "import/load.h"
#include "model/store.h"
#include "sample/annotate.h"
#include "sample/call_tree.h"
#include "sample/flame_scene.h"
#include "sample/folded.h"
#include "sample/hotspots_table.h"
#include "sample/prof.h"
#include "text/out.h"
#include "text/table_report.h"

#define USUAL_ROWS      20
#define USUAL_TREE_ROWS 60
#define OWN_ROWS        6
#define OWN_SHARE       20.0 /* percent that libraries take for the program's own code */

/* ---- reading ------------------------------------------------------------------------------- */

struct reading {
	struct ut_prof *p;
	bool has_task; /* the one that is asked for, with samples or without */
};

static bool has_task(const struct ut_store *store, const char *pattern)
{
	for (uint32_t i = 0; i < store->types.count; i++) {
		const struct ut_type *type = ut_store_type(store, i);

		if ((type->kind == UT_KIND_SPAN || type->kind == UT_KIND_ASYNC_BEGIN) &&
		    !fnmatch(pattern, ut_strtab_get(&store->trace.strings, type->name).ptr, 0))
			return true;
	}
	return false;
}

static int hotspots_report_add_store(void *ctx, size_t i, struct ut_store *store,
				     struct ut_err *err)
{
	struct reading *r = ctx;

	(void)i;
	(void)err;
	ut_prof_add(r->p, store);
	if (r->p->opts.task && !r->has_task)
		r->has_task = has_task(store, r->p->opts.task);
	return 0;
}

static int explain_empty(const struct reading *r, const char *path, struct ut_err *err)
{
	const struct ut_prof_opts *o = &r->p->opts;

	if (o->task && !r->has_task)
		return ut_err_set(err, -ENODATA, "%s: no task fits '%s'", path, o->task);
	if (o->task)
		return ut_err_set(err, -ENODATA,
				  "%s: no samples in tasks that fit '%s' (overlapped tasks belong "
				  "to no thread and have none)",
				  path, o->task);
	return ut_err_set(err, -ENODATA, "%s: no samples of CPU time in it%s", path,
			  o->filter || o->function ? ", or none that were asked for" : "");
}

static int read_profile(struct ut_prof *p, const struct ut_prof_opts *opts, int count,
			const char *const *paths, struct ut_err *err)
{
	const struct ut_load how = { "hotspots", ut_load_threads(0), .logger = ut_log_stderr() };
	struct ut_inputs in = { .logger = how.logger };
	struct reading r = { p, false };
	int rc = ut_inputs_find(&in, count, paths, how.logger, err);

	ut_prof_init(p, opts);
	if (!rc)
		rc = ut_load_each(&in, &how, hotspots_report_add_store, &r, err);
	if (!rc && !p->samples && !p->none)
		rc = explain_empty(&r, paths[0], err);
	ut_prof_finalize(p);
	ut_inputs_release(&in);
	return rc;
}

/* ---- printing ------------------------------------------------------------------------------ */

static int print_tree(const struct ut_hotspots_opts *o, const struct ut_prof *p, struct ut_out *out,
		      struct ut_err *err)
{
	static const enum ut_tree_kind kinds[] = {
		[UT_HOT_TREE] = UT_TREE_TOP_DOWN,
		[UT_HOT_BOTTOM_UP] = UT_TREE_BOTTOM_UP,
		[UT_HOT_CALLERS] = UT_TREE_CALLERS,
		[UT_HOT_CALLEES] = UT_TREE_CALLEES,
	};
	const struct ut_report_opts report =
		ut_table_report(&o->table, STDOUT_FILENO, USUAL_TREE_ROWS);
	const char *function = o->report == UT_HOT_CALLERS ? o->callers : o->callees;
	struct ut_call_tree t;
	int rc = 0;

	ut_call_tree_init(&t, p, kinds[o->report], function);
	if (function && !t.matched)
		rc = ut_err_set(err, -ENOENT, "no sample has a function '%s' on its stack",
				function);
	else
		ut_call_tree_print(out, &t, o->least, &report);
	ut_call_tree_release(&t);
	return rc;
}

static int print_annotated(const struct ut_hotspots_opts *o, const struct ut_prof *p,
			   struct ut_out *out, struct ut_err *err)
{
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, 0);
	const struct ut_annotate_opts what = {
		.function = o->annotate,
		.source = strcmp(o->show, "assembly") != 0,
		.assembly = strcmp(o->show, "source") != 0,
		.logger = ut_log_stderr(),
	};

	return ut_annotate_print(out, p, &what, &report, err);
}

static void print_by(const struct ut_prof *p, enum ut_hot_by by,
		     const struct ut_report_opts *report, struct ut_out *out)
{
	struct ut_hotspots h;

	ut_hotspots_init(&h, p, by);
	ut_hotspots_print(out, &h, report);
	ut_hotspots_release(&h);
}

/* Nobody has said which rows, in which order, or how many. */
static bool hotspots_report_is_plain(const struct ut_hotspots_opts *o)
{
	return !o->by && !o->table.sort && o->table.limit == UINT64_MAX &&
	       o->table.rows == UINT64_MAX && !o->table.json && !o->table.csv;
}

/*
 * Nobody can do anything about a function of a library but its callers: where libraries take much,
 * these come first, and both tables fit on a screen.
 */
static void print_rows(const struct ut_hotspots_opts *o, const struct ut_prof *p,
		       struct ut_out *out)
{
	struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);

	if (hotspots_report_is_plain(o) &&
	    100 * (double)ut_hotspots_for_own(p) >= OWN_SHARE * (double)p->weight) {
		report.limit = OWN_ROWS;
		ut_out_text(out, "Functions of the program itself, with what they call in "
				 "libraries\n\n");
		print_by(p, UT_HOT_BY_OWN, &report, out);
		ut_out_text(out, "\nFunctions\n\n");
		report.limit = USUAL_ROWS / 2;
	}
	print_by(p, o->how, &report, out);
}

static int hotspots_report_print(const struct ut_hotspots_opts *o, const struct ut_prof *p,
				 const struct ut_prof *before, struct ut_err *err)
{
	const struct ut_report_opts report = ut_table_report(&o->table, STDOUT_FILENO, USUAL_ROWS);
	struct ut_out *out = ut_out_open("-", 0);
	int rc = 0;

	if (report.format == UT_REPORT_TABLE && (o->report <= UT_HOT_BOTTOM_UP || before))
		ut_prof_print_summary(out, p, before);
	if (o->report == UT_HOT_ROWS)
		print_rows(o, p, out);
	else if (o->report == UT_HOT_DIFF)
		ut_prof_print_diff(out, before, p, &report);
	else if (o->report == UT_HOT_FOLDED)
		ut_folded_write(out, p);
	else if (o->report == UT_HOT_ANNOTATE)
		rc = print_annotated(o, p, out, err);
	else
		rc = print_tree(o, p, out, err);
	if (!rc)
		return ut_out_commit(out, err);
	ut_out_abandon(out);
	return rc;
}

/* ---- the picture --------------------------------------------------------------------------- */

static int hotspots_report_draw(const struct ut_hotspots_opts *o, const struct ut_prof *p,
				const struct ut_prof *before, struct ut_err *err)
{
	struct ut_out *out = ut_out_open(o->picture, UT_OUT_OVERWRITE);
	struct ut_scene *scene = ut_flame_scene(p, before);
	int rc = ut_picture_write(scene, ut_picture_format_of(o->picture), out, err);

	ut_scene_free(scene);
	if (rc) {
		ut_out_abandon(out);
		return rc;
	}
	rc = ut_out_commit(out, err);
	if (!rc)
		ut_log(UT_INFO, "Flame graph is stored in %s", o->picture);
	return rc;
}

int ut_hotspots_report(const struct ut_hotspots_opts *o, const struct ut_words *words,
		       struct ut_err *err)
{
	struct ut_prof_opts opts = { .event = o->sampled,
				     .task = o->task,
				     .function = o->function,
				     .addresses = o->report == UT_HOT_ANNOTATE };
	struct ut_prof now, before;
	struct ut_filter filter;
	int rc;

	if (o->report == UT_HOT_THREADS)
		return ut_hotspots_report_threads(o, words, err);
	rc = ut_filter_init(&filter, &o->filter, err);
	if (rc)
		return rc;
	if (!ut_filter_is_open(&filter))
		opts.filter = &filter;
	rc = read_profile(&now, &opts, words->count, words->items, err);
	if (o->before) {
		opts.filter = NULL; /* times and threads of another run are others */
		if (!rc)
			rc = read_profile(&before, &opts, 1, &o->before, err);
		else
			ut_prof_init(&before, &opts);
	}
	if (!rc)
		rc = hotspots_report_print(o, &now, o->before ? &before : NULL, err);
	if (!rc && o->picture)
		rc = hotspots_report_draw(o, &now, o->before ? &before : NULL, err);
	if (o->before)
		ut_prof_release(&before);
	ut_prof_release(&now);
	ut_filter_release(&filter);
	return rc;
}
