#include "serve/mhd.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/str.h"

/* The number is that of the header that we were built with: types are its own. */
#define FILE_NAME "libmicrohttpd.so." UT_MHD_ABI
#define PACKAGE   "libmicrohttpd" UT_MHD_ABI

struct ut_mhd ut_mhd;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ut_err trouble;

/* The name of one that is missing, or NULL. */
static const char *resolve(void *library)
{
	const char *missing = NULL;
	void *found;

#define TAKE(name)                                                                                 \
	found = dlsym(library, "MHD_" #name);                                                      \
	memcpy(&ut_mhd.name, &found, sizeof(found));                                               \
	missing = found ? missing : "MHD_" #name;
	UT_MHD_FUNCTIONS(TAKE)
#undef TAKE
	return missing;
}

static void load(void)
{
	void *library = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
	const char *why = library ? NULL : dlerror(), *missing;

	/* A file that is found is told by its path, one that it needs by another name. */
	if (why && ut_str_starts(why, FILE_NAME))
		ut_err_set(&trouble, -ELIBACC,
			   "libmicrohttpd is not installed (Debian: " PACKAGE ")");
	else if (why)
		ut_err_set(&trouble, -ELIBBAD, "libmicrohttpd cannot be loaded: %s", why);
	if (!library)
		return;
	missing = resolve(library);
	if (missing)
		ut_err_set(&trouble, -ELIBBAD,
			   "libmicrohttpd cannot be used: " FILE_NAME " has no %s", missing);
}

int ut_mhd_load(struct ut_err *err)
{
	pthread_once(&once, load);
	return trouble.code ? ut_err_set(err, trouble.code, "%s", trouble.text) : 0;
}
