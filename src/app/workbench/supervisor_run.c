/* supervisor_run.c - the process that keeps a run. Its current folder is the result's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/str.h"
#include "text/json_doc.h"
#include "wire/control.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"
#include "workbench/output_log.h"
#include "workbench/processes.h"
#include "workbench/remote_agent.h"
#include "workbench/remote_run.h"
#include "workbench/supervisor.h"
#include "workbench/supervisor_state.h"

#define LOCK_FD   3
#define LOOK_MS   200
#define START_MS  20 /* as long as there is no recording yet */
#define COLUMNS   120
#define LOG_MOST  (64u << 20)
#define TERM_S    10 /* a program that is asked to end has so long ... */
#define KILL_S    20 /* ... until it is told, and so long until it is ended */
#define DRAIN_MS  200
#define AGAIN_MS  2000
#define MOST_LEFT 1000u

struct supervisor {
	int at; /* the folder */
	struct ut_arena arena;
	const struct ut_doc *asked; /* result.json; NULL = it cannot be read */
	const char **words;         /* what to run, closed by NULL */
	bool is_attached;           /* the program is not ours: only the recording is ended */
	const char *directory;
	const struct ut_doc *variables;
	struct ut_output_log output;
	int screen; /* the program's terminal, from our side */
	int pipe, signals;
	pid_t pid; /* of the recording */
	enum ut_result_state state;
	double started, ended; /* s since 1970; 0 = not yet */
	int status;            /* of the program, as from waitpid(); -1 = unknown */
	char trouble[1024];
	uint64_t log_read;    /* bytes of the log that were looked at */
	double asked_to_stop; /* s; 0 = not */
	int stop_sent;        /* the last signal */
	bool is_killed;
};

static double supervisor_run_now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + round((double)t.tv_nsec / 1e6) / 1e3;
}

/* ---- what is written down ------------------------------------------------------------------- */

static void write_state(struct supervisor *k, enum ut_result_state state)
{
	k->state = state;
	ut_supervisor_state_write(k->at,
				  &(struct ut_supervisor_state){ .state = state,
								 .started = k->started,
								 .ended = k->ended,
								 .status = k->status,
								 .trouble = k->trouble,
								 .is_killed = k->is_killed });
}

static void set_trouble(struct supervisor *k, const char *text)
{
	if (text && text[0])
		snprintf(k->trouble, sizeof(k->trouble), "%s", text);
}

/* Does a backend say that it measures nothing? "NAME (PID): no hardware metrics: WHY". */
static bool is_unmeasured(const struct ut_doc *t)
{
	const char *level = ut_doc_text(t, "level"), *text = ut_doc_text(t, "text");

	return level && text && !strcmp(level, "warning") && strstr(text, ": no hardware metrics");
}

/* A line of the log: what the recording tells. */
static void look_at_line(struct supervisor *k, struct ut_str line)
{
	struct ut_arena arena = { 0 };
	const struct ut_doc *t;
	const char *kind, *path;

	if (ut_doc_read(&arena, line, &t, NULL) || !(kind = ut_doc_text(t, "kind"))) {
		ut_arena_release(&arena);
		return;
	}
	if (!strcmp(kind, "ended")) {
		k->status = (int)ut_doc_number(t, "status", -1);
		k->ended = ut_doc_number(t, "time", k->ended);
		if (k->state != UT_RESULT_WRITING)
			write_state(k, UT_RESULT_WRITING);
	} else if (!strcmp(kind, "not-started")) {
		path = ut_doc_text(t, "path");
		snprintf(k->trouble, sizeof(k->trouble), "%s: cannot be executed: %s",
			 path ? path : "", strerror((int)ut_doc_number(t, "code", ENOEXEC)));
	} else if (!strcmp(kind, "failed") || !strcmp(kind, "nothing") ||
		   !strcmp(kind, "could-not-record")) {
		set_trouble(k, ut_doc_text(t, "text"));
	} else if (!k->trouble[0] &&
		   (is_unmeasured(t) ||
		    (!strcmp(kind, "no-device") && ut_doc_flag(k->asked, "device", false)))) {
		set_trouble(k, ut_doc_text(t, "text"));
	}
	ut_arena_release(&arena);
}

