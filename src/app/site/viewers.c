#include "site/viewers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/str.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"
#include "workbench/remote_run.h"
#include "workbench/result_traces.h"
#include "workbench/viewer.h"

#define CHANGE_MS      5000 /* that a question waits for the viewer of a recording to come */
#define CHANGE_TICK_MS 250
#define END_TICK_MS    20
#define SOCKETS_TOP    "/tmp"
#define SOCKETS_NAME   "unitrace-serve-"
#define LOCK_FILE      "lock"

struct viewer {
	char *project, *result, *before_project, *before_result; /* project NULL = free */
	struct ut_viewer process;
	int folder, before; /* what it shows; open, so that no other folder gets their numbers */
	int64_t asked;      /* ms */
	bool is_early;      /* there were files, but not all: the run had not ended */
};

struct ut_viewers {
	const struct ut_data_dir *data_dir;
	const char *program;
	bool code;
	pthread_mutex_t lock;
	struct viewer items[UT_VIEWERS_MOST];
	char folder[64]; /* of the sockets, for us alone */
	int alive;       /* the lock in it, which says that we are; < 0 = none */
	unsigned int started;
};

static int64_t viewers_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the folder of sockets ------------------------------------------------------------------ */

/* Whoever has this file locked is alive. A lock ends with its owner, in whatever way, and unlike
 * the number of a process it is never somebody else's later. */
static int lock_folder(int folder, bool make)
{
	int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0);
	int fd = openat(folder, LOCK_FILE, flags, 0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	/* a server that starts at the same time may have taken it for one that was left */
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink)
		return fd;
	close(fd);
	return -EBUSY;
}

