#include "workbench/run_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/size.h"
#include "base/str.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "text/shell_words.h"
#include "workbench/analyses.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"

#define WORD_MOST      4096u
#define WORDS_MOST     512u
#define VARIABLES_MOST 256u
#define PID_MOST       4194304 /* what the kernel can have at most */

/* ---- reading -------------------------------------------------------------------------------- */

struct reading {
	const struct ut_data_dir *data_dir;
	struct ut_arena *arena;
	const struct ut_doc *asked;
	struct ut_run_plan *plan;
};

void ut_run_plan_add_problem(struct ut_run_plan *p, struct ut_arena *a, const char *field,
			     const char *text)
{
	if (p->problem_count == UT_RUN_PROBLEMS)
		return;
	p->problems[p->problem_count++] =
		(struct ut_run_problem){ field, ut_arena_copy(a, text, strlen(text)) };
}

static void run_plan_complain(struct reading *r, const char *field, const char *text)
{
	ut_run_plan_add_problem(r->plan, r->arena, field, text);
}

/* A text of one line, "" where there is none. */
static const char *run_plan_text_of(struct reading *r, const char *field)
{
	const struct ut_doc *t = ut_doc_get(r->asked, field);
	const char *text = ut_doc_own_text(t);

	if (!t || t->kind == UT_DOC_NULL)
		return "";
	if (!text) {
		run_plan_complain(r, field, "is no text");
		return "";
	}
	if (strlen(text) > WORD_MOST || strpbrk(text, "\n\r")) {
		run_plan_complain(r, field, "is too long, or has a line break");
		return "";
	}
	return text;
}

/* A list of words, or a text that is split into words. */
static const char **run_plan_words_of(struct reading *r, const char *field, const char *list,
				      size_t *count)
{
	const struct ut_doc *t = ut_doc_get(r->asked, list);
	const char **words = NULL;
	struct ut_err err = { 0 };

	*count = 0;
	if (t && t->kind == UT_DOC_LIST) {
		words = UT_NEW_N(r->arena, const char *, t->count + 1);
		for (const struct ut_doc *w = t->first; w; w = w->next) {
			const char *word = ut_doc_own_text(w);

			if (word)
				words[(*count)++] = word;
			else
				run_plan_complain(r, list, "has something that is no text");
		}
	} else if (t && t->kind != UT_DOC_NULL) {
		run_plan_complain(r, list, "is no list");
	} else if (ut_shell_words(r->arena, ut_str_of(run_plan_text_of(r, field)), &words, count,
				  NULL, &err)) {
		run_plan_complain(r, field, err.text);
		*count = 0;
	}
	if (*count > WORDS_MOST) {
		run_plan_complain(r, field, "are too many words");
		*count = 0;
	}
	return words;
}

/* As shells have them: others would need quotes that nobody expects. */
static bool is_variable(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return name && name[0] && strlen(name) < 256 && strspn(name, letters) == strlen(name) &&
	       (name[0] < '0' || name[0] > '9');
}

static void read_variables(struct reading *r)
{
	const struct ut_doc *list = ut_doc_get(r->asked, "environment");
	struct ut_run_plan *p = r->plan;

	if (!list || list->kind == UT_DOC_NULL)
		return;
	if (list->kind != UT_DOC_LIST) {
		run_plan_complain(r, "environment", "is no list");
		return;
	}
	if (list->count > VARIABLES_MOST) {
		run_plan_complain(r, "environment", "are too many variables");
		return;
	}
	p->variables = UT_NEW_N(r->arena, struct ut_run_variable, list->count + 1);
	for (const struct ut_doc *t = list->first; t; t = t->next) {
		const char *name = ut_doc_text(t, "name"), *value = ut_doc_text(t, "value");

		if (!is_variable(name) || !value)
			run_plan_complain(
				r, "environment",
				"a variable has a name of letters, digits and _, and a value");
		else
			p->variables[p->variable_count++] = (struct ut_run_variable){ name, value };
	}
}

