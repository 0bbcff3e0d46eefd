#include "base/disk_space.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/size.h"

#define USUAL_PERCENT 5.0
#define USUAL_LEAST   (UINT64_C(2) << 30)

static bool disk_space_fill(struct ut_disk_space *space, const struct statvfs *fs,
			    const struct stat *st)
{
	*space = (struct ut_disk_space){ .total = (uint64_t)fs->f_blocks * fs->f_frsize,
					 .free = (uint64_t)fs->f_bavail * fs->f_frsize,
					 .device = st->st_dev };
	return space->total != 0; /* a tmpfs without a limit says 0 */
}

bool ut_disk_space_fd(int fd, struct ut_disk_space *space)
{
	struct statvfs fs;
	struct stat st;

	return !fstatvfs(fd, &fs) && !fstat(fd, &st) && disk_space_fill(space, &fs, &st);
}

bool ut_disk_space_path(const char *path, struct ut_disk_space *space)
{
	char dir[PATH_MAX];
	struct statvfs fs;
	struct stat st;

	if (snprintf(dir, sizeof(dir), "%s", path[0] ? path : ".") >= (int)sizeof(dir))
		return false;
	while (statvfs(dir, &fs) || stat(dir, &st)) {
		char *slash = strrchr(dir, '/');

		if (errno != ENOENT || !strcmp(dir, ".") || !strcmp(dir, "/"))
			return false;
		if (!slash)
			memcpy(dir, ".", 2);
		else
			slash[slash == dir] = '\0';
	}
	return disk_space_fill(space, &fs, &st);
}

int ut_disk_reserve_parse(const char *text, struct ut_disk_reserve *reserve, struct ut_err *err)
{
	char *end;
	double percent = strtod(text, &end);

	*reserve = (struct ut_disk_reserve){ .given = true };
	if (end == text || strcmp(end, "%") != 0)
		return ut_size_parse(text, &reserve->bytes, err);
	if (!(percent >= 0 && percent <= 100))
		return ut_err_set(err, -EINVAL, "'%s' is not between 0%% and 100%%", text);
	reserve->percent = percent;
	return 0;
}

uint64_t ut_disk_reserve_wanted(const struct ut_disk_reserve *reserve,
				const struct ut_disk_space *space)
{
	double percent = reserve->given ? reserve->percent : USUAL_PERCENT;
	uint64_t share = (uint64_t)((double)space->total * percent / 100);

	if (reserve->given)
		return reserve->bytes > share ? reserve->bytes : share;
	return share < USUAL_LEAST && space->total / 4 >= USUAL_LEAST ? USUAL_LEAST : share;
}

uint64_t ut_disk_reserve_kept(const struct ut_disk_reserve *reserve,
			      const struct ut_disk_space *space)
{
	uint64_t wanted = ut_disk_reserve_wanted(reserve, space);
	uint64_t most = space->free - space->free / 4;

	return reserve->given || wanted < most ? wanted : most;
}
