/* fake_collectors.c - see the header. */
#define INTEL_NO_MACRO_BODY
#include "sdk/fake_collectors.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct fake_seen seen;
void (*during_init)(void);

void *__real_dlopen(const char *path, int flags);
void *__real_dlsym(void *lib, const char *name);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlsym(void *lib, const char *name);

static void count(int *n)
{
	__atomic_add_fetch(n, 1, __ATOMIC_RELAXED);
}

static void task_begin(const __itt_domain *d, __itt_id id, __itt_id parent, __itt_string_handle *s)
{
	(void)d, (void)id, (void)parent, (void)s;
	count(&seen.tasks);
}

static void sync_prepare(void *addr)
{
	(void)addr;
	count(&seen.syncs);
}

static void pause_collection(void)
{
	count(&seen.pauses);
}

static __itt_domain *domain_create(const char *name)
{
	static __itt_domain d = { .flags = 1 };

	d.nameA = name;
	return &d;
}

static __itt_string_handle *string_handle_create(const char *name)
{
	static __itt_string_handle s;

	s.strA = name;
	return &s;
}

static void formatted_metadata_add(const __itt_domain *d, __itt_string_handle *format, ...)
{
	va_list args;

	(void)d;
	va_start(args, format);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	vsnprintf(seen.text, sizeof(seen.text), format->strA, args);
#pragma GCC diagnostic pop
	va_end(args);
}

static void module_load_with_sections(__itt_module_object *module)
{
	seen.module_version = module->version;
}

static const char *api_version(void)
{
	return "fake";
}

static unsigned int jit_initialize(void)
{
	count(&seen.jit_init);
	return 1;
}

static unsigned int jit_notify(unsigned int event, void *data)
{
	(void)event, (void)data;
	count(&seen.jit_events);
	return 1;
}

struct symbol {
	const char *name;
	void *fn;
};

#define SYMBOL(name, fn)                                                                           \
	{                                                                                          \
		name, (void *)(uintptr_t)(fn)                                                      \
	}

static const struct symbol installs[] = {
	SYMBOL("__itt_task_begin", task_begin),
	SYMBOL("__itt_pause", pause_collection),
	SYMBOL("__itt_domain_create", domain_create),
	SYMBOL("__itt_string_handle_create", string_handle_create),
	SYMBOL("__itt_formatted_metadata_add", formatted_metadata_add),
	SYMBOL("__itt_module_load_with_sections", module_load_with_sections),
	{ NULL, NULL },
};

static void *find(const struct symbol *symbols, const char *name)
{
	while (symbols->name && strcmp(symbols->name, name))
		symbols++;
	return symbols->fn;
}

static void api_init(__itt_global *copy, __itt_group_id groups)
{
	count(&seen.init);
	seen.copy = copy;
	seen.groups = groups;
	if (during_init)
		during_init();
	for (__itt_api_info *api = copy->api_list_ptr; api->name; api++) {
		void *fn = find(installs, api->name);

		__atomic_store_n(api->func_ptr, fn ? fn : api->null_func, __ATOMIC_RELEASE);
	}
}

static void api_fini(__itt_global *copy)
{
	(void)copy;
	count(&seen.fini);
}

static const struct library {
	const char *path;
	struct symbol symbols[5];
} libraries[] = {
	{ FAKE_V2, { SYMBOL("__itt_api_init", api_init), SYMBOL("__itt_api_fini", api_fini) } },
	{ FAKE_V1,
	  { SYMBOL("__itt_api_version", api_version), SYMBOL("__itt_sync_prepare", sync_prepare),
	    SYMBOL("__itt_task_begin", task_begin) } },
	{ FAKE_V0, { SYMBOL("__itt_notify_sync_prepare", sync_prepare) } },
	{ FAKE_JIT, { SYMBOL("Initialize", jit_initialize), SYMBOL("NotifyEvent", jit_notify) } },
};

#define N_LIBRARIES (sizeof(libraries) / sizeof(*libraries))

void *__wrap_dlopen(const char *path, int flags)
{
	count(&seen.opened);
	snprintf(seen.path, sizeof(seen.path), "%s", path ? path : "");
	for (size_t i = 0; path && i < N_LIBRARIES; i++)
		if (!strcmp(path, libraries[i].path))
			return (void *)(uintptr_t)&libraries[i];
	return path && !strcmp(path, "missing") ? NULL : __real_dlopen(path, flags);
}

void *__wrap_dlsym(void *lib, const char *name)
{
	for (size_t i = 0; i < N_LIBRARIES; i++)
		if (lib == (const void *)&libraries[i])
			return find(libraries[i].symbols, name);
	return __real_dlsym(lib, name);
}

int alone(void (*scenario)(void), const char *const *env)
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		for (; env && *env; env++)
			putenv((char *)(uintptr_t)*env);
		scenario();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}
