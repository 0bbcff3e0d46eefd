#include "cmd/view_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/view_show.h"
#include "import/load.h"
#include "serve/serve.h"
#include "text/html.h"
#include "text/out.h"
#include "view/page.h"
#include "view/view.h"
#include "view/view_stage.h"

#define WAIT_MS  20000 /* that a question waits for a trace to be read, ... */
#define WHOLE_MS 1000  /* ... or for all of it, ... */
#define TICK_MS  20    /* ... looking this often */

static volatile sig_atomic_t stop;
static atomic_bool is_leaving;        /* the same, for other threads */
static volatile sig_atomic_t is_held; /* Ctrl-C is not for us */

static void on_signal(int number)
{
	if (number == SIGINT && is_held)
		return;
	stop = 1;
	is_leaving = true;
	signal(number, SIG_DFL); /* the second time is not waited for */
}

/* What is served. The state is set last, when everything it speaks of is there. */
struct serving {
	const struct ut_view_opts *opts;
	const struct ut_view_what *what;   /* what is still to be read... */
	const struct ut_view_offer *offer; /* ... or has been */
	struct ut_show show;
	struct ut_err trouble;
	_Atomic bool failed; /* trouble says why */
	struct ut_page page;
};

/* ---- reading -------------------------------------------------------------------------------- */

static void *view_serve_load(void *ctx)
{
	struct serving *s = ctx;
	bool shown = true;
	int rc;

	if (s->what->inputs)
		rc = ut_show_files(&s->show, &shown, &s->trouble);
	else
		rc = ut_show_session(&s->show, s->what->session, s->what->launcher, &s->trouble);
	is_held = 0;
	s->failed = rc != 0;
	if (rc || !shown)
		ut_serve_stop(s->show.server);
	return NULL;
}

/* ---- answering ------------------------------------------------------------------------------ */

/* What was written becomes the reply's. */
static void take_out(struct ut_out *out, struct ut_reply *reply)
{
	reply->data = ut_out_take(out, &reply->len);
}

/* No script: the browser itself asks again, and what stands behind # stays. */
static void answer_wait(const struct serving *s, struct ut_reply *reply)
{
	struct ut_out *out = ut_out_open_memory();
	const struct ut_inputs *in = s->what->inputs;
	uint64_t all = in ? in->bytes + (s->show.before ? s->show.before->bytes : 0) : 0;
	uint64_t done = s->show.done < all ? s->show.done : all;
	const char *name = ut_path_base(in ? in->paths[0] : s->what->session);

	ut_out_text(out, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
			 "<meta http-equiv=\"refresh\" content=\"1\"><title>unitrace</title>"
			 "<link rel=\"icon\" href=\"data:,\"></head><body><p role=\"status\">"
			 "Reading ");
	ut_html_text(out, name, strlen(name));
	if (in && in->count > 1)
		ut_out_fmt(out, " and %zu more", in->count - 1);
	ut_out_fmt(out, ": %u %%</p><progress max=\"100\" value=\"%u\"></progress></body></html>\n",
		   (unsigned int)(all ? 100 * done / all : 0),
		   (unsigned int)(all ? 100 * done / all : 0));
	take_out(out, reply);
	reply->type = "text/html; charset=utf-8";
	reply->policy = ut_page_policy;
	reply->status = 200;
}

static bool view_serve_is_shown(struct ut_stage *stage)
{
	struct ut_view *v = ut_stage_take(stage);

	ut_stage_give(stage, v);
	return v != NULL;
}

/* Files of an offer, and no others: nothing of a path is ever taken from a request. */
static void answer_file(const struct ut_view_offer *offer, const char *path, struct ut_reply *reply)
{
	for (size_t i = 0; offer && i < offer->file_count; i++) {
		const struct ut_view_file *f = &offer->files[i];

		if (path[0] != '/' || strcmp(path + 1, f->path) != 0)
			continue;
		reply->fd = open(f->file, O_RDONLY | O_CLOEXEC);
		if (reply->fd < 0)
			return;
		reply->status = 200;
		reply->type = f->type;
		reply->save_as = f->save_as;
	}
}

static void answer_page(const struct serving *s, const char *path, struct ut_reply *reply)
{
	if (!strcmp(path, "/") && !view_serve_is_shown(s->show.stage)) {
		answer_wait(s, reply);
		return;
	}
	reply->policy = ut_page_policy;
	if (!strcmp(path, "/")) {
		reply->lent = ut_page_html;
		reply->len = strlen(ut_page_html);
		reply->type = "text/html; charset=utf-8";
	} else if (!strcmp(path, "/app.js") || !strcmp(path, "/app.css")) {
		bool script = !strcmp(path, "/app.js");
		struct ut_str bytes = script ? s->page.script : s->page.style;

		reply->lent = bytes.ptr;
		reply->len = bytes.len;
		reply->type = script ? "text/javascript; charset=utf-8" : "text/css; charset=utf-8";
		reply->encoding = "gzip";
	} else {
		answer_file(s->offer, path, reply);
		return;
	}
	reply->status = 200;
}

