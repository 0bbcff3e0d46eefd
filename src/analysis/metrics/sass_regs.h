/*
 * sass_regs.h - which registers and predicates an instruction of NVIDIA's devices reads and writes,
 * by its text. Pairs and quads are known where the opcode says so; a width that it does not say is
 * one register.
 */
#ifndef UT_METRICS_SASS_REGS_H
#define UT_METRICS_SASS_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* R0..R254, UR0..UR62, P0..P6, UP0..UP6; those that are always zero or true are left out. */
struct ut_sass_set {
	uint64_t r[4], ur;
	uint16_t p, up;
};

struct ut_sass_regs {
	struct ut_sass_set reads, writes;
};

void ut_sass_regs(struct ut_sass_regs *regs, struct ut_str text);

/* What both have; false = nothing. both may be NULL. */
bool ut_sass_common(const struct ut_sass_set *a, const struct ut_sass_set *b,
		    struct ut_sass_set *both);

/* "R4-R7, UR4, P0", added to b. */
void ut_sass_set_text(struct ut_buf *b, const struct ut_sass_set *set);

/* ---- what executes it ---------------------------------------------------------------------- */

enum ut_sass_class {
	UT_SASS_ALU = 1u << 0,     /* fixed latency, and what we do not know */
	UT_SASS_GLOBAL = 1u << 1,  /* global, local and generic memory */
	UT_SASS_TEXTURE = 1u << 2, /* textures and surfaces */
	UT_SASS_SHARED = 1u << 3,  /* shared memory */
	UT_SASS_SPECIAL = 1u << 4, /* special functions, conversions, shuffles, system registers */
	UT_SASS_CONSTANT = 1u << 5,
	UT_SASS_BARRIER = 1u << 6,
	UT_SASS_FENCE = 1u << 7,
	UT_SASS_BRANCH = 1u << 8,
	UT_SASS_MATRIX = 1u << 9, /* tensor cores, asynchronous ones too */
	UT_SASS_STORE = 1u << 10, /* beside the memory that it goes to */
	UT_SASS_COPY = 1u << 11,  /* asynchronous copies to shared memory */
	UT_SASS_DOUBLE = 1u << 12,
	UT_SASS_SLEEP = 1u << 13,
};

/* Bits of the enum. */
unsigned int ut_sass_class(struct ut_str text);

#endif
