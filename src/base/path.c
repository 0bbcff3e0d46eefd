#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"

char *ut_path_join(struct ut_arena *a, const char *dir, const char *name)
{
	size_t len = dir ? strlen(dir) : 0;

	if (!len || name[0] == '/')
		return ut_arena_copy(a, name, strlen(name));
	return ut_str_fmt(a, "%s%s%s", dir, dir[len - 1] == '/' ? "" : "/", name);
}

const char *ut_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *ut_path_dir(struct ut_arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return ut_arena_copy(a, ".", 1);
	return ut_arena_copy(a, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *ut_path_suffix(const char *path)
{
	const char *base = ut_path_base(path);
	const char *dot = strrchr(base, '.');

	if (!dot || dot == base)
		return base + strlen(base);
	if (!strcmp(dot, ".gz") || !strcmp(dot, ".zst")) {
		for (const char *p = dot - 1; p > base; p--) {
			if (*p == '.')
				return p;
		}
	}
	return dot;
}

char *ut_path_insert(struct ut_arena *a, const char *path, const char *text)
{
	const char *suffix = ut_path_suffix(path);

	return ut_str_fmt(a, "%.*s%s%s", (int)(suffix - path), path, text, suffix);
}

char *ut_path_absolute(struct ut_arena *a, const char *path)
{
	char *cwd, *joined;

	if (path[0] == '/')
		return ut_arena_copy(a, path, strlen(path));
	while (path[0] == '.' && (path[1] == '/' || !path[1])) {
		path++;
		path += strspn(path, "/");
	}
	cwd = getcwd(NULL, 0);
	if (!path[0])
		joined = ut_str_fmt(a, "%s", cwd ? cwd : ".");
	else
		joined = ut_path_join(a, cwd ? cwd : ".", path);
	free(cwd);
	return joined;
}

bool ut_path_exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

bool ut_path_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int ut_path_mkdirs(const char *path, struct ut_err *err)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (!len || len >= sizeof(part))
		return ut_err_set(err, -ENAMETOOLONG, "'%s': not a usable directory name", path);
	for (size_t i = 1; i <= len; i++) {
		if (path[i] && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0777) && !ut_path_is_dir(part)) {
			int code = errno == EEXIST ? ENOTDIR : errno;

			return ut_err_set(err, -code, "%s: cannot make directory: %s", part,
					  strerror(code));
		}
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) ? -errno : 0;
}

int ut_path_remove_tree(const char *path, struct ut_err *err)
{
	int rc;

	if (!ut_path_exists(path))
		return 0;
	rc = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (rc == -1)
		rc = -errno;
	if (rc && rc != -ENOENT)
		return ut_err_set(err, rc, "%s: cannot remove: %s", path, strerror(-rc));
	return 0;
}

/* 0, or why this file cannot be a program. */
static int check_program(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == EACCES ? EACCES : ENOENT;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return EACCES;
	return 0;
}

char *ut_path_find_program(struct ut_arena *a, const char *name, int *code)
{
	const char *dirs = getenv("PATH");
	int seen = ENOENT;

	if (!name[0]) {
		*code = ENOENT;
		return NULL;
	}
	if (strchr(name, '/')) {
		*code = check_program(name);
		return *code ? NULL : ut_arena_copy(a, name, strlen(name));
	}
	for (const char *p = dirs ? dirs : "/bin:/usr/bin"; p; p = strchr(p, ':')) {
		size_t len;
		char *path;

		p += *p == ':';
		len = strcspn(p, ":");
		path = ut_path_join(a, len ? ut_arena_copy(a, p, len) : ".", name);
		*code = check_program(path);
		if (!*code)
			return path;
		if (*code == EACCES)
			seen = EACCES;
	}
	*code = seen;
	return NULL;
}

char *ut_path_self_dir(struct ut_arena *a)
{
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	const char *started_as;

	if (len > 0) {
		exe[len] = '\0';
		return ut_path_dir(a, exe);
	}
	/* Without /proc: what was executed, which may be a link and relative to where we began. */
	started_as = (const char *)getauxval(AT_EXECFN);
	if (!started_as || !realpath(started_as, exe))
		return NULL;
	return ut_path_dir(a, exe);
}
