/* api_runs.c - what can be analysed, the command line for it, and runs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "site/events.h"
#include "site/site_call.h"
#include "text/shell_words.h"
#include "workbench/analyses.h"
#include "workbench/folder.h"
#include "workbench/machines.h"
#include "workbench/processes.h"
#include "workbench/remote_run.h"
#include "workbench/run_plan.h"
#include "workbench/supervisor.h"

#define LISTED 2000u /* entries of a folder */

/* ---- analyses ------------------------------------------------------------------------------- */

int ut_api_analyses(struct ut_call *c, struct ut_err *err)
{
	return ut_analyses_write(&c->site->data_dir, &c->out, err);
}

int ut_api_new_analysis(struct ut_call *c, struct ut_err *err)
{
	return ut_analyses_save(&c->site->data_dir, c->body, false, err);
}

int ut_api_change_analysis(struct ut_call *c, struct ut_err *err)
{
	const char *title;
	int rc = ut_call_text(c, "title", &title, err);

	if (!rc && strcmp(title, c->args[0]) != 0)
		rc = ut_err_set(err, -EINVAL, "the title is another one than that of the address");
	return rc ? rc : ut_analyses_save(&c->site->data_dir, c->body, true, err);
}

int ut_api_drop_analysis(struct ut_call *c, struct ut_err *err)
{
	return ut_analyses_remove(&c->site->data_dir, c->args[0], err);
}

/* ---- the line ------------------------------------------------------------------------------- */

/* What we are called in a shell of this machine: our name, if it leads to us, else our path. */
static const char *own_name(struct ut_call *c)
{
	int code;
	char *found = ut_path_find_program(c->arena, "unitrace", &code);
	char *real = found ? realpath(found, NULL) : NULL;
	bool same = real && !strcmp(real, c->site->opts.program);

	free(real);
	return same ? "unitrace" : c->site->opts.program;
}

/* What `record` itself has to say about the options. */
static void check_line(struct ut_call *c, struct ut_run_plan *p, const struct ut_run_line *line)
{
	struct ut_err err = { 0 };

	if (!c->site->opts.check_line || p->problem_count)
		return;
	if (c->site->opts.check_line((int)(line->count - line->own), line->words + line->own, &err))
		ut_run_plan_add_problem(p, c->arena, "", err.text);
}

static void write_problems(struct ut_json_writer *w, const struct ut_run_plan *p)
{
	ut_write_open(w, "problems", '[');
	for (size_t i = 0; i < p->problem_count; i++) {
		ut_write_open(w, NULL, '{');
		ut_write_text(w, "field", p->problems[i].field);
		ut_write_text(w, "text", p->problems[i].text);
		ut_write_close(w, '}');
	}
	ut_write_close(w, ']');
}

static const char *folder_of(struct ut_call *c, const char *project, const char *result)
{
	return ut_str_fmt(c->arena, "%s/%s/%s", c->site->data_dir.path, project, result);
}

/* Of "bash run.sh" and "python train.py" the script tells more than the program. */
static const char *script_of(struct ut_call *c, const struct ut_run_plan *p)
{
	for (size_t i = 0; i < p->argument_count; i++) {
		const char *base = ut_path_base(p->arguments[i]), *dot = strrchr(base, '.');

		if (base[0] != '-' && dot && dot > base &&
		    (!strcmp(dot, ".py") || !strcmp(dot, ".sh")))
			return ut_arena_copy(c->arena, base, (size_t)(dot - base));
	}
	return ut_path_base(p->application);
}

/* The result's name: what was asked for, or the next number with the program's name behind it. */
static const char *api_runs_name_of(struct ut_call *c, const char *project,
				    const struct ut_run_plan *p)
{
	const char *suffix = p->what == UT_RUN_ATTACH ? "attach" : script_of(c, p);

	if (p->name[0])
		return p->name;
	if (strlen(suffix) > 40 || !ut_folder_name_fits(suffix))
		suffix = "";
	return ut_data_dir_next_name(&c->site->data_dir, c->arena, project, suffix);
}

/* A run that is asked for: the plan, its line, and the machine that it runs on. */
struct asked {
	struct ut_run_plan plan;
	struct ut_run_line line;
	struct ut_machine machine;
	bool is_remote; /* there is one */
};

/* The line, for a result. On another machine our agent says where results go, and who it is. */
static void set_line(struct ut_call *c, struct asked *q, const char *project, const char *result)
{
	if (q->is_remote)
		ut_run_line_make(&q->plan, c->arena, "unitrace", "", &q->line);
	else
		ut_run_line_make(&q->plan, c->arena, own_name(c), folder_of(c, project, result),
				 &q->line);
}

