/*
 * utr.h - the saved trace: a store as it lies in memory, in a file that is mapped and used in
 * place.
 *
 * A header, sections one after the other, a table of contents, an end mark. Sections begin at
 * multiples of UT_UTR_ALIGN and the bytes up to the next one are 0; the checksum of a section
 * covers them. Numbers are in the byte order of the machine that wrote them; another one refuses
 * the file. docs/formats/utr.md explains every field and says what may change and what may not.
 */
#ifndef UT_MODEL_UTR_H
#define UT_MODEL_UTR_H

#include <stdbool.h>
#include <stdint.h>

#include "model/arglists.h"
#include "model/device_records.h"
#include "model/pyramid.h"
#include "model/trace.h"
#include "model/types.h"

/* Bytes that a transfer as text would change, as in PNG. */
#define UT_UTR_MAGIC   "\x89utr\r\n\x1a\n"
#define UT_UTR_END     "utr\n"
#define UT_UTR_ORDER   0x01020304u
#define UT_UTR_MAJOR   2u /* a reader refuses a newer one */
#define UT_UTR_FIRST   1u /* of a file that has nothing that came later, so that old ones read it */
#define UT_UTR_MINOR   2u /* a newer one has sections that a reader may skip */
#define UT_UTR_PLAIN   1u /* minor of a file without work of devices */
#define UT_UTR_ALIGN   64u
#define UT_UTR_STRINGS ((1u << 30) - 1) /* at most */

struct ut_utr_header {
	char magic[8];
	uint32_t order; /* UT_UTR_ORDER */
	uint16_t major, minor;
	uint64_t file_size;
	uint64_t toc_offset;
	uint32_t toc_count;
	uint32_t crc; /* of the header, with 0 here */
	uint64_t reserved[3];
};

enum ut_utr_flag {
	UT_UTR_NEEDED = 1u << 0, /* who does not know this section cannot read the file */
};

struct ut_utr_section {
	uint32_t id;    /* enum ut_utr_id */
	uint32_t flags; /* enum ut_utr_flag */
	uint64_t offset;
	uint64_t size; /* without the bytes up to the next section */
	uint32_t crc;
	uint32_t reserved;
};

/* Behind the table of contents; the last bytes of the file. */
struct ut_utr_end {
	uint32_t crc; /* of the table */
	char mark[4]; /* UT_UTR_END */
};

/* What the trace says about itself as a whole. */
struct ut_utr_trace {
	uint64_t rows; /* of all tracks */
	int64_t realtime_offset, boottime_offset;
	uint64_t clock_error;
	uint64_t first, last;
	uint64_t losses[16]; /* in the order of struct ut_losses; 0 behind those */
	uint32_t global_args, file_args;
	uint64_t reserved;
};

struct ut_utr_process {
	uint64_t pid;
	uint32_t pid_text, name, host, cmdline; /* string ids */
	int32_t rank, sort_index;
	uint32_t args; /* index into the trace's arguments */
	uint32_t reserved;
};

/* Its rows lie behind those of the track before, 24 bytes each, in blocks as in the store. */
struct ut_utr_track {
	uint64_t rows;
	uint64_t first, last; /* ns */
	uint64_t id;
	uint32_t process;
	uint32_t name, unit, id_text; /* string ids */
	uint32_t args;                /* index into the trace's arguments */
	int32_t sort_index;
	uint32_t type; /* enum ut_track_type */
	uint32_t base; /* string id; 0 in files of older versions */
};

/* What a process stands for: section PROCESS_PLACES has one for each of PROCESSES. */
struct ut_utr_process_place {
	uint8_t kind, device_type, api; /* enum ut_process_kind, ut_device_type, ut_api */
	uint8_t guessed;                /* 1 = by its name */
	uint32_t api_text, model;       /* string ids */
	int32_t device, sub_device;
	uint32_t title; /* string id */
};

/* And a track: one for each of TRACKS. */
struct ut_utr_track_place {
	uint8_t role, api; /* enum ut_track_role, ut_api */
	uint8_t guessed;
	uint8_t reserved;
	uint32_t api_text; /* string id */
	uint32_t thread;
	uint32_t reserved_too;
};

enum ut_utr_lane_flag {
	UT_UTR_HAS_ROWS = 1u << 0, /* has a list of its rows */
	UT_UTR_HAS_ENDS = 1u << 1, /* and of their ends */
};

