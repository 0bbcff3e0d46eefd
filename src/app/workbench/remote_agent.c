#include "workbench/remote_agent.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "version.h"
#include "workbench/data_dir.h"
#include "workbench/devices.h"
#include "workbench/folder.h"
#include "workbench/output_log.h"
#include "workbench/processes.h"
#include "workbench/remote_agents.h"
#include "workbench/remote_frames.h"
#include "workbench/remote_tunnel.h"
#include "workbench/supervisor.h"
#include "workbench/viewer.h"

#define LOOK_MS   100
#define TO        1 /* standard output */
#define PIECE     (128u << 10)
#define NAME_TRY  100
#define OUR_WORDS 7u
#define LINE_MOST 64u
#define VIEWER    ".viewer" /* its socket, in the folder of the run */

/* Nothing is there to be shown yet. */
static const char no_trace[] = "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n"
			       "Content-Length: 38\r\nConnection: close\r\n\r\n"
			       "{\"error\":\"nothing was recorded here\"}\n";

struct agent {
	struct ut_arena arena;
	struct ut_buf heard; /* of standard input */
	char program[PATH_MAX];
	int runs, at;     /* folders: of all runs, and of ours */
	const char *name; /* of ours */
	char *state;      /* as it was told */
	uint64_t output, log;
	uint64_t files, code;      /* handed over; bytes of those that lie in a folder */
	struct ut_tunnels tunnels; /* with the viewer, which is started when somebody looks */
	struct ut_viewer viewer;
	bool is_left;      /* nobody listens any more */
	bool is_recovered; /* what a supervisor that was killed has left */
	bool has_got;      /* everything, on the other side */
};

static struct ut_str str_of(const struct ut_buf *b)
{
	return (struct ut_str){ b->data ? b->data : "", b->len };
}

static void remote_agent_report(struct agent *g, enum ut_remote_kind kind, const char *name,
				uint64_t offset, struct ut_str bytes)
{
	if (!g->is_left && ut_remote_write(TO, kind, name, offset, bytes))
		g->is_left = true;
}

static int sorry(struct agent *g, const char *why)
{
	remote_agent_report(g, UT_REMOTE_ERROR, "-", 0, ut_str_of(why));
	return 1;
}

/* ---- what is heard -------------------------------------------------------------------------- */

/* The next line, in the arena; NULL: it is not here yet. */
static char *remote_agent_next_line(struct agent *g)
{
	char *end = g->heard.len ? memchr(g->heard.data, '\n', g->heard.len) : NULL, *line;
	size_t len;

	if (!end)
		return NULL;
	len = (size_t)(end - g->heard.data);
	line = ut_arena_copy(&g->arena, g->heard.data, len);
	memmove(g->heard.data, end + 1, g->heard.len - len - 1);
	g->heard.len -= len + 1;
	return line;
}

static void send_tunnel(void *ctx, uint64_t number, struct ut_str bytes)
{
	remote_agent_report(ctx, UT_REMOTE_TUNNEL, "-", number, bytes);
}

/* Waits for more, up to ms (-1 = for ever). */
static void hear(struct agent *g, int ms)
{
	struct pollfd p[1 + UT_TUNNELS_MAX] = { { .fd = 0, .events = POLLIN } };
	char piece[4096];
	ssize_t got;

	ut_tunnels_poll(&g->tunnels, p + 1);
	if (poll(p, 1 + UT_TUNNELS_MAX, ms) <= 0)
		return;
	ut_tunnels_move(&g->tunnels, send_tunnel, g);
	if (!p[0].revents)
		return;
	got = read(0, piece, sizeof(piece));
	if (got > 0 && g->heard.len < UT_REMOTE_ASK_MOST)
		ut_buf_add(&g->heard, piece, (size_t)got);
	else if (got >= 0 || errno != EINTR)
		g->is_left = true;
}

