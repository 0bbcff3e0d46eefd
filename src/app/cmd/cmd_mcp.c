/*
 * cmd_mcp.c - `unitrace mcp`: traces for assistants, over standard input and output.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/size.h"
#include "cmd/command_line.h"
#include "mcp/mcp.h"

struct mcp_opts {
	const char *output;
	uint64_t threads, timeout;
	bool help;
};

/* Nobody but the protocol writes to standard output: all else that does meets standard error. */
static int take_output(struct ut_err *err)
{
	int out = dup(STDOUT_FILENO);

	if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return ut_err_set(err, -errno, "standard output: %s", strerror(errno));
	return out;
}

static int mcp(const struct mcp_opts *o, const struct ut_words *words, struct ut_err *err)
{
	struct ut_mcp_options options = { .folders = words->items,
					  .folder_count = (size_t)words->count,
					  .threads = (unsigned int)o->threads,
					  .timeout = o->timeout };
	int rc = o->output ? ut_size_parse(o->output, &options.output, err) : 0;
	int out;

	if (!rc && o->output && (options.output < 1024 || options.output > (16u << 20)))
		rc = ut_err_set(err, -EINVAL, "--max-output: from 1K to 16M");
	if (rc)
		return ut_cmd_misuse(&ut_cmd_mcp, err);
	signal(SIGPIPE, SIG_IGN);
	out = take_output(err);
	rc = out < 0 ? out : ut_mcp_serve(&options, STDIN_FILENO, out, err);
	return rc ? ut_cmd_fail(&ut_cmd_mcp, err) : UT_EXIT_OK;
}

static const struct ut_opt *cmd_mcp_make_table(struct ut_arena *a, struct mcp_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_str(0, "max-output", "SIZE", &o->output,
			   "text of one answer at most; more is cut, and that is said (48K)"),
		ut_opt_range(ut_opt_u64(0, "timeout", "SECONDS", &o->timeout,
					"end SQL that takes longer (60)"),
			     1, 86400),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read and count (one per core)"),
			     1, 256),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int cmd_mcp(int argc, const char *const *argv)
{
	struct mcp_opts opts = { 0 };
	struct ut_command_line line = { 0 };

	if (!ut_command_line_parse(&line, &ut_cmd_mcp, cmd_mcp_make_table(&line.arena, &opts),
				   &opts.help, argc, argv))
		return ut_command_line_end(&line);
	if (line.words.count) {
		line.status = mcp(&opts, &line.words, &line.err);
	} else {
		ut_err_set(&line.err, -EINVAL, "no folder is named that traces may be read from");
		line.status = ut_cmd_misuse(&ut_cmd_mcp, &line.err);
	}
	return ut_command_line_end(&line);
}

static const struct ut_opt *mcp_options(struct ut_arena *a)
{
	return cmd_mcp_make_table(a, UT_NEW(a, struct mcp_opts));
}

const struct ut_cmd ut_cmd_mcp = {
	.name = "mcp",
	.usage = "[OPTIONS] FOLDER...",
	.summary = "let an assistant read traces (Model Context Protocol)",
	.description =
		"Speaks the Model Context Protocol over standard input and output, for assistants\n"
		"that start it. Its tools list and open traces, tell what is wrong with them, "
		"give\n"
		"statistics, answer SQL, find what is slow and odd, compare two traces, and draw "
		"a\n"
		"window as a picture. Every answer says how it was computed and is bounded.\n"
		"\n"
		"It only reads, and only below the folders that are named: '..' and links are\n"
		"refused. A program to record that is called mcp: unitrace -- mcp",
	.examples = "  what an assistant is told to start:\n"
		    "    unitrace mcp /data/traces\n"
		    "  by hand: one question, one answer\n"
		    "    printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | "
		    "unitrace mcp .\n",
	.options = mcp_options,
	.run = cmd_mcp,
};
