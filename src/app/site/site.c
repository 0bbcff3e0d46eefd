#include "site/site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "site/body_schema.h"
#include "site/evaluator.h"
#include "site/events.h"
#include "site/routes.h"
#include "site/site_call.h"
#include "text/file_text.h"
#include "workbench/folder.h"
#include "workbench/trash.h"

#define CLIENTS   256u
#define BODY_MOST (1u << 20)
#define OPEN_MOST (64u << 10) /* of who has not been let in */
#define PEM_MOST  (256u << 10)
#define KEY_FILE  "server.key"
#define CERT_FILE "server.crt"
#define DAY       86400

/* ---- who may ask ---------------------------------------------------------------------------- */

bool ut_call_is_known(struct ut_site *site, const struct ut_request *request)
{
	static const char bearer[] = "Bearer ";
	const char *given = ut_request_header(request, "Authorization");
	bool known;

	if (given && !strncasecmp(given, bearer, sizeof(bearer) - 1))
		known = ut_accounts_knows_token(site->accounts, given + sizeof(bearer) - 1);
	else
		known = ut_accounts_knows_cookie(site->accounts,
						 ut_request_cookie(request, site->cookie));
	if (known)
		ut_request_is_known(request);
	return known;
}

int ut_call_let_in(struct ut_call *c, struct ut_err *err)
{
	const struct ut_site *s = c->site;
	char cookie[UT_SECRET];
	int rc = ut_accounts_new_cookie(s->accounts, cookie, err);

	if (rc)
		return rc;
	c->reply->cookie = ut_str_fmt(
		c->arena, "%s=%s; HttpOnly; SameSite=Strict; Path=/; Max-Age=%d%s", s->cookie,
		cookie, UT_COOKIE_DAYS * DAY, s->opts.remote ? "; Secure" : "");
	explicit_bzero(cookie, sizeof(cookie));
	return 0;
}

/* A host without its port; addresses of version 6 keep their brackets. */
static size_t host_length(const char *host)
{
	const char *close = host[0] == '[' ? strchr(host, ']') : NULL;

	return close ? (size_t)(close - host) + 1 : strcspn(host, ":");
}

static bool has_good_port(const char *host, size_t len)
{
	if (!host[len])
		return true;
	return host[len] == ':' && strspn(host + len + 1, "0123456789") == strlen(host + len + 1);
}

/* A number cannot be made to point elsewhere, as a name can. */
static bool is_address(const char *host, size_t len)
{
	unsigned char bytes[16];
	char text[64];

	if (len >= sizeof(text))
		return false;
	memcpy(text, host, len);
	text[len] = '\0';
	if (text[0] != '[')
		return inet_pton(AF_INET, text, bytes) == 1;
	text[len - 1] = '\0';
	return inet_pton(AF_INET6, text + 1, bytes) == 1;
}

static bool is_host(void *ctx, const char *host)
{
	const struct ut_site *s = ctx;
	size_t len = host_length(host);

	if (!has_good_port(host, len))
		return false;
	if (s->host[0] && strlen(s->host) == len && !strncasecmp(s->host, host, len))
		return true;
	if (!s->opts.remote)
		return false;
	for (size_t i = 0; i < s->name_count; i++) {
		if (strlen(s->names[i]) == len && !strncasecmp(s->names[i], host, len))
			return true;
	}
	return is_address(host, len);
}

/* ---- answering ------------------------------------------------------------------------------ */

static int status_of(int rc)
{
	switch (-rc) {
	case ENOENT:
	case ENODATA:
		return 404;
	case EINVAL:
	case ENAMETOOLONG:
		return 400;
	case EACCES:
	case EPERM:
		return 403;
	case EEXIST:
	case EBUSY:
	case ENOTEMPTY:
		return 409;
	case E2BIG:
	case EFBIG:
		return 413;
	case EAGAIN:
		return 429;
	case ENOSPC:
	case EDQUOT:
		return 507;
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case EPROTO:
		return 502;
	default:
		return 500;
	}
}

static void site_take_text(struct ut_reply *reply, struct ut_buf *text)
{
	reply->data = text->data;
	reply->len = text->len;
	*text = (struct ut_buf){ 0 };
}

static void site_refuse(struct ut_reply *reply, int status, const char *why)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };

	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "error", why);
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	reply->status = status;
	reply->type = "application/json";
	site_take_text(reply, &text);
}

/* Without the prefix of a proxy that leaves it there. */
static const char *site_path_of(const struct ut_site *s, const struct ut_request *request)
{
	size_t len = strlen(s->prefix);

	if (len && !strncmp(request->path, s->prefix, len) && request->path[len] == '/')
		return request->path + len;
	return request->path;
}

