/*
 * unwind.h - from the registers of a function to those of its caller, as .eh_frame tells it.
 *
 * Every program of C, C++, Fortran or Rust carries these tables, stripped or not. A file is opened
 * once; the row for an address (where the caller's registers are) is computed at its first use, and
 * whoever asks often keeps rows (UT_UNWIND_ROW bytes each). Files are hostile input: what makes no
 * sense is no row. They are read, not mapped, so that one that becomes shorter ends nobody. What
 * the loader has mapped into this process is read in place (ut_unwind_loaded(): no system call, no
 * memory, any thread, any signal handler; unwind_rows.c, unwind_table.c and unwind_pieces.c are all
 * it takes).
 *
 * x86-64 only; elsewhere nothing has a row. Owner: the caller. One thread.
 */
#ifndef UT_SYMBOL_UNWIND_H
#define UT_SYMBOL_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/elf_file.h"

/* Registers by their DWARF numbers. */
enum {
	UT_REG_RBP = 6,
	UT_REG_RSP = 7,
	UT_REG_IP = 16, /* the return address, of a caller */
	UT_REGS = 17,
};

struct ut_unwind_regs {
	uint64_t r[UT_REGS];
};

/* How a register of the caller is found; what is packed with it is an offset. */
enum ut_unwind_rule {
	UT_RULE_SAME,
	UT_RULE_UNDEFINED,
	UT_RULE_AT,      /* at CFA + offset */
	UT_RULE_IS,      /* is CFA + offset */
	UT_RULE_REG,     /* is in the register of that number */
	UT_RULE_AT_EXPR, /* an expression tells where it is; offset: of it in the file's .eh_frame
			  */
	UT_RULE_EXPR,    /* an expression tells what it is */
};

#define UT_RULE_BITS 3

struct ut_unwind_row {
	int32_t rules[UT_REGS]; /* enum ut_unwind_rule | offset << UT_RULE_BITS */
	int32_t cfa_offset;     /* of the expression if cfa_reg is UT_REGS */
	uint8_t cfa_reg;
	bool signal; /* the frame of a signal: its return address is where it was interrupted */
	uint8_t reserved[2];
};

/* A loaded part of the file. */
struct ut_unwind_part {
	uint64_t offset, size, address;
};

#define UT_UNWIND_PARTS 16u

struct ut_unwind;

/*
 * A record of .eh_frame: its length in 4 bytes and so many more, len in all. Two are needed at a
 * time: which is 0 or 1. NULL: it is not there.
 */
typedef const uint8_t *ut_unwind_record(const struct ut_unwind *u, uint64_t offset,
					unsigned int which, size_t *len);

struct ut_unwind {
	int fd;              /* -1 = in memory, or none */
	const uint8_t *base; /* of a file that is in memory */
	ut_unwind_record *record;
	uint64_t size;
	struct ut_unwind_part parts[UT_UNWIND_PARTS];
	size_t part_count;
	uint64_t hdr;         /* address of .eh_frame_hdr */
	const int32_t *table; /* pairs from there: the start of a function, its description */
	int32_t *own_table;   /* to be freed with it */
	size_t count;
	struct ut_build_id id;
};

/* Takes the descriptor, which is closed with it. False: not a file that we can read. */
bool ut_unwind_open(struct ut_unwind *u, int fd);
bool ut_unwind_open_memory(struct ut_unwind *u, const void *base, size_t size);
void ut_unwind_close(struct ut_unwind *u); /* twice is fine */

/*
 * What the loader has mapped at [start, end) of this process, with its .eh_frame_hdr at hdr.
 * Offsets count from start. There is nothing to close. False: no table that we can read.
 */
bool ut_unwind_loaded(struct ut_unwind *u, uintptr_t start, uintptr_t end, uintptr_t hdr);

/* The row for the code at an offset of the file. False: no table tells. */
bool ut_unwind_row(struct ut_unwind *u, uint64_t offset, struct ut_unwind_row *row);

/* Where the function that holds this offset starts, as an offset; false: no table tells. */
bool ut_unwind_start(const struct ut_unwind *u, uint64_t offset, uint64_t *start);

/* The same, and how long it is: up to the next one that a table knows. */
bool ut_unwind_function(const struct ut_unwind *u, uint64_t offset, uint64_t *start,
			uint64_t *size);

/* A piece of a function, by its offset. */
struct ut_unwind_piece {
	uint64_t start, size;
};

/*
 * The function at this offset, which is the first piece, and the others that a compiler has put
 * elsewhere. How many there are, most at the most; 0 = no table tells.
 */
size_t ut_unwind_pieces(const struct ut_unwind *u, uint64_t offset, struct ut_unwind_piece *pieces,
			size_t most);

/* Memory of the process at the time of the sample: eight bytes, false = not to be had. */
struct ut_unwind_memory {
	bool (*read)(void *ctx, uint64_t address, uint64_t *word);
	void *ctx;
};

enum ut_unwind_step {
	UT_STEP_CALLER, /* regs are the caller's now */
	UT_STEP_END,    /* there is none: this was the first function */
	UT_STEP_LOST,   /* cannot be told */
};

enum ut_unwind_step ut_unwind_step(struct ut_unwind *u, const struct ut_unwind_row *row,
				   struct ut_unwind_regs *regs,
				   const struct ut_unwind_memory *memory);

/* ---- between the files of the unwinder ----------------------------------------------------- */

/* Makes the table of a file that has none, from its .eh_frame. */
void ut_unwind_scan(struct ut_unwind *u);
#define UT_UNWIND_HEAD 12u /* bytes of .eh_frame_hdr before its table */

/* How many pairs the table has, from the first bytes of .eh_frame_hdr; 0 = another form. */
size_t ut_unwind_pairs(const uint8_t head[UT_UNWIND_HEAD]);

/* A record of a file that is in memory, where it is. */
ut_unwind_record ut_unwind_in_place;

/* len bytes at an offset of the file; how many there were. */
size_t ut_unwind_read(const struct ut_unwind *u, uint64_t offset, void *buf, size_t len);
bool ut_unwind_to_offset(const struct ut_unwind *u, uint64_t address, uint64_t *offset);
bool ut_unwind_to_address(const struct ut_unwind *u, uint64_t offset, uint64_t *address);

/* The row that the description (FDE) at that address gives for code at address pc. */
bool ut_unwind_describe(const struct ut_unwind *u, uint64_t fde, uint64_t pc,
			struct ut_unwind_row *row);

#endif
