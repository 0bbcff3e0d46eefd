#include "launch/cpu/images.h"

#include <dirent.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "launch/cpu/measure.h"
#include "launch/cpu/perf.h"

#define SECOND        UINT64_C(1000000000)
#define GONE          " (deleted)"
#define MOST_MEASURED 64u
#define LEAST_UNSEEN  UINT64_C(5000000) /* ns: starting one program takes as much */

void ut_images_init(struct ut_images *im, const char *dir)
{
	*im = (struct ut_images){ .session.dir = dir, .patience = SECOND };
	ut_modules_init(&im->modules);
	im->session.modules = &im->modules;
}

static void free_all(struct ut_image *i)
{
	while (i) {
		struct ut_image *before = i->before;

		ut_image_free(i);
		i = before;
	}
}

void ut_images_release(struct ut_images *im)
{
	for (size_t k = 0; k < im->count; k++)
		free_all(im->items[k]);
	free(im->items);
	free(im->switches);
	ut_idmap_release(&im->by_pid);
	ut_modules_release(&im->modules);
}

/* ---- which there are ----------------------------------------------------------------------- */

static struct ut_image **images_slot_of(struct ut_images *im, uint32_t pid)
{
	uint32_t at = ut_idmap_get(&im->by_pid, pid);

	if (!at) {
		im->items = ut_grow(im->items, im->count + 1, &im->cap, sizeof(struct ut_image *));
		im->items[im->count] = NULL;
		at = (uint32_t)++im->count;
		ut_idmap_put(&im->by_pid, pid, at);
	}
	return &im->items[at - 1];
}

/* What had been switched when the program began, and since: some are heard of late. */
static void report_switches(const struct ut_images *im, struct ut_image *i)
{
	bool paused = im->session.paused;
	size_t k = 0;

	for (; k < im->switch_count && im->switches[k].time <= i->start; k++)
		paused = !im->switches[k].on;
	if (paused)
		ut_image_count(i, UT_CPU_CONTROL, i->start, 0);
	for (; k < im->switch_count; k++)
		ut_image_count(i, UT_CPU_CONTROL, im->switches[k].time, im->switches[k].on);
}

/* The process runs something else now. What it ran before is kept until its samples are read. */
static struct ut_image *images_begin(struct ut_images *im, struct ut_image *next)
{
	struct ut_image **slot = images_slot_of(im, next->pid);

	if (*slot && (!(*slot)->end || (*slot)->end > next->start)) {
		(*slot)->end = next->start;
		(*slot)->replaced = true;
	}
	next->before = *slot;
	*slot = next;
	report_switches(im, next);
	return next;
}

void ut_images_switch(struct ut_images *im, uint64_t time, bool on)
{
	im->switches =
		ut_grow(im->switches, im->switch_count + 1, &im->switch_cap, sizeof(*im->switches));
	im->switches[im->switch_count++] = (struct ut_switch){ time, on };
	for (size_t k = 0; k < im->count; k++)
		ut_image_count(im->items[k], UT_CPU_CONTROL, time, on);
}

static void read_comm(uint32_t pid, uint32_t tid, char *name, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/comm", pid, tid);
	name[0] = '\0';
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(name, (int)size, f))
		name[strcspn(name, "\n")] = '\0';
	fclose(f);
}

static struct ut_image *images_find(const struct ut_images *im, uint32_t pid, uint64_t time)
{
	uint32_t at = ut_idmap_get(&im->by_pid, pid);
	struct ut_image *i = at ? im->items[at - 1] : NULL;

	while (i && i->before && time < i->start)
		i = i->before;
	return i;
}

struct ut_image *ut_images_begin_root(struct ut_images *im, uint32_t pid, uint64_t start,
				      const char *name)
{
	return images_begin(im, ut_image_new(pid, (uint32_t)getpid(), start, name));
}

struct ut_image *ut_images_begin(struct ut_images *im, uint32_t pid, uint32_t ppid, uint64_t start)
{
	const struct ut_image *near = images_find(im, pid, start);
	char name[64];

	read_comm(pid, pid, name, sizeof(name));
	near = near ? near : images_find(im, ppid, start);
	if (!name[0] && near) /* it is gone already */
		snprintf(name, sizeof(name), "%s", near->name);
	return images_begin(im, ut_image_new(pid, ppid, start, name));
}

static struct ut_image *unheard_of(struct ut_images *im, uint32_t pid, uint64_t time)
{
	struct ut_image *i = ut_images_begin(im, pid, 0, time);

	ut_images_look(im, i, time);
	return i;
}

struct ut_image *ut_images_at(struct ut_images *im, uint32_t pid, uint64_t time)
{
	struct ut_image *i = images_find(im, pid, time);