static bool has_other_body(const struct ut_reply *reply)
{
	return reply->lent || reply->data || reply->fd > 0 || reply->stream.read || reply->status;
}

/* Routes get what the description of the interface has for them, and nothing else. */
static int read_body(const struct ut_route *route, struct ut_call *c, struct ut_err *err)
{
	int rc = c->request->body.len ? ut_doc_read(c->arena, c->request->body, &c->body, err) : 0;

	return rc ? rc : ut_body_check(c->site->api, route->method, route->path, c->body, err);
}

static void run_route(const struct ut_route *route, struct ut_call *c)
{
	struct ut_err err = { 0 };
	int rc = 0;

	if (c->request->body_fd < 0 && !strstr(route->path, "*"))
		rc = read_body(route, c, &err);
	if (!rc)
		rc = route->call(c, &err);
	if (rc) {
		ut_buf_release(&c->text);
		site_refuse(c->reply, status_of(rc), err.text[0] ? err.text : strerror(-rc));
	} else if (!has_other_body(c->reply)) {
		c->reply->status = c->text.len ? 200 : 204;
		c->reply->type = "application/json";
		if (c->text.len)
			ut_buf_char(&c->text, '\n');
		site_take_text(c->reply, &c->text);
	}
	ut_buf_release(&c->text);
}

/* May whoever asks go this way? Otherwise the reply says why not. */
static bool site_is_open(struct ut_site *s, const struct ut_route *route,
			 const struct ut_request *request, struct ut_reply *reply)
{
	if (route->flags & UT_ROUTE_OPEN)
		return true;
	if (!ut_call_is_known(s, request))
		site_refuse(reply, 401,
			    "log in first, or send a token: Authorization: Bearer TOKEN");
	else if (s->opts.remote && !(route->flags & UT_ROUTE_BARE) &&
		 !ut_accounts_has_passphrase(s->accounts))
		site_refuse(
			reply, 403,
			"set a passphrase first: this server can be reached from other machines");
	else if ((route->flags & UT_ROUTE_RUNS) && !s->opts.profiling)
		site_refuse(reply, 403,
			    "this server starts no programs: it was started without "
			    "--enable-server-profiling");
	else
		return true;
	return false;
}

/* The first may come before we know at which port they do. */
static void wait_until_open(const struct ut_site *s)
{
	while (!s->is_open)
		poll(NULL, 0, 1);
}

void ut_site_answer(void *ctx, const struct ut_request *request, struct ut_reply *reply)
{
	struct ut_site *s = ctx;
	struct ut_call c = {
		.site = s, .request = request, .reply = reply, .arena = &reply->arena
	};
	bool known;
	const struct ut_route *route = ut_route_find(request->method, site_path_of(s, request),
						     c.arena, c.args, &c.rest, &known);

	c.out.to = &c.text;
	wait_until_open(s);
	if (!route)
		site_refuse(reply, known ? 405 : 404,
			    known ? "not that way" : "there is no such thing here");
	else if (site_is_open(s, route, request, reply))
		run_route(route, &c);
}

/* Large bodies are for those who have been let in. */
int ut_site_begin(void *ctx, const struct ut_request *request, struct ut_body *body)
{
	struct ut_site *s = ctx;
	struct ut_arena arena = { 0 };
	const char *args[UT_CALL_ARGS], *rest;
	bool known;
	const struct ut_route *route;
	int status = 0;

	if (request->method == UT_METHOD_GET)
		return 0;
	wait_until_open(s);
	route = ut_route_find(request->method, site_path_of(s, request), &arena, args, &rest,
			      &known);
	body->most = route && (route->flags & UT_ROUTE_OPEN) ? OPEN_MOST : BODY_MOST;
	if (route && (route->flags & UT_ROUTE_UPLOAD)) {
		const char *type = ut_request_header(request, "Content-Type");

		if (!ut_call_is_known(s, request))
			status = 401;
		else if (!type || strncmp(type, "application/json", 16) != 0)
			status = ut_files_begin_upload(s, request, body);
	}
	ut_arena_release(&arena);
	return status;
}

int ut_call_text(const struct ut_call *c, const char *key, const char **to, struct ut_err *err)
{
	*to = ut_doc_text(c->body, key);
	return *to ? 0 : ut_err_set(err, -EINVAL, "\"%s\" is missing, or is no text", key);
}

/* ---- names and certificates ----------------------------------------------------------------- */