/* Folders of servers that were killed. Those of others, links, and folders without a lock stay. */
static void remove_left(void)
{
	int top = open(SOCKETS_TOP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = top < 0 ? NULL : fdopendir(top);
	const struct dirent *e;

	while (list && (e = readdir(list))) {
		int folder, lock = -1;
		struct stat st;

		if (strncmp(e->d_name, SOCKETS_NAME, strlen(SOCKETS_NAME)) != 0)
			continue;
		folder = openat(top, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder < 0)
			continue;
		if (!fstat(folder, &st) && st.st_uid == geteuid())
			lock = lock_folder(folder, false);
		if (lock >= 0 && ut_folder_remove(top, e->d_name, NULL))
			errno = 0; /* it stays until the next start */
		if (lock >= 0)
			close(lock);
		close(folder);
	}
	if (list)
		closedir(list);
	else if (top >= 0)
		close(top);
}

static int make_folder(struct ut_viewers *v)
{
	int folder, tries = 8;

	do {
		snprintf(v->folder, sizeof(v->folder), SOCKETS_TOP "/" SOCKETS_NAME "XXXXXX");
		if (!mkdtemp(v->folder)) /* 0700 */
			return -errno;
		folder = open(v->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		v->alive = folder < 0 ? -errno : lock_folder(folder, true);
		if (folder >= 0)
			close(folder);
	} while (v->alive == -EBUSY && --tries);
	return v->alive < 0 ? v->alive : 0;
}

int ut_viewers_open(struct ut_viewers **out, const struct ut_data_dir *data_dir,
		    const char *program, bool code, struct ut_err *err)
{
	struct ut_viewers *v = ut_make(sizeof(*v));
	int rc;

	*out = v;
	v->data_dir = data_dir;
	v->program = program;
	v->code = code;
	v->alive = -1;
	pthread_mutex_init(&v->lock, NULL);
	remove_left();
	rc = make_folder(v);
	if (!rc)
		return 0;
	v->folder[0] = '\0';
	ut_viewers_close(v);
	*out = NULL;
	return ut_err_set(err, rc, SOCKETS_TOP ": no folder for sockets can be made: %s",
			  strerror(-rc));
}

/* ---- the end of one ------------------------------------------------------------------------- */

static void viewers_forget(struct viewer *one)
{
	close(one->folder);
	if (one->before >= 0)
		close(one->before);
	free(one->project);
	free(one->result);
	free(one->before_project);
	free(one->before_result);
	*one = (struct viewer){ 0 };
}

static void viewers_end(struct viewer *one)
{
	if (!one->project)
		return;
	ut_viewer_end(&one->process);
	viewers_forget(one);
}

void ut_viewers_close(struct ut_viewers *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < UT_VIEWERS_MOST; i++)
		viewers_end(&v->items[i]);
	if (v->folder[0] && v->alive >= 0) {
		char path[sizeof(v->folder) + sizeof(LOCK_FILE)];

		snprintf(path, sizeof(path), "%s/" LOCK_FILE, v->folder);
		unlink(path);
		rmdir(v->folder);
	}
	if (v->alive >= 0)
		close(v->alive);
	pthread_mutex_destroy(&v->lock);
	free(v);
}

/* Has it ended by itself? Then its place is free, and err has what it said last. */
static bool viewers_has_ended(struct viewer *one, struct ut_err *err)
{
	bool ended = ut_viewer_has_ended(&one->process, err);

	if (ended)
		viewers_forget(one);
	return ended;
}

/* ---- the beginning -------------------------------------------------------------------------- */

/* What is there may not be all that there will be. */
static bool is_under_way(const struct ut_viewers *v, const char *project, const char *result)
{
	struct ut_arena arena = { 0 };
	struct ut_data_dir_result r;
	bool yes = !ut_data_dir_find_result(v->data_dir, &arena, project, result, &r, NULL) &&
		   r.state != UT_RESULT_READY && r.state != UT_RESULT_FAILED;

	ut_arena_release(&arena);
	return yes;
}

static int open_folders(struct ut_viewers *v, const struct ut_viewed *what, struct viewer *one,
			struct ut_err *err)
{
	one->before = -1;
	one->folder = ut_data_dir_open_result(v->data_dir, what->project, what->result, err);
	if (one->folder < 0)
		return one->folder;
	if (what->before_result)
		one->before = ut_data_dir_open_result(v->data_dir, what->before_project,
						      what->before_result, err);
	return what->before_result && one->before < 0 ? one->before : 0;
}

static int viewers_start(struct ut_viewers *v, const struct ut_viewed *what, struct viewer *one,
			 struct ut_err *err)
{
	char path[sizeof(one->process.path)];
	int rc;

	one->is_early = is_under_way(v, what->project, what->result); /* asked first */
	rc = open_folders(v, what, one, err);
	snprintf(path, sizeof(path), "%s/%u", v->folder, ++v->started);
	if (!rc)
		rc = ut_viewer_start(&one->process,
				     &(struct ut_viewer_opts){ .program = v->program,
							       .path = path,
							       .folder = one->folder,
							       .before = one->before,
							       .code = v->code },
				     err);
	if (!rc)
		return 0;
	if (one->folder >= 0)
		close(one->folder);
	if (one->before >= 0)
		close(one->before);
	*one = (struct viewer){ 0 };
	return rc;
}

/* ---- asking --------------------------------------------------------------------------------- */

static char *viewers_copied(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	return text ? memcpy(ut_make(size), text, size) : NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static struct viewer *viewers_find(struct ut_viewers *v, const struct ut_viewed *what)
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
static struct viewer *viewers_make_room(struct ut_viewers *v)
{
	struct viewer *oldest = &v->items[0];

	for (size_t i = 0; i < UT_VIEWERS_MOST; i++) {
		if (!v->items[i].project)
			return &v->items[i];
		if (v->items[i].asked < oldest->asked)
			oldest = &v->items[i];
	}
	viewers_end(oldest);
	return oldest;
}

/* Another folder has that name now. */
static bool is_another(const struct ut_viewers *v, int folder, const char *project,
		       const char *result)
{
	int at = project ? ut_data_dir_open_result(v->data_dir, project, result, NULL) : -1;
	struct stat now, then;
	bool another = at >= 0 && !fstat(at, &now) && !fstat(folder, &then) &&
		       (now.st_ino != then.st_ino || now.st_dev != then.st_dev);

	if (at >= 0)
		close(at);
	return another;
}

/* It shows something else than what there is now: another folder, or a recording that has become
 * files, with more in them than it had. */
static bool is_outlived(const struct ut_viewers *v, const struct viewer *one)
{
	struct ut_arena arena = { 0 };
	struct ut_result_traces traces;
	bool outlived = is_another(v, one->folder, one->project, one->result) ||
			is_another(v, one->before, one->before_project, one->before_result);

	if (!outlived && one->process.is_live)
		outlived = !ut_result_traces_find(one->folder, &arena, &traces, NULL) &&
			   !traces.session;
	if (!outlived && one->is_early)
		outlived = !is_under_way(v, one->project, one->result);
	ut_arena_release(&arena);
	return outlived;
}

/* With the lock. -EAGAIN: that of a recording has ended, and err has its last words. */
static int find_or_start(struct ut_viewers *v, const struct ut_viewed *what, struct viewer **out,
			 struct ut_err *err)
{
	struct viewer *one = viewers_find(v, what);
	bool is_live;
	int rc;

	if (one && is_outlived(v, one)) {
		viewers_end(one);
		one = NULL;
	}
	*out = one;
	is_live = one && one->process.is_live;
	if (one && viewers_has_ended(one, err))
		return is_live ? -EAGAIN : -ECONNREFUSED;
	if (one)
		return 0;
	one = viewers_make_room(v);
	rc = viewers_start(v, what, one, err);
	if (rc)
		return rc;
	one->project = viewers_copied(what->project);
	one->result = viewers_copied(what->result);
	one->before_project = viewers_copied(what->before_project);
	one->before_result = viewers_copied(what->before_result);
	*out = one;
	return 0;
}

/* With the lock. A connection to it; -EAGAIN as above. */
static int viewers_reach(struct viewer *one, struct ut_err *err)
{
	bool is_live = one->process.is_live;
	int fd = ut_viewer_connect(&one->process);

	one->asked = viewers_now_ms();
	if (fd >= 0)
		return fd;
	/* its socket is there as long as it is: it is about to end */
	if (viewers_has_ended(one, err))
		return is_live ? -EAGAIN : fd;
	return ut_err_set(err, fd, "the viewer does not answer: %s", strerror(-fd));
}

/* What is recorded on another machine is shown there as long as that lasts. */
static int reach_remote(const struct ut_viewers *v, const struct ut_viewed *what)
{
	int at = what->before_result
			 ? -1
			 : ut_data_dir_open_result(v->data_dir, what->project, what->result, NULL);
	int fd = at < 0 ? at : ut_remote_connect(at);

	if (at >= 0)
		close(at);
	return fd;
}

/* The viewer of a recording ends if it comes before the first process does: then there is another
 * one to ask soon, or the files that the recording has become. Those of a run on another machine
 * take a while to come. */
int ut_viewers_connect(struct ut_viewers *v, const struct ut_viewed *what, struct ut_err *err)
{
	struct viewer *one;
	int left = CHANGE_MS, rc = reach_remote(v, what);
	bool goes_on = true;

	while (rc < 0) {
		pthread_mutex_lock(&v->lock);
		rc = find_or_start(v, what, &one, err);
		if (!rc)
			rc = viewers_reach(one, err);
		pthread_mutex_unlock(&v->lock);
		if ((rc != -EAGAIN && rc != -ENODATA) || !goes_on || left <= 0)
			break;
		/* when it has ended, once more: it may have done so just now */
		goes_on = rc == -EAGAIN || is_under_way(v, what->project, what->result);
		poll(NULL, 0, goes_on ? CHANGE_TICK_MS : 0);
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
		one = viewers_find(v, what);
		is_live = one && (one->process.is_live || is_outlived(v, one));
		ended = one && viewers_has_ended(one, err);
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
			viewers_end(one);
	}
	pthread_mutex_unlock(&v->lock);
}

void ut_viewers_tidy(struct ut_viewers *v)
{
	int64_t now = viewers_now_ms();

	pthread_mutex_lock(&v->lock);
	for (size_t i = 0; i < UT_VIEWERS_MOST; i++) {
		struct viewer *one = &v->items[i];

		if (!one->project || (one->process.pid && viewers_has_ended(one, NULL)))
			continue;
		if (now - one->asked > (int64_t)UT_VIEWERS_IDLE * 1000 || is_outlived(v, one))
			viewers_end(one);
	}
	pthread_mutex_unlock(&v->lock);
}
