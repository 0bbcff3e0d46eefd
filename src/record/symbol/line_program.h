/*
 * line_program.h - DWARF's line programs, versions 2 to 5: which line of which file the code at an
 * address was made from.
 *
 * Hostile input: a program that makes no sense ends. Nothing is kept; texts point into the
 * sections.
 */
#ifndef UT_SYMBOL_LINE_PROGRAM_H
#define UT_SYMBOL_LINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From this address on, up to the next row's. */
struct ut_line_row {
	uint64_t address;
	uint32_t file; /* its number, as the program counts: index into files */
	uint32_t line; /* 0 = none */
	bool end;      /* of a sequence: nothing is known from here on */
};

struct ut_line_file {
	const char *name;
	uint32_t dir; /* index into dirs */
};

/* What precedes a program. Version 5 counts files and directories from 0, of which 0 is the unit's
 * own; here the first of older versions are the same: dirs[0] is NULL, files[0] is nobody. */
struct ut_line_head {
	uint16_t version;
	uint8_t min_instruction, max_operations, line_range, opcode_base, address_size;
	int8_t line_base;
	uint8_t lengths[256]; /* arguments of standard operations */
	const char **dirs;    /* malloc'ed, as are files */
	size_t dir_count, dir_cap;
	struct ut_line_file *files;
	size_t file_count, file_cap;
	const uint8_t *program, *end;
};

/* The sections that texts may be in; those of no size are absent. */
struct ut_line_sections {
	const uint8_t *line, *str, *line_str;
	uint64_t line_size, str_size, line_str_size;
};

/* The head of the program at an offset of .debug_line. False: none. Release it in both cases.
 * *next is where the one behind it starts; 0 = there is none, or nobody knows. */
bool ut_line_head(struct ut_line_head *h, const struct ut_line_sections *s, uint64_t offset,
		  uint64_t *next);
void ut_line_head_release(struct ut_line_head *h); /* twice is fine */

/* Rows as they come: in order within a sequence, sequences in any order. */
struct ut_line_rows {
	void (*row)(void *ctx, const struct ut_line_row *row);
	/* An address is set; at: where in the section it is written. May be NULL. */
	void (*set)(void *ctx, const uint8_t *at);
	void *ctx;
};

void ut_line_run(const struct ut_line_head *h, const struct ut_line_rows *rows);

#endif
