/*
 * view_live.c - a recording that is still being made: its spools are followed, and what they hold
 * takes the place of what they held before. The traced program knows nothing of it: files are
 * mapped to be read, and nothing is locked or written.
 *
 * A look costs as much as there is new, or, where a spool cannot be followed, as much as there is;
 * so the next one comes no earlier than a few times what the last one took. When a process has
 * ended, its spool is read once more as a whole: that is what is shown in the end. Files stay open:
 * the launcher removes them when it has written its results.
 */
#include "cmd/view_show.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/log.h"
#include "import/spool/reader.h"
#include "model/renumber.h"
#include "wire/control.h"

#define LOOK_MS    50  /* how late a new process may be noticed */
#define LEAST_MS   400 /* between two pictures */
#define COST_TIMES 2   /* of what the last look cost: so long we leave the core to others */
#define POLITE     5   /* more nice than we are */

struct spool {
	char path[4096];
	char held[48]; /* the same file, whatever becomes of its name */
	int fd;
	struct ut_spool_mark mark, read; /* now, and when it was read */
	bool alive, is_final;
	struct ut_spool_live *live;
	bool is_plain; /* it cannot be followed: it is read as a whole each time */
	struct ut_view_store *store;
};

struct watch {
	struct ut_show *s;
	const char *dir;
	const struct ut_control *control; /* read only; NULL = it is gone */
	struct spool *items;
	size_t count, cap;
	int64_t next;    /* ms: when to read again */
	bool is_passing; /* the launcher removes the session when it has written its results */
};

static int64_t ms_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t view_live_now_ms(void)
{
	return ms_of(CLOCK_MONOTONIC);
}

/* ---- the session ---------------------------------------------------------------------------- */

/* Not ut_control_open(): that could write. */
static const struct ut_control *map_control(const char *dir)
{
	struct ut_control *c = MAP_FAILED;
	char path[4096];
	struct stat st;
	int fd;

	if (snprintf(path, sizeof(path), "%s/" UT_CONTROL_FILE, dir) >= (int)sizeof(path))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size >= (off_t)sizeof(*c))
		c = mmap(NULL, sizeof(*c), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (c == MAP_FAILED)
		return NULL;
	if (memcmp(c->magic, UT_CONTROL_MAGIC, sizeof(c->magic)) != 0 ||
	    c->version != UT_CONTROL_VERSION) {
		munmap(c, sizeof(*c));
		return NULL;
	}
	return c;
}

static void unmap_control(const struct ut_control *c)
{
	if (c)
		munmap((void *)(uintptr_t)c, sizeof(*c));
}

static bool runs(uint32_t pid)
{
	return pid && (!kill((pid_t)pid, 0) || errno == EPERM);
}

/* Does the launcher wait for its program? */
static bool is_launched(const struct ut_control *c)
{
	return c && !(atomic_load(&c->ended) & UT_CONTROL_ENDED) && runs(c->launcher_pid);
}

bool ut_show_is_live(const char *dir)
{
	const struct ut_control *c = map_control(dir);
	struct ut_spool_info *list = NULL;
	size_t count = 0;
	bool live = is_launched(c);

	unmap_control(c);
	if (!live && !ut_spool_list(dir, &list, &count, NULL)) {
		for (size_t i = 0; i < count; i++)
			live |= list[i].alive;
	}
	free(list);
	return live;
}

