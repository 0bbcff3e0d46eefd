#include "site/viewers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/str.h"
#include "workbench/folder.h"
#include "workbench/result_traces.h"
#include "workbench/shelf.h"

#define BACKLOG        64
#define SOCKET_FD      "3" /* where the viewer finds its socket, ... */
#define BEFORE_FD      "4" /* ... and the folder of the run to compare with */
#define FIRST_FD       10  /* none of ours is where those go */
#define LAST_WORDS     600
#define END_MS         2000
#define CHANGE_MS      5000 /* that a question waits for the viewer of a recording to come */
#define CHANGE_TICK_MS 250
#define END_TICK_MS    20

struct viewer {
	char *project, *result, *before_project, *before_result; /* project NULL = free */
	pid_t pid;
	int lifeline; /* it ends when this is closed */
	int words;    /* a file in memory: what it says to its terminal */
	char path[108];
	int64_t asked; /* s */
	bool is_live;  /* it was given a recording that was under way */
};

struct ut_viewers {
	const struct ut_shelf *shelf;
	const char *program;
	bool code;
	pthread_mutex_t lock;
	struct viewer items[UT_VIEWERS_MOST];
	char folder[64]; /* of the sockets, for us alone */
	unsigned int started;
};

static int64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec;
}

int ut_viewers_open(struct ut_viewers **out, const struct ut_shelf *shelf, const char *program,
		    bool code, struct ut_err *err)
{
	struct ut_viewers *v = ut_make(sizeof(*v));

	*out = v;
	v->shelf = shelf;
	v->program = program;
	v->code = code;
	pthread_mutex_init(&v->lock, NULL);
	snprintf(v->folder, sizeof(v->folder), "/tmp/unitrace-serve-XXXXXX");
	if (mkdtemp(v->folder)) /* 0700 */
		return 0;
	v->folder[0] = '\0';
	ut_viewers_close(v);
	*out = NULL;
	return ut_err_set(err, -errno, "/tmp: no folder for sockets can be made: %s",
			  strerror(errno));
}

/* ---- the end of one ------------------------------------------------------------------------- */

static void forget(struct viewer *one)
{
	unlink(one->path);
	close(one->lifeline);
	close(one->words);
	free(one->project);
	free(one->result);
	free(one->before_project);
	free(one->before_result);
	*one = (struct viewer){ 0 };
}

static void end(struct viewer *one)
{
	int status;

	if (!one->project)
		return;
	kill(one->pid, SIGTERM);
	for (int waited = 0; waitpid(one->pid, &status, WNOHANG) == 0; waited += 10) {
		if (waited == END_MS)
			kill(one->pid, SIGKILL);
		poll(NULL, 0, 10);
	}
	forget(one);
}

void ut_viewers_close(struct ut_viewers *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < UT_VIEWERS_MOST; i++)
		end(&v->items[i]);
	if (v->folder[0])
		rmdir(v->folder);
	pthread_mutex_destroy(&v->lock);
	free(v);
}

/* Has it ended by itself? Then its place is free, and err has what it said last. */
static bool has_ended(struct viewer *one, struct ut_err *err)
{
	char words[LAST_WORDS + 1];
	ssize_t len;
	off_t size;
	int status;

	if (waitpid(one->pid, &status, WNOHANG) == 0)
		return false;
	size = lseek(one->words, 0, SEEK_END);
	len = pread(one->words, words, LAST_WORDS, size > LAST_WORDS ? size - LAST_WORDS : 0);
	words[len > 0 ? len : 0] = '\0';
	while (len > 0 && words[len - 1] == '\n')
		words[--len] = '\0';
	ut_err_set(err, -ECONNREFUSED, "%s", len > 0 ? words : "the viewer has ended");
	forget(one);
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

static void start_close(struct start *s)
{
	const int all[] = { s->socket, s->folder, s->before, s->lifeline[0] };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i] >= 0)
			close(all[i]);
	}
}

static int spawn(const struct ut_viewers *v, struct start *s, const char **words, pid_t *pid)
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
	rc = posix_spawn(pid, v->program, &actions, &attr, argv, environ);
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

