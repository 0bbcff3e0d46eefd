/* api_projects.c - projects, results and the trash. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "site/events.h"
#include "site/site_call.h"
#include "workbench/folder.h"
#include "workbench/remote_run.h"
#include "workbench/result_traces.h"
#include "workbench/trash.h"

int ut_api_tree(struct ut_call *c, struct ut_err *err)
{
	struct ut_data_dir_tree tree;
	int rc = ut_data_dir_list(&c->site->data_dir, c->arena, &tree, err);

	if (rc)
		return rc;
	ut_write_open(&c->out, NULL, '[');
	for (size_t i = 0; i < tree.count; i++) {
		const struct ut_data_dir_project *p = &tree.projects[i];

		ut_write_open(&c->out, NULL, '{');
		ut_write_text(&c->out, "name", p->name);
		ut_write_i64(&c->out, "changed", p->changed);
		ut_write_open(&c->out, "results", '[');
		for (size_t k = 0; k < p->count; k++) {
			ut_write_open(&c->out, NULL, '{');
			ut_data_dir_write_result(&c->out, &p->results[k]);
			ut_write_close(&c->out, '}');
		}
		ut_write_close(&c->out, ']');
		ut_write_close(&c->out, '}');
	}
	ut_write_close(&c->out, ']');
	return 0;
}

static int changed(struct ut_call *c, int rc)
{
	if (!rc)
		ut_events_changed(c->site->events);
	return rc;
}

int ut_api_new_project(struct ut_call *c, struct ut_err *err)
{
	const char *name;
	int rc = ut_call_text(c, "name", &name, err);

	return rc ? rc : changed(c, ut_data_dir_add_project(&c->site->data_dir, name, err));
}

int ut_api_change_project(struct ut_call *c, struct ut_err *err)
{
	const char *name;
	int rc = ut_call_text(c, "name", &name, err);

	if (rc)
		return rc;
	ut_viewers_drop(c->site->viewers, c->args[0], NULL);
	return changed(c, ut_data_dir_rename_project(&c->site->data_dir, c->args[0], name, err));
}

/* Says how to get it back. */
static int api_projects_drop(struct ut_call *c, const char *project, const char *result,
			     struct ut_err *err)
{
	char id[UT_TRASH_ID];
	int rc;

	ut_viewers_drop(c->site->viewers, project, result);
	rc = ut_trash_put(&c->site->data_dir, project, result, id, err);
	if (rc)
		return rc;
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "undo", id);
	ut_write_close(&c->out, '}');
	return changed(c, 0);
}

int ut_api_drop_project(struct ut_call *c, struct ut_err *err)
{
	return api_projects_drop(c, c->args[0], NULL, err);
}

int ut_api_drop_result(struct ut_call *c, struct ut_err *err)
{
	return api_projects_drop(c, c->args[0], c->args[1], err);
}

/* ---- one result ----------------------------------------------------------------------------- */

struct file_list {
	struct ut_json_writer *to;
	int uploads;     /* the folder; < 0 = there is none */
	bool is_uploads; /* that is what is listed */
};

