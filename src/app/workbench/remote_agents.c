#include "workbench/remote_agents.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "workbench/folder.h"

#define DAY        86400
#define MARK       16u    /* hexadecimal digits at the end of a version's name */
#define UNFINISHED "new." /* what mktemp made, for a copy that was cut off */
#define MAPS_LINE  (PATH_MAX + 128)

struct tidying {
	char top[PATH_MAX]; /* of all agents, as processes have it */
	const char *own;    /* version */
	size_t own_len;
};

static bool remote_agents_is_ours(const char *name)
{
	const char *mark = strrchr(name, '-');

	if (!strncmp(name, UNFINISHED, strlen(UNFINISHED)))
		return true;
	return mark && isdigit((unsigned char)name[0]) && strlen(mark + 1) == MARK &&
	       strspn(mark + 1, "0123456789abcdef") == MARK;
}

static bool remote_agents_is_inside(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && path[len] == '/';
}

/* Something of the folder is part of a process: its program, or a library of ours. */
static bool is_mapped(const char *pid, const char *folder)
{
	char path[64], line[MAPS_LINE];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		const char *file = strchr(line, '/');

		found = file && remote_agents_is_inside(file, folder);
	}
	if (maps)
		fclose(maps);
	return found;
}

/* By any process whose memory we may look at; others cannot read the folder. */
static bool is_used(const char *folder)
{
	DIR *all = opendir("/proc");
	const struct dirent *e;
	bool used = !all; /* nobody can tell */

	while (all && !used && (e = readdir(all)))
		used = isdigit((unsigned char)e->d_name[0]) && is_mapped(e->d_name, folder);
	if (all)
		closedir(all);
	return used;
}

static bool tidy_one(void *ctx, int at, const char *name, unsigned char type)
{
	const struct tidying *t = ctx;
	char path[PATH_MAX];
	struct stat st;

	if (type != DT_DIR || !remote_agents_is_ours(name) ||
	    (strlen(name) == t->own_len && !strncmp(name, t->own, t->own_len)))
		return true;
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid() ||
	    time(NULL) - st.st_mtime < (time_t)UT_REMOTE_KEPT_DAYS * DAY ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", t->top, name) >= sizeof(path))
		return true;
	if (!is_used(path) && ut_folder_remove(at, name, NULL))
		return true; /* the next one tries again */
	return true;
}

void ut_remote_agents_tidy(const char *program)
{
	struct tidying t = { 0 };
	int at = ut_folder_open(AT_FDCWD, UT_REMOTE_AGENTS, false, NULL);

	if (at < 0)
		return;
	if (realpath(UT_REMOTE_AGENTS, t.top) && remote_agents_is_inside(program, t.top)) {
		char name[NAME_MAX + 1];

		t.own = program + strlen(t.top) + 1;
		t.own_len = strcspn(t.own, "/");
		snprintf(name, sizeof(name), "%.*s", (int)t.own_len, t.own);
		if (!utimensat(at, name, NULL, AT_SYMLINK_NOFOLLOW) &&
		    ut_folder_each(at, tidy_one, &t, NULL))
			t.own = NULL; /* it cannot be read: nothing has gone */
	}
	close(at);
}