static const char **make_words(struct ut_arena *a, const struct ut_result_traces *t, bool compares,
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
	if (compares) {
		words[n++] = "--compare";
		words[n++] = "/proc/self/fd/" BEFORE_FD;
	}
	words[n++] = "--";
	for (size_t i = 0; i < t->count; i++)
		words[n++] = t->names[i];
	if (!t->count)
		words[n++] = t->session;
	return words;
}

/* Opens all that a new viewer needs. */
static int prepare(struct ut_viewers *v, const struct ut_viewed *what, struct viewer *one,
		   struct start *s, struct ut_err *err)
{
	*s = (struct start){ -1, -1, -1, -1, { -1, -1 } };
	snprintf(one->path, sizeof(one->path), "%s/%u", v->folder, ++v->started);
	s->folder = move_up(ut_shelf_open_result(v->shelf, what->project, what->result, err));
	if (s->folder < 0)
		return s->folder;
	if (what->before_result) {
		s->before = move_up(ut_shelf_open_result(v->shelf, what->before_project,
							 what->before_result, err));
		if (s->before < 0)
			return s->before;
	}
	s->words = move_up(memfd_create("viewer", MFD_CLOEXEC));
	if (s->words < 0 || pipe2(s->lifeline, O_CLOEXEC))
		return ut_err_set(err, -errno, "no viewer can be started: %s", strerror(errno));
	s->lifeline[0] = move_up(s->lifeline[0]);
	s->socket = move_up(listen_at(one->path, err));
	return s->socket < 0 ? s->socket : 0;
}

static int start(struct ut_viewers *v, const struct ut_viewed *what, struct viewer *one,
		 struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_result_traces traces = { 0 };
	struct start s;
	int rc = prepare(v, what, one, &s, err);

	if (!rc)
		rc = ut_result_traces_find(s.folder, &arena, &traces, err);
	if (!rc && !traces.count && !traces.session)
		rc = ut_err_set(err, -ENODATA, "nothing was recorded here");
	if (!rc) {
		rc = spawn(v, &s, make_words(&arena, &traces, what->before_result != NULL, v->code),
			   &one->pid);
		if (rc)
			ut_err_set(err, rc, "no viewer can be started: %s", strerror(-rc));
	}
	start_close(&s);
	one->words = s.words;
	one->lifeline = s.lifeline[1];
	one->is_live = !rc && !traces.count;
	if (rc) {
		if (s.words >= 0)
			close(s.words);
		if (s.lifeline[1] >= 0)
			close(s.lifeline[1]);
		unlink(one->path);
		*one = (struct viewer){ 0 };
	}
	ut_arena_release(&arena);
	return rc;
}

/* ---- asking --------------------------------------------------------------------------------- */

