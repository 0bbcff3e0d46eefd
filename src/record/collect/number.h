/*
 * number.h - what the program makes once and then refers to: counters, histograms, clock domains,
 * tracks, heap functions. Each gets a number that its records carry.
 *
 * Any thread; no lock; never freed.
 */
#ifndef UT_COLLECT_NUMBER_H
#define UT_COLLECT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "wire/spool.h"

/* The next number of any kind; from 1. */
uint32_t ut_number_next(void);

/* Defines, and remembers for forked children. At most 4 words and no bytes, or bytes alone kept
 * as given. */
void ut_number_define(enum ut_rec type, const uint64_t *words, size_t count, const void *bytes,
		      size_t len);

/* Defines everything again in a forked child's spool. */
void ut_number_replay(void);

#endif
