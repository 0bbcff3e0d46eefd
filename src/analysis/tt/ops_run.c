#include "tt/ops_run.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "export/out_check.h"
#include "import/load.h"
#include "ops/from_trace.h"
#include "ops/page_view.h"
#include "ops/report.h"
#include "ops/write_report.h"
#include "text/out.h"
#include "tt/ops_files.h"
#include "tt/ops_folders.h"
#include "tt/ops_tracy.h"
#include "view/view.h"

/* ---- names --------------------------------------------------------------------------------- */

/* The original put the day before the month in 2023; scripts that look for its files rely on it. */
static const char *date_text(struct ut_arena *a, bool tracy)
{
	time_t now = time(NULL);
	char text[64];
	struct tm tm;

	localtime_r(&now, &tm);
	if (tracy)
		strftime(text, sizeof(text), "%Y_%m_%d_%H_%M_%S", &tm);
	else
		strftime(text, sizeof(text), "%Y_%d_%m_%H_%M", &tm);
	return ut_arena_copy(a, text, strlen(text));
}

/* Where a report goes and what its files are called, without their suffix. */
struct place {
	const char *folder, *name;
	const char *cores; /* of the table of times per core; 2026 */
};

static struct place place_of_seed(const struct ut_ops_opts *o, struct ut_arena *a)
{
	const char *name = o->date ? date_text(a, false) : "profile_log_ops";

	return (struct place){ .folder = o->output ? o->output : UT_OPS_OUTPUT,
			       .name = o->append ? ut_str_fmt(a, "%s_%s", name, o->append) : name };
}

static struct place place_of_tracy(const struct ut_ops_opts *o, const char *logs,
				   struct ut_arena *a)
{
	const char *folder = o->output, *suffix = "";

	if (!folder)
		folder = ut_path_join(a, ut_ops_files_parent(a, logs), "reports");
	if (o->append) {
		folder = ut_path_join(a, folder, o->append);
		suffix = ut_str_fmt(a, "_%s", o->append);
	}
	if (o->date) {
		const char *date = date_text(a, true);

		folder = ut_path_join(a, folder, date);
		suffix = ut_str_fmt(a, "%s_%s", suffix, date);
	}
	return (struct place){ .folder = folder,
			       .name = ut_str_fmt(a, "ops_perf_results%s", suffix),
			       .cores = ut_str_fmt(a, "per_core_op_to_op_times%s", suffix) };
}

/* ---- the report ---------------------------------------------------------------------------- */

static int ops_run_write_file(const struct ut_ops_report *r, const char *path,
			      void (*write)(const struct ut_ops_report *r, struct ut_out *out),
			      struct ut_err *err)
{
	struct ut_out *out = ut_out_open(path, UT_OUT_OVERWRITE);

	write(r, out);
	return ut_out_commit(out, err);
}

/* The view stays with the files if it is to be shown. */
static int ops_run_write_page(const struct ut_ops_report *r, const struct ut_ops_about *about,
			      const struct ut_ops_opts *o, struct ut_ops_files *files,
			      struct ut_err *err)
{
	struct ut_view *v = ut_ops_page_view(r, about);
	bool written;
	int rc = ut_ops_page_write(v, files->page, o->logger, &written, err);

	if (!written)
		files->page = NULL;
	if (!rc && o->webapp)
		files->view = v;
	else
		ut_view_free(v);
	return rc;
}

static int write_report(struct ut_ops_report *r, const struct place *p, struct ut_arena *a,
			struct ut_ops_files *files, struct ut_err *err)
{
	int rc = ut_path_mkdirs(p->folder, err);

	files->csv = ut_str_fmt(a, "%s/%s.csv", p->folder, p->name);
	files->json = ut_str_fmt(a, "%s/%s.json", p->folder, p->name);
	files->page = ut_str_fmt(a, "%s/%s.html", p->folder, p->name);
	ut_ops_report_order(r);
	if (!rc)
		rc = ops_run_write_file(r, files->csv, ut_ops_write_csv, err);
	if (!rc)
		rc = ops_run_write_file(r, files->json, ut_ops_write_json, err);
	return rc;
}

static void ops_run_send_report(const struct ut_ops_report *r, const char *input,
				const struct ut_logger *logger)
{
	if (r->missing)
		ut_logger_log(logger, UT_WARN,
			      "%s: %zu ops that ran on a device have no device times", input,
			      r->missing);
	if (r->names.count > r->column_count)
		ut_logger_log(logger, UT_WARN,
			      "%s: it names more than %u columns; the others are left out", input,
			      UT_OPS_MOST_COLUMNS);
	if (r->problems)
		ut_logger_log(logger, UT_WARN,
			      "%s: %zu of %zu rows are not whole; column PROBLEM says why", input,
			      r->problems, r->row_count);
}

/* ---- traces -------------------------------------------------------------------------------- */

static int add_trace(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	(void)i;
	(void)err;
	ut_ops_trace_add(ctx, store);
	return 0;
}

