/*
 * image.h - one program that a process runs: what is mapped in it, and the file that its samples go
 * to (wire/cpu_file.h). A process that executes another program gets a new image.
 *
 * The file is made with the first sample, so programs that nobody saw at work leave nothing.
 * Records are gathered and appended now and then; between two writes the file is closed, since a
 * build starts thousands of programs. Owner: the table of images. Not thread-safe.
 */
#ifndef UT_LAUNCH_CPU_IMAGE_H
#define UT_LAUNCH_CPU_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"
#include "base/str.h"
#include "launch/cpu/file_maps.h"
#include "wire/cpu_file.h"

struct ut_modules;
struct ut_python;

/* A thread: what /proc tells of it (tasks.h), or when it runs. */
struct ut_image_task {
	uint32_t tid;
	char name[16];
	uint64_t ready;   /* ns that it stood in line, in this program and those before */
	uint64_t ran;     /* ns */
	uint64_t sampled; /* ns of CPU time that samples of timers stand for */
	uint64_t seen;    /* when; 0 = it has ended */
	uint64_t since;   /* of switches: when it began to run; 0 = it does not */
};

/* Files of compilers inside the program: jit_files.h. Descriptors; 0 or less = none. */
struct ut_image_jit {
	int map, dump;
	uint64_t looked; /* when; 0 = nothing was in such code yet */
};

struct ut_image {
	uint32_t pid, ppid;
	uint64_t start, end;     /* ns; end 0 = it goes on */
	bool replaced;           /* it ended by executing another program */
	struct ut_image *before; /* what the process ran until then */
	struct ut_maps maps;
	char name[64];
	bool described;  /* name, cmdline: the process was asked */
	uint64_t looked; /* when its maps were last read from /proc */
	struct ut_cpu_header header;
	char path[4096]; /* of the file; empty = not made */
	int failed;      /* errno: nothing more is written */
	struct ut_buf out;
	struct ut_idmap threads; /* tid -> 1: is told of */
	struct ut_idmap modules; /* number -> 1 */
	struct ut_idmap places;  /* key -> number */
	struct ut_idmap stacks;  /* caller << 32 | place -> number */
	uint32_t place_count, stack_count;
	uint64_t samples;
	struct ut_idmap
		called; /* stack -> the place of the Python function last seen called from it */
	struct ut_python *python;    /* NULL = it is none, or not known yet */
	size_t maps_looked;          /* how many maps there were then */
	struct ut_idmap looked_into; /* modules -> 1: to see if it is Python */
	struct ut_image_jit jit;
	uint64_t proc_start; /* of the process, where programs sample themselves; 0 = not known */
	/* ns that the first thread had run and stood in line when the program began */
	uint64_t ran_before, ready_before;
	struct ut_image_task *tasks;
	size_t task_count, task_cap;
	struct ut_idmap task_of_tid; /* -> index + 1 */
};

/* What all images of a session share. */
struct ut_image_session {
	const char *dir;
	struct ut_modules *modules;
	struct ut_cpu_header header; /* what is the same in all of them */
	bool conditional;            /* programs begin with recording off, unless told otherwise */
	bool paused;                 /* the session began paused */
	uint32_t root;               /* the program that was started; 0 = it was there before */
	uint64_t total;              /* ns of CPU time of all that it has started; 0 = not known */
	uint64_t accounted;          /* ns of CPU time of programs that have a file */
	uint64_t rest, rest_count;   /* ns of those that have none, how many they are */
	uint32_t old_python;   /* 0x0308: functions of this version cannot be read; 0 = none */
	uint64_t lost;         /* records that could not be written */
	int failure;           /* errno of the last one, or UT_SPOOL_RESERVE */
	uint64_t disk_reserve; /* bytes that stay free on the disk */
};

struct ut_image *ut_image_new(uint32_t pid, uint32_t ppid, uint64_t start, const char *name);
void ut_image_free(struct ut_image *i);

/* Numbers of places and stacks, which are written when they are new. */
uint32_t ut_image_place(struct ut_image *i, const struct ut_image_session *s, uint32_t module,
			uint64_t at);
uint32_t ut_image_stack(struct ut_image *i, uint32_t caller, uint32_t place);

/* A line of a function that is no machine code. number: of the function, whatever counts them. */
struct ut_image_line {
	uint32_t number, line;
	const char *function, *file;
};

uint32_t ut_image_script(struct ut_image *i, const struct ut_image_session *s,
			 const struct ut_image_line *line);

/* What is known of a thread from /proc; a new one is made. Valid until the next call. */
struct ut_image_task *ut_image_task(struct ut_image *i, uint32_t tid);

void ut_image_thread(struct ut_image *i, uint32_t tid, uint64_t time, const char *name);
void ut_image_gone(struct ut_image *i, uint32_t tid, uint64_t time);
void ut_image_sample(struct ut_image *i, const struct ut_cpu_sample *sample);
void ut_image_wait(struct ut_image *i, const struct ut_cpu_sample *sample);
void ut_image_switch(struct ut_image *i, const struct ut_cpu_switch_rec *rec);
void ut_image_times(struct ut_image *i, const struct ut_cpu_times *times);
void ut_image_counter(struct ut_image *i, uint64_t time, enum ut_cpu_counter which, uint64_t value);
void ut_image_count(struct ut_image *i, enum ut_cpu_rec type, uint64_t time, uint64_t count);

/* Writes what has been gathered; nothing before there is a sample. */
void ut_image_flush(struct ut_image *i, struct ut_image_session *s);

/* CPU time of all its threads until then, as far as it is known; ns. */
uint64_t ut_image_ran(const struct ut_image *i, uint64_t end);

/* Where a thread waits, by the name of a function of the kernel; "" if it runs. */
void ut_image_look(struct ut_image *i, uint32_t tid, uint64_t time, const char *function);

/* CPU time that has no thread. */
void ut_image_rest(struct ut_image *i, const struct ut_cpu_rest_rec *rec);

/* As if it had a sample. */
void ut_image_force(struct ut_image *i, struct ut_image_session *s);

/* The same, and the end of the program is written down. */
void ut_image_close(struct ut_image *i, struct ut_image_session *s, uint64_t end);

#endif
