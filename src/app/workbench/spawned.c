#include "workbench/spawned.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"

#define TEXT_MOST (1u << 20)
#define LOOK_MS   20
#define FIRST_FD  10 /* pipes lie above what the program itself gets */

extern char **environ;

/* Ours without those that are set anew, and these. The texts are not copied. */
static const char **join_settings(const char *const *settings)
{
	size_t ours = 0, count = 0, added = 0;
	const char **all;

	while (environ[ours])
		ours++;
	while (settings[added])
		added++;
	all = ut_make((ours + added + 1) * sizeof(*all));
	for (size_t i = 0; i < ours; i++) {
		bool anew = false;

		for (size_t k = 0; k < added; k++)
			anew |= !strncmp(environ[i], settings[k], strcspn(settings[k], "=") + 1);
		if (!anew)
			all[count++] = environ[i];
	}
	memcpy(all + count, settings, added * sizeof(*all));
	return all;
}

/* A pipe whose ends are out of the way of 0, 1 and 2. */
static int open_pipe(int ends[2])
{
	int low[2];

	ends[0] = ends[1] = -1;
	if (pipe2(low, O_CLOEXEC))
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FIRST_FD);
		close(low[i]);
	}
	return ends[0] < 0 || ends[1] < 0 ? -EMFILE : 0;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Descriptors of ours have all been opened for us alone, so the new program gets only these. */
static int spawn(struct ut_spawned *p, const char *const *words, int at, const char **settings,
		 int theirs[3])
{
	posix_spawn_file_actions_t actions;
	char *const *argv, *const *envp;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	int rc;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGHUP);
	memcpy(&argv, &words, sizeof(argv)); /* its prototype forgets that it only reads */
	memcpy(&envp, &settings, sizeof(envp));
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addfchdir_np(&actions, at);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	rc = posix_spawnp(&p->pid, words[0], &actions, &attr, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return -rc;
}

int ut_spawned_start(struct ut_spawned *p, const char *const *words, int at,
		     const char *const *settings, struct ut_err *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, said[2] = { -1, -1 }, rc;
	const char **all = join_settings(settings);

	*p = UT_SPAWNED_NONE;
	rc = open_pipe(in);
	rc = rc ? rc : open_pipe(out);
	rc = rc ? rc : open_pipe(said);
	rc = rc ? rc : spawn(p, words, at, all, (int[]){ in[0], out[1], said[1] });
	free(all);
	shut(&in[0]);
	shut(&out[1]);
	shut(&said[1]);
	if (rc) {
		p->pid = 0;
		shut(&in[1]);
		shut(&out[0]);
		shut(&said[0]);
		return ut_err_set(err, rc, "%s: cannot be started: %s", words[0], strerror(-rc));
	}
	p->in = in[1];
	p->out = out[0];
	p->err = said[0];
	fcntl(p->in, F_SETFL, O_NONBLOCK);
	fcntl(p->out, F_SETFL, O_NONBLOCK);
	fcntl(p->err, F_SETFL, O_NONBLOCK);
	return 0;
}

void ut_spawned_listen(struct ut_spawned *p)
{
	char text[1024];
	ssize_t got;

	while (p->err >= 0 && (got = read(p->err, text, sizeof(text))) > 0) {
		if (p->said.len + (size_t)got > UT_SPAWNED_SAID)
			p->said.len = 0; /* what it said last tells why it ended */
		ut_buf_add(&p->said, text, (size_t)got);
	}
}

static void read_out(const struct ut_spawned *p, struct ut_buf *text)
{
	char some[4096];
	ssize_t got;

	while (p->out >= 0 && (got = read(p->out, some, sizeof(some))) > 0) {
		if (text->len < TEXT_MOST)
			ut_buf_add(text, some, (size_t)got);
	}
}

int ut_spawned_finish(struct ut_spawned *p, struct ut_buf *text, int ms, struct ut_err *err)
{
	pid_t ended = 0;

	shut(&p->in);
	for (int waited = 0; p->pid && waited <= ms; waited += LOOK_MS) {
		struct pollfd fds[2] = { { .fd = p->out, .events = POLLIN },
					 { .fd = p->err, .events = POLLIN } };

		ended = waitpid(p->pid, &p->status, WNOHANG);
		read_out(p, text);
		ut_spawned_listen(p);
		if (ended)
			break;
		poll(fds, 2, LOOK_MS);
		if ((fds[0].revents | fds[1].revents) & POLLHUP)
			poll(NULL, 0,
			     LOOK_MS); /* about to end: its pipes would be ready for ever */
	}
	if (ended) {
		p->pid = 0;
		return 0;
	}
	return ut_err_set(err, -ETIMEDOUT, "there was no answer within %d s", ms / 1000);
}

void ut_spawned_release(struct ut_spawned *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
			;
	}
	shut(&p->in);
	shut(&p->out);
	shut(&p->err);
	ut_buf_release(&p->said);
	*p = UT_SPAWNED_NONE;
}
