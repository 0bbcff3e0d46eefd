#include "launch/cpu/attach.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "launch/run.h"
#include "wire/clock.h"
#include "wire/process.h"

#define LOOK_NS UINT64_C(50000000)

bool ut_attach_name(pid_t pid, char *name, size_t size)
{
	char path[64];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	f = fopen(path, "re");
	ok = f && fgets(name, (int)size, f);
	if (f)
		fclose(f);
	if (ok)
		name[strcspn(name, "\n/")] = '\0';
	return ok;
}

pid_t *ut_attach_threads(pid_t pid, size_t *count)
{
	pid_t *threads = NULL;
	struct dirent *e;
	size_t cap = 0;
	char path[64];
	DIR *d;

	*count = 0;
	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid <= 0 || tid == pid)
			continue;
		threads = ut_grow(threads, *count + 1, &cap, sizeof(*threads));
		threads[(*count)++] = tid;
	}
	if (d)
		closedir(d);
	return threads;
}

void ut_attach_wait(pid_t pid, uint64_t ns)
{
	uint64_t end = ut_clock_ns(CLOCK_MONOTONIC) + ns, now;

	while ((now = ut_clock_ns(CLOCK_MONOTONIC)) < end || !ns) {
		uint64_t rest = ns && end - now < LOOK_NS ? end - now : LOOK_NS;

		if (pid > 0 && !ut_process_start((uint32_t)pid))
			return;
		if (!ut_launch_pause(rest))
			return;
	}
}
