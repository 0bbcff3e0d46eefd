/*
 * disk_space.h - how much room a file system has, and how much of it recordings and their results
 * leave free (--disk-reserve).
 *
 * The default reserve is 5 % of the file system and at least 2 GiB; where 2 GiB are more than a
 * quarter of it, 5 % alone. On a disk that has less than the reserve at the start, three quarters
 * of what is free stay free: a small recording is still made, a large one still ends. A reserve
 * that somebody has asked for is kept as it is.
 */
#ifndef UT_BASE_DISK_SPACE_H
#define UT_BASE_DISK_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ut_disk_space {
	uint64_t total, free; /* bytes; free: for users without special rights */
	uint64_t device;      /* st_dev: the same for two paths = the same file system */
};

/* {0} is the default. */
struct ut_disk_reserve {
	bool given;
	uint64_t bytes; /* 0, if no percent is given either: the disk may be filled */
	double percent; /* of the file system */
};

/* Of the file system of an open file. False: it does not say. */
bool ut_disk_space_fd(int fd, struct ut_disk_space *space);

/* Of a file or directory, or of the nearest directory above it that exists. */
bool ut_disk_space_path(const char *path, struct ut_disk_space *space);

/* "20G", "10%" or "0". */
int ut_disk_reserve_parse(const char *text, struct ut_disk_reserve *reserve,
			  struct ut_err *err) UT_MUST_CHECK;

/* How many bytes should stay free there. */
uint64_t ut_disk_reserve_wanted(const struct ut_disk_reserve *reserve,
				const struct ut_disk_space *space);

/* The same, with the exception for a disk that is nearly full already. */
uint64_t ut_disk_reserve_kept(const struct ut_disk_reserve *reserve,
			      const struct ut_disk_space *space);

#endif
