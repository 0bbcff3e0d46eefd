#include "launch/cpu/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "launch/cpu/jit_files.h"
#include "launch/cpu/modules.h"
#include "launch/cpu/python.h"
#include "wire/disk.h"
#include "wire/process.h"
#include "wire/spool.h"

#define MOST_WAITING 65536u /* bytes about a program that nobody has seen at work */

struct ut_image *ut_image_new(uint32_t pid, uint32_t ppid, uint64_t start, const char *name)
{
	struct ut_image *i = ut_make(sizeof(*i));

	i->pid = pid;
	i->ppid = ppid;
	i->start = start;
	snprintf(i->name, sizeof(i->name), "%s", name);
	return i;
}

void ut_image_free(struct ut_image *i)
{
	ut_maps_release(&i->maps);
	ut_python_free(i->python);
	ut_buf_release(&i->out);
	if (i->jit.map > 0)
		close(i->jit.map);
	if (i->jit.dump > 0)
		close(i->jit.dump);
	free(i->tasks);
	ut_idmap_release(&i->task_of_tid);
	ut_idmap_release(&i->threads);
	ut_idmap_release(&i->modules);
	ut_idmap_release(&i->looked_into);
	ut_idmap_release(&i->called);
	ut_idmap_release(&i->places);
	ut_idmap_release(&i->stacks);
	free(i);
}

/* ---- records ------------------------------------------------------------------------------- */

/* A record of a struct and up to two texts. */
static void image_put(struct ut_image *i, enum ut_cpu_rec type, const void *fixed, size_t size)
{
	const struct ut_cpu_rec_head head = { .type = type,
					      .size = (uint32_t)(sizeof(head) + size) };

	ut_buf_add(&i->out, (const char *)&head, sizeof(head));
	ut_buf_add(&i->out, fixed, size);
}

static void put_texts(struct ut_image *i, enum ut_cpu_rec type, const void *fixed, size_t size,
		      const char *const *texts)
{
	static const char zeros[8];
	struct ut_cpu_rec_head head = { .type = type };
	size_t at = i->out.len, len;

	ut_buf_add(&i->out, (const char *)&head, sizeof(head));
	ut_buf_add(&i->out, fixed, size);
	for (; *texts; texts++)
		ut_buf_add(&i->out, *texts, strlen(*texts) + 1);
	len = i->out.len - at;
	ut_buf_add(&i->out, zeros, -len & 7);
	head.size = (uint32_t)(i->out.len - at);
	memcpy(i->out.data + at, &head, sizeof(head));
}

static void report_module(struct ut_image *i, const struct ut_image_session *s, uint32_t number)
{
	const struct ut_module *m = ut_module(s->modules, number);
	struct ut_cpu_module_rec rec = { .id = number,
					 .kind = m->kind,
					 .build_id_bytes = m->unwind.id.len };

	memcpy(rec.build_id, m->unwind.id.bytes, sizeof(rec.build_id));
	put_texts(i, UT_CPU_MODULE, &rec, sizeof(rec), (const char *const[]){ m->path, NULL });
	ut_idmap_put(&i->modules, number, 1);
}

uint32_t ut_image_place(struct ut_image *i, const struct ut_image_session *s, uint32_t module,
			uint64_t at)
{
	/* Offsets are small and addresses of the kernel have their highest bits set: all differ. */
	uint64_t key = module == UT_MODULE_KERNEL ? at : at ^ (uint64_t)module << 44;
	uint32_t number = ut_idmap_get(&i->places, key);

	if (number)
		return number;
	if (!ut_idmap_get(&i->modules, module))
		report_module(i, s, module);
	number = ++i->place_count;
	ut_idmap_put(&i->places, key, number);
	image_put(i, UT_CPU_PLACE, &(struct ut_cpu_place){ number, module, at },
		  sizeof(struct ut_cpu_place));
	return number;
}

uint32_t ut_image_script(struct ut_image *i, const struct ut_image_session *s,
			 const struct ut_image_line *line)
{
	uint64_t key = UINT64_C(1) << 62 | (uint64_t)line->number << 24 | (line->line & 0xffffff);
	uint32_t number = ut_idmap_get(&i->places, key);

	if (number)
		return number;
	if (!ut_idmap_get(&i->modules, UT_MODULE_SCRIPT))
		report_module(i, s, UT_MODULE_SCRIPT);
	number = ++i->place_count;
	ut_idmap_put(&i->places, key, number);
	/* Its names come first: who reads it needs them when the place comes. */
	put_texts(i, UT_CPU_NAMED, &(struct ut_cpu_named){ number, line->line },
		  sizeof(struct ut_cpu_named),
		  (const char *const[]){ line->function, line->file, NULL });
	image_put(i, UT_CPU_PLACE, &(struct ut_cpu_place){ number, UT_MODULE_SCRIPT, line->line },
		  sizeof(struct ut_cpu_place));
	return number;
}

