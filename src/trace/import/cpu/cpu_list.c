/* cpu_list.c - which file of samples belongs to which recording. */
#include "import/cpu/cpu_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "wire/process.h"
#include "wire/spool.h"

int ut_cpu_info(const char *path, struct ut_cpu_info *info, struct ut_err *err)
{
	struct ut_cpu_header h = { .version = 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = fd >= 0 ? read(fd, &h, sizeof(h)) : -1;
	int code = fd < 0 || n < 0 ? errno : 0;
	char boot_id[40];

	if (!code && fstat(fd, &st))
		code = errno;
	if (fd >= 0)
		close(fd);
	if (code)
		return ut_err_set(err, -code, "%s: %s", path, strerror(code));
	if (n != (ssize_t)sizeof(h) || memcmp(h.magic, UT_CPU_MAGIC, sizeof(h.magic)) != 0 ||
	    h.version != UT_CPU_VERSION)
		return ut_err_set(err, -EPROTO, "%s: no file of samples", path);
	*info = (struct ut_cpu_info){ .pid = h.pid,
				      .rank = h.rank,
				      .start = h.start,
				      .end = h.end,
				      .bytes = (uint64_t)st.st_size };
	snprintf(info->path, sizeof(info->path), "%s", path);
	snprintf(info->name, sizeof(info->name), "%.*s", (int)sizeof(h.name) - 1, h.name);
	ut_process_boot_id(boot_id);
	info->alive = !h.end && h.proc_start && !strncmp(boot_id, h.boot_id, sizeof(boot_id)) &&
		      ut_process_start(h.pid) == h.proc_start;
	return 0;
}

/* Did the process run this program at that time? */
static bool cpu_list_fits(const struct ut_cpu_info *info, uint32_t pid, uint64_t time)
{
	return info->pid == pid && info->start <= time && (!info->end || time < info->end);
}

/* Calls fn for each file of that process and suffix, until one says yes. */
static bool each(const char *dir, uint32_t pid, const char *suffix,
		 bool (*fn)(void *ctx, const char *path), void *ctx)
{
	char start[16], path[4096];
	DIR *d = opendir(dir);
	struct dirent *e;
	bool found = false;

	snprintf(start, sizeof(start), "%" PRIu32 "-", pid);
	while (d && !found && (e = readdir(d))) {
		if (ut_str_starts(e->d_name, start) && ut_str_ends(e->d_name, suffix) &&
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
			found = fn(ctx, path);
	}
	if (d)
		closedir(d);
	return found;
}

static const char *folder(const char *path, char buf[4096])
{
	snprintf(buf, 4096, "%s", path);
	return dirname(buf);
}

struct search {
	uint32_t pid;
	uint64_t time;
	const struct ut_cpu_info *cpu;
	char *path;
};

static bool cpu_list_is_wanted(void *ctx, const char *path)
{
	const struct search *s = ctx;
	struct ut_cpu_info *info = malloc(sizeof(*info));
	bool yes = info && !ut_cpu_info(path, info, NULL) && cpu_list_fits(info, s->pid, s->time);

	free(info);
	if (yes)
		snprintf(s->path, 4096, "%s", path);
	return yes;
}

bool ut_cpu_beside(const char *spool_path, uint32_t pid, uint64_t start, char path[4096])
{
	struct search s = { .pid = pid, .time = start, .path = path };
	char dir[4096];

	return each(folder(spool_path, dir), pid, UT_CPU_SUFFIX, cpu_list_is_wanted, &s);
}

static bool is_its_spool(void *ctx, const char *path)
{
	const struct search *s = ctx;
	struct ut_spool_header h = { .version = 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool yes = fd >= 0 && read(fd, &h, sizeof(h)) == (ssize_t)sizeof(h) &&
		   !memcmp(h.magic, UT_SPOOL_MAGIC, sizeof(h.magic)) &&
		   cpu_list_fits(s->cpu, h.pid, h.start.mono);

	if (fd >= 0)
		close(fd);
	return yes;
}

bool ut_cpu_has_spool(const char *path)
{
	struct ut_cpu_info *info = malloc(sizeof(*info));
	struct search s = { .cpu = info };
	char dir[4096];
	bool yes = info && !ut_cpu_info(path, info, NULL) &&
		   each(folder(path, dir), info->pid, UT_SPOOL_SUFFIX, is_its_spool, &s);

	free(info);
	return yes;
}
