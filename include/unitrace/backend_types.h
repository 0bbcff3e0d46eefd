/*
 * backend_types.h - what a backend tells: devices, work, metrics, samples, messages. Included by
 * backend.h, which says how.
 *
 * A struct that goes through the contract alone begins with its size, sizeof(struct ...) where it
 * was compiled: either side may be the older one. What the other did not know reads as 0; what it
 * said beyond what we know is told to the user, never guessed at. Elements of arrays (facts,
 * metrics) stay as they are while UT_BACKEND_VERSION does; samples come with the size of one.
 */
#ifndef UNITRACE_BACKEND_TYPES_H
#define UNITRACE_BACKEND_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "unitrace/backend_memory.h"

/* One device, said before its queues. */
struct ut_device {
	uint32_t size;
	uint32_t index;    /* as the program counts them */
	const char *name;  /* "NVIDIA H200" */
	const char *label; /* how the runtime tells it from others: "0", "0000:3a:00.0" */
	uint32_t api;      /* the runtime, as in calls: host->name("CUDA", 4); 0 = unknown */
	uint32_t reserved; /* 0 */
};

/* Stands for a device where something belongs to the process itself. */
#define UT_DEVICE_PROCESS UINT32_MAX

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
	/* The call or work has sent or received a message (struct ut_message): the key is its
	 * name, the value ut_message_number() of its id. Only where UT_HOST_HAS(host, parallel). */
	UT_VALUE_SENT,
	UT_VALUE_RECEIVED,
};

/* Something that is known about a call or a piece of work. Any number of them is kept. */
struct ut_fact {
	uint32_t key;  /* host->name() */
	uint32_t type; /* enum ut_value_type */
	uint64_t value;
};

#define UT_SIDE_ROW (1ull << 63)

/* A piece of work that a device has done. Times in ns of host->now()'s clock; 0 = unknown. */
struct ut_work {
	uint32_t size;
	uint32_t queue;       /* host->queue() */
	uint32_t name;        /* host->name() */
	uint32_t kind;        /* enum ut_work_kind */
	uint32_t thread;      /* OS id of the thread that submitted it; 0 = unknown */
	uint32_t reserved;    /* 0 */
	uint64_t queued;      /* the host call put it into its queue */
	uint64_t submitted;   /* it was given to the device */
	uint64_t start, end;  /* the device worked on it */
	uint64_t correlation; /* equal to that of the call that submitted it; 0 = none */
	const struct ut_fact *facts;
	size_t fact_count;
};

/* ---- metrics ------------------------------------------------------------------------------- */

struct ut_metric {
	const char *key;   /* "sm__cycles_active.avg" */
	const char *title; /* for people; NULL = the key */
	const char *unit;  /* "%", "byte/s"; NULL = none */
	uint32_t type;     /* enum ut_value_type */
	uint32_t reserved; /* 0 */
};

/* Metrics that are measured together. */
struct ut_metric_set {
	uint32_t size;
	uint32_t device;   /* host->device(), or UT_DEVICE_PROCESS */
	const char *title; /* "Compute basic" */
	const struct ut_metric *metrics;
	size_t count;
};

enum ut_values_flag {
	UT_VALUES_SAMPLE = 1u << 0, /* one of many in a row: counters, though it is over a span */
};

/*
 * One measurement: a value for each metric of its set, in the set's order. At a moment (end 0) the
 * numbers become counters of the device; over a span they become arguments of the work that has the
 * correlation, and of a span in a row of the set's name. A double that is no number was not
 * measured.
 */
struct ut_values {
	uint32_t size;
	uint32_t set;         /* host->metrics() */
	uint32_t name;        /* of a span: what was measured, host->name(); 0 = the set's title */
	uint32_t flags;       /* enum ut_values_flag */
	uint64_t begin, end;  /* ns; end 0 = a moment */
	uint64_t correlation; /* of the work that was measured; 0 = none */
	const uint64_t *values; /* the bits, as the metric's type says */
	size_t count;           /* fewer than the set has: the rest was not measured */
};

/* ---- samples ------------------------------------------------------------------------------- */

/* Where code is. Numbers are from host->name(); 0 = unknown. */
struct ut_code {
	uint32_t size;
	uint32_t function;
	uint64_t address; /* in the process, or in its module if there is one; 0 = unknown */
	uint32_t module;  /* file or kernel that the code belongs to */
	uint32_t file;    /* of its source */
	uint32_t line;
	uint32_t reserved; /* 0 */
};

/*
 * What ran at a moment. The stack is what host->stack() knows by number, and the addresses below
 * it, if there are any: the outermost first, named later from the files that the process has
 * mapped. Either may be missing.
 */
struct ut_sample {
	uint64_t time;   /* ns; 0 = now */
	uint64_t weight; /* how much it stands for: samples, ns, bytes */
	uint32_t queue;  /* host->queue(); 0 = a thread: */
	uint32_t thread; /* its OS id; 0 = the one that calls */
	uint32_t source; /* what is sampled, host->name("cycles", 6); 0 = none */
	uint32_t reason; /* why it stood there: a stall reason, a state; 0 = none */
	uint32_t stack;  /* host->stack(); 0 = none */
	uint32_t depth;  /* of addresses */
	const uint64_t *addresses;
};

/* ---- messages ------------------------------------------------------------------------------ */

enum ut_message_end {
	UT_MESSAGE_SENT,
	UT_MESSAGE_RECEIVED,
	UT_MESSAGE_PASSED, /* forwarded, one of many that take part */
};

/*
 * One end of a message between processes, mostly ranks of a job. Both ends say the same id, which
 * nothing else in the job has: {job, rank, number of the message} for example. The arrow is bound
 * to the call or work with this correlation, or, if that is 0, to what is open on this thread now.
 */
struct ut_message {
	uint32_t size;
	uint32_t end;   /* enum ut_message_end */
	uint64_t id[2]; /* 128 bits; not both 0 */
	uint64_t correlation;
	uint32_t name; /* host->name("MPI message", 11); 0 = none */
	uint32_t reserved;
};

/* ---- parallel jobs ------------------------------------------------------------------------- */

/* Where this process is in a parallel job, as its launcher says. */
struct ut_parallel {
	uint32_t size;
	int32_t rank;  /* -1 = unknown */
	int32_t ranks; /* how many there are; 0 = unknown */
	int32_t local; /* of them on this host; 0 = unknown */
	uint64_t job;  /* the same in all its processes, another in other jobs; 0 = unknown */
};

/*
 * 128 bits become 62: of a million messages two meet with a chance of 1 in 9 million. Part of the
 * format: the other end may be recorded by another version, on another machine. From 2^48 to 2^62,
 * so that it is neither a count nor a hash of a reader's.
 */
static inline uint64_t ut_message_number(const uint64_t id[2])
{
	uint64_t h = id[0];

	for (int i = 0; i < 2; i++) {
		h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
		h ^= h >> 31;
		h += i ? 0 : id[1] * UINT64_C(0x9e3779b97f4a7c15);
	}
	h >>= 2;
	return h >> 48 ? h : h | UINT64_C(1) << 61;
}

_Static_assert(sizeof(struct ut_fact) == 16, "facts are recorded as they are");

#endif
