#include "launch/cpu/timers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/str.h"
#include "launch/cpu/perf.h"
#include "launch/cpu/taker.h"
#include "launch/cpu/tasks.h"
#include "wire/process.h"

#define LOOK_NS UINT64_C(100000000)

_Static_assert(sizeof(struct ut_timer_slot) % 8 == 0, "stacks are aligned");

void ut_timers_open(struct ut_timers *t, const char *dir, uint32_t root)
{
	*t = (struct ut_timers){ .dir = dir,
				 .watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
				 .root = root };
	if (t->watch >= 0 && inotify_add_watch(t->watch, dir, IN_CREATE) < 0) {
		close(t->watch);
		t->watch = -1;
	}
	t->slot = ut_make(sizeof(*t->slot));
}

static void timers_release(struct ut_timers_ring *r)
{
	close(r->fd);
	unlink(r->path);
	free(r->path);
	free(r->states);
}

void ut_timers_close(struct ut_timers *t)
{
	for (size_t i = 0; i < t->count; i++)
		timers_release(&t->rings[i]);
	free(t->rings);
	free(t->slot);
	if (t->watch >= 0)
		close(t->watch);
	*t = (struct ut_timers){ .watch = -1 };
}

void ut_timers_wait(const struct ut_timers *t, int wake, int ms)
{
	struct pollfd fds[] = { { .fd = t->watch, .events = POLLIN },
				{ .fd = wake, .events = POLLIN } };

	poll(fds, 2, ms);
}

/* ---- finding them -------------------------------------------------------------------------- */

/* True if files may have come since the last time. */
static bool something_came(struct ut_timers *t, uint64_t now)
{
	char buf[4096];
	bool came = now - t->looked >= LOOK_NS; /* one may have been half made */

	while (t->watch >= 0 && read(t->watch, buf, sizeof(buf)) > 0)
		came = true;
	if (came)
		t->looked = now;
	return came;
}

static bool timers_is_known(const struct ut_timers *t, const char *path)
{
	for (size_t i = 0; i < t->count; i++) {
		if (!strcmp(t->rings[i].path, path))
			return true;
	}
	return false;
}

static bool is_sound(int fd, struct ut_timer_header *h)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       pread(fd, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) &&
	       !memcmp(h->magic, UT_TIMER_MAGIC, sizeof(h->magic)) &&
	       h->version == UT_TIMER_VERSION && h->slots >= UT_TIMER_SLOTS_LEAST &&
	       h->slots <= UT_TIMER_SLOTS_MOST && h->maps_bytes <= UT_TIMER_MAPS_BYTES && h->pid &&
	       h->pid <= INT32_MAX && (uint64_t)st.st_size >= ut_timer_ring_bytes(h->slots);
}

/* One that is gone already is called as the file that it ran, of which the first line tells. */
static void name_by_file(struct ut_image *image, const char *maps)
{
	const char *path = strchr(maps, '/'), *end = strchr(maps, '\n'), *name;

	if (image->name[0] || !path || !end || path > end)
		return;
	for (name = path; path < end; path++)
		name = *path == '/' ? path + 1 : name;
	snprintf(image->name, sizeof(image->name), "%.*s", (int)(end - name), name);
}

static void report_begin(const struct ut_timers *t, const struct ut_timers_ring *r,
			 struct ut_taker *taker, uint64_t now)
{
	const struct ut_timer_header *h = &r->header;
	struct ut_image *image = ut_images_begin(&taker->images, h->pid, h->ppid, h->start);
	char *maps = ut_make(UT_TIMER_MAPS_BYTES + 1), *line, *rest = maps;
	ssize_t n = pread(r->fd, maps, h->maps_bytes, UT_TIMER_HEADER_BYTES);

	image->proc_start = h->proc_start;
	if (image->before && image->before->proc_start == h->proc_start)
		ut_tasks_replaced(image->before, image, h->used);
	else if (image->before && h->pid == t->root)
		ut_tasks_forget(image->before); /* what it has run is this program's */
	maps[n > 0 ? n : 0] = '\0';
	name_by_file(image, maps);
	while ((line = strsep(&rest, "\n")))
		ut_images_map_line(&taker->images, image, line, h->start);
	free(maps);
	ut_images_look(&taker->images, image, now);
}

static void timers_add(struct ut_timers *t, const char *path, struct ut_taker *taker, uint64_t now)
{
	struct ut_timers_ring r = { .fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) };

	if (r.fd >= 0 && !is_sound(r.fd, &r.header)) {
		close(r.fd);
		r.fd = -1;
		t->looked = 0; /* half made: the process may be gone before the usual next look */
	}
	if (r.fd < 0)
		return;
	r.path = strdup(path);
	r.states = ut_make(r.header.slots * sizeof(*r.states));
	report_begin(t, &r, taker, now);
	t->rings = ut_grow(t->rings, t->count + 1, &t->cap, sizeof(*t->rings));
	t->rings[t->count++] = r;
	t->programs++;
	if (r.header.pid == t->root)
		t->root = 0;
}

static int is_ring(const struct dirent *e)
{
	return ut_str_ends(e->d_name, UT_TIMER_SUFFIX);
}

static void timers_look(struct ut_timers *t, struct ut_taker *taker, uint64_t now)
{
	struct dirent **found;
	char path[4200];
	int count;

	if (!something_came(t, now))
		return;
	count = scandir(t->dir, &found, is_ring,
			versionsort); /* the programs of a process in order */
	for (int i = 0; i < count; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", t->dir, found[i]->d_name) <
			    (int)sizeof(path) &&
		    !timers_is_known(t, path))
			timers_add(t, path, taker, now);
		free(found[i]);
	}
	if (count >= 0)
		free(found);
}

/* ---- samples ------------------------------------------------------------------------------- */

