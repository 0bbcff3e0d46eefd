/*
 * sass_code.h - assembly of NVIDIA's devices as code: the text that nvdisasm (-c -hex -gi) and
 * cuobjdump (-sass) print, and what the 128 bits of an instruction say about waiting.
 *
 * Since Volta the compiler tells the scheduler in each instruction how many cycles to wait before
 * the next one, which of six scoreboards count up until its result is written or its operands are
 * read, and which must be at zero before it is issued. Tokens of the code: bit b is scoreboard b
 * until a result is written, bit 8 + b until operands are read; who waits for b waits for both.
 */
#ifndef UT_METRICS_SASS_CODE_H
#define UT_METRICS_SASS_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_kernel_code;

#define UT_SASS_SCOREBOARDS   6u
#define UT_SASS_NO_SCOREBOARD 7u

struct ut_sass_control {
	uint8_t stall; /* cycles until the next instruction of the warp */
	bool yield;
	uint8_t write, read; /* scoreboards; UT_SASS_NO_SCOREBOARD */
	uint8_t wait;        /* a bit for each scoreboard */
	uint8_t reuse;
};

/* Of an instruction whose encoding is known. */
struct ut_sass_control ut_sass_control(const uint64_t encoding[2]);

/* The function that begins with this line; "" = it is another line. */
struct ut_str ut_sass_function(struct ut_str line);

/* The instructions of one function, by its name in the text. -ENOENT: it is not there. */
int ut_sass_read(struct ut_kernel_code *c, struct ut_str text, struct ut_str function,
		 const char *path, struct ut_err *err) UT_MUST_CHECK;

/* Without the predicate in front: "@!P0 LDG.E R7, desc[UR4][R6.64] ;" -> "LDG.E" */
struct ut_str ut_sass_opcode(struct ut_str text);

#endif
