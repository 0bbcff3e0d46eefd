/*
 * backend.h - how a backend speaks to unitrace.
 *
 * A backend watches one accelerator runtime (CUDA, OpenCL, ...) from inside the traced process. It
 * is a shared library in LIBDIR/unitrace/backends, found and loaded by the runtime itself, through
 * that runtime's own door for tools (CUDA_INJECTION64_PATH, OPENCL_LAYERS, ...), which the launcher
 * opens when the user asks for it. When the runtime calls it, the backend joins:
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
 * No session, an older collector, start() failed: NULL, and the backend stays out of the way.
 *
 * A backend is a guest. It never prints, never blocks the program on our account, never changes
 * what the program gets back, and survives calls from any thread, after fork and after exit. What
 * goes wrong is said once with host->note(); the launcher shows it.
 *
 * src/backend/null/null.c is a backend without a runtime: template and test double.
 */
#ifndef UNITRACE_BACKEND_H
#define UNITRACE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

struct ut_zones;

/* Grows when a member changes its meaning; new members are added at the end and told by size. */
#define UT_BACKEND_VERSION 1u

/* What the user has asked for. */
enum ut_want {
	UT_WANT_CALLS = 1u << 0,     /* every host call of the runtime */
	UT_WANT_WORK = 1u << 1,      /* what the device does */
	UT_WANT_SUBMITS = 1u << 2,   /* the host calls that submit work, to draw arrows */
	UT_WANT_CALL_ARGS = 1u << 3, /* the arguments of calls, as text (-c) */
	UT_WANT_PAGES = 1u << 4,     /* pages of memory that move by themselves */
};

/* One device, said before its queues. */
struct ut_device {
	const char *name;  /* "NVIDIA H200" */
	const char *label; /* how the runtime tells it from others: "0", "0000:3a:00.0" */
	uint32_t index;    /* as the program counts them */
	uint32_t api;      /* the runtime, as in calls: host->name("CUDA", 4); 0 = unknown */
};

enum ut_work_kind {
	UT_WORK_KERNEL,
	UT_WORK_COPY,
	UT_WORK_FILL,
	UT_WORK_SYNC,
	UT_WORK_OTHER,
};

enum ut_value_type {
	UT_VALUE_U64,
	UT_VALUE_I64,
	UT_VALUE_F64,
	UT_VALUE_NAME, /* a number from host->name() */
	UT_VALUE_HEX,
};

/* Something that is known about a call or a piece of work. */
struct ut_fact {
	uint32_t key;  /* host->name() */
	uint32_t type; /* enum ut_value_type */
	uint64_t value;
};

#define UT_SIDE_ROW (1ull << 63)

#define UT_FACTS 24u /* more are cut off */

/* A piece of work that a device has done. Times in ns of host->now()'s clock; 0 = unknown. */
struct ut_work {
	uint32_t queue;       /* host->queue() */
	uint32_t name;        /* host->name() */
	uint32_t kind;        /* enum ut_work_kind */
	uint32_t thread;      /* OS id of the thread that submitted it; 0 = unknown */
	uint64_t queued;      /* the host call put it into its queue */
	uint64_t submitted;   /* it was given to the device */
	uint64_t start, end;  /* the device worked on it */
	uint64_t correlation; /* equal to that of the call that submitted it; 0 = none */
	const struct ut_fact *facts;
	size_t fact_count;
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
};

struct ut_probe {
	/* Told about every device that is there. */
	void (*device)(void *ctx, const struct ut_device *device);
	void *ctx;
	char why[256]; /* why nothing can be recorded, when probe() fails */
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
#include <string.h>

typedef const struct ut_host *ut_host_fn(const struct ut_backend *backend);

/* The library that this code is part of lies in LIBDIR/unitrace/backends. */
static const struct ut_host *ut_backend_join(const struct ut_backend *backend)
{
	static const char up[] = "/../../libunitrace.so";
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
	return join.pointer ? join.function(backend) : NULL;
}
#endif

#endif
