/*
 * cpu_file.h - what was seen of one program on the CPUs: samples with their stacks, threads, when
 * they ran and waited, how much memory there was. docs/formats/cpu.md.
 *
 * The launcher writes one such file into the session directory for each program that a process
 * ran: a process that executes another program gets a second one. The process itself knows nothing
 * of it, and need not have recorded anything. Files only grow; what a record refers to comes before
 * it, so a reader takes what is there and stops where the bytes end.
 *
 * A record is a word of type and size, then its members, padded to 8 bytes. Times are ns of
 * CLOCK_MONOTONIC.
 */
#ifndef UT_WIRE_CPU_FILE_H
#define UT_WIRE_CPU_FILE_H

#include <stdint.h>

#define UT_CPU_MAGIC   "utcpu\r\n\032"
#define UT_CPU_VERSION 1
#define UT_CPU_SUFFIX  ".cpu"

/* BUILDID.module: a file that was gone when the recording ended. */
#define UT_CPU_KEPT_SUFFIX ".module"

/* FILE.cpu.kept/: what a compiler in the program has written about the code that it made. */
#define UT_CPU_KEPT_FOLDER ".kept"
#define UT_CPU_KEPT_MAP    "perf.map" /* /tmp/perf-PID.map */
#define UT_CPU_KEPT_DUMP   "jit.dump" /* jit-PID.dump */

enum ut_cpu_flag {
	UT_CPU_KERNEL = 1u << 0,    /* time in the kernel has samples, too */
	UT_CPU_SWITCHES = 1u << 1,  /* it is told when threads run and wait */
	UT_CPU_TIMED = 1u << 2,     /* TIMES tell how long they have */
	UT_CPU_WAITED = 1u << 4,    /* waits were asked for; WAIT tells where, if it could be had */
	UT_CPU_BEGAN_OFF = 1u << 3, /* recording was off until the process's own recording begins */
};

struct ut_cpu_header {
	char magic[8];
	uint32_t version;
	uint32_t bytes; /* of this header; records follow */
	uint32_t pid, ppid;
	uint64_t proc_start; /* field 22 of /proc/PID/stat; 0 = unknown */
	int32_t rank;        /* -1 = none */
	uint32_t flags;      /* enum ut_cpu_flag */
	uint64_t start;      /* from when on the process ran this program */
	uint64_t end;        /* until when; 0 = nobody has closed the file */
	uint64_t period;     /* ns between two samples of a thread that runs */
	int64_t realtime;    /* to be added to a time to get CLOCK_REALTIME */
	int64_t boottime;    /* the same for CLOCK_BOOTTIME */
	char boot_id[40];
	char event[32]; /* what was sampled: "cpu-clock" */
	char host[64];
	char name[256]; /* of the program */
	char cmdline[1024];
};

/* A text is padded with NULs; "text text" are two, each closed by a NUL. */
#define UT_CPU_REC_LIST(X)                                                                         \
	X(THREAD, "tid|0, time, name: a thread is there, or has another name")                     \
	X(GONE, "tid|0, time: a thread has ended")                                                 \
	X(MODULE, "id|kind, build id (20 bytes)|its length, path")                                 \
	X(PLACE, "id|module, offset in the file, or the address")                                  \
	X(STACK, "id|caller, place|0")                                                             \
	X(SAMPLE, "time, tid|stack, weight|cpu")                                                   \
	X(SWITCH, "time, tid|how + cpu << 8: enum ut_cpu_switch")                                  \
	X(COUNTER, "time, which|0, value: enum ut_cpu_counter")                                    \
	X(NAMED, "place|line, function, file: names of the next place, which no file tells")       \
	X(LOST, "time, count: samples that found no room")                                         \
	X(CONTROL, "time, 1 = samples are taken from now on, 0 = not")                             \
	X(NOTE, "text: something for the user")                                                    \
	X(TIMES, "time, tid|0, ns that the thread has run, ns that it waited for a CPU")           \
	X(WAIT, "as SAMPLE: the thread gives up its CPU, and waits or not")                        \
	X(LOOK, "tid|0, time, function of the kernel that the thread waited in; none if it ran")   \
	X(REST, "time, which|0, count, ns: CPU time of no thread here: enum ut_cpu_rest")          \
	X(ENDED, "time, how the process ended, as waitpid() has it")