static void describe_end(struct watch *w)
{
	uint32_t ended = w->control ? atomic_load(&w->control->ended) : 0;
	int status = (int)(ended & ~UT_CONTROL_ENDED);

	ut_buf_release(&w->s->ended);
	if (!(ended & UT_CONTROL_ENDED))
		ut_buf_text(&w->s->ended, "recording ended");
	else if (WIFSIGNALED(status))
		ut_buf_fmt(&w->s->ended, "recording ended: signal %d (%s)", WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	else
		ut_buf_fmt(&w->s->ended, "recording ended: exit status %d", WEXITSTATUS(status));
}

/* ---- its spools ----------------------------------------------------------------------------- */

static struct spool *find_spool(struct watch *w, const char *path)
{
	for (size_t i = 0; i < w->count; i++) {
		if (!strcmp(w->items[i].path, path))
			return &w->items[i];
	}
	return NULL;
}

static void add_spool(struct watch *w, const struct ut_spool_info *info)
{
	int fd = open(info->path, O_RDONLY | O_CLOEXEC);
	struct spool *one;

	if (fd < 0)
		return;
	w->items = ut_grow(w->items, w->count + 1, &w->cap, sizeof(*w->items));
	one = &w->items[w->count++];
	*one = (struct spool){ .fd = fd, .alive = true };
	memcpy(one->path, info->path, sizeof(one->path));
	snprintf(one->held, sizeof(one->held), "/proc/self/fd/%d", fd);
}

static void look_for_spools(struct watch *w)
{
	struct ut_spool_info *list = NULL;
	size_t count = 0;

	if (ut_spool_list(w->dir, &list, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!find_spool(w, list[i].path))
			add_spool(w, &list[i]);
	}
	free(list);
}

/* Which are alive, and how much they hold; true if any is alive. */
static bool look_at_spools(struct watch *w)
{
	struct ut_spool_info *info = ut_make(sizeof(*info));
	bool any = false;

	for (size_t i = 0; i < w->count; i++) {
		struct spool *one = &w->items[i];

		/* first who lives, then what is there: nothing comes behind the last look */
		one->alive = one->alive && !ut_spool_info(one->held, info, NULL) && info->alive;
		if (!one->is_final && !one->live && ut_spool_mark(one->held, &one->mark, NULL))
			one->mark = one->read;
		any |= one->alive;
	}
	free(info);
	return any;
}

static void count_bytes(struct watch *w)
{
	w->s->state.bytes = 0;
	for (size_t i = 0; i < w->count; i++)
		w->s->state.bytes += w->items[i].mark.bytes;
}

/* The name as long as it is there: beside it the launcher's clock is found. */
static const char *name_to_read(const struct spool *one)
{
	struct stat by_name, by_fd;

	if (!stat(one->path, &by_name) && !fstat(one->fd, &by_fd) &&
	    by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev)
		return one->path;
	return one->held;
}

static void view_live_warn(void *ctx, const char *path, const char *text)
{
	(void)ctx;
	ut_log(UT_DEBUG, "%s: %s", path, text);
}

/* What came since the last look: 0, or 1 if nothing did; -1: it has to be read as a whole. */
static int view_live_follow(struct spool *one, struct ut_store *store)
{
	struct ut_err err = { 0 };
	int rc = -1;

	if (one->is_plain)
		return -1;
	if (!one->live)
		one->live = ut_spool_live_open(name_to_read(one), &err);
	if (one->live)
		rc = ut_spool_live_look(one->live, store, &err);
	if (rc >= 0) {
		one->mark.bytes = ut_spool_live_bytes(one->live);
		return rc;
	}
	ut_log(UT_DEBUG, "%s", err.text);
	ut_spool_live_close(one->live);
	one->live = NULL;
	one->is_plain = true;
	return -1;
}

/* All of it. False: what is wrong has been told, if that is the last word. */
static bool view_live_read_whole(struct watch *w, struct spool *one, bool is_last,
				 struct ut_store *store)
{
	const struct ut_import_opts how = { .threads = w->s->threads, .warn = view_live_warn };
	struct ut_err err = { 0 };

	if (!ut_import(name_to_read(one), &how, store, &err)) {
		if (one->store)
			ut_store_renumber(store, ut_view_store_get(one->store));
		return true;
	}
	if (is_last) {
		ut_log(UT_ERR, "%s", err.text);
		ut_buf_fmt(&w->s->trouble, "%s%s", w->s->trouble.len ? "\n" : "", err.text);
		one->is_final = true;
	}
	return false;
}

/* True if there is a new store. */
static bool read_spool(struct watch *w, struct spool *one)
{
	struct ut_spool_mark mark = one->mark;
	struct ut_store store;
	bool was_alive = one->alive;
	int rc = !was_alive || one->is_final ? -1 : view_live_follow(one, &store);

	if (one->is_final || rc > 0 ||
	    (rc < 0 && one->store && was_alive && mark.number == one->read.number))
		return false;
	if (rc < 0 && !view_live_read_whole(w, one, !was_alive, &store))
		return false;
	ut_view_store_drop(one->store);
	one->store = ut_view_store_new(&store);
	one->read = mark;
	one->is_final = !was_alive;
	if (one->is_final) {
		ut_spool_live_close(one->live);
		one->live = NULL;
	}
	return true;
}

static void show_spools(struct watch *w)
{
	struct ut_view *v = ut_view_new();

	ut_view_expect_more(v);
	if (w->is_passing)
		ut_view_paths_go(v);
	for (size_t i = 0; i < w->count; i++) {
		if (w->items[i].store)
			ut_view_share(v, w->dir, w->items[i].store);
	}
	ut_show_view(w->s, v);
}

/* ---- watching ------------------------------------------------------------------------------- */

static void refresh(struct watch *w, bool is_first)
{
	int64_t start = view_live_now_ms(), used = ms_of(CLOCK_THREAD_CPUTIME_ID), cost;
	bool is_new = is_first;

	for (size_t i = 0; i < w->count && !w->s->stop; i++)
		is_new |= read_spool(w, &w->items[i]);
	pthread_mutex_lock(&w->s->lock);
	count_bytes(w);
	if (is_new)
		show_spools(w);
	else
		ut_show_state(w->s);
	pthread_mutex_unlock(&w->s->lock);
	/* by the clock it costs more where others want the core; that is no reason to lag behind */
	cost = (1 + COST_TIMES) * (ms_of(CLOCK_THREAD_CPUTIME_ID) - used);
	w->next = start + (cost > LEAST_MS ? cost : LEAST_MS);
}

/* Is there no need to look yet? Nothing is waited for once all has ended. */
static bool is_early(const struct watch *w, bool launched)
{
	struct ut_spool_info *info;
	bool any = launched;

	if (view_live_now_ms() >= w->next)
		return false;
	info = ut_make(sizeof(*info));
	for (size_t i = 0; i < w->count && !any; i++)
		any = w->items[i].alive && !ut_spool_info(w->items[i].held, info, NULL) &&
		      info->alive;
	free(info);
	return any;
}

/* Until it has ended; the last look is the caller's. */
static void *view_live_watch(void *ctx)
{
	struct watch *w = ctx;
	bool is_first = true;

	/* this thread, and those that it starts to help it: who is recorded comes first */
	setpriority(PRIO_PROCESS, (id_t)gettid(),
		    getpriority(PRIO_PROCESS, (id_t)gettid()) + POLITE);
	while (!w->s->stop) {
		bool launched;

		if (!w->control)
			w->control = map_control(w->dir);
		launched =
			is_launched(w->control); /* before the look: a child may come until then */
		look_for_spools(w);
		if (!is_first && is_early(w, launched)) {
			poll(NULL, 0, LOOK_MS);
			continue;
		}
		w->s->state.live = look_at_spools(w) || launched;
		if (!w->s->state.live)
			break;
		refresh(w, is_first);
		is_first = false;
	}
	return NULL;
}

/* Files that were written behind the last look; true if there are any. The launcher removes them
 * when we have opened them. */
static bool take_last_spools(struct watch *w, int launcher)
{
	struct pollfd p = { .fd = launcher, .events = POLLIN };
	size_t before = w->count;

	while (!w->s->stop && poll(&p, 1, LOOK_MS) <= 0)
		;
	look_for_spools(w);
	close(launcher);
	look_at_spools(w);
	return w->count > before;
}

int ut_show_session(struct ut_show *s, const char *dir, int launcher, struct ut_err *err)
{
	struct watch w = { .s = s, .dir = dir, .is_passing = launcher > 0 };
	size_t read = 0;
	pthread_t watcher;

	if (pthread_create(&watcher, NULL, view_live_watch, &w))
		return ut_err_set(err, -EAGAIN, "no thread can be started to read the recording");
	pthread_join(watcher, NULL);
	if (!s->stop)
		describe_end(&w);
	if (!s->stop && (w.count || !launcher))
		refresh(&w, true);
	if (launcher && take_last_spools(&w, launcher) && !s->stop)
		refresh(&w, true);
	for (size_t i = 0; i < w.count; i++) {
		read += w.items[i].store != NULL;
		ut_view_store_drop(w.items[i].store);
		ut_spool_live_close(w.items[i].live);
		close(w.items[i].fd);
	}
	free(w.items);
	unmap_control(w.control);
	return read || s->stop ? 0 : ut_err_set(err, -ENODATA, "%s: nothing was recorded", dir);
}
