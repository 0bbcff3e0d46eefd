#include "draw/cairo_load.h"

#include <pthread.h>

#include "base/loaded.h"

struct ut_cairo ut_cairo;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ut_err trouble;
static int loaded;

#define TAKE(name) { "cairo_" #name, &ut_cairo.name, false },

static const struct ut_loaded_function functions[] = {
	UT_CAIRO_FUNCTIONS(TAKE) /* */
	{ "cairo_pdf_surface_set_metadata", &ut_cairo.pdf_surface_set_metadata, true },
};

static const struct ut_loaded library = {
	.name = "cairo",
	.file = "libcairo.so.2",
	.absent =
		"PDF and PNG need cairo, which is not installed (Debian: libcairo2); SVG and HTML "
		"do not",
	.functions = functions,
	.count = sizeof(functions) / sizeof(*functions),
};

static void cairo_load_load(void)
{
	loaded = ut_loaded_open(&library, &trouble);
}

int ut_cairo_load(struct ut_err *err)
{
	pthread_once(&once, cairo_load_load);
	return loaded ? ut_err_set(err, loaded, "%s", trouble.text) : 0;
}
