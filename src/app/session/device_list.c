#include "session/device_list.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "unitrace/backend.h"
#include "wire/control.h"

#define PATIENCE_S 20

/* ---- in the child: answers go through a pipe, a line each ---------------------------------- */

/* Texts of drivers may hold anything. */
static void send_line(int fd, char kind, const char *text)
{
	char line[1400];
	size_t len = (size_t)snprintf(line, sizeof(line) - 1, "%c%s", kind, text);

	len = len < sizeof(line) - 2 ? len : sizeof(line) - 2;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)line[i] < ' ')
			line[i] = ' ';
	}
	line[len++] = '\n';
	if (write(fd, line, len) != (ssize_t)len)
		_exit(1);
}

static void send_device(int fd, unsigned int index, const char *label, const char *name)
{
	char text[560];

	/* The number that --devices-to-sample takes: each runtime has its own from 0 on. */
	snprintf(text, sizeof(text), "%u: [%.100s] %.400s", index, label ? label : "",
		 name ? name : "?");
	send_line(fd, 'D', text);
}

static void on_device(void *ctx, const struct ut_device *d)
{
	if (d->size >= offsetof(struct ut_device, label) + sizeof(d->label))
		send_device(*(const int *)ctx, d->index, d->label, d->name);
}

static void on_metric(void *ctx, const struct ut_driver_metric *m)
{
	char text[1300];
	int fd = *(const int *)ctx;

	if (m->size < offsetof(struct ut_driver_metric, type) + sizeof(m->type))
		return;
	if (!m->number) {
		snprintf(text, sizeof(text), "%.250s (%.500s%s%s)", m->group,
			 m->group_about ? m->group_about : m->group, m->only ? "; " : "",
			 m->only ? m->only : "");
		send_line(fd, 'G', text);
	}
	snprintf(text, sizeof(text), "%u: %.250s%s%.60s%s%s%.500s%s [%.60s, %.250s]", m->number,
		 m->name, m->unit ? "[" : "", m->unit ? m->unit : "", m->unit ? "]" : "",
		 m->about ? " (" : "", m->about ? m->about : "", m->about ? ")" : "", m->type,
		 m->group);
	send_line(fd, 'M', text);
}

static void on_nothing(void *ctx, const struct ut_device *d)
{
	(void)ctx;
	(void)d;
}

/* Version 1 of the contract: its structs had no size. */
struct device_v1 {
	const char *name, *label;
	uint32_t index, reserved;
};

struct probe_v1 {
	void (*device)(void *ctx, const struct device_v1 *device);
	void *ctx;
	char why[256];
};

static void on_device_v1(void *ctx, const struct device_v1 *d)
{
	send_device(*(const int *)ctx, d->index, d->label, d->name);
}

static void probe_v1(const struct ut_backend *b, int fd)
{
	struct probe_v1 probe = { .device = on_device_v1, .ctx = &fd };
	union {
		int (*today)(struct ut_probe *);
		int (*then)(struct probe_v1 *);
	} f = { .today = b->probe };

	if (f.then(&probe))
		send_line(fd, 'W', probe.why[0] ? probe.why : "no device found");
}

static void probe_today(const struct ut_backend *b, int fd, const struct ut_device_listener *to)
{
	struct ut_probe probe = { .size = sizeof(probe),
				  .device = to->device ? on_device : on_nothing,
				  .metric = to->group ? on_metric : NULL,
				  .ctx = &fd };

	if (b->probe(&probe))
		send_line(fd, 'W', probe.why[0] ? probe.why : "no device found");
}

static bool is_asked(const struct ut_backend *b)
{
	return b && (b->version == 1 || b->version == UT_BACKEND_VERSION) &&
	       b->size >= offsetof(struct ut_backend, probe) + sizeof(b->probe) && b->probe;
}

static _Noreturn void device_list_ask(const char *path, int fd, const struct ut_device_listener *to)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct ut_backend *b = library ? dlsym(library, "unitrace_backend") : NULL;

	if (!library)
		send_line(fd, 'W', dlerror());
	else if (!is_asked(b))
		send_line(fd, 'W', "not a backend of this version");
	else if (b->version != 1)
		probe_today(b, fd, to);
	else if (to->device)
		probe_v1(b, fd);
	_exit(0);
}

