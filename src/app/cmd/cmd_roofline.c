/*
 * cmd_roofline.c - `unitrace roofline`: where kernels stand under the roof of their device.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "cmd/command_line.h"
#include "cmd/roofline_files.h"
#include "cmd/table_options.h"
#include "metrics/roofline.h"
#include "metrics/roofline_device.h"
#include "metrics/roofline_read.h"
#include "metrics/roofline_table.h"
#include "metrics/roofline_words.h"
#include "session/roofline_runs.h"
#include "text/out.h"
#include "text/replaced.h"
#include "text/table_report.h"

#define SAID 3 /* kernels that have a sentence of their own */

struct roofline_opts {
	struct ut_table_opts print;
	const char *compute, *memory, *app, *unitrace, *groups, *device, *output;
	bool levels, original, measure, help;
};

static const struct ut_opt *cmd_roofline_make_table(struct ut_arena *a, struct roofline_opts *o)
{
	struct ut_table_opts *p = &o->print;
	const struct ut_opt table[] = {
		ut_opt_heading("What is measured"),
		ut_opt_str(0, "app", "COMMAND", &o->app,
			   "run this and measure it: once, or twice if it takes two groups of "
			   "metrics"),
		ut_opt_words(ut_opt_str(0, "compute", "FILE", &o->compute,
					"metrics of operations, from unitrace -q (Intel: -g "
					"VectorEngine138)"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "memory", "FILE", &o->memory,
					"metrics of memory (Intel: -g ComputeBasic); either may be "
					"the other, and one is enough if it has both"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "unitrace", "PATH", &o->unitrace,
					"--app: who records (this program)"),
			     "<file>"),
		ut_opt_str(0, "groups", "A[,B]", &o->groups,
			   "--app: groups of metrics (Roofline; of a device with XMX "
			   "ComputeBasic,VectorEngine138)"),
		ut_opt_heading("The device"),
		ut_opt_words(ut_opt_str('d', "device", "FILE", &o->device,
					"what the device can do at most: a file, or one that comes "
					"with unitrace (h200, pvc-1tile)"),
			     "<file>"),
		ut_opt_flag(0, "measure-device", &o->measure,
			    "measure this machine's NVIDIA device instead, and write such a file; "
			    "needs nvcc"),
		ut_opt_heading("Results"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->output,
					"where to write: .html, .svg, .pdf, .png, .csv or .json; a "
					"name without any of them gets .html"),
			     "<file>"),
		ut_opt_flag(0, "levels", &o->levels,
			    "a row for each level of memory: bytes, bandwidth, hits"),
		ut_opt_flag(0, "original", &o->original, "print the table of Intel's roofline.py"),
		UT_TABLE_OPT_JSON(p),
		UT_TABLE_OPT_CSV(p),
		UT_TABLE_OPT_CSV_SAFE(p),
		UT_TABLE_OPT_SORT(p),
		UT_TABLE_OPT_ROWS(p, "20"),
		UT_TABLE_OPT_LIMIT(p),
		UT_TABLE_OPT_WIDTH(p, "48"),
		UT_TABLE_OPT_COLOUR(p),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

/* ---- where numbers come from ------------------------------------------------------------------
 */

static void split_groups(const struct roofline_opts *o, const struct ut_roof *r, struct ut_arena *a,
			 const char *groups[UT_ROOFLINE_GROUPS])
{
	const char *words = o->groups            ? o->groups
			    : r->device.says_xmx ? "ComputeBasic,VectorEngine138"
						 : "Roofline";
	const char *comma = strchr(words, ',');

	groups[0] = comma ? ut_arena_copy(a, words, (size_t)(comma - words)) : words;
	groups[1] = comma ? comma + 1 : NULL;
}

static int read_app(const struct roofline_opts *o, struct ut_roof *r, struct ut_err *err)
{
	struct ut_roofline_runs runs = { .app = o->app,
					 .unitrace = o->unitrace,
					 .logger = ut_log_stderr() };
	const char *folder = ut_roofline_folder(&r->arena, err);
	int rc;

	if (!folder)
		return err->code;
	split_groups(o, r, &r->arena, runs.groups);
	rc = ut_roofline_runs(&runs, &r->arena, folder, err);
	if (!rc)
		rc = ut_roof_read(r, runs.profiles[1], runs.profiles[0], ut_log_stderr(), err);
	ut_roofline_remove(folder, ut_log_stderr());
	return rc;
}

static int cmd_roofline_measure(const struct roofline_opts *o, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_roof_device device;
	struct ut_buf text = { 0 };
	struct ut_out *out;
	const char *folder = ut_roofline_folder(&arena, err);
	int rc = folder ? ut_roofline_measure(ut_roof_device_program(), &arena, folder,
					      ut_log_stderr(), &text, err)
			: err->code;

	ut_roofline_remove(folder, ut_log_stderr());
	if (!rc) /* what we write can be read */
		rc = ut_roof_device_read(&device, &arena, "peaks",
					 (struct ut_str){ text.data, text.len }, ut_log_stderr(),
					 err);
	if (!rc) {
		out = ut_out_open(o->output ? o->output : "-", UT_OUT_OVERWRITE);
		ut_out_write(out, text.data, text.len);
		rc = ut_out_commit(out, err);
	}
	ut_buf_release(&text);
	ut_arena_release(&arena);
	return rc;
}

/* ---- what is printed --------------------------------------------------------------------------
 */

static void print_words(const struct ut_roof *r, struct ut_out *out)
{
	struct ut_buf text = { 0 };

	ut_roof_say_all(r, &text);
	ut_buf_char(&text, '\n');
	for (size_t i = 0; i < r->count && i < SAID; i++) {
		ut_roof_say_kernel(r, &r->kernels[i], 60, &text);
		ut_buf_char(&text, '\n');
	}
	ut_buf_char(&text, '\n');
	ut_out_write(out, text.data, text.len);
	ut_buf_release(&text);
}

static int cmd_roofline_print(const struct roofline_opts *o, const struct ut_roof *r,
			      struct ut_err *err)
{
	struct ut_report_opts how = ut_table_report(&o->print, STDOUT_FILENO, 20);
	struct ut_out *out = ut_out_open("-", 0);
	int rc = 0;

	if (!o->original && how.format == UT_REPORT_TABLE)
		print_words(r, out);
	if (o->original)
		ut_roof_compat(out, r);
	else
		rc = (o->levels ? ut_roof_levels : ut_roof_table)(out, &how, r, err);
	if (!rc)
		return ut_out_commit(out, err);
	ut_out_abandon(out);
	return rc;
}

/* What is read stays as it is; patterns are not looked at. */
static int keep_inputs(const struct roofline_opts *o, const char *path, struct ut_err *err)
{
	const char *const inputs[] = { o->compute, o->memory, o->device };

	for (size_t i = 0; path && i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		if (inputs[i] && ut_same_file(path, inputs[i]))
			return ut_replaced_refuse(path, err);
	}
	return 0;
}

static int roofline(const struct roofline_opts *o, struct ut_roof *r, struct ut_err *err)
{
	struct ut_roofline_file file;
	int rc;

	r->only_simd = o->original;
	rc = ut_roofline_file_check(&file, o->output, &r->arena, err);

	if (!rc)
		rc = keep_inputs(o, file.path, err);
	if (!rc)
		rc = ut_roof_device_open(&r->device, &r->arena, o->device, ut_log_stderr(), err);
	if (!rc)
		rc = o->app ? read_app(o, r, err)
			    : ut_roof_read(r, o->compute, o->memory, ut_log_stderr(), err);
	if (!rc && !r->count)
		rc = ut_err_set(err, -ENODATA, "no kernel was measured");
	if (!rc && o->output)
		rc = ut_roofline_file_write(&file, r, o->levels, err);
	return rc ? rc : cmd_roofline_print(o, r, err);
}

/* ---- glue --------------------------------------------------------------------------------------
 */

/* Plain words are files, whichever is which. */
static int cmd_roofline_take_words(struct roofline_opts *o, const struct ut_words *words,
				   struct ut_err *err)
{
	for (int i = 0; i < words->count; i++) {
		if (!o->memory)
			o->memory = words->items[i];
		else if (!o->compute)
			o->compute = words->items[i];
		else
			return ut_err_set(err, -EINVAL, "'%s': two files of metrics are the most",
					  words->items[i]);
	}
	return 0;
}

static int cmd_roofline_check(struct roofline_opts *o, const struct ut_words *words,
			      struct ut_err *err)
{
	int rc = cmd_roofline_take_words(o, words, err);

	if (rc)
		return rc;
	if (o->measure) {
		if (o->app || o->compute || o->memory || o->device)
			return ut_err_set(err, -EINVAL, "--measure-device takes --output only");
		return 0;
	}
	if (!o->device)
		return ut_err_set(err, -EINVAL,
				  "--device is missing: a file, one of %s, or make one with "
				  "--measure-device",
				  ut_roof_device_names());
	if (o->app && (o->compute || o->memory))
		return ut_err_set(err, -EINVAL, "--app or files of metrics, not both");
	if (!o->app && !o->compute && !o->memory)
		return ut_err_set(err, -EINVAL,
				  "what is to be looked at? --app COMMAND, or --compute FILE and "
				  "--memory FILE");
	if (!o->app && (o->unitrace || o->groups))
		return ut_err_set(err, -EINVAL, "--unitrace and --groups belong to --app");
	if (o->original && (o->levels || o->print.json || o->print.csv))
		return ut_err_set(err, -EINVAL, "--original excludes --levels, --json and --csv");
	rc = ut_roof_check_sort(o->levels, o->print.sort, err);
	return rc ? rc : ut_table_opts_check(&o->print, err);
}

static int cmd_roofline(int argc, const char *const *argv)
{
	struct roofline_opts opts = { .print = { UT_TABLE_OPTS } };
	struct ut_command_line line = { 0 };
	struct ut_roof roof = { 0 };

	if (ut_command_line_parse(&line, &ut_cmd_roofline,
				  cmd_roofline_make_table(&line.arena, &opts), &opts.help, argc,
				  argv)) {
		if (cmd_roofline_check(&opts, &line.words, &line.err))
			line.status = ut_cmd_misuse(&ut_cmd_roofline, &line.err);
		else if (opts.measure ? cmd_roofline_measure(&opts, &line.err)
				      : roofline(&opts, &roof, &line.err))
			line.status = ut_cmd_fail(&ut_cmd_roofline, &line.err);
	}
	ut_roof_release(&roof);
	return ut_command_line_end(&line);
}

static const struct ut_opt *roofline_options(struct ut_arena *a)
{
	return cmd_roofline_make_table(a, UT_NEW(a, struct roofline_opts));
}

const struct ut_cmd ut_cmd_roofline = {
	.name = "roofline",
	.usage = "--device DEVICE [--output FILE] (--app COMMAND | [--compute] FILE [[--memory] "
		 "FILE])",
	.summary = "say what kernels are bound by: operations and bytes against the device's peaks",
	.description =
		"Takes hardware metrics of kernels, or runs a program to get them, and what the\n"
		"device can do at most, and places each kernel under the roof: bound by a unit\n"
		"that computes or by a level of memory, and how near to its limit. Files of both\n"
		"groups that Intel's devices need may be given in either order; one file is "
		"enough\n"
		"where one group has everything (NVIDIA's Roofline).\n\n"
		"The result is a chart (--output, by its suffix a page, a picture or a table) and "
		"a\n"
		"table on standard output.",
	.examples = "  run a program and look at the page:\n"
		    "    unitrace roofline --app ./app --device h200 --output roof.html\n"
		    "  from what was recorded before:\n"
		    "    unitrace -q -g Roofline -o app.csv ./app\n"
		    "    unitrace roofline app.metrics.4711.csv --device h200\n"
		    "  what this GPU can do:\n"
		    "    unitrace roofline --measure-device --output mine.csv\n",
	.options = roofline_options,
	.run = cmd_roofline,
};
