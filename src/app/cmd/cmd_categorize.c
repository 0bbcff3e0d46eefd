/*
 * cmd_categorize.c - `unitrace categorize`: a schema of kernels, as people write it, for `summary`.
 */
#include "cmd/cmd.h"

#include <errno.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "category/ready.h"
#include "category/schema.h"
#include "cmd/command_line.h"
#include "text/file_text.h"
#include "text/out.h"

#define MOST_BYTES (16u << 20)

struct categorize_opts {
	const char *input, *output;
	bool remove_spaces, keep_spaces, help;
	int verbose;
};

static int louder(void *ctx, const char *value, struct ut_err *err)
{
	struct categorize_opts *o = ctx;

	(void)value;
	(void)err;
	o->verbose++;
	return 0;
}

static const struct ut_opt *categorize_make_table(struct ut_arena *a, struct categorize_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_words(ut_opt_str('i', "input", "FILE.ini", &o->input,
					"the schema to read, or one that comes with unitrace"),
			     "<file>"),
		ut_opt_hidden(ut_opt_str(0, "ini", "FILE.ini", &o->input, "the same")),
		ut_opt_words(ut_opt_str('o', "output", "FILE.json", &o->output,
					"where to write it (standard output)"),
			     "<file>"),
		ut_opt_hidden(ut_opt_str(0, "json", "FILE.json", &o->output, "the same")),
		ut_opt_flag(0, "remove-spaces", &o->remove_spaces,
			    "blanks count neither in rules nor in names (the default)"),
		ut_opt_flag(0, "no-remove-spaces", &o->keep_spaces, "blanks count"),
		ut_opt_letter('v',
			      ut_opt_call("verbose", NULL, louder, o, "twice: one key a line")),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int convert(const struct categorize_opts *o, struct ut_err *err)
{
	struct ut_schema schema = { .ignore_spaces = !o->keep_spaces };
	struct ut_str ini = { 0 };
	struct ut_buf text = { 0 }, json = { 0 };
	int rc = 0;

	if (!ut_path_exists(o->input))
		ini = ut_schema_ready(o->input);
	if (!ini.ptr) {
		rc = ut_file_text(o->input, MOST_BYTES, &text, err);
		ini = (struct ut_str){ text.len ? text.data : "", text.len };
	}
	if (!rc)
		rc = ut_schema_read_ini(&schema, o->input, ini, ut_log_stderr(), err);
	if (!rc)
		rc = ut_schema_write_json(&schema, o->verbose > 1, &json, err);
	if (!rc) {
		struct ut_out *out =
			ut_out_open(o->output ? o->output : "-", UT_OUT_OVERWRITE | UT_OUT_RENEW);

		ut_out_write(out, json.data, json.len);
		rc = ut_out_commit(out, err);
	}
	ut_schema_release(&schema);
	ut_buf_release(&text);
	ut_buf_release(&json);
	return rc;
}

static int categorize_check(struct categorize_opts *o, const struct ut_words *words,
			    struct ut_err *err)
{
	if (words->count == 1 && !o->input)
		o->input = words->items[0];
	else if (words->count)
		return ut_err_set(err, -EINVAL, "one schema at a time");
	if (!o->input)
		return ut_err_set(err, -EINVAL, "which schema? --input FILE.ini is missing");
	if (o->keep_spaces && o->remove_spaces)
		return ut_err_set(err, -EINVAL,
				  "--remove-spaces and --no-remove-spaces exclude each "
				  "other");
	return 0;
}

static int cmd_categorize(int argc, const char *const *argv)
{
	struct categorize_opts opts = { 0 };
	struct ut_command_line line = { 0 };

	if (ut_command_line_parse(&line, &ut_cmd_categorize,
				  categorize_make_table(&line.arena, &opts), &opts.help, argc,
				  argv)) {
		if (categorize_check(&opts, &line.words, &line.err))
			line.status = ut_cmd_misuse(&ut_cmd_categorize, &line.err);
		else if (convert(&opts, &line.err))
			line.status = ut_cmd_fail(&ut_cmd_categorize, &line.err);
	}
	return ut_command_line_end(&line);
}

static const struct ut_opt *categorize_options(struct ut_arena *a)
{
	return categorize_make_table(a, UT_NEW(a, struct categorize_opts));
}

const struct ut_cmd ut_cmd_categorize = {
	.name = "categorize",
	.usage = "--input FILE.ini [--output FILE.json]",
	.summary = "turn a schema of kernels (INI) into the form that summary and other tools read",
	.description =
		"A schema says which category a kernel belongs to, by its name. It is a text of\n"
		"sections [CATEGORY if CONDITION], each followed by names or parts of names, one\n"
		"a line; a condition is 'equals to', 'starts with', 'ends with', 'contains' or\n"
		"'matches' (a regular expression). Lines that begin with # are remarks, and of\n"
		"[CATEGORY.SUB if ...] only CATEGORY counts. unitrace summary takes the INI file\n"
		"itself as well; the JSON is what Intel's tools read.",
	.examples = "  unitrace categorize --input LLaMA.ini --output LLaMA.json\n",
	.options = categorize_options,
	.run = cmd_categorize,
};
