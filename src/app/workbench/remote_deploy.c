#include "workbench/remote_deploy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/path.h"
#include "launch/library.h"
#include "text/out.h"
#include "text/tar.h"
#include "version.h"
#include "workbench/machines.h"
#include "workbench/remote_frames.h"
#include "workbench/ssh.h"

#define DEPTH     8
#define FILES     4096u
#define PIECE     (64u << 10)
#define ANSWER_MS 60000 /* of a machine that is slow to let people in */
#define SEND_MS   60000
#define LINE      1024

/*
 * What a shell there does; it is the same for all, and holds no quote of its kind and no backslash,
 * since nobody knows whose shell reads it first. The folder and the version come as lines of
 * standard input, and are never read as anything but text.
 */
#define FOLDERS                                                                                    \
	"IFS= read -r d; IFS= read -r m; umask 077; "                                              \
	"case $d in \"\") d=${XDG_CACHE_HOME:-$HOME/.cache}/unitrace;; "                           \
	"\"~\"/*) d=$HOME/${d#??};; esac; a=$d/agents/$m; "

static const char enter[] =
	"exec sh -c '" FOLDERS "if [ -x \"$a/bin/unitrace\" ]; then cd \"$d\" && "
	"exec \"$a/bin/unitrace\" serve --keep agent; "
	"else echo " UT_REMOTE_ABSENT "; uname -s; uname -m; fi'";

static const char copy[] =
	"exec sh -c '" FOLDERS "mkdir -p \"$d/agents\" \"$d/runs\" && "
	"n=$(mktemp -d \"$d/agents/new.XXXXXX\") && tar -xf - -C \"$n\" && "
	"chmod 700 \"$n/bin/unitrace\" && "
	"if [ -e \"$a\" ]; then rm -rf \"$n\"; else mv \"$n\" \"$a\"; fi && echo copied'";

/* ---- our files ------------------------------------------------------------------------------ */

struct file {
	const char *path, *as;
	uint64_t bytes;
};

struct files {
	struct ut_arena *arena;
	struct file *items;
	size_t count, cap;
	uint64_t bytes, mark;
	bool failed;
};

/* FNV-1a: which version it is, not a proof of anything. */
static void add_mark(struct files *f, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		f->mark = (f->mark ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
}

static void remote_deploy_add_file(struct files *f, const char *path, const char *as)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *piece = ut_make(PIECE);
	struct stat st;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || f->count == FILES) {
		f->failed = true;
	} else {
		add_mark(f, as, strlen(as));
		while ((got = read(fd, piece, PIECE)) > 0)
			add_mark(f, piece, (size_t)got);
		f->items = ut_grow(f->items, f->count + 1, &f->cap, sizeof(*f->items));
		f->items[f->count++] = (struct file){ path, as, (uint64_t)st.st_size };
		f->bytes += (uint64_t)st.st_size;
	}
	if (fd >= 0)
		close(fd);
	free(piece);
}

static int remote_deploy_is_shown(const struct dirent *e)
{
	return e->d_name[0] != '.' && strcmp(e->d_name, "__pycache__") != 0;
}

static void add_folder(struct files *f, const char *path, const char *as, int depth)
{
	struct dirent **list = NULL;
	int count = depth ? scandir(path, &list, remote_deploy_is_shown, alphasort) : 0;

	for (int i = 0; i < count; i++) {
		const char *from = ut_path_join(f->arena, path, list[i]->d_name);
		const char *to = ut_path_join(f->arena, as, list[i]->d_name);

		if (ut_path_is_dir(from))
			add_folder(f, from, to, depth - 1);
		else
			remote_deploy_add_file(f, from, to);
		free(list[i]);
	}
	free(list);
}

static int find_files(struct files *f, const char *program, struct ut_err *err)
{
	const char *library;
	int rc = ut_library_place(f->arena, &library, err);

	if (rc)
		return rc;
	f->mark = UINT64_C(14695981039346656037);
	remote_deploy_add_file(f, program, "bin/unitrace");
	remote_deploy_add_file(f, library, "lib/libunitrace.so");
	add_folder(f, ut_path_join(f->arena, ut_path_dir(f->arena, library), "unitrace"),
		   "lib/unitrace", DEPTH);
	return f->failed ? ut_err_set(err, -EIO, "our own files cannot be read, to be copied") : 0;
}

/* ---- copying -------------------------------------------------------------------------------- */

/* What was written to o until now. */
static int send_out(struct ut_ssh *s, struct ut_out *o)
{
	size_t len;
	const char *data = ut_out_data(o, &len);
	int rc = ut_ssh_send(s, data, len, SEND_MS);

	ut_out_clear(o);
	return rc;
}

