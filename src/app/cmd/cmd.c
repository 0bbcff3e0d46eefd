#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "cmd/features.h"
#include "version.h"

const struct ut_cmd *const ut_cmds[] = {
	&ut_cmd_record,     &ut_cmd_hotspots, &ut_cmd_memory,
	&ut_cmd_view,       &ut_cmd_serve,    &ut_cmd_export,
	&ut_cmd_info,       &ut_cmd_analyze,  &ut_cmd_merge,
	&ut_cmd_stats,      &ut_cmd_diff,     &ut_cmd_validate,
	&ut_cmd_query,      &ut_cmd_filter,   &ut_cmd_head,
	&ut_cmd_devlog,     &ut_cmd_ops,      &ut_cmd_profile_this,
	&ut_cmd_categorize, &ut_cmd_summary,  &ut_cmd_ranks,
	&ut_cmd_metrics,    &ut_cmd_roofline, &ut_cmd_kernels,
	&ut_cmd_addrasm,    &ut_cmd_mcp,      NULL,
};

const struct ut_cmd_link ut_cmd_links[] = {
	{ "vtune-server", "serve" },
	{ "vtune-backend", "serve" },
	{ "uniview", "view" },
	{ "uniview.py", "view" },
	{ "mergetrace", "merge" },
	{ "mergetrace.py", "merge" },
	{ "acelyzer", "analyze" },
	{ "acelyzer.py", "analyze" },
	{ "process_device_log.py", "devlog" },
	{ "process_ops_logs.py", "ops" },
	{ "profile_this.py", "profile-this" },
	{ "categorize", "categorize" },
	{ "categorize.py", "categorize" },
	{ "summary", "summary" },
	{ "summary.py", "summary" },
	{ "analyzeperfmetrics", "metrics" },
	{ "analyzeperfmetrics.py", "metrics" },
	{ "roofline", "roofline" },
	{ "roofline.py", "roofline" },
	{ "addrasm.py", "addrasm" },
	{ NULL, NULL },
};

const struct ut_cmd *ut_cmd_find(const char *name)
{
	if (!strcmp(name, "open")) /* what other tools call it */
		name = ut_cmd_view.name;
	for (size_t i = 0; ut_cmds[i]; i++) {
		if (!strcmp(ut_cmds[i]->name, name))
			return ut_cmds[i];
	}
	return NULL;
}

static void print_options(const struct ut_cmd *cmd)
{
	struct ut_arena arena = { 0 };

	ut_opt_help(stdout, cmd->options(&arena));
	ut_arena_release(&arena);
}

int ut_cmd_help(const struct ut_cmd *cmd)
{
	printf("usage: unitrace %s %s\n\n%s\n\n", cmd->name, cmd->usage, cmd->description);
	if (cmd->takes_last)
		printf(UT_CMD_TAKES_LAST "\n\n");
	print_options(cmd);
	if (cmd->examples)
		printf("\nExamples:\n%s", cmd->examples);
	return UT_EXIT_OK;
}

int ut_cmd_misuse(const struct ut_cmd *cmd, const struct ut_err *err)
{
	ut_log(UT_ERR, "%s", err->text[0] ? err->text : "wrong number of arguments");
	ut_log(UT_ERR, "usage: unitrace %s %s; more with 'unitrace help %s'", cmd->name, cmd->usage,
	       cmd->name);
	return UT_EXIT_MISUSE;
}

int ut_cmd_fail(const struct ut_cmd *cmd, const struct ut_err *err)
{
	(void)cmd; /* the user knows which one it was */
	ut_log(UT_ERR, "%s", err->text[0] ? err->text : strerror(-err->code));
	return UT_EXIT_FAILED;
}

int ut_cmd_overview(bool with_options)
{
	printf("unitrace " UT_VERSION " records what an application does and turns it into a "
	       "timeline and a table.\n\n"
	       "usage: unitrace [OPTIONS] PROGRAM [ARGUMENTS]     record a program\n"
	       "       unitrace COMMAND [OPTIONS] ...\n\nCommands:\n");
	for (size_t i = 0; ut_cmds[i]; i++)
		printf("  %-12s %s\n", ut_cmds[i]->name, ut_cmds[i]->summary);
	printf("  %-12s %s\n", "help", "explain a command: unitrace help COMMAND");
	if (with_options) {
		printf("\n");
		print_options(&ut_cmd_record);
	} else {
		printf("\nTry 'unitrace ./program', 'unitrace help record' for all options.\n");
	}
	return UT_EXIT_OK;
}

int ut_cmd_version(void)
{
	printf("unitrace " UT_VERSION "\n");
	ut_features_print(stdout);
	return UT_EXIT_OK;
}
