/*
 * cmd_summary.c - `unitrace summary`: what all processes of a job spent on each kind of kernel.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "category/ready.h"
#include "category/schema.h"
#include "category/tally_inputs.h"
#include "category/tally_table.h"
#include "cmd/chart_file.h"
#include "cmd/command_line.h"
#include "cmd/summary_chart.h"
#include "cmd/table_options.h"
#include "import/load.h"
#include "text/out.h"
#include "text/table_report.h"

struct summary_opts {
	struct ut_opt_list inputs;
	const char *schema, *output, *aggregator, *chart;
	enum ut_aggregate how;
	struct ut_table_opts print;
	uint64_t threads;
	bool table, names, unknown, keep_empty, help;
	unsigned int verbose; /* how often -v was given */
};

static int louder(void *ctx, const char *value, struct ut_err *err)
{
	struct summary_opts *o = ctx;

	(void)value;
	(void)err;
	o->verbose++;
	return 0;
}

static int skip_empty(void *ctx, const char *value, struct ut_err *err)
{
	struct summary_opts *o = ctx;

	(void)value;
	(void)err;
	o->keep_empty = false;
	return 0;
}

static const struct ut_opt *cmd_summary_make_table(struct ut_arena *a, struct summary_opts *o)
{
	struct ut_table_opts *p = &o->print;
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(
			ut_opt_strs('i', "input", "FILE", &o->inputs,
				    "a tarball, folder or pattern of reports, or traces; may be "
				    "repeated, and FILE alone will do"),
			"<file>"),
		ut_opt_hidden(ut_opt_strs(0, "tarfile", "FILE", &o->inputs, "the same")),
		ut_opt_words(ut_opt_str('s', "schema", "SCHEMA", &o->schema,
					"which name is which category: a file, INI or JSON, or one "
					"that comes with unitrace (pytorch-cuda)"),
			     "<file>"),
		ut_opt_words(
			ut_opt_str(0, "aggregator", "HOW", &o->aggregator,
				   "what to make of one kernel in several processes: mean, min, "
				   "max, median, sum, min+1 or max-1 (mean)"),
			"mean min max median sum min+1 max-1"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->output,
					"where to write (standard output)"),
			     "<file>"),
		ut_opt_hidden(ut_opt_str(0, "json", "FILE", &o->output, "the same")),
		ut_opt_call("skip-empty", NULL, skip_empty, o,
			    "write nothing if there is no kernel at all (the default)"),
		ut_opt_flag(0, "no-skip-empty", &o->keep_empty, "write {} then"),
		ut_opt_letter('v', ut_opt_call("verbose", NULL, louder, o,
					       "list the names that no rule knows, too; may be "
					       "repeated")),
		ut_opt_words(ut_opt_str(0, "chart", "FILE", &o->chart,
					"draw the time of each category, too: .pdf, .svg, .png or "
					".html"),
			     "<file>"),
		ut_opt_heading("Tables instead of JSON"),
		ut_opt_flag('t', "table", &o->table, "categories with their shares"),
		ut_opt_flag(0, "names", &o->names, "every kernel with its category"),
		ut_opt_flag(0, "unknown", &o->unknown, "kernels that no rule knows"),
		UT_TABLE_OPT_CSV(p),
		UT_TABLE_OPT_CSV_SAFE(p),
		UT_TABLE_OPT_SORT(p),
		UT_TABLE_OPT_ROWS(p, "all"),
		UT_TABLE_OPT_LIMIT(p),
		UT_TABLE_OPT_WIDTH(p, "100"),
		UT_TABLE_OPT_COLOUR(p),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read traces (one per core)"),
			     1, 256),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

struct summary {
	const struct summary_opts *opts;
	struct ut_schema schema;
	struct ut_tally tally;
};

static void report_unknown(const struct summary *s)
{
	for (size_t i = 0; i < s->tally.count; i++) {
		const struct ut_tally_name *name = &s->tally.names[i];

		if (!name->whole_run && !ut_schema_category(&s->schema, name->name).ptr)
			ut_log(UT_INFO, "no rule knows: %.*s",
			       (int)(name->name.len < 400 ? name->name.len : 400), name->name.ptr);
	}
}

/* They are in the original's device time: a rule keeps them apart. */
static void report_runs(const struct summary *s)
{
	struct ut_buf names = { 0 };

	for (size_t i = 0; i < s->tally.count; i++) {
		const struct ut_tally_name *name = &s->tally.names[i];

		if (name->whole_run && !ut_schema_category(&s->schema, name->name).ptr)
			ut_buf_fmt(&names, "%s%.*s", names.len ? ", " : "", (int)name->name.len,
				   name->name.ptr);
	}
	if (names.len)
		ut_log(UT_WARN,
		       "no rule knows %s: no kernels, but part of device_time, as in Intel's "
		       "summary.py; [wallclock if equals to] keeps such names apart",
		       names.data);
	ut_buf_release(&names);
}

