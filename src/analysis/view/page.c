#include "view/page.h"

#include <stddef.h>

#ifdef UT_WEB_BUNDLE
#include "text/embed.h"

UT_EMBED_BYTES(ut_page_script, UT_WEB_BUNDLE "/app.js.gz");
UT_EMBED_BYTES(ut_page_style, UT_WEB_BUNDLE "/app.css.gz");
UT_EMBED_BYTES(ut_workbench_script, UT_WEB_BUNDLE "/workbench.js.gz");
UT_EMBED_BYTES(ut_workbench_style, UT_WEB_BUNDLE "/workbench.css.gz");

#ifdef UT_WEB_MODULE
UT_EMBED_BYTES(ut_page_module, UT_WEB_BUNDLE "/module.wasm.gz");
#endif

#define BYTES(symbol) ((struct ut_str){ symbol, (size_t)(symbol##_end - (symbol)) })

bool ut_page_get(struct ut_page *page)
{
	*page = (struct ut_page){ BYTES(ut_page_script), BYTES(ut_page_style), { NULL, 0 } };
	return true;
}

#ifdef UT_WEB_MODULE
bool ut_page_get_saved(struct ut_page *page)
{
	*page = (struct ut_page){ BYTES(ut_page_script), BYTES(ut_page_style),
				  BYTES(ut_page_module) };
	return true;
}
#else
bool ut_page_get_saved(struct ut_page *page)
{
	*page = (struct ut_page){ 0 };
	return false;
}
#endif

bool ut_page_get_workbench(struct ut_page *page)
{
	*page = (struct ut_page){ BYTES(ut_workbench_script),
				  BYTES(ut_workbench_style),
				  { NULL, 0 } };
	return true;
}
#else
bool ut_page_get(struct ut_page *page)
{
	*page = (struct ut_page){ 0 };
	return false;
}

bool ut_page_get_saved(struct ut_page *page)
{
	return ut_page_get(page);
}

bool ut_page_get_workbench(struct ut_page *page)
{
	return ut_page_get(page);
}
#endif

const char ut_page_missing[] = "built without the viewer's page: in the source tree, "
			       "'tools/setup.sh build' gets what it is "
			       "made with, then build again";

const char ut_page_html[] =
	"<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
	"<title>unitrace</title><link rel=\"icon\" href=\"data:,\">"
	"<link rel=\"stylesheet\" href=\"app.css\"></head><body><div id=\"page\"></div>"
	"<script src=\"app.js\"></script></body></html>\n";

const char ut_page_policy[] =
	"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
	"form-action 'none'; frame-ancestors 'none'";
