#include "workbench/askpass.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/path.h"

#define PROMPT_MOST 1024u
#define SECRET_MOST 4096u
#define PATIENCE_S  5

/* In the name space of sockets that have no file. */
static socklen_t set_address(struct sockaddr_un *to, const char *name)
{
	size_t len = strnlen(name, sizeof(to->sun_path) - 1);

	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(to->sun_path + 1, name, len);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

int ut_askpass_open(struct ut_askpass *a, struct ut_err *err)
{
	struct sockaddr_un address;
	uint64_t random[2];
	socklen_t len;

	*a = UT_ASKPASS_NONE;
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return ut_err_set(err, -EIO, "there are no random numbers to be had");
	snprintf(a->name, sizeof(a->name), "unitrace-%016" PRIx64 "%016" PRIx64, random[0],
		 random[1]);
	len = set_address(&address, a->name);
	a->socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->socket_fd >= 0 && !bind(a->socket_fd, (struct sockaddr *)&address, len) &&
	    !listen(a->socket_fd, 4))
		return 0;
	ut_askpass_close(a);
	return ut_err_set(err, -EIO, "a password cannot be handed to ssh: %s", strerror(errno));
}

void ut_askpass_close(struct ut_askpass *a)
{
	if (a->socket_fd >= 0)
		close(a->socket_fd);
	*a = UT_ASKPASS_NONE;
}

bool ut_askpass_is_for_password(const char *prompt)
{
	return (strcasestr(prompt, "password") || strcasestr(prompt, "passphrase")) &&
	       !strcasestr(prompt, "yes/no");
}

/* A helper of the ssh that we have started ourselves: not one of a jump host's, which would get a
 * password that is none of its business. */
static bool is_child(int fd, pid_t parent)
{
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);
	char path[64], text[512] = "", *end;
	int above = -1;
	size_t got;
	FILE *f;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) || who.uid != geteuid())
		return false;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)who.pid);
	f = fopen(path, "re");
	got = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[got] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %d", &above) == 1 && above == (int)parent;
}

static ssize_t askpass_read_all(int fd, char *to, size_t room)
{
	size_t done = 0;
	ssize_t got;

	while (done + 1 < room && (got = read(fd, to + done, room - 1 - done)) != 0) {
		if (got < 0 && errno != EINTR)
			return -1;
		done += got > 0 ? (size_t)got : 0;
	}
	to[done] = '\0';
	return (ssize_t)done;
}

static bool askpass_send_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

void ut_askpass_answer(struct ut_askpass *a, pid_t parent, const char *secret)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	char prompt[PROMPT_MOST];
	/* cppcheck-suppress nullPointer */
	int fd = a->socket_fd >= 0 ? accept4(a->socket_fd, NULL, NULL, SOCK_CLOEXEC) : -1;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (secret && is_child(fd, parent) && askpass_read_all(fd, prompt, sizeof(prompt)) >= 0 &&
	    ut_askpass_is_for_password(prompt)) {
		if (!a->has_answered)
			a->has_answered = askpass_send_all(fd, secret, strlen(secret));
		else
			a->was_wrong |= strcasestr(prompt, "passphrase") != NULL;
	}
	close(fd);
}

/* ---- the helper ----------------------------------------------------------------------------- */

bool ut_askpass_is_meant(const char *argv0)
{
	return !strcmp(ut_path_base(argv0), UT_ASKPASS_NAME) && getenv(UT_ASKPASS_SETTING);
}

int ut_askpass_run(int argc, const char *const *argv, int to)
{
	const char *prompt = argc > 1 ? argv[1] : "", *name = getenv(UT_ASKPASS_SETTING);
	struct timeval patience = { .tv_sec = PATIENCE_S };
	char secret[SECRET_MOST];
	struct sockaddr_un address;
	socklen_t len = set_address(&address, name ? name : "");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ssize_t got = -1;

	if (fd < 0)
		return 1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&address, len) &&
	    askpass_send_all(fd, prompt, strnlen(prompt, PROMPT_MOST - 1)) &&
	    !shutdown(fd, SHUT_WR))
		got = askpass_read_all(fd, secret, sizeof(secret));
	close(fd);
	if (got > 0) {
		secret[got++] = '\n'; /* in place of the NUL */
		if (write(to, secret, (size_t)got) != got)
			got = -1;
	}
	explicit_bzero(secret, sizeof(secret));
	return got > 0 ? 0 : 1;
}
