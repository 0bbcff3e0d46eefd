#include "workbench/remote_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/folder.h"
#include "workbench/machines.h"
#include "workbench/output_log.h"
#include "workbench/remote_deploy.h"
#include "workbench/remote_frames.h"
#include "workbench/remote_tunnel.h"
#include "workbench/ssh.h"
#include "workbench/supervisor.h"
#include "workbench/supervisor_state.h"

#define OWN_FOLDER "../../.unitrace" /* from a result: the server's own */
#define LOOK_MS    200
#define SEND_MS    30000
#define BYE_MS     10000
#define TRIES      5 /* to reach the machine again, after 1, 2, 4 and 8 s */
#define WORDS_MOST 4096u
#define BACKLOG    16
#define POLLED     (UT_SSH_POLLED + 3) /* besides connections */

struct remote {
	const struct ut_remote_parts *parts;
	struct ut_arena arena;
	struct ut_machine target;
	struct ut_ssh_opts opts;
	struct ut_ssh ssh;
	struct ut_remote_reader reader;
	struct ut_output_log output;
	struct ut_buf words; /* to be sent */
	char secret[UT_SUPERVISOR_SECRET_MAX], program[PATH_MAX];
	char trouble[1024];
	struct ut_supervisor_state state; /* as it is written down here */
	enum ut_result_state there;       /* as the other side has it */
	char there_trouble[1024];
	uint64_t output_next;
	uint64_t files, code;     /* that came; bytes of those that lie in a folder */
	const char *folder, *run; /* there; NULL = not started yet */
	int viewer;               /* a socket: who looks at the run while it lasts; -1 = none */
	struct ut_tunnels tunnels;
	uint64_t talked; /* connections so far */
	bool is_lost;    /* in the middle of a piece */
	bool is_over;
};

static double remote_run_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + round((double)t.tv_nsec / 1e6) / 1e3;
}

static void write_state(struct remote *f, enum ut_result_state state)
{
	f->state.state = state;
	f->state.trouble = f->trouble;
	ut_supervisor_state_write(f->parts->at, &f->state);
}

static int remote_run_fail(struct remote *f, const char *why)
{
	if (why[0])
		snprintf(f->trouble, sizeof(f->trouble), "%s", why);
	if (!(f->state.ended > 0))
		f->state.ended = remote_run_now_s();
	write_state(f, UT_RESULT_FAILED);
	return 0;
}

/* ---- where it lies -------------------------------------------------------------------------- */

static void remote_run_read_place(struct remote *f)
{
	const struct ut_doc *t;

	if (ut_folder_read_doc(f->parts->at, UT_REMOTE_PLACE_FILE, UT_SMALL_FILE, &f->arena, &t,
			       NULL))
		return;
	f->folder = ut_doc_text(t, "folder");
	f->run = f->folder ? ut_doc_text(t, "run") : NULL;
}

static int set_place(struct remote *f, struct ut_str folder, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	int rc;

	f->folder = ut_arena_copy(&f->arena, folder.ptr, folder.len);
	f->run = ut_path_base(f->folder);
	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "folder", f->folder);
	ut_write_text(&w, "run", f->run);
	ut_write_close(&w, '}');
	rc = ut_folder_write(f->parts->at, UT_REMOTE_PLACE_FILE,
			     (struct ut_str){ text.data, text.len }, err);
	ut_buf_release(&text);
	return rc;
}

/* ---- who looks at it ------------------------------------------------------------------------ */

static void open_viewer(struct remote *f)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = UT_REMOTE_VIEWER };

	if (f->viewer >= 0)
		return;
	unlinkat(f->parts->at, UT_REMOTE_VIEWER, 0); /* of a supervisor that was killed */
	f->viewer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (f->viewer >= 0 &&
	    (bind(f->viewer, (struct sockaddr *)&at, sizeof(at)) || listen(f->viewer, BACKLOG))) {
		close(f->viewer);
		f->viewer = -1;
	}
}

static void close_viewer(struct remote *f)
{
	ut_tunnels_release(&f->tunnels);
	if (f->viewer < 0)
		return;
	close(f->viewer);
	f->viewer = -1;
	unlinkat(f->parts->at, UT_REMOTE_VIEWER, 0);
}