enum ut_cpu_rec {
	UT_CPU_NONE,
#define UT_CPU_REC_ENUM(type, members) UT_CPU_##type,
	UT_CPU_REC_LIST(UT_CPU_REC_ENUM)
#undef UT_CPU_REC_ENUM
};

/* What a module is. */
enum ut_cpu_module {
	UT_CPU_MODULE_FILE,
	UT_CPU_MODULE_KERNEL, /* places are addresses */
	UT_CPU_MODULE_VDSO,
	UT_CPU_MODULE_ANONYMOUS, /* code that no file has: places are addresses */
	UT_CPU_MODULE_UNKNOWN,   /* the same; nothing is mapped there */
	UT_CPU_MODULE_SCRIPT,    /* lines of an interpreted program: places have names */
};

enum ut_cpu_switch {
	UT_CPU_RUNS,      /* the thread got a CPU */
	UT_CPU_WAITS,     /* it gave it up, for something that it waits for */
	UT_CPU_PREEMPTED, /* it would have gone on */
};

/* name in files, unit */
#define UT_CPU_COUNTER_LIST(X)                                                                     \
	X(RSS, "resident memory", "bytes")                                                         \
	X(MINOR_FAULTS, "minor page faults", "")                                                   \
	X(MAJOR_FAULTS, "major page faults", "")

enum ut_cpu_counter {
#define UT_CPU_COUNTER_ENUM(counter, name, unit) UT_CPU_COUNT_##counter,
	UT_CPU_COUNTER_LIST(UT_CPU_COUNTER_ENUM)
#undef UT_CPU_COUNTER_ENUM
	UT_CPU_COUNTERS
};

/* Whose CPU time it was. */
enum ut_cpu_rest {
	UT_CPU_REST_PROGRAMS, /* of count programs that came to no sample */
	UT_CPU_REST_UNSEEN,   /* the system counts it, and nobody has seen whose it was */
	UT_CPU_RESTS
};

struct ut_cpu_rec_head {
	uint32_t type; /* enum ut_cpu_rec */
	uint32_t size; /* bytes of the record, this word among them; a multiple of 8 */
};

struct ut_cpu_thread {
	uint32_t tid, reserved;
	uint64_t time;
	/* THREAD: the name follows */
};

struct ut_cpu_module_rec {
	uint32_t id, kind;
	uint8_t build_id[20];
	uint32_t build_id_bytes;
	/* the path follows */
};

struct ut_cpu_place {
	uint32_t id, module;
	uint64_t at;
};

struct ut_cpu_stack {
	uint32_t id, caller; /* numbers of stacks; 0 = none */
	uint32_t place, reserved;
};

struct ut_cpu_sample {
	uint64_t time;
	uint32_t tid, stack;
	uint32_t weight; /* ns of CPU time */
	uint32_t cpu;
};

struct ut_cpu_switch_rec {
	uint64_t time;
	uint32_t tid, how;
};

/* What /proc says, where nobody tells each switch. Both only grow. */
struct ut_cpu_times {
	uint64_t time;
	uint32_t tid, reserved;
	uint64_t ran, ready;
};

struct ut_cpu_counter_rec {
	uint64_t time;
	uint32_t which, reserved;
	uint64_t value;
};

/* Of one kind they add up. */
struct ut_cpu_rest_rec {
	uint64_t time;
	uint32_t which, reserved;
	uint64_t count, ran;
};

struct ut_cpu_named {
	uint32_t place, line;
	/* the function and the file follow */
};

struct ut_cpu_count {
	uint64_t time, count; /* LOST; CONTROL: 1 or 0; ENDED: a status */
};

#endif
