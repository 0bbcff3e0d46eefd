#include "export/out_check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "export/exporter.h"
#include "text/out.h"

static int out_check_complain(const char *path, int code, struct ut_err *err)
{
	return ut_err_set(err, -code, "%s: %s", path, strerror(code));
}

static int check_stdout(struct ut_err *err)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	return flags < 0 || (flags & O_ACCMODE) == O_RDONLY
		       ? out_check_complain("standard output", EBADF, err)
		       : 0;
}

/* Writing nothing fails where nothing can be written (/dev/full) and harms nobody elsewhere. */
static int check_device(const char *path, struct ut_err *err)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int code = fd < 0 || write(fd, "", 0) < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return code ? out_check_complain(path, code, err) : 0;
}

/* Opens it as the writer will, and throws it away. */
static int rehearse(const char *path, const struct ut_exporter *format, unsigned int flags,
		    struct ut_err *err)
{
	struct ut_out *o = ut_out_open(path, flags & UT_OUT_OVERWRITE);
	int rc;

	if (format)
		format->close(format->open(o));
	rc = ut_out_error(o, err);
	ut_out_abandon(o);
	return rc;
}

/* The nearest folder above path that exists; path itself does not. */
static const char *existing_folder(struct ut_arena *a, const char *path)
{
	struct stat st;

	do {
		path = ut_path_dir(a, path);
	} while (stat(path, &st) && strcmp(path, ".") && strcmp(path, "/"));
	return path;
}

static int check_lengths(const char *path, struct ut_err *err)
{
	size_t len;

	if (strlen(path) >= PATH_MAX)
		return out_check_complain(path, ENAMETOOLONG, err);
	for (const char *p = path; *p; p += len + (p[len] == '/')) {
		len = strcspn(p, "/");
		if (len > NAME_MAX)
			return out_check_complain(path, ENAMETOOLONG, err);
	}
	return 0;
}

/* The nearest folder that exists; 0 if a file of path's name can be made there. */
static int check_folder(struct ut_arena *a, const char *path, unsigned int flags,
			struct ut_err *err)
{
	const char *folder = ut_path_dir(a, path), *above = existing_folder(a, path);
	bool missing = strcmp(above, folder) != 0;
	struct stat st;
	int rc;

	if (!ut_path_base(path)[0])
		return ut_err_set(err, -EISDIR, "%s: a folder, not a file", path);
	if (!stat(above, &st) && !S_ISDIR(st.st_mode))
		return ut_err_set(err, -ENOTDIR, "%s: %s: %s is not a folder", path,
				  strerror(ENOTDIR), above);
	if (missing && !(flags & UT_OUT_MAKES_FOLDERS))
		return ut_err_set(err, -ENOENT, "%s: %s: there is no folder %s; make it first",
				  path, strerror(ENOENT), folder);
	rc = rehearse(ut_path_join(a, above, ut_path_base(path)), NULL, flags, NULL);
	return rc ? ut_err_set(err, rc, "%s: cannot write into %s: %s", path, above, strerror(-rc))
		  : 0;
}

static int check_new(const char *path, const struct ut_exporter *format, unsigned int flags,
		     struct ut_err *err)
{
	struct ut_arena a = { 0 };
	int rc = check_folder(&a, path, flags, err);

	if (!rc && format && ut_path_is_dir(ut_path_dir(&a, path)))
		rc = rehearse(path, format, flags, err);
	ut_arena_release(&a);
	return rc;
}

int ut_out_check(const char *path, const struct ut_exporter *format, unsigned int flags,
		 struct ut_err *err)
{
	struct stat st;
	int rc = check_lengths(path, err);

	if (rc)
		return rc;
	if (!path[0])
		return ut_err_set(err, -EINVAL, "the name of the result is empty");
	if (!strcmp(path, "-")) {
		rc = check_stdout(err);
		return rc ? rc : rehearse(path, format, flags, err);
	}
	if (stat(path, &st))
		return check_new(path, format, flags, err);
	if (S_ISDIR(st.st_mode))
		return ut_err_set(err, -EISDIR, "%s: a folder, not a file", path);
	/* Who opens a pipe and closes it again tells its reader that this was all. */
	if (S_ISFIFO(st.st_mode))
		return access(path, W_OK) ? out_check_complain(path, errno, err) : 0;
	rc = S_ISREG(st.st_mode) ? 0 : check_device(path, err);
	return rc ? rc : rehearse(path, format, flags, err);
}

int ut_out_check_folder(const char *path, struct ut_err *err)
{
	struct ut_arena a = { 0 };
	struct ut_err why = { 0 };
	struct stat st;
	int rc;

	if (!stat(path, &st) && !S_ISDIR(st.st_mode))
		return ut_err_set(err, -ENOTDIR, "%s: a file, not a folder", path);
	rc = ut_out_check(ut_path_join(&a, path, ".unitrace.check"), NULL,
			  UT_OUT_OVERWRITE | UT_OUT_MAKES_FOLDERS, &why);
	if (rc)
		ut_err_set(err, rc, "%s: cannot write there: %s", path, strerror(-rc));
	ut_arena_release(&a);
	return rc;
}