int ut_remote_connect(int at)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd, rc;

	if (faccessat(at, UT_REMOTE_VIEWER, F_OK, AT_SYMLINK_NOFOLLOW))
		return -ENOENT;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/" UT_REMOTE_VIEWER, at);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return fd;
	rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc;
}

static void send_tunnel(void *ctx, uint64_t number, struct ut_str bytes)
{
	struct remote *f = ctx;
	char head[64];
	int len = snprintf(head, sizeof(head), "talk %" PRIu64 " %zu\n", number, bytes.len);

	f->is_lost = f->is_lost || ut_ssh_send(&f->ssh, head, (size_t)len, SEND_MS) ||
		     (bytes.len && ut_ssh_send(&f->ssh, bytes.ptr, bytes.len, SEND_MS));
}

static void tend_viewer(struct remote *f)
{
	/* cppcheck-suppress nullPointer */
	int fd = f->viewer >= 0 ? accept4(f->viewer, NULL, NULL, SOCK_CLOEXEC) : -1;

	if (fd >= 0)
		ut_tunnels_add(&f->tunnels, ++f->talked, fd);
	ut_tunnels_move(&f->tunnels, send_tunnel, f);
}

/* ---- what it tells -------------------------------------------------------------------------- */

static enum ut_result_state remote_run_state_of(const char *word)
{
	for (int i = 0; word && i <= UT_RESULT_CUT; i++) {
		if (!strcmp(word, ut_result_state_word((enum ut_result_state)i)))
			return (enum ut_result_state)i;
	}
	return UT_RESULT_RUNNING;
}

/* How it goes there. What is over there is still being brought here. */
static void take_state(struct remote *f, struct ut_str text)
{
	struct ut_arena arena = { 0 };
	const struct ut_doc *t;
	const char *trouble;

	if (!ut_doc_read(&arena, text, &t, NULL)) {
		double seconds = ut_doc_number(t, "seconds", -1);

		trouble = ut_doc_text(t, "trouble");
		snprintf(f->there_trouble, sizeof(f->there_trouble), "%s", trouble ? trouble : "");
		f->there = remote_run_state_of(ut_doc_text(t, "state"));
		f->state.status = (int)ut_doc_number(t, "status", -1);
		f->state.ended = seconds >= 0 ? f->state.started + seconds : 0;
		f->state.is_killed |= ut_doc_flag(t, "cancelled", false);
		f->trouble[0] = '\0';
		if (f->there == UT_RESULT_RUNNING || f->there == UT_RESULT_PAUSED)
			open_viewer(f);
		else
			close_viewer(f);
		write_state(f, f->there == UT_RESULT_READY || f->there == UT_RESULT_FAILED
				       ? UT_RESULT_WRITING
				       : f->there);
	}
	ut_arena_release(&arena);
}

/* What was told before the connection was lost is told again. */
static void take_output(struct remote *f, uint64_t offset, struct ut_str bytes)
{
	uint64_t known = f->output_next > offset ? f->output_next - offset : 0;

	if (known >= bytes.len)
		return;
	ut_output_log_add(&f->output, bytes.ptr + known, bytes.len - (size_t)known);
	f->output_next = offset + bytes.len;
}

/* Files of the result that are written here, whatever the other side says. */
static bool remote_run_is_ours(const char *name)
{
	static const char *const ours[] = {
		UT_PROJECT_FILE,    UT_RESULT_FILE,       UT_STATE_FILE,   UT_LOG_FILE,
		UT_OUTPUT_FILE,     "output.more.txt",    UT_NOTES_FILE,   UT_SUMMARY_FILE,
		UT_SUPERVISOR_PIPE, UT_REMOTE_PLACE_FILE, UT_REMOTE_VIEWER
	};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (!strcmp(name, ours[i]))
			return true;
	}
	return false;
}

