/*
 * dwarf_parts.h - what the files of the reader of debug info (dwarf.h) do for each other. Nobody
 * else includes it.
 */
#ifndef UT_SYMBOL_DWARF_PARTS_H
#define UT_SYMBOL_DWARF_PARTS_H

#include "symbol/dwarf_data.h"
#include "symbol/unwind_bytes.h"

/* ---- values ---------------------------------------------------------------------------------- */

struct ut_dwarf_value {
	uint16_t form;
	uint64_t number;      /* or an offset, an index */
	const uint8_t *bytes; /* where a text stands */
};

/* The next value; b->bad: it cannot be read. */
struct ut_dwarf_value ut_dwarf_value(struct ut_bytes *b, const struct ut_dwarf_unit *u,
				     const struct ut_dwarf_spec *spec);
void ut_dwarf_skip(struct ut_bytes *b, const struct ut_dwarf_unit *u, uint16_t form);

/* "" = it is none. */
const char *ut_dwarf_text(const struct ut_dwarf_unit *u, const struct ut_dwarf_value *v);

/* An address, by itself or by its number in .debug_addr. False: it is none. */
bool ut_dwarf_address(const struct ut_dwarf_unit *u, const struct ut_dwarf_value *v, uint64_t *at);
bool ut_dwarf_address_at(const struct ut_dwarf_unit *u, uint64_t index, uint64_t *at);

/* Is a value a length, not an address? */
bool ut_dwarf_is_constant(uint16_t form);

/* The entry that a value refers to: its unit and offset. False: none of ours. */
bool ut_dwarf_target(struct ut_dwarf_unit *u, const struct ut_dwarf_value *v,
		     struct ut_dwarf_unit **unit, uint64_t *offset);

/* The abbreviations of a unit; NULL = there are none. And one of them. */
const struct ut_dwarf_abbrevs *ut_dwarf_abbrevs(const struct ut_dwarf_unit *u);
const struct ut_dwarf_abbrev *ut_dwarf_abbrev(const struct ut_dwarf_abbrevs *a, uint64_t code);

/* ---- parts ----------------------------------------------------------------------------------- */

/* Sections and units of a file, but for their roots. False: it has no debug info. */
bool ut_dwarf_file_open(struct ut_dwarf_file *f, const struct ut_elf *elf, const char *path);
void ut_dwarf_file_close(struct ut_dwarf_file *f);

/* What the root of a unit says; its ranges are added as those of this number. ranges may be NULL.
 */
void ut_dwarf_read_root(struct ut_dwarf_unit *u, uint32_t number, struct ut_dwarf_ranges *ranges);
struct ut_dwarf_unit *ut_dwarf_unit_at(struct ut_dwarf_file *f, uint64_t offset);

/* The file that dwz has moved things to; NULL = there is none. */
struct ut_dwarf_file *ut_dwarf_other(struct ut_dwarf_file *f);

/* What a skeleton stands for; NULL = it is not to be had. */
struct ut_dwarf_unit *ut_dwarf_split(struct ut_dwarf *d, struct ut_dwarf_unit *skeleton);

/* The ranges that a root or a function has: by its attributes, as read. */
struct ut_dwarf_extent {
	struct ut_dwarf_value low, high, ranges; /* form 0 = absent */
};

void ut_dwarf_extent(struct ut_dwarf_unit *u, const struct ut_dwarf_extent *e, uint32_t what,
		     uint32_t depth, struct ut_dwarf_ranges *to);

/* One piece for each stretch; ranges are used up. */
void ut_dwarf_flatten(struct ut_dwarf_ranges *ranges, struct ut_dwarf_pieces *to);
uint32_t ut_dwarf_piece_at(const struct ut_dwarf_pieces *p, uint64_t address); /* 0 = nobody's */

/* Reads lines and functions of a unit. */
void ut_dwarf_read_lines(struct ut_dwarf *d, struct ut_dwarf_unit *u);
void ut_dwarf_read_functions(struct ut_dwarf_unit *u);
const char *ut_dwarf_function_name(struct ut_dwarf_unit *u, struct ut_dwarf_function *f);

/* All of a section; of one that is not there, nothing that could be read. */
static inline struct ut_bytes ut_dwarf_bytes(const struct ut_elf_bytes *s)
{
	static const uint8_t nothing[1];

	if (!s->data)
		return (struct ut_bytes){ nothing, nothing, false };
	return (struct ut_bytes){ s->data, s->data + s->size, false };
}

#endif
