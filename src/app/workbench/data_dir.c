#include "workbench/data_dir.h"

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
#include "base/grow.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/folder.h"
#include "workbench/supervisor.h"

#define OWN_FOLDER    ".unitrace"
#define PROJECTS_MOST 10000u
#define RESULTS_MOST  100000u
#define NAMES_MOST    9999u /* -2, -3, ... and r001, r002, ... */

int ut_data_dir_open(struct ut_data_dir *s, const char *path, struct ut_err *err)
{
	*s = (struct ut_data_dir){ .top = -1, .own = -1, .path = path };
	s->top = ut_folder_open_top(path, err);
	if (s->top < 0)
		return s->top;
	s->own = ut_folder_open(s->top, OWN_FOLDER, true, err);
	if (s->own >= 0)
		return 0;
	close(s->top);
	s->top = -1;
	return s->own;
}

void ut_data_dir_close(struct ut_data_dir *s)
{
	if (s->own >= 0)
		close(s->own);
	if (s->top >= 0)
		close(s->top);
	s->own = s->top = -1;
}

/* ---- one result ----------------------------------------------------------------------------- */

static const char *const state_words[] = {
	[UT_RESULT_READY] = "ready",     [UT_RESULT_STARTING] = "starting",
	[UT_RESULT_RUNNING] = "running", [UT_RESULT_PAUSED] = "paused",
	[UT_RESULT_WRITING] = "writing", [UT_RESULT_FAILED] = "failed",
	[UT_RESULT_CUT] = "cut",
};

#define STATES (sizeof(state_words) / sizeof(state_words[0]))

const char *ut_result_state_word(enum ut_result_state state)
{
	return state_words[state];
}

static enum ut_result_state data_dir_state_of(const char *word)
{
	for (size_t i = 0; word && i < STATES; i++) {
		if (!strcmp(word, state_words[i]))
			return (enum ut_result_state)i;
	}
	return UT_RESULT_CUT;
}

/* A small file of JSON in a result; NULL if it is not there or is no such thing. */
static const struct ut_doc *read_tree(int at, struct ut_arena *a, const char *name)
{
	const struct ut_doc *t;

	return ut_folder_read_doc(at, name, UT_SMALL_FILE, a, &t, NULL) ? NULL : t;
}

static bool is_busy(enum ut_result_state state)
{
	return state == UT_RESULT_STARTING || state == UT_RESULT_RUNNING ||
	       state == UT_RESULT_PAUSED || state == UT_RESULT_WRITING;
}

static const char *text_or_none(const struct ut_doc *t, const char *key)
{
	const char *text = ut_doc_text(t, key);

	return text ? text : "";
}

static void look_at_state(int at, struct ut_arena *a, const struct ut_doc *asked,
			  struct ut_data_dir_result *r)
{
	const char *kind = text_or_none(asked, "kind");
	bool is_run = !strcmp(kind, "run");
	/* in an import it is a file that somebody has uploaded */
	const struct ut_doc *state =
		!strcmp(kind, "import") ? NULL : read_tree(at, a, UT_STATE_FILE);

	r->state = !is_run ? UT_RESULT_READY : UT_RESULT_CUT;
	if (state)
		r->state = data_dir_state_of(ut_doc_text(state, "state"));
	if ((is_busy(r->state) || !state) && is_run)
		r->state = !ut_supervisor_is_running(at) ? UT_RESULT_CUT
			   : state                       ? r->state
							 : UT_RESULT_STARTING;
	r->seconds = ut_doc_number(state, "seconds", -1);
	r->status = (int)ut_doc_number(state, "status", -1);
	r->trouble = text_or_none(state, "trouble");
}

