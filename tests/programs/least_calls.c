/*
 * least_calls.c - records, then allows itself the fewest system calls that docs/security.md names
 * beside its own, and goes on recording:
 *
 *	least_calls kill|trap|ENOSYS|EINVAL|EFAULT|EPERM [WHAT]
 *
 * The first word is what the filter does with all other calls: ends the process, sends SIGSYS, or
 * answers with an error (then pread64 is not allowed either). WHAT:
 *
 *	child    the filter is that of a forked child that has recorded nothing
 *	names    all that comes later has names of its own
 *	threads  so it has in a thread that was started before
 *	all      the filter is that of such a thread, too, and both use CPU time
 *	burn     it uses CPU time besides
 *	twice    so it does, and sets the filter once more
 *	allocs   it allocates on parts of its stack that it has not used before
 */
#include <errno.h>
#include <ittnotify.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEFORE 1000
#define AFTER  300000
#define NAMES  40000 /* more than what memory is left of one block holds */

#define ALLOW(number)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                       \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static __itt_domain *domain;
static const char *what = "";
static int started, locked_in, ended;

static void tasks(const char *name, int count)
{
	__itt_string_handle *handle = __itt_string_handle_create(name);

	for (int i = 0; i < count; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, handle);
		__itt_task_end(domain);
	}
}

static unsigned int action_of(const char *word)
{
	static const struct {
		const char *word;
		unsigned int action;
	} actions[] = {
		{ "kill", SECCOMP_RET_KILL_PROCESS },     { "trap", SECCOMP_RET_TRAP },
		{ "ENOSYS", SECCOMP_RET_ERRNO | ENOSYS }, { "EINVAL", SECCOMP_RET_ERRNO | EINVAL },
		{ "EFAULT", SECCOMP_RET_ERRNO | EFAULT }, { "EPERM", SECCOMP_RET_ERRNO | EPERM },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].word, word))
			return actions[i].action;
	return SECCOMP_RET_KILL_PROCESS;
}

static int lock_in(unsigned int action)
{
	int answers = (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
	int again = !strcmp(what, "twice");
	struct sock_filter calls[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write),
		ALLOW(SYS_exit_group),
		ALLOW(answers ? SYS_write : SYS_pread64),
		ALLOW(again ? SYS_prctl : SYS_write),
		BPF_STMT(BPF_RET | BPF_K, action),
	};
	struct sock_fprog program = { sizeof(calls) / sizeof(*calls), calls };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (!strcmp(what, "all"))
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
				    &program);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ||
	       (again && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void burn(void)
{
	volatile double sum = 0;

	for (int k = 0; k < 300; k++) {
		for (int i = 0; i < 1000000; i++)
			sum = sum + i;
		tasks("burnt", 1);
	}
}

/* Inherits no filter, but that of the first thread says what is coming. */
static void *thread(void *unused)
{
	volatile int sum = 0;

	tasks("of the thread", 10);
	__atomic_store_n(&started, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&locked_in, __ATOMIC_ACQUIRE))
		sum = sum + 1;
	tasks("of the thread", AFTER / 3);
	tasks("new in the thread", 10);
	if (!strcmp(what, "all"))
		burn();
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	while (!strcmp(what, "all")) /* it may make no call either */
		sum = sum + 1;
	for (;;)
		pause();
	return unused;
}

static void many_names(void)
{
	char name[] = "name 00000";

	for (int i = 0; i < NAMES; i++) {
		for (int at = 9, left = i; at > 4; at--, left /= 10)
			name[at] = (char)('0' + left % 10);
		tasks(name, 1);
	}
}

static void allocate(void)
{
	for (int i = 0; i < 1000; i++) {
		void *volatile block = malloc(100); /* one that was freed before: no system call */

		free(block);
	}
}

static void allocate_deep(int depth)
{
	volatile char frame[1000];

	frame[0] = frame[999] = 0;
	if (depth)
		allocate_deep(depth - 1);
	else
		allocate();
	frame[1] = frame[0];
}

static void finish(void)
{
	static const char alive[] = "alive\n";

	syscall(SYS_write, 1, alive, sizeof(alive) - 1);
	syscall(SYS_exit_group, 3);
}

int main(int argc, char **argv)
{
	pthread_t other;
	int status = 0, threads;

	what = argc > 2 ? argv[2] : "";
	threads = !strcmp(what, "threads") || !strcmp(what, "all");
	domain = __itt_domain_create("least");
	tasks("before", BEFORE);
	if (!strcmp(what, "child") && fork()) {
		wait(&status);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	if (threads)
		pthread_create(&other, NULL, thread, NULL);
	while (threads && !__atomic_load_n(&started, __ATOMIC_ACQUIRE))
		continue;
	allocate();
	if (lock_in(action_of(argc > 1 ? argv[1] : "kill"))) {
		perror("no filter");
		return 77;
	}
	__atomic_store_n(&locked_in, 1, __ATOMIC_RELEASE);
	if (!strcmp(what, "names"))
		many_names();
	else if (!strcmp(what, "burn") || !strcmp(what, "twice"))
		burn();
	else if (!strcmp(what, "allocs"))
		allocate_deep(200);
	tasks("after", AFTER);
	while (threads && !__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		continue;
	finish();
}