/* An upload is shown instead of a file of ours of that name. */
static bool api_projects_write_file(void *ctx, int at, const char *name, unsigned char type)
{
	const struct file_list *l = ctx;
	struct ut_json_writer *w = l->to;
	struct stat st;

	if (!l->is_uploads && l->uploads >= 0 &&
	    !fstatat(l->uploads, name, &st, AT_SYMLINK_NOFOLLOW))
		return true;
	if (type != DT_REG || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
		return true;
	ut_write_open(w, NULL, '{');
	ut_write_text(w, "name", name);
	ut_write_u64(w, "bytes", (uint64_t)st.st_size);
	ut_write_flag(w, "trace", ut_result_traces_fit(name, l->is_uploads));
	ut_write_close(w, '}');
	return true;
}

static int write_files(struct ut_call *c, int at, struct ut_err *err)
{
	struct file_list l = { &c->out, ut_folder_open(at, UT_UPLOADS, false, NULL), false };
	int rc;

	ut_write_open(&c->out, "files", '[');
	rc = ut_folder_each(at, api_projects_write_file, &l, err);
	l.is_uploads = true;
	if (!rc && l.uploads >= 0)
		rc = ut_folder_each(l.uploads, api_projects_write_file, &l, err);
	if (l.uploads >= 0)
		close(l.uploads);
	ut_write_close(&c->out, ']');
	return rc;
}

/* A file of JSON as a member, if it is there and is what it should be. */
static void write_document(struct ut_call *c, int at, const char *key, const char *name)
{
	const struct ut_doc *t;

	if (ut_folder_read_doc(at, name, UT_SMALL_FILE, c->arena, &t, NULL))
		ut_write_null(&c->out, key);
	else
		ut_write_doc(&c->out, key, t);
}

int ut_api_result(struct ut_call *c, struct ut_err *err)
{
	struct ut_data_dir_result r;
	struct ut_buf notes = { 0 };
	int at = ut_data_dir_open_result(&c->site->data_dir, c->args[0], c->args[1], err), rc;

	if (at < 0)
		return at;
	rc = ut_data_dir_find_result(&c->site->data_dir, c->arena, c->args[0], c->args[1], &r, err);
	if (!rc) {
		ut_write_open(&c->out, NULL, '{');
		ut_write_text(&c->out, "project", c->args[0]);
		ut_data_dir_write_result(&c->out, &r);
		if (ut_folder_read(at, UT_NOTES_FILE, UT_NOTES_MOST, &notes, NULL))
			notes.len = 0;
		ut_write_bytes(&c->out, "notes", notes.len ? notes.data : "", notes.len);
		write_document(c, at, "asked", UT_RESULT_FILE);
		write_document(c, at, "how", UT_STATE_FILE);
		write_document(c, at, "far", UT_REMOTE_PLACE_FILE);
		rc = write_files(c, at, err);
		ut_write_close(&c->out, '}');
	}
	ut_buf_release(&notes);
	close(at);
	return rc;
}

static int write_notes(struct ut_call *c, const char *notes, struct ut_err *err)
{
	int at, rc;

	if (strlen(notes) > UT_NOTES_MOST)
		return ut_err_set(err, -E2BIG, "notes have %u bytes at most", UT_NOTES_MOST);
	at = ut_data_dir_open_result(&c->site->data_dir, c->args[0], c->args[1], err);
	if (at < 0)
		return at;
	rc = ut_folder_write(at, UT_NOTES_FILE, ut_str_of(notes), err);
	close(at);
	return rc;
}

int ut_api_change_result(struct ut_call *c, struct ut_err *err)
{
	const char *name = ut_doc_text(c->body, "name"), *project = ut_doc_text(c->body, "project");
	const char *notes = ut_doc_text(c->body, "notes");
	int rc = 0;

	if (!name && !project && !notes)
		return ut_err_set(err, -EINVAL, "nothing to change: name, project or notes");
	if (notes)
		rc = write_notes(c, notes, err);
	if (!rc && (name || project)) {
		ut_viewers_drop(c->site->viewers, c->args[0], c->args[1]);
		rc = ut_data_dir_move_result(&c->site->data_dir, c->args[0], c->args[1],
					     project ? project : c->args[0],
					     name ? name : c->args[1], err);
	}
	return changed(c, rc);
}

/* ---- the trash ------------------------------------------------------------------------------ */

int ut_api_trash(struct ut_call *c, struct ut_err *err)
{
	return ut_trash_list(&c->site->data_dir, &c->out, err);
}

int ut_api_restore(struct ut_call *c, struct ut_err *err)
{
	const char *project, *result;
	int rc = ut_trash_restore(&c->site->data_dir, c->arena, c->args[0], &project, &result, err);

	if (rc)
		return rc;
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "project", project);
	ut_write_text(&c->out, "result", result);
	ut_write_close(&c->out, '}');
	return changed(c, 0);
}

int ut_api_empty_trash(struct ut_call *c, struct ut_err *err)
{
	(void)err;
	ut_trash_empty(&c->site->data_dir, 0);
	return changed(c, 0);
}