/* What a view that is offered brings with it. */
static void take_view(struct serving *s, struct ut_view *view)
{
	for (size_t i = 0; i < s->offer->file_count; i++) {
		if (s->offer->files[i].title)
			ut_view_link(view, s->offer->files[i].path, s->offer->files[i].title);
	}
	if (s->offer->again)
		ut_view_allow_again(view);
	ut_stage_show(s->show.stage, view);
}

/* Everything anew; who is answering holds on to the old view. */
static void answer_again(struct serving *s, struct ut_reply *reply)
{
	struct ut_view *fresh = NULL;
	struct ut_err err = { 0 };

	if (s->offer->again(s->offer->ctx, &fresh, &err)) {
		ut_log(UT_ERR, "%s: %s", s->offer->name, err.text);
		reply->data = strdup(err.text);
		reply->len = reply->data ? strlen(reply->data) : 0;
		reply->status = 400;
		return;
	}
	take_view(s, fresh);
	reply->lent = "null";
	reply->len = 4;
	reply->type = "application/json";
	reply->status = 200;
}

/* Is there something to answer with? Small files are waited for until all of them has been read:
 * who asks a question from a script does not expect less. */
static bool view_serve_is_ready(const struct serving *s, int waited)
{
	return view_serve_is_shown(s->show.stage) &&
	       (!s->what || !s->what->inputs || waited >= WHOLE_MS);
}

/* A page of ours waits by itself while a trace is read. Behind a server a question does: who asked
 * would ask again and again, and be told of errors that are none. */
static struct ut_view *wait_for_view(const struct serving *s)
{
	bool waits = s->opts && s->opts->socket;

	for (int waited = 0; waits && waited < WAIT_MS && !is_leaving && !s->failed;
	     waited += TICK_MS) {
		if (s->show.is_complete || view_serve_is_ready(s, waited))
			break;
		poll(NULL, 0, TICK_MS);
	}
	return ut_stage_take(s->show.stage);
}

static void answer_question(struct serving *s, const struct ut_request *request,
			    struct ut_reply *reply)
{
	static const char api[] = "/api/";
	enum ut_answer kind = UT_ANSWER_JSON;
	struct ut_err err = { 0 };
	struct ut_view *view;
	struct ut_out *out;
	int rc;

	if (strncmp(request->path, api, sizeof(api) - 1) != 0)
		return;
	if (s->offer && s->offer->again && !strcmp(request->path + sizeof(api) - 1, "again")) {
		answer_again(s, reply);
		return;
	}
	view = wait_for_view(s);
	if (!view) {
		reply->status = 503;
		reply->lent = "the trace is still being read\n";
		reply->len = strlen(reply->lent);
		return;
	}
	out = ut_out_open_memory();
	rc = ut_view_ask(view, request->path + sizeof(api) - 1, request->body, out, &kind, &err);
	ut_stage_give(s->show.stage, view);
	if (rc) {
		ut_out_clear(out);
		ut_out_text(out, err.text);
	}
	take_out(out, reply);
	reply->status = !rc ? 200 : rc == -ENOENT ? 404 : 400;
	if (!rc)
		reply->type =
			kind == UT_ANSWER_COLUMNS ? "application/octet-stream" : "application/json";
}

static void view_serve_answer(void *ctx, const struct ut_request *request, struct ut_reply *reply)
{
	struct serving *s = ctx;

	if (request->is_post)
		answer_question(s, request, reply);
	else
		answer_page(s, request->path, reply);
}

/* ---- the browser ---------------------------------------------------------------------------- */