	return i ? i : unheard_of(im, pid, time);
}

/* ---- what the kernel tells ----------------------------------------------------------------- */

struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, size, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

struct task {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

/* A text at the end of a record, before what all records end with. */
static bool images_is_text(const struct perf_event_header *h, const char *text)
{
	const char *end = (const char *)h + h->size - sizeof(struct ut_perf_id);

	return text < end && memchr(text, '\0', (size_t)(end - text));
}

static void on_mmap(struct ut_images *im, const struct mmap2 *m, uint64_t time)
{
	if (m->header.size < sizeof(*m) || !images_is_text(&m->header, m->path))
		return;
	ut_maps_add(&ut_images_at(im, m->pid, time)->maps,
		    &(struct ut_map){ .start = m->address,
				      .end = m->address + m->size,
				      .offset = m->offset,
				      .module = ut_modules_number(&im->modules, m->path, m->inode),
				      .born = time });
}

static void on_comm(struct ut_images *im, const struct comm *c, uint64_t time)
{
	struct ut_image *i;

	if (c->header.size < sizeof(*c) || !images_is_text(&c->header, c->name))
		return;
	if (c->header.misc & PERF_RECORD_MISC_COMM_EXEC) {
		i = images_find(im, c->pid, time);
		i = images_begin(im, ut_image_new(c->pid, i ? i->ppid : 0, time, c->name));
		ut_image_task(i, c->tid)->since = time; /* it runs */
	} else {
		i = ut_images_at(im, c->pid, time);
		if (c->pid == c->tid)
			snprintf(i->name, sizeof(i->name), "%s", c->name);
	}
	ut_image_thread(i, c->tid, time, c->name);
}

static void on_fork(struct ut_images *im, const struct task *t)
{
	struct ut_image *parent = ut_images_at(im, t->ppid, t->time), *child;

	if (t->pid == t->ppid) {
		ut_image_thread(parent, t->tid, t->time, parent->name);
		return;
	}
	child = ut_image_new(t->pid, t->ppid, t->time, parent->name);
	ut_maps_copy(&child->maps, &parent->maps);
	images_begin(im, child);
	ut_image_thread(child, t->tid, t->time, parent->name);
}

static void on_end(struct ut_images *im, const struct task *t)
{
	struct ut_image *i = images_find(im, t->pid, t->time);

	if (!i)
		return;
	ut_image_gone(i, t->tid, t->time);
	if (t->pid == t->tid) /* the others have ended before, or soon will */
		i->end = t->time;
}

static void on_switch(struct ut_images *im, const struct perf_event_header *h,
		      const struct ut_perf_id *id)
{
	struct ut_image *i = images_find(im, id->pid, id->time);
	uint32_t how = UT_CPU_RUNS;

	if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
		how = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? UT_CPU_PREEMPTED
								    : UT_CPU_WAITS;
	if (i)
		ut_image_switch(
			i, &(struct ut_cpu_switch_rec){ id->time, id->tid, how | id->cpu << 8 });
}

void ut_images_record(struct ut_images *im, const struct perf_event_header *h)
{
	const void *record = h;
	struct ut_perf_id id;

	if (!ut_perf_id(h, &id))
		return;
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		on_mmap(im, record, id.time);
		break;
	case PERF_RECORD_COMM:
		on_comm(im, record, id.time);
		break;
	case PERF_RECORD_FORK:
		if (h->size >= sizeof(struct task))
			on_fork(im, record);
		break;
	case PERF_RECORD_EXIT:
		if (h->size >= sizeof(struct task))
			on_end(im, record);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		on_switch(im, h, &id);
		break;
	default:
		break;
	}
}

/* ---- what /proc tells ---------------------------------------------------------------------- */

void ut_images_map_line(struct ut_images *im, struct ut_image *i, char *line, uint64_t time)
{
	struct ut_map m = { .born = time };
	uint64_t inode = 0;
	char rights[5];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &m.start,
		   &m.end, rights, &m.offset, &inode, &at) < 5 ||
	    !at || rights[2] != 'x')
		return;
	if (ut_str_ends(line, GONE))
		line[strlen(line) - strlen(GONE)] = '\0';
	m.module = ut_modules_number(&im->modules, line[at] ? line + at : "//anon", inode);
	ut_maps_add(&i->maps, &m);
}

static void look_at_maps(struct ut_images *im, struct ut_image *i, uint64_t time)
{
	char line[4352], path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", i->pid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		ut_images_map_line(im, i, line, time);
	fclose(f);
}

static void look_at_threads(struct ut_image *i, uint64_t time)
{
	char path[64], name[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", i->pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (!tid || ut_idmap_get(&i->threads, tid))
			continue;
		read_comm(i->pid, tid, name, sizeof(name));
		ut_image_thread(i, tid, time, name);
	}
	if (d)
		closedir(d);
}