static int write_result(struct summary *s, struct ut_out *out, struct ut_err *err)
{
	const struct summary_opts *o = s->opts;
	struct ut_report_opts print = ut_table_report(&o->print, o->output ? -1 : STDOUT_FILENO, 0);
	struct ut_tally_line *lines;
	size_t count;

	if (!print.sort && (o->table || o->names || o->unknown))
		print.sort = "time";
	if (o->names || o->unknown)
		return ut_tally_names(out, &print, &s->tally,
				      &(struct ut_tally_choice){ &s->schema, o->how, o->unknown },
				      err);
	if (o->table || o->print.csv) {
		lines = ut_tally_lines(&s->tally, &s->schema, o->how, false, &count);
		return ut_tally_table(out, &print, lines, count, err);
	}
	report_runs(s);
	lines = ut_tally_lines(&s->tally, &s->schema, o->how, true, &count);
	if (count || o->keep_empty)
		ut_tally_json(out, lines, count);
	return 0;
}

/* What the chart says it was made of: "." says nothing. */
static const char *cmd_summary_name_of(const char *path)
{
	const char *name = ut_path_base(path);

	return name[0] == '.' ? "" : name;
}

static int cmd_summary_draw(struct summary *s, struct ut_err *err)
{
	size_t count;
	const struct ut_tally_line *lines =
		ut_tally_lines(&s->tally, &s->schema, s->opts->how, false, &count);

	return ut_summary_chart(s->opts->chart, cmd_summary_name_of(s->opts->inputs.items[0]),
				lines, count, err);
}

static int sum_up(struct summary *s, struct ut_err *err)
{
	const struct summary_opts *o = s->opts;
	const struct ut_tally_load how = { ut_load_threads(o->threads), ut_log_stderr() };
	struct ut_out *out;
	int rc = ut_schema_open(&s->schema, o->schema, ut_log_stderr(), err);

	if (!rc)
		rc = ut_tally_inputs(&s->tally, &how, (int)o->inputs.count, o->inputs.items, err);
	if (rc == -ENODATA && o->keep_empty) {
		ut_log(UT_WARN, "%s", err->text);
		rc = 0;
	}
	if (rc)
		return rc;
	if (o->verbose)
		report_unknown(s);
	out = ut_out_open(o->output ? o->output : "-", UT_OUT_OVERWRITE | UT_OUT_RENEW);
	rc = write_result(s, out, err);
	if (!rc && o->chart)
		rc = cmd_summary_draw(s, err);
	if (!rc)
		return ut_out_commit(out, err);
	ut_out_abandon(out);
	return rc;
}

static int cmd_summary_check(struct summary_opts *o, const struct ut_words *words,
			     struct ut_err *err)
{
	for (int i = 0; i < words->count; i++)
		ut_opt_list_add(&o->inputs, words->items[i]);
	if (!o->inputs.count)
		return ut_err_set(err, -EINVAL, "what is to be summed up? --input is missing");
	if (!o->schema)
		return ut_err_set(err, -EINVAL, "--schema is missing: a file, or %s",
				  ut_schema_ready_names());
	if (o->table + o->names + o->unknown > 1)
		return ut_err_set(err, -EINVAL,
				  "--table, --names and --unknown exclude each other");
	if (o->aggregator && ut_aggregate_find(o->aggregator, &o->how, err))
		return err->code;
	if (o->chart && ut_chart_file_check(o->chart, err))
		return err->code;
	return ut_table_opts_check(&o->print, err);
}

static int cmd_summary(int argc, const char *const *argv)
{
	struct summary_opts opts = { .print = { UT_TABLE_OPTS } };
	struct summary s = { .opts = &opts };
	struct ut_command_line line = { 0 };

	if (ut_command_line_parse(&line, &ut_cmd_summary,
				  cmd_summary_make_table(&line.arena, &opts), &opts.help, argc,
				  argv)) {
		if (cmd_summary_check(&opts, &line.words, &line.err))
			line.status = ut_cmd_misuse(&ut_cmd_summary, &line.err);
		else if (sum_up(&s, &line.err))
			line.status = ut_cmd_fail(&ut_cmd_summary, &line.err);
	}
	ut_tally_release(&s.tally);
	ut_schema_release(&s.schema);
	ut_opt_list_release(&opts.inputs);
	return ut_command_line_end(&line);
}

static const struct ut_opt *summary_options(struct ut_arena *a)
{
	return cmd_summary_make_table(a, UT_NEW(a, struct summary_opts));
}

const struct ut_cmd ut_cmd_summary = {
	.name = "summary",
	.usage = "--schema SCHEMA [OPTIONS] --input TARBALL|DIRECTORY|PATTERN|TRACE...",
	.summary = "sum up kernels of many processes by category",
	.description =
		"Reads what unitrace -d and -r printed in every process of a job (a tarball, a\n"
		"folder, files), or traces of any tool with kernels in them, and says how long\n"
		"kernels of each category took and how often they ran. A schema says which\n"
		"kernel belongs to which category: see unitrace categorize. What one kernel took\n"
		"in several processes is their mean, unless --aggregator says otherwise. Kernels\n"
		"that no rule knows are counted as device, collectives as comm.",
	.examples = "  tar cfz job.tgz output.*\n"
		    "    unitrace summary --input job.tgz --schema LLaMA.json --output job.json\n"
		    "  the same from traces, as a table:\n"
		    "    unitrace summary --schema pytorch-cuda --table ranks/\n"
		    "  and as a picture:\n"
		    "    unitrace summary --schema pytorch-cuda --chart ranks.pdf ranks/\n",
	.options = summary_options,
	.run = cmd_summary,
};
