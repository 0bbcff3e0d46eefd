/*
 * fuzz_routes.c - libFuzzer target: any bytes as requests to the server, past HTTP itself.
 *
 * An input is up to four requests with NUL between them, each "METHOD TARGET\nBODY". A '!' in front
 * leaves the token out, a '^' sends the body as a file. The site is a real one, with its data in a
 * temporary folder that looks the same before each input. Beside that folder lies a file that must
 * never be shown, with a link to it in a result. Nothing is executed: programs may not be started
 * except where machines are only listed and saved, our own program is a name that leads nowhere,
 * and so is PATH.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "serve/mhd.h"
#include "site/site.h"
#include "site/site_call.h"
#include "text/json_doc.h"

#define REQUESTS 4
#define WORD     "SECRET"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/ut_fuzz_routes.XXXXXX";
static char top[64], token[128], bearer[160];
static struct ut_site *site;

/* ---- a folder with something of everything -------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	/* the server has these open, and what is in the last one in memory */
	if (!strcmp(path, top) || !strcmp(path + where->base, ".unitrace") ||
	    !strcmp(path + where->base, "access.json"))
		return 0;
	return remove(path);
}

static void clean(void)
{
	char path[96];

	ut_site_close(site);
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	snprintf(path, sizeof(path), "%s/.unitrace/access.json", top);
	remove(path);
	snprintf(path, sizeof(path), "%s/.unitrace", top);
	remove(path);
	remove(top);
	snprintf(path, sizeof(path), "%s/secret", folder);
	remove(path);
	remove(folder);
}

static void put(const char *name, const char *text)
{
	char path[160];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	to = fopen(path, "we");
	if (!to || fputs(text, to) < 0 || fclose(to))
		abort();
}

static void make_folder(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	if (mkdir(path, 0700))
		abort();
}

static void reset(void)
{
	char path[160];

	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	make_folder("p");
	make_folder("p/r");
	make_folder("p/i");
	put("p/project.json", "{}\n");
	put("p/r/result.json",
	    "{\"kind\":\"run\",\"made\":1,\"analysis\":\"itt\",\"program\":\"x\"}\n");
	put("p/r/state.json", "{\"state\":\"ready\",\"seconds\":1,\"status\":0}\n");
	put("p/r/log.jsonl", "{}\n");
	put("p/r/output.txt", "said\n");
	put("p/i/result.json", "{\"kind\":\"import\",\"made\":1,\"file\":\"t.json\"}\n");
	put("p/i/t.json", "[]");
	snprintf(path, sizeof(path), "%s/p/r/link.json", top);
	if (symlink("../../../secret", path))
		abort();
}

static void open_site(void)
{
	struct ut_site_opts opts = { .data_directory = top, .program = "/nonexistent/unitrace" };
	struct ut_err err = { 0 };

	if (!mkdtemp(folder))
		abort();
	snprintf(top, sizeof(top), "%s/secret", folder);
	FILE *to = fopen(top, "we");
	if (!to || fputs(WORD, to) < 0 || fclose(to))
		abort();
	snprintf(top, sizeof(top), "%s/data", folder);
	if (mkdir(top, 0700) || setenv("PATH", "/nonexistent", 1) || setenv("HOME", top, 1) ||
	    ut_site_new_token(top, "a name that nobody guesses", token, sizeof(token), &err) ||
	    ut_site_open(&site, &opts, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	atexit(clean);
	snprintf(bearer, sizeof(bearer), "Bearer %s", token);
}

/* ---- requests ------------------------------------------------------------------------------- */

struct sent {
	char *query; /* "a=b&c=d", decoded */
	bool is_known, is_file;
};

/* In place of libmicrohttpd's. */
static const char *find_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
			      const char *name)
{
	struct sent *s = (struct sent *)(void *)connection;
	static char value[4096];

	if (kind == MHD_HEADER_KIND && !strcasecmp(name, "Authorization"))
		return s->is_known ? bearer : NULL;
	if (kind == MHD_HEADER_KIND && !strcasecmp(name, "Content-Type"))
		return s->is_file ? "application/octet-stream" : "application/json";
	for (const char *p = s->query; p && kind == MHD_GET_ARGUMENT_KIND; p = strchr(p, '&')) {
		size_t len = strlen(name);

		p += *p == '&';
		if (!strncmp(p, name, len) && p[len] == '=') {
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(p + len + 1, "&"),
				 p + len + 1);
			return value;
		}
	}
	return NULL;
}

