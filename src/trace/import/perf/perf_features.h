/*
 * perf_features.h - what a perf.data tells beside its records: events and their names, build ids.
 */
#ifndef UT_IMPORT_PERF_PERF_FEATURES_H
#define UT_IMPORT_PERF_PERF_FEATURES_H

#include <stddef.h>
#include <stdint.h>

struct ut_pdata_attrs;
struct ut_pdata_head;
struct ut_pdata_maps;
struct ut_sample_build;
struct ut_source;

/* The attributes of a file, from its first size bytes. */
void ut_pdata_take_attrs(struct ut_pdata_attrs *a, const struct ut_pdata_head *head,
			 const uint8_t *bytes, uint64_t size);

/* One of a pipe, and what is told about it later: from a record, behind its head. */
void ut_pdata_take_attr(struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size);
void ut_pdata_take_update(struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size);

/* What stands behind the records of a file. */
void ut_pdata_take_features(const struct ut_source *source, const struct ut_pdata_head *head,
			    struct ut_pdata_attrs *a, struct ut_pdata_maps *maps,
			    struct ut_sample_build *build);

#endif
