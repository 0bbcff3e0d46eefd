/*
 * inject.h - how backends are injected into accelerator runtimes.
 *
 * Each runtime reads a variable of its own and loads what it names. The user may have put something
 * there already: a list gets one entry more, and where there is room for one name only the user's
 * stays, with a warning that says what is not recorded.
 *
 * OpenCL has two interfaces for tools. Loaders since 2021 take layers (OPENCL_LAYERS). For older
 * ones the session directory gets a folder that looks like a folder of vendors: opencl/unitrace.icd
 * names the backend, which stands for the real vendors that opencl/vendors lists.
 *
 * NCCL takes a plugin for profilers (NCCL_PROFILER_PLUGIN).
 *
 * Level Zero has none: our backend takes the place of a driver (levelzero_inject.h).
 *
 * SYCL's runtime has a list of subscribers (XPTI_SUBSCRIBERS), which it reads if it is told to
 * (XPTI_TRACE_ENABLE) and to where its framework is (XPTI_FRAMEWORK_DISPATCHER); calls of the
 * runtime below are told by a layer of that one (UR_ENABLE_LAYERS).
 *
 * MPI and the program's allocator have no variable for tools: theirs is the loader's,
 * LD_PRELOAD. AddressSanitizer ends programs that have something in front of it; it is told not to
 * (ASAN_OPTIONS), and the backend stands aside.
 */
#ifndef UT_LAUNCH_INJECT_H
#define UT_LAUNCH_INJECT_H

#include <stdbool.h>

struct ut_arena;
struct ut_env;
struct ut_logger;

enum ut_opencl_inject {
	UT_OPENCL_AUTO, /* a layer, unless libOpenCL.so.1 knows none */
	UT_OPENCL_LAYER,
	UT_OPENCL_ICD,
};

struct ut_inject {
	const char *backends;    /* folder of the backends; absolute */
	const char *session_dir; /* absolute */
	bool devices;            /* those of accelerators */
	bool metrics;            /* their hardware metrics are wanted */
	bool mpi;
	bool sycl;
	bool ccl;    /* collective libraries: NCCL */
	bool memory; /* of the program: its allocator */
	enum ut_opencl_inject opencl;
	const struct ut_logger *logger; /* hears what is not recorded, and why */
};

/* The folder of the backends that belong to a collector: LIBDIR/unitrace/backends. */
const char *ut_inject_backend_dir(struct ut_arena *a, const char *library);

/* Sets the variables of every backend that is wanted and there. */
void ut_inject_set_env(const struct ut_inject *d, struct ut_env *env);

#endif
