/*
 * cmd_metrics.c - `unitrace metrics`: charts and reports of hardware metrics.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "cmd/chart_file.h"
#include "cmd/command_line.h"
#include "cmd/metrics_folder.h"
#include "cmd/metrics_options.h"
#include "cmd/metrics_serve.h"
#include "cmd/metrics_work.h"
#include "cmd/words.h"
#include "export/out_check.h"
#include "metrics/metrics_index.h"
#include "text/out.h"
#include "text/replaced.h"

/* ---- the list ------------------------------------------------------------------------------- */

static int list_file(struct ut_out *out, const char *path, bool with_name, struct ut_err *err)
{
	struct ut_metrics_index index;
	int rc = ut_metrics_index_make(&index, path, ut_log_stderr(), err);

	if (rc)
		return rc;
	if (with_name)
		ut_out_fmt(out, "%s\n", path);
	ut_metrics_index_list(&index, out);
	ut_metrics_index_release(&index);
	return 0;
}

/* Of a folder, all files, with their names if there are several. */
static int metrics_list(const struct ut_metrics_opts *o, struct ut_err *err)
{
	struct ut_words files = { .items = (const char *[]){ o->input }, .count = 1 };
	struct ut_arena arena = { 0 };
	struct ut_out *out = ut_out_open(o->given.output ? o->given.output : "-", UT_OUT_OVERWRITE);
	int rc = 0;

	if (ut_metrics_is_folder(o->input))
		rc = ut_metrics_folder_list(&files, &arena, o->input, err);
	for (int i = 0; i < files.count && !rc; i++)
		rc = list_file(out, files.items[i], files.count > 1, err);
	ut_arena_release(&arena);
	if (!rc)
		return ut_out_commit(out, err);
	ut_out_abandon(out);
	return rc;
}

/* ---- charts and reports --------------------------------------------------------------------- */

static int write_report(const struct ut_metrics_work *w, const char *path, struct ut_err *err)
{
	struct ut_out *out = ut_out_open(path ? path : "-", UT_OUT_OVERWRITE);
	bool json = w->opts->given.json;
	size_t len;
	const char *text = ut_out_data(json ? w->json : w->text, &len);

	ut_out_write(out, text, len);
	ut_out_text(out, json ? "\n" : "");
	return ut_out_commit(out, err);
}

static void metrics_attach(void *work, struct ut_view *view)
{
	ut_metrics_work_attach(work, view);
}

static int write_results(struct ut_metrics_work *w, struct ut_err *err)
{
	const struct ut_metrics_given *g = &w->opts->given;
	struct ut_chart_file file = {
		.path = g->output,
		.title = g->title ? g->title : "Performance Metrics",
		.input = w->opts->input,
		.charts = w->charts.charts,
		.count = w->charts.count,
		.attach = metrics_attach,
		.ctx = w,
	};
	int rc = 0;

	if (w->reported) {
		if (!g->csv)
			file.report.ptr = ut_out_data(w->text, &file.report.len);
		rc = write_report(w, g->report, err);
	}
	if (!rc && g->output)
		rc = ut_chart_file_write(&file, err);
	if (!rc && w->trouble.code && !w->reported)
		rc = ut_err_set(err, w->trouble.code, "%s", w->trouble.text);
	if ((g->report || g->shaders) && !w->is_stall)
		ut_log(UT_WARN, "-s and -r are for files of --stall-sampling: nothing is reported");
	return rc;
}

static int check_output(const struct ut_metrics_opts *o, struct ut_err *err)
{
	const struct ut_metrics_given *g = &o->given;
	char *input = (char *)(uintptr_t)o->input;
	int rc = ut_replaced_check(g->output, &input, 1, err);

	if (!rc)
		rc = ut_replaced_check(g->report, &input, 1, err);
	if (!rc && g->report)
		rc = ut_out_check(g->report, NULL, UT_OUT_OVERWRITE, err);
	if (!rc && g->output && !g->list)
		rc = ut_chart_file_check(g->output, err);
	return rc;
}

static int metrics_draw(const struct ut_metrics_opts *o, struct ut_err *err)
{
	struct ut_metrics_work w;
	int rc = ut_metrics_work_do(&w, o, &o->want, err);

	if (rc)
		return rc;
	rc = write_results(&w, err);
	ut_metrics_work_release(&w);
	return rc;
}

/* ---- glue ----------------------------------------------------------------------------------- */

