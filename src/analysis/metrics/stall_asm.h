/*
 * stall_asm.h - shader dumps of Intel's compiler (OCL_asm*.asm, *.asm.ip) as code.
 *
 * A line with a remark behind something is an instruction; those marked Compacted have 8 bytes, all
 * others 16. Tokens are those of the scoreboard: bit i is "$i.dst", bit 32 + i is "$i.src"; an
 * instruction that takes $i sets both.
 */
#ifndef UT_METRICS_STALL_ASM_H
#define UT_METRICS_STALL_ASM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_kernel_code;
struct ut_out;

/* The next line of *rest, without its end; false when there is none. */
bool ut_asm_line(struct ut_str *rest, struct ut_str *line);

/* The name behind "//.kernel", mangled as it is; "" = the line is another one. */
struct ut_str ut_asm_kernel(struct ut_str line);

/* The text lives as long as the code. -EINVAL: it has no instruction. */
int ut_asm_read(struct ut_kernel_code *c, struct ut_str text, const char *path,
		struct ut_err *err) UT_MUST_CHECK;

/* Has each instruction its address in front already? */
bool ut_asm_addressed(struct ut_str text);

/* The same text with addresses. */
void ut_asm_write(struct ut_out *out, struct ut_str text);

/*
 * What the instruction waits for: tokens of the scoreboard, "$5.dst" as bits, and those that it
 * takes, unless it is a load, store or send, whose waits are named.
 */
uint64_t ut_asm_wanted(const struct ut_kernel_code *c, uint32_t ins);

/* All that waiting for these tokens has seen to, too: a result that is there has been sent. */
static inline uint64_t ut_asm_covered(uint64_t waits)
{
	return waits | (waits << 32);
}

#endif