void ut_images_look(struct ut_images *im, struct ut_image *i, uint64_t time)
{
	if (i->looked && time < i->looked + im->patience)
		return;
	i->looked = time ? time : 1;
	look_at_maps(im, i, time);
	look_at_threads(i, time);
}

/* What the user has started is kept until the end: there may be more to say of it. */
static bool is_root(const struct ut_images *im, const struct ut_image *i)
{
	return im->session.root && i->pid == im->session.root;
}

void ut_images_measure(struct ut_images *im, uint64_t time)
{
	size_t most = im->count < MOST_MEASURED ? im->count : MOST_MEASURED;

	for (size_t k = 0; k < most; k++) {
		struct ut_image *i = im->items[im->measured++ % im->count];

		if (!i->end && (i->samples || is_root(im, i)))
			ut_measure(i, time);
	}
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Older images of a process, the oldest first. */
static void close_before(struct ut_images *im, struct ut_image *i, uint64_t before)
{
	struct ut_image *old = i->before;

	if (!old)
		return;
	close_before(im, old, before);
	if (i->start >= before) {
		ut_image_flush(old, &im->session);
		return;
	}
	ut_image_close(old, &im->session, i->start);
	free_all(old);
	i->before = NULL;
}

/* Writes; true when all of it is over. */
static bool flush_one(struct ut_images *im, struct ut_image *i, uint64_t before)
{
	close_before(im, i, before);
	ut_maps_forget(&i->maps, before);
	if (!i->end || i->end >= before || i->before || is_root(im, i)) {
		ut_image_flush(i, &im->session);
		return false;
	}
	ut_image_close(i, &im->session, i->end);
	return true;
}

void ut_images_flush(struct ut_images *im, uint64_t before)
{
	size_t k = 0;

	while (k < im->count) {
		struct ut_image *i = im->items[k];

		if (!flush_one(im, i, before)) {
			k++;
			continue;
		}
		ut_idmap_take(&im->by_pid, i->pid);
		ut_image_free(i);
		im->items[k] = im->items[--im->count];
		if (k < im->count)
			ut_idmap_put(&im->by_pid, im->items[k]->pid, (uint32_t)k + 1);
	}
}

/*
 * CPU time of those that nobody has sampled, and what the system counts beside: how threads start
 * and end, and where programs sample themselves, those that did not come to it.
 */
static void report_rest(struct ut_images *im, struct ut_image *to, uint64_t now)
{
	struct ut_image_session *s = &im->session;
	const uint64_t known = s->accounted + s->rest + ut_image_ran(to, now);
	uint64_t unseen = s->total > known ? s->total - known : 0;

	if (unseen <= LEAST_UNSEEN || unseen <= s->total / 50)
		unseen = 0;
	if (!to->path[0] && s->accounted && s->rest <= LEAST_UNSEEN && !unseen)
		return;
	if (s->rest)
		ut_image_rest(to, &(struct ut_cpu_rest_rec){ .time = now,
							     .which = UT_CPU_REST_PROGRAMS,
							     .count = s->rest_count,
							     .ran = s->rest });
	if (unseen)
		ut_image_rest(to, &(struct ut_cpu_rest_rec){ .time = now,
							     .which = UT_CPU_REST_UNSEEN,
							     .ran = unseen });
	ut_image_force(to, s);
}

/* Does the user want all of it? Nobody knows whose time it was that passed while it was off. */
static bool images_is_whole(const struct ut_images *im)
{
	return !im->session.paused && !im->session.conditional && !im->switch_count;
}

/* Whose file it is told in. One without samples is made if there is no other. */
static struct ut_image *choose_reporter(const struct ut_images *im)
{
	struct ut_image *chosen = NULL;

	for (size_t k = 0; k < im->count; k++) {
		struct ut_image *i = im->items[k];

		if (is_root(im, i))
			return i;
		if (i->path[0] && !chosen)
			chosen = i;
	}
	return chosen;
}

void ut_images_close(struct ut_images *im, uint64_t now)
{
	struct ut_image_session *s = &im->session;
	struct ut_image *logger = choose_reporter(im);

	for (size_t k = 0; k < im->count; k++) {
		close_before(im, im->items[k], UINT64_MAX);
		if (im->items[k] != logger)
			ut_image_close(im->items[k], s,
				       im->items[k]->end ? im->items[k]->end : now);
	}
	if (!logger)
		return;
	logger->end = logger->end ? logger->end : now;
	ut_image_flush(logger, s);
	if (images_is_whole(im))
		report_rest(im, logger, logger->end);
	ut_image_close(logger, s, logger->end);
}
