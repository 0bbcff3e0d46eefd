#include "base/mapped.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 400 /* of a path in the message */

/* A handler may look at any moment: start is set last and cleared first. */
static struct {
	_Atomic uintptr_t start; /* 0 = free, 1 = being filled */
	size_t size;
	char path[LONGEST];
} files[UT_MAPPED_MOST];

static int exit_status;
static void (*_Atomic own_end)(void);

void ut_mapped_add(const void *map, size_t size, const char *path)
{
	for (size_t i = 0; i < UT_MAPPED_MOST; i++) {
		uintptr_t none = 0;

		if (!atomic_compare_exchange_strong(&files[i].start, &none, 1))
			continue;
		files[i].size = size;
		snprintf(files[i].path, sizeof(files[i].path), "%s", path);
		atomic_store(&files[i].start, (uintptr_t)map);
		return;
	}
}

void ut_mapped_remove(const void *map)
{
	for (size_t i = 0; map && i < UT_MAPPED_MOST; i++) {
		uintptr_t start = (uintptr_t)map;

		if (atomic_compare_exchange_strong(&files[i].start, &start, 0))
			return;
	}
}

static const char *mapped_path_of(uintptr_t at)
{
	for (size_t i = 0; i < UT_MAPPED_MOST; i++) {
		uintptr_t start = atomic_load(&files[i].start);

		if (start > 1 && at >= start && at - start < files[i].size)
			return files[i].path;
	}
	return NULL;
}

static void mapped_say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(exit_status);
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	const char *path = mapped_path_of((uintptr_t)info->si_addr);
	void (*end)(void) = atomic_load(&own_end);

	(void)context;
	if (!path) {
		raise(sig); /* the handler is gone already: as if there had been none */
		return;
	}
	mapped_say("unitrace: ");
	mapped_say(path);
	mapped_say(": became shorter while it was read, or its disk failed; try again when it is "
		   "complete\n");
	if (end)
		end();
	_exit(exit_status);
}

void ut_mapped_guard(int status)
{
	struct sigaction act = { .sa_sigaction = on_bus,
				 .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND) };

	exit_status = status;
	sigaction(SIGBUS, &act, NULL);
}

void ut_mapped_end_with(void (*end)(void))
{
	atomic_store(&own_end, end);
}
