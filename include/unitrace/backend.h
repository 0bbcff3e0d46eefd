/*
 * backend.h - how a backend speaks to unitrace.
 *
 * A backend watches one accelerator runtime (CUDA, OpenCL, ...) from inside the traced process. It
 * is a shared library in LIBDIR/unitrace/backends, found and loaded by the runtime itself, through
 * that runtime's own interface for tools (CUDA_INJECTION64_PATH, OPENCL_LAYERS, ...), which the
 * launcher opens when the user asks for it. When the runtime calls it, the backend joins:
 *
 *	static const struct ut_host *host;
 *
 *	int InitializeInjection(void)
 *	{
 *		host = ut_backend_join(&backend);
 *		return 1;
 *	}
 *
 * and ut_backend_join() finds the collector (LIBDIR/libunitrace.so), asks it for the session and
 * calls backend.start(). From then on the backend hands over what it sees through struct ut_host.
 * No session, an older collector, start() failed: NULL, and the backend stays out of the way. errno
 * is as before in each case.
 *
 * A backend is a guest. It never prints, never blocks the program on our account, never changes
 * what the program gets back, and survives calls from any thread, after fork and after exit. What
 * goes wrong is said once with host->note(); the launcher shows it. src/record/backend/null/null.c
 * is one without a runtime: template and test double.
 */
#ifndef UNITRACE_BACKEND_H
#define UNITRACE_BACKEND_H

#include "unitrace/backend_probe.h"
#include "unitrace/backend_types.h"

struct ut_zones;

/*
 * Grows when a member changes its meaning; new members are added at the end and told by size. A
 * collector serves its own version and version 1, and says to the user why it does not serve
 * another. Who may meet an older collector asks UT_HOST_HAS() before using what came later.
 */
#define UT_BACKEND_VERSION 2u

/* Does this host have that member? Those up to the function before option are always there. */
#define UT_HOST_HAS(host, member)                                                                  \
	((host)->size >= offsetof(struct ut_host, member) + sizeof((host)->member))

/* What the user has asked for. */
enum ut_want {
	UT_WANT_CALLS = 1u << 0,     /* every host call of the runtime */
	UT_WANT_WORK = 1u << 1,      /* what the device does */
	UT_WANT_SUBMITS = 1u << 2,   /* the host calls that submit work, to draw arrows */
	UT_WANT_CALL_ARGS = 1u << 3, /* the arguments of calls, as text (-c) */
	UT_WANT_PAGES = 1u << 4,     /* pages of memory that move by themselves */
	UT_WANT_QUERY = 1u << 5,     /* hardware metrics of each kernel */
	UT_WANT_SAMPLING = 1u << 6,  /* hardware metrics at regular intervals */
	UT_WANT_STALLS = 1u << 7,    /* which instructions wait, and for what */
	UT_WANT_METRICS = 7u << 5,   /* any of the three */
	UT_WANT_MEMORY = 1u << 8,    /* what the program allocates */
};

/*
 * What the collector does for backends. Every function may be called from any thread, does not
 * lock, allocate with malloc or print, and gives errno back as found.
 */
struct ut_host {
	uint32_t version; /* UT_BACKEND_VERSION of the collector */
	uint32_t size;    /* of this struct there */
	uint32_t want;    /* enum ut_want */
	uint32_t reserved;

	uint64_t (*now)(void); /* CLOCK_MONOTONIC, ns */
	int (*on)(void);       /* may the calling thread record now? */

	/* The number of a text: the same for the same text. */
	uint32_t (*name)(const char *text, size_t len);
	/* Does the user want to see a kernel of this name? (--include-kernels) */
	int (*wants_kernel)(const char *name);

	/* 0 = the user does not want this device: its queues are 0 as well, and what is said
	 * about them is dropped. */
	uint32_t (*device)(const struct ut_device *device);
	/* A place where a device works through things in order: stream, queue, engine. id tells
	 * it from others of the device; from UT_SIDE_ROW on it is a row beside them, which stays
	 * one when the user wants all queues in one row. */
	uint32_t (*queue)(uint32_t device, const char *name, uint64_t id);

	/* A call of the runtime on this thread, from begin to end; calls nest. api is the number
	 * of the runtime's name: host->name("CUDA", 4). */
	void (*call_begin)(uint32_t api, uint32_t name, uint64_t correlation);
	void (*call_end)(uint32_t api, const struct ut_fact *facts, size_t fact_count);
	/* The same when both times are known already. */
	void (*call)(uint32_t api, const struct ut_work *call);

