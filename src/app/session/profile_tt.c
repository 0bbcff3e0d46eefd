#include "session/profile_tt.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "session/profile_run.h"
#include "tt/ops_options.h"
#include "tt/ops_run.h"

#define LOCATIONS ".locations.log"
#define HOST_LOG  "profile_log_host.csv"

bool ut_profile_tt_expected(const struct ut_profile_opts *o)
{
	return o->tool == UT_PROFILE_TT_METAL ||
	       (o->tool == UT_PROFILE_AUTO &&
		(o->named_logs || getenv("TT_METAL_HOME") || ut_path_is_dir(o->logs)));
}

/* ---- is the profiler there? ---------------------------------------------------------------- */

#define NO_MODULE 77

/* Marks a zone of its own and leaves; the log of that zone must then lie in the folder. */
static const char probe_script[] = "import sys\n"
				   "try:\n"
				   "    from tt_lib import profiler\n"
				   "except ImportError:\n"
				   "    sys.exit(77)\n"
				   "profiler.set_profiler_location(sys.argv[1])\n"
				   "profiler.start_profiling('test', profiler.OpType.custom_zone)\n"
				   "profiler.stop_profiling('test')\n";

static bool probe_left_log(struct ut_arena *a, const char *folder)
{
	const char *home = getenv("TT_METAL_HOME");
	const char *log = ut_path_join(a, folder, "test/" HOST_LOG);

	return ut_path_exists(log) || (home && ut_path_exists(ut_str_fmt(a, "%s/%s", home, log)));
}

int ut_profile_tt_probe(const struct ut_profile_opts *o, struct ut_arena *a, struct ut_err *err)
{
	char folder[] = "/tmp/unitrace-probe-XXXXXX";
	const char *argv[] = { NULL, "-c", probe_script, NULL, NULL };
	struct ut_err ignored = { 0 };
	int code, status = 0, rc;
	bool found;

	argv[0] = ut_path_find_program(a, "python3", &code);
	if (!argv[0] || !getenv("TT_METAL_HOME") || !mkdtemp(folder))
		return 0;
	argv[3] = ut_path_join(a, folder, "logs"); /* one that exists would be refused */
	rc = ut_profile_spawn(argv, environ, &status, &ignored);
	found = probe_left_log(a, argv[3]);
	if (ut_path_remove_tree(folder, &ignored))
		ut_logger_log(o->logger, UT_DEBUG, "%s", ignored.text);
	if (rc || status == NO_MODULE) {
		ut_logger_log(o->logger, UT_DEBUG,
			      "python3 has no tt_lib: the build was not checked");
		return 0;
	}
	if (status) {
		ut_logger_log(o->logger, UT_WARN,
			      "tt_lib's profiler could not be tried (status %d)", status);
		return 0;
	}
	return found ? 0 : ut_err_set(err, -ENOTSUP, "%s", UT_PROFILE_NOT_BUILT);
}

/* ---- the folders that the runs leave ------------------------------------------------------- */

void ut_profile_tt_forget(const struct ut_profile_opts *o, struct ut_arena *a)
{
	unlink(ut_path_join(a, o->logs, LOCATIONS));
}

/* As written, or below $TT_METAL_HOME; NULL if there is no such folder. */
static const char *find_folder(struct ut_arena *a, const char *name)
{
	const char *home = getenv("TT_METAL_HOME");
	const char *below = home ? ut_path_join(a, home, name) : name;

	if (ut_path_is_dir(name))
		return name;
	return ut_path_is_dir(below) ? below : NULL;
}

static bool profile_tt_listed(const struct ut_opt_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!strcmp(list->items[i], name))
			return true;
	}
	return false;
}

/* A folder per line; without the list, the default one. */
static void list_locations(const struct ut_profile_opts *o, struct ut_arena *a,
			   struct ut_opt_list *list)
{
	FILE *f = fopen(ut_path_join(a, o->logs, LOCATIONS), "re");
	const char *folder = ut_path_join(a, o->logs, "ops");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while (f && (len = getline(&line, &cap, f)) >= 0) {
		while (len && strchr(" \t\r\n/", line[len - 1]))
			len--;
		if (!len)
			continue;
		folder = find_folder(a, ut_arena_copy(a, line, (size_t)len));
		if (folder && !profile_tt_listed(list, folder))
			ut_opt_list_add(list, folder);
	}
	if (!f && ut_path_is_dir(folder))
		ut_opt_list_add(list, folder);
	free(line);
	if (f)
		fclose(f);
}

