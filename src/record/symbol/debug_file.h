/*
 * debug_file.h - where the debug info of a program is, if the program was stripped of it.
 *
 * Looked for in this order: by build id below the folders of debug info (/usr/lib/debug, and those
 * that were named), by the name in .gnu_debuglink beside the program, in .debug/ there and below
 * those folders; at last, and only if that was allowed, from a server of debug info.
 */
#ifndef UT_SYMBOL_DEBUG_FILE_H
#define UT_SYMBOL_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct ut_elf;

/*
 * The debug info of an open file that lies at path: open, to be closed by the caller, and where it
 * was found. False: there is none.
 */
bool ut_debug_file_open(const struct ut_elf *file, const char *path, struct ut_elf *debug,
			char *found, size_t size);

/* Before the first file is opened; the text is not copied. Up to 8, what is beyond is left out. */
void ut_debug_file_look_in(const char *folder);

/* Servers of debug info (DEBUGINFOD_URLS) may be asked. False: this machine has no client. */
bool ut_debug_file_allow_servers(void);

#endif