static char *copied(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	return text ? memcpy(ut_make(size), text, size) : NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static struct viewer *find(struct ut_viewers *v, const struct ut_viewed *what)
{
	for (size_t i = 0; i < UT_VIEWERS_MOST; i++) {
		struct viewer *one = &v->items[i];

		if (one->project && is_same(one->project, what->project) &&
		    is_same(one->result, what->result) &&
		    is_same(one->before_project, what->before_project) &&
		    is_same(one->before_result, what->before_result))
			return one;
	}
	return NULL;
}

/* A free place; the one that was asked least lately ends if there is none. */
static struct viewer *make_room(struct ut_viewers *v)
{
	struct viewer *oldest = &v->items[0];

	for (size_t i = 0; i < UT_VIEWERS_MOST; i++) {
		if (!v->items[i].project)
			return &v->items[i];
		if (v->items[i].asked < oldest->asked)
			oldest = &v->items[i];
	}
	end(oldest);
	return oldest;
}

/* A recording that was looked at has become files, with more in them than it had. */
static bool is_outlived(struct ut_viewers *v, const struct viewer *one)
{
	struct ut_arena arena = { 0 };
	struct ut_result_traces traces;
	int at =
		one->is_live ? ut_shelf_open_result(v->shelf, one->project, one->result, NULL) : -1;
	bool outlived =
		at >= 0 && !ut_result_traces_find(at, &arena, &traces, NULL) && !traces.session;

	if (at >= 0)
		close(at);
	ut_arena_release(&arena);
	return outlived;
}

/* With the lock. -EAGAIN: that of a recording has ended, and err has its last words. */
static int find_or_start(struct ut_viewers *v, const struct ut_viewed *what, struct viewer **out,
			 struct ut_err *err)
{
	struct viewer *one = find(v, what);
	bool is_live;
	int rc;

	if (one && is_outlived(v, one)) {
		end(one);
		one = NULL;
	}
	*out = one;
	is_live = one && one->is_live;
	if (one && has_ended(one, err))
		return is_live ? -EAGAIN : -ECONNREFUSED;
	if (one)
		return 0;
	one = make_room(v);
	rc = start(v, what, one, err);
	if (rc)
		return rc;
	one->project = copied(what->project);
	one->result = copied(what->result);
	one->before_project = copied(what->before_project);
	one->before_result = copied(what->before_result);
	*out = one;
	return 0;
}

/* With the lock. A connection to it; -EAGAIN as above. */
static int reach(struct viewer *one, struct ut_err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;
	bool is_live = one->is_live;

	one->asked = now_s();
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", one->path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		rc = -errno;
	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	/* its socket is there as long as it is: it is about to end */
	if (has_ended(one, err))
		return is_live ? -EAGAIN : rc;
	return ut_err_set(err, rc, "the viewer does not answer: %s", strerror(-rc));
}

/* The viewer of a recording ends if it comes before the first process does: then there is another
 * one to ask soon, or the files that the recording has become. */
int ut_viewers_connect(struct ut_viewers *v, const struct ut_viewed *what, struct ut_err *err)
{
	struct viewer *one;
	int left = CHANGE_MS, rc;

	for (;;) {
		pthread_mutex_lock(&v->lock);
		rc = find_or_start(v, what, &one, err);
		if (!rc)
			rc = reach(one, err);
		pthread_mutex_unlock(&v->lock);
		if (rc != -EAGAIN || left <= 0)
			break;
		poll(NULL, 0, CHANGE_TICK_MS);
		left -= CHANGE_TICK_MS;
	}
	return rc == -EAGAIN ? -ECONNREFUSED : rc;
}

int ut_viewers_farewell(struct ut_viewers *v, const struct ut_viewed *what, struct ut_err *err)
{
	for (int left = CHANGE_MS; left > 0; left -= END_TICK_MS) {
		struct viewer *one;
		bool is_live, ended;

		pthread_mutex_lock(&v->lock);
		one = find(v, what);
		is_live = one && one->is_live;
		ended = one && has_ended(one, err);
		pthread_mutex_unlock(&v->lock);
		if (ended && !is_live)
			return -ECONNREFUSED;
		if (ended || !one)
			break;
		poll(NULL, 0, END_TICK_MS);
	}
	return -EAGAIN;
}

void ut_viewers_drop(struct ut_viewers *v, const char *project, const char *result)
{
	pthread_mutex_lock(&v->lock);
	for (size_t i = 0; i < UT_VIEWERS_MOST; i++) {
		struct viewer *one = &v->items[i];

		if (!one->project)
			continue;
		if ((!strcmp(one->project, project) && (!result || !strcmp(one->result, result))) ||
		    (one->before_project && !strcmp(one->before_project, project) &&
		     (!result || is_same(one->before_result, result))))
			end(one);
	}
	pthread_mutex_unlock(&v->lock);
}

void ut_viewers_tidy(struct ut_viewers *v)
{
	int64_t now = now_s();

	pthread_mutex_lock(&v->lock);
	for (size_t i = 0; i < UT_VIEWERS_MOST; i++) {
		if (v->items[i].project && now - v->items[i].asked > UT_VIEWERS_IDLE)
			end(&v->items[i]);
	}
	pthread_mutex_unlock(&v->lock);
}
