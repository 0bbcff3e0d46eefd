#include "launch/cpu/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "launch/cpu/image.h"
#include "launch/cpu/modules.h"

#define AGAIN_NS  UINT64_C(1000000000)
#define MOST_KEPT (UINT64_C(256) << 20)

/* The number of the process in its own container: the last one of "NSpid: 4711 17". */
static uint32_t pid_inside(uint32_t pid)
{
	char path[64], line[256];
	uint32_t found = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (ut_str_starts(line, "NSpid:")) {
			const char *last = strrchr(line, '\t');

			found = last ? (uint32_t)strtoul(last, NULL, 10) : pid;
		}
	}
	if (f)
		fclose(f);
	return found ? found : pid;
}

/* Anybody may put a file into /tmp: it has to be of the one who runs the program, or ours. */
static int open_of(const char *path, uint32_t pid)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st, owner;
	char proc[64];

	if (fd < 0)
		return -1;
	snprintf(proc, sizeof(proc), "/proc/%" PRIu32, pid);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    (st.st_uid == geteuid() || (!stat(proc, &owner) && st.st_uid == owner.st_uid)))
		return fd;
	close(fd);
	return -1;
}

static int open_map(uint32_t pid)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root/tmp/perf-%" PRIu32 ".map", pid,
		 pid_inside(pid));
	fd = open_of(path, pid);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid); /* it may have ended */
	return open_of(path, pid);
}

/* The compiler maps it, to be found by. */
static int open_dump(const struct ut_image *image, const struct ut_modules *modules)
{
	char path[4200];
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < image->maps.count; i++) {
		const char *name = ut_module(modules, image->maps.items[i].module)->path;

		if (!ut_str_starts(ut_path_base(name), "jit-") || !ut_str_ends(name, ".dump"))
			continue;
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root%s", image->pid, name);
		fd = open_of(path, image->pid);
		if (fd < 0)
			fd = open_of(name, image->pid);
	}
	return fd;
}

void ut_jit_files_look(struct ut_image *image, const struct ut_modules *modules, uint64_t time)
{
	struct ut_image_jit *jit = &image->jit;

	if (jit->looked && time < jit->looked + AGAIN_NS)
		return;
	jit->looked = time;
	if (jit->map <= 0)
		jit->map = open_map(image->pid);
	if (jit->dump <= 0)
		jit->dump = open_dump(image, modules);
}

static void jit_files_copy(int *from, const char *folder, const char *name)
{
	char path[4200];
	struct stat st;
	off_t at = 0;
	int to = -1;

	if (*from <= 0)
		return;
	if (!fstat(*from, &st) && (uint64_t)st.st_size <= MOST_KEPT &&
	    (!mkdir(folder, 0700) || errno == EEXIST) &&
	    snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path))
		to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	while (to >= 0 && at < st.st_size &&
	       sendfile(to, *from, &at, (size_t)(st.st_size - at)) > 0)
		;
	if (to >= 0)
		close(to);
	close(*from);
	*from = 0;
}

void ut_jit_files_keep(struct ut_image *image)
{
	char folder[4200];

	if (image->jit.looked && image->jit.map <= 0) /* written when it ended, perhaps */
		image->jit.map = open_map(image->pid);
	snprintf(folder, sizeof(folder), "%s" UT_CPU_KEPT_FOLDER, image->path);
	jit_files_copy(&image->jit.map, folder, UT_CPU_KEPT_MAP);
	jit_files_copy(&image->jit.dump, folder, UT_CPU_KEPT_DUMP);
}
