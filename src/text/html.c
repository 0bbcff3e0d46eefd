#include "text/html.h"

#include <string.h>

#include "text/embed.h"
#include "text/out.h"

UT_EMBED(ut_html_css, "report.css");
UT_EMBED(ut_html_js, "report.js");

void ut_html_text(struct ut_out *o, const char *s, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const char *as = s[i] == '<'   ? "&lt;"
				 : s[i] == '>' ? "&gt;"
				 : s[i] == '&' ? "&amp;"
				 : s[i] == '"' ? "&quot;"
				 : !s[i]       ? "\xef\xbf\xbd"
					       : NULL;

		if (!as)
			continue;
		ut_out_write(o, s + from, i - from);
		ut_out_text(o, as);
		from = i + 1;
	}
	ut_out_write(o, s + from, len - from);
}

void ut_html_begin(struct ut_out *o, const char *title)
{
	ut_out_text(o, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		       "img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		       "<meta name=\"color-scheme\" content=\"light dark\">\n"
		       "<link rel=\"icon\" href=\"data:,\">\n<title>");
	ut_html_text(o, title, strlen(title));
	ut_out_text(o, "</title>\n<style>\n");
	ut_out_text(o, ut_html_css);
	ut_out_text(o, "</style>\n</head>\n<body>\n<main id=\"page\"><h1>");
	ut_html_text(o, title, strlen(title));
	ut_out_text(o, "</h1></main>\n<noscript>This page draws its charts with a script of its "
		       "own; allow scripts to see them.</noscript>\n");
}

void ut_html_data(struct ut_out *o, const char *id, const char *json, size_t len)
{
	const char *end = json + len, *less;

	ut_out_text(o, "<script type=\"application/json\" id=\"");
	ut_html_text(o, id, strlen(id));
	ut_out_text(o, "\">\n");
	/* in JSON a < can only stand in a string, where it may be written otherwise */
	while ((less = memchr(json, '<', (size_t)(end - json)))) {
		ut_out_write(o, json, (size_t)(less - json));
		ut_out_text(o, "\\u003c");
		json = less + 1;
	}
	ut_out_write(o, json, (size_t)(end - json));
	ut_out_text(o, "</script>\n");
}

void ut_html_end(struct ut_out *o, const char *script)
{
	ut_out_text(o, "<script>\n");
	ut_out_text(o, ut_html_js);
	ut_out_text(o, "</script>\n<script>\n");
	ut_out_text(o, script);
	ut_out_text(o, "</script>\n</body>\n</html>\n");
}
