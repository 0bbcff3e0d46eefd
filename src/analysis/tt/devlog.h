/*
 * devlog.h - a device log of Tenstorrent chips in memory: profile_log_device.csv of any year.
 *
 * A chip has cores, a core has RISCs; each RISC of a core is a lane. Rows lie lane after lane, in
 * order of time inside a lane (rows of the same time as they came), lanes core after core and cores
 * chip after chip, each in the order of first appearance. A row is named by its index.
 *
 * Logs come in two families. Until 2024 a row had a timer number and nothing else (1 firmware
 * start, 2 kernel start, 3 kernel end, 4 firmware end, from 5 on the user's): `zones` is false, and
 * every lane begins with a row of number 0 at the chip's earliest time, T0. Later a row names a
 * zone and its phase. docs/formats/devlog.md has the layouts.
 *
 * Times are cycles of the chip's counter. Everything lives until ut_tt_log_release(). Read-only
 * once it is read and analysed, by any number of threads; but only one of them may ask for the
 * texts of marks, which are made when first asked for.
 */
#ifndef UT_TT_DEVLOG_H
#define UT_TT_DEVLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/strtab.h"

/* What a log without a first line is taken to be, and what its oldest form means. */
#define UT_TT_OLD_ARCH "grayskull"
#define UT_TT_OLD_MHZ  1200

#define UT_TT_ALL_CHIPS UINT32_MAX /* instead of the index of one */

enum ut_tt_phase {
	UT_TT_START,
	UT_TT_END,
	UT_TT_TOTAL, /* data holds cycles that were added up on the device */
	UT_TT_DATA,  /* data is the user's */
	UT_TT_EVENT,
	UT_TT_OTHER,
};

/* Which columns a log has; texts and JSON show only those. */
enum ut_tt_column {
	UT_TT_CHIP,
	UT_TT_X,
	UT_TT_Y,
	UT_TT_RISC,
	UT_TT_TIMER,
	UT_TT_TIME,
	UT_TT_VALUE,
	UT_TT_RUN,
	UT_TT_HOST,
	UT_TT_TRACE,
	UT_TT_REPLAY,
	UT_TT_ZONE,
	UT_TT_TYPE,
	UT_TT_LINE,
	UT_TT_FILE,
	UT_TT_META,
	UT_TT_COLUMNS
};

/* What rows of the same marker in the same op share. Numbers that are not there are 0; -1 where
 * that is how the original says "none". */
struct ut_tt_mark {
	int64_t id;                      /* timer_id */
	int64_t line;                    /* of the source */
	int64_t trace, replay;           /* captured trace and its replay; -1 = none */
	uint64_t run, host;              /* host: the op, as the host numbers them; 0 = none */
	uint32_t zone, type, file, meta; /* string ids; type as written */
	uint8_t phase;                   /* enum ut_tt_phase */
	bool opens;                      /* see ut_tt_pair() */
	uint32_t pair;
	uint32_t starts, ends; /* bit n: rule n of the setup begins, ends here */
	uint32_t text_len;
	const char *text; /* see ut_tt_mark_text() */
};

struct ut_tt_row {
	uint64_t ts;
	uint64_t data;
	uint32_t mark; /* index into marks */
	uint32_t lane;
};

/* A name of a RISC, once for all cores. */
struct ut_tt_risc {
	uint32_t name;         /* string id */
	uint32_t starts, ends; /* as in a mark: rules that this RISC may begin, end */
};

struct ut_tt_lane {
	uint32_t core, risc;
	uint32_t first, count; /* rows */
};

struct ut_tt_core {
	uint32_t chip;
	int32_t x, y;
	uint32_t lane, lane_count;
	uint32_t first, count; /* rows; also its part of log->by_core */
	bool dispatch;         /* runs the command queue, not ops */
};

struct ut_tt_chip {
	int32_t id;
	uint32_t core, core_count;
	uint32_t first, count; /* rows; also its part of log->by_chip */
	/* T0: its time; and the lane that had it, which may be of an earlier chip */
	uint64_t t0;
	uint32_t t0_lane;
};

/* Signs that a log is not whole: markers that were dropped, a counter that wrapped. */
struct ut_tt_doubts {
	uint64_t no_end, no_start; /* starts without an end, ends without a start */
	uint32_t lanes, worst;     /* how many have any of them; the lane that has most */
	uint64_t wraps;            /* times about 2^32 cycles before the row above */
	uint64_t wrap_line;        /* of the first */
	uint64_t again, stray;     /* firmware that starts or ends twice in one op */
	uint64_t cut_line;         /* the last one, which was cut and is left out; 0 = none was */
	bool cut_packed;           /* the log is compressed and ends in the middle */
};

struct ut_tt_log {
	struct ut_arena arena;
	struct ut_strtab strings;
	const char *arch;
	uint64_t mhz;
	int64_t max_cores;              /* as the first line says; -1 = it does not */
	bool zones;                     /* the younger family */
	bool arch_guessed, mhz_guessed; /* neither the first line nor the options say it */
	bool has[UT_TT_COLUMNS];
	struct ut_tt_mark *marks;
	size_t mark_count, mark_cap;
	struct ut_tt_risc *riscs;
	size_t risc_count, risc_cap;
	struct ut_tt_chip *chips;
	size_t chip_count, chip_cap;
	struct ut_tt_core *cores;
	size_t core_count, core_cap;
	struct ut_tt_lane *lanes;
	size_t lane_count, lane_cap;
	struct ut_tt_row *rows;
	size_t row_count;
	uint32_t *by_chip; /* rows of each chip in order of time; at the same time lane by lane */
	uint32_t *by_core; /* the same inside each core */
	struct ut_tt_doubts doubts;
};

/* Zeroed memory for something per row, in large pages where there is enough of it; free() it. */
void *ut_tt_make_rows(size_t rows, size_t size);

void ut_tt_log_init(struct ut_tt_log *log);
void ut_tt_log_release(struct ut_tt_log *log);

/* Fills by_chip and by_core; the rows must not change any more. */
void ut_tt_log_order(struct ut_tt_log *log);

/* Finds the pairs of marks, and what is not a pair: doubts.no_end, no_start, lanes. */
void ut_tt_log_check(struct ut_tt_log *log);

/* The mark with another zone: a copy if need be. May move log->marks. */
uint32_t ut_tt_mark_renamed(struct ut_tt_log *log, uint32_t mark, uint32_t zone);

/*
 * Which pair a mark is half of: firmware and kernel in logs of timer numbers, otherwise its zone.
 * 0 = none; up to strings.count + 2. *start says which half.
 */
static inline uint32_t ut_tt_pair(const struct ut_tt_mark *m, bool *start)
{
	*start = m->opens;
	return m->pair;
}

static inline const struct ut_tt_core *ut_tt_core_of(const struct ut_tt_log *log,
						     const struct ut_tt_row *row)
{
	return &log->cores[log->lanes[row->lane].core];
}

static inline const struct ut_tt_risc *ut_tt_risc_of(const struct ut_tt_log *log,
						     const struct ut_tt_row *row)
{
	return &log->riscs[log->lanes[row->lane].risc];
}

static inline struct ut_str ut_tt_str(const struct ut_tt_log *log, uint32_t id)
{
	return ut_strtab_get(&log->strings, id);
}

/* Does the string say exactly this? */
bool ut_tt_is(const struct ut_tt_log *log, uint32_t id, const char *text);

#endif
