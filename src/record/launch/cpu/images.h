/*
 * images.h - all programs that the processes of a session run, and what the kernel tells of them:
 * started, mapped, named, ended.
 */
#ifndef UT_LAUNCH_CPU_IMAGES_H
#define UT_LAUNCH_CPU_IMAGES_H

#include "base/idmap.h"
#include "launch/cpu/image.h"
#include "launch/cpu/modules.h"
#include "launch/cpu/switcher.h"

struct perf_event_header;

struct ut_images {
	struct ut_image_session session;
	struct ut_modules modules;
	struct ut_image **items; /* what each process runs now */
	size_t count, cap;
	struct ut_idmap by_pid;     /* -> index + 1 */
	size_t measured;            /* where the next look at memory begins */
	struct ut_switch *switches; /* of the session, by time */
	size_t switch_count, switch_cap;
	uint64_t patience; /* ns between two looks at what a process has mapped */
};

void ut_images_init(struct ut_images *im, const char *dir);
void ut_images_release(struct ut_images *im);

/* A record that is no sample: whatever it says about processes is taken note of. */
void ut_images_record(struct ut_images *im, const struct perf_event_header *h);

/* The process runs another program from now on, one that nobody tells of but itself. */
struct ut_image *ut_images_begin(struct ut_images *im, uint32_t pid, uint32_t ppid, uint64_t start);

/* The program that the session starts, where the kernel does not report it. */
struct ut_image *ut_images_begin_root(struct ut_images *im, uint32_t pid, uint64_t start,
				      const char *name);

/* A line as in /proc/PID/maps. */
void ut_images_map_line(struct ut_images *im, struct ut_image *i, char *line, uint64_t time);

/* What the process ran at that time; one that nobody has told of is looked up. Never NULL. */
struct ut_image *ut_images_at(struct ut_images *im, uint32_t pid, uint64_t time);

/* Reads from /proc what a running process has mapped, and its threads. */
void ut_images_look(struct ut_images *im, struct ut_image *i, uint64_t time);

/* The session is paused, or goes on. */
void ut_images_switch(struct ut_images *im, uint64_t time, bool on);

/* Looks at the memory of each process that runs; of very many only at some of them. */
void ut_images_measure(struct ut_images *im, uint64_t time);

/* Writes all there is; what ended before this time is closed and forgotten. */
void ut_images_flush(struct ut_images *im, uint64_t before);

/* The end. */
void ut_images_close(struct ut_images *im, uint64_t now);

#endif
