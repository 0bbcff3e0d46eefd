/*
 * read_log_build.h - from rows in the order of the file to a log: private to the reader.
 *
 * Lanes and marks are found by hash while rows come, which are kept in the order of the file;
 * finish() puts lanes core by core and chip by chip, sorts their rows and adds T0. Devices are read
 * lane by lane, so mostly all rows are where they belong already, and none has to move.
 */
#ifndef UT_TT_READ_LOG_BUILD_H
#define UT_TT_READ_LOG_BUILD_H

#include "base/hashtab.h"
#include "tt/devlog.h"
#include "tt/log_columns.h"

/* Where a row was measured. */
struct ut_tt_place {
	int32_t chip, x, y;
	struct ut_str risc;
};

/* The bytes that tell one mark from another. */
struct ut_tt_key {
	struct ut_str timer, tail;
};

struct ut_tt_open_lane;
struct ut_tt_known;

struct ut_tt_build {
	struct ut_tt_log *log;
	struct ut_tt_open_lane *lanes; /* in order of appearance */
	size_t lane_count, lane_cap;
	struct ut_hashtab by_place; /* lanes: index + 1 */
	struct ut_hashtab by_text;  /* marks: index + 1, by their key */
	struct ut_tt_known *known;  /* one per mark */
	size_t known_cap;
	uint32_t last;          /* mark of the last row; UINT32_MAX = it had none yet */
	struct ut_tt_row *rows; /* in the order of the file; a free one in front of those of a lane,
				 * if there will be a T0 */
	size_t row_cap, used;
	uint64_t row_count; /* of the file */
};

void ut_tt_build_init(struct ut_tt_build *b, struct ut_tt_log *log);
void ut_tt_build_release(struct ut_tt_build *b);

uint32_t ut_tt_build_lane(struct ut_tt_build *b, const struct ut_tt_place *place);

/* UINT32_MAX if there is none yet. */
uint32_t ut_tt_build_find(struct ut_tt_build *b, const struct ut_tt_key *key);
uint32_t ut_tt_build_mark(struct ut_tt_build *b, const struct ut_tt_key *key,
			  const struct ut_tt_mark *mark);

/* row->lane is filled in; false if there are too many. */
bool ut_tt_build_row(struct ut_tt_build *b, uint32_t lane, const struct ut_tt_row *row,
		     uint64_t line);

/* log has its rows, lanes, cores, chips, and their order. */
void ut_tt_build_finish(struct ut_tt_build *b);

#endif
