#include "cmd/metrics_serve.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/chart_file.h"
#include "cmd/metrics_options.h"
#include "cmd/metrics_work.h"
#include "metrics/metrics_index.h"
#include "serve/serve.h"
#include "text/file_text.h"
#include "text/out.h"
#include "text/printed.h"
#include "text/source.h"
#include "view/page.h"
#include "view/sheet.h"
#include "view/view.h"

#define PORT      8000u
#define PEM_MOST  ((size_t)1 << 20)
#define WAIT_S    30u /* for a key to be made */
#define LOOKED_AT ((uint64_t)64 << 20)
#define PIECE     ((size_t)1 << 18)

struct ut_metrics_browser {
	struct ut_metrics_opts opts; /* a copy: the plan may be our own */
	struct ut_arena arena;
	struct ut_serve *server;
	struct ut_page page;
	struct ut_buf cert, key;
	/* the page that was asked for last; the server asks one thing at a time */
	char *shown;
	struct ut_view *view;
	char location[32];
};

/* ---- addresses ------------------------------------------------------------------------------ */

/* "/NAME/INSTANCE": the last part is the number, since a name may hold slashes. */
static bool metrics_serve_parse(const char *path, size_t len, struct ut_str *name,
				uint64_t *instance)
{
	const char *slash = len ? memrchr(path, '/', len) : NULL, *end = path + len;
	uint64_t n = 0;

	if (!slash || slash == path || slash + 1 == end)
		return false;
	for (const char *p = slash + 1; p < end; p++) {
		if (*p < '0' || *p > '9' || n > (UINT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(*p - '0');
	}
	*instance = n;
	*name = (struct ut_str){ path + 1, (size_t)(slash - path - 1) };
	return true;
}

/* Percent-encoded, so that it stays one part of a path. */
static void put_encoded(struct ut_out *out, struct ut_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
		    (c && strchr("-._~", c)))
			ut_out_write(out, &text.ptr[i], 1);
		else
			ut_out_fmt(out, "%%%02X", c);
	}
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void metrics_serve_attach(void *work, struct ut_view *view)
{
	ut_metrics_work_attach(work, view);
}

static int make_kernel(const struct ut_metrics_browser *b, struct ut_str name, uint64_t instance,
		       struct ut_view **view, struct ut_err *err)
{
	struct ut_metrics_want want = b->opts.want;
	struct ut_metrics_work w;
	int rc;

	if (!b->opts.given.device)
		want.device = UT_METRICS_ANY;
	want.kernel = name;
	want.id = instance;
	rc = ut_metrics_work_do(&w, &b->opts, &want, err);
	if (rc)
		return rc;
	*view = ut_chart_view(&(struct ut_chart_file){
		.title = b->opts.given.title ? b->opts.given.title : "Performance Metrics",
		.input = ut_path_base(b->opts.input),
		.charts = w.charts.charts,
		.count = w.charts.count,
		.attach = metrics_serve_attach,
		.ctx = &w,
	});
	ut_metrics_work_release(&w);
	return 0;
}

/* The table of kernels, and beside it where each is shown. */
static struct ut_out *list_kernels(const struct ut_metrics_index *x)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "kernel", .title = "Kernel", .type = "name" },
		{ .key = "device", .title = "Device", .type = "number" },
		{ .key = "instances", .title = "Instances", .type = "count" },
		{ .key = "rows", .title = "Rows", .type = "count" },
	};
	struct ut_out *out = ut_out_open_memory(), *links = ut_out_open_memory();
	struct ut_sheet sheet;
	size_t len;
	const char *text;

	ut_sheet_init(&sheet, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < x->count; i++) {
		for (size_t k = 0; k < x->devices[i].count; k++) {
			const struct ut_metrics_kernel *kernel = &x->devices[i].kernels[k];
			struct ut_str name = ut_metrics_kernel(x->file, kernel->name);

			ut_sheet_text(&sheet, name);
			ut_sheet_u64(&sheet, x->devices[i].device);
			ut_sheet_u64(&sheet, kernel->instances);
			ut_sheet_u64(&sheet, kernel->rows);
			ut_out_text(links, sheet.rows > 1 ? ",\"/%22" : "\"/%22");
			put_encoded(links, name);
			ut_out_fmt(links, "%%22/%" PRIu64 "/\"", kernel->first);
		}
	}
	ut_out_text(out, "{\"table\":");
	ut_sheet_write(&sheet, 0, out);
	ut_out_text(out, ",\"links\":[");
	text = ut_out_data(links, &len);
	ut_out_write(out, text, len);
	ut_out_text(out, "]}");
	ut_out_abandon(links);
	return out;
}

static int make_list(const struct ut_metrics_browser *b, struct ut_view **view, struct ut_err *err)
{
	struct ut_metrics_index index;
	int rc = ut_metrics_index_make(&index, b->opts.input, NULL, err);

	if (rc)
		return rc;
	*view = ut_chart_view(&(struct ut_chart_file){ .title = "Performance Metrics",
						       .input = ut_path_base(b->opts.input) });
	ut_view_attach(*view, "charts", "Charts", "kernels", list_kernels(&index));
	ut_metrics_index_release(&index);
	return 0;
}

