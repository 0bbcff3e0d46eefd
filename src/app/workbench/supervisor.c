/* supervisor.c - starting supervisors, and telling them what to do. */
#include "workbench/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workbench/data_dir.h"
#include "workbench/folder.h"

#define LOCK_FD  3 /* where a supervisor finds the file that it has locked */
#define FIRST_FD 10

/* The lock belongs to the open file: whoever has a copy of the descriptor has it. */
static int supervisor_lock(int at, struct ut_err *err)
{
	int low = ut_folder_open_file(at, UT_RESULT_FILE, NULL, err), fd;

	if (low < 0)
		return low;
	fd = fcntl(low, F_DUPFD_CLOEXEC, FIRST_FD);
	close(low);
	if (fd < 0)
		return ut_err_set(err, -errno, UT_RESULT_FILE ": %s", strerror(errno));
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	close(fd);
	return ut_err_set(err, -EBUSY, "a run is under way in it");
}

bool ut_supervisor_is_running(int at)
{
	int fd = ut_folder_open_file(at, UT_RESULT_FILE, NULL, NULL);
	bool kept;

	if (fd < 0)
		return false;
	kept = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return kept;
}

/* A pipe that holds the password, to be read once; without one, nothing at all. */
static int open_secret(const char *secret)
{
	int ends[2], fd;

	if (!secret)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (strlen(secret) >= UT_SUPERVISOR_SECRET_MAX || pipe2(ends, O_CLOEXEC))
		return -1;
	fd = write(ends[1], secret, strlen(secret)) == (ssize_t)strlen(secret)
		     ? fcntl(ends[0], F_DUPFD_CLOEXEC, 0)
		     : -1;
	close(ends[0]);
	close(ends[1]);
	return fd;
}

/* The new process goes on by itself: what is waited for is that it has begun. */
static int spawn(int at, const int fds[2], const char *program, const char *what,
		 struct ut_err *err)
{
	const char *words[] = { "unitrace", "serve", "--keep", what, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char *const *argv;
	int status = 0, rc;
	sigset_t none;
	pid_t pid;

	sigemptyset(&none);
	memcpy(&argv, &(const char **){ words }, sizeof(argv));
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addfchdir_np(&actions, at);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 0, 1);
	posix_spawn_file_actions_adddup2(&actions, 0, 2);
	posix_spawn_file_actions_adddup2(&actions, fds[0], LOCK_FD);
	posix_spawn_file_actions_adddup2(&actions, fds[1], UT_SUPERVISOR_SECRET_FD);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	rc = posix_spawn(&pid, program, &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (rc)
		return ut_err_set(err, -rc, "no process can be started: %s", strerror(rc));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? ut_err_set(err, -EIO, "the run could not be started") : 0;
}

static int supervisor_start(int at, const char *program, const char *what, const char *secret,
			    struct ut_err *err)
{
	int fds[2] = { supervisor_lock(at, err), -1 }, low, rc;

	if (fds[0] < 0)
		return fds[0];
	low = open_secret(secret);
	fds[1] = low < 0 ? low : fcntl(low, F_DUPFD_CLOEXEC, FIRST_FD);
	if (low >= 0)
		close(low);
	unlinkat(at, UT_SUPERVISOR_PIPE, 0);
	if (fds[1] < 0)
		rc = ut_err_set(err, -EINVAL, "the password is too long");
	else if (mkfifoat(at, UT_SUPERVISOR_PIPE, 0600))
		rc = ut_err_set(err, -errno, UT_SUPERVISOR_PIPE ": %s", strerror(errno));
	else
		rc = spawn(at, fds, program, what, err);
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	return rc;
}

int ut_supervisor_start(int at, const char *program, const char *secret, struct ut_err *err)
{
	return supervisor_start(at, program, "run", secret, err);
}

int ut_supervisor_recover(int at, const char *program, const char *secret, struct ut_err *err)
{
	return supervisor_start(at, program, "recover", secret, err);
}

int ut_supervisor_send(int at, enum ut_supervisor_command word, struct ut_err *err)
{
	static const char *const words[] = { "pause\n", "resume\n", "stop\n", "kill\n" };
	int fd = openat(at, UT_SUPERVISOR_PIPE, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd >= 0 && !fstat(fd, &st) && S_ISFIFO(st.st_mode))
		n = write(fd, words[word], strlen(words[word]));
	if (fd >= 0)
		close(fd);
	return n > 0 ? 0 : ut_err_set(err, -ESRCH, "nothing is under way in it");
}
