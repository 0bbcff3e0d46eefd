#include "workbench/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"

#define FOLDER  "trash"
#define NOTE    "what.json"
#define CONTENT "content"
#define LISTED  200u

/* What the note of a deleted thing says. */
struct note {
	const char *project, *result; /* NULL: a project */
	int64_t when;
};

static void make_id(char id[UT_TRASH_ID])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[16] = { 0 };

	if (getrandom(bytes, sizeof(bytes), 0) < 0)
		bytes[0] = (unsigned char)time(NULL); /* only a name: -EEXIST says if it is taken */
	for (size_t i = 0; i < sizeof(bytes); i++) {
		id[2 * i] = digits[bytes[i] >> 4];
		id[2 * i + 1] = digits[bytes[i] & 15];
	}
	id[2 * sizeof(bytes)] = '\0';
}

static bool is_id(const char *id)
{
	return strlen(id) == UT_TRASH_ID - 1 && strspn(id, "0123456789abcdef") == UT_TRASH_ID - 1;
}

static int write_note(int at, const char *project, const char *result, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	int rc;

	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "project", project);
	if (result)
		ut_write_text(&w, "result", result);
	ut_write_i64(&w, "deleted", (int64_t)time(NULL));
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	rc = ut_folder_write(at, NOTE, (struct ut_str){ text.data, text.len }, err);
	ut_buf_release(&text);
	return rc;
}

static int read_note(int at, struct ut_arena *a, struct note *n, struct ut_err *err)
{
	const struct ut_doc *t;
	int rc = ut_folder_read_doc(at, NOTE, UT_SMALL_FILE, a, &t, err);

	if (rc)
		return rc;
	*n = (struct note){ .project = ut_doc_text(t, "project"),
			    .result = ut_doc_text(t, "result"),
			    .when = (int64_t)ut_doc_number(t, "deleted", 0) };
	return n->project ? 0 : ut_err_set(err, -EINVAL, "its note is damaged");
}

/* The folder that a project or result lies in, and its name there. */
static int open_parent(const struct ut_data_dir *s, const char *project, const char *result,
		       const char **name, struct ut_err *err)
{
	int fd;

	*name = result ? result : project;
	if (result)
		return ut_data_dir_open_project(s, project, err);
	fd = fcntl(s->top, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? ut_err_set(err, -errno, "%s", strerror(errno)) : fd;
}

int ut_trash_put(const struct ut_data_dir *s, const char *project, const char *result,
		 char id[UT_TRASH_ID], struct ut_err *err)
{
	int in = ut_data_dir_check_idle(s, project, result, err), trash, at = -1, rc;
	const char *name;

	if (in)
		return in;
	make_id(id);
	in = open_parent(s, project, result, &name, err);
	if (in < 0)
		return in;
	trash = ut_folder_open(s->own, FOLDER, true, err);
	rc = trash < 0 ? trash : 0;
	if (!rc) {
		at = ut_folder_open(trash, id, true, err);
		rc = at < 0 ? at : 0;
	}
	if (!rc)
		rc = write_note(at, project, result, err);
	if (!rc)
		rc = ut_folder_move(in, name, at, CONTENT, err);
	if (rc && at >= 0 && ut_folder_remove(trash, id, NULL))
		rc = -EIO; /* the first failure has been told */
	if (at >= 0)
		close(at);
	if (trash >= 0)
		close(trash);
	close(in);
	return rc;
}

int ut_trash_restore(const struct ut_data_dir *s, struct ut_arena *a, const char *id,
		     const char **project, const char **result, struct ut_err *err)
{
	int trash, at = -1, in = -1, rc = 0;
	struct note n = { 0 };
	const char *name;

	if (!is_id(id))
		return ut_err_set(err, -ENOENT, "there is nothing of that kind to restore");
	trash = ut_folder_open(s->own, FOLDER, true, err);
	if (trash < 0)
		return trash;
	at = ut_folder_open(trash, id, false, err);
	rc = at < 0 ? at : read_note(at, a, &n, err);
	if (!rc &&
	    (!ut_folder_name_fits(n.project) || (n.result && !ut_folder_name_fits(n.result))))
		rc = ut_err_set(err, -EINVAL, "its note is damaged");
	if (!rc && n.result && ut_data_dir_add_project(s, n.project, NULL) == 0)
		rc = 0; /* the project was deleted afterwards: it is there again, with this in it */
	if (!rc) {
		in = open_parent(s, n.project, n.result, &name, err);
		rc = in < 0 ? in : ut_folder_move(at, CONTENT, in, name, err);
	}
	if (!rc)
		rc = ut_folder_remove(trash, id, err);
	*project = n.project;
	*result = n.result;
	if (in >= 0)
		close(in);
	if (at >= 0)
		close(at);
	close(trash);
	return rc;
}

struct found {
	char id[UT_TRASH_ID];
	struct note note;
};

struct search {
	struct ut_arena arena;
	struct found *items;
	size_t count, cap;
};

static bool find_one(void *ctx, int at, const char *name, unsigned char type)
{
	struct search *f = ctx;
	struct note n;
	int fd = type == DT_DIR && is_id(name) ? ut_folder_open(at, name, false, NULL) : -1;

	if (fd < 0)
		return true;
	if (!read_note(fd, &f->arena, &n, NULL)) {
		f->items = ut_grow(f->items, f->count + 1, &f->cap, sizeof(*f->items));
		memcpy(f->items[f->count].id, name, UT_TRASH_ID);
		f->items[f->count++].note = n;
	}
	close(fd);
	return true;
}

static int trash_by_time(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->note.when < y->note.when) - (x->note.when > y->note.when);
}

static int find_all(const struct ut_data_dir *s, struct search *f, struct ut_err *err)
{
	int trash = ut_folder_open(s->own, FOLDER, true, err), rc;

	*f = (struct search){ 0 };
	if (trash < 0)
		return trash;
	rc = ut_folder_each(trash, find_one, f, err);
	if (f->count)
		qsort(f->items, f->count, sizeof(*f->items), trash_by_time);
	close(trash);
	return rc;
}

static void search_release(struct search *f)
{
	free(f->items);
	ut_arena_release(&f->arena);
}

int ut_trash_list(const struct ut_data_dir *s, struct ut_json_writer *w, struct ut_err *err)
{
	struct search f;
	int rc = find_all(s, &f, err);

	if (rc)
		return rc;
	ut_write_open(w, NULL, '[');
	for (size_t i = 0; i < f.count && i < LISTED; i++) {
		ut_write_open(w, NULL, '{');
		ut_write_text(w, "id", f.items[i].id);
		ut_write_text(w, "project", f.items[i].note.project);
		ut_write_text(w, "result", f.items[i].note.result);
		ut_write_i64(w, "deleted", f.items[i].note.when);
		ut_write_close(w, '}');
	}
	ut_write_close(w, ']');
	search_release(&f);
	return 0;
}

void ut_trash_empty(const struct ut_data_dir *s, int64_t older)
{
	int64_t now = (int64_t)time(NULL);
	struct search f;
	int trash;

	if (find_all(s, &f, NULL))
		return;
	trash = ut_folder_open(s->own, FOLDER, true, NULL);
	for (size_t i = 0; trash >= 0 && i < f.count; i++) {
		if (now - f.items[i].note.when >= older &&
		    ut_folder_remove(trash, f.items[i].id, NULL))
			break; /* next time */
	}
	if (trash >= 0)
		close(trash);
	search_release(&f);
}