/* Where there is a display; what the browser has to say is not for the terminal. */
static void open_browser(const char *address)
{
	pid_t pid;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return;
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(126);
		setsid();
		if (!fork())
			execlp("xdg-open", "xdg-open", address, (char *)NULL);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* Our server is there as long as its end of the pipe is. */
static void *wait_for_server(void *ctx)
{
	char none;

	(void)ctx;
	while (read(STDIN_FILENO, &none, 1) < 0 && errno == EINTR)
		;
	kill(getpid(), SIGTERM);
	return NULL;
}

/* Says where to look, or goes when whoever knows that has gone. */
static void meet_client(const struct serving *s)
{
	char address[UT_SERVE_ADDRESS];
	pthread_t waiter;

	if (s->opts->socket) {
		if (!pthread_create(&waiter, NULL, wait_for_server, NULL))
			pthread_detach(waiter);
		return;
	}
	ut_serve_address(s->show.server, address);
	ut_log(UT_INFO, "view: %s (works once; Ctrl-C ends it)", address);
	if (!s->opts->no_browser) {
		ut_serve_address(s->show.server, address);
		open_browser(address);
	}
}

static int serve(struct serving *s, struct ut_err *err)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t loader;

	is_held = s->what->is_ours;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (pthread_create(&loader, NULL, view_serve_load, s))
		return ut_err_set(err, -EAGAIN, "no thread can be started to read the trace");
	meet_client(s);
	ut_serve_run(s->show.server, &stop);
	s->show.stop = true;
	/* a reader of files cannot be stopped half way; nothing of it is kept */
	if (!s->show.is_complete && s->what->inputs)
		_exit(0);
	ut_stage_interrupt(s->show.stage);
	pthread_join(loader, NULL);
	if (s->failed)
		return ut_err_set(err, s->trouble.code, "%s", s->trouble.text);
	return s->show.failed;
}

int ut_view_offer(const struct ut_view_offer *o, struct ut_view *view, struct ut_err *err)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct serving s = { .offer = o };
	const struct ut_serve_opts opts = { .port = o->port,
					    .posts = true,
					    .serial = o->again != NULL,
					    .live = "/api/live",
					    .answer = view_serve_answer,
					    .ctx = &s };
	char address[UT_SERVE_ADDRESS];
	int rc = 0;

	ut_show_init(&s.show);
	take_view(&s, view);
	if (!ut_page_get(&s.page))
		rc = ut_err_set(err, -ENOTSUP, "%s", ut_page_missing);
	if (!rc)
		rc = ut_serve_open(&s.show.server, &opts, err);
	if (!rc) {
		sigaction(SIGINT, &act, NULL);
		sigaction(SIGTERM, &act, NULL);
		ut_serve_address(s.show.server, address);
		ut_log(UT_INFO, "%s: %s (Ctrl-C ends it)", o->name, address);
		ut_serve_run(s.show.server, &stop);
		ut_stage_interrupt(s.show.stage);
	}
	ut_serve_close(s.show.server);
	ut_show_release(&s.show);
	return rc;
}

/* Bytes that count for RLIMIT_DATA: with a sanitizer more than there are in any machine. */
static rlim_t own_data(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f && fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = ULONG_MAX;
	if (f)
		fclose(f);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* A small file may be an endless one, packed: behind a server it ends its viewer, with a word about
 * it, and neither the machine nor the server. */
static void be_first_to_go(void)
{
	rlim_t most = (rlim_t)sysconf(_SC_PHYS_PAGES) * (rlim_t)sysconf(_SC_PAGESIZE) / 4 * 3;
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	struct rlimit data, none = { 0, 0 };

	if (fd >= 0 && write(fd, "500", 3) < 0)
		(void)0; /* then the kernel chooses by size alone */
	if (fd >= 0)
		close(fd);
	if (getrlimit(RLIMIT_DATA, &data) || data.rlim_cur < most || own_data() > most / 2)
		return;
	data.rlim_cur = most;
	setrlimit(RLIMIT_DATA, &data);
	setrlimit(RLIMIT_CORE, &none); /* nobody wants so much of it again */
}

int ut_view_serve(const struct ut_view_opts *o, const struct ut_view_what *what, struct ut_err *err)
{
	struct serving s = { .opts = o, .what = what };
	const struct ut_serve_opts opts = { .port = (uint16_t)o->port,
					    .listen_fd = (int)o->socket,
					    .token = !o->socket,
					    .posts = true,
					    .once = o->once,
					    .live = "/api/live",
					    .answer = view_serve_answer,
					    .ctx = &s };
	int rc;

	if (o->socket)
		be_first_to_go();
	ut_keep_freed(); /* windows are megabytes, many times a second */
	if (!ut_page_get(&s.page))
		return ut_err_set(err, -ENOTSUP, "%s", ut_page_missing);
	ut_show_init(&s.show);
	s.show.inputs = what->inputs;
	s.show.before = o->before;
	s.show.code = o->code || !o->socket;
	s.show.threads = ut_load_threads(o->threads);
	rc = ut_serve_open(&s.show.server, &opts, err);
	if (!rc)
		rc = serve(&s, err);
	ut_serve_close(s.show.server);
	ut_show_release(&s.show);
	return rc;
}