/* Seconds as a number, or a time with its unit. */
static const char *run_plan_time_of(struct reading *r, const char *field)
{
	const struct ut_doc *t = ut_doc_get(r->asked, field);
	const char *text;
	uint64_t ns;

	if (t && t->kind == UT_DOC_NUMBER) {
		if (t->number > 0 && t->number < 1e8)
			return ut_str_fmt(r->arena, "%.15gs", t->number);
		run_plan_complain(r, field, "is no time");
		return "";
	}
	text = run_plan_text_of(r, field);
	if (text[0] && (ut_time_parse(text, &ns, NULL) || !ns)) {
		run_plan_complain(r, field, "is no time: 10s, 250ms, 2min");
		return "";
	}
	return text;
}

static const char *run_plan_size_of(struct reading *r, const char *field)
{
	const char *text = run_plan_text_of(r, field);
	uint64_t bytes;

	if (text[0] && (ut_size_parse(text, &bytes, NULL) || !bytes)) {
		run_plan_complain(r, field, "is no size: 4G, 500M");
		return "";
	}
	return text;
}

static const char *run_plan_last_of(struct reading *r, const char *field)
{
	const char *text = run_plan_text_of(r, field);
	uint64_t bytes, ns;

	if (text[0] && ut_size_or_time_parse(text, &bytes, &ns, NULL)) {
		run_plan_complain(r, field, "is neither a size nor a time: 64M, 10s");
		return "";
	}
	return text;
}

/* What the page or a script has chosen for an option, else what the analysis has. */
static const char *option_value(struct reading *r, const struct ut_analysis_value *v,
				const struct ut_run_option *o)
{
	const struct ut_doc *t = ut_doc_get(ut_doc_get(r->asked, "options"), v->key);
	const char *value = v->value;
	struct ut_err err = { 0 };

	if (!t || t->kind == UT_DOC_NULL)
		return value;
	if (t->kind == UT_DOC_FLAG)
		value = t->flag ? "1" : "";
	else if (t->kind == UT_DOC_NUMBER)
		value = ut_str_fmt(r->arena, "%.0f", t->number);
	else
		value = ut_doc_own_text(t);
	if (!value || ut_run_option_check(o, value, &err)) {
		run_plan_complain(r, o->key, value ? err.text : "is no value");
		return v->value;
	}
	if (!v->open && strcmp(value, v->value) != 0)
		run_plan_complain(r, o->key, "can be changed in a clone of this analysis only");
	return value;
}

static void read_options(struct reading *r)
{
	struct ut_run_plan *p = r->plan;
	const char *id = run_plan_text_of(r, "analysis");

	p->analysis = id[0] ? ut_analysis_find(r->data_dir, r->arena, id) : NULL;
	if (!p->analysis) {
		run_plan_complain(r, "analysis",
				  id[0] ? "there is no such analysis" : "choose one");
		return;
	}
	for (size_t i = 0; i < p->analysis->count; i++) {
		const struct ut_analysis_value *v = &p->analysis->values[i];
		const struct ut_run_option *o = ut_run_option_find(v->key);

		p->options[p->option_count++] =
			(struct ut_run_variable){ o->key, option_value(r, v, o) };
	}
}

static const char *run_plan_value_of(const struct ut_run_plan *p, const char *key)
{
	for (size_t i = 0; i < p->option_count; i++) {
		if (!strcmp(p->options[i].name, key))
			return p->options[i].value;
	}
	return "";
}

/* What samples alone do not tell is not recorded under its name. */
static void check_attached(struct reading *r)
{
	const struct ut_run_plan *p = r->plan;
	bool sampled = false, more = false;

	for (size_t i = 0; i < p->option_count; i++) {
		const struct ut_run_option *o = ut_run_option_find(p->options[i].name);
		bool on = p->options[i].value[0] && !(o->with && !run_plan_value_of(p, o->with)[0]);

		sampled |= on && o->attach;
		more |= on && !o->attach;
	}
	if (p->analysis && (!sampled || more))
		run_plan_complain(
			r, "analysis",
			ut_str_fmt(r->arena,
				   "%s takes a program that is started: of a process that runs "
				   "already there are CPU samples alone, choose Hotspots",
				   p->analysis->title));
}

