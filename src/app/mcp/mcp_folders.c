#include "mcp/mcp_folders.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"

int ut_mcp_folders_init(struct ut_mcp_folders *f, const char *const *folders, size_t count,
			struct ut_err *err)
{
	*f = (struct ut_mcp_folders){ 0 };
	f->paths = UT_NEW_N(&f->arena, char *, count + 1);
	for (size_t i = 0; i < count; i++) {
		char *real = realpath(folders[i], NULL);

		if (!real || !ut_path_is_dir(real)) {
			int rc = real ? -ENOTDIR : -errno;

			free(real);
			return ut_err_set(err, rc, "%s: %s", folders[i], strerror(-rc));
		}
		f->paths[f->count++] = ut_arena_copy(&f->arena, real, strlen(real));
		free(real);
	}
	return 0;
}

void ut_mcp_folders_release(struct ut_mcp_folders *f)
{
	ut_arena_release(&f->arena);
	*f = (struct ut_mcp_folders){ 0 };
}

/* ---- what a client says -------------------------------------------------------------------- */

static bool has_dots(const char *path)
{
	for (const char *at = path; *at;) {
		size_t len = strcspn(at, "/");

		if (len == 2 && at[0] == '.' && at[1] == '.')
			return true;
		at += len + (at[len] == '/');
	}
	return false;
}

/* Without "." and without more slashes than needed. */
static char *tidy(struct ut_arena *a, const char *path)
{
	struct ut_buf b = { 0 };

	for (const char *at = path; *at;) {
		size_t len = strcspn(at, "/");

		if (len && !(len == 1 && *at == '.')) {
			ut_buf_char(&b, '/');
			ut_buf_add(&b, at, len);
		}
		at += len + (at[len] == '/');
	}
	if (!b.len)
		ut_buf_char(&b, '/');
	return ut_buf_take(&b, a);
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (!strcmp(folder, "/"))
		return true;
	return !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

static bool is_below_any(const struct ut_mcp_folders *f, const char *path)
{
	for (size_t i = 0; i < f->count; i++) {
		if (is_below(path, f->paths[i]))
			return true;
	}
	return false;
}

static bool has_links(const char *path)
{
	char *real = realpath(path, NULL);
	bool differs = !real || strcmp(real, path) != 0;

	free(real);
	return differs;
}

static int outside(const struct ut_mcp_folders *f, const char *said, struct ut_err *err)
{
	struct ut_buf all = { 0 };
	int rc;

	for (size_t i = 0; i < f->count; i++)
		ut_buf_fmt(&all, "%s%s", i ? ", " : "", f->paths[i]);
	rc = ut_err_set(err, -EACCES, "%.200s: not below the folders that may be read: %.600s",
			said, all.data);
	ut_buf_release(&all);
	return rc;
}

/* A relative path: in the first folder that has it, else in the first one. */
static char *locate(const struct ut_mcp_folders *f, struct ut_arena *a, const char *said)
{
	struct stat st;
	char *path;

	if (said[0] == '/')
		return tidy(a, said);
	for (size_t i = 0; i < f->count; i++) {
		path = tidy(a, ut_path_join(a, f->paths[i], said));
		if (!lstat(path, &st))
			return path;
	}
	return tidy(a, ut_path_join(a, f->paths[0], said));
}

int ut_mcp_folders_find(const struct ut_mcp_folders *f, struct ut_arena *a, struct ut_str said,
			char **found, struct ut_err *err)
{
	const char *text = ut_arena_copy(a, said.ptr, said.len);
	struct stat st;
	char *path;

	if (!said.len || strlen(text) != said.len || said.len >= PATH_MAX)
		return ut_err_set(err, -EINVAL, "this is no path of a file");
	if (has_dots(text))
		return ut_err_set(err, -EACCES, "%.200s: '..' is not taken", text);
	path = locate(f, a, text);
	if (!is_below_any(f, path))
		return outside(f, text, err);
	if (lstat(path, &st))
		return ut_err_set(err, -ENOENT, "%.200s: no such file or folder", text);
	if (has_links(path))
		return ut_err_set(err, -EACCES, "%.200s: links are not followed", text);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return ut_err_set(err, -EACCES, "%.200s: neither a file nor a folder", text);
	*found = path;
	return 0;
}

bool ut_mcp_folders_has(const struct ut_mcp_folders *f, const char *path)
{
	struct stat st;

	return is_below_any(f, path) && !has_dots(path) && !lstat(path, &st) &&
	       S_ISREG(st.st_mode) && !has_links(path);
}
