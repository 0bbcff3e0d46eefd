/* pages.c - the page: one document for all addresses, its script and its style. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "site/site_call.h"
#include "view/page.h"

#define MARK_ROOM 17

/* What the page may do: nothing from elsewhere, nothing inside the document. */
static const char policy[] =
	"default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/* A name for what is in them: others have other addresses. */
static void make_mark(const struct ut_page *page, char to[MARK_ROOM])
{
	uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

	for (size_t i = 0; i < page->script.len; i++)
		h = (h ^ (unsigned char)page->script.ptr[i]) * UINT64_C(1099511628211);
	for (size_t i = 0; i < page->style.len; i++)
		h = (h ^ (unsigned char)page->style.ptr[i]) * UINT64_C(1099511628211);
	snprintf(to, MARK_ROOM, "%016" PRIx64, h);
}

/* A token in the address is for the page, which changes it for a cookie and forgets it: a link that
 * somebody else's program looks at beforehand does not use it up. */
int ut_pages_shell(struct ut_call *c, struct ut_err *err)
{
	const char *prefix = c->site->prefix;
	struct ut_page page;
	char mark[MARK_ROOM];

	if (!ut_page_get_workbench(&page))
		return ut_err_set(err, -ENOSYS, "%s", ut_page_missing);
	make_mark(&page, mark);
	ut_buf_fmt(&c->text,
		   "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
		   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		   "<meta name=\"unitrace-base\" content=\"%s/\">"
		   "<title>unitrace</title><link rel=\"icon\" href=\"data:,\">"
		   "<link rel=\"stylesheet\" href=\"%s/assets/bench-%s.css\"></head>"
		   "<body><div id=\"page\"></div>"
		   "<script src=\"%s/assets/bench-%s.js\"></script></body></html>\n",
		   prefix, prefix, mark, prefix, mark);
	c->reply->status = 200;
	c->reply->type = "text/html; charset=utf-8";
	c->reply->policy = policy;
	c->reply->data = c->text.data;
	c->reply->len = c->text.len;
	c->text = (struct ut_buf){ 0 };
	return 0;
}

/* Their names change with what is in them, so browsers may keep them for ever. */
int ut_pages_asset(struct ut_call *c, struct ut_err *err)
{
	char mark[MARK_ROOM], name[MARK_ROOM + 16];
	struct ut_page page;
	struct ut_str bytes;
	bool script;

	if (!ut_page_get_workbench(&page))
		return ut_err_set(err, -ENOSYS, "%s", ut_page_missing);
	make_mark(&page, mark);
	snprintf(name, sizeof(name), "bench-%s.js", mark);
	script = !strcmp(c->args[0], name);
	snprintf(name, sizeof(name), "bench-%s.css", mark);
	if (!script && strcmp(c->args[0], name) != 0)
		return ut_err_set(err, -ENOENT, "there is no such file");
	bytes = script ? page.script : page.style;
	c->reply->status = 200;
	c->reply->lent = bytes.ptr;
	c->reply->len = bytes.len;
	c->reply->encoding = "gzip";
	c->reply->cache = "public, max-age=31536000, immutable";
	c->reply->type = script ? "text/javascript; charset=utf-8" : "text/css; charset=utf-8";
	return 0;
}
