/*
 * waits.c - threads that wait for known things, for a known time:
 *
 *	waits MS      sleeps for MS, waits for a child's pipe and for poll() as long, joins a thread
 *		      that holds a lock for MS while another wants it, spins with sched_yield()
 *		      for MS of CPU time
 *
 * Each wait lasts MS or longer on a busy machine as well: who is waited for looks whether the other
 * one is asleep before it begins to count.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static useconds_t us;
static _Atomic pid_t wanter, joiner; /* threads that wait next, and for nothing else */

/* A thread's state in /proc, the letter behind its name. */
static int is_asleep(pid_t process, pid_t thread)
{
	char path[64], text[256] = "";
	const char *name_end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)process, (int)thread);
	f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f))
		exit(1);
	fclose(f);
	name_end = strrchr(text, ')');
	return name_end && name_end[2] == 'S';
}

static void until_asleep(pid_t process, _Atomic pid_t *thread)
{
	while (!atomic_load(thread) || !is_asleep(process, atomic_load(thread)))
		usleep(1000);
}

static void *holds(void *arg)
{
	pthread_setname_np(pthread_self(), "holder");
	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&both);
	until_asleep(getpid(), &wanter);
	until_asleep(getpid(), &joiner);
	usleep(us);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *wants(void *arg)
{
	pthread_setname_np(pthread_self(), "wanter");
	pthread_barrier_wait(&both);
	atomic_store(&wanter, gettid());
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *spins(void *arg)
{
	struct timespec t = { 0, 0 };

	pthread_setname_np(pthread_self(), "spinner");
	while ((useconds_t)t.tv_sec * 1000000 + (useconds_t)(t.tv_nsec / 1000) < us) {
		for (int i = 0; i < 1000; i++)
			sched_yield();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	struct pollfd p = { .events = POLLIN };
	int ends[2], status;
	char byte = 0;

	us = argc > 1 ? (useconds_t)atoi(argv[1]) * 1000 : 100000;
	usleep(us);
	if (pipe(ends) || pthread_barrier_init(&both, NULL, 2))
		return 1;
	if (!fork()) {
		_Atomic pid_t reader = getppid();

		until_asleep(reader, &reader);
		usleep(us);
		_exit(write(ends[1], &byte, 1) != 1);
	}
	if (read(ends[0], &byte, 1) != 1)
		return 1;
	wait(&status);
	p.fd = ends[0];
	poll(&p, 1, (int)(us / 1000));
	pthread_create(&threads[0], NULL, holds, NULL);
	pthread_create(&threads[1], NULL, wants, NULL);
	pthread_create(&threads[2], NULL, spins, NULL);
	atomic_store(&joiner, getpid());
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
