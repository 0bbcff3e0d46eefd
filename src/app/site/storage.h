/*
 * storage.h - how much disk the data directory may use: the quota of `serve --data-quota`.
 *
 * Counted are all files below it, the trash included. When the quota is reached, uploads and runs
 * are refused (-EDQUOT, with one sentence), and recordings that are under way are paused. Before
 * something is refused, it is counted anew: a thousand results take 50 ms. Any thread.
 */
#ifndef UT_SITE_STORAGE_H
#define UT_SITE_STORAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ut_data_dir;

struct ut_storage {
	const struct ut_data_dir *data_dir;
	uint64_t quota; /* bytes; UINT64_MAX = none */
	pthread_mutex_t lock;
	uint64_t used;   /* when it was counted last */
	int64_t counted; /* ms; 0 = never */
};

/* quota 0: half of the file system. The data directory outlives it. */
void ut_storage_init(struct ut_storage *s, const struct ut_data_dir *data_dir, uint64_t quota);
void ut_storage_release(struct ut_storage *s);

/* Bytes that are used, counted at most so many ms ago. */
uint64_t ut_storage_used(struct ut_storage *s, int64_t age_ms);

/* Bytes that are left, counted just now. */
uint64_t ut_storage_left(struct ut_storage *s);

/* Is there room for so many bytes more? -EDQUOT: err says what is used, and what can be done. */
int ut_storage_check(struct ut_storage *s, uint64_t bytes, struct ut_err *err) UT_MUST_CHECK;

/* Is it full? For those who ask twice a second: nothing is counted more often than is needed. */
bool ut_storage_is_full(struct ut_storage *s);

#endif
