/*
 * parquet_runs.h - Parquet's mixture of runs and packed bits: what of a column is there, and
 * numbers of words in a dictionary.
 */
#ifndef UT_ARROW_PARQUET_RUNS_H
#define UT_ARROW_PARQUET_RUNS_H

#include <stddef.h>
#include <stdint.h>

struct ut_buf;

/* How many bits the numbers up to most need. */
unsigned int ut_parquet_bits(uint32_t most);

/* Appends count numbers of so many bits; equal neighbours become runs. */
void ut_parquet_runs(struct ut_buf *to, const uint32_t *values, size_t count, unsigned int bits);

#endif
