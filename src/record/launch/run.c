#define UT_LOG_MODULE "launch"
#include "launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "launch/env.h"
#include "wire/clock.h"
#include "wire/control.h"

#define SECOND UINT64_C(1000000000)

/*
 * Signals that we take while the program runs. Those from the terminal have reached the program
 * as well and are dropped; those that somebody sent to us are passed on to it.
 */
static const int taken[] = {
	SIGCHLD, SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1,  SIGUSR2,
	SIGALRM, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH,
};

/* What our caller had set, for the program and for us afterwards. */
struct signals {
	sigset_t mask;
	struct sigaction chld;
};

static void taken_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(set, taken[i]);
}

static void take_signals(struct signals *s)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t set;

	taken_set(&set);
	sigprocmask(SIG_BLOCK, &set, &s->mask);
	/* Inherited as ignored it would make the kernel throw the program's status away. */
	sigaction(SIGCHLD, &dfl, &s->chld);
}

/* In the child too: the program starts with what we were started with. */
static void give_signals_back(const struct signals *s)
{
	sigaction(SIGCHLD, &s->chld, NULL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

static struct sigaction callers_xfsz;
static bool survives;

void ut_launch_survive_limits(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	survives = !sigaction(SIGXFSZ, &ignore, &callers_xfsz);
}

void ut_launch_mind_limits(bool ours)
{
	if (survives && !ours)
		sigaction(SIGXFSZ, &callers_xfsz, NULL);
	else if (survives)
		ut_launch_survive_limits();
}

/* A limit of CPU time (`ulimit -S -t`) is meant for the program, which has it; what it has recorded
 * by then wants to be written. */
static void forget_cpu_limit(void)
{
	struct rlimit cpu;

	if (getrlimit(RLIMIT_CPU, &cpu) || cpu.rlim_cur == cpu.rlim_max)
		return;
	cpu.rlim_cur = cpu.rlim_max;
	setrlimit(RLIMIT_CPU, &cpu);
}

/* A Ctrl-C meant for the program has reached us too; it must not hit the export that follows. */
static void forget_pending(void)
{
	const struct timespec now = { 0 };
	sigset_t set;

	taken_set(&set);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
}

/* Sets name for the program; says so if the user had set it to something else. */
static void run_replace(const struct ut_launch *l, struct ut_env *env, const char *name,
			const char *value)
{
	const char *old = ut_env_get(env, name);

	if (old && old[0] && strcmp(old, value))
		ut_logger_log(l->logger, UT_WARN, "%s was '%s' and is replaced for this run", name,
			      old);
	ut_env_set(env, name, value);
}

/* A level that the user has chosen is his; 0 is what libraries have without one. */
static bool is_set(const struct ut_env *env, const char *name)
{
	const char *old = ut_env_get(env, name);

	return old && old[0] && strcmp(old, "0") != 0;
}

static void make_env(const struct ut_launch *l, struct ut_env *env, struct ut_arena *a)
{
	ut_env_init(env, a, environ);
	for (size_t i = 0; i < l->var_count; i++)
		ut_env_set(env, l->vars[i].name, l->vars[i].value);
	ut_env_set(env, UT_SESSION_ENV, l->session_dir);
	run_replace(l, env, "INTEL_LIBITTNOTIFY64", l->library);
	run_replace(l, env, "INTEL_JIT_PROFILER64", l->library);
	if (l->ccl && !is_set(env, "CCL_ITT_LEVEL"))
		ut_env_set(env, "CCL_ITT_LEVEL", "1");
	if (l->devices || l->mpi || l->sycl || l->ccl || l->memory)
		ut_inject_set_env(
			&(struct ut_inject){ .backends = ut_inject_backend_dir(a, l->library),
					     .session_dir = l->session_dir,
					     .devices = l->devices,
					     .metrics = l->metrics,
					     .mpi = l->mpi,
					     .sycl = l->sycl,
					     .ccl = l->ccl,
					     .memory = l->memory,
					     .opencl = l->opencl,
					     .logger = l->logger },
			env);
	if (l->also && !ut_env_preload(env, l->also))
		ut_logger_log(l->logger, UT_WARN,
			      "%s: a blank or colon in the path: it cannot be loaded", l->also);
	if (l->preload && !ut_env_preload(env, l->library))
		ut_logger_log(
			l->logger, UT_WARN,
			"%s: a blank or colon in the path: PTI_ENABLE_COLLECTION is not watched",
			l->library);
}

/* Two pipes: the child's errno comes back through one, the other tells it to go on. */
struct pipes {
	int back[2], go[2];
};

static int open_pipes(struct pipes *p, struct ut_err *err)
{
	if (pipe2(p->back, O_CLOEXEC))
		return ut_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	if (!pipe2(p->go, O_CLOEXEC))
		return 0;
	close(p->back[0]);
	close(p->back[1]);
	return ut_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
}

/* Until the other end is closed. */
static void wait_for_go(struct pipes *p)
{
	char none;

	close(p->go[1]);
	while (read(p->go[0], &none, 1) < 0 && errno == EINTR)
		;
}

/* Takes this process's place, or tells why not: errno through the pipe. */
static void execute(const char *const *words, char *const *env, int pipe_fd)
{
	char *const *argv;
	int code;

	memcpy(&argv, &words, sizeof(argv)); /* exec's prototype forgets that it only reads */
	execvpe(words[0], argv, env);
	code = errno;
	if (write(pipe_fd, &code, sizeof(code)) != (ssize_t)sizeof(code))
		_exit(125);
	errno = code;
}

/*
 * In the child. Comes back only through the pipe: one errno or two before end of file. Where the
 * variables that we have added are too much for the system, the program starts without them.
 */
static _Noreturn void become(const struct ut_launch *l, char *const *env, const struct signals *s,
			     struct pipes *pipes)
{
	wait_for_go(pipes);

	atomic_store(&l->control->root_pid, (uint32_t)getpid());
	give_signals_back(s);
	ut_launch_mind_limits(false);
	execute(l->argv, env, pipes->back[1]);
	if (errno == E2BIG)
		execute(l->argv, environ, pipes->back[1]);
	_exit(127);
}

/* The child's errno, or 0 when exec closed the pipe. */
static int read_exec_error(const struct ut_launch *l, int fd)
{
	int codes[2] = { 0, 0 };
	size_t got = 0;
	ssize_t n;

	do {
		n = read(fd, (char *)codes + got, sizeof(codes) - got);
		got += n > 0 ? (size_t)n : 0;
	} while ((n < 0 && errno == EINTR) || (n > 0 && got < sizeof(codes)));
	if (codes[0] != E2BIG || codes[1])
		return codes[0];
	ut_logger_log(
		l->logger, UT_WARN,
		"%s is not recorded: with our variables its environment and arguments are too long "
		"for the system, so it runs without them",
		l->argv[0]);
	return 0;
}

/*
 * The program was stopped from the terminal (Ctrl-Z, or background input). Whoever waits for us
 * expects to see us stop, too, and to wake both of us. A plain SIGSTOP is not copied: who sent it
 * to the program alone will wake the program alone.
 */
static void stop_too(pid_t pid, int sig)
{
	sigset_t set;

	if (sig != SIGTSTP && sig != SIGTTIN && sig != SIGTTOU)
		return;
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(pid, SIGCONT);
}

static void pass_on(const struct ut_launch *l, pid_t pid, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD || info->si_code > 0)
		return;
	if (info->si_pid == pid || info->si_pid == getpid())
		return; /* it has signalled its own group, which includes itself */
	ut_logger_log(l->logger, UT_DEBUG, "signal %d from %ld goes to %ld", info->si_signo,
		      (long)info->si_pid, (long)pid);
	kill(pid, info->si_signo);
}

/* True when the program has ended; *status is final then. */
static bool reap(pid_t pid, int *status)
{
	pid_t got;

	while ((got = waitpid(pid, status, WNOHANG | WUNTRACED)) == pid) {
		if (!WIFSTOPPED(*status))
			return true;
		stop_too(pid, WSTOPSIG(*status));
	}
	return got < 0 && errno != EINTR;
}

static int wait_for(pid_t pid, const struct ut_launch *l)
{
	uint64_t next = ut_clock_ns(CLOCK_MONOTONIC) + SECOND;
	uint64_t alarm = l->at_alarm ? l->at_alarm(l->ctx, next - SECOND) : 0;
	int status = 0;
	sigset_t set;

	taken_set(&set);
	while (!reap(pid, &status)) {
		uint64_t now = ut_clock_ns(CLOCK_MONOTONIC);
		struct timespec rest = { 0 };
		siginfo_t info;

		if (now >= next) {
			ut_control_tick(l->control);
			if (l->each_second)
				l->each_second(l->ctx);
			now = ut_clock_ns(CLOCK_MONOTONIC);
			next = now + SECOND;
		}
		if (alarm && now >= alarm)
			alarm = l->at_alarm(l->ctx, now);
		rest.tv_nsec = (long)((alarm && alarm < next ? alarm : next) - now);
		rest.tv_nsec -= rest.tv_nsec >= (long)SECOND;
		if (sigtimedwait(&set, &info, &rest) > 0)
			pass_on(l, pid, &info);
	}
	ut_control_tick(l->control);
	return status;
}

int ut_launch_run(const struct ut_launch *l, struct ut_arena *a, struct ut_launch_result *r,
		  struct ut_err *err)
{
	struct signals saved;
	struct ut_env env;
	struct pipes pipes;
	int rc;

	*r = (struct ut_launch_result){ 0 };
	make_env(l, &env, a);
	rc = open_pipes(&pipes, err);
	if (rc)
		return rc;
	take_signals(&saved);
	r->pid = fork();
	if (r->pid == 0)
		become(l, env.vars, &saved, &pipes);
	close(pipes.back[1]);
	forget_cpu_limit();
	if (r->pid > 0 && l->before_exec)
		l->before_exec(l->ctx, r->pid);
	close(pipes.go[0]);
	close(pipes.go[1]);
	if (r->pid > 0) {
		r->exec_errno = read_exec_error(l, pipes.back[0]);
		r->status = wait_for(r->pid, l);
		forget_pending();
	} else {
		ut_err_set(err, -errno, "cannot start a process: %s", strerror(errno));
	}
	close(pipes.back[0]);
	give_signals_back(&saved);
	return r->pid < 0 ? -EAGAIN : 0;
}

_Noreturn void ut_launch_end_as(int status)
{
	const struct rlimit none = { 0, 0 };
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t set;
	int sig;

	if (!WIFSIGNALED(status))
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 125);
	sig = WTERMSIG(status);
	/* The program's core is the interesting one; ours must not take its place. A limit of 0
	 * does not stop a core that is piped to a program, not being dumpable does. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	sigaction(sig, &dfl, NULL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	exit(128 + sig);
}

bool ut_launch_pause(uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / SECOND), (long)(ns % SECOND) };
	sigset_t set, old;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	sig = sigtimedwait(&set, NULL, &t);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return sig < 0;
}