static int read_traces(struct ut_ops_report *r, const struct ut_ops_opts *o, struct ut_err *err)
{
	const struct ut_load how = { "ops", ut_load_threads(0), .checked = false,
				     .logger = o->logger };
	struct ut_inputs in = { 0 };
	struct ut_ops_trace trace;
	int rc = ut_inputs_find(&in, o->traces ? o->trace_count : 1,
				o->traces ? o->traces : &o->input, o->logger, err);

	ut_ops_trace_init(&trace, r, o->nested);
	if (!rc)
		rc = ut_load_each(&in, &how, add_trace, &trace, err);
	if (!rc && !r->row_count)
		rc = ut_err_set(
			err, -ENODATA,
			"%s: no ops in there, and no work of devices; PyTorch marks its ops "
			"under emit_itt() or torch.profiler",
			o->input);
	ut_ops_trace_release(&trace);
	ut_inputs_release(&in);
	return rc;
}

/* ---- which logs ---------------------------------------------------------------------------- */

struct input {
	enum ut_ops_format format;
	const char *logs; /* the folder, or the first trace */
};

/* Does a folder hold traces, and no folders of ops? */
static bool has_traces(const struct ut_ops_opts *o, const char *folder)
{
	struct ut_inputs in = { 0 };
	struct ut_err err = { 0 };
	bool found =
		!ut_ops_folder_has_ops(folder) && !ut_inputs_find(&in, 1, &folder, o->logger, &err);

	ut_inputs_release(&in);
	return found;
}

static const char *ops_run_kind_of(const struct input *in)
{
	switch (in->format) {
	case UT_OPS_TRACE:
		return "trace";
	case UT_OPS_TRACY:
		return "tt-metal's logs of 2026";
	case UT_OPS_SEED:
	case UT_OPS_AUTO:
		break;
	}
	return "tt-metal's logs of 2023";
}

/* What was asked for, or what it looks like. */
static struct input input_of(const struct ut_ops_opts *o, struct ut_arena *a)
{
	const char *folder = ut_ops_tracy_file(o->input) ? ut_path_dir(a, o->input)
							 : ut_ops_tracy_folder(a, o->input);
	const char *logs = folder ? folder : o->input;
	bool exists =
		ut_path_exists(o->input) || strpbrk(o->input, "*?[") || !strcmp(o->input, "-");

	if (o->format == UT_OPS_TRACY)
		return (struct input){ UT_OPS_TRACY, logs };
	if (o->format != UT_OPS_AUTO)
		return (struct input){ o->format, o->input };
	if (o->trace_count > 1)
		return (struct input){ UT_OPS_TRACE, o->input };
	if (folder)
		return (struct input){ UT_OPS_TRACY, logs };
	if (ut_path_is_dir(o->input) ? has_traces(o, o->input) : exists)
		return (struct input){ UT_OPS_TRACE, o->input };
	return (struct input){ UT_OPS_SEED, o->input };
}

static int read_tracy(struct ut_ops_report *r, struct ut_ops_report *cores,
		      const struct ut_ops_opts *o, const char *logs, struct ut_err *err)
{
	const struct ut_ops_tracy_opts opts = { .logger = o->logger,
						.device_only = o->device_only,
						.legacy = o->legacy,
						.analyses = o->analyses,
						.cores = cores };

	if (o->noc_traces)
		ut_logger_log(o->logger, UT_WARN,
			      "tt-npe is not asked; the device report's NoC columns are shown");
	return ut_ops_read_tracy(r, logs, &opts, err);
}

static int read_logs(struct ut_ops_report *r, struct ut_ops_report *cores,
		     const struct ut_ops_opts *o, const struct input *in, struct ut_err *err)
{
	switch (in->format) {
	case UT_OPS_TRACE:
		return read_traces(r, o, err);
	case UT_OPS_TRACY:
		return read_tracy(r, cores, o, in->logs, err);
	case UT_OPS_SEED:
	case UT_OPS_AUTO:
		break;
	}
	return ut_ops_read_folder(r, in->logs, o->logger, err);
}

int ut_ops_run(const struct ut_ops_opts *o, struct ut_arena *a, struct ut_ops_files *files,
	       struct ut_err *err)
{
	const struct input in = input_of(o, a);
	struct place place =
		in.format == UT_OPS_TRACY ? place_of_tracy(o, in.logs, a) : place_of_seed(o, a);
	struct ut_ops_report r, cores;
	int rc;

	*files = (struct ut_ops_files){ 0 };
	ut_ops_report_init(&r);
	ut_ops_report_init(&cores);
	rc = ut_out_check_folder(place.folder, err);
	if (!rc)
		rc = read_logs(&r, &cores, o, &in, err);
	if (!rc)
		rc = write_report(&r, &place, a, files, err);
	if (!rc)
		rc = ops_run_write_page(&r, &(struct ut_ops_about){ in.logs, ops_run_kind_of(&in) },
					o, files, err);
	if (!rc && cores.shown) {
		files->cores = ut_str_fmt(a, "%s/%s.csv", place.folder, place.cores);
		rc = ops_run_write_file(&cores, files->cores, ut_ops_write_csv, err);
	}
	/* a single file may lie among anything */
	if (!rc && !o->no_tarball && in.format != UT_OPS_TRACE && ut_path_is_dir(o->input)) {
		files->tarball = ut_str_fmt(a, "%s/%s.tgz", place.folder, place.name);
		rc = ut_ops_files_pack(in.logs, in.format == UT_OPS_SEED, files->tarball, o->logger,
				       err);
	}
	if (!rc && in.format == UT_OPS_TRACY)
		ut_ops_files_copy(in.logs, place.folder, o->logger);
	if (!rc)
		ops_run_send_report(&r, in.logs, o->logger);
	ut_ops_report_release(&r);
	ut_ops_report_release(&cores);
	return rc;
}
