/*
 * launch_probe.c - marks one ITT task "work" and then does what its words say, in order:
 *
 *   exit N | signal N | wait (until a signal) | say TEXT | child PIPE (a child that lives
 *   until we have ended and somebody opens the named pipe; "-": until we have ended) |
 *   task DOMAIN NAME | usr1 (print a line on SIGUSR1) | exec (this program again, with the words
 * that follow)
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ittnotify.h>

static __itt_domain *domain;

static void mark(const char *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
	__itt_task_end(domain);
}

static void on_usr1(int sig)
{
	static const char text[] = "got usr1\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(99);
}

/* Blocked until "wait", so that a signal which comes early is not lost. */
static void expect_usr1(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR1, on_usr1);
}

static void wait_for_signal(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigsuspend(&none);
}

static void start_child(const char *pipe_name)
{
	pid_t parent = getpid();
	int marked[2];
	char byte = 0;

	if (pipe(marked))
		_exit(97);
	if (fork()) {
		close(marked[1]);
		if (read(marked[0], &byte, 1) != 1) /* it is part of the recording now */
			_exit(97);
		close(marked[0]);
		return;
	}
	close(marked[0]);
	mark("child before");
	if (write(marked[1], &byte, 1) != 1)
		_exit(97);
	close(marked[1]);
	while (!kill(parent, 0))
		usleep(1000);
	if (strcmp(pipe_name, "-") != 0)
		close(open(pipe_name, O_RDONLY));
	mark("child after");
	_exit(0);
}

static void run_again(char *self, char **words)
{
	words[0] = self; /* the word "exec" makes room for the name */
	execv(self, words);
	_exit(98);
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	domain = __itt_domain_create("launch.probe");
	mark("work");
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "0";

		if (!strcmp(word, "exit"))
			exit(atoi(value));
		if (!strcmp(word, "signal"))
			raise(atoi(value));
		if (!strcmp(word, "say")) {
			puts(value);
			fflush(stdout);
		}
		if (!strcmp(word, "task") && i + 2 < argc) {
			domain = __itt_domain_create(value);
			mark(argv[i + 2]);
		}
		if (!strcmp(word, "child"))
			start_child(value);
		if (!strcmp(word, "usr1"))
			expect_usr1();
		if (!strcmp(word, "wait"))
			wait_for_signal();
		if (!strcmp(word, "exec"))
			run_again(argv[0], argv + i);
	}
	return 0;
}