/* A connection to the viewer, which may have to be started. False: there is nothing to show. */
static bool open_talk(struct agent *g, uint64_t number)
{
	struct ut_viewer_opts o = { .program = g->program,
				    .path = ut_str_fmt(&g->arena, UT_REMOTE_RUNS "/%s/" VIEWER,
						       g->name),
				    .folder = g->at,
				    .before = -1,
				    .code = true };
	int fd;

	if (g->viewer.pid && ut_viewer_has_ended(&g->viewer, NULL))
		g->viewer = (struct ut_viewer){ 0 };
	if (!g->viewer.pid) {
		unlink(o.path); /* of an agent that was killed */
		if (ut_viewer_start(&g->viewer, &o, NULL))
			return false;
	}
	fd = ut_viewer_connect(&g->viewer);
	return fd >= 0 && ut_tunnels_add(&g->tunnels, number, fd);
}

static void take_talk(struct agent *g, uint64_t number, struct ut_str bytes)
{
	if (bytes.len && !ut_tunnels_has(&g->tunnels, number) && !open_talk(g, number)) {
		send_tunnel(g, number, ut_str_of(no_trace));
		send_tunnel(g, number, ut_str_of(""));
		return;
	}
	ut_tunnels_take(&g->tunnels, number, bytes);
}

/* "talk P N" and N bytes: 1; 0: it is none; -1: not all of it is here yet. */
static int next_talk(struct agent *g)
{
	const char *end = g->heard.len ? memchr(g->heard.data, '\n', g->heard.len) : NULL;
	unsigned long long number, len;
	char line[LINE_MOST];
	size_t head = end ? (size_t)(end - g->heard.data) + 1 : 0;

	if (!head || head > sizeof(line))
		return 0;
	memcpy(line, g->heard.data, head - 1);
	line[head - 1] = '\0';
	if (sscanf(line, "talk %llu %llu", &number, &len) != 2 || len > UT_TUNNEL_PIECE)
		return 0;
	if (g->heard.len - head < len)
		return -1;
	take_talk(g, number, (struct ut_str){ g->heard.data + head, (size_t)len });
	g->heard.len -= head + (size_t)len;
	memmove(g->heard.data, g->heard.data + head + len, g->heard.len);
	return 1;
}

static void run_command(struct agent *g, const char *line)
{
	static const char *const words[] = { "pause", "resume", "stop", "kill" };

	for (size_t i = 0; i < 4; i++) {
		if (!strcmp(line, words[i]) &&
		    ut_supervisor_send(g->at, (enum ut_supervisor_command)i, NULL))
			break; /* it has just ended: what it left tells how */
	}
	g->has_got |= !strcmp(line, "got");
}

static void do_words(struct agent *g)
{
	const char *line;
	int tunnel;

	do {
		tunnel = next_talk(g);
		line = tunnel ? NULL : remote_agent_next_line(g);
		if (line)
			run_command(g, line);
	} while (tunnel > 0 || line);
}

/* ---- what is told --------------------------------------------------------------------------- */

/* True: it is at work, as far as the file knows. */
static bool send_state(struct agent *g)
{
	struct ut_arena arena = { 0 };
	struct ut_buf text = { 0 };
	const struct ut_doc *t = NULL;
	const char *word = NULL;
	bool busy = true;

	if (!ut_folder_read(g->at, UT_STATE_FILE, UT_SMALL_FILE, &text, NULL) &&
	    !ut_doc_read(&arena, str_of(&text), &t, NULL))
		word = ut_doc_text(t, "state");
	if (word) {
		busy = strcmp(word, ut_result_state_word(UT_RESULT_READY)) != 0 &&
		       strcmp(word, ut_result_state_word(UT_RESULT_FAILED)) != 0;
		if (!g->state || strcmp(g->state, text.data) != 0) {
			free(g->state);
			g->state = memcpy(ut_make(text.len + 1), text.data, text.len);
			remote_agent_report(g, UT_REMOTE_STATE, "-", 0, str_of(&text));
		}
	}
	ut_buf_release(&text);
	ut_arena_release(&arena);
	return busy;
}

static void send_output(struct agent *g)
{
	struct ut_buf text = { 0 };
	uint64_t from = g->output, next = from;

	while (!g->is_left && !ut_output_log_read(g->at, &from, PIECE, &text, &next, NULL) &&
	       text.len) {
		remote_agent_report(g, UT_REMOTE_OUTPUT, "-", from, str_of(&text));
		g->output = from = next;
		text.len = 0;
	}
	ut_buf_release(&text);
}

