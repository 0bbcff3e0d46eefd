#include "text/printed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"

#define MOST_COMPLAINT 4096u

extern char **environ;

struct child {
	pid_t pid;
	int out, err; /* our ends */
	size_t most;
	time_t until;
	struct ut_buf printed, complaint;
};

static int printed_start(struct child *c, const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	char *const *words;
	int out[2], err[2], rc;

	if (pipe2(out, O_CLOEXEC))
		return -errno;
	if (pipe2(err, O_CLOEXEC)) {
		rc = -errno;
		close(out[0]);
		close(out[1]);
		return rc;
	}
	memcpy(&words, &argv, sizeof(words)); /* spawn's prototype forgets that it only reads */
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_adddup2(&actions, err[1], 2);
	rc = -posix_spawnp(&c->pid, argv[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	close(err[1]);
	if (rc) {
		close(out[0]);
		close(err[0]);
	}
	c->out = out[0];
	c->err = err[0];
	return rc;
}

/* What is there to be read; false at the end of it. */
static bool printed_take(int fd, struct ut_buf *b, size_t most)
{
	char piece[16384];
	ssize_t n = read(fd, piece, sizeof(piece));
	size_t room = most > b->len ? most - b->len : 0;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	ut_buf_add(b, piece, (size_t)n < room ? (size_t)n : room);
	return n > 0;
}

/* Until it closes its output. 0, or why we shall not wait any longer. */
static int listen_to(struct child *c)
{
	struct pollfd p[2] = { { .fd = c->out, .events = POLLIN },
			       { .fd = c->err, .events = POLLIN } };

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (time(NULL) >= c->until)
			return -ETIMEDOUT;
		if (poll(p, 2, 1000) <= 0)
			continue;
		if (p[0].revents && !printed_take(c->out, &c->printed, c->most + 1))
			p[0].fd = -1;
		if (p[1].revents && !printed_take(c->err, &c->complaint, MOST_COMPLAINT))
			p[1].fd = -1;
		if (c->printed.len > c->most)
			return -EFBIG;
	}
	return 0;
}

/* The first line of what it complained about. */
static struct ut_str complaint(const struct child *c)
{
	struct ut_str s = ut_str_trim((struct ut_str){ c->complaint.data, c->complaint.len });
	const char *end = s.len ? memchr(s.ptr, '\n', s.len) : NULL;

	if (end)
		s.len = (size_t)(end - s.ptr);
	return s;
}

static int printed_evaluate(const struct child *c, const char *name, int rc, int status,
			    struct ut_err *err)
{
	struct ut_str why = complaint(c);

	if (rc == -ETIMEDOUT)
		return ut_err_set(err, rc, "%s: did not end in time", name);
	if (rc == -EFBIG)
		return ut_err_set(err, rc, "%s: prints over %zu MiB", name, c->most >> 20);
	if (WIFSIGNALED(status))
		return ut_err_set(err, -EIO, "%s: ended by signal %d", name, WTERMSIG(status));
	if (WEXITSTATUS(status))
		return ut_err_set(err, -EIO, "%s: failed with status %d: %.*s", name,
				  WEXITSTATUS(status), (int)why.len, why.ptr ? why.ptr : "");
	return 0;
}

int ut_printed(struct ut_str *text, struct ut_arena *a, const char *const *argv, size_t most,
	       unsigned int seconds, struct ut_err *err)
{
	struct child c = { .most = most, .until = time(NULL) + (time_t)seconds + 1 };
	int status = 0, rc = printed_start(&c, argv);

	if (rc)
		return ut_err_set(err, rc, "%s: %s", argv[0], strerror(-rc));
	rc = listen_to(&c);
	close(c.out);
	close(c.err);
	if (rc)
		kill(c.pid, SIGKILL);
	while (waitpid(c.pid, &status, 0) < 0 && errno == EINTR)
		;
	rc = printed_evaluate(&c, argv[0], rc, status, err);
	if (!rc) {
		text->len = c.printed.len;
		text->ptr = ut_buf_take(&c.printed, a);
	}
	ut_buf_release(&c.printed);
	ut_buf_release(&c.complaint);
	return rc;
}
