#include "launch/cpu/measure.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch/cpu/image.h"

/* Of its first thread: a program that waits says most by that. */
static void look_where_it_waits(struct ut_image *image, uint64_t time)
{
	char path[64], text[128];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/wchan", image->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return;
	text[len] = '\0';
	ut_image_look(image, image->pid, time, strcmp(text, "0") != 0 ? text : "");
}

void ut_measure(struct ut_image *image, uint64_t time)
{
	uint64_t minor, major, pages;
	char path[64], text[1024];
	const char *p;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", image->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return;
	text[len] = '\0';
	p = strrchr(text, ')'); /* the name in front may hold anything */
	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt, 11 more, then rss */
	if (!p || sscanf(p + 1,
			 " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64
			 " %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %" SCNu64,
			 &minor, &major, &pages) != 3)
		return;
	ut_image_counter(image, time, UT_CPU_COUNT_RSS, pages * (uint64_t)sysconf(_SC_PAGESIZE));
	ut_image_counter(image, time, UT_CPU_COUNT_MINOR_FAULTS, minor);
	ut_image_counter(image, time, UT_CPU_COUNT_MAJOR_FAULTS, major);
	look_where_it_waits(image, time);
}