uint32_t ut_image_stack(struct ut_image *i, uint32_t caller, uint32_t place)
{
	uint64_t key = (uint64_t)caller << 32 | place;
	uint32_t number = ut_idmap_get(&i->stacks, key);

	if (number)
		return number;
	number = ++i->stack_count;
	ut_idmap_put(&i->stacks, key, number);
	image_put(i, UT_CPU_STACK, &(struct ut_cpu_stack){ number, caller, place, 0 },
		  sizeof(struct ut_cpu_stack));
	return number;
}

void ut_image_thread(struct ut_image *i, uint32_t tid, uint64_t time, const char *name)
{
	ut_idmap_put(&i->threads, tid, 1);
	put_texts(i, UT_CPU_THREAD, &(struct ut_cpu_thread){ .tid = tid, .time = time },
		  sizeof(struct ut_cpu_thread), (const char *const[]){ name, NULL });
}

static void stop_running(struct ut_image_task *task, uint64_t time)
{
	if (task->since && time > task->since)
		task->ran += time - task->since;
	task->since = 0;
}

void ut_image_gone(struct ut_image *i, uint32_t tid, uint64_t time)
{
	stop_running(ut_image_task(i, tid), time);
	image_put(i, UT_CPU_GONE, &(struct ut_cpu_thread){ .tid = tid, .time = time },
		  sizeof(struct ut_cpu_thread));
}

void ut_image_sample(struct ut_image *i, const struct ut_cpu_sample *sample)
{
	image_put(i, UT_CPU_SAMPLE, sample, sizeof(*sample));
	i->samples++;
}

void ut_image_wait(struct ut_image *i, const struct ut_cpu_sample *sample)
{
	image_put(i, UT_CPU_WAIT, sample, sizeof(*sample));
}

void ut_image_switch(struct ut_image *i, const struct ut_cpu_switch_rec *rec)
{
	struct ut_image_task *task = ut_image_task(i, rec->tid);

	if ((rec->how & 0xff) == UT_CPU_RUNS)
		task->since = rec->time;
	else
		stop_running(task, rec->time);
	image_put(i, UT_CPU_SWITCH, rec, sizeof(*rec));
}

uint64_t ut_image_ran(const struct ut_image *i, uint64_t end)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < i->task_count; k++) {
		const struct ut_image_task *task = &i->tasks[k];

		sum += task->ran > task->sampled ? task->ran : task->sampled;
		if (task->since && end > task->since)
			sum += end - task->since;
	}
	return sum;
}

void ut_image_look(struct ut_image *i, uint32_t tid, uint64_t time, const char *function)
{
	put_texts(i, UT_CPU_LOOK, &(struct ut_cpu_thread){ .tid = tid, .time = time },
		  sizeof(struct ut_cpu_thread), (const char *const[]){ function, NULL });
}

void ut_image_rest(struct ut_image *i, const struct ut_cpu_rest_rec *rec)
{
	image_put(i, UT_CPU_REST, rec, sizeof(*rec));
}

void ut_image_times(struct ut_image *i, const struct ut_cpu_times *times)
{
	image_put(i, UT_CPU_TIMES, times, sizeof(*times));
}

struct ut_image_task *ut_image_task(struct ut_image *i, uint32_t tid)
{
	uint32_t at = ut_idmap_get(&i->task_of_tid, tid);

	if (!at) {
		i->tasks = ut_grow(i->tasks, i->task_count + 1, &i->task_cap, sizeof(*i->tasks));
		i->tasks[i->task_count] = (struct ut_image_task){ .tid = tid };
		at = (uint32_t)++i->task_count;
		ut_idmap_put(&i->task_of_tid, tid, at);
	}
	return &i->tasks[at - 1];
}

void ut_image_counter(struct ut_image *i, uint64_t time, enum ut_cpu_counter which, uint64_t value)
{
	image_put(i, UT_CPU_COUNTER,
		  &(struct ut_cpu_counter_rec){ .time = time, .which = which, .value = value },
		  sizeof(struct ut_cpu_counter_rec));
}

