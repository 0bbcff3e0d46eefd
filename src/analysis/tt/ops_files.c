#include "tt/ops_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/logger.h"
#include "base/opt.h"
#include "base/path.h"
#include "text/out.h"
#include "text/tar.h"

const char *ut_ops_files_parent(struct ut_arena *a, const char *folder)
{
	size_t len = strlen(folder);
	const char *base;

	while (len > 1 && folder[len - 1] == '/')
		len--;
	folder = ut_arena_copy(a, folder, len);
	base = ut_path_base(folder);
	return strcmp(base, ".") && strcmp(base, "..") ? ut_path_dir(a, folder)
						       : ut_path_join(a, folder, "..");
}

/* ---- every file below a folder --------------------------------------------------------------- */

struct walk {
	const struct ut_logger *logger;
	const char *folder;
	bool deep; /* with the folders in it */
	struct ut_arena arena;
	struct ut_opt_list names; /* folders and files still to be looked at, below folder */
	void (*file)(struct walk *w, const char *name);
	struct ut_out *out; /* of pack_file() */
	const char *to;     /* of copy_below() */
};

static void list_entries(struct walk *w, const char *below)
{
	DIR *dir = opendir(ut_path_join(&w->arena, w->folder, below));
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			ut_opt_list_add(&w->names, ut_path_join(&w->arena, below, entry->d_name));
	}
	if (dir)
		closedir(dir);
}

static void walk_files(struct walk *w)
{
	struct stat st;

	list_entries(w, "");
	for (size_t i = 0; i < w->names.count; i++) {
		const char *name = w->names.items[i];

		if (lstat(ut_path_join(&w->arena, w->folder, name), &st))
			continue;
		if (S_ISDIR(st.st_mode) && w->deep)
			list_entries(w, name);
		else if (S_ISREG(st.st_mode))
			w->file(w, name);
	}
	ut_opt_list_release(&w->names);
	ut_arena_release(&w->arena);
}

/* ---- packing --------------------------------------------------------------------------------- */

static void pack_file(struct walk *w, const char *name)
{
	struct ut_err err = { 0 };

	if (ut_tar_add(w->out, w->folder, name, &err))
		ut_logger_log(w->logger, UT_WARN, "not in the tarball: %s", err.text);
}

int ut_ops_files_pack(const char *folder, bool deep, const char *path,
		      const struct ut_logger *logger, struct ut_err *err)
{
	struct walk w = { .logger = logger,
			  .folder = folder,
			  .deep = deep,
			  .file = pack_file,
			  .out = ut_out_open(path, UT_OUT_OVERWRITE) };

	walk_files(&w);
	ut_tar_end(w.out);
	return ut_out_commit(w.out, err);
}

/* ---- copying --------------------------------------------------------------------------------- */

#define PIECE 65536u

static int copy_bytes(int fd, struct ut_out *out)
{
	ssize_t got;

	do {
		char *p = ut_out_reserve(out, PIECE);

		got = read(fd, p, PIECE);
		if (got > 0)
			ut_out_advance(out, p + got);
	} while (got > 0 || (got < 0 && errno == EINTR));
	return got ? -errno : 0;
}

static bool is_same(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void copy_file(const struct ut_logger *logger, const char *from, const char *to)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -errno : 0;
	struct ut_err err = { 0 };
	struct ut_out *out;

	if (rc == -ENOENT || (!rc && is_same(fd, to))) {
		if (!rc)
			close(fd);
		return;
	}
	out = ut_out_open(to, UT_OUT_OVERWRITE);
	rc = rc ? rc : copy_bytes(fd, out);
	if (fd >= 0)
		close(fd);
	if (rc) {
		ut_err_set(&err, rc, "%s: %s", from, strerror(-rc));
		ut_out_abandon(out);
	} else {
		rc = ut_out_commit(out, &err);
	}
	if (rc)
		ut_logger_log(logger, UT_WARN, "not copied: %s", err.text);
}

static void copy_below(struct walk *w, const char *name)
{
	const char *to = ut_path_join(&w->arena, w->to, name);
	struct ut_err err = { 0 };

	if (ut_path_mkdirs(ut_path_dir(&w->arena, to), &err))
		ut_logger_log(w->logger, UT_WARN, "not copied: %s", err.text);
	else
		copy_file(w->logger, ut_path_join(&w->arena, w->folder, name), to);
}

void ut_ops_files_copy(const char *logs, const char *to, const struct ut_logger *logger)
{
	static const char *const names[] = { "tracy_profile_log_host.tracy",
					     "profile_log_device.csv" };
	struct ut_arena a = { 0 };
	struct walk npe = { .logger = logger, .deep = true, .file = copy_below };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		copy_file(logger, ut_path_join(&a, logs, names[i]), ut_path_join(&a, to, names[i]));
	npe.folder = ut_path_join(&a, ut_ops_files_parent(&a, logs), "npe_viz");
	npe.to = ut_path_join(&a, to, "npe_viz");
	if (ut_path_is_dir(npe.folder))
		walk_files(&npe);
	ut_arena_release(&a);
}
