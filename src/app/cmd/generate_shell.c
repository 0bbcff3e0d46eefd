/*
 * generate_shell.c - completions for bash, zsh and fish: options, their values, commands.
 */
#include "cmd/generate.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/opt.h"
#include "cmd/cmd.h"
#include "text/out.h"

#define NOTE "written by unitrace --generate; do not edit.\n"

static bool generate_shell_is_shown(const struct ut_opt *o)
{
	return o->type != UT_OPT_HEADING && !o->hidden;
}

/* Calls fn for every command with its options. */
static void each_command(struct ut_out *out,
			 void (*fn)(struct ut_out *out, const struct ut_cmd *cmd,
				    const struct ut_opt *table))
{
	struct ut_arena arena = { 0 };

	for (size_t i = 0; ut_cmds[i]; i++)
		fn(out, ut_cmds[i], ut_cmds[i]->options(&arena));
	ut_arena_release(&arena);
}

static void put_command_names(struct ut_out *out)
{
	for (size_t i = 0; ut_cmds[i]; i++)
		ut_out_fmt(out, "%s ", ut_cmds[i]->name);
	ut_out_text(out, "help");
}

/* "-o --output", all options or only those that take a value */
static void generate_shell_put_names(struct ut_out *out, const struct ut_opt *table,
				     bool values_only)
{
	const char *blank = "";

	for (const struct ut_opt *o = table; o->type; o++) {
		if (!generate_shell_is_shown(o) || (values_only && !ut_opt_has_value(o)))
			continue;
		if (o->letter) {
			ut_out_fmt(out, "%s-%c", blank, o->letter);
			blank = " ";
		}
		ut_out_fmt(out, "%s--%s", blank, o->name);
		blank = " ";
	}
}

static void put_bash_values(struct ut_out *out, const struct ut_opt *table)
{
	for (const struct ut_opt *o = table; o->type; o++) {
		if (!generate_shell_is_shown(o) || !ut_opt_has_value(o) || !o->words)
			continue;
		if (o->letter)
			ut_out_fmt(out, "\t-%c | ", o->letter);
		ut_out_fmt(out, "%s--%s)\n", o->letter ? "" : "\t", o->name);
		if (!strcmp(o->words, "<file>"))
			ut_out_text(out, "\t\t_unitrace_reply -f ;;\n");
		else if (!strcmp(o->words, "<dir>"))
			ut_out_text(out, "\t\t_unitrace_reply -d ;;\n");
		else
			ut_out_fmt(out, "\t\t_unitrace_reply -W '%s' ;;\n", o->words);
	}
}

/* The command's name as a part of a variable's, which has no "-". */
static void put_bash_name(struct ut_out *out, const struct ut_cmd *cmd)
{
	for (const char *p = cmd->name; *p; p++)
		ut_out_write(out, *p == '-' ? "_" : p, 1);
}

static void put_bash_command(struct ut_out *out, const struct ut_cmd *cmd,
			     const struct ut_opt *table)
{
	ut_out_text(out, "\n_unitrace_options_");
	put_bash_name(out, cmd);
	ut_out_text(out, "='");
	generate_shell_put_names(out, table, false);
	ut_out_text(out, "'\n_unitrace_valued_");
	put_bash_name(out, cmd);
	ut_out_text(out, "=' ");
	generate_shell_put_names(out, table, true);
	ut_out_text(out, " '\n_unitrace_value_");
	put_bash_name(out, cmd);
	ut_out_text(out, "()\n{\n\tcase \"$1\" in\n");
	put_bash_values(out, table);
	ut_out_text(out, "\tesac\n}\n");
}