/* Reads what is asked for and makes its line, for a result of this project. */
static int make_line(struct ut_call *c, const char *project, struct asked *q, const char **result,
		     struct ut_err *err)
{
	struct ut_err why = { 0 };
	int rc = ut_run_plan_read(&c->site->data_dir, c->arena, c->body, &q->plan, err);

	if (rc)
		return rc;
	q->is_remote = q->plan.target[0];
	if (q->is_remote &&
	    ut_machine_find(c->site->data_dir.own, c->arena, q->plan.target, &q->machine, &why))
		ut_run_plan_add_problem(&q->plan, c->arena, "target", why.text);
	*result = api_runs_name_of(c, project, &q->plan);
	set_line(c, q, project, *result);
	check_line(c, &q->plan, &q->line);
	return 0;
}

/* Where our files are on another machine, unless unitrace is installed there: the newest copy. */
static void put_remote_path(struct ut_buf *to, const char *folder)
{
	ut_buf_text(to, "PATH=\"$PATH:$(ls -td ");
	if (!strncmp(folder, "~/", 2)) {
		ut_buf_text(to, "~/");
		folder += 2;
	}
	if (folder[0])
		ut_shell_quote(to, folder);
	else
		ut_buf_text(to, "\"${XDG_CACHE_HOME:-$HOME/.cache}\"/unitrace");
	ut_buf_text(to, "/agents/*/bin | head -n 1)\" && ");
}

static void put_ssh(struct ut_call *c, struct ut_buf *to, const struct ut_machine *m)
{
	char name[UT_KEY_NAME];

	ut_machine_key_name(m, name);
	ut_buf_text(to, "ssh ");
	if (m->port)
		ut_buf_fmt(to, "-p %u ", (unsigned int)m->port);
	if (m->identity[0] && !m->password) {
		ut_buf_text(to, "-i ");
		ut_shell_quote(to, m->identity);
		ut_buf_char(to, ' ');
	}
	if (ut_machine_key(c->site->data_dir.own, c->arena, m)[0]) {
		ut_buf_text(to, "-o ");
		ut_shell_quote(to, ut_str_fmt(c->arena, "UserKnownHostsFile=\"%s/.unitrace/%s\"",
					      c->site->data_dir.path, UT_KNOWN_HOSTS_FILE));
		ut_buf_fmt(to, " -o HostKeyAlias=%s ", name);
	}
	ut_buf_fmt(to, "%s%s%s -- ", m->user, m->user[0] ? "@" : "", m->host);
}

/*
 * As people would type it, on another machine behind ssh. Where the server wants its results and
 * its log is left out: a run from a terminal has results of its own, in the directory where it
 * runs.
 */
static void write_shell(struct ut_call *c, struct ut_json_writer *w, const struct asked *q)
{
	struct ut_buf shell = { 0 }, remote = { 0 };
	struct ut_run_line line = { 0 };

	if (q->is_remote && q->machine.host) {
		ut_run_line_make(&q->plan, c->arena, "unitrace", "", &line);
		put_remote_path(&shell, q->machine.folder);
		ut_run_line_shell(&line, &shell);
		put_ssh(c, &remote, &q->machine);
		ut_shell_quote(&remote, shell.data);
	} else {
		ut_run_line_make(&q->plan, c->arena, own_name(c), "", &line);
		ut_run_line_shell(&line, &shell);
	}
	ut_write_text(w, "shell", remote.len ? remote.data : shell.data);
	ut_buf_release(&remote);
	ut_buf_release(&shell);
}

static void write_line(struct ut_call *c, struct ut_json_writer *w, const struct asked *q)
{
	ut_run_line_write(&q->line, w);
	write_shell(c, w, q);
}

static bool sets_path(const struct ut_run_plan *p)
{
	for (size_t i = 0; i < p->variable_count; i++) {
		if (!strcmp(p->variables[i].name, "PATH"))
			return true;
	}
	return false;
}

/*
 * What is not there is told while it is typed, of this machine and to who may look at its files. A
 * run is started all the same: it may be there by then.
 */
