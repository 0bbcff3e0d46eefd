/*
 * disassemble.h - machine code as text, by capstone, which is loaded when somebody wants to see
 * some.
 */
#ifndef UT_SYMBOL_DISASSEMBLE_H
#define UT_SYMBOL_DISASSEMBLE_H

#include <stdint.h>

#include "base/err.h"

struct ut_instruction {
	uint64_t at; /* where it is, as it was told */
	uint32_t size;
	const char *text; /* "mov rax, qword ptr [rdi]"; until the call returns */
};

struct ut_machine_code {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t at;          /* of the first byte */
	unsigned int machine; /* as in an ELF header */
};

/*
 * The instructions of a piece of code. What is none is stepped over, a byte at a time, as ".byte
 * 0x06". -ENOTSUP: capstone is not installed, this build cannot, or the machine is not one that we
 * know; err says which.
 */
int ut_disassemble(const struct ut_machine_code *code,
		   void (*each)(void *ctx, const struct ut_instruction *i), void *ctx,
		   struct ut_err *err) UT_MUST_CHECK;

/* 0: it can. */
int ut_disassemble_check(struct ut_err *err) UT_MUST_CHECK;

#endif