void ut_generate_bash(struct ut_out *out)
{
	ut_out_text(out, "# Completion of unitrace for bash, " NOTE
			 "# shellcheck shell=bash disable=SC2034,SC2154,SC2207\n"
			 "\n_unitrace_reply()\n{\n"
			 "\tCOMPREPLY=($(compgen \"$@\" -- \"$cur\"))\n}\n");
	each_command(out, put_bash_command);
	ut_out_text(out,
		    "\n_unitrace()\n{\n"
		    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		    "\tlocal cmd=record i=1 options valued\n"
		    "\tCOMPREPLY=()\n"
		    "\t# --option=value arrives as three words\n"
		    "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
		    "\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
		    "\tif ((COMP_CWORD > 1)); then\n"
		    "\t\tcase \"${COMP_WORDS[1]}\" in\n");
	for (size_t i = 0; ut_cmds[i]; i++) {
		ut_out_fmt(out, "\t\t%s) cmd=", ut_cmds[i]->name);
		put_bash_name(out, ut_cmds[i]);
		ut_out_text(out, " i=2 ;;\n");
	}
	ut_out_text(out, "\t\thelp)\n\t\t\t_unitrace_reply -W '");
	put_command_names(out);
	ut_out_text(out, "'\n\t\t\treturn ;;\n\t\tesac\n\tfi\n"
			 "\toptions=_unitrace_options_$cmd valued=_unitrace_valued_$cmd\n"
			 "\t# behind the program to record, its own completion takes over\n"
			 "\twhile [[ $cmd == record ]] && ((i < COMP_CWORD)); do\n"
			 "\t\tcase \"${COMP_WORDS[i]}\" in\n"
			 "\t\t--)\n\t\t\t((i++))\n\t\t\tbreak ;;\n"
			 "\t\t=) ((i++)) ;;\n"
			 "\t\t-*)\n"
			 "\t\t\t[[ ${!valued} == *\" ${COMP_WORDS[i]} \"* && "
			 "${COMP_WORDS[i+1]} != = ]] && ((i++)) ;;\n"
			 "\t\t*) break ;;\n"
			 "\t\tesac\n\t\t((i++))\n\tdone\n"
			 "\tif [[ $cmd == record ]] && ((i < COMP_CWORD)); then\n"
			 "\t\tif declare -F _command_offset >/dev/null; then\n"
			 "\t\t\t_command_offset $i\n\t\telse\n\t\t\t_unitrace_reply -f\n\t\tfi\n"
			 "\t\treturn\n\tfi\n"
			 "\tif [[ ${!valued} == *\" $prev \"* ]]; then\n"
			 "\t\t_unitrace_value_$cmd \"$prev\"\n"
			 "\telif [[ $cur == -* ]]; then\n"
			 "\t\t_unitrace_reply -W \"${!options}\"\n"
			 "\telif [[ $cmd == record ]]; then\n"
			 "\t\t# our commands first; programs only if none of ours begins so\n"
			 "\t\t((COMP_CWORD == 1)) && _unitrace_reply -W '");
	put_command_names(out);
	ut_out_text(out, "'\n"
			 "\t\tif ((${#COMPREPLY[@]})); then\n"
			 "\t\t\tCOMPREPLY+=($(compgen -f -- \"$cur\"))\n"
			 "\t\telse\n\t\t\t_unitrace_reply -c -f\n\t\tfi\n"
			 "\telse\n\t\t_unitrace_reply -f\n\tfi\n}\n"
			 "complete -o filenames -F _unitrace unitrace\n");
}

/* Inside single quotes; zsh's _arguments also wants brackets and colons escaped. */
static void put_quoted(struct ut_out *out, const char *text, const char *escape)
{
	for (; *text; text++) {
		if (*text == '\'')
			ut_out_text(out, "'\\''");
		else if (strchr(escape, *text))
			ut_out_fmt(out, "\\%c", *text);
		else
			ut_out_write(out, text, 1);
	}
}

static void put_zsh_spec(struct ut_out *out, const struct ut_opt *o, const char *name,
			 const char *joint)
{
	ut_out_fmt(out, "\t\t'*%s%s[", name, ut_opt_has_value(o) ? joint : "");
	put_quoted(out, o->help, "[]:\\");
	ut_out_text(out, "]");
	if (ut_opt_has_value(o)) {
		ut_out_text(out, ":");
		put_quoted(out, o->arg, "[]:\\");
		ut_out_text(out, ":");
		if (!o->words)
			ut_out_text(out, " ");
		else if (!strcmp(o->words, "<file>"))
			ut_out_text(out, "_files");
		else if (!strcmp(o->words, "<dir>"))
			ut_out_text(out, "_files -/");
		else
			ut_out_fmt(out, "(%s)", o->words);
	}
	ut_out_text(out, "' \\\n");
}

static void put_zsh_command(struct ut_out *out, const struct ut_cmd *cmd,
			    const struct ut_opt *table)
{
	char name[64];

	ut_out_fmt(out, "\n_unitrace_%s() {\n\t_arguments -S \\\n", cmd->name);
	for (const struct ut_opt *o = table; o->type; o++) {
		if (!generate_shell_is_shown(o))
			continue;
		if (o->letter) {
			name[0] = '-';
			name[1] = o->letter;
			name[2] = '\0';
			put_zsh_spec(out, o, name, "+");
		}
		snprintf(name, sizeof(name), "--%s", o->name);
		put_zsh_spec(out, o, name, "=");
	}
	if (!strcmp(cmd->name, "record"))
		ut_out_text(out, "\t\t'(-):program:_command_names -e' \\\n"
				 "\t\t'*::arguments:_normal'\n}\n");
	else
		ut_out_text(out, "\t\t'*:recording:_files'\n}\n");
}

