/*
 * call_tree.h - a profile as a tree of functions: who called whom from the top, or from the bottom,
 * or around one function.
 *
 *     top-down    what the program called, what that called, ...
 *     stacks      the same, and nothing is left out
 *     bottom-up   each function by its self time, below it who called it, and who called that
 *     callers     the same of one function, by its total
 *     callees     what one function called, wherever it was called from
 *
 * What an interpreter does between two functions of a script, or on the way to something else, is
 * left out, but for stacks: its own time stays, as a call of the script's function.
 *
 * A function that calls itself right away is one node, but for stacks; in trees of one function
 * only the outermost of its calls counts. Owner: the caller. Functions are those of the profile,
 * which has to stay.
 */
#ifndef UT_SAMPLE_CALL_TREE_H
#define UT_SAMPLE_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_prof;

enum ut_tree_kind {
	UT_TREE_TOP_DOWN,
	UT_TREE_STACKS,
	UT_TREE_BOTTOM_UP,
	UT_TREE_CALLERS,
	UT_TREE_CALLEES,
};

struct ut_tree_node {
	uint32_t parent;   /* node 0 is the root, and its own */
	uint32_t function; /* of the profile */
	uint64_t self, total;
	uint64_t samples;     /* that ended here; of trees from the bottom: that are in total */
	uint32_t first, next; /* child, sibling: the heaviest first; 0 = none */
};

struct ut_call_tree {
	enum ut_tree_kind kind;
	const struct ut_prof *profile;
	struct ut_tree_node *nodes; /* parents before children; node 0 is around all */
	size_t count, cap;
	size_t matched; /* callers, callees: functions that the pattern fits */
};

/*
 * pattern: of the function, for callers and callees. They are the root if there is only one; of
 * several each is a child of it.
 */
void ut_call_tree_init(struct ut_call_tree *t, const struct ut_prof *p, enum ut_tree_kind kind,
		       const char *pattern);
void ut_call_tree_release(struct ut_call_tree *t);

/* Depth of a node: 0 for children of the root. */
uint32_t ut_call_tree_depth(const struct ut_call_tree *t, uint32_t node);

/* Every node that is wanted, parents first, the heaviest of siblings first; those below one that is
 * not are left out. */
void ut_call_tree_walk(const struct ut_call_tree *t,
		       bool (*visit)(void *ctx, uint32_t node, uint32_t depth), void *ctx);

#endif
