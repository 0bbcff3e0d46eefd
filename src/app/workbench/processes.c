#include "workbench/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/json_write.h"

#define STAT_MOST   1024
#define WORDS_MOST  300
#define LISTED      200u
#define GENERATIONS 64u

static ssize_t processes_read_file(int proc, const char *pid, const char *name, char *to,
				   size_t room)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%.20s/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, to, room - 1);
	close(fd);
	to[got > 0 ? got : 0] = '\0';
	return got;
}

/* "PID (NAME) STATE PPID ... UTIME STIME ...": the name may hold brackets and blanks. */
static bool read_stat(int proc, const char *pid, struct ut_arena *a, struct ut_proc *p)
{
	char text[STAT_MOST], *name, *end;
	unsigned long user, system;
	int parent;

	if (processes_read_file(proc, pid, "stat", text, sizeof(text)) <= 0)
		return false;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name ||
	    sscanf(end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &parent, &user,
		   &system) != 3)
		return false;
	p->pid = atoi(pid);
	p->parent = parent;
	p->cpu = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
	p->name = ut_arena_copy(a, name + 1, (size_t)(end - name) - 1);
	return true;
}

static void read_details(int proc, const char *pid, struct ut_arena *a, struct ut_proc *p)
{
	char words[WORDS_MOST];
	ssize_t got = processes_read_file(proc, pid, "cmdline", words, sizeof(words));
	struct stat st;

	for (ssize_t i = 0; i < got; i++) {
		if (!words[i])
			words[i] = i + 1 < got ? ' ' : '\0';
	}
	p->words = ut_arena_copy(a, words, got > 0 ? strlen(words) : 0);
	p->user = fstatat(proc, pid, &st, 0) ? (uid_t)-1 : st.st_uid;
}

static bool processes_is_ours(int proc, const char *pid, const struct stat *own)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%.20s/exe", pid);
	return !fstatat(proc, path, &st, 0) && st.st_ino == own->st_ino && st.st_dev == own->st_dev;
}

void ut_processes_list(struct ut_arena *a, struct ut_processes *p, bool details)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = proc >= 0 ? fdopendir(dup(proc)) : NULL;
	struct ut_proc *items = NULL;
	struct stat own = { 0 };
	struct dirent *e;
	size_t cap = 0;

	*p = (struct ut_processes){ 0 };
	stat("/proc/self/exe", &own);
	while (dir && (e = readdir(dir))) {
		struct ut_proc one = { .words = "" };

		if (!isdigit((unsigned char)e->d_name[0]) || !read_stat(proc, e->d_name, a, &one))
			continue;
		one.is_unitrace = processes_is_ours(proc, e->d_name, &own);
		if (details)
			read_details(proc, e->d_name, a, &one);
		items = ut_grow(items, p->count + 1, &cap, sizeof(*items));
		items[p->count++] = one;
	}
	if (dir)
		closedir(dir);
	if (proc >= 0)
		close(proc);
	p->items = UT_NEW_N(a, struct ut_proc, p->count + 1);
	if (p->count)
		memcpy(p->items, items, p->count * sizeof(*items));
	free(items);
}

static const struct ut_proc *processes_find(const struct ut_processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->count; i++) {
		if (p->items[i].pid == pid)
			return &p->items[i];
	}
	return NULL;
}

bool ut_process_is_below(const struct ut_processes *p, pid_t a, pid_t b)
{
	for (unsigned int n = 0; n < GENERATIONS; n++) {
		const struct ut_proc *one = processes_find(p, a);

		if (!one || one->parent <= 1)
			return false;
		if (one->parent == b)
			return true;
		a = one->parent;
	}
	return false;
}

static int by_use(const void *a, const void *b)
{
	const struct ut_proc *x = a, *y = b;

	return (x->cpu < y->cpu) - (x->cpu > y->cpu);
}

void ut_processes_write(struct ut_json_writer *w)
{
	struct ut_arena arena = { 0 };
	struct ut_processes p;
	unsigned int reported = 0;
	uid_t us = geteuid();

	ut_processes_list(&arena, &p, true);
	if (p.count)
		qsort(p.items, p.count, sizeof(*p.items), by_use);
	ut_write_open(w, NULL, '[');
	for (size_t i = 0; i < p.count && reported < LISTED; i++) {
		const struct ut_proc *one = &p.items[i];

		if (!one->words[0] || one->is_unitrace || (us && one->user != us))
			continue;
		ut_write_open(w, NULL, '{');
		ut_write_i64(w, "pid", one->pid);
		ut_write_text(w, "name", one->name);
		ut_write_text(w, "words", one->words);
		ut_write_double(w, "cpu", one->cpu);
		ut_write_close(w, '}');
		reported++;
	}
	ut_write_close(w, ']');
	ut_arena_release(&arena);
}