static void data_dir_look(int at, struct ut_arena *a, struct ut_data_dir_result *r)
{
	const struct ut_doc *asked = read_tree(at, a, UT_RESULT_FILE);
	const struct ut_doc *verdict = read_tree(at, a, UT_SUMMARY_FILE);
	struct stat st = { 0 };

	fstat(at, &st);
	r->made = (int64_t)ut_doc_number(asked, "made", (double)st.st_mtim.tv_sec);
	r->analysis = text_or_none(asked, "analysis");
	r->program = text_or_none(asked, "program");
	r->target = text_or_none(asked, "target");
	r->verdict = text_or_none(verdict, "verdict");
	r->tone = text_or_none(verdict, "tone");
	r->say = text_or_none(verdict, "say");
	r->bytes = ut_folder_bytes(at);
	r->has_notes = !fstatat(at, UT_NOTES_FILE, &st, AT_SYMLINK_NOFOLLOW) && st.st_size > 0;
	look_at_state(at, a, asked, r);
}

int ut_data_dir_find_result(const struct ut_data_dir *s, struct ut_arena *a, const char *project,
			    const char *result, struct ut_data_dir_result *to, struct ut_err *err)
{
	int at = ut_data_dir_open_result(s, project, result, err);

	if (at < 0)
		return at;
	*to = (struct ut_data_dir_result){ .name = ut_arena_copy(a, result, strlen(result)) };
	data_dir_look(at, a, to);
	close(at);
	return 0;
}

void ut_data_dir_write_result(struct ut_json_writer *w, const struct ut_data_dir_result *r)
{
	ut_write_text(w, "name", r->name);
	ut_write_text(w, "state", ut_result_state_word(r->state));
	ut_write_i64(w, "made", r->made);
	ut_write_u64(w, "bytes", r->bytes);
	if (r->seconds >= 0)
		ut_write_double(w, "seconds", r->seconds);
	if (r->status >= 0)
		ut_write_i64(w, "status", r->status);
	ut_write_text(w, "analysis", r->analysis);
	ut_write_text(w, "program", r->program);
	ut_write_text(w, "target", r->target);
	ut_write_text(w, "verdict", r->verdict);
	ut_write_text(w, "tone", r->tone);
	ut_write_text(w, "say", r->say);
	ut_write_text(w, "trouble", r->trouble);
	ut_write_flag(w, "hasNotes", r->has_notes);
}

/* ---- all of them ---------------------------------------------------------------------------- */

struct listing {
	struct ut_arena *arena;
	struct ut_data_dir_tree *tree;
	struct ut_data_dir_project *project;
};

static bool add_result(void *ctx, int at, const char *name, unsigned char type)
{
	struct listing *l = ctx;
	struct ut_data_dir_project *p = l->project;
	int fd = type == DT_DIR && ut_folder_name_fits(name) ? ut_folder_open(at, name, false, NULL)
							     : -1;
	struct ut_data_dir_result *r;

	if (fd < 0)
		return true;
	p->results = ut_grow(p->results, p->count + 1, &p->cap, sizeof(*p->results));
	r = &p->results[p->count++];
	r->name = ut_arena_copy(l->arena, name, strlen(name));
	data_dir_look(fd, l->arena, r);
	close(fd);
	return p->count < RESULTS_MOST;
}

static int by_age(const void *a, const void *b)
{
	const struct ut_data_dir_result *x = a, *y = b;
	int order = (x->made < y->made) - (x->made > y->made);

	return order ? order : -strverscmp(x->name, y->name);
}

static int by_change(const void *a, const void *b)
{
	const struct ut_data_dir_project *x = a, *y = b;
	int order = (x->changed < y->changed) - (x->changed > y->changed);

	return order ? order : strverscmp(x->name, y->name);
}

/* Results were collected in memory that moves; from now on they stay. */
static void finalize_results(struct listing *l)
{
	struct ut_data_dir_project *p = l->project;
	struct ut_data_dir_result *all = p->results;

	if (p->count)
		qsort(all, p->count, sizeof(*all), by_age);
	p->results = UT_NEW_N(l->arena, struct ut_data_dir_result, p->count + 1);
	if (p->count)
		memcpy(p->results, all, p->count * sizeof(*all));
	free(all);
	if (p->count)
		p->changed = p->results[0].made;
}