static void look_at_log(struct supervisor *k)
{
	struct ut_buf text = { 0 };
	uint64_t bytes = 0;
	int fd = ut_folder_open_file(k->at, UT_LOG_FILE, &bytes, NULL);
	size_t want, done = 0;
	const char *end;
	ssize_t got = 0;

	if (fd < 0)
		return;
	want = bytes > k->log_read ? (size_t)(bytes - k->log_read) : 0;
	if (want && want < LOG_MOST)
		got = pread(fd, ut_buf_reserve(&text, want), want, (off_t)k->log_read);
	close(fd);
	while (got > 0 && (end = memchr(text.data + done, '\n', (size_t)got - done))) {
		look_at_line(k,
			     (struct ut_str){ text.data + done, (size_t)(end - text.data) - done });
		done = (size_t)(end - text.data) + 1;
	}
	k->log_read += done;
	ut_buf_release(&text);
}

/* ---- what is run ---------------------------------------------------------------------------- */

static void read_asked(struct supervisor *k)
{
	if (ut_folder_read_doc(k->at, UT_RESULT_FILE, UT_SMALL_FILE, &k->arena, &k->asked, NULL))
		k->asked = NULL;
}

static const char *read_plan(struct supervisor *k)
{
	const struct ut_doc *words = ut_doc_get(k->asked, "words");
	bool is_ours = true; /* still options, not the program's words */
	size_t count = 0;

	if (!words || words->kind != UT_DOC_LIST || !words->count)
		return UT_RESULT_FILE " does not say what to run";
	k->words = UT_NEW_N(&k->arena, const char *, words->count + 1);
	for (const struct ut_doc *w = words->first; w; w = w->next) {
		k->words[count++] = ut_doc_own_text(w);
		if (!k->words[count - 1])
			return UT_RESULT_FILE " does not say what to run";
		is_ours &= strcmp(k->words[count - 1], "--") != 0;
		k->is_attached |= is_ours && !strcmp(k->words[count - 1], "--attach");
	}
	k->directory = ut_doc_text(k->asked, "directory");
	k->variables = ut_doc_get(k->asked, "variables");
	return NULL;
}

/* A terminal, so that programs say what they have to say when they say it, and not at their end. It
 * is nobody's controlling terminal: when we are killed, the program is not. */
static int open_screen(struct supervisor *k)
{
	struct winsize size = { .ws_col = COLUMNS, .ws_row = 40 };
	struct termios t;
	int theirs;

	k->screen = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (k->screen < 0 || grantpt(k->screen) || unlockpt(k->screen))
		return -1;
	theirs = open(ptsname(k->screen), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0 || tcgetattr(theirs, &t))
		return theirs;
	t.c_oflag &= ~(tcflag_t)OPOST; /* bytes as they are */
	t.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG);
	tcsetattr(theirs, TCSANOW, &t);
	ioctl(theirs, TIOCSWINSZ, &size);
	fcntl(k->screen, F_SETFL, O_NONBLOCK);
	return theirs;
}

static _Noreturn void become(struct supervisor *k, int screen, int back)
{
	const char *directory = k->directory && k->directory[0] ? k->directory : getenv("HOME");
	int null = open("/dev/null", O_RDONLY), code = 0;
	char *const *argv;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	setsid();
	setenv("TERM", "dumb", 1); /* no colours, no moving about: it is kept as text */
	for (const struct ut_doc *v = k->variables ? k->variables->first : NULL; v; v = v->next) {
		const char *name = ut_doc_text(v, "name"), *value = ut_doc_text(v, "value");

		if (name && value && setenv(name, value, 1))
			code = errno;
	}
	if (dup2(null, 0) < 0 || dup2(screen, 1) < 0 || dup2(screen, 2) < 0)
		code = errno;
	if (!code && chdir(directory ? directory : "/")) {
		code = errno;
		dprintf(back, "%s: %s", directory, strerror(code));
		_exit(126);
	}
	memcpy(&argv, &k->words, sizeof(argv)); /* exec's prototype forgets that it only reads */
	if (!code)
		execvp(k->words[0], argv);
	dprintf(back, "%s: cannot be executed: %s", k->words[0], strerror(code ? code : errno));
	_exit(126);
}