/* A file from a byte on; where it ends. */
static uint64_t send_file(struct agent *g, int at, const char *file, enum ut_remote_kind kind,
			  const char *name, uint64_t from)
{
	int fd = ut_folder_open_file(at, file, NULL, NULL);
	char *piece = ut_make(PIECE);
	ssize_t got;

	while (fd >= 0 && !g->is_left && (got = pread(fd, piece, PIECE, (off_t)from)) > 0) {
		remote_agent_report(g, kind, name, from, (struct ut_str){ piece, (size_t)got });
		from += (uint64_t)got;
	}
	if (fd >= 0)
		close(fd);
	free(piece);
	return from;
}

static void send_events(struct agent *g)
{
	g->log = send_file(g, g->at, UT_LOG_FILE, UT_REMOTE_LOG, "-", g->log);
	send_output(g);
}

/* Those that are told in other ways, or are the other side's own. */
static bool is_reported(const char *name)
{
	static const char *const others[] = {
		UT_RESULT_FILE, UT_STATE_FILE,     UT_LOG_FILE,
		UT_OUTPUT_FILE, "output.more.txt", UT_SUPERVISOR_PIPE
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(name, others[i]))
			return true;
	}
	return false;
}

struct inner {
	struct agent *agent;
	const char *folder; /* as the other side calls it */
};

static void mend_name(char as[UT_NAME_MOST + 1], const char *name)
{
	snprintf(as, UT_NAME_MOST + 1, "%s", name);
	for (char *p = as; *p && !ut_folder_name_fits(as); p++) {
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f || p == as)
			*p = '_';
	}
}

static uint64_t hand_file(struct agent *g, int at, const char *name, const char *as)
{
	g->files++;
	remote_agent_report(g, UT_REMOTE_FILE, as, 0,
			    ut_str_of("")); /* it begins, and may be empty */
	return send_file(g, at, name, UT_REMOTE_FILE, as, 0);
}

/* What is more than the other side takes stays behind: a result without some code is one. */
static bool send_inner(void *ctx, int at, const char *name, unsigned char type)
{
	struct inner *in = ctx;
	struct agent *g = in->agent;
	char mended[UT_NAME_MOST + 1], as[UT_REMOTE_NAME_MOST];
	struct stat st;

	mend_name(mended, name);
	snprintf(as, sizeof(as), "%s/%s", in->folder, mended);
	if (type != DT_REG || !ut_remote_name_fits(as) ||
	    fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    (uint64_t)st.st_size > UT_REMOTE_FOLDER_MOST - g->code)
		return true;
	if (g->files >= UT_REMOTE_FILES_MOST)
		return false;
	g->code += hand_file(g, at, name, as);
	return !g->is_left;
}

static void send_folder(struct agent *g, const char *name, const char *as)
{
	struct inner in = { .agent = g, .folder = as };
	int at = ut_folder_open(g->at, name, false, NULL);

	if (at < 0)
		return;
	if (ut_folder_each(at, send_inner, &in, NULL))
		g->is_left = true; /* it stays there, and can be fetched again */
	close(at);
}

static bool send_one(void *ctx, int at, const char *name, unsigned char type)
{
	struct agent *g = ctx;
	char as[UT_NAME_MOST + 1];

	if (is_reported(name))
		return true;
	mend_name(as, name);
	if (type == DT_DIR)
		send_folder(g, name, as);
	else if (type == DT_REG)
		hand_file(g, at, name, as);
	return !g->is_left;
}

/* Everything, once; then the other side says that it has got it, and it goes. */
static int hand_over(struct agent *g)
{
	ut_tunnels_release(&g->tunnels);
	ut_viewer_end(&g->viewer);
	send_events(g);
	if (ut_folder_each(g->at, send_one, g, NULL))
		return sorry(g, "what was recorded cannot be read");
	remote_agent_report(g, UT_REMOTE_END, "-", 0, ut_str_of(""));
	while (!g->is_left && !g->has_got) {
		hear(g, -1);
		do_words(g);
	}
	if (!g->has_got || ut_folder_remove(g->runs, g->name, NULL))
		return 1; /* it stays: somebody may come for it again */
	return 0;
}