static bool add_project(void *ctx, int at, const char *name, unsigned char type)
{
	struct listing *l = ctx;
	struct ut_data_dir_tree *t = l->tree;
	int fd = type == DT_DIR && ut_folder_name_fits(name) ? ut_folder_open(at, name, false, NULL)
							     : -1;
	struct stat st = { 0 };

	if (fd >= 0 && fstatat(fd, UT_PROJECT_FILE, &st, AT_SYMLINK_NOFOLLOW)) {
		close(fd); /* somebody's folder: the data directory may be one with other things */
		fd = -1;
	}
	if (fd < 0)
		return true;
	t->projects = ut_grow(t->projects, t->count + 1, &t->cap, sizeof(*t->projects));
	l->project = &t->projects[t->count++];
	l->project->name = ut_arena_copy(l->arena, name, strlen(name));
	fstat(fd, &st);
	l->project->changed = st.st_mtim.tv_sec;
	if (ut_folder_each(fd, add_result, l, NULL))
		l->project->count = 0; /* it is shown as empty; opening it will say why */
	finalize_results(l);
	close(fd);
	return t->count < PROJECTS_MOST;
}

int ut_data_dir_list(const struct ut_data_dir *s, struct ut_arena *a, struct ut_data_dir_tree *tree,
		     struct ut_err *err)
{
	struct listing l = { .arena = a, .tree = tree };
	struct ut_data_dir_project *all;
	int rc;

	*tree = (struct ut_data_dir_tree){ 0 };
	rc = ut_folder_each(s->top, add_project, &l, err);
	all = tree->projects;
	if (tree->count)
		qsort(all, tree->count, sizeof(*all), by_change);
	tree->projects = UT_NEW_N(a, struct ut_data_dir_project, tree->count + 1);
	if (tree->count)
		memcpy(tree->projects, all, tree->count * sizeof(*all));
	free(all);
	return rc;
}

/* ---- folders -------------------------------------------------------------------------------- */

static int check_name(const char *what, const char *name, struct ut_err *err)
{
	if (ut_folder_name_fits(name))
		return 0;
	return ut_err_set(
		err, -EINVAL,
		"%s: a name has 1 to %d bytes that can be seen, no slash, and no dot, dash "
		"or blank in front",
		what, UT_NAME_MOST);
}

int ut_data_dir_open_project(const struct ut_data_dir *s, const char *project, struct ut_err *err)
{
	struct stat st;
	int fd;

	if (!ut_folder_name_fits(project))
		return ut_err_set(err, -ENOENT, "there is no such project");
	fd = ut_folder_open(s->top, project, false, err);
	if (fd >= 0 && fstatat(fd, UT_PROJECT_FILE, &st, AT_SYMLINK_NOFOLLOW)) {
		close(fd);
		return ut_err_set(err, -ENOENT, "there is no project '%s'", project);
	}
	return fd;
}

int ut_data_dir_open_result(const struct ut_data_dir *s, const char *project, const char *result,
			    struct ut_err *err)
{
	int in, fd;

	if (!ut_folder_name_fits(result))
		return ut_err_set(err, -ENOENT, "there is no such result");
	in = ut_data_dir_open_project(s, project, err);
	if (in < 0)
		return in;
	fd = ut_folder_open(in, result, false, err);
	close(in);
	return fd;
}

int ut_data_dir_add_project(const struct ut_data_dir *s, const char *project, struct ut_err *err)
{
	int rc = check_name("project", project, err), at;
	struct ut_buf text = { 0 };
	struct stat st;

	if (rc)
		return rc;
	at = ut_folder_open(s->top, project, true, err);
	if (at < 0)
		return at;
	if (!fstatat(at, UT_PROJECT_FILE, &st, AT_SYMLINK_NOFOLLOW)) {
		rc = ut_err_set(err, -EEXIST, "there is a '%s' already", project);
	} else {
		ut_buf_fmt(&text, "{\"made\":%lld}\n", (long long)time(NULL));
		rc = ut_folder_write(at, UT_PROJECT_FILE, (struct ut_str){ text.data, text.len },
				     err);
	}
	ut_buf_release(&text);
	close(at);
	return rc;
}