/* The slot is copied before anything in it is believed: the program may write there at any time. */
static void take_slot(struct ut_timers *t, const struct ut_timers_ring *r, uint32_t number,
		      struct ut_taker *taker)
{
	const off_t at = (off_t)(ut_timer_slots_at(r->header.slots) + number * sizeof(*t->slot));
	struct ut_timer_slot *slot = t->slot;
	struct ut_perf_sample p = { .pid = r->header.pid };

	if (pread(r->fd, slot, sizeof(*slot), at) != (ssize_t)sizeof(*slot) ||
	    slot->time < r->header.start || !slot->tid || slot->tid > INT32_MAX)
		return;
	ut_tasks_meet(ut_images_at(&taker->images, p.pid, slot->time), slot->tid, slot->time,
		      slot->weight);
	p.ip = slot->regs[UT_TIMER_REG_IP];
	p.time = slot->time;
	p.period = slot->weight;
	p.tid = slot->tid;
	p.cpu = slot->cpu;
	p.regs = slot->regs;
	p.stack = (const unsigned char *)slot->stack;
	p.stack_bytes =
		slot->stack_bytes < UT_TIMER_STACK_BYTES ? slot->stack_bytes : UT_TIMER_STACK_BYTES;
	p.python = slot->python.known ? &slot->python : NULL;
	if (!p.python)
		t->blind = slot->time;
	ut_taker_sample(taker, &p);
}

static void take_ends(const struct ut_timers_ring *r, struct ut_taker *taker)
{
	struct ut_image *image = ut_images_at(&taker->images, r->header.pid, r->header.start);
	const uint32_t empty = UT_SLOT_FREE;
	struct ut_timer_header h;

	if (pread(r->fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return;
	for (size_t i = 0; i < UT_TIMER_ENDS; i++) {
		struct ut_timer_end *end = &h.ends[i];

		if (atomic_load(&end->state) != UT_SLOT_FULL)
			continue;
		end->name[sizeof(end->name) - 1] = '\0';
		if (end->tid && end->tid <= INT32_MAX && end->born >= r->header.start &&
		    end->gone >= end->born)
			ut_tasks_ended(image, end);
		(void)!pwrite(r->fd, &empty, sizeof(empty),
			      (off_t)(offsetof(struct ut_timer_header, ends) + i * sizeof(*end)));
	}
}

static void take_slots(struct ut_timers *t, const struct ut_timers_ring *r, struct ut_taker *taker)
{
	const size_t bytes = r->header.slots * sizeof(*r->states);
	const uint32_t empty = UT_SLOT_FREE;

	if (pread(r->fd, r->states, bytes, UT_TIMER_STATES_AT) != (ssize_t)bytes)
		return;
	for (uint32_t i = 0; i < r->header.slots; i++) {
		if (r->states[i] != UT_SLOT_FULL)
			continue;
		take_slot(t, r, i, taker);
		(void)!pwrite(r->fd, &empty, sizeof(empty),
			      (off_t)(UT_TIMER_STATES_AT + i * sizeof(empty)));
	}
}

/* ---- what becomes of them ------------------------------------------------------------------- */

static void report_end(struct ut_timers *t, const struct ut_timers_ring *r, struct ut_taker *taker,
		       uint64_t now)
{
	struct ut_image *image = ut_images_at(&taker->images, r->header.pid, r->header.start);
	struct ut_timer_header h;

	if (pread(r->fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h)) {
		if (h.lost)
			ut_image_count(image, UT_CPU_LOST, now, h.lost);
		t->unarmed += h.unarmed;
	}
	if (!image->end)
		image->end = now;
}

/* The process has ended, or runs another program that is sampled, too. */
static bool timers_is_over(const struct ut_timers *t, const struct ut_timers_ring *r)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->rings[i].header.pid == r->header.pid &&
		    t->rings[i].header.start > r->header.start)
			return true;
	}
	return ut_process_start(r->header.pid) != r->header.proc_start;
}

/* Seldom: /proc is not cheap. */
static bool timers_ask(struct ut_timers *t, struct ut_timers_ring *r, struct ut_taker *taker,
		       uint64_t now)
{
	struct ut_image *image;

	if (now < r->asked)
		return false;
	if (timers_is_over(t, r))
		return true;
	image = ut_images_at(&taker->images, r->header.pid, r->header.start);
	r->asked = now + LOOK_NS * ut_tasks_look(image, now);
	return false;
}

/* Static programs and short ones have no file, but CPU time. */
static void ask_root(struct ut_timers *t, struct ut_taker *taker, uint64_t now)
{
	if (t->root && now >= t->root_asked)
		t->root_asked =
			now +
			LOOK_NS * ut_tasks_look(ut_images_at(&taker->images, t->root, now), now);
}

void ut_timers_drain(struct ut_timers *t, struct ut_taker *taker, uint64_t now)
{
	size_t i = 0;

	timers_look(t, taker, now);
	ask_root(t, taker, now);
	ut_taker_finds_python(taker); /* before the first samples of a program that is new */
	while (i < t->count) {
		/* first this, then its samples: they are all there when it is over */
		bool over = timers_ask(t, &t->rings[i], taker, now);

		take_ends(&t->rings[i], taker);
		take_slots(t, &t->rings[i], taker);
		if (!over) {
			i++;
			continue;
		}
		report_end(t, &t->rings[i], taker, now);
		timers_release(&t->rings[i]);
		t->rings[i] = t->rings[--t->count];
	}
}

void ut_timers_finish(struct ut_timers *t, struct ut_taker *taker, uint64_t now)
{
	t->looked = 0;
	ut_timers_drain(t, taker, now);
	for (size_t i = 0; i < t->count; i++)
		report_end(t, &t->rings[i], taker, now);
}
