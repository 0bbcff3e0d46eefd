/*
 * generate_man.c - the manual, as man(7) pages.
 */
#include "cmd/generate.h"

#include <string.h>

#include "base/opt.h"
#include "cmd/cmd.h"
#include "text/out.h"
#include "version.h"

#define CHANGED "2026-11-16" /* the last time the wording changed much; man pages want a date */

/* Text as roff shows it: dashes stay dashes, a dot or quote at the start is no request. */
static void put_n(struct ut_out *out, const char *text, size_t len)
{
	bool line_start = true;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (line_start && (c == '.' || c == '\''))
			ut_out_text(out, "\\&");
		if (c == '-')
			ut_out_text(out, "\\-");
		else if (c == '\\')
			ut_out_text(out, "\\e");
		else if (c == '\'')
			ut_out_text(out, "\\(aq");
		else
			ut_out_write(out, &c, 1);
		line_start = c == '\n';
	}
}

static void generate_man_put(struct ut_out *out, const char *text)
{
	put_n(out, text, strlen(text));
}

/* Paragraphs are separated by empty lines in our texts, by .PP in roff. */
static void put_paragraphs(struct ut_out *out, const char *text)
{
	const char *gap;

	while ((gap = strstr(text, "\n\n"))) {
		put_n(out, text, (size_t)(gap - text));
		ut_out_text(out, "\n.PP\n");
		text = gap + 2;
	}
	generate_man_put(out, text);
	ut_out_text(out, "\n");
}

static void generate_man_put_title(struct ut_out *out, const char *name)
{
	ut_out_fmt(out, ".\\\" Written by unitrace \\-\\-generate man. Do not edit.\n");
	ut_out_fmt(out, ".TH %s 1 " CHANGED " \"unitrace " UT_VERSION "\" \"unitrace manual\"\n",
		   name);
}

static void put_option(struct ut_out *out, const struct ut_opt *o)
{
	ut_out_text(out, ".TP\n");
	if (o->letter)
		ut_out_fmt(out, "\\fB\\-%c\\fR, ", o->letter);
	ut_out_text(out, "\\fB\\-\\-");
	generate_man_put(out, o->name);
	ut_out_text(out, "\\fR");
	if (ut_opt_has_value(o)) {
		ut_out_text(out, " \\fI");
		generate_man_put(out, o->arg);
		ut_out_text(out, "\\fR");
	} else if (o->optional) {
		ut_out_text(out, "[=\\fI");
		generate_man_put(out, o->arg);
		ut_out_text(out, "\\fR]");
	}
	ut_out_text(out, "\n");
	generate_man_put(out, o->help);
	ut_out_text(out, "\n");
}

static void put_options(struct ut_out *out, const struct ut_opt *table)
{
	for (const struct ut_opt *o = table; o->type; o++) {
		if (o->hidden)
			continue;
		if (o->type == UT_OPT_HEADING) {
			ut_out_text(out, ".SS ");
			generate_man_put(out, o->help);
			ut_out_text(out, "\n");
		} else {
			put_option(out, o);
		}
	}
}

static void put_examples(struct ut_out *out, const char *examples)
{
	ut_out_text(out, ".SH EXAMPLES\n.nf\n");
	generate_man_put(out, examples);
	ut_out_text(out, ".fi\n");
}

static void put_see_also(struct ut_out *out, const char *but)
{
	bool first = true;

	ut_out_text(out, ".SH SEE ALSO\n");
	if (strcmp(but, "")) {
		ut_out_text(out, "\\fBunitrace\\fR(1)");
		first = false;
	}
	for (size_t i = 0; ut_cmds[i]; i++) {
		if (!strcmp(ut_cmds[i]->name, but))
			continue;
		ut_out_fmt(out, "%s\\fBunitrace\\-%s\\fR(1)", first ? "" : ",\n", ut_cmds[i]->name);
		first = false;
	}
	ut_out_text(out, "\n");
}

void ut_generate_man_program(struct ut_out *out)
{
	generate_man_put_title(out, "UNITRACE");
	ut_out_text(out, ".SH NAME\nunitrace \\- record what an application does\n"
			 ".SH SYNOPSIS\n"
			 "\\fBunitrace\\fR [\\fIOPTIONS\\fR] \\fIPROGRAM\\fR "
			 "[\\fIARGUMENTS\\fR]\n.br\n"
			 "\\fBunitrace\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n"
			 ".SH DESCRIPTION\n");
	put_paragraphs(out, ut_cmd_record.description);
	ut_out_text(out, ".SH COMMANDS\n");
	for (size_t i = 0; ut_cmds[i]; i++) {
		ut_out_fmt(out, ".TP\n\\fB%s\\fR ", ut_cmds[i]->name);
		generate_man_put(out, ut_cmds[i]->usage);
		ut_out_text(out, "\n");
		generate_man_put(out, ut_cmds[i]->summary);
		ut_out_fmt(out, "; see \\fBunitrace\\-%s\\fR(1)\n", ut_cmds[i]->name);
	}
	ut_out_text(out, ".TP\n\\fBhelp\\fR [COMMAND]\nexplain a command\n");
	put_examples(out, ut_cmd_record.examples);
	put_see_also(out, "");
}

/* The names of links that stand for the command. */
static void put_other_names(struct ut_out *out, const struct ut_cmd *cmd)
{
	for (const struct ut_cmd_link *link = ut_cmd_links; link->name; link++) {
		if (strcmp(link->command, cmd->name) != 0)
			continue;
		ut_out_text(out, ".br\n\\fB");
		generate_man_put(out, link->name);
		ut_out_text(out, "\\fR ");
		generate_man_put(out, cmd->usage);
		ut_out_text(out, "\n");
	}
}

void ut_generate_man(struct ut_out *out, const struct ut_cmd *cmd, const struct ut_opt *table)
{
	char title[64] = "UNITRACE\\-";
	size_t at = strlen(title);

	for (size_t i = 0; cmd->name[i] && at + 1 < sizeof(title); i++)
		title[at++] = (char)(cmd->name[i] - 'a' + 'A');
	title[at] = '\0';
	generate_man_put_title(out, title);
	ut_out_fmt(out, ".SH NAME\nunitrace\\-%s \\- ", cmd->name);
	generate_man_put(out, cmd->summary);
	ut_out_fmt(out, "\n.SH SYNOPSIS\n\\fBunitrace %s\\fR ", cmd->name);
	generate_man_put(out, cmd->usage);
	ut_out_text(out, "\n");
	put_other_names(out, cmd);
	ut_out_text(out, ".SH DESCRIPTION\n");
	put_paragraphs(out, cmd->description);
	if (cmd->takes_last) {
		ut_out_text(out, ".PP\n");
		put_paragraphs(out, UT_CMD_TAKES_LAST);
	}
	ut_out_text(out, ".SH OPTIONS\n");
	put_options(out, table);
	if (cmd->examples)
		put_examples(out, cmd->examples);
	put_see_also(out, cmd->name);
}
