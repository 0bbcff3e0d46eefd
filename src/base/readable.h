/*
 * readable.h - is there memory to be read? The kernel is asked.
 *
 * For guests in somebody else's process: no malloc, no lock, any thread, any signal handler; errno
 * stays as it is.
 */
#ifndef UT_BASE_READABLE_H
#define UT_BASE_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UT_READABLE_PAGE 4096u

/* The page that begins at this address. */
bool ut_readable_page(uintptr_t page);

/* All of these bytes. */
bool ut_readable(uintptr_t address, size_t bytes);

#endif
