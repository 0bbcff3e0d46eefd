#include "cmd/ops_run.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "export/out.h"
#include "ttdev/tar.h"
#include "ttops/folder.h"
#include "ttops/report.h"
#include "ttops/today.h"
#include "ttops/write.h"

/* ---- names --------------------------------------------------------------------------------- */

/* The original put the day before the month in 2023; scripts that look for its files rely on it. */
static const char *date_text(struct ut_arena *a, bool today)
{
	time_t now = time(NULL);
	char text[64];
	struct tm tm;

	localtime_r(&now, &tm);
	if (today)
		strftime(text, sizeof(text), "%Y_%m_%d_%H_%M_%S", &tm);
	else
		strftime(text, sizeof(text), "%Y_%d_%m_%H_%M", &tm);
	return ut_arena_copy(a, text, strlen(text));
}

/* Where a report goes and what its files are called, without their suffix. */
struct place {
	const char *folder, *name;
};

static struct place place_of_seed(const struct ut_ops_opts *o, struct ut_arena *a)
{
	const char *name = o->date ? date_text(a, false) : "profile_log_ops";

	return (struct place){ .folder = o->output ? o->output : UT_OPS_OUTPUT,
			       .name = o->append ? ut_str_fmt(a, "%s_%s", name, o->append) : name };
}

static struct place place_of_today(const struct ut_ops_opts *o, const char *logs,
				   struct ut_arena *a)
{
	const char *folder = o->output, *name = "ops_perf_results";
	const char *date = o->date ? date_text(a, true) : NULL;

	if (!folder)
		folder = ut_path_join(a, ut_path_dir(a, logs), "reports");
	if (o->append) {
		folder = ut_path_join(a, folder, o->append);
		name = ut_str_fmt(a, "%s_%s", name, o->append);
	}
	if (date) {
		folder = ut_path_join(a, folder, date);
		name = ut_str_fmt(a, "%s_%s", name, date);
	}
	return (struct place){ folder, name };
}

/* ---- the tarball --------------------------------------------------------------------------- */

struct tarball {
	struct ut_out *out;
	const char *folder;
	struct ut_arena *arena;
	struct ut_opt_list names; /* folders and files still to be looked at, below folder */
};

static void list_entries(struct tarball *t, const char *below)
{
	DIR *dir = opendir(ut_path_join(t->arena, t->folder, below));
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			ut_opt_list_add(&t->names, ut_path_join(t->arena, below, entry->d_name));
	}
	if (dir)
		closedir(dir);
}

/* What cannot go in is told; the report itself does not depend on it. */
static void add_files(struct tarball *t)
{
	struct stat st;

	list_entries(t, "");
	for (size_t i = 0; i < t->names.count; i++) {
		const char *name = t->names.items[i];
		struct ut_err err = { 0 };

		if (lstat(ut_path_join(t->arena, t->folder, name), &st))
			continue;
		if (S_ISDIR(st.st_mode))
			list_entries(t, name);
		else if (S_ISREG(st.st_mode) && ut_tar_add(t->out, t->folder, name, &err))
			ut_log(UT_WARN, "not in the tarball: %s", err.text);
	}
}

static int write_tarball(const char *folder, const char *path, struct ut_arena *a,
			 struct ut_err *err)
{
	struct tarball t = { .out = ut_out_open(path, UT_OUT_OVERWRITE),
			     .folder = folder,
			     .arena = a };

	add_files(&t);
	ut_opt_list_release(&t.names);
	ut_tar_end(t.out);
	return ut_out_commit(t.out, err);
}

/* ---- the report ---------------------------------------------------------------------------- */

static int write_file(const struct ut_ops_report *r, const char *path,
		      void (*write)(const struct ut_ops_report *r, struct ut_out *out),
		      struct ut_err *err)
{
	struct ut_out *out = ut_out_open(path, UT_OUT_OVERWRITE);

	write(r, out);
	return ut_out_commit(out, err);
}

static int write_report(struct ut_ops_report *r, const struct place *p, struct ut_arena *a,
			struct ut_ops_files *files, struct ut_err *err)
{
	int rc = ut_path_mkdirs(p->folder, err);

	files->csv = ut_str_fmt(a, "%s/%s.csv", p->folder, p->name);
	files->json = ut_str_fmt(a, "%s/%s.json", p->folder, p->name);
	files->page = ut_str_fmt(a, "%s/%s.html", p->folder, p->name);
	ut_ops_report_order(r);
	if (!rc)
		rc = write_file(r, files->csv, ut_ops_write_csv, err);
	if (!rc)
		rc = write_file(r, files->json, ut_ops_write_json, err);
	if (!rc)
		rc = write_file(r, files->page, ut_ops_write_page, err);
	return rc;
}

static void tell(const struct ut_ops_report *r, const char *input)
{
	if (r->missing)
		ut_log(UT_WARN, "%s: %zu ops that ran on a device have no device times", input,
		       r->missing);
	if (r->names.count > r->column_count)
		ut_log(UT_WARN, "%s: it names more than %u columns; the others are left out", input,
		       UT_OPS_MOST_COLUMNS);
	if (r->problems)
		ut_log(UT_WARN, "%s: %zu of %zu rows are not whole; column PROBLEM says why", input,
		       r->problems, r->row_count);
}

int ut_ops_run(const struct ut_ops_opts *o, struct ut_arena *a, struct ut_ops_files *files,
	       struct ut_err *err)
{
	const char *logs = o->format == UT_OPS_SEED ? NULL : ut_ops_today_folder(a, o->input);
	bool today = o->format == UT_OPS_TODAY || logs;
	struct ut_ops_report r;
	struct place place;
	int rc;

	logs = logs ? logs : o->input;
	place = today ? place_of_today(o, logs, a) : place_of_seed(o, a);
	*files = (struct ut_ops_files){ 0 };
	ut_ops_report_init(&r);
	rc = today ? ut_ops_read_today(&r, logs, err) : ut_ops_read_folder(&r, logs, err);
	if (!rc)
		rc = write_report(&r, &place, a, files, err);
	if (!rc && !o->no_tarball) {
		files->tarball = ut_str_fmt(a, "%s/%s.tgz", place.folder, place.name);
		rc = write_tarball(logs, files->tarball, a, err);
	}
	if (!rc)
		tell(&r, logs);
	ut_ops_report_release(&r);
	return rc;
}