static void read_what(struct reading *r)
{
	static const char *const kinds[] = { "launch", "attach", "mpi" };
	struct ut_run_plan *p = r->plan;
	const char *what = run_plan_text_of(r, "what");

	for (size_t i = 0; i < 3; i++) {
		if (!strcmp(what, kinds[i]))
			p->what = (enum ut_run_what)i;
	}
	if (what[0] && strcmp(what, kinds[p->what]) != 0)
		run_plan_complain(r, "what", "is none of launch, attach, mpi");
	p->application = run_plan_text_of(r, "application");
	p->arguments = run_plan_words_of(r, "parameters", "arguments", &p->argument_count);
	p->launcher = run_plan_words_of(r, "launcher", "launcherWords", &p->launcher_count);
	p->pid = (long)ut_doc_count(r->asked, "pid", PID_MOST, 0);
	if (p->what == UT_RUN_ATTACH && !p->pid)
		run_plan_complain(r, "pid", "which process?");
	if (p->what != UT_RUN_ATTACH && !p->application[0])
		run_plan_complain(r, "application", "which program?");
	if (p->application[0] == '-')
		run_plan_complain(r, "application", "begins with a dash: it would be an option");
	if (p->what == UT_RUN_MPI && !p->launcher_count)
		run_plan_complain(r, "launcher", "how are ranks started? mpiexec -n 4");
	if (p->what == UT_RUN_ATTACH && ut_doc_flag(r->asked, "paused", false))
		run_plan_complain(r, "paused", "a process that is attached to is recorded at once");
}

int ut_run_plan_read(const struct ut_data_dir *s, struct ut_arena *a, const struct ut_doc *t,
		     struct ut_run_plan *p, struct ut_err *err)
{
	struct reading r = { s, a, t, p };

	*p = (struct ut_run_plan){ 0 };
	if (!t || t->kind != UT_DOC_OBJECT)
		return ut_err_set(err, -EINVAL, "what to run is an object");
	read_what(&r);
	p->target = run_plan_text_of(&r, "target");
	p->directory = run_plan_text_of(&r, "directory");
	if (p->directory[0] && p->directory[0] != '/')
		run_plan_complain(&r, "directory", "begins with a slash");
	read_variables(&r);
	p->children = ut_doc_flag(t, "children", true);
	p->paused = ut_doc_flag(t, "paused", false);
	p->resume_after = run_plan_time_of(&r, "resumeAfter");
	p->stop_after = run_plan_time_of(&r, "stopAfter");
	p->duration = run_plan_time_of(&r, "duration");
	p->max_size = run_plan_size_of(&r, "maxSize");
	p->keep_last = run_plan_last_of(&r, "keepLast");
	p->name = run_plan_text_of(&r, "name");
	if (p->name[0] && !ut_folder_name_fits(p->name))
		run_plan_complain(&r, "name", "cannot be the name of a folder");
	if (p->resume_after[0] && !p->paused)
		p->paused = true; /* until then */
	read_options(&r);
	if (p->what == UT_RUN_ATTACH)
		check_attached(&r);
	return 0;
}

/* ---- the line ------------------------------------------------------------------------------- */

struct making {
	struct ut_arena *arena;
	struct ut_run_line *line;
	size_t cap;
};

static void run_plan_add(struct making *m, const char *word)
{
	struct ut_run_line *l = m->line;

	if (l->count + 1 < m->cap)
		l->words[l->count++] = word;
}

static void run_plan_add_pair(struct making *m, const char *option, const char *value)
{
	if (!value[0])
		return;
	run_plan_add(m, option);
	run_plan_add(m, value);
}

/* "-g %", "--sampling=%", "-d -h": words, in which a % stands for the value. */
static void add_option(struct making *m, const char *words, const char *value)
{
	while (*words) {
		size_t len = strcspn(words, " ");
		const char *mark = memchr(words, '%', len);

		if (mark)
			run_plan_add(m, ut_str_fmt(m->arena, "%.*s%s", (int)(mark - words), words,
						   value));
		else
			run_plan_add(m, ut_arena_copy(m->arena, words, len));
		words += len;
		words += *words == ' ';
	}
}