static void site_add_name(struct ut_site *s, const char *name)
{
	if (name[0] && s->name_count < sizeof(s->names) / sizeof(s->names[0]))
		snprintf(s->names[s->name_count++], sizeof(s->names[0]), "%s", name);
}

/* What others may call this machine. */
static void find_names(struct ut_site *s)
{
	const struct addrinfo want = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	site_add_name(s, host);
	if (!getaddrinfo(host, NULL, &want, &found)) {
		if (found->ai_canonname && strcasecmp(found->ai_canonname, host) != 0)
			site_add_name(s, found->ai_canonname);
		freeaddrinfo(found);
	}
}

/* "https://host:1/path/": the origin, the host and the path of it. */
static int read_base_url(struct ut_site *s, struct ut_err *err)
{
	const char *url = s->opts.base_url, *host, *path;
	size_t len;

	if (!url)
		return 0;
	host = strstr(url, "://");
	if (!host || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0))
		return ut_err_set(err, -EINVAL, "--base-url %s: begins with http:// or https://",
				  url);
	host += 3;
	path = host + strcspn(host, "/?#");
	len = strlen(path);
	while (len && path[len - 1] == '/')
		len--;
	if (path == host || strpbrk(path, "?#\"<> ") || len >= sizeof(s->prefix) ||
	    (size_t)(path - url) >= sizeof(s->origin))
		return ut_err_set(err, -EINVAL, "--base-url %s: is no address", url);
	snprintf(s->origin, sizeof(s->origin), "%.*s", (int)(path - url), url);
	snprintf(s->host, sizeof(s->host), "%.*s", (int)(path - host), host);
	s->host[host_length(s->host)] = '\0';
	snprintf(s->prefix, sizeof(s->prefix), "%.*s", (int)len, path);
	return 0;
}

/* The certificate of the data directory; a new one if there is none, or it is of no use here. */
static int own_certificate(struct ut_site *s, struct ut_err *err)
{
	struct ut_certificate *c = &s->certificate;
	const char *names[8] = { "localhost", "127.0.0.1", "::1" };
	size_t count = 3;
	int rc;

	for (size_t i = 0; i < s->name_count; i++)
		names[count++] = s->names[i];
	if (s->host[0] && s->host[0] != '[')
		names[count++] = s->host;
	rc = ut_folder_read(s->data_dir.own, CERT_FILE, PEM_MOST, &c->cert, NULL);
	if (!rc)
		rc = ut_folder_read(s->data_dir.own, KEY_FILE, PEM_MOST, &c->key, NULL);
	if (!rc && !ut_certificate_check(c, names, count, NULL))
		return 0;
	ut_certificate_release(c);
	rc = ut_certificate_make(c, names, count, err);
	if (!rc)
		rc = ut_folder_write(s->data_dir.own, KEY_FILE,
				     (struct ut_str){ c->key.data, c->key.len }, err);
	if (!rc)
		rc = ut_folder_write(s->data_dir.own, CERT_FILE,
				     (struct ut_str){ c->cert.data, c->cert.len }, err);
	return rc;
}

static int given_certificate(struct ut_site *s, struct ut_err *err)
{
	struct ut_certificate *c = &s->certificate;
	int rc = ut_file_text(s->opts.cert, PEM_MOST, &c->cert, err);

	if (!rc)
		rc = ut_file_text(s->opts.key, PEM_MOST, &c->key, err);
	if (!rc && ut_certificate_check(c, NULL, 0, err) == -EKEYEXPIRED)
		ut_logger_log(s->opts.logger, UT_WARN,
			      "%s: the certificate ends soon, or has ended", s->opts.cert);
	else if (!rc && !c->fingerprint[0])
		rc = -EINVAL;
	return rc;
}

/* ---- opening and running -------------------------------------------------------------------- */

static int site_open_parts(struct ut_site *s, struct ut_err *err)
{
	int rc = read_base_url(s, err);

	if (!rc)
		rc = ut_description_read(&s->arena, &s->api, err);
	if (!rc)
		rc = ut_data_dir_open(&s->data_dir, s->opts.data_directory, err);
	if (rc)
		return rc;
	ut_storage_init(&s->storage, &s->data_dir, s->opts.quota);
	if (s->opts.remote)
		find_names(s);
	if (s->opts.cert)
		rc = given_certificate(s, err);
	else if (s->opts.remote)
		rc = own_certificate(s, err);
	if (!rc)
		rc = ut_accounts_open(&s->accounts, s->data_dir.own, s->opts.reset_passphrase, err);
	if (!rc)
		rc = ut_viewers_open(&s->viewers, &s->data_dir, s->opts.program, s->opts.profiling,
				     err);
	if (!rc)
		rc = ut_auth_init(&s->gate)
			     ? 0
			     : ut_err_set(err, -EIO, "there are no random numbers to be had");
	if (!rc) {
		s->events = ut_events_new();
		s->evaluator = ut_evaluator_new();
		ut_trash_empty(&s->data_dir, (int64_t)UT_TRASH_DAYS * DAY);
	}
	return rc;
}

