/*
 * zones.h - how a language's runtime says which of its functions run: struct ut_host.zones.
 *
 * A zone is a function, or a line, of a source file. It is defined once and begun and ended as
 * often as it runs: one word of 8 bytes each, on the thread that calls. Zones nest, together with
 * the ITT tasks of their thread. Python's extension (python/src) is the user; anybody who joins
 * with unitrace_join() may be one.
 *
 * Every function may be called from any thread and gives errno back as found; none locks or prints.
 */
#ifndef UNITRACE_ZONES_H
#define UNITRACE_ZONES_H

#include <stddef.h>
#include <stdint.h>

/* Where a zone is. name and file need no NUL at their end; line 0 = unknown. */
struct ut_zone {
	const char *domain; /* "Python"; --itt-domains chooses by it */
	const char *name;
	size_t name_len;
	const char *file;
	size_t file_len;
	uint32_t line;
};

struct ut_zones {
	uint32_t size; /* of this struct in the collector */
	uint32_t reserved;

	/* A number for the functions below; 0 = the user does not want this domain. Each call
	 * makes a new one: ask once for a zone. */
	uint64_t (*define)(const struct ut_zone *zone);

	/* A mark for drop(), or 0: nothing was recorded, and there is nothing to end. */
	uint64_t (*begin)(uint64_t zone);
	/* Ends what was begun, also during a pause. */
	void (*end)(uint64_t zone);
	/* Takes the begin back if it is younger than so many ticks and this thread has recorded
	 * nothing since. False: it has to be ended. */
	int (*drop)(uint64_t zone, uint64_t mark, uint64_t ticks);

	/* How many ticks so many nanoseconds are, about. */
	uint64_t (*ticks)(uint64_t ns);
};

#endif
