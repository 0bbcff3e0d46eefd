/*
 * dwarf_data.h - what is kept of files with debug info: sections, units, entries. Of the reader
 * (dwarf.h) alone.
 *
 * A file has units; a unit is a tree of entries (DIEs), each with attributes that an abbreviation
 * describes. An entry is known by its offset in its file's .debug_info.
 */
#ifndef UT_SYMBOL_DWARF_DATA_H
#define UT_SYMBOL_DWARF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "symbol/dwarf.h"
#include "symbol/dwarf_words.h"
#include "symbol/elf_file.h"
#include "symbol/elf_unpack.h"

/* Sections, and whether a file of split debug info has one of its own, called .dwo. */
#define UT_DWARF_SECTION_LIST(X)                                                                   \
	X(INFO, ".debug_info", true)                                                               \
	X(ABBREV, ".debug_abbrev", true)                                                           \
	X(STR, ".debug_str", true)                                                                 \
	X(STR_OFFSETS, ".debug_str_offsets", true)                                                 \
	X(RNGLISTS, ".debug_rnglists", true)                                                       \
	X(LINE, ".debug_line", false)                                                              \
	X(LINE_STR, ".debug_line_str", false)                                                      \
	X(RANGES, ".debug_ranges", false)                                                          \
	X(ADDR, ".debug_addr", false)                                                              \
	X(CU_INDEX, ".debug_cu_index", false)

enum ut_dwarf_section {
#define UT_DWARF_SECTION_ENUM(section, name, split) UT_DWARF_##section,
	UT_DWARF_SECTION_LIST(UT_DWARF_SECTION_ENUM)
#undef UT_DWARF_SECTION_ENUM
	UT_DWARF_SECTIONS
};

/* ---- abbreviations ----------------------------------------------------------------------------*/

struct ut_dwarf_spec {
	uint16_t attr, form;
	int64_t constant; /* of DW_FORM_implicit_const */
};

struct ut_dwarf_abbrev {
	uint64_t code;
	uint32_t first, count; /* of its specs */
	uint16_t tag;
	bool children;
	uint32_t fixed; /* bytes of all values, if that can be told; else UINT32_MAX */
};

struct ut_dwarf_abbrevs {
	struct ut_dwarf_abbrev *items; /* by code */
	size_t count, cap;
	struct ut_dwarf_spec *specs;
	size_t spec_count, spec_cap;
	bool dense; /* item i has code i + 1 */
};

/* ---- files and units --------------------------------------------------------------------------*/

struct ut_dwarf_file {
	struct ut_elf own; /* if we have opened it */
	const struct ut_elf *elf;
	char *path; /* NULL = unknown */
	bool split; /* .dwo or .dwp */
	struct ut_elf_bytes sections[UT_DWARF_SECTIONS];
	struct ut_dwarf_unit *units; /* by offset */
	size_t unit_count, unit_cap;
	struct ut_idmap abbrev_at; /* offset and sizes of a unit -> number of the table, from 1 */
	struct ut_dwarf_abbrevs **abbrevs;
	size_t abbrev_count, abbrev_cap;
	struct ut_dwarf_file *other; /* that dwz has made */
	bool other_tried;
	struct ut_dwarf_file *next; /* of the list of split ones */
};

/* A piece of addresses: from start on it is what's, up to the next one's start; 0 = nobody's. */
struct ut_dwarf_piece {
	uint64_t start;
	uint32_t what;
};

struct ut_dwarf_pieces {
	struct ut_dwarf_piece *items;
	size_t count, cap;
};

/* [low, high) is what's; deeper ones win. */
struct ut_dwarf_range {
	uint64_t low, high;
	uint32_t what, depth;
};

struct ut_dwarf_ranges {
	struct ut_dwarf_range *items;
	size_t count, cap;
};

struct ut_dwarf_function {
	uint64_t entry; /* offset of its DIE */
	const char *name;
	uint32_t parent; /* number, from 1, of the function that it is inlined into; 0 = none */
	uint32_t call_file, call_line;
	bool inlined, named; /* named: name has been looked for */
};

struct ut_dwarf_line {
	uint64_t address;
	uint32_t file, line; /* line 0: nothing is known from here on */
};

struct ut_dwarf_unit {
	struct ut_dwarf_file *file;
	uint64_t offset;            /* in .debug_info */
	const uint8_t *first, *end; /* of its entries */
	uint64_t abbrev;            /* offset in .debug_abbrev */
	uint16_t version;
	uint8_t address_size, offset_size, type;
	bool ranges_are_based; /* rnglists_base is told */
	uint64_t dwo_id;
	/* what its root says */
	uint64_t low_pc, line_program, str_offsets, addr, rnglists, ranges_base;
	bool has_lines;
	const char *dir, *dwo_name;
	/* a split unit: the one in the program's own file */
	struct ut_dwarf_unit *skeleton;
	struct ut_dwarf_unit *split; /* of a skeleton, once it was looked for */
	bool split_tried;
	/* what is read at need */
	bool read;
	struct ut_dwarf_line *lines; /* by address */
	size_t line_count, line_cap;
	const char **files; /* paths */
	size_t file_count;
	struct ut_dwarf_function *functions;
	size_t function_count, function_cap;
	struct ut_dwarf_pieces pieces; /* what: number of a function, from 1 */
};

struct ut_dwarf {
	struct ut_dwarf_file file;
	char *program;
	struct ut_dwarf_file *splits; /* those that are open */
	struct ut_dwarf_file *package;
	bool package_tried;
	struct ut_dwarf_pieces pieces; /* what: number of a unit, from 1 */
	struct ut_arena arena;         /* paths */
};

#endif