static void add_options(struct making *m, const struct ut_run_plan *p)
{
	for (size_t i = 0; i < ut_run_option_count; i++) {
		const struct ut_run_option *o = &ut_run_options[i];
		const char *value = run_plan_value_of(p, o->key);

		if (!value[0] || (o->with && !run_plan_value_of(p, o->with)[0]) ||
		    (p->what == UT_RUN_ATTACH && !o->attach))
			continue;
		add_option(m, o->words, value);
	}
}

static void add_when(struct making *m, const struct ut_run_plan *p)
{
	if (p->what == UT_RUN_ATTACH) {
		run_plan_add_pair(m, "--attach", ut_str_fmt(m->arena, "%ld", p->pid));
		run_plan_add_pair(m, "--duration", p->duration);
		return;
	}
	run_plan_add(m, "--one-switch");
	if (p->paused)
		run_plan_add(m, "--start-paused");
	run_plan_add_pair(m, "--resume-after", p->resume_after);
	run_plan_add_pair(m, "--stop-after", p->stop_after);
	if (!p->children)
		run_plan_add_pair(m, "--follow-child-process", "0");
	run_plan_add_pair(m, "--max-size", p->max_size);
	run_plan_add_pair(m, "--keep-last", p->keep_last);
}

/* Patterns such as %p are for people who type them: the name of a folder has none. */
static const char *as_it_is(struct ut_arena *a, const char *folder)
{
	struct ut_buf text = { 0 };

	for (const char *p = folder; *p; p++) {
		ut_buf_char(&text, *p);
		if (*p == '%')
			ut_buf_char(&text, '%');
	}
	return ut_buf_take(&text, a);
}

void ut_run_line_make(const struct ut_run_plan *p, struct ut_arena *a, const char *program,
		      const char *folder, struct ut_run_line *line)
{
	struct making m = { a, line, p->argument_count + p->launcher_count + 100 };

	*line = (struct ut_run_line){ .directory = p->directory,
				      .variables = p->variables,
				      .variable_count = p->variable_count };
	line->words = UT_NEW_N(a, const char *, m.cap);
	for (size_t i = 0; p->what == UT_RUN_MPI && i < p->launcher_count; i++)
		run_plan_add(&m, p->launcher[i]);
	run_plan_add(&m, program);
	line->own = line->count;
	add_when(&m, p);
	if (p->analysis)
		add_options(&m, p);
	if (folder[0]) {
		run_plan_add_pair(&m, "--format", "utr");
		run_plan_add_pair(&m, "--output-dir-path", as_it_is(a, folder));
		run_plan_add_pair(&m, "--event-log", ut_str_fmt(a, "%s/" UT_LOG_FILE, folder));
	}
	if (p->what == UT_RUN_ATTACH)
		return;
	run_plan_add(&m, "--");
	run_plan_add(&m, p->application);
	for (size_t i = 0; i < p->argument_count; i++)
		run_plan_add(&m, p->arguments[i]);
}

void ut_run_line_shell(const struct ut_run_line *line, struct ut_buf *to)
{
	if (line->directory[0]) {
		ut_buf_text(to, "cd ");
		ut_shell_quote(to, line->directory);
		ut_buf_text(to, " && ");
	}
	for (size_t i = 0; i < line->variable_count; i++) {
		ut_buf_fmt(to, "%s=", line->variables[i].name);
		ut_shell_quote(to, line->variables[i].value);
		ut_buf_char(to, ' ');
	}
	for (size_t i = 0; i < line->count; i++) {
		ut_buf_text(to, i ? " " : "");
		ut_shell_quote(to, line->words[i]);
	}
}

void ut_run_line_write(const struct ut_run_line *line, struct ut_json_writer *w)
{
	ut_write_open(w, "words", '[');
	for (size_t i = 0; i < line->count; i++)
		ut_write_text(w, NULL, line->words[i]);
	ut_write_close(w, ']');
	ut_write_text(w, "directory", line->directory);
	ut_write_open(w, "variables", '[');
	for (size_t i = 0; i < line->variable_count; i++) {
		ut_write_open(w, NULL, '{');
		ut_write_text(w, "name", line->variables[i].name);
		ut_write_text(w, "value", line->variables[i].value);
		ut_write_close(w, '}');
	}
	ut_write_close(w, ']');
}
