/*
 * disk.h - the spool's file on disk: made, found again when its descriptor is gone, given room.
 *
 * Lives in the traced process: no malloc, no stdio, raw system calls (sys.h). One file at a time;
 * making and forgetting it is for one thread, the rest for any. errno is not kept.
 */
#ifndef UT_WIRE_DISK_H
#define UT_WIRE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes "DIR/PID-NANOSECONDS.spool". 0 or a negative errno. */
int ut_disk_make(const char *dir);

/* Takes the name away again. */
void ut_disk_remove(void);

/* After fork: the parent's file is no longer ours. */
void ut_disk_forget(void);

/* Its descriptor, or a negative errno: may cost an open. */
int ut_disk_fd(void);

/* Would this many bytes more leave less than reserve free? False where the system does not say. */
bool ut_disk_below(int fd, uint64_t reserve, uint64_t bytes);

/*
 * Makes the bytes at offset really take room, as zeros. 0 or a negative errno: -EFBIG beyond the
 * process's limit, which is never reached.
 */
int ut_disk_allocate(int fd, uint64_t offset, uint64_t bytes);

/*
 * Puts zeros into the page cache where room was allocated and nobody has written yet, on file
 * systems where that makes mapping the pages cheaper (docs/design/019-fresh-pages.md). Only a
 * help: whoever maps the pages finds zeros there with it or without.
 */
void ut_disk_fill(uint64_t offset, uint32_t bytes);

/* Files that are kept beside a spool lie in a folder of its name with this behind it. */
#define UT_KEPT_SUFFIX ".kept"

/* A spool beside which there is an empty file of its name with this behind it is in a result. */
#define UT_STORED_SUFFIX ".stored"

/*
 * Writes a file there, whole or not at all; one of this name that is there already stays. 0 or a
 * negative errno: -EINVAL for a name that is not of letters, digits, '.', '-' and '_'.
 */
int ut_disk_keep(const char *name, const void *bytes, size_t size);

/* Is ut_disk_fill() worth it with this type of file system (statfs) and this kernel (uname)? */
int ut_disk_fill_helps(int64_t type, const char *release);

#endif
