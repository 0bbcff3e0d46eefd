#include "serve/mhd.h"

#include <pthread.h>

#include "base/loaded.h"

struct ut_mhd ut_mhd;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ut_err trouble;
static int loaded;

#define TAKE(name) { "MHD_" #name, &ut_mhd.name, false },

static const struct ut_loaded_function functions[] = { UT_MHD_FUNCTIONS(TAKE) };

/* The number is that of the header that we were built with: types are its own. */
static const struct ut_loaded library = {
	.name = "libmicrohttpd",
	.file = "libmicrohttpd.so." UT_MHD_ABI,
	.absent = "libmicrohttpd is not installed (Debian: libmicrohttpd" UT_MHD_ABI ")",
	.functions = functions,
	.count = sizeof(functions) / sizeof(*functions),
};

static void mhd_load(void)
{
	loaded = ut_loaded_open(&library, &trouble);
}

int ut_mhd_load(struct ut_err *err)
{
	pthread_once(&once, mhd_load);
	return loaded ? ut_err_set(err, loaded, "%s", trouble.text) : 0;
}