/* Lanes come track by track; their nodes, rows and ends follow one another in the same order. */
struct ut_utr_lane {
	uint64_t count;
	uint32_t track;
	uint8_t kind;  /* enum ut_lane_kind */
	uint8_t flags; /* enum ut_utr_lane_flag */
	uint16_t reserved;
};

/*
 * Sections: name, number, what it holds, size of one item, needed. New ones get new numbers. Those
 * of the pyramid (LANES to LANE_ENDS) may be missing, all together; so may those of stacks, in a
 * trace without samples, and those of places, which files of version 1.0 do not have, each by
 * itself. Work of devices is there with its launches, or not at all.
 */
#define UT_UTR_LIST(X)                                                                             \
	X(TRACE, 1, "trace", sizeof(struct ut_utr_trace), 1)                                       \
	X(TEXT, 2, "text of strings", 1, 1)                                                        \
	X(STARTS, 3, "starts of strings", sizeof(uint64_t), 1)                                     \
	X(TYPES, 4, "types", sizeof(struct ut_type), 1)                                            \
	X(PROCESSES, 5, "processes", sizeof(struct ut_utr_process), 1)                             \
	X(TRACKS, 6, "tracks", sizeof(struct ut_utr_track), 1)                                     \
	X(ARGS, 7, "arguments of the trace", sizeof(struct ut_arg), 1)                             \
	X(NOTES, 8, "notes", sizeof(uint32_t), 1)                                                  \
	X(SHAPES, 9, "shapes", sizeof(struct ut_shape), 1)                                         \
	X(SHAPE_ARGS, 10, "arguments of shapes", sizeof(struct ut_shape_arg), 1)                   \
	X(WORDS, 11, "words of arguments", sizeof(uint32_t), 1)                                    \
	X(ROWS, 12, "rows", UT_UTR_ROW, 1)                                                         \
	X(LANES, 13, "lanes", sizeof(struct ut_utr_lane), 0)                                       \
	X(NODES, 14, "nodes of lanes", sizeof(struct ut_node), 0)                                  \
	X(LANE_ROWS, 15, "rows of lanes", sizeof(uint32_t), 0)                                     \
	X(LANE_ENDS, 16, "ends of lanes", sizeof(uint64_t), 0)                                     \
	X(CODE, 17, "places in code", sizeof(struct ut_place_in_code), 1)                          \
	X(STACKS, 18, "stacks", sizeof(struct ut_callsite), 1)                                     \
	X(PROCESS_PLACES, 20, "places of processes", sizeof(struct ut_utr_process_place), 0)       \
	X(TRACK_PLACES, 21, "places of tracks", sizeof(struct ut_utr_track_place), 0)              \
	X(CALLS, 22, "categories of calls", sizeof(uint32_t), 0)                                   \
	X(DEVICE_WORK, 23, "work of devices", UT_DEVICE_RECORD_BYTES, 0)                           \
	X(LAUNCHES, 24, "launches of kernels", sizeof(struct ut_device_launch), 0)

#define UT_UTR_ROW 24u

enum ut_utr_id {
#define UT_UTR_ENUM(name, number, text, size, needed) UT_UTR_##name = number,
	UT_UTR_LIST(UT_UTR_ENUM)
#undef UT_UTR_ENUM
	UT_UTR_IDS
};

_Static_assert(sizeof(struct ut_utr_header) == 64, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_utr_section) == 32, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_utr_end) == 8, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_utr_trace) == 192, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_utr_process) == 40, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_utr_track) == 64, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_utr_process_place) == 24, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_utr_track_place) == 16, "see docs/formats/utr.md");
_Static_assert(sizeof(struct ut_utr_lane) == 16, "see docs/formats/utr.md");

bool ut_utr_is_pyramid(uint32_t id);
bool ut_utr_is_stacks(uint32_t id); /* what only samples need */
bool ut_utr_is_devices(uint32_t id);
bool ut_utr_knows(uint32_t id);

/* What a section holds, in words; "unknown" if this version does not know it. */
const char *ut_utr_name(uint32_t id);

/* The size of one of its items; 1 if unknown. */
uint64_t ut_utr_item(uint32_t id);

static inline uint64_t ut_utr_aligned(uint64_t offset)
{
	return (offset + UT_UTR_ALIGN - 1) & ~(uint64_t)(UT_UTR_ALIGN - 1);
}

#endif
