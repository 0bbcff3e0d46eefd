#include "report/one_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#if UT_HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/grow.h"
#include "base/str.h"
#include "export/exporter.h"
#include "export/store_sink.h"
#include "model/store.h"
#include "report/page_image.h"
#include "text/html.h"
#include "text/out.h"
#include "view/page.h"
#include "view/view.h"
#include "view/view_parts.h"

#if !UT_HAVE_ZLIB

static const char no_zlib[] = "built without zlib, which a page needs (Debian: zlib1g-dev)";

const char *ut_one_page_missing(void)
{
	return no_zlib;
}

void ut_one_page_write(struct ut_view *v, uint64_t slices, struct ut_out *out)
{
	(void)v;
	(void)slices;
	ut_out_fail(out, -ENOTSUP, no_zlib);
}

#else

/* ---- deflate and base64 --------------------------------------------------------------------- */

#define CHUNK 49152u /* a multiple of 3: no padding but at the end */

struct packer {
	z_stream z;
	struct ut_out *out;
	unsigned char bytes[CHUNK];
};

static void put_base64(struct ut_out *out, const unsigned char *b, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t left = (uint32_t)(len - i);
		uint32_t three = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
				 (left > 2 ? b[i + 2] : 0);
		char four[4] = { digits[three >> 18], digits[three >> 12 & 63],
				 left > 1 ? digits[three >> 6 & 63] : '=',
				 left > 2 ? digits[three & 63] : '=' };

		ut_out_write(out, four, sizeof(four));
	}
}

/* last: the stream ends with these bytes. */
static int pack(void *ctx, const void *data, size_t len, int last)
{
	struct packer *p = ctx;
	int rc = Z_OK;

	p->z.next_in = (unsigned char *)(uintptr_t)data;
	p->z.avail_in = (uInt)len;
	while (rc == Z_OK && (p->z.avail_in || last)) {
		rc = deflate(&p->z, last ? Z_FINISH : Z_NO_FLUSH);
		if (p->z.avail_out && rc != Z_STREAM_END)
			continue;
		put_base64(p->out, p->bytes, CHUNK - p->z.avail_out);
		p->z.next_out = p->bytes;
		p->z.avail_out = CHUNK;
	}
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR ? 0 : -EIO;
}

/* NULL, and an error that sticks, if zlib has no memory. */
static struct packer *start_packing(struct ut_out *out, int level)
{
	struct packer *p = ut_make(sizeof(*p));

	p->out = out;
	p->z.next_out = p->bytes;
	p->z.avail_out = CHUNK;
	if (deflateInit2(&p->z, level, Z_DEFLATED, MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK)
		return p;
	ut_out_fail(out, -ENOMEM, "deflate cannot be started");
	free(p);
	return NULL;
}

static void end_packing(struct packer *p, int rc)
{
	if (rc)
		ut_out_fail(p->out, -EIO, "the page cannot be deflated");
	deflateEnd(&p->z);
	free(p);
}

#define TRACE_LEVEL 5 /* 9 saves 0.5 % more in 1.7 to 5 times the time */

static void one_page_put_trace(struct ut_view *v, const char *id, uint64_t slices,
			       struct ut_out *out)
{
	struct packer *p = start_packing(out, TRACE_LEVEL);

	ut_out_fmt(out, "<script type=\"application/octet-stream\" id=\"%s\">", id);
	if (p)
		end_packing(p, ut_page_image(v, slices, pack, p));
	ut_out_text(out, "</script>");
}

#define LARGE_SHEET (1u << 20) /* bytes from which it is time that counts, not a tenth more */

/* Each in an element of its own, which the page unpacks when it asks for the sheet. side: of two
 * runs, what marks those of the older one. */
static void put_sheets(struct ut_view *v, const char *side, struct ut_out *out)
{
	for (size_t i = 0; i < v->attached.sheet_count; i++) {
		size_t len;
		const char *json = ut_view_sheet_json(v, i, &len);
		struct packer *p = start_packing(out, len > LARGE_SHEET ? Z_BEST_SPEED
									: Z_DEFAULT_COMPRESSION);

		ut_out_text(out, "<script type=\"application/octet-stream\" class=\"sheet\" "
				 "data-tool=\"");
		ut_html_text(out, v->attached.sheets[i].tool, strlen(v->attached.sheets[i].tool));
		ut_out_text(out, "\" data-name=\"");
		ut_html_text(out, v->attached.sheets[i].name, strlen(v->attached.sheets[i].name));
		ut_out_fmt(out, "\"%s>", side);
		if (p)
			end_packing(p, pack(p, json, len, 1));
		ut_out_text(out, "</script>");
	}
}

/* ---- the page ------------------------------------------------------------------------------- */

/* What gzip holds; the caller frees it. */
static int one_page_unpack(struct ut_str packed, struct ut_buf *to)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)packed.ptr,
		       .avail_in = (uInt)packed.len };
	unsigned char part[16384];
	int rc = inflateInit2(&z, 16 + MAX_WBITS);

	while (rc == Z_OK) {
		z.next_out = part;
		z.avail_out = sizeof(part);
		rc = inflate(&z, Z_NO_FLUSH);
		ut_buf_add(to, (const char *)part, sizeof(part) - z.avail_out);
	}
	inflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : -EIO;
}