void ut_image_count(struct ut_image *i, enum ut_cpu_rec type, uint64_t time, uint64_t count)
{
	image_put(i, type, &(struct ut_cpu_count){ time, count }, sizeof(struct ut_cpu_count));
}

/* ---- the file ------------------------------------------------------------------------------ */

static bool image_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

/* What the process says about itself, if it is still there. */
static void image_describe(struct ut_image *i)
{
	char path[64];
	ssize_t len;
	int fd;

	i->described = true;
	i->header.proc_start = ut_process_start(i->pid);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cmdline", i->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd >= 0 ? read(fd, i->header.cmdline, sizeof(i->header.cmdline) - 1) : 0;
	if (fd >= 0)
		close(fd);
	while (len > 0 && !i->header.cmdline[len - 1])
		len--;
	for (ssize_t k = 0; k < len; k++) {
		if (!i->header.cmdline[k])
			i->header.cmdline[k] = ' ';
	}
}

/* Does the program begin with recording on, in a session in which it decides itself? */
static bool begins_on(uint32_t pid)
{
	static const char name[] = "PTI_ENABLE_COLLECTION=";
	char path[64], *line = NULL;
	size_t cap = 0;
	bool on = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/environ", pid);
	f = fopen(path, "re");
	while (f && getdelim(&line, &cap, '\0', f) > 0) {
		if (!strncmp(line, name, sizeof(name) - 1)) {
			const char *value = line + sizeof(name) - 1;

			on = value[0] && value[0] != '0';
			break;
		}
	}
	if (f)
		fclose(f);
	free(line);
	return on;
}

static void fill_header(struct ut_image *i, const struct ut_image_session *s)
{
	char cmdline[sizeof(i->header.cmdline)];
	uint64_t proc_start;

	if (!i->described)
		image_describe(i);
	proc_start = i->header.proc_start;
	memcpy(cmdline, i->header.cmdline, sizeof(cmdline));
	i->header = s->header;
	memcpy(i->header.cmdline, cmdline, sizeof(cmdline));
	i->header.proc_start = proc_start;
	i->header.pid = i->pid;
	i->header.ppid = i->ppid;
	i->header.start = i->start;
	if (s->conditional && !begins_on(i->pid))
		i->header.flags |= UT_CPU_BEGAN_OFF;
	snprintf(i->header.name, sizeof(i->header.name), "%s", i->name);
}

static int image_make(struct ut_image *i, const struct ut_image_session *s)
{
	int fd;

	snprintf(i->path, sizeof(i->path), "%s/%" PRIu32 "-%" PRIu64 UT_CPU_SUFFIX, s->dir, i->pid,
		 i->start);
	fd = open(i->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	fill_header(i, s);
	if (!image_write_all(fd, &i->header, sizeof(i->header))) {
		close(fd);
		return -ENOSPC;
	}
	return fd;
}

static void write_out(struct ut_image *i, struct ut_image_session *s)
{
	int fd;

	fd = i->failed    ? -i->failed
	     : i->path[0] ? open(i->path, O_WRONLY | O_APPEND | O_CLOEXEC)
			  : image_make(i, s);
	if (fd >= 0 && ut_disk_below(fd, s->disk_reserve, i->out.len)) {
		close(fd);
		fd = -UT_SPOOL_RESERVE;
	}
	if (fd < 0 || !image_write_all(fd, i->out.data, i->out.len)) {
		i->failed = fd < 0 && fd != -1 ? -fd : errno;
		s->failure = i->failed;
		s->lost += i->samples;
	}
	if (fd >= 0)
		close(fd);
	i->out.len = 0;
}

void ut_image_flush(struct ut_image *i, struct ut_image_session *s)
{
	if (i->out.len && (i->samples || i->out.len >= MOST_WAITING))
		write_out(i, s);
}

void ut_image_force(struct ut_image *i, struct ut_image_session *s)
{
	if (i->out.len)
		write_out(i, s);
}

void ut_image_close(struct ut_image *i, struct ut_image_session *s, uint64_t end)
{
	int fd;

	uint64_t ran = ut_image_ran(i, end);

	ut_image_flush(i, s);
	if (!i->path[0]) {
		s->rest += ran;
		s->rest_count += ran && !i->replaced;
		return;
	}
	s->accounted += ran;
	ut_jit_files_keep(i);
	i->end = end;
	fd = open(i->path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (pwrite(fd, &i->end, sizeof(i->end), offsetof(struct ut_cpu_header, end)) < 0)
		s->failure = errno;
	close(fd);
}
