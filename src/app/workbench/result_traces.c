#include "workbench/result_traces.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/str.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"
#include "workbench/remote_run.h"

#define MOST 16384u /* ranks of a job have a file each */

bool ut_result_traces_fit(const char *name, bool is_upload)
{
	static const char *const ours[] = { UT_RESULT_FILE,      UT_STATE_FILE,   UT_LOG_FILE,
					    UT_NOTES_FILE,       UT_SUMMARY_FILE, "run_config.json",
					    UT_REMOTE_PLACE_FILE };
	static const char *const others[] = { ".notes.json", ".txt", ".csv", ".md",  ".html",
					      ".pdf",        ".png", ".svg", ".ini", ".log",
					      ".sh",         ".py",  ".cpu", ".asm", ".so",
					      ".tmp",        ".new" };

	for (size_t i = 0; !is_upload && i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (!strcmp(name, ours[i]))
			return false;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (ut_str_ends(name, others[i]))
			return false;
	}
	return name[0] != '.';
}

struct finding {
	struct ut_arena *arena;
	const char **names;
	size_t count, cap;
	const char *session;
	bool in_uploads;
};

static bool result_traces_find(void *ctx, int at, const char *name, unsigned char type)
{
	struct finding *f = ctx;

	(void)at;
	if (type == DT_DIR && !f->in_uploads && ut_str_ends(name, ".session"))
		f->session = ut_str_fmt(f->arena, "./%s", name);
	if (type != DT_REG || !ut_result_traces_fit(name, f->in_uploads))
		return true;
	f->names = ut_grow(f->names, f->count + 1, &f->cap, sizeof(*f->names));
	f->names[f->count++] =
		ut_str_fmt(f->arena, "./%s%s", f->in_uploads ? UT_UPLOADS "/" : "", name);
	return f->count < MOST;
}

static int result_traces_by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

int ut_result_traces_find(int at, struct ut_arena *a, struct ut_result_traces *t,
			  struct ut_err *err)
{
	struct finding f = { .arena = a };
	int rc = ut_folder_each(at, result_traces_find, &f, err);
	int uploads = rc ? -1 : ut_folder_open(at, UT_UPLOADS, false, NULL);

	if (uploads >= 0) {
		f.in_uploads = true;
		rc = ut_folder_each(uploads, result_traces_find, &f, err);
		close(uploads);
	}

	*t = (struct ut_result_traces){ .count = f.count, .session = f.session };
	if (f.count > 1)
		qsort(f.names, f.count, sizeof(*f.names), result_traces_by_name);
	t->names = UT_NEW_N(a, const char *, f.count + 1);
	if (f.count)
		memcpy(t->names, f.names, f.count * sizeof(*f.names));
	free(f.names);
	return rc;
}