static int remote_agent_follow(struct agent *g)
{
	bool busy;

	while (!g->is_left) {
		bool kept =
			ut_supervisor_is_running(g->at); /* asked first: it writes before it goes */

		send_events(g);
		busy = send_state(g);
		if (!kept && !busy)
			return hand_over(g);
		if (!kept && g->is_recovered)
			return sorry(g, "whoever kept the run there was killed");
		if (!kept) {
			g->is_recovered = true;
			if (ut_supervisor_recover(g->at, g->program, NULL, NULL))
				return sorry(g, "whoever kept the run there was killed");
		}
		hear(g, LOOK_MS);
		do_words(g);
	}
	return 1;
}

/* ---- what is asked -------------------------------------------------------------------------- */

/* A machine whose drivers do not answer has none, and says why. */
static void write_devices(struct agent *g, struct ut_json_writer *w, const char *key)
{
	int at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ut_err err = { 0 };

	if (at < 0 || ut_devices_find(g->program, at, w, key, &err)) {
		ut_write_open(w, key, '{');
		ut_write_open(w, "devices", '[');
		ut_write_close(w, ']');
		ut_write_open(w, "notes", '[');
		ut_write_text(w, NULL, err.text);
		ut_write_close(w, ']');
		ut_write_close(w, '}');
	}
	if (at >= 0)
		close(at);
}

static int answer_devices(struct agent *g)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };

	write_devices(g, &w, NULL);
	remote_agent_report(g, UT_REMOTE_ANSWER, "-", 0, str_of(&text));
	ut_buf_release(&text);
	return g->is_left;
}

static int answer_hello(struct agent *g)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	char host[256] = "", here[PATH_MAX] = "";

	gethostname(host, sizeof(host) - 1);
	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "version", UT_VERSION);
	ut_write_text(&w, "host", host);
	ut_write_text(&w, "folder", getcwd(here, sizeof(here)) ? here : "");
	ut_write_u64(&w, "cores", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	write_devices(g, &w, "devices");
	ut_write_close(&w, '}');
	remote_agent_report(g, UT_REMOTE_ANSWER, "-", 0, str_of(&text));
	ut_buf_release(&text);
	return g->is_left;
}

static int answer_processes(struct agent *g)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };

	ut_processes_write(&w);
	if (text.len <= UT_REMOTE_FRAME_MOST)
		remote_agent_report(g, UT_REMOTE_ANSWER, "-", 0, str_of(&text));
	ut_buf_release(&text);
	return g->is_left;
}

static int write_asked(struct agent *g, const struct ut_doc *t, const char *path,
		       struct ut_err *err)
{
	const struct ut_doc *words = ut_doc_get(t, "words");
	uint64_t own = ut_doc_count(t, "own", 1u << 20, 0), i = 0;
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	const char *ours[OUR_WORDS] = { g->program,
					"--format",
					"utr",
					"--output-dir-path",
					path,
					"--event-log",
					ut_str_fmt(&g->arena, "%s/" UT_LOG_FILE, path) };
	int rc;

	if (!words || words->kind != UT_DOC_LIST || !own || own > words->count)
		return ut_err_set(err, -EINVAL, "what to run is missing");
	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "kind", "run");
	ut_write_open(&w, "words", '[');
	for (const struct ut_doc *d = words->first; d; d = d->next, i++) {
		if (i + 1 != own) {
			ut_write_text(&w, NULL, ut_doc_own_text(d));
			continue;
		}
		for (size_t k = 0; k < OUR_WORDS; k++) /* our own name, and where to */
			ut_write_text(&w, NULL, ours[k]);
	}
	ut_write_close(&w, ']');
	ut_write_flag(&w, "device", ut_doc_flag(t, "device", false));
	ut_write_doc(&w, "directory", ut_doc_get(t, "directory"));
	ut_write_doc(&w, "variables", ut_doc_get(t, "variables"));
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	rc = ut_folder_write(g->at, UT_RESULT_FILE, str_of(&text), err);
	ut_buf_release(&text);
	return rc;
}