/* Nothing in a script may end its element or begin a comment of HTML. */
static void put_script(struct ut_out *out, const struct ut_buf *text)
{
	static const char *const stops[] = { "</script", "<!--" };
	const char *at = text->data, *end = at + text->len, *done = at;

	while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
		bool stop = false;

		for (size_t n = 0; n < 2; n++)
			stop |= strncasecmp(at, stops[n], strlen(stops[n])) == 0;
		at++;
		if (!stop)
			continue;
		ut_out_write(out, done, (size_t)(at - done));
		ut_out_text(out, "\\");
		done = at;
	}
	ut_out_write(out, done, (size_t)(end - done));
}

/* Only where nobody has said it in the address already: a link shows what its sender saw. */
static void put_address(struct ut_out *out, const char *address)
{
	ut_out_text(out, "<script>if(!location.hash)location.hash=");
	ut_out_json_str(out, address, strlen(address));
	ut_out_text(out, "</script>");
}

/* script, style: unpacked; the module stays as it is. */
static void put_page(struct ut_view *v, uint64_t slices, const struct ut_buf *script,
		     const struct ut_buf *style, struct ut_str module, struct ut_out *out)
{
	ut_out_text(out,
		    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
		    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; "
		    "style-src 'unsafe-inline'; img-src data:\">"
		    "<title>unitrace</title><link rel=\"icon\" href=\"data:,\"><style>");
	ut_out_write(out, style->data, style->len);
	ut_out_text(out, "</style></head><body><div id=\"page\"></div>");
	one_page_put_trace(v, "trace", slices, out);
	if (v->before)
		one_page_put_trace(v->before, "before", slices, out);
	ut_out_text(out, "<script type=\"application/octet-stream\" id=\"module\">");
	put_base64(out, (const unsigned char *)module.ptr, module.len);
	ut_out_text(out, "</script>");
	put_sheets(v, "", out);
	if (v->before)
		put_sheets(v->before, " data-side=\"before\"", out);
	if (v->attached.address)
		put_address(out, v->attached.address);
	ut_out_text(out, "<script id=\"app\">");
	put_script(out, script);
	ut_out_text(out, "</script></body></html>\n");
}

static const char no_module[] =
	"built without the module that answers in saved pages: it is made with clang, lld and "
	"wasi-libc ('tools/setup.sh build'), then build again";

const char *ut_one_page_missing(void)
{
	struct ut_page page;

	if (!ut_page_get(&page))
		return ut_page_missing;
	return ut_page_get_saved(&page) ? NULL : no_module;
}

void ut_one_page_write(struct ut_view *v, uint64_t slices, struct ut_out *out)
{
	struct ut_buf script = { 0 }, style = { 0 };
	struct ut_page page;

	if (!ut_page_get_saved(&page))
		ut_out_fail(out, -ENOTSUP, ut_one_page_missing());
	else if (one_page_unpack(page.script, &script) || one_page_unpack(page.style, &style))
		ut_out_fail(out, -EIO, "the page in this program is damaged");
	else
		put_page(v, slices, &script, &style, page.module, out);
	ut_buf_release(&script);
	ut_buf_release(&style);
}

#endif

/* ---- as an exporter ------------------------------------------------------------------------- */

static const char *title_of(const struct ut_trace *t)
{
	for (size_t i = 0; i < t->process_count; i++) {
		struct ut_str name = ut_strtab_get(&t->strings, t->processes[i].name);

		if (name.len)
			return name.ptr;
	}
	return "trace";
}

static void html_write(struct ut_store *store, struct ut_out *out)
{
	struct ut_view *v = ut_view_new();

	ut_view_lend(v, title_of(&store->trace), store);
	ut_view_ready(v, 0);
	ut_view_allow_code(v);
	ut_one_page_write(v, UT_PAGE_SLICES, out);
	ut_view_free(v);
}

static struct ut_sink *html_open(struct ut_out *out)
{
	return ut_store_sink_open(out, html_write);
}

const struct ut_exporter ut_export_html = {
	.name = "html",
	.suffix = ".html",
	.open = html_open,
	.end_trace = ut_store_sink_end_trace,
	.close = ut_store_sink_close,
	.write = html_write,
};
