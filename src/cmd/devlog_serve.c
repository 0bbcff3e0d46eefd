#include "cmd/devlog_serve.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "serve/serve.h"
#include "text/html.h"
#include "text/out.h"

#define TARBALL "device_perf_results.tgz"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

struct dashboard {
	const struct ut_devlog_opts *opts;
	ut_devlog_refresh_fn refresh;
	struct ut_err trouble; /* of the last refresh */
	char save_as[80];
};

/* ---- the page ------------------------------------------------------------------------------ */

static void put_page(struct dashboard *d, struct ut_out *out)
{
	ut_out_text(out,
		    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "img-src data:; style-src 'unsafe-inline'; frame-src 'self'\">"
		    "<link rel=\"icon\" href=\"data:,\"><title>Device Profiler Dashboard</title>"
		    "<style>html,body{height:100%;margin:0;font:15px system-ui,sans-serif}"
		    "body{display:flex;flex-direction:column}header{display:flex;gap:12px;"
		    "align-items:center;padding:8px 16px}h1{font-size:18px;margin:0 auto 0 0}"
		    "a{border:1px solid #888;border-radius:6px;padding:5px 12px;color:inherit;"
		    "text-decoration:none}.bad{color:#c0392b;padding:0 16px}"
		    "iframe{flex:1;border:0;border-top:1px solid #ccc}</style></head><body>"
		    "<header><h1>Device Profiler Dashboard</h1>"
		    "<a id=\"refresh\" href=\"/refresh\">Refresh</a>"
		    "<a id=\"download\" href=\"/download\">Download Artifacts</a></header>\n");
	if (d->trouble.code) {
		ut_out_text(out, "<p class=\"bad\">");
		ut_html_text(out, d->trouble.text, strlen(d->trouble.text));
		ut_out_text(out, "</p>\n");
	}
	ut_out_text(out, "<iframe title=\"device profile\" src=\"/device_perf.html\"></iframe>"
			 "</body></html>\n");
}

static void answer_page(struct dashboard *d, struct ut_reply *reply)
{
	struct ut_out *out = ut_out_open_memory();
	const char *data;

	put_page(d, out);
	data = ut_out_data(out, &reply->len);
	reply->data = malloc(reply->len + 1);
	if (reply->data) {
		memcpy(reply->data, data, reply->len);
		reply->type = "text/html; charset=utf-8";
		reply->status = 200;
	}
	ut_out_abandon(out);
}

/* ---- files --------------------------------------------------------------------------------- */

static void answer_file(const struct dashboard *d, const char *name, const char *type,
			struct ut_reply *reply)
{
	struct ut_arena arena = { 0 };
	int fd = open(ut_path_join(&arena, d->opts->output, name), O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		reply->status = 200;
		reply->type = type;
		reply->fd = fd;
	}
	ut_arena_release(&arena);
}

static void answer_download(struct dashboard *d, struct ut_reply *reply)
{
	time_t now = time(NULL);
	struct tm tm;

	answer_file(d, TARBALL, "application/gzip", reply);
	if (!reply->status) {
		static const char text[] = "There is no tarball: it was switched off.\n";

		reply->status = 404;
		reply->data = strdup(text);
		reply->len = reply->data ? strlen(text) : 0;
		return;
	}
	localtime_r(&now, &tm);
	strftime(d->save_as, sizeof(d->save_as), "%Y_%m_%d_%H_%M_%S_" TARBALL, &tm);
	reply->save_as = d->save_as;
}

/* Names that we write, and no others: nothing of a path is ever taken from a request. */
static void answer_named(const struct dashboard *d, const char *name, struct ut_reply *reply)
{
	static const struct {
		const char *name, *type;
	} files[] = {
		{ "device_perf.html", "text/html; charset=utf-8" },
		{ "device_stats.txt", "text/plain; charset=utf-8" },
		{ "device_rearranged_timestamps.csv", "text/csv; charset=utf-8" },
		{ "device_kernels.csv", "text/csv; charset=utf-8" },
		{ "device_chrome_tracing.json", "application/json" },
		{ "device_analysis_data.json", "application/json" },
		{ "device_trace.utr", "application/octet-stream" },
		{ "profile_log_device.csv", "text/csv; charset=utf-8" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!strcmp(name, files[i].name))
			answer_file(d, files[i].name, files[i].type, reply);
	}
}

static void answer(void *ctx, const struct ut_request *request, struct ut_reply *reply)
{
	struct dashboard *d = ctx;
	const char *path = request->path;

	if (!strcmp(path, "/")) {
		answer_page(d, reply);
	} else if (!strcmp(path, "/refresh")) {
		d->trouble = (struct ut_err){ 0 };
		if (d->refresh(d->opts, &d->trouble))
			ut_log(UT_ERR, "devlog: %s", d->trouble.text);
		reply->status = 303;
		reply->location = "/";
	} else if (!strcmp(path, "/download")) {
		answer_download(d, reply);
	} else {
		answer_named(d, path + 1, reply);
	}
}

int ut_devlog_serve(const struct ut_devlog_opts *o, ut_devlog_refresh_fn refresh,
		    struct ut_err *err)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct dashboard d = { .opts = o, .refresh = refresh };
	const struct ut_serve_opts opts = {
		.port = (uint16_t)o->port, .serial = true, .answer = answer, .ctx = &d
	};
	struct ut_serve *server;
	int rc = ut_serve_open(&server, &opts, err);

	if (rc)
		return rc;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	ut_log(UT_INFO, "Device Profiler Dashboard: http://127.0.0.1:%u/ (Ctrl-C ends it)",
	       (unsigned int)ut_serve_port(server));
	ut_serve_run(server, &stop);
	ut_serve_close(server);
	return 0;
}
