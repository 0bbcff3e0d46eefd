#include "launch/control_watch.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "wire/control.h"

int ut_control_watch(const char *session_dir)
{
	char path[PATH_MAX];
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/" UT_CONTROL_FILE, session_dir);
	if (inotify_add_watch(fd, path, IN_CLOSE) >= 0)
		return fd;
	close(fd);
	return -1;
}

enum ut_control_access ut_control_watch_result(int fd)
{
	enum ut_control_access heard = fd < 0 ? UT_CONTROL_ACCESS_UNKNOWN : UT_CONTROL_ACCESS_NONE;
	char buf[1024];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= n;) {
			struct inotify_event e;

			memcpy(&e, buf + at, sizeof(e));
			if (e.mask & IN_CLOSE_WRITE)
				heard = UT_CONTROL_ACCESS_WRITE;
			else if (e.mask & IN_CLOSE_NOWRITE && heard != UT_CONTROL_ACCESS_WRITE)
				heard = UT_CONTROL_ACCESS_READ;
			at += (ssize_t)(sizeof(e) + e.len);
		}
	}
	return heard;
}
