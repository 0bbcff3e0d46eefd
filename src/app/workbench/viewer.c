#include "workbench/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "workbench/data_dir.h"
#include "workbench/result_traces.h"

#define BACKLOG    64
#define SOCKET_FD  "3" /* where the viewer finds its socket, ... */
#define BEFORE_FD  "4" /* ... and the folder of the run to compare with */
#define FIRST_FD   10  /* none of ours is where those go */
#define LAST_WORDS 600
#define END_MS     2000

/* ---- the end -------------------------------------------------------------------------------- */

static void viewer_forget(struct ut_viewer *v)
{
	unlink(v->path);
	close(v->lifeline);
	close(v->words);
	*v = (struct ut_viewer){ 0 };
}

void ut_viewer_end(struct ut_viewer *v)
{
	int status;

	if (!v->pid)
		return;
	kill(v->pid, SIGTERM);
	for (int waited = 0; waitpid(v->pid, &status, WNOHANG) == 0; waited += 10) {
		if (waited == END_MS)
			kill(v->pid, SIGKILL);
		poll(NULL, 0, 10);
	}
	viewer_forget(v);
}

bool ut_viewer_has_ended(struct ut_viewer *v, struct ut_err *err)
{
	char words[LAST_WORDS + 1];
	ssize_t len;
	off_t size;
	int status;

	if (waitpid(v->pid, &status, WNOHANG) == 0)
		return false;
	size = lseek(v->words, 0, SEEK_END);
	len = pread(v->words, words, LAST_WORDS, size > LAST_WORDS ? size - LAST_WORDS : 0);
	words[len > 0 ? len : 0] = '\0';
	while (len > 0 && words[len - 1] == '\n')
		words[--len] = '\0';
	ut_err_set(err, -ECONNREFUSED, "%s", len > 0 ? words : "the viewer has ended");
	viewer_forget(v);
	return true;
}

/* ---- the beginning -------------------------------------------------------------------------- */

static int listen_at(const char *path, struct ut_err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), code;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, BACKLOG))
		return fd;
	code = errno;
	if (fd >= 0)
		close(fd);
	return ut_err_set(err, -code, "%s: %s", path, strerror(code));
}

/* What the new process needs; all but lifeline[1] and words are closed when it runs. */
struct start {
	int socket, folder, before, words;
	int lifeline[2];
};

static void close_all(const int *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (all[i] >= 0)
			close(all[i]);
	}
}

static int spawn(const char *program, struct start *s, const char **words, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char *const *argv;
	sigset_t none;
	int rc;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addfchdir_np(&actions, s->folder);
	posix_spawn_file_actions_adddup2(&actions, s->lifeline[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, s->words, 1);
	posix_spawn_file_actions_adddup2(&actions, s->words, 2);
	posix_spawn_file_actions_adddup2(&actions, s->socket, atoi(SOCKET_FD));
	if (s->before >= 0)
		posix_spawn_file_actions_adddup2(&actions, s->before, atoi(BEFORE_FD));
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0); /* Ctrl-C is ours; we end them */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	memcpy(&argv, &words, sizeof(argv)); /* its prototype forgets that it only reads */
	rc = posix_spawn(pid, program, &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return -rc;
}

/* Where it is in nobody's way; the old number is closed. */
static int move_up(int fd)
{
	int to = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);

	if (fd >= 0)
		close(fd);
	return to;
}

static int copy_up(int fd)
{
	return fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
}

static const char **make_words(struct ut_arena *a, const struct ut_result_traces *t, int before,
			       bool code)
{
	const char **words = UT_NEW_N(a, const char *, t->count + 11);
	size_t n = 0;

	words[n++] = "unitrace";
	words[n++] = "view";
	words[n++] = "--socket-fd";
	words[n++] = SOCKET_FD;
	if (code)
		words[n++] = "--show-code";
	if (before >= 0) { /* an import has its files in a folder of their own */
		words[n++] = "--compare";
		words[n++] = faccessat(before, UT_UPLOADS, F_OK, AT_SYMLINK_NOFOLLOW)
				     ? "/proc/self/fd/" BEFORE_FD
				     : "/proc/self/fd/" BEFORE_FD "/" UT_UPLOADS;
	}
	words[n++] = "--";
	for (size_t i = 0; i < t->count; i++)
		words[n++] = t->names[i];
	if (!t->count)
		words[n++] = t->session;
	return words;
}

/* Opens all that a new viewer needs. */
static int viewer_prepare(const struct ut_viewer_opts *o, struct start *s, struct ut_err *err)
{
	*s = (struct start){ -1, copy_up(o->folder), copy_up(o->before), -1, { -1, -1 } };
	s->words = move_up(memfd_create("viewer", MFD_CLOEXEC));
	if (s->folder < 0 || s->words < 0 || pipe2(s->lifeline, O_CLOEXEC))
		return ut_err_set(err, -errno, "no viewer can be started: %s", strerror(errno));
	s->lifeline[0] = move_up(s->lifeline[0]);
	s->socket = move_up(listen_at(o->path, err));
	return s->socket < 0 ? s->socket : 0;
}

int ut_viewer_start(struct ut_viewer *v, const struct ut_viewer_opts *o, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_result_traces traces = { 0 };
	struct start s;
	int rc = ut_result_traces_find(o->folder, &arena, &traces, err);

	*v = (struct ut_viewer){ 0 };
	if (!rc && !traces.count && !traces.session)
		rc = ut_err_set(err, -ENODATA, "nothing was recorded here");
	if (rc) {
		ut_arena_release(&arena);
		return rc;
	}
	rc = viewer_prepare(o, &s, err);
	if (!rc) {
		rc = spawn(o->program, &s, make_words(&arena, &traces, s.before, o->code), &v->pid);
		if (rc)
			ut_err_set(err, rc, "no viewer can be started: %s", strerror(-rc));
	}
	close_all((const int[]){ s.socket, s.folder, s.before, s.lifeline[0] }, 4);
	v->words = s.words;
	v->lifeline = s.lifeline[1];
	v->is_live = !traces.count;
	snprintf(v->path, sizeof(v->path), "%s", o->path);
	if (rc) {
		close_all((const int[]){ s.words, s.lifeline[1] }, 2);
		unlink(o->path);
		*v = (struct ut_viewer){ 0 };
	}
	ut_arena_release(&arena);
	return rc;
}

/* ---- asking --------------------------------------------------------------------------------- */

int ut_viewer_connect(const struct ut_viewer *v)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", v->path);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc;
}