void ut_generate_zsh(struct ut_out *out)
{
	ut_out_text(out, "#compdef unitrace\n# Completion of unitrace for zsh, " NOTE);
	each_command(out, put_zsh_command);
	ut_out_text(out, "\n_unitrace() {\n\tlocal -a commands\n\tcommands=(\n");
	for (size_t i = 0; ut_cmds[i]; i++) {
		ut_out_fmt(out, "\t\t'%s:", ut_cmds[i]->name);
		put_quoted(out, ut_cmds[i]->summary, ":\\");
		ut_out_text(out, "'\n");
	}
	ut_out_text(out, "\t\t'help:explain a command'\n\t)\n"
			 "\tif (( CURRENT > 2 )); then\n\t\tcase $words[2] in\n\t\t(");
	for (size_t i = 0; ut_cmds[i]; i++)
		ut_out_fmt(out, "%s%s", i ? "|" : "", ut_cmds[i]->name);
	ut_out_text(out, ")\n\t\t\tlocal cmd=$words[2]\n\t\t\tshift words\n"
			 "\t\t\t(( CURRENT-- ))\n\t\t\t_unitrace_$cmd\n\t\t\treturn ;;\n"
			 "\t\t(help)\n\t\t\t_describe -t commands command commands\n"
			 "\t\t\treturn ;;\n\t\tesac\n\tfi\n"
			 "\t(( CURRENT == 2 )) && [[ $words[2] != -* ]] &&\n"
			 "\t\t_describe -t commands command commands\n"
			 "\t_unitrace_record\n}\n\n_unitrace \"$@\"\n");
}

/* The condition "not behind another command": then the program to record is meant. */
static void put_fish_recording(struct ut_out *out)
{
	ut_out_text(out, "'not __fish_seen_subcommand_from");
	for (size_t i = 0; ut_cmds[i]; i++) {
		if (ut_cmds[i] != &ut_cmd_record)
			ut_out_fmt(out, " %s", ut_cmds[i]->name);
	}
	ut_out_text(out, " help'");
}

static void put_fish_option(struct ut_out *out, const struct ut_cmd *cmd, const struct ut_opt *o)
{
	ut_out_text(out, "complete -c unitrace -n ");
	if (cmd == &ut_cmd_record)
		put_fish_recording(out);
	else
		ut_out_fmt(out, "'__fish_seen_subcommand_from %s'", cmd->name);
	if (o->letter)
		ut_out_fmt(out, " -s %c", o->letter);
	ut_out_fmt(out, " -l %s", o->name);
	if (ut_opt_has_value(o))
		ut_out_text(out, " -r");
	if (o->words && !strcmp(o->words, "<dir>"))
		ut_out_text(out, " -a '(__fish_complete_directories)'");
	else if (o->words && o->words[0] != '<')
		ut_out_fmt(out, " -f -a '%s'", o->words);
	ut_out_text(out, " -d '");
	put_quoted(out, o->help, "");
	ut_out_text(out, "'\n");
}

static void put_fish_command(struct ut_out *out, const struct ut_cmd *cmd,
			     const struct ut_opt *table)
{
	ut_out_fmt(out, "complete -c unitrace -n __fish_use_subcommand -a %s -d '", cmd->name);
	put_quoted(out, cmd->summary, "");
	ut_out_text(out, "'\n");
	for (const struct ut_opt *o = table; o->type; o++) {
		if (generate_shell_is_shown(o))
			put_fish_option(out, cmd, o);
	}
}

void ut_generate_fish(struct ut_out *out)
{
	ut_out_text(out, "# Completion of unitrace for fish, " NOTE);
	each_command(out, put_fish_command);
	ut_out_text(out, "complete -c unitrace -n __fish_use_subcommand -a help "
			 "-d 'explain a command'\n"
			 "complete -c unitrace -n '__fish_seen_subcommand_from help' -f -a '");
	for (size_t i = 0; ut_cmds[i]; i++)
		ut_out_fmt(out, "%s%s", i ? " " : "", ut_cmds[i]->name);
	ut_out_text(out, "'\ncomplete -c unitrace -n ");
	put_fish_recording(out);
	ut_out_text(out, " -a '(__fish_complete_subcommand)'\n");
}