/* A piece of a file, which may not leave a hole. make: it may be new. */
static int take_bytes(int at, const char *name, bool make, uint64_t offset, struct ut_str bytes,
		      struct ut_err *err)
{
	int flags = O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (make ? O_CREAT : 0);
	int fd = openat(at, name, flags | (bytes.len ? 0 : O_TRUNC), 0600);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || offset > (uint64_t)st.st_size)) {
		close(fd);
		return ut_err_set(err, -EPROTO, "the other side sends no whole file: %s", name);
	}
	while (fd >= 0 && bytes.len) {
		ssize_t n = pwrite(fd, bytes.ptr, bytes.len, (off_t)offset);

		if (n < 0 && errno != EINTR)
			break;
		offset += n > 0 ? (uint64_t)n : 0;
		bytes = ut_str_from(bytes, bytes.ptr + (n > 0 ? n : 0));
	}
	if (fd < 0 || bytes.len)
		ut_err_set(err, -EIO, "%s cannot be written here: %s", name, strerror(errno));
	if (fd >= 0)
		close(fd);
	return fd < 0 || bytes.len ? -EIO : 0;
}

/* It begins with no bytes: so what begins can be counted. */
static int take_file(struct remote *f, const struct ut_remote_frame *frame, struct ut_err *err)
{
	const char *slash = strchr(frame->name, '/');
	bool begins = !frame->bytes.len;
	char top[UT_REMOTE_NAME_MOST];
	int at = f->parts->at, rc;

	snprintf(top, sizeof(top), "%.*s",
		 (int)(slash ? (size_t)(slash - frame->name) : strlen(frame->name)), frame->name);
	if (remote_run_is_ours(top))
		return ut_err_set(err, -EPROTO, "the other side sends a file of ours: %s", top);
	f->files += begins;
	f->code += slash ? frame->bytes.len : 0;
	if (f->files > UT_REMOTE_FILES_MOST || f->code > UT_REMOTE_FOLDER_MOST)
		return ut_err_set(err, -EPROTO, "the other side sends more than a result has");
	if (slash)
		at = ut_folder_open(at, top, begins, err);
	if (at < 0)
		return -EPROTO;
	rc = take_bytes(at, slash ? slash + 1 : top, begins, frame->offset, frame->bytes, err);
	if (slash)
		close(at);
	return rc;
}

static int take_frame(struct remote *f, const struct ut_remote_frame *frame, struct ut_err *err)
{
	switch (frame->kind) {
	case UT_REMOTE_STATE:
		take_state(f, frame->bytes);
		return 0;
	case UT_REMOTE_OUTPUT:
		take_output(f, frame->offset, frame->bytes);
		return 0;
	case UT_REMOTE_LOG:
		return take_bytes(f->parts->at, UT_LOG_FILE, true, frame->offset, frame->bytes,
				  err);
	case UT_REMOTE_FILE:
		return take_file(f, frame, err);
	case UT_REMOTE_FOLDER:
		return f->folder ? 0 : set_place(f, frame->bytes, err);
	case UT_REMOTE_END:
		f->is_over = true;
		return 0;
	case UT_REMOTE_TUNNEL:
		ut_tunnels_take(&f->tunnels, frame->offset, frame->bytes);
		return 0;
	case UT_REMOTE_ERROR:
		return ut_err_set(err, -ECANCELED, "%s: %.*s", f->target.host,
				  (int)frame->bytes.len, frame->bytes.ptr);
	case UT_REMOTE_ANSWER:
		break;
	}
	return ut_err_set(err, -EPROTO, "the other side does not speak as our agent does");
}

