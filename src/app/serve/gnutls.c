#include "serve/gnutls.h"

#include <pthread.h>

#include "base/loaded.h"

struct ut_gnutls ut_gnutls;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ut_err trouble;
static int loaded;

#define TAKE(name) { "gnutls_" #name, &ut_gnutls.name, false },

static const struct ut_loaded_function functions[] = { UT_GNUTLS_FUNCTIONS(TAKE) };

static const struct ut_loaded library = {
	.name = "GnuTLS",
	.file = "libgnutls.so." UT_GNUTLS_ABI,
	.absent = "GnuTLS is not installed (Debian: libgnutls" UT_GNUTLS_ABI ")",
	.functions = functions,
	.count = sizeof(functions) / sizeof(*functions),
};

static void gnutls_load(void)
{
	loaded = ut_loaded_open(&library, &trouble);
}

int ut_gnutls_load(struct ut_err *err)
{
	pthread_once(&once, gnutls_load);
	return loaded ? ut_err_set(err, loaded, "%s", trouble.text) : 0;
}