static bool find_busy(void *ctx, int at, const char *name, unsigned char type)
{
	bool *busy = ctx;
	int fd = type == DT_DIR ? ut_folder_open(at, name, false, NULL) : -1;

	if (fd < 0)
		return true;
	*busy = ut_supervisor_is_running(fd);
	close(fd);
	return !*busy;
}

int ut_data_dir_check_idle(const struct ut_data_dir *s, const char *project, const char *result,
			   struct ut_err *err)
{
	int fd = result ? ut_data_dir_open_result(s, project, result, err)
			: ut_data_dir_open_project(s, project, err);
	bool busy = false;
	int rc = 0;

	if (fd < 0)
		return fd;
	if (result)
		busy = ut_supervisor_is_running(fd);
	else
		rc = ut_folder_each(fd, find_busy, &busy, err);
	close(fd);
	if (!rc && busy)
		rc = ut_err_set(err, -EBUSY, "a run is under way in it; stop it first");
	return rc;
}

int ut_data_dir_rename_project(const struct ut_data_dir *s, const char *project, const char *as,
			       struct ut_err *err)
{
	int rc = check_name("project", as, err);

	if (!rc)
		rc = ut_data_dir_check_idle(s, project, NULL, err);
	return rc ? rc : ut_folder_move(s->top, project, s->top, as, err);
}

int ut_data_dir_move_result(const struct ut_data_dir *s, const char *project, const char *result,
			    const char *to_project, const char *as, struct ut_err *err)
{
	int rc = check_name("result", as, err), from = -1, to = -1;

	if (!rc)
		rc = ut_data_dir_check_idle(s, project, result, err);
	if (!rc) {
		from = ut_data_dir_open_project(s, project, err);
		rc = from < 0 ? from : 0;
	}
	if (!rc) {
		to = ut_data_dir_open_project(s, to_project, err);
		rc = to < 0 ? to : 0;
	}
	if (!rc)
		rc = ut_folder_move(from, result, to, as, err);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return rc;
}

int ut_data_dir_add_result(const struct ut_data_dir *s, struct ut_arena *a, const char *project,
			   const char *name, const char **got, struct ut_err *err)
{
	int in = check_name("result", name, err), fd;

	if (!in)
		in = ut_data_dir_open_project(s, project, err);
	if (in < 0)
		return in;
	*got = ut_arena_copy(a, name, strlen(name));
	for (unsigned int n = 2; mkdirat(in, *got, 0700); n++) {
		if (errno != EEXIST || n > NAMES_MOST) {
			int code = errno;

			close(in);
			return ut_err_set(err, -code, "%s: cannot be made: %s", *got,
					  strerror(code));
		}
		*got = ut_str_fmt(a, "%.*s-%u", UT_NAME_MOST - 8, name, n);
	}
	fd = ut_folder_open(in, *got, false, err);
	close(in);
	return fd;
}

struct numbering {
	unsigned int most;
};

static bool look_at_number(void *ctx, int at, const char *name, unsigned char type)
{
	struct numbering *n = ctx;
	char *end;
	unsigned long number;

	(void)at;
	(void)type;
	if (name[0] != 'r' || name[1] < '0' || name[1] > '9')
		return true;
	number = strtoul(name + 1, &end, 10);
	if ((!*end || *end == '-' || *end == ' ') && number <= NAMES_MOST && number > n->most)
		n->most = (unsigned int)number;
	return true;
}

const char *ut_data_dir_next_name(const struct ut_data_dir *s, struct ut_arena *a,
				  const char *project, const char *suffix)
{
	struct numbering n = { 0 };
	int fd = ut_data_dir_open_project(s, project, NULL);

	if (fd >= 0) {
		if (ut_folder_each(fd, look_at_number, &n, NULL))
			n.most = 0;
		close(fd);
	}
	return ut_str_fmt(a, "r%03u%s%s", n.most + 1, suffix[0] ? "-" : "", suffix);
}
