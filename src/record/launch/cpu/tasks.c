#include "launch/cpu/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "launch/cpu/image.h"
#include "wire/timer_ring.h"

#define AT_ONCE 16u /* threads; of so many more are looked at less often */

static ssize_t tasks_read_file(uint32_t pid, uint32_t tid, const char *name, char *text,
			       size_t size)
{
	char path[96];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len;
}

/* utime and stime, in ticks: where the scheduler keeps no better account. */
static uint64_t ticks_of(uint32_t pid, uint32_t tid)
{
	uint64_t user = 0, system = 0;
	char text[1024];
	const char *p;

	if (tasks_read_file(pid, tid, "stat", text, sizeof(text)) <= 0)
		return 0;
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
			 &user, &system) != 2)
		return 0;
	return (user + system) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* The first thread of a process that has executed another program goes on counting. */
static uint64_t ran_here(const struct ut_image *image, uint32_t tid, uint64_t ran)
{
	uint64_t before = tid == image->pid ? image->ran_before : 0;

	return ran > before ? ran - before : 0;
}

static void tasks_look_at(struct ut_image *image, uint32_t tid, uint64_t time)
{
	struct ut_image_task *task = ut_image_task(image, tid);
	struct ut_cpu_times times = { .time = time, .tid = tid };
	char text[128];

	task->seen = time;
	if (tasks_read_file(image->pid, tid, "comm", text, sizeof(text)) > 0) {
		text[strcspn(text, "\n")] = '\0';
		if (strcmp(text, task->name) != 0) {
			snprintf(task->name, sizeof(task->name), "%.15s", text);
			ut_image_thread(image, tid, time, text);
		}
	}
	if (tasks_read_file(image->pid, tid, "schedstat", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%" SCNu64 " %" SCNu64, &times.ran, &times.ready) != 2 || !times.ran)
		times.ran = ticks_of(image->pid, tid);
	if (!times.ran) /* it is gone */
		return;
	task->ready = times.ready;
	times.ran = ran_here(image, tid, times.ran);
	if (tid == image->pid)
		times.ready -=
			times.ready < image->ready_before ? times.ready : image->ready_before;
	if (times.ran != task->ran)
		ut_image_times(image, &times);
	task->ran = times.ran;
}

void ut_tasks_meet(struct ut_image *image, uint32_t tid, uint64_t time, uint64_t weight)
{
	struct ut_image_task *task = ut_image_task(image, tid);

	task->sampled += weight;
	if (task->name[0])
		return;
	tasks_look_at(image, tid, time);
	task = ut_image_task(image, tid);
	if (!task->name[0]) { /* it has ended meanwhile */
		snprintf(task->name, sizeof(task->name), "%.15s", image->name);
		ut_image_thread(image, tid, time, task->name);
	}
}

void ut_tasks_ended(struct ut_image *image, const struct ut_timer_end *end)
{
	struct ut_image_task *task = ut_image_task(image, end->tid);
	uint64_t ran = ran_here(image, end->tid, end->ran);

	if (!task->name[0]) {
		snprintf(task->name, sizeof(task->name), "%.15s", end->name);
		ut_image_thread(image, end->tid, end->born, task->name);
		task = ut_image_task(image, end->tid);
	}
	if (ran > task->ran) {
		task->ran = ran;
		ut_image_times(image, &(struct ut_cpu_times){
					      .time = end->gone, .tid = end->tid, .ran = ran });
	}
	task->seen = 0;
	ut_image_gone(image, end->tid, end->gone);
}

void ut_tasks_replaced(struct ut_image *image, struct ut_image *next, uint64_t used)
{
	struct ut_image_task *task = ut_image_task(image, image->pid);
	const struct ut_cpu_times times = { .time = next->start,
					    .tid = image->pid,
					    .ran = ran_here(image, image->pid, used) };

	/* whoever has looked since then has seen what the next program ran */
	task->ran = times.ran;
	ut_image_times(image, &times);
	next->ran_before = used;
	next->ready_before = task->ready;
}

void ut_tasks_forget(struct ut_image *image)
{
	for (size_t i = 0; i < image->task_count; i++)
		image->tasks[i].ran = 0;
}

/* Those that were there and are not any more. */
static void note_gone(struct ut_image *image, uint64_t time)
{
	for (size_t i = 0; i < image->task_count; i++) {
		struct ut_image_task *task = &image->tasks[i];

		if (task->seen && task->seen != time) {
			ut_image_gone(image, task->tid, time);
			task->seen = 0;
		}
	}
}

uint64_t ut_tasks_look(struct ut_image *image, uint64_t time)
{
	uint64_t count = 0;
	struct dirent *e;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", image->pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (!tid)
			continue;
		tasks_look_at(image, tid, time);
		count++;
	}
	if (d) {
		closedir(d);
		note_gone(image, time);
	}
	return 1 + count / AT_ONCE;
}