/* A folder that was not there before. Its name becomes part of a command line of `record`, which
 * reads patterns: only what is plain. */
static int remote_agent_add_run(struct agent *g, const char *name, struct ut_err *err)
{
	char plain[41];
	size_t len = 0;
	int rc = -EEXIST;

	for (; name[len] && len + 1 < sizeof(plain); len++)
		plain[len] = isalnum((unsigned char)name[len]) ? name[len] : '_';
	plain[len] = '\0';
	for (int i = 0; rc == -EEXIST && i < NAME_TRY; i++) {
		g->name = ut_str_fmt(&g->arena, "%s-%d-%d", plain, (int)getpid(), i);
		rc = mkdirat(g->runs, g->name, 0700) ? -errno : 0;
	}
	return rc ? ut_err_set(err, rc, "no folder can be made for the run: %s", strerror(-rc)) : 0;
}

static int open_run(struct agent *g, const struct ut_doc *t, bool is_new, const char **path,
		    struct ut_err *err)
{
	const char *name = ut_doc_text(t, is_new ? "name" : "run");
	char here[PATH_MAX];
	int rc = 0;

	if (!name || !ut_folder_name_fits(name) || !getcwd(here, sizeof(here)))
		return ut_err_set(err, -EINVAL, "there is no such run");
	g->name = name;
	g->runs = ut_folder_open(AT_FDCWD, UT_REMOTE_RUNS, true, err);
	if (g->runs < 0)
		return g->runs;
	if (is_new)
		rc = remote_agent_add_run(g, name, err);
	g->at = rc ? rc : ut_folder_open(g->runs, g->name, false, err);
	*path = ut_str_fmt(&g->arena, "%s/" UT_REMOTE_RUNS "/%s", here, g->name);
	return g->at < 0 ? g->at : 0;
}

static int do_run(struct agent *g, const struct ut_doc *t, bool is_new)
{
	struct ut_err err = { 0 };
	const char *path = "";
	int rc = open_run(g, t, is_new, &path, &err);

	if (!rc && is_new)
		rc = write_asked(g, t, path, &err);
	if (rc)
		return sorry(g, err.text);
	remote_agent_report(g, UT_REMOTE_FOLDER, "-", 0,
			    ut_str_of(path)); /* before anything runs: it can be found */
	if (is_new)
		rc = ut_supervisor_start(g->at, g->program, NULL, &err);
	return rc ? sorry(g, err.text) : remote_agent_follow(g);
}

static int do_ask(struct agent *g, const char *line)
{
	const struct ut_doc *t;
	const char *what = NULL;

	if (!ut_doc_read(&g->arena, ut_str_of(line), &t, NULL))
		what = ut_doc_text(t, "do");
	if (!what)
		return sorry(g, "nothing was asked for");
	if (!strcmp(what, "hello"))
		return answer_hello(g);
	if (!strcmp(what, "devices"))
		return answer_devices(g);
	if (!strcmp(what, "processes"))
		return answer_processes(g);
	if (!strcmp(what, "run") || !strcmp(what, "again"))
		return do_run(g, t, !strcmp(what, "run"));
	return sorry(g, "that is nothing we do");
}

int ut_remote_agent_run(void)
{
	struct agent g = { .runs = -1, .at = -1 };
	const char *line = NULL;
	int status = 1;

	signal(SIGPIPE, SIG_IGN);
	if (readlink("/proc/self/exe", g.program, sizeof(g.program) - 1) <= 0 ||
	    write(TO, UT_REMOTE_BEGIN "\n", sizeof(UT_REMOTE_BEGIN)) !=
		    (ssize_t)sizeof(UT_REMOTE_BEGIN))
		return 1;
	while (!g.is_left && !(line = remote_agent_next_line(&g)))
		hear(&g, -1);
	if (line)
		status = do_ask(&g, line);
	ut_tunnels_release(&g.tunnels);
	ut_viewer_end(&g.viewer);
	if (g.at >= 0)
		close(g.at);
	if (g.runs >= 0)
		close(g.runs);
	free(g.state);
	ut_buf_release(&g.heard);
	ut_arena_release(&g.arena);
	ut_remote_agents_tidy(g.program);
	return status;
}
