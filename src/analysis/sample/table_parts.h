/*
 * table_parts.h - what the tables of profiles share. Of this room alone.
 */
#ifndef UT_SAMPLE_TABLE_PARTS_H
#define UT_SAMPLE_TABLE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct ut_prof;
struct ut_report_cell;

#define UT_HOT_NAME_COLUMNS   60
#define UT_HOT_MODULE_COLUMNS 32

enum ut_hot_unit {
	UT_HOT_NS,
	UT_HOT_BYTES,
	UT_HOT_COUNT,
	UT_HOT_UNITS,
};

enum ut_hot_unit ut_hot_unit(const struct ut_prof *p);
double ut_hot_share(uint64_t part, uint64_t whole); /* percent */

/* A path, of which people see the last part. */
struct ut_report_cell ut_hot_path_cell(const struct ut_prof *p, uint32_t path, bool people);

#endif
