/*
 * temp_file.h - a VFS of SQLite whose files lie in memory and have no names: for temporary data.
 * All of them together are bounded by ut_guard_temp_limit().
 */
#ifndef UT_QUERY_TEMP_FILE_H
#define UT_QUERY_TEMP_FILE_H

#define UT_TEMP_VFS "unitrace-memory"

/* Once for the process, from any thread; again does nothing. Returns an SQLite code. */
int ut_temp_vfs_register(void);

#endif