/* False: the trouble says why. */
static bool start_program(struct supervisor *k)
{
	int back[2], screen = open_screen(k);
	ssize_t got;

	if (screen < 0 || pipe2(back, O_CLOEXEC)) {
		snprintf(k->trouble, sizeof(k->trouble), "no terminal can be made: %s",
			 strerror(errno));
		return false;
	}
	k->pid = fork();
	if (!k->pid)
		become(k, screen, back[1]);
	close(back[1]);
	close(screen);
	got = k->pid > 0 ? read(back[0], k->trouble, sizeof(k->trouble) - 1) : 0;
	close(back[0]);
	if (got > 0)
		k->trouble[got] = '\0';
	if (k->pid < 0)
		snprintf(k->trouble, sizeof(k->trouble), "no process can be started: %s",
			 strerror(errno));
	return k->pid > 0 && got <= 0;
}

/* ---- what it is told ------------------------------------------------------------------------ */

/* The program and what it has started: all that a launcher of ours is above of. Launchers stay,
 * since they have results to write. */
static void signal_programs(struct supervisor *k, int number, bool all)
{
	struct ut_arena arena = { 0 };
	struct ut_processes p;

	if (k->is_attached) { /* whoever records it is asked, as by Ctrl-C */
		kill(k->pid, number);
		return;
	}
	ut_processes_list(&arena, &p, false);
	for (size_t i = 0; i < p.count; i++) {
		const struct ut_proc *one = &p.items[i];
		bool below = all && ut_process_is_below(&p, one->pid, k->pid);

		for (size_t l = 0; !all && !below && !one->is_unitrace && l < p.count; l++)
			below = p.items[l].is_unitrace &&
				(p.items[l].pid == k->pid ||
				 ut_process_is_below(&p, p.items[l].pid, k->pid)) &&
				ut_process_is_below(&p, one->pid, p.items[l].pid);
		if (below)
			kill(one->pid, number);
	}
	ut_arena_release(&arena);
}

/* Every recording of the run has a word that switches it. */
static bool switch_session(void *ctx, int at, const char *name, unsigned char type)
{
	const enum ut_state *state = ctx;
	struct ut_control *control;

	(void)at;
	(void)type;
	if (!ut_str_ends(name, ".session") || ut_control_open(name, &control, NULL))
		return true;
	ut_control_switch(control, *state);
	ut_control_close(control);
	return true;
}

/* What the switches of a run say. Programs move them, too, and tell nobody. */
struct switches {
	bool any, on;
};

static bool look_at_session(void *ctx, int at, const char *name, unsigned char type)
{
	struct switches *s = ctx;
	struct ut_control *control;

	(void)at;
	(void)type;
	if (!ut_str_ends(name, ".session") || ut_control_open(name, &control, NULL))
		return true;
	s->any = true;
	s->on |= atomic_load(ut_control_state(control)) == UT_STATE_RUNNING;
	ut_control_close(control);
	return true;
}

static void look_at_switch(struct supervisor *k)
{
	enum ut_result_state state;
	struct switches s = { 0 };

	if ((k->state != UT_RESULT_RUNNING && k->state != UT_RESULT_PAUSED &&
	     k->state != UT_RESULT_STARTING) ||
	    ut_folder_each(k->at, look_at_session, &s, NULL) || !s.any)
		return;
	state = s.on ? UT_RESULT_RUNNING : UT_RESULT_PAUSED;
	if (state != k->state)
		write_state(k, state);
}

static void run_command(struct supervisor *k, const char *word)
{
	enum ut_state state = !strcmp(word, "pause") ? UT_STATE_PAUSED : UT_STATE_RUNNING;
	bool runs = k->state == UT_RESULT_RUNNING || k->state == UT_RESULT_PAUSED;

	if ((!strcmp(word, "pause") || !strcmp(word, "resume")) && runs) {
		if (!ut_folder_each(k->at, switch_session, &state, NULL))
			write_state(k, state == UT_STATE_PAUSED ? UT_RESULT_PAUSED
								: UT_RESULT_RUNNING);
	} else if (!strcmp(word, "stop") && !(k->asked_to_stop > 0)) {
		k->asked_to_stop = supervisor_run_now_s(CLOCK_MONOTONIC);
		k->stop_sent = SIGINT;
		signal_programs(k, SIGINT, false);
	} else if (!strcmp(word, "kill")) {
		k->is_killed = true;
		signal_programs(k, SIGKILL, true);
		kill(k->pid, SIGKILL);
	}
}

