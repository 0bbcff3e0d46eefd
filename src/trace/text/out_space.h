/*
 * out_space.h - how much of the disk files leave free (text/out.h, base/disk_space.h).
 */
#ifndef UT_TEXT_OUT_SPACE_H
#define UT_TEXT_OUT_SPACE_H

#include <stdint.h>

struct ut_disk_reserve;
struct ut_disk_space;

/*
 * From now on files leave this much free on their file system: writing one ends with -ENOSPC,
 * except that the first MiB of each is always written. Any thread.
 */
void ut_out_keep_free(const struct ut_disk_reserve *reserve);

/* How many bytes that is on a file system; the first answer counts from then on. */
uint64_t ut_out_kept_free(const struct ut_disk_space *space);

#endif
