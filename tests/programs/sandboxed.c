/*
 * sandboxed.c - records, then has the kernel kill it for system calls that it will not make again:
 *
 *	sandboxed openat|fallocate|ftruncate|madvise|all [closed]
 *
 * and goes on recording. A thread that ends and a new name come later, too. With "closed" it closes
 * all descriptors but the first three before.
 */
#include <errno.h>
#include <ittnotify.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BEFORE 20000
#define AFTER  100000 /* more than the recording has room for without a system call */

#define KILL_FOR(number)                                                                           \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                       \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static __itt_domain *domain;
static __itt_string_handle *before, *after;

static void tasks(__itt_string_handle *name, int count)
{
	for (int i = 0; i < count; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, name);
		__itt_task_end(domain);
	}
}

static long number_of(const char *call)
{
	return !strcmp(call, "openat")      ? SYS_openat
	       : !strcmp(call, "fallocate") ? SYS_fallocate
	       : !strcmp(call, "ftruncate") ? SYS_ftruncate
	       : !strcmp(call, "madvise")   ? SYS_madvise
					    : -1;
}

static int lock_in(const char *call)
{
	long one = number_of(call);
	struct sock_filter some[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL_FOR((unsigned int)one),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter all[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL_FOR(SYS_openat),
		KILL_FOR(SYS_open),
		KILL_FOR(SYS_fallocate),
		KILL_FOR(SYS_ftruncate),
		KILL_FOR(SYS_madvise),
		KILL_FOR(SYS_prctl),
		KILL_FOR(SYS_fstat),
		KILL_FOR(SYS_pwrite64),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(all) / sizeof(*all), all };

	if (one >= 0)
		program = (struct sock_fprog){ sizeof(some) / sizeof(*some), some };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int go;
static pid_t thread_id;

/* Started before the filter is set; records and ends after that. */
static void *thread(void *unused)
{
	__atomic_store_n(&thread_id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		usleep(1000);
	tasks(after, 10);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other;

	domain = __itt_domain_create("box");
	before = __itt_string_handle_create("before");
	after = __itt_string_handle_create("after");
	tasks(before, BEFORE);
	if (pthread_create(&other, NULL, thread, NULL))
		return 2;
	while (!__atomic_load_n(&thread_id, __ATOMIC_ACQUIRE))
		usleep(100);
	if (argc > 2) /* as those do that lock themselves in */
		closefrom(3);
	if (lock_in(argc > 1 ? argv[1] : "all")) {
		printf("no filter: %s\n", strerror(errno));
		return 77;
	}
	tasks(after, AFTER);
	tasks(__itt_string_handle_create("made later"), 10);
	puts("alive");
	fflush(stdout);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	/* Until it has ended. Joining would free its stack, with a call that may be forbidden. */
	while (!syscall(SYS_tgkill, getpid(), thread_id, 0))
		usleep(100);
	_exit(3);
}
