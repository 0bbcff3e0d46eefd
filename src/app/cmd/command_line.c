#include "cmd/command_line.h"

#include "cmd/cmd.h"
#include "cmd/last_recording.h"

bool ut_command_line_parse(struct ut_command_line *l, const struct ut_cmd *cmd,
			   const struct ut_opt *table, const bool *help, int argc,
			   const char *const *argv)
{
	int rc = ut_words_parse(&l->words, &l->arena, table, argc, argv, &l->err);

	if (!rc && !*help)
		return true;
	l->status = rc ? ut_cmd_misuse(cmd, &l->err) : ut_cmd_help(cmd);
	return false;
}

bool ut_command_line_last(struct ut_command_line *l)
{
	if (ut_last_recording_fill(&l->words, &l->arena))
		return true;
	l->status = UT_EXIT_MISUSE;
	return false;
}

bool ut_command_line_read(struct ut_command_line *l, const struct ut_cmd *cmd,
			  const struct ut_opt *table, const bool *help, int argc,
			  const char *const *argv)
{
	return ut_command_line_parse(l, cmd, table, help, argc, argv) && ut_command_line_last(l);
}

int ut_command_line_end(struct ut_command_line *l)
{
	ut_arena_release(&l->arena);
	return l->status;
}
