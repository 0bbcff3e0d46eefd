/*
 * reserve.h - what a recording leaves free on the disk (--disk-reserve, base/disk_space.h).
 *
 * Where recording and results share a file system, recording ends early enough that what is
 * recorded can also be written: the results of a recording are larger than itself.
 */
#ifndef UT_SESSION_RESERVE_H
#define UT_SESSION_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

struct ut_disk_reserve;
struct ut_output_opts;
struct ut_session_client;
struct ut_session_plan;

/*
 * How many bytes stay free where a recording lies: for the control file; 0 = none. Says so if that
 * leaves little or nothing to record. From here on results keep the reserve, too.
 */
uint64_t ut_reserve_begin(const struct ut_session_plan *plan, const char *session_dir,
			  const char *results_dir, const struct ut_session_client *client);

/* Is less than that free where the recording lies? */
bool ut_reserve_reached(uint64_t bytes, const char *session_dir);

/* The same for results of a recording that is there already. */
void ut_reserve_results(const struct ut_disk_reserve *reserve, const char *dir,
			const struct ut_session_client *client);

#endif
