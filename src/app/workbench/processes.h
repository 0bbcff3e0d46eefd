/*
 * processes.h - the processes of this machine, as /proc has them.
 */
#ifndef UT_WORKBENCH_PROCESSES_H
#define UT_WORKBENCH_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ut_arena;
struct ut_json_writer;

struct ut_proc {
	pid_t pid, parent;
	uid_t user;
	double cpu;        /* seconds it has used */
	bool is_unitrace;  /* runs our own executable */
	const char *name;  /* of its file */
	const char *words; /* its command line, joined by blanks; "" = a thread of the kernel */
};

struct ut_processes {
	struct ut_proc *items;
	size_t count;
};

/* In the arena. details: also user, CPU time and command line. */
void ut_processes_list(struct ut_arena *a, struct ut_processes *p, bool details);

/* Is a below b, any number of generations? */
bool ut_process_is_below(const struct ut_processes *p, pid_t a, pid_t b);

/* Those that one could attach to: of this user (of all, for root), without those of the kernel and
 * our own; who has used most first. A list of objects. */
void ut_processes_write(struct ut_json_writer *w);

#endif