/* The view behind the first len bytes of a path, which is the one that was shown last as a rule. */
static int metrics_serve_show(struct ut_metrics_browser *b, const char *path, size_t len,
			      struct ut_err *err)
{
	struct ut_view *view = NULL;
	struct ut_str name;
	uint64_t instance;
	int rc;

	if (b->shown && strlen(b->shown) == len && !memcmp(b->shown, path, len))
		return 0;
	if (!len)
		rc = make_list(b, &view, err);
	else if (metrics_serve_parse(path, len, &name, &instance))
		rc = make_kernel(b, name, instance, &view, err);
	else
		rc = ut_err_set(err, -ENOENT, "Invalid");
	if (rc)
		return rc;
	ut_view_free(b->view);
	free(b->shown);
	b->view = view;
	b->shown = strndup(path, len);
	return 0;
}

/* ---- answers -------------------------------------------------------------------------------- */

/* A sentence, with what it is about in it: plain text, whatever the name holds. */
static void metrics_serve_refuse(struct ut_reply *reply, const struct ut_err *err)
{
	reply->data = strdup(err->text);
	reply->len = reply->data ? strlen(reply->data) : 0;
	reply->status = 404;
	reply->policy = ut_page_policy;
}

static void answer_part(const struct ut_metrics_browser *b, bool is_script, struct ut_reply *reply)
{
	struct ut_str bytes = is_script ? b->page.script : b->page.style;

	reply->lent = bytes.ptr;
	reply->len = bytes.len;
	reply->type = is_script ? "text/javascript; charset=utf-8" : "text/css; charset=utf-8";
	reply->encoding = "gzip";
	reply->policy = ut_page_policy;
	reply->status = 200;
}

/* The page itself; it is made anew, since the user has asked for it again. */
static void answer_page(struct ut_metrics_browser *b, const char *path, struct ut_reply *reply)
{
	size_t len = strlen(path) - 1;
	struct ut_err err = { 0 };

	free(b->shown);
	b->shown = NULL;
	if (metrics_serve_show(b, path, len, &err)) {
		metrics_serve_refuse(reply, &err);
		return;
	}
	reply->lent = ut_page_html;
	reply->len = strlen(ut_page_html);
	reply->type = "text/html; charset=utf-8";
	reply->policy = ut_page_policy;
	reply->status = 200;
}

/* Without the slash at its end an address cannot have parts: the browser is told where they are. */
static void answer_other(struct ut_metrics_browser *b, const char *path, struct ut_reply *reply)
{
	struct ut_err err = { 0 };
	struct ut_str name;
	uint64_t instance;

	if (!metrics_serve_parse(path, strlen(path), &name, &instance)) {
		ut_err_set(&err, -ENOENT, "Invalid");
		metrics_serve_refuse(reply, &err);
		return;
	}
	snprintf(b->location, sizeof(b->location), "%" PRIu64 "/", instance);
	reply->location = b->location;
	reply->status = 303;
}

static void answer_question(struct ut_metrics_browser *b, const struct ut_request *request,
			    struct ut_reply *reply)
{
	static const char api[] = "/api/";
	const char *slash = strrchr(request->path, '/');
	enum ut_answer kind = UT_ANSWER_JSON;
	struct ut_err err = { 0 };
	size_t len = slash ? (size_t)(slash - request->path) + 1 : 0;
	struct ut_out *out;
	int rc;

	if (len < sizeof(api) - 1 ||
	    memcmp(request->path + len - (sizeof(api) - 1), api, sizeof(api) - 1) != 0)
		return;
	out = ut_out_open_memory();
	rc = metrics_serve_show(b, request->path, len - (sizeof(api) - 1), &err);
	if (!rc)
		rc = ut_view_ask(b->view, slash + 1, request->body, out, &kind, &err);
	if (rc) {
		ut_out_clear(out);
		ut_out_text(out, err.text);
	}
	reply->data = ut_out_take(out, &reply->len);
	reply->status = !rc ? 200 : rc == -ENOENT ? 404 : 400;
	if (!rc)
		reply->type =
			kind == UT_ANSWER_COLUMNS ? "application/octet-stream" : "application/json";
}

static void metrics_serve_answer(void *ctx, const struct ut_request *request,
				 struct ut_reply *reply)
{
	struct ut_metrics_browser *b = ctx;
	const char *path = request->path;

	if (request->is_post)
		answer_question(b, request, reply);
	else if (ut_str_ends(path, "/app.js"))
		answer_part(b, true, reply);
	else if (ut_str_ends(path, "/app.css"))
		answer_part(b, false, reply);
	else if (ut_str_ends(path, "/"))
		answer_page(b, path, reply);
	else
		answer_other(b, path, reply);
}

/* ---- TLS ------------------------------------------------------------------------------------ */

