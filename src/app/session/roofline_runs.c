#define UT_LOG_MODULE "session"
#include "session/roofline_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/logger.h"
#include "base/path.h"
#include "session/profile_run.h"
#include "text/file_text.h"
#include "text/out.h"
#include "text/shell_words.h"

#define MOST_PRINTED (1u << 20)

const char *ut_roofline_folder(struct ut_arena *a, struct ut_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = ut_str_fmt(a, "%s/unitrace-roofline-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(folder))
		return folder;
	ut_err_set(err, -errno, "%s: %s", folder, strerror(errno));
	return NULL;
}

void ut_roofline_remove(const char *folder, const struct ut_logger *logger)
{
	struct ut_err err = { 0 };

	if (folder && ut_path_remove_tree(folder, &err))
		ut_logger_log(logger, UT_WARN, "%s", err.text);
}

/* ---- the application --------------------------------------------------------------------------
 */

/* The name of a file may have blanks in it; everything else is a line of words. */
static int roofline_runs_words_of(const char *app, struct ut_arena *a, const char ***words,
				  size_t *count, struct ut_err *err)
{
	int rc;

	if (ut_path_exists(app)) {
		*words = UT_NEW_N(a, const char *, 2);
		(*words)[0] = app;
		*count = 1;
		return 0;
	}
	rc = ut_shell_words(a, ut_str_of(app), words, count, NULL, err);
	if (!rc && !*count)
		return ut_err_set(err, -EINVAL, "--app: there is nothing to run");
	return rc;
}

static int run_group(struct ut_roofline_runs *r, unsigned int i, const char **argv,
		     struct ut_err *err)
{
	bool two = r->groups[1] != NULL;
	int status = 0, rc;

	ut_logger_log(r->logger, UT_INFO, "run %u of %d, metrics %s: %s", i + 1, two ? 2 : 1,
		      r->groups[i], r->app);
	rc = ut_profile_spawn(argv, environ, &status, err);
	if (!rc && status)
		ut_logger_log(r->logger, UT_WARN,
			      "the run ended with status %d: what it left is taken", status);
	return rc;
}

int ut_roofline_runs(struct ut_roofline_runs *r, struct ut_arena *a, const char *folder,
		     struct ut_err *err)
{
	const char **words, **argv;
	size_t count, n;
	int rc = roofline_runs_words_of(r->app, a, &words, &count, err);

	if (rc)
		return rc;
	for (unsigned int i = 0; i < UT_ROOFLINE_GROUPS && r->groups[i] && !rc; i++) {
		n = 0;
		r->profiles[i] = ut_str_fmt(a, "%s/run%u", folder, i);
		argv = UT_NEW_N(a, const char *, count + 9);
		argv[n++] = r->unitrace ? r->unitrace
					: ut_path_join(a, ut_path_self_dir(a), "unitrace");
		argv[n++] = "-q";
		argv[n++] = "--group";
		argv[n++] = r->groups[i];
		argv[n++] = "--chrome-kernel-logging";
		if (!r->unitrace)
			argv[n++] = "--no-summary";
		argv[n++] = "-o"; /* a timeline's name: it stays in the folder, too */
		argv[n++] = ut_str_fmt(a, "%s.json", r->profiles[i]);
		memcpy(argv + n, words, count * sizeof(*words));
		rc = run_group(r, i, argv, err);
	}
	return rc;
}

/* ---- a device ---------------------------------------------------------------------------------
 */

static int roofline_runs_write_file(const char *path, struct ut_str text, struct ut_err *err)
{
	struct ut_out *out = ut_out_open(path, UT_OUT_OVERWRITE | UT_OUT_RENEW);

	ut_out_write(out, text.ptr, text.len);
	return ut_out_commit(out, err);
}

static const char *find_nvcc(struct ut_arena *a)
{
	int code;
	const char *nvcc = ut_path_find_program(a, "nvcc", &code);

	if (!nvcc && ut_path_exists("/usr/local/cuda/bin/nvcc"))
		nvcc = "/usr/local/cuda/bin/nvcc";
	return nvcc;
}

static int build(const char *nvcc, const char *source, const char *program, struct ut_err *err)
{
	/* Hopper's own instructions for matrices need its own code; others build theirs when they
	 * start, from the newest one that they know */
	const char *argv[] = { nvcc,
			       "-O3",
			       "-std=c++17",
			       "-gencode",
			       "arch=compute_80,code=compute_80",
			       "-gencode",
			       "arch=compute_89,code=compute_89",
			       "-gencode",
			       "arch=compute_90a,code=sm_90a",
			       source,
			       "-o",
			       program,
			       NULL };
	int status = 0, rc = ut_profile_spawn(argv, environ, &status, err);

	if (!rc && status)
		return ut_err_set(err, -EIO, "%s could not build the program that measures", nvcc);
	return rc;
}

int ut_roofline_measure(struct ut_str program, struct ut_arena *a, const char *folder,
			const struct ut_logger *logger, struct ut_buf *printed, struct ut_err *err)
{
	const char *source = ut_path_join(a, folder, "peaks.cu");
	const char *built = ut_path_join(a, folder, "peaks");
	const char *result = ut_path_join(a, folder, "device.csv");
	const char *argv[] = { "/bin/sh", "-c", "exec \"$0\" >\"$1\"", built, result, NULL };
	const char *nvcc = find_nvcc(a);
	int status = 0, rc;

	if (!nvcc)
		return ut_err_set(err, -ENOENT,
				  "nvcc was not found: measuring a device needs NVIDIA's compiler, "
				  "of the CUDA toolkit");
	rc = roofline_runs_write_file(source, program, err);
	ut_logger_log(logger, UT_INFO, "building the program that measures (half a minute)");
	if (!rc)
		rc = build(nvcc, source, built, err);
	if (rc)
		return rc;
	ut_logger_log(logger, UT_INFO,
		      "measuring (half a minute): nothing else should use the device");
	rc = ut_profile_spawn(argv, environ, &status, err);
	if (!rc && status)
		return ut_err_set(err, -EIO, "the program that measures ended with status %d",
				  status);
	return rc ? rc : ut_file_text(result, MOST_PRINTED, printed, err);
}
