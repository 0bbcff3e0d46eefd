/*
 * api_list.h - the APIs that programs use devices or each other through, and what tables, metrics
 * and the launcher have to know of each: the one place where an API is registered.
 *
 * An API without a line here is recorded, counted and shown all the same, by the name that its
 * backend gives it. A line adds its place in tables and what its traits say.
 */
#ifndef UT_BASE_API_LIST_H
#define UT_BASE_API_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* Everything but name and title may be zero. */
struct ut_api_traits {
	const char *name;     /* in files; also of its backend, NAME.so */
	const char *title;    /* for people; also the category of its calls */
	const char *section;  /* in device tables; NULL = its title */
	const char *driver;   /* section of the calls below those of the program; NULL = none */
	const char *torch;    /* PyTorch calls its devices "NAME:0" */
	const char *variable; /* of the environment: its runtime loads the backend named there */
	bool list;            /* ... which is a list, with colons between its names */
	uint8_t order;        /* of its section in device tables; 0 = in order of appearance */
	uint8_t lanes;        /* threads in step, of every kernel; 0 = each kernel tells */
	bool by_type;         /* a section for CPUs, for GPUs and for the rest: "CL GPU" */
	bool compact;         /* tables have the layout of OpenCL's in Intel's tool */
	bool properties;      /* tables list registers and memory of its kernels */
	bool arguments; /* ... and their number of arguments, how they were compiled, spills */
	bool items;     /* the grid of a kernel is its number of threads, not of blocks */
	bool arrows;    /* work may come without correlation: arrows tell who submitted it */
	bool own_pages; /* pages of its own; no advice about grids of blocks */
};

/*
 * api, name, title, traits. The numbers are saved in .utr files: new ones are added at the end.
 */
#define UT_API_LIST(X)                                                                             \
	X(NONE, "none", "", .order = 0)                                                            \
	X(OTHER, "other", "", .order = 0)                                                          \
	X(CUDA, "cuda", "CUDA", .order = 3, .driver = "CUDA driver", .torch = "cuda",              \
	  .variable = "CUDA_INJECTION64_PATH", .lanes = 32, .properties = true)                    \
	X(OPENCL, "opencl", "OpenCL", .order = 2, .section = "CL", .by_type = true,                \
	  .compact = true, .items = true)                                                          \
	X(LEVEL_ZERO, "level_zero", "Level Zero", .order = 1, .section = "L0", .torch = "xpu",     \
	  .properties = true, .arguments = true, .arrows = true)                                   \
	X(SYCL, "sycl", "SYCL", .order = 0)                                                        \
	X(HIP, "hip", "HIP", .torch = "hip")                                                       \
	X(MPI, "mpi", "MPI", .order = 0)                                                           \
	X(NCCL, "nccl", "NCCL", .order = 0)                                                        \
	X(ONECCL, "oneccl", "oneCCL", .order = 0)                                                  \
	X(OPENMP, "openmp", "OpenMP", .order = 0)                                                  \
	X(TT, "tt", "Tenstorrent", .own_pages = true)                                              \
	X(AIU, "aiu", "AIU", .own_pages = true)                                                    \
	X(DUMMY, "null", "NULL", .order = 4, .own_pages = true) /* backend/null: no runtime */     \
	/* tests/e2e/demo_api: made up, to prove what a new API needs */                           \
	X(DEMO, "demo", "Demo", .variable = "DEMO_TOOL_LIBRARIES", .list = true, .lanes = 16,      \
	  .properties = true)

enum ut_api {
#define UT_API_ENUM(api, name, title, ...) UT_API_##api,
	UT_API_LIST(UT_API_ENUM)
#undef UT_API_ENUM
	UT_APIS
};

#endif
