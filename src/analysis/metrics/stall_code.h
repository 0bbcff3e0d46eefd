/*
 * stall_code.h - the instructions of one kernel, whoever made the device: text, source line, which
 * of the device's tokens (scoreboards) an instruction takes and which it waits for, and the blocks
 * that control runs through.
 *
 * Texts point into what was read, which lives in the arena like all of this. One owner, one thread.
 */
#ifndef UT_METRICS_STALL_CODE_H
#define UT_METRICS_STALL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtab.h"
#include "base/str.h"

struct ut_arena;

#define UT_CODE_NONE UINT32_MAX

struct ut_code_ins {
	uint64_t address;     /* from the beginning of the kernel; ascending */
	struct ut_str text;   /* without the address */
	struct ut_str source; /* the line of the source as the dump shows it; "" = it does not */
	uint32_t file;        /* index into files; 0 = not known */
	uint32_t line;        /* 0 = not known */
	uint32_t call_file,
		call_line; /* where the function of that line was inlined; 0 = it was not */
	uint32_t block;
	uint32_t class;       /* NVIDIA: what executes it, see sass_regs.h */
	uint64_t sets, waits; /* tokens, a bit each */
	uint64_t encoding[2]; /* NVIDIA: 128 bits, low word first; 0 = not known */
};

struct ut_code_block {
	uint32_t first, end;       /* instructions */
	uint32_t pred, pred_count; /* of preds */
	uint64_t tokens;           /* all that its instructions set or wait for */
};

struct ut_kernel_code {
	struct ut_arena *arena;
	struct ut_code_ins *ins;
	uint32_t count;
	size_t ins_cap;
	struct ut_code_block *blocks;
	uint32_t block_count;
	size_t block_cap;
	uint32_t *edges; /* pairs from, to, while reading */
	size_t edge_count, edge_cap;
	uint32_t *preds;
	struct ut_str *files; /* files[0] is "" */
	uint32_t file_count;
	size_t file_cap;
	struct ut_hashtab by_file;
};

void ut_code_init(struct ut_kernel_code *c, struct ut_arena *arena);
void ut_code_release(struct ut_kernel_code *c); /* what is not in the arena */

/* One more instruction, zeroed, in the last block; the pointer holds until the next one. */
struct ut_code_ins *ut_code_add(struct ut_kernel_code *c);

/* A new block, which the next instruction begins. Its number. */
uint32_t ut_code_add_block(struct ut_kernel_code *c);

/* Control may go from one block to another. */
void ut_code_edge(struct ut_kernel_code *c, uint32_t from, uint32_t to);

/* The number of a file's name, which is copied. */
uint32_t ut_code_file(struct ut_kernel_code *c, struct ut_str name);

/* After the last instruction and edge. Edges of blocks that do not exist are dropped. */
void ut_code_finish(struct ut_kernel_code *c);

/* The instruction at this address; UT_CODE_NONE. */
uint32_t ut_code_at(const struct ut_kernel_code *c, uint64_t address);

/* ---- backwards ----------------------------------------------------------------------------- */

/* Is asked for each instruction on the way; false ends this path. */
typedef bool (*ut_code_visit)(void *ctx, uint32_t ins);

/* For many walks through one code; begin with {0}. left is for all of them together. */
struct ut_code_walk {
	uint32_t *seen; /* by block: the last walk that came there */
	uint32_t walk;
	uint32_t *queue;
	uint64_t left; /* steps; 0: walks end at once */
};

void ut_code_walk_init(struct ut_code_walk *w, const struct ut_kernel_code *c, uint64_t steps);

/*
 * All instructions from which control may come to the one at ins, nearest blocks first and
 * backwards in each; only those of blocks that have one of the tokens, 0 = of all. Each block is
 * walked through once at most, besides the part of its own block in front of ins, so it ends for
 * any graph.
 */
void ut_code_back(struct ut_code_walk *w, const struct ut_kernel_code *c, uint32_t ins,
		  uint64_t tokens, ut_code_visit visit, void *ctx);

#endif