	void (*work)(const struct ut_work *work);

	/* A value of a named counter of a device (utilisation, bytes in use) at a time. */
	void (*counter)(uint32_t device, uint32_t name, uint64_t time, double value);

	/* One line for the user, shown after the run. */
	void (*note)(const char *text);

	/* For runtimes of languages: which function runs (unitrace/zones.h). */
	const struct ut_zones *zones;

	/* Was recording on at that time? For work that is told of later than it was submitted:
	 * call() looks by itself, work() leaves it to the backend. */
	int (*was_on)(uint64_t time);

	/* The value of an option, "BACKEND.KEY" (cuda.cupti), as the user gave it with
	 * --backend-option; NULL = not given. The text stays. */
	const char *(*option)(const char *key);

	/* A number for a set of metrics; 0 = not wanted. Ask once. */
	uint32_t (*metrics)(const struct ut_metric_set *set);
	void (*values)(const struct ut_values *values);

	/* The number of a place in code, and of a stack: what is called from the stack parent (0 =
	 * nothing). The same for the same; 0 = no memory. Cheap enough for a signal handler. */
	uint32_t (*frame)(const struct ut_code *frame);
	uint32_t (*stack)(uint32_t parent, uint32_t frame);
	/* size is sizeof(struct ut_sample). */
	void (*samples)(const struct ut_sample *samples, size_t count, size_t size);
	void (*message)(const struct ut_message *message);

	/* Fills in what the launcher of a parallel job says; size is set. */
	void (*parallel)(struct ut_parallel *place);
	/* What the runtime itself says, which knows better. */
	void (*rank)(int32_t rank, int32_t ranks);

	/* Keeps a file beside the recording, such as a device's code, whole; one of that name
	 * (letters, digits, '.', '-', '_') stays. 0 or -errno. Not for signal handlers. */
	int (*keep)(const char *name, const void *bytes, size_t size);

	/* Memory of the program, see backend_memory.h. */
	int (*allocated)(const struct ut_allocation *allocation);
	void (*freed)(uint64_t address);

	/* call_begin() with facts that are known before the call is made, such as whom it needs: of
	 * a call that never ends nothing else is recorded. call_end() adds others. */
	void (*call_begin_with)(uint32_t api, uint32_t name, uint64_t correlation,
				const struct ut_fact *facts, size_t fact_count);

	/* 1: make no system calls, the program has a new seccomp filter (docs/security.md) */
	int (*locked_in)(void);
};

/* A backend, as it shows itself: the symbol "unitrace_backend" of its library. */
struct ut_backend {
	uint32_t version; /* UT_BACKEND_VERSION it was built for */
	uint32_t size;
	const char *name; /* "cuda" */
	/* In a process of the launcher's: what devices are there? 0, or a negative errno. */
	int (*probe)(struct ut_probe *probe);
	/* In the traced process, once. 0, or a negative errno after host->note(). */
	int (*start)(const struct ut_host *host);
	/* Hands over everything that is complete. May be called at any time, also by a signal's
	 * end of the process; must not wait for the device. */
	void (*flush)(void);
	/* The process ends: the last chance. */
	void (*stop)(void);
};

#ifdef UT_BACKEND_IMPLEMENTATION
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

typedef const struct ut_host *ut_host_fn(const struct ut_backend *backend);

/* The library that this code is part of lies in LIBDIR/unitrace/backends. */
static const struct ut_host *ut_backend_join(const struct ut_backend *backend)
{
	static const char up[] = "/../../libunitrace.so";
	const struct ut_host *host = NULL;
	int saved = errno;
	char path[4096];
	const char *slash;
	Dl_info self;
	void *library;
	union {
		void *pointer;
		ut_host_fn *function;
	} join;

	if (!dladdr((const void *)backend, &self) || !self.dli_fname)
		return NULL;
	slash = strrchr(self.dli_fname, '/');
	if (!slash || (size_t)(slash - self.dli_fname) + sizeof(up) > sizeof(path))
		return NULL;
	memcpy(path, self.dli_fname, (size_t)(slash - self.dli_fname));
	memcpy(path + (slash - self.dli_fname), up, sizeof(up));
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	join.pointer = library ? dlsym(library, "unitrace_join") : NULL;
	if (join.pointer)
		host = join.function(backend);
	errno = saved;
	return host;
}
#endif

#endif