/* One for this machine and for this run: browsers ask whether it is trusted. */
static int make_cert(struct ut_metrics_browser *b, struct ut_err *err)
{
	const char *const argv[] = { "openssl",
				     "req",
				     "-x509",
				     "-newkey",
				     "rsa:2048",
				     "-sha256",
				     "-days",
				     "30",
				     "-nodes",
				     "-subj",
				     "/CN=localhost",
				     "-addext",
				     "subjectAltName=DNS:localhost,IP:127.0.0.1",
				     "-keyout",
				     "/dev/stdout",
				     "-out",
				     "/dev/stdout",
				     NULL };
	struct ut_arena arena = { 0 };
	struct ut_str text;
	int rc = ut_printed(&text, &arena, argv, PEM_MOST, WAIT_S, err);

	if (rc == -ENOENT) {
		*err = (struct ut_err){ 0 };
		rc = ut_err_set(err, rc,
				"-p needs a certificate: install openssl, which makes one, or give "
				"one with -c and -e");
	}
	if (!rc) {
		ut_buf_add(&b->cert, text.ptr, text.len);
		ut_buf_add(&b->key, text.ptr, text.len);
	}
	ut_arena_release(&arena);
	return rc;
}

static int load_cert(struct ut_metrics_browser *b, struct ut_err *err)
{
	const struct ut_metrics_given *g = &b->opts.given;
	int rc;

	if (!g->https)
		return 0;
	if (!g->cert)
		return make_cert(b, err);
	rc = ut_file_text(g->cert, PEM_MOST, &b->cert, err);
	return rc ? rc : ut_file_text(g->key, PEM_MOST, &b->key, err);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Without -m and -b everything is shown that is there. */
static int look_at_file(struct ut_metrics_browser *b, struct ut_err *err)
{
	struct ut_metrics_opts *o = &b->opts;
	struct ut_metrics_file *f;
	int rc = ut_metrics_open(&f, o->input, NULL, err);

	if (rc)
		return rc;
	if (!o->plan.set_count) {
		ut_metrics_plan_all(&o->plan, &b->arena, ut_metrics_section(f, 0));
		o->want.titles = o->plan.titles;
		o->want.count = o->plan.title_count;
	}
	ut_metrics_close(f);
	return 0;
}

int ut_metrics_browser_start(struct ut_metrics_browser **out, const struct ut_metrics_opts *opts,
			     struct ut_err *err)
{
	struct ut_metrics_browser *b = ut_make(sizeof(*b));
	struct ut_serve_opts serve = {
		.port = (uint16_t)(opts->given.port == UINT64_MAX ? PORT : opts->given.port),
		.posts = true,
		.serial = true,
		.long_paths = true,
		.live = "/api/live",
		.answer = metrics_serve_answer,
		.ctx = b
	};
	char address[UT_SERVE_ADDRESS];
	int rc = 0;

	*out = NULL;
	b->opts = *opts;
	if (!ut_page_get(&b->page))
		rc = ut_err_set(err, -ENOTSUP, "%s", ut_page_missing);
	if (!rc) /* a file that cannot be read is told now, not in the browser */
		rc = look_at_file(b, err);
	if (!rc)
		rc = load_cert(b, err);
	serve.cert = b->cert.data;
	serve.key = b->key.data;
	if (!rc)
		rc = ut_serve_open(&b->server, &serve, err);
	if (rc) {
		ut_metrics_browser_stop(b);
		return rc;
	}
	ut_serve_address(b->server, address);
	ut_log(UT_INFO, "metrics: %s (Ctrl-C ends it)", address);
	*out = b;
	return 0;
}

void ut_metrics_browser_stop(struct ut_metrics_browser *b)
{
	if (!b)
		return;
	ut_serve_close(b->server);
	ut_view_free(b->view);
	free(b->shown);
	ut_buf_release(&b->cert);
	explicit_bzero(b->key.data ? b->key.data : b->location, b->key.len);
	ut_buf_release(&b->key);
	ut_arena_release(&b->arena);
	free(b);
}

bool ut_metrics_links_are_https(const char *path)
{
	static const char link[] = "https://localhost:";
	struct ut_source source;
	struct ut_err err = { 0 };
	char *piece;
	size_t kept = 0;
	bool found = false;
	ssize_t got;

	if (ut_source_open_head(&source, path, LOOKED_AT, &err))
		return false; /* who shows it will say why */
	piece = ut_make(PIECE + sizeof(link));
	while (!found && (got = ut_source_read(&source, piece + kept, PIECE, &err)) > 0) {
		size_t len = kept + (size_t)got;

		found = memmem(piece, len, link, sizeof(link) - 1) != NULL;
		kept = len < sizeof(link) - 1 ? len : sizeof(link) - 1; /* it may go on */
		memmove(piece, piece + len - kept, kept);
	}
	free(piece);
	ut_source_close(&source);
	return found;
}

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = 1;
	signal(number, SIG_DFL); /* the second time is not waited for */
}

int ut_metrics_serve(const struct ut_metrics_opts *opts, struct ut_err *err)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct ut_metrics_browser *b;
	int rc = ut_metrics_browser_start(&b, opts, err);

	if (rc)
		return rc;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	ut_serve_run(b->server, &stop);
	ut_metrics_browser_stop(b);
	return 0;
}
