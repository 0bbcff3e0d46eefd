#include "symbol/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle_rust.h"

typedef char *demangle_fn(const char *mangled, char *buffer, size_t *size, int *status);

static demangle_fn *demangle;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The C++ library knows how; without it names stay as they are. */
static void demangle_find(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void *found = library ? dlsym(library, "__cxa_demangle") : NULL;

	memcpy(&demangle, &found, sizeof(found));
}

char *ut_demangle(const char *name)
{
	char *rust, *made;
	int status = 0;

	if (name[0] != '_' || strlen(name) > UT_DEMANGLE_MOST)
		return NULL;
	rust = ut_demangle_rust(name);
	if (rust || strncmp(name, "_Z", 2) != 0)
		return rust;
	pthread_once(&once, demangle_find);
	made = demangle ? demangle(name, NULL, NULL, &status) : NULL;
	return made ? made : ut_demangle_part(name);
}