static _Noreturn void become_probe(const char *path, int fd, const struct ut_device_listener *to)
{
	const struct rlimit none = { 0, 0 };
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	unsetenv(UT_SESSION_ENV);
	setrlimit(RLIMIT_CORE, &none);
	for (int i = 0; i < 3 && nowhere >= 0; i++)
		dup2(nowhere, i);
	device_list_ask(path, fd, to);
}

/* ---- here ---------------------------------------------------------------------------------- */

struct answers {
	const struct ut_device_listener *to;
	const char *name;     /* of the backend */
	unsigned int devices; /* so far, of all backends */
	bool explained;
};

static void device_list_take_line(struct answers *a, const char *line)
{
	if (line[0] == 'D') {
		a->to->device(a->to->ctx, line + 1);
		a->devices++;
		a->explained = true;
	} else if (line[0] == 'G') {
		a->to->group(a->to->ctx, line + 1);
	} else if (line[0] == 'M') {
		a->to->metric(a->to->ctx, line + 1);
	} else if (line[0] == 'W' && a->to->device) {
		ut_logger_log(a->to->logger, UT_INFO, "%s: %s", a->name, line + 1);
		a->explained = true;
	}
}

/* Lines until the end, or until patience is. False = it hangs. */
static bool read_answers(int fd, struct answers *a)
{
	time_t until = time(NULL) + PATIENCE_S;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[4096];
	size_t have = 0;

	while (time(NULL) < until) {
		ssize_t n =
			poll(&p, 1, 1000) > 0 ? read(fd, buf + have, sizeof(buf) - 1 - have) : -1;
		char *end;

		if (n == 0)
			return true;
		have += n > 0 ? (size_t)n : 0;
		buf[have] = '\0';
		while ((end = strchr(buf, '\n'))) {
			*end++ = '\0';
			device_list_take_line(a, buf);
			have -= (size_t)(end - buf);
			memmove(buf, end, have + 1);
		}
		if (have == sizeof(buf) - 1)
			have = 0; /* nobody of ours writes such a line */
	}
	return false;
}

static void ask_backend(const char *path, struct answers *a)
{
	int ends[2], status = 0;
	bool hangs;
	pid_t pid;

	fflush(NULL); /* what was told so far comes before what a driver says */
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (pid == 0)
		become_probe(path, ends[1], a->to);
	close(ends[1]);
	if (pid > 0) {
		hangs = !read_answers(ends[0], a);
		if (hangs)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (hangs)
			ut_logger_log(a->to->logger, UT_WARN, "%s: the driver does not answer",
				      a->name);
		else if (WIFSIGNALED(status))
			ut_logger_log(a->to->logger, UT_WARN, "%s: the driver crashes (%s)",
				      a->name, strsignal(WTERMSIG(status)));
		else if (!a->explained && a->to->device)
			ut_logger_log(a->to->logger, UT_INFO, "%s: no device found", a->name);
	}
	close(ends[0]);
}

/* null has a device only in tests; the others belong to libraries, which run on devices of others
 */
static int is_backend(const struct dirent *e)
{
	static const char *const without[] = { "null.so", "memory.so", "mpi.so", "nccl.so",
					       "sycl.so" };

	for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++) {
		if (!strcmp(e->d_name, without[i]))
			return 0;
	}
	return ut_str_ends(e->d_name, ".so");
}

unsigned int ut_device_list(struct ut_arena *a, const char *folder,
			    const struct ut_device_listener *listener)
{
	struct dirent **list = NULL;
	int count = scandir(folder, &list, is_backend, alphasort);
	struct answers answers = { .to = listener };

	for (int i = 0; i < count; i++) {
		char *name = list[i]->d_name;
		const char *path = ut_path_join(a, folder, name);

		name[strlen(name) - strlen(".so")] = '\0';
		answers.name = name;
		answers.explained = false;
		ask_backend(path, &answers);
		free(list[i]);
	}
	free(list);
	if (count <= 0 && listener->device)
		ut_logger_log(listener->logger, UT_WARN,
			      "%s: no backends there; this unitrace was built without any", folder);
	return answers.devices;
}