static void look_for_parts(struct ut_call *c, struct ut_run_plan *p)
{
	const char *app = p->application;
	int code;

	if (!c->site->opts.profiling || p->target[0] || p->what == UT_RUN_ATTACH)
		return;
	if (p->directory[0] == '/' && !ut_path_is_dir(p->directory))
		ut_run_plan_add_problem(p, c->arena, "directory",
					"there is no such folder on this machine");
	if (!app[0] || app[0] == '-' || (app[0] != '/' && (strchr(app, '/') || sets_path(p))))
		return;
	if (!ut_path_find_program(c->arena, app, &code))
		ut_run_plan_add_problem(
			p, c->arena, "application",
			code == EACCES  ? "it is there, and may not be executed"
			: app[0] == '/' ? "there is no such file on this machine"
					: "no program of that name is in the server's PATH: "
					  "give its full path");
}

int ut_api_command(struct ut_call *c, struct ut_err *err)
{
	const char *project = ut_doc_text(c->body, "project"), *result;
	struct asked q = { 0 };
	int rc = make_line(c, project && project[0] ? project : "PROJECT", &q, &result, err);

	if (rc)
		return rc;
	look_for_parts(c, &q.plan);
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "result", result);
	write_line(c, &c->out, &q);
	write_problems(&c->out, &q.plan);
	ut_write_close(&c->out, '}');
	return 0;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static void write_machine(struct ut_json_writer *w, const struct asked *q)
{
	if (!q->is_remote)
		return;
	ut_write_u64(w, "own", q->line.own);
	ut_write_open(w, "machine", '{');
	ut_machine_write(&q->machine, w);
	ut_write_close(w, '}');
}

/* result.json: what was asked for, and what is run because of it. */
static int write_asked(struct ut_call *c, int at, const struct asked *q, struct ut_err *err)
{
	const struct ut_run_plan *p = &q->plan;
	struct ut_buf text = { 0 }, program = { 0 };
	struct ut_json_writer w = { .to = &text };
	int rc;

	ut_buf_text(&program, p->what == UT_RUN_ATTACH ? "attached to a process" : p->application);
	for (size_t i = 0; i < p->argument_count; i++)
		ut_buf_fmt(&program, " %s", p->arguments[i]);
	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "kind", "run");
	ut_write_i64(&w, "made", (int64_t)time(NULL));
	ut_write_text(&w, "analysis", p->analysis->title);
	if (ut_analysis_is_of_device(p->analysis))
		ut_write_flag(&w, "device", true);
	ut_write_text(&w, "program", program.data);
	ut_write_text(&w, "target", p->target);
	write_line(c, &w, q);
	write_machine(&w, q);
	ut_write_doc(&w, "configuration", c->body);
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	rc = ut_folder_write(at, UT_RESULT_FILE, (struct ut_str){ text.data, text.len }, err);
	ut_buf_release(&program);
	ut_buf_release(&text);
	return rc;
}

static int api_runs_start(struct ut_call *c, struct asked *q, const char *wanted,
			  const char *secret, struct ut_err *err)
{
	const char *project = c->args[0], *result;
	int at = ut_data_dir_add_result(&c->site->data_dir, c->arena, project, wanted, &result,
					err),
	    rc;

	if (at < 0)
		return at;
	set_line(c, q, project, result); /* the name may have got a number behind it */
	rc = write_asked(c, at, q, err);
	if (!rc)
		rc = ut_supervisor_start(at, c->site->opts.program, secret, err);
	close(at);
	if (rc)
		return rc;
	ut_events_watch(c->site->events, project, result);
	ut_events_changed(c->site->events);
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "project", project);
	ut_write_text(&c->out, "result", result);
	write_line(c, &c->out, q);
	ut_write_close(&c->out, '}');
	return 0;
}

static void api_runs_refuse(struct ut_call *c, const struct ut_run_plan *p)
{
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "error", p->problems[0].text);
	write_problems(&c->out, p);
	ut_write_close(&c->out, '}');
	c->reply->type = "application/json";
	c->reply->data = c->text.data;
	c->reply->len = c->text.len;
	c->reply->status = 400;
	c->text = (struct ut_buf){ 0 };
}

/* A machine whose key nobody has looked at is not sent anything, least of all a password. */
static void check_machine(struct ut_call *c, struct asked *q, const char *secret)
{
	if (!q->is_remote || q->plan.problem_count)
		return;
	if (!ut_machine_key(c->site->data_dir.own, c->arena, &q->machine)[0])
		ut_run_plan_add_problem(&q->plan, c->arena, "target",
					"its key has not been accepted yet: test the connection");
	if (q->machine.password && !secret[0])
		ut_run_plan_add_problem(&q->plan, c->arena, "password",
					"this machine needs the password");
}