/* Only lists and saves: nothing of this connects or starts anything. */
static bool may_pretend(const struct ut_request *r)
{
	static const char machines[] = "/api/v1/machines";

	return !strncmp(r->path, machines, sizeof(machines) - 1) &&
	       !strchr(r->path + sizeof(machines) - 1 + (r->path[sizeof(machines) - 1] == '/'),
		       '/');
}

static void check(struct ut_reply *reply)
{
	const char *bytes = reply->data ? reply->data : reply->lent;
	struct ut_arena arena = { 0 };
	const struct ut_doc *root;
	char piece[4096];
	ssize_t got = 1;

	if (reply->status < 200 || reply->status > 599)
		abort();
	if (reply->data && reply->type && !strcmp(reply->type, "application/json") &&
	    ut_doc_read(&arena, (struct ut_str){ bytes, reply->len }, &root, NULL))
		abort();
	if (bytes && memmem(bytes, reply->len, WORD, strlen(WORD)))
		abort();
	if (reply->fd > 0) {
		got = read(reply->fd, piece, sizeof(piece));
		if (got > 0 && memmem(piece, (size_t)got, WORD, strlen(WORD)))
			abort();
		close(reply->fd);
	}
	/* that of events waits for what happens: it is only closed */
	while (reply->stream.read && reply->type && !strcmp(reply->type, "application/x-tar") &&
	       (got = reply->stream.read(reply->stream.ctx, piece, sizeof(piece))) > 0) {
		if (memmem(piece, (size_t)got, WORD, strlen(WORD)))
			abort();
	}
	if (reply->stream.close)
		reply->stream.close(reply->stream.ctx);
	ut_arena_release(&arena);
	ut_arena_release(&reply->arena);
	free(reply->data);
}

static void ask(struct ut_request *request, struct sent *sent)
{
	struct ut_reply reply = { 0 };
	struct ut_body body = { .most = 1u << 20, .fd = -1 };
	int status;

	request->connection = sent;
	request->client = "127.0.0.1";
	request->body_fd = -1;
	site->opts.profiling = may_pretend(request);
	status = request->method == UT_METHOD_GET ? 0 : ut_site_begin(site, request, &body);
	if (!status && body.fd >= 0) {
		if (write(body.fd, request->body.ptr, request->body.len) < 0)
			abort();
		request->body_fd = body.fd;
		request->body_bytes = request->body.len;
		request->body = (struct ut_str){ NULL, 0 };
	}
	if (!status) {
		ut_site_answer(site, request, &reply);
		check(&reply);
	}
	if (body.fd >= 0)
		close(body.fd);
}

/* "POST /api/v1/projects?a=b\n{...}" */
static void read_request(char *text, size_t len)
{
	static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };
	struct sent sent = { .is_known = true };
	struct ut_request request = { .method = UT_METHODS };
	char *body = memchr(text, '\n', len), *target;

	for (; *text == '!' || *text == '^'; text++, len--) {
		sent.is_known &= *text != '!';
		sent.is_file |= *text == '^';
	}
	target = strchr(text, ' ');
	if (!target || (body && target > body))
		return;
	*target++ = '\0';
	for (size_t i = 0; i < UT_METHODS; i++) {
		if (!strcmp(text, methods[i]))
			request.method = (enum ut_method)i;
	}
	if (body) {
		*body++ = '\0';
		request.body = (struct ut_str){ body, len - (size_t)(body - text) };
	}
	sent.query = strchr(target, '?');
	if (sent.query)
		*sent.query++ = '\0';
	request.path = target;
	request.is_post = request.method == UT_METHOD_POST;
	/* a passphrase takes a tenth of a second to be made a secret of */
	if (request.method == UT_METHODS || target[0] != '/' ||
	    !strcmp(target, "/api/v1/passphrase"))
		return;
	ask(&request, &sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *at = text;

	if (!text)
		return 0;
	if (!site)
		open_site();
	ut_mhd.lookup_connection_value = find_value;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!memmem(text, size, WORD, strlen(WORD))) { /* what is sent may come back */
		reset();
		for (int i = 0; i < REQUESTS && at < text + size; i++) {
			size_t len = strlen(at);

			read_request(at, len);
			at += len + 1;
		}
	}
	free(text);
	return 0;
}