static bool is_served(const struct ut_metrics_opts *o)
{
	return o->given.http || o->given.https;
}

static int work(const struct ut_metrics_opts *o, struct ut_err *err)
{
	if (o->given.list)
		return metrics_list(o, err);
	return is_served(o) ? ut_metrics_serve(o, err) : metrics_draw(o, err);
}

static int metrics_finalize(struct ut_metrics_opts *o, struct ut_command_line *line)
{
	int rc;

	if (line->words.count != 1)
		return ut_err_set(&line->err, -EINVAL, "%s",
				  line->words.count
					  ? "one file of metrics at a time, please"
					  : "which file of metrics? See -o of unitrace -q "
					    "or -k");
	o->input = line->words.items[0];
	rc = ut_metrics_options_finalize(o, &line->arena, &line->err);
	if (!rc && !o->given.list && ut_metrics_is_folder(o->input))
		rc = ut_metrics_folder_pick(&o->input, &line->arena, o->input, o->want.device,
					    &line->err);
	if (!rc && !o->given.list && !is_served(o) && !o->given.output && !o->given.shaders)
		rc = ut_err_set(&line->err, -EINVAL, "Error: -o/--output is missing");
	return rc;
}

/* What every reader says of a file that is not there, in the words of the original. */
static int look_for(const char *path, int rc, struct ut_err *err)
{
	if (rc != -ENOENT && rc != -EACCES && rc != -EISDIR)
		return rc;
	if (err->text[0] && !strstr(err->text, path))
		return rc;
	*err = (struct ut_err){ 0 };
	return ut_err_set(err, rc, "File %s does not exist or cannot be opened: %s", path,
			  strerror(-rc));
}

static int cmd_metrics(int argc, const char *const *argv)
{
	struct ut_metrics_opts opts = { .given = { .port = UINT64_MAX } };
	struct ut_command_line line = { 0 };
	int rc;

	if (ut_command_line_parse(&line, &ut_cmd_metrics,
				  ut_metrics_options(&line.arena, &opts.given), &opts.given.help,
				  argc, argv)) {
		rc = metrics_finalize(&opts, &line);
		if (!rc)
			rc = check_output(&opts, &line.err);
		if (rc == -EINVAL) {
			line.status = ut_cmd_misuse(&ut_cmd_metrics, &line.err);
		} else {
			if (!rc)
				rc = work(&opts, &line.err);
			if (rc) {
				look_for(opts.input, rc, &line.err);
				line.status = ut_cmd_fail(&ut_cmd_metrics, &line.err);
			}
		}
	}
	ut_metrics_given_release(&opts.given);
	return ut_command_line_end(&line);
}

static const struct ut_opt *metrics_options(struct ut_arena *a)
{
	return ut_metrics_options(a, UT_NEW(a, struct ut_metrics_given));
}

const struct ut_cmd ut_cmd_metrics = {
	.name = "metrics",
	.usage = "[OPTIONS] FILE",
	.summary = "draw hardware metrics of kernels, and say why their instructions stall",
	.description =
		"Reads a file of hardware metrics, as unitrace -q, -k and --stall-sampling leave\n"
		"it, and draws what is asked for: metrics of an instance of a kernel, of all of\n"
		"them, of a whole device, as lines over time or as bars, and throughputs. Each -m\n"
		"and -b is a chart of its own. Of stalls it draws where they are, instruction by\n"
		"instruction, and with the code of the kernel (-s) reports what each of them\n"
		"waits for. -q shows the same in a browser, at the links that kernels have in a\n"
		"timeline.",
	.examples =
		"  what is in the file:\n"
		"    unitrace metrics -l perf.metrics.12345.csv\n"
		"  two charts of the second instance of a kernel:\n"
		"    unitrace metrics -k 'gemm[SIMD32 {64; 1; 1} {256; 1; 1}]' -i 2 \\\n"
		"      -m 'XVE_STALL[%],XVE_ACTIVE[%]' -y 'Share (%)' \\\n"
		"      -m 'L3_BYTE_READ[bytes]' -y 'Bytes' -o chart.pdf perf.metrics.12345.csv\n"
		"  what instructions wait for:\n"
		"    unitrace metrics -k gemm -s dump -o stalls.pdf stall.metrics.12345.csv\n"
		"  the kernel's source with the samples of each line:\n"
		"    unitrace metrics -k gemm -s dump --annotate source stall.metrics.12345.csv\n",
	.options = metrics_options,
	.run = cmd_metrics,
};
