/*
 * pages.h - memory for the rows of traces that may be larger than memory.
 *
 * Blocks of UT_PAGES_BYTES, the columns of UT_BLOCK_ROWS rows, come out of anonymous memory up to a
 * limit. What goes beyond it lies in a file without a name, mapped shared: the kernel writes it out
 * and reads it back as it sees fit, and it vanishes with the process. The file lies in $TMPDIR,
 * /var/tmp if that is not set (/tmp is often memory). Its space is allocated before it is used, so
 * a full disk is an abort with a message here, as running out of memory is, and no SIGBUS later.
 *
 * One pool for the process; any thread.
 */
#ifndef UT_MODEL_PAGES_H
#define UT_MODEL_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define UT_PAGES_BYTES ((size_t)384 << 10)

/* bytes of memory, 8-aligned at least, with any content; a block if it is UT_PAGES_BYTES. Never
 * NULL. */
void *ut_pages_alloc(size_t bytes);

/* Takes back what ut_pages_alloc() gave, or malloc(). NULL is fine. */
void ut_pages_free(void *p);

/* Anonymous memory that blocks may take, in bytes. Blocks that exist stay where they are. */
void ut_pages_limit(uint64_t bytes);

/* The limit as long as nobody sets one: a third of what the machine or our control group has,
 * since arguments, strings and the pyramid need memory as well. */
uint64_t ut_pages_usual(void);

struct ut_pages_use {
	uint64_t memory, file; /* bytes of blocks that are in use */
};

struct ut_pages_use ut_pages_used(void);

#endif