int ut_api_run(struct ut_call *c, struct ut_err *err)
{
	char secret[UT_SUPERVISOR_SECRET_MAX];
	struct asked q = { 0 };
	const char *result;
	int rc = ut_call_take_secret(c, secret, sizeof(secret), err);

	if (!rc)
		rc = ut_storage_check(&c->site->storage, 0, err);
	if (!rc)
		rc = make_line(c, c->args[0], &q, &result, err);
	if (!rc)
		check_machine(c, &q, secret);
	if (!rc && q.plan.problem_count)
		api_runs_refuse(c, &q.plan);
	else if (!rc)
		rc = api_runs_start(c, &q, result, secret[0] ? secret : NULL, err);
	explicit_bzero(secret, sizeof(secret));
	return rc;
}

/* What lies on another machine since the connection was lost. */
static int fetch(struct ut_call *c, int at, struct ut_err *err)
{
	char secret[UT_SUPERVISOR_SECRET_MAX];
	int rc = ut_call_take_secret(c, secret, sizeof(secret), err);

	if (!rc)
		rc = ut_storage_check(&c->site->storage, 0, err);
	if (!rc && faccessat(at, UT_REMOTE_PLACE_FILE, F_OK, AT_SYMLINK_NOFOLLOW))
		rc = ut_err_set(err, -EBUSY, "nothing of it lies on another machine");
	if (!rc)
		rc = ut_supervisor_recover(at, c->site->opts.program, secret[0] ? secret : NULL,
					   err);
	explicit_bzero(secret, sizeof(secret));
	if (!rc)
		ut_events_watch(c->site->events, c->args[0], c->args[1]);
	return rc;
}

int ut_api_control(struct ut_call *c, struct ut_err *err)
{
	static const char *const words[] = { "pause", "resume", "stop", "cancel" };
	const char *word;
	int rc = ut_call_text(c, "do", &word, err), at;

	if (rc)
		return rc;
	if (!strcmp(word, "fetch")) {
		at = ut_data_dir_open_result(&c->site->data_dir, c->args[0], c->args[1], err);
		rc = at < 0 ? at : fetch(c, at, err);
		if (at >= 0)
			close(at);
		return rc;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		if (i == UT_SUPERVISOR_RESUME) { /* it would be paused again at once */
			rc = ut_storage_check(&c->site->storage, 0, err);
			if (rc)
				return rc;
		}
		at = ut_data_dir_open_result(&c->site->data_dir, c->args[0], c->args[1], err);
		if (at < 0)
			return at;
		rc = ut_supervisor_send(at, (enum ut_supervisor_command)i, err);
		close(at);
		return rc == -ESRCH ? -EBUSY : rc;
	}
	return ut_err_set(err, -EINVAL, "\"do\" is none of pause, resume, stop, cancel, fetch");
}

/* ---- what is there to choose from ----------------------------------------------------------- */

int ut_api_processes(struct ut_call *c, struct ut_err *err)
{
	(void)err;
	ut_processes_write(&c->out);
	return 0;
}

static int api_runs_by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int api_runs_is_shown(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void write_entry(struct ut_call *c, const char *path, const char *name)
{
	struct stat st;

	if (stat(ut_path_join(c->arena, path, name), &st))
		return;
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "name", name);
	ut_write_flag(&c->out, "folder", S_ISDIR(st.st_mode));
	ut_write_flag(&c->out, "program", S_ISREG(st.st_mode) && (st.st_mode & 0111));
	ut_write_close(&c->out, '}');
}

/* A folder of this machine, for the one who chooses a program: who may start programs may look. */
int ut_api_folder(struct ut_call *c, struct ut_err *err)
{
	const char *asked = ut_request_argument(c->request, "path"), *home = getenv("HOME");
	const char *path = asked && asked[0] ? asked : home && home[0] ? home : "/";
	struct dirent **list = NULL;
	int count;

	if (path[0] != '/')
		return ut_err_set(err, -EINVAL, "%s: begins with a slash", path);
	count = scandir(path, &list, api_runs_is_shown, api_runs_by_name);
	if (count < 0)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "path", path);
	ut_write_open(&c->out, "entries", '[');
	for (int i = 0; i < count; i++) {
		if ((size_t)i < LISTED)
			write_entry(c, path, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	ut_write_close(&c->out, ']');
	ut_write_flag(&c->out, "more", (size_t)count > LISTED);
	ut_write_close(&c->out, '}');
	return 0;
}
