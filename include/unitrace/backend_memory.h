/*
 * backend_memory.h - what a backend tells of the program's memory. Included by backend_types.h,
 * whose rules hold here as well.
 */
#ifndef UNITRACE_BACKEND_MEMORY_H
#define UNITRACE_BACKEND_MEMORY_H

#include <stdint.h>

/* Whose memory it is. */
enum ut_memory_kind {
	UT_MEMORY_MALLOC, /* of malloc(), operator new and their like */
	UT_MEMORY_PYTHON, /* of Python's objects */
};

/*
 * A block of memory that the program has got. host->allocated() is told when it is there, and gives
 * 0 if it is not recorded: then nobody wants to hear of its end. host->freed() is told before it is
 * given back, so before anybody else may get the address; also during a pause.
 */
struct ut_allocation {
	uint32_t size;
	uint32_t stack; /* host->stack(): who asked for it; 0 = unknown */
	uint64_t address, bytes;
	uint16_t kind; /* enum ut_memory_kind */
	uint8_t bits; /* it is told because one of its bytes was drawn, each with the chance of 1 in
			 2^bits; 0 = every block is told */
	uint8_t back; /* the block at this address that was freed last is there after all: nothing
			 else counts */
	uint32_t reserved; /* 0 */
};

#endif
