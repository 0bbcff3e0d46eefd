/* thread_roles.c - see thread_roles.h. */
#include "import/thread_roles.h"

#include "base/path.h"

/* The library that a thread was started by says what it does. */
static const struct {
	const char *module, *function; /* beginnings; NULL = any */
	const char *role;
} roles[] = {
	{ "libgomp", NULL, UT_ROLE_OPENMP },
	{ "libiomp5", NULL, UT_ROLE_OPENMP },
	{ "libomp", NULL, UT_ROLE_OPENMP },
	{ "libtbb", NULL, "TBB worker" },
	{ "libopenblas", NULL, "OpenBLAS worker" },
	{ NULL, "blas_thread_server", "OpenBLAS worker" },
	{ NULL, "pthreadpool_", "pthreadpool worker" },
	{ "libmkl", NULL, "MKL worker" },
	{ "libcuda", NULL, "CUDA" },
	{ "libnccl", NULL, "NCCL" },
	{ "libmpi", NULL, "MPI" },
	{ "libpthreadpool", NULL, "pthreadpool worker" },
	{ NULL, "torch::autograd::Engine", "autograd" },
	{ NULL, "c10::ThreadPool", "torch pool" },
	{ NULL, "gomp_thread_start", UT_ROLE_OPENMP },
	{ NULL, "__kmp_launch_worker", UT_ROLE_OPENMP },
	{ NULL, "thread_run", "Python thread" },
	{ NULL, "pythread_wrapper", "Python thread" },
};

static bool begins(struct ut_str s, const char *with)
{
	return !with || ut_str_has_start(s, with);
}

const char *ut_thread_role(const char *module, struct ut_str function)
{
	struct ut_str file = ut_str_of(ut_path_base(module));

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (begins(file, roles[i].module) && begins(function, roles[i].function))
			return roles[i].role;
	}
	return NULL;
}
