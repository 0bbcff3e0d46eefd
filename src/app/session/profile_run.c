#include "session/profile_run.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/path.h"
#include "launch/env.h"
#include "launch/inject.h"
#include "launch/library.h"
#include "launch/run.h"

#define MOST_WORDS 12

int ut_profile_spawn(const char *const *argv, char *const *env, int *status, struct ut_err *err)
{
	char *const *words;
	pid_t pid;
	int rc, how;

	fflush(NULL);
	memcpy(&words, &argv, sizeof(words)); /* spawn's prototype forgets that it only reads */
	ut_launch_mind_limits(false);
	rc = posix_spawn(&pid, argv[0], NULL, NULL, words, env);
	ut_launch_mind_limits(true);
	if (rc)
		return ut_err_set(err, -rc, "%s: %s", argv[0], strerror(rc));
	while (waitpid(pid, &how, 0) < 0) {
		if (errno != EINTR)
			return ut_err_set(err, -errno, "waiting for the command: %s",
					  strerror(errno));
	}
	*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	return 0;
}

/*
 * What NVTX marks is seen by the library that otherwise watches CUDA; here it has nothing else to
 * do, since no device is asked for.
 */
static int keep_nvtx(struct ut_env *env, struct ut_arena *a, struct ut_err *err)
{
	const char *library, *cuda;
	int rc = ut_library_find(a, &library, err);

	if (rc)
		return rc;
	cuda = ut_path_join(a, ut_inject_backend_dir(a, library), "cuda.so");
	if (ut_path_exists(cuda) && !ut_env_get(env, "NVTX_INJECTION64_PATH"))
		ut_env_set(env, "NVTX_INJECTION64_PATH", cuda);
	return 0;
}

int ut_profile_run(const struct ut_profile_opts *o, const struct ut_profile_run *run,
		   struct ut_arena *a, int *status, struct ut_err *err)
{
	const char *self = ut_path_join(a, ut_path_self_dir(a), "unitrace");
	const char *argv[MOST_WORDS] = { 0 };
	struct ut_env env;
	int n = 0, rc = 0;

	ut_env_init(&env, a, environ);
	if (o->tool != UT_PROFILE_UNITRACE) {
		ut_env_set(&env, "TT_METAL_DEVICE_PROFILER", run->device ? "1" : "0");
		if (run->device)
			ut_env_set(&env, "TT_PCI_DMA_BUF_SIZE", "1048576");
	}
	if (run->trace) {
		argv[n++] = self;
		argv[n++] = "record";
		argv[n++] = "--quiet";
		argv[n++] = "--no-summary";
		if (run->device)
			argv[n++] = "--chrome-kernel-logging";
		else
			rc = keep_nvtx(&env, a, err);
		argv[n++] = "--output";
		argv[n++] = run->trace;
	}
	argv[n++] = "/bin/sh";
	argv[n++] = "-c";
	argv[n] = o->command;
	if (rc)
		return rc;
	ut_logger_log(o->logger, UT_INFO, "run %s device profiling: %s",
		      run->device ? "1 of 2, with" : "2 of 2, without", o->command);
	return ut_profile_spawn(argv, env.vars, status, err);
}
