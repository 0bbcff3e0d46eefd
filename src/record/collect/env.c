/*
 * env.c - notices when the program changes PTI_ENABLE_COLLECTION.
 *
 * These stand in front of the C library's functions when the collector is preloaded, which the
 * launcher does only for sessions in which the variable matters. So a change takes effect at
 * once, and nobody ever has to search the environment. Python's os.environ ends up here too.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collect/gate.h"

#define VARIABLE "PTI_ENABLE_COLLECTION"
#define EXPORT   __attribute__((visibility("default")))

EXPORT int setenv(const char *name, const char *value, int overwrite);
EXPORT int unsetenv(const char *name);
EXPORT int putenv(char *string);
EXPORT int clearenv(void);

/* The C library's own; looked up once. ISO C knows no other way than memcpy from an object
 * pointer to a function pointer. */
static void find_next(const char *name, _Atomic(void *) *cache, void *function)
{
	void *found = atomic_load_explicit(cache, memory_order_relaxed);

	if (!found) {
		found = dlsym(RTLD_NEXT, name);
		atomic_store_explicit(cache, found, memory_order_relaxed);
	}
	memcpy(function, &found, sizeof(found));
}

static bool is_variable(const char *name)
{
	return name && !strcmp(name, VARIABLE);
}

int setenv(const char *name, const char *value, int overwrite)
{
	static _Atomic(void *) cache;
	int (*next)(const char *, const char *, int);
	int rc;

	find_next("setenv", &cache, &next);
	rc = next(name, value, overwrite);
	if (rc == 0 && is_variable(name))
		ut_gate_variable(overwrite ? value : getenv(VARIABLE));
	return rc;
}

int unsetenv(const char *name)
{
	static _Atomic(void *) cache;
	int (*next)(const char *);
	int rc;

	find_next("unsetenv", &cache, &next);
	rc = next(name);
	if (rc == 0 && is_variable(name))
		ut_gate_variable(NULL);
	return rc;
}

int putenv(char *string)
{
	static _Atomic(void *) cache;
	int (*next)(char *);
	int rc;

	find_next("putenv", &cache, &next);
	rc = next(string);
	if (rc == 0 && !strncmp(string, VARIABLE, strlen(VARIABLE)))
		ut_gate_variable(getenv(VARIABLE));
	return rc;
}

int clearenv(void)
{
	static _Atomic(void *) cache;
	int (*next)(void);
	int rc;

	find_next("clearenv", &cache, &next);
	rc = next();
	if (rc == 0)
		ut_gate_variable(NULL);
	return rc;
}