static int send_file(struct ut_ssh *s, struct ut_out *o, const struct file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC), rc;
	char *piece = ut_make(PIECE);
	uint64_t left = file->bytes;

	ut_tar_head(o, file->as, file->bytes, 0);
	rc = send_out(s, o);
	while (!rc && left) {
		size_t want = left < PIECE ? (size_t)left : PIECE;
		ssize_t got = fd >= 0 ? read(fd, piece, want) : -1;

		rc = got > 0 ? ut_ssh_send(s, piece, (size_t)got, SEND_MS) : -EIO;
		left -= got > 0 ? (uint64_t)got : 0;
	}
	ut_tar_fill(o, file->bytes);
	if (!rc)
		rc = send_out(s, o);
	if (fd >= 0)
		close(fd);
	free(piece);
	return rc;
}

static int remote_deploy_send_all(struct ut_ssh *s, const struct files *f, const char *first)
{
	struct ut_out *o = ut_out_open_memory();
	int rc = ut_ssh_send(s, first, strlen(first), ANSWER_MS);

	for (size_t i = 0; !rc && i < f->count; i++)
		rc = send_file(s, o, &f->items[i]);
	ut_tar_end(o);
	if (!rc)
		rc = send_out(s, o);
	ut_out_abandon(o);
	return rc;
}

static int copy_there(const struct ut_ssh_opts *opts, const struct files *f, const char *first,
		      struct ut_err *err)
{
	struct ut_ssh_opts packed = *opts;
	struct ut_buf text = { 0 };
	struct ut_ssh s;
	int rc;

	packed.compress = true;
	rc = ut_ssh_start(&s, &packed, copy, err);
	if (rc)
		return rc;
	rc = remote_deploy_send_all(&s, f, first);
	if (ut_spawned_finish(&s.program, &text, SEND_MS, NULL) || rc || s.program.status ||
	    !text.len || !strstr(text.data, "copied")) {
		struct ut_err why = { 0 };

		rc = ut_ssh_why(&s, &why);
		rc = ut_err_set(err, rc, "our files could not be copied: %s", why.text);
	}
	ut_buf_release(&text);
	ut_ssh_release(&s);
	return rc;
}

/* ---- entering ------------------------------------------------------------------------------- */

/* The next line that it says. */
static int remote_deploy_read_line(struct ut_ssh *s, struct ut_remote_reader *r, char to[LINE],
				   struct ut_err *err)
{
	char piece[4096];
	ssize_t got;

	while (!ut_remote_reader_line(r, to, LINE)) {
		got = ut_ssh_receive(s, piece, sizeof(piece), ANSWER_MS);
		if (got == 0)
			return ut_err_set(err, -EHOSTUNREACH, "%s does not answer",
					  s->opts.target->host);
		if (got < 0)
			return ut_ssh_why(s, err);
		ut_remote_reader_add(r, piece, (size_t)got);
	}
	return 0;
}

/* *there: our agent is, and speaks. Otherwise the machine is one that it can be copied to. */
static int handshake(struct ut_ssh *s, const struct ut_ssh_opts *opts, struct ut_remote_reader *r,
		     const char *first, bool *there, struct ut_err *err)
{
	struct utsname us;
	char line[LINE] = "", kind[LINE] = "";
	int rc = ut_ssh_start(s, opts, enter, err);

	*there = false;
	if (rc)
		return rc;
	if (ut_ssh_send(s, first, strlen(first), ANSWER_MS)) {
		rc = ut_ssh_why(s, err);
		return rc;
	}
	while (!rc && !*there && strcmp(line, UT_REMOTE_ABSENT) != 0) {
		rc = remote_deploy_read_line(s, r, line, err);
		*there = !rc && !strcmp(line, UT_REMOTE_BEGIN);
	}
	if (rc || *there)
		return rc;
	uname(&us);
	rc = remote_deploy_read_line(s, r, line, err);
	if (!rc)
		rc = remote_deploy_read_line(s, r, kind, err);
	if (!rc && (strcmp(line, us.sysname) != 0 || strcmp(kind, us.machine) != 0))
		rc = ut_err_set(
			err, -ENOEXEC,
			"%s is a machine of another kind (%.40s %.40s) than this one (%s %s): "
			"run unitrace serve there",
			opts->target->host, line, kind, us.sysname, us.machine);
	return rc;
}

int ut_remote_open(struct ut_ssh *s, const struct ut_ssh_opts *opts, struct ut_remote_reader *r,
		   unsigned long long *copied, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct files f = { .arena = &arena };
	const char *first = "";
	bool there = false;
	int rc = find_files(&f, opts->program, err);

	*s = UT_SSH_NONE;
	first = ut_str_fmt(&arena, "%s\n" UT_VERSION "-%016" PRIx64 "\n", opts->target->folder,
			   f.mark);
	if (copied)
		*copied = 0;
	for (int tries = 0; !rc && !there && tries < 2; tries++) {
		ut_ssh_release(s);
		ut_remote_reader_release(r);
		rc = handshake(s, opts, r, first, &there, err);
		if (rc || there || tries)
			continue;
		rc = copy_there(opts, &f, first, err);
		if (copied)
			*copied = f.bytes;
	}
	if (!rc && !there)
		rc = ut_err_set(err, -ENOEXEC, "%s: our files were copied, and are not there",
				opts->target->host);
	if (rc)
		ut_ssh_release(s);
	free(f.items);
	ut_arena_release(&arena);
	return rc;
}
