/*
 * kernel_groups.h - the kernels of traces with what they are bound by, added up by kernel, by the
 * op or task that launched them, or by the line of Python behind it.
 *
 * A group's verdict is the one that most of its time has. Memory: some 200 bytes for each group and
 * kernel in it. One thread.
 */
#ifndef UT_OPS_KERNEL_GROUPS_H
#define UT_OPS_KERNEL_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "metrics/bottleneck.h"
#include "model/strtab.h"

struct ut_store;

/* word of --by, title of the column */
#define UT_KERNEL_BY_LIST(X)                                                                       \
	X(KERNEL, "kernel", "Kernel")                                                              \
	X(OP, "op", "Op")                                                                          \
	X(TASK, "task", "Task")                                                                    \
	X(LINE, "line", "Line")

enum ut_kernel_by {
#define UT_KERNEL_BY(name, word, title) UT_BY_##name,
	UT_KERNEL_BY_LIST(UT_KERNEL_BY)
#undef UT_KERNEL_BY
	UT_KERNEL_BYS
};

/* A kernel, launched in one way, and what is known of it. */
struct ut_classified_kernel {
	uint32_t name; /* text */
	double blocks, threads;
	struct ut_kernel_facts facts; /* its texts live in the arena */
	struct ut_kernel_bottleneck *bottlenecks;
	size_t bottleneck_count;
};

/* What a group spent in one of them. */
struct ut_kernel_share {
	uint32_t group, kernel;
	uint64_t launches, total;
};

struct ut_kernel_group {
	uint32_t name; /* text: of the kernel, op, task; "train.py:12 (forward)" */
	uint64_t launches, total;
	double lost;                     /* ns that could be saved at most, as far as is known */
	uint64_t rules[UT_KERNEL_RULES]; /* ns under each verdict */
	uint32_t first, count;           /* of shares, by total; set by finish */
	enum ut_kernel_rule rule;        /* its own verdict */
	uint32_t kernel;                 /* the one that has it and takes most of the time */
};

struct ut_kernel_groups {
	enum ut_kernel_by by;
	struct ut_arena arena;
	struct ut_strtab texts;
	struct ut_kernel_group *groups; /* finished: by total */
	size_t group_count, group_cap;
	struct ut_kernel_share *shares; /* finished: by group, then by total */
	size_t share_count, share_cap;
	struct ut_classified_kernel *kernels;
	size_t kernel_count, kernel_cap;
	struct ut_idmap by_name, by_share;
	uint64_t total; /* ns of all kernels */
};

void ut_kernel_groups_init(struct ut_kernel_groups *g, enum ut_kernel_by by);
void ut_kernel_groups_add(struct ut_kernel_groups *g, struct ut_store *store);
void ut_kernel_groups_finish(struct ut_kernel_groups *g);
void ut_kernel_groups_release(struct ut_kernel_groups *g);

#endif