static int take_frames(struct remote *f, struct ut_err *err)
{
	struct ut_remote_frame frame;
	int rc;

	while ((rc = ut_remote_reader_next(&f->reader, &frame, err)) > 0 && !f->is_over) {
		rc = take_frame(f, &frame, err);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

/* ---- what it is told ------------------------------------------------------------------------ */

static void read_commands(struct remote *f)
{
	struct signalfd_siginfo info;
	char text[256];
	ssize_t got = read(f->parts->pipe, text, sizeof(text));

	if (got > 0 && f->words.len < WORDS_MOST) {
		ut_buf_add(&f->words, text, (size_t)got);
		f->state.is_killed |= memmem(text, (size_t)got, "kill\n", 5) != NULL;
	}
	while (read(f->parts->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTERM) /* this machine is shut down, say */
			ut_buf_text(&f->words, "stop\n");
	}
}

static int send_words(struct remote *f)
{
	int rc = f->words.len ? ut_ssh_send(&f->ssh, f->words.data, f->words.len, SEND_MS) : 0;

	if (!rc)
		f->words.len = 0;
	return rc;
}

/* What it shall do: start, or go on with what was started. */
static int send_ask(struct remote *f)
{
	const struct ut_doc *asked = f->parts->asked;
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	char here[PATH_MAX];
	int rc;

	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "do", f->run ? "again" : "run");
	if (f->run) {
		ut_write_text(&w, "run", f->run);
	} else {
		ut_write_text(&w, "name", getcwd(here, sizeof(here)) ? ut_path_base(here) : "run");
		ut_write_doc(&w, "words", ut_doc_get(asked, "words"));
		ut_write_doc(&w, "own", ut_doc_get(asked, "own"));
		ut_write_flag(&w, "device", ut_doc_flag(asked, "device", false));
		ut_write_doc(&w, "directory", ut_doc_get(asked, "directory"));
		ut_write_doc(&w, "variables", ut_doc_get(asked, "variables"));
	}
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	rc = ut_ssh_send(&f->ssh, text.data, text.len, SEND_MS);
	ut_buf_release(&text);
	return rc;
}

/* ---- staying in touch ----------------------------------------------------------------------- */

static int read_some(struct remote *f, struct ut_err *err)
{
	char piece[65536];
	ssize_t got = ut_ssh_receive(&f->ssh, piece, sizeof(piece), 0);
	struct timespec t;
	int rc;

	if (got < 0)
		return ut_ssh_why(&f->ssh, err);
	ut_remote_reader_add(&f->reader, piece, (size_t)got);
	rc = take_frames(f, err);
	clock_gettime(CLOCK_MONOTONIC, &t);
	if (!rc && ut_remote_reader_is_late(&f->reader, t.tv_sec * 1000 + t.tv_nsec / 1000000 + 1))
		rc = ut_err_set(err, -ECONNRESET, "%s: stopped in the middle of a message for %d s",
				f->target.host, UT_REMOTE_FRAME_MS / 1000);
	return rc;
}

/* Until everything is here. */
static int stay(struct remote *f, struct ut_err *err)
{
	struct pollfd p[POLLED + UT_TUNNELS_MAX];
	int rc = take_frames(f, err);

	while (!rc && !f->is_over) {
		ut_ssh_poll(&f->ssh, p);
		p[UT_SSH_POLLED] = (struct pollfd){ .fd = f->parts->pipe, .events = POLLIN };
		p[UT_SSH_POLLED + 1] = (struct pollfd){ .fd = f->parts->signals, .events = POLLIN };
		p[UT_SSH_POLLED + 2] = (struct pollfd){ .fd = f->viewer, .events = POLLIN };
		ut_tunnels_poll(&f->tunnels, p + POLLED);
		poll(p, POLLED + UT_TUNNELS_MAX, LOOK_MS);
		rc = read_some(f, err);
		read_commands(f);
		tend_viewer(f);
		if (!rc && (f->is_lost || send_words(f)))
			rc = ut_ssh_why(&f->ssh, err);
	}
	return rc;
}

static void say_goodbye(struct remote *f)
{
	struct ut_buf text = { 0 };

	if (!ut_ssh_send(&f->ssh, "got\n", 4, SEND_MS) &&
	    !ut_spawned_finish(&f->ssh.program, &text, BYE_MS, NULL) && !f->ssh.program.status)
		unlinkat(f->parts->at, UT_REMOTE_PLACE_FILE, 0);
	ut_buf_release(&text);
}

/* One connection: from the first word to the last file. */
static int visit(struct remote *f, struct ut_err *err)
{
	int rc = ut_remote_open(&f->ssh, &f->opts, &f->reader, NULL, err);

	f->is_lost = false;
	f->files = f->code = 0; /* everything is told again */
	if (!rc && send_ask(f))
		rc = ut_ssh_why(&f->ssh, err);
	if (!rc)
		rc = stay(f, err);
	close_viewer(f);
	if (!rc)
		say_goodbye(f);
	ut_ssh_release(&f->ssh);
	ut_remote_reader_release(&f->reader);
	return rc;
}

/* Only a run that has begun there is worth another try, and only what may pass. */
static bool may_pass(const struct remote *f, int rc)
{
	return f->run && !f->state.is_killed &&
	       (rc == -ECONNRESET || rc == -EHOSTUNREACH || rc == -EIO || rc == -EPIPE);
}

static int stay_in_touch(struct remote *f, struct ut_err *err)
{
	int rc = -EIO, wait_s = 1;

	for (int tries = 0; tries < TRIES; tries++) {
		*err = (struct ut_err){ 0 };
		rc = visit(f, err);
		if (!rc || !may_pass(f, rc))
			break;
		snprintf(f->trouble, sizeof(f->trouble), "%.900s; trying again", err->text);
		write_state(f, f->state.state);
		if (tries + 1 < TRIES)
			poll(NULL, 0, wait_s * 1000);
		wait_s *= 2;
		read_commands(f);
	}
	return rc;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

static const char *remote_run_open_parts(struct remote *f, struct ut_err *err)
{
	ssize_t got = read(UT_SUPERVISOR_SECRET_FD, f->secret, sizeof(f->secret) - 1);

	close(UT_SUPERVISOR_SECRET_FD);
	f->secret[got > 0 ? got : 0] = '\0';
	if (got > 0) /* in no core, and no other process of the user's may look into us */
		prctl(PR_SET_DUMPABLE, 0);
	if (ut_machine_read(&f->arena, ut_doc_get(f->parts->asked, "machine"), &f->target, err))
		return err->text;
	if (readlink("/proc/self/exe", f->program, sizeof(f->program) - 1) <= 0)
		return "/proc/self/exe cannot be read: is /proc mounted?";
	f->opts = (struct ut_ssh_opts){ .target = &f->target,
					.own = open(OWN_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
					.program = f->program,
					.secret = f->secret[0] ? f->secret : NULL };
	if (f->opts.own < 0)
		return "the server's folder cannot be opened";
	if (ut_output_log_open(&f->output, f->parts->at, err))
		return err->text;
	if (!f->parts->is_new)
		remote_run_read_place(f);
	return f->parts->is_new || f->run
		       ? NULL
		       : "it was cut off before anything ran on the other machine";
}

static int remote_run_finish(struct remote *f, int rc, const struct ut_err *err)
{
	if (rc && f->folder && rc != -ECANCELED) {
		snprintf(f->trouble, sizeof(f->trouble),
			 "%.450s. What runs or was recorded there lies in %.200s:%.250s; fetch it "
			 "when it can be reached",
			 err->text, f->target.host, f->folder);
		return remote_run_fail(f, "");
	}
	if (rc)
		return remote_run_fail(f, err->text);
	snprintf(f->trouble, sizeof(f->trouble), "%s", f->there_trouble);
	write_state(f, f->there);
	return 0;
}

int ut_remote_run(const struct ut_remote_parts *parts)
{
	struct remote f = { .parts = parts,
			    .ssh = UT_SSH_NONE,
			    .output = { .head = -1, .tail = -1 },
			    .opts = { .own = -1 },
			    .viewer = -1,
			    .state = { .status = -1, .started = remote_run_now_s() } };
	struct ut_err err = { 0 };
	const char *wrong = remote_run_open_parts(&f, &err);
	int rc;

	write_state(&f, UT_RESULT_STARTING);
	if (wrong) {
		remote_run_fail(&f, wrong);
	} else {
		rc = stay_in_touch(&f, &err);
		remote_run_finish(&f, rc, &err);
	}
	explicit_bzero(f.secret, sizeof(f.secret));
	ut_output_log_close(&f.output);
	if (f.opts.own >= 0)
		close(f.opts.own);
	ut_buf_release(&f.words);
	ut_arena_release(&f.arena);
	return 0;
}
