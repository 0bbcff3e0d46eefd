/*
 * cmd_ops.c - `unitrace ops`: a row per op of Tenstorrent's libraries, host and device together.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/opt.h"
#include "cmd/ops_options.h"
#include "cmd/ops_run.h"
#include "cmd/ops_serve.h"
#include "cmd/words.h"
#include "ttops/today.h"

static int set_format(void *ctx, const char *value, struct ut_err *err)
{
	static const char *const names[] = {
		[UT_OPS_AUTO] = "auto",
		[UT_OPS_SEED] = "2023",
		[UT_OPS_TODAY] = "2026",
	};
	enum ut_ops_format *format = ctx;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(value, names[i])) {
			*format = (enum ut_ops_format)i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "auto, 2023 or 2026, not '%s'", value);
}

static const struct ut_opt *ops_table(struct ut_arena *a, struct ut_ops_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_words(ut_opt_str('i', "ops-folder", "DIR", &o->input,
					"the logs (" UT_OPS_INPUT "); the same as a plain word"),
			     "<dir>"),
		ut_opt_words(ut_opt_str('o', "output-folder", "DIR", &o->output,
					"where the report goes (" UT_OPS_OUTPUT
					"; reports beside .logs)"),
			     "<dir>"),
		ut_opt_str('n', "name-append", "TEXT", &o->append, "put behind the report's name"),
		ut_opt_flag(0, "date", &o->date, "the time becomes part of the report's name"),
		ut_opt_words(ut_opt_call("format", "YEAR", set_format, &o->format,
					 "logs and columns: auto, 2023 or 2026"),
			     "auto 2023 2026"),
		ut_opt_flag(0, "no-tarball", &o->no_tarball, "do not pack the logs"),
		ut_opt_flag(0, "webapp", &o->webapp, "then show the report on 127.0.0.1"),
		ut_opt_range(ut_opt_u64('p', "port", "PORT", &o->port,
					"where --webapp listens (8050); 0 takes a free one"),
			     0, 65535),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

/* Today's script knows one folder, -o: it reads .logs in it and writes reports into it. */
static int take_words(struct ut_ops_opts *o, const struct ut_words *words, struct ut_arena *a,
		      struct ut_err *err)
{
	if (words->count > 1 || (words->count && o->input))
		return ut_err_set(err, -EINVAL, "one folder at a time");
	if (words->count)
		o->input = words->items[0];
	if (!o->input && o->output && ut_ops_today_folder(a, o->output)) {
		o->input = o->output;
		o->output = NULL;
	}
	o->input = o->input ? o->input : UT_OPS_INPUT;
	return 0;
}

static int run(const struct ut_ops_opts *o, struct ut_arena *a, struct ut_err *err)
{
	struct ut_ops_files files;
	int rc = ut_ops_run(o, a, &files, err);

	if (rc)
		return rc;
	printf("%s\n", files.csv);
	fflush(stdout);
	return o->webapp ? ut_ops_serve(&files, (uint16_t)o->port, err) : 0;
}

static int cmd_ops(int argc, const char *const *argv)
{
	struct ut_ops_opts opts = { .port = UT_OPS_PORT };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, ops_table(&arena, &opts), argc, argv, &err);
	int status = UT_EXIT_OK;

	if (!rc && !opts.help)
		rc = take_words(&opts, &words, &arena, &err);
	if (rc)
		status = ut_cmd_misuse(&ut_cmd_ops, &err);
	else if (opts.help)
		status = ut_cmd_help(&ut_cmd_ops);
	else if (run(&opts, &arena, &err))
		status = ut_cmd_fail(&ut_cmd_ops, &err);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *ops_options(struct ut_arena *a)
{
	return ops_table(a, UT_NEW(a, struct ut_ops_opts));
}

const struct ut_cmd ut_cmd_ops = {
	.name = "ops",
	.usage = "[OPTIONS] [FOLDER]",
	.summary = "report host and device times of every op of Tenstorrent's libraries",
	.description =
		"Reads the logs of ops that tt-metal writes and does what its process_ops_logs.py\n"
		"does: a CSV file with a row per op, host and device together, and a tarball of\n"
		"the logs; the same rows as JSON and as a page. Both kinds of logs are known: a\n"
		"folder per op (2023) and exports of Tracy beside a device report (2026).\n\n"
		"Whatever is wrong with one op is told in its row; the others have theirs.",
	.examples = "  unitrace ops logs/ops\n"
		    "  unitrace ops -i generated/profiler -n resnet --date\n"
		    "  unitrace ops logs/ops --webapp -p 8050\n",
	.options = ops_options,
	.run = cmd_ops,
};