int ut_site_open(struct ut_site **site, const struct ut_site_opts *opts, struct ut_err *err)
{
	struct ut_site *s = ut_make(sizeof(*s));
	struct ut_serve_opts serve = { .port = opts->port,
				       .port_option = "--web-port",
				       .anywhere = opts->remote,
				       .clients = CLIENTS,
				       .posts = true,
				       .methods = true,
				       .is_host = is_host,
				       .begin = ut_site_begin,
				       .answer = ut_site_answer,
				       .ctx = s };
	int rc;

	s->opts = *opts;
	s->data_dir.top = s->data_dir.own = -1;
	*site = s;
	rc = site_open_parts(s, err);
	if (!rc) {
		serve.origin = s->origin[0] ? s->origin : NULL;
		serve.cert = s->certificate.cert.len ? s->certificate.cert.data : NULL;
		serve.key = s->certificate.key.len ? s->certificate.key.data : NULL;
		rc = ut_serve_open(&s->server, &serve, err);
	}
	if (rc) {
		ut_site_close(s);
		*site = NULL;
		return rc;
	}
	/* cookies are shared by all ports of a host; the name says that nobody else can set it */
	snprintf(s->cookie, sizeof(s->cookie), "%sunitrace_serve_%u", opts->remote ? "__Host-" : "",
		 (unsigned int)ut_serve_port(s->server));
	s->is_open = true;
	return 0;
}

void ut_site_close(struct ut_site *s)
{
	if (!s)
		return;
	if (s->events)
		ut_events_stop(s->events);
	if (s->accounts)
		ut_accounts_stop(s->accounts);
	ut_evaluator_free(s->evaluator);
	ut_serve_close(s->server);
	ut_viewers_close(s->viewers);
	ut_events_free(s->events);
	ut_accounts_close(s->accounts);
	if (s->accounts)
		ut_auth_release(&s->gate);
	ut_certificate_release(&s->certificate);
	ut_storage_release(&s->storage);
	ut_data_dir_close(&s->data_dir);
	ut_arena_release(&s->arena);
	free(s);
}

void ut_site_address(struct ut_site *s, char to[UT_SITE_ADDRESS])
{
	bool tls = s->certificate.cert.len > 0;
	char token[UT_SECRET], base[300];

	if (s->origin[0])
		snprintf(base, sizeof(base), "%s%.40s/", s->origin, s->prefix);
	else
		snprintf(base, sizeof(base), "%s://%s:%u/", tls ? "https" : "http",
			 s->opts.remote && s->name_count ? s->names[s->name_count - 1]
							 : "127.0.0.1",
			 (unsigned int)ut_serve_port(s->server));
	if (ut_accounts_has_passphrase(s->accounts)) {
		snprintf(to, UT_SITE_ADDRESS, "%s", base);
		return;
	}
	ut_auth_add_token(&s->gate, token);
	snprintf(to, UT_SITE_ADDRESS, "%s?one-time-token=%s", base, token);
	explicit_bzero(token, sizeof(token));
}

const char *ut_site_fingerprint(const struct ut_site *s)
{
	return s->certificate.fingerprint;
}

void ut_site_run(struct ut_site *s, const volatile sig_atomic_t *stop)
{
	ut_events_run(s->events, s);
	ut_evaluator_run(s->evaluator, s);
	ut_serve_run(s->server, stop);
	ut_evaluator_stop(s->evaluator);
	ut_events_stop(s->events);
}

int ut_site_new_token(const char *data_directory, const char *name, char *to, size_t size,
		      struct ut_err *err)
{
	struct ut_accounts *accounts = NULL;
	char token[UT_SECRET];
	struct ut_data_dir data_dir;
	int rc = ut_data_dir_open(&data_dir, data_directory, err);

	if (rc)
		return rc;
	rc = ut_accounts_open(&accounts, data_dir.own, false, err);
	if (!rc)
		rc = ut_accounts_new_token(accounts, name, token, err);
	if (!rc)
		snprintf(to, size, "%s", token);
	ut_accounts_close(accounts);
	ut_data_dir_close(&data_dir);
	return rc;
}