/* ---- do the runs belong together? ---------------------------------------------------------- */

/* Calls of an op in one run: the rows of its log. */
static size_t count_calls(struct ut_arena *a, const char *folder, const char *op)
{
	FILE *f = fopen(ut_path_join(a, ut_path_join(a, folder, op), HOST_LOG), "re");
	char *line = NULL;
	size_t cap = 0, n = 0;
	ssize_t len;

	while (f && (len = getline(&line, &cap, f)) >= 0)
		n += len > 1;
	free(line);
	if (f)
		fclose(f);
	return n ? n - 1 : 0;
}

/* Ops that the runs did not call equally often: the n-th call of one is not that of the other. */
static void report_differences(const struct ut_profile_opts *o, struct ut_arena *a,
			       const char *location)
{
	const char *device = ut_str_fmt(a, "%s_device", location), *example = NULL;
	DIR *dir = opendir(device);
	size_t differ = 0, with = 0, without = 0;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t first, second;

		if (entry->d_name[0] == '.' || strstr(entry->d_name, "unknown"))
			continue;
		first = count_calls(a, device, entry->d_name);
		second = count_calls(a, location, entry->d_name);
		if (first == second)
			continue;
		differ++;
		if (example && strcmp(entry->d_name, example) > 0)
			continue;
		example = ut_str_fmt(a, "%s", entry->d_name);
		with = first;
		without = second;
	}
	if (dir)
		closedir(dir);
	if (differ)
		ut_logger_log(
			o->logger, UT_WARN,
			"%s: the two runs differ: %zu ops were not called equally often, as %s: "
			"%zu "
			"times with device profiling, %zu times without; their rows may not belong "
			"together",
			location, differ, example, with, without);
}

/* Logs of a run before ours: this command has left none of its own. */
static void report_age(const struct ut_profile_opts *o, struct ut_arena *a, const char *location,
		       time_t began)
{
	DIR *dir = opendir(location);
	const struct dirent *entry;
	time_t newest = 0;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		const char *op = ut_path_join(a, location, entry->d_name);

		if (!stat(ut_path_join(a, op, HOST_LOG), &st) && st.st_mtime > newest)
			newest = st.st_mtime;
	}
	if (dir)
		closedir(dir);
	if (newest && newest + 1 < began)
		ut_logger_log(
			o->logger, UT_WARN,
			"%s: nothing in there is of this run: the report is of an earlier one; %s",
			location, UT_PROFILE_NOT_BUILT);
}

/* ---- reports ------------------------------------------------------------------------------- */

/* Each location has a folder of its own among the results. */
static const char *output_of(const struct ut_profile_opts *o, struct ut_arena *a,
			     const char *location)
{
	const char *last = ut_path_base(location);

	return ut_path_join(a, o->output, strcmp(last, "ops") ? last : "default");
}

int ut_profile_tt_report(const struct ut_profile_opts *o, time_t began, struct ut_arena *a,
			 struct ut_err *err)
{
	struct ut_opt_list locations = { 0 };
	struct ut_ops_files files;
	int rc = 0;

	list_locations(o, a, &locations);
	if (!locations.count)
		rc = ut_err_set(err, -ENOENT, "%s: the command has left no logs of ops; %s",
				o->logs, UT_PROFILE_NOT_BUILT);
	for (size_t i = 0; !rc && i < locations.count; i++) {
		const char *from = locations.items[i];
		const struct ut_ops_opts ops = { .logger = o->logger,
						 .input = from,
						 .output = output_of(o, a, from),
						 .append = o->append,
						 .format = UT_OPS_SEED };

		report_age(o, a, from, began);
		report_differences(o, a, from);
		rc = ut_ops_run(&ops, a, &files, err);
		if (!rc)
			o->reported(o->ctx, from, files.csv);
	}
	ut_opt_list_release(&locations);
	return rc;
}