static void read_commands(struct supervisor *k)
{
	char text[256];
	ssize_t got = read(k->pipe, text, sizeof(text) - 1);
	char *at = text, *end;

	if (got <= 0)
		return;
	text[got] = '\0';
	while ((end = strchr(at, '\n'))) {
		*end = '\0';
		run_command(k, at);
		at = end + 1;
	}
}

/* Who does not end when asked is told, and then ended. */
static void insist(struct supervisor *k)
{
	double waited =
		k->asked_to_stop > 0 ? supervisor_run_now_s(CLOCK_MONOTONIC) - k->asked_to_stop : 0;
	int number = waited > KILL_S ? SIGKILL : waited > TERM_S ? SIGTERM : SIGINT;

	if (!(k->asked_to_stop > 0) || number == k->stop_sent || k->state == UT_RESULT_WRITING)
		return;
	k->stop_sent = number;
	signal_programs(k, number, false);
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* False at the end of what is said. */
static bool read_screen(struct supervisor *k)
{
	char text[16384];
	ssize_t got = read(k->screen, text, sizeof(text));

	if (got > 0)
		ut_output_log_add(&k->output, text, (size_t)got);
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static void wait_for_end(struct supervisor *k, int *status)
{
	struct pollfd p[3] = { { .fd = k->screen, .events = POLLIN },
			       { .fd = k->pipe, .events = POLLIN },
			       { .fd = k->signals, .events = POLLIN } };

	while (waitpid(k->pid, status, WNOHANG) == 0) {
		struct signalfd_siginfo info;

		poll(p, 3, k->state == UT_RESULT_STARTING ? START_MS : LOOK_MS);
		look_at_log(k);
		look_at_switch(k); /* before anybody reads what was said since */
		if (p[0].revents && !read_screen(k))
			p[0].fd = -1; /* nobody has it open any more */
		if (p[1].revents)
			read_commands(k);
		if (p[2].revents &&
		    read(k->signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
		    info.ssi_signo == SIGTERM)
			run_command(k, "stop"); /* the machine is shut down, say */
		insist(k);
	}
	/* the rest of what was said; a child that holds the terminal is not waited for */
	for (int waited = 0; p[0].fd >= 0 && waited < DRAIN_MS; waited += 10) {
		if (poll(p, 1, 10) > 0 && !read_screen(k))
			break;
	}
}

static void supervisor_run_finish(struct supervisor *k, int status)
{
	bool ran;

	look_at_log(k); /* that the program has ended may be its last line */
	ran = k->status >= 0;
	if (!(k->ended > 0))
		k->ended = supervisor_run_now_s(CLOCK_REALTIME);
	if (k->status < 0)
		k->status = status;
	if (k->is_killed)
		set_trouble(k, "cancelled");
	else if (!ran && !k->trouble[0] && status)
		set_trouble(k, "the recording could not be made; its output says why");
	write_state(k, k->is_killed || (!ran && status) ? UT_RESULT_FAILED : UT_RESULT_READY);
}

/* ---- what somebody else has left ------------------------------------------------------------ */

/* Recordings whose launcher was killed. */
struct leftovers {
	struct supervisor *supervisor;
	const char *words[MOST_LEFT + 10];
	size_t count;
};

static bool find_leftover(void *ctx, int at, const char *name, unsigned char type)
{
	struct leftovers *l = ctx;
	struct ut_control *control;
	uint32_t ended;

	(void)at;
	if (type != DT_DIR || !ut_str_ends(name, ".session"))
		return true;
	l->words[l->count++] = ut_str_fmt(&l->supervisor->arena, "./%s", name);
	if (!ut_control_open(name, &control, NULL)) {
		ended = atomic_load(&control->ended);
		if (ended & UT_CONTROL_ENDED)
			l->supervisor->status = (int)(ended & ~UT_CONTROL_ENDED);
		ut_control_close(control);
	}
	return l->count < MOST_LEFT;
}

/* Runs our own `export`; its last words are the trouble. The status. */
static int run_export(struct supervisor *k, const char **words)
{
	int back[2], status = -1;
	char text[sizeof(k->trouble)];
	char *const *argv;
	ssize_t got;
	pid_t pid;

	if (pipe2(back, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(back[1], 2);
		memcpy(&argv, &words, sizeof(argv));
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	close(back[1]);
	k->trouble[0] = '\0';
	while (pid > 0 && (got = read(back[0], text, sizeof(text) - 1)) > 0) {
		text[got] = '\0';
		set_trouble(k, text);
	}
	close(back[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return status;
}

/* What was recorded until it was cut off becomes files, as soon as nobody records any more. */
static int supervise_recovery(struct supervisor *k)
{
	struct leftovers l = { .supervisor = k,
			       .words = { "unitrace", "export", "--quiet", "--format", "utr",
					  "--output-dir-path", ".", "--remove", "--" },
			       .count = 9 };
	int status;

	k->started = supervisor_run_now_s(CLOCK_REALTIME);
	if (ut_folder_each(k->at, find_leftover, &l, NULL) || l.count == 9) {
		set_trouble(k, "it was cut off before anything was recorded");
		write_state(k, UT_RESULT_FAILED);
		return 0;
	}
	write_state(k, UT_RESULT_WRITING);
	while ((status = run_export(k, l.words)) != 0 && strstr(k->trouble, "still recording")) {
		if (k->state != UT_RESULT_RUNNING)
			write_state(k, UT_RESULT_RUNNING);
		poll(NULL, 0, AGAIN_MS);
	}
	k->ended = k->started;
	if (!status)
		set_trouble(
			k,
			"whoever kept this run was killed; what was recorded until then is here");
	write_state(k, status ? UT_RESULT_FAILED : UT_RESULT_READY);
	return 0;
}

static int supervisor_run_open_parts(struct supervisor *k, bool is_run)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	k->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	k->at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	k->pipe = open(UT_SUPERVISOR_PIPE, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	fcntl(LOCK_FD, F_SETFD, FD_CLOEXEC); /* the lock is ours, not the program's */
	fcntl(UT_SUPERVISOR_SECRET_FD, F_SETFD, FD_CLOEXEC);
	if (k->at < 0 || k->pipe < 0 || k->signals < 0)
		return -1;
	return is_run ? ut_output_log_open(&k->output, k->at, NULL) : 0;
}

/* Another machine does it: what is asked for says so. */
static bool is_remote(struct supervisor *k)
{
	return ut_doc_get(k->asked, "machine") != NULL;
}

static int supervise_run(struct supervisor *k)
{
	const char *wrong = read_plan(k);
	int status = 0;

	k->started = supervisor_run_now_s(CLOCK_REALTIME);
	write_state(k, UT_RESULT_STARTING);
	if (wrong || !start_program(k)) {
		set_trouble(k, wrong);
		k->ended = k->started;
		write_state(k, UT_RESULT_FAILED);
		return 0;
	}
	wait_for_end(k, &status);
	supervisor_run_finish(k, status);
	return 0;
}

static int supervise(struct supervisor *k, bool is_run)
{
	read_asked(k);
	if (!is_remote(k)) {
		close(UT_SUPERVISOR_SECRET_FD);
		return is_run ? supervise_run(k) : supervise_recovery(k);
	}
	return ut_remote_run(&(struct ut_remote_parts){ .at = k->at,
							.pipe = k->pipe,
							.signals = k->signals,
							.asked = k->asked,
							.is_new = is_run });
}

int ut_supervisor_run(const char *what)
{
	struct supervisor k = { .status = -1, .screen = -1, .output = { .head = -1, .tail = -1 } };
	bool is_run = !strcmp(what, "run");
	pid_t pid;
	int rc;

	if (!strcmp(what, "agent"))
		return ut_remote_agent_run();
	pid = fork();
	if (pid) /* who started us waits for this: from now on there is a supervisor */
		return pid < 0;
	if (supervisor_run_open_parts(&k, is_run))
		return 1;
	rc = supervise(&k, is_run);
	ut_output_log_close(&k.output);
	unlinkat(k.at, UT_SUPERVISOR_PIPE, 0);
	ut_arena_release(&k.arena);
	return rc;
}
