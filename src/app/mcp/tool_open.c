/*
 * tool_open.c - what can be opened, and opening it.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/size.h"
#include "mcp/mcp_tools.h"
#include "report/about.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/source.h"
#include "view/view.h"

#define NAMES_MOST 400u
#define NAME_WIDE  200u
#define FILES_MOST 20u /* that are described one by one */
#define PATHS_MOST 4096u

/* ---- list ----------------------------------------------------------------------------------- */

static void put_entry(struct ut_mcp_call *c, const char *folder, const char *name)
{
	char *path = ut_path_join(&c->ask.arena, folder, name);
	struct ut_buf shown = { 0 };
	struct stat st;
	char size[32];

	if (lstat(path, &st))
		return;
	ut_cell_name(&shown, name, strlen(name), NAME_WIDE);
	if (S_ISDIR(st.st_mode))
		ut_out_fmt(c->text, "%s/\n", shown.data);
	else if (S_ISREG(st.st_mode))
		ut_out_fmt(c->text, "%s  %s\n", shown.data,
			   ut_size_text(size, sizeof(size), (uint64_t)st.st_size));
	ut_buf_release(&shown);
}

static int put_folder(struct ut_mcp_call *c, const char *folder, struct ut_err *err)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);

	if (count < 0)
		return ut_err_set(err, -errno, "%s: %s", folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (i < (int)NAMES_MOST && entries[i]->d_name[0] != '.')
			put_entry(c, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (count > (int)NAMES_MOST)
		ut_out_fmt(c->text, "... and %d more\n", count - (int)NAMES_MOST);
	return 0;
}

int ut_mcp_tool_list(struct ut_mcp_call *c, struct ut_err *err)
{
	char *folder;
	int rc;

	ut_buf_text(&c->how, "the names in the folder, as they are now; links are left out");
	if (!c->ask.folder) {
		for (size_t i = 0; i < c->folders->count; i++)
			ut_out_fmt(c->text, "%s/\n", c->folders->paths[i]);
		return 0;
	}
	rc = ut_mcp_folders_find(c->folders, &c->ask.arena, ut_str_of(c->ask.folder), &folder, err);
	return rc ? rc : put_folder(c, folder, err);
}

/* ---- open ----------------------------------------------------------------------------------- */

static const char *format_of(const char *path)
{
	const struct ut_importer *importer;
	struct ut_source s;

	if (ut_source_open(&s, path, NULL))
		return "unknown";
	importer = ut_importer_for(s.head, s.head_len);
	ut_source_close(&s);
	return importer ? importer->name : "unknown";
}

static void tool_open_describe(struct ut_mcp_call *c, struct ut_mcp_trace *t)
{
	ut_out_fmt(c->text, "opened as trace %s\n", t->name);
	for (size_t i = 0; i < t->inputs.count && i < FILES_MOST; i++) {
		ut_out_fmt(c->text, "%s: ", t->inputs.paths[i]);
		ut_about_line(c->text, ut_view_store(t->view, i), format_of(t->inputs.paths[i]));
		ut_out_text(c->text, "\n");
	}
	if (t->inputs.count > FILES_MOST)
		ut_out_fmt(c->text, "... and %zu more files\n", t->inputs.count - FILES_MOST);
	ut_out_fmt(c->text, "%" PRIu64 " slices in all\n", ut_view_slices(t->view));
	if (t->odd.len)
		ut_out_fmt(c->text, "\nOdd about it:\n%s", t->odd.data);
}

int ut_mcp_tool_open(struct ut_mcp_call *c, struct ut_err *err)
{
	const char **found = UT_NEW_N(&c->ask.arena, const char *, c->ask.paths.count + 1);
	struct ut_mcp_trace *trace;
	int rc = 0;

	if (!c->ask.paths.count || c->ask.paths.count > PATHS_MOST)
		return ut_err_set(err, -EINVAL, "paths: from one to %u of them", PATHS_MOST);
	for (size_t i = 0; !rc && i < c->ask.paths.count; i++) {
		char *path = NULL;

		rc = ut_mcp_folders_find(c->folders, &c->ask.arena,
					 ut_str_of(c->ask.paths.items[i]), &path, err);
		found[i] = path;
	}
	if (!rc)
		rc = ut_mcp_traces_open(c->traces, c->folders, found, c->ask.paths.count, &trace,
					err);
	if (rc)
		return rc;
	tool_open_describe(c, trace);
	ut_buf_text(&c->how, "unitrace info");
	ut_mcp_how_files(c, trace);
	return 0;
}
