/*
 * ittnotify.c - the static part of ITT: what libittnotify.a puts into a program.
 *
 * Every API function is a pointer that first points at a stub here. The first call that is more
 * than the creation of a name loads the collector, which replaces the pointers; from then on this
 * file is out of the way. Without a collector the pointers become NULL and calls cost a test.
 *
 * Invariants:
 *  (1) one thread at a time binds the collector, and never inside itself: a collector that calls
 *      ITT while it initialises reaches a stub that does nothing. No lock is held while a library
 *      is loaded, and none across fork (loading.h).
 *  (2) api_initialized becomes 1 (release) after all pointers are in place.
 *  (3) nodes in the lists stay where they are until __itt_release_resources(): the program holds
 *      pointers to them whether or not a collector ever came.
 *  (4) errno is left as found.
 *
 * Compatible with collectors and headers of the vendor's static part (src/record/itt/abi.h). Where
 * that one errs and the ABI leaves room, this one does better:
 *  - handles made before a load that fails stay valid (there: freed under the program's feet);
 *  - domain_create never returns NULL for a name (old headers read domain->flags unasked);
 *  - handles are kept when only INTEL_ITTNOTIFY_GROUPS announces a collector (there: lost);
 *  - the first call ever may be formatted_metadata_add (there: its arguments are garbage);
 *  - a signal handler that calls ITT while the collector is being loaded is heard (there: lost);
 *  - the first call may come on a stack of a few hundred bytes (there: a crash), and in a child
 *    that is forked while another thread makes it (there: the child hangs);
 *  - setuid programs load nothing that the environment names (there: with their rights).
 */
#define INTEL_NO_MACRO_BODY
#include "itt/abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/loading.h"
#include "sdk/objects.h"

#define COLLECTOR_ENV     (sizeof(void *) == 8 ? "INTEL_LIBITTNOTIFY64" : "INTEL_LIBITTNOTIFY32")
#define GROUPS_ENV        "INTEL_ITTNOTIFY_GROUPS"
#define DEFAULT_COLLECTOR "libittnotify.so" /* when groups are named but no library is */
#define ENV_MAX           4085              /* longer than any path; as the vendor's */
#define MODULE_VERSION    1

/* A statically linked program may lack dlopen: then nobody listens. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

enum {
	API_COUNT = 0
#define ITT_FN(...) +1
#include "itt/api.def"
};

static __itt_api_info api_list[API_COUNT + 1];

/*
 * The copy as the collector sees it. Not exported: were it, two libraries with different versions
 * of the static part would share one of the two tables and lose functions.
 */
static __itt_global self = {
	.magic = ITT_MAGIC,
	.version_major = ITT_MAJOR,
	.version_minor = ITT_MINOR,
	.version_build = UT_ITT_BUILD,
	.mutex_initialized = 1,
	.atomic_counter = 1,
	.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, /* for collectors; we have our own */
	.api_list_ptr = api_list,
	.state = __itt_collection_uninitialized,
};

static __itt_domain no_domain; /* flags == 0: what a program gets when nobody listens */

extern const int __itt_err;
extern const int ITTNOTIFY_NAME(err);
const int __itt_err = 0;
const int ITTNOTIFY_NAME(err) = 0;

static bool initialized(void)
{
	return __atomic_load_n(&self.api_initialized, __ATOMIC_ACQUIRE);
}

static void ittnotify_report(int code, ...)
{
	__itt_error_handler_t *handler = (__itt_error_handler_t *)(uintptr_t)self.error_handler;
	va_list args;

	if (!handler)
		return;
	va_start(args, code);
	handler((__itt_error_code)code, args);
	va_end(args);
}

/* ---- What the environment says -------------------------------------------------------------- */

/* NULL when unset, empty or unreasonable. */
static const char *env(const char *name)
{
	const char *value = ut_itt_env(name);
	size_t len = value ? strlen(value) : 0;

	if (len > ENV_MAX) {
		ittnotify_report(__itt_error_env_too_long, name, len, (size_t)ENV_MAX);
		return NULL;
	}
	return len ? value : NULL;
}

static __itt_group_id group_by_name(const char *name, size_t len)
{
	static const struct {
		const char *name;
		__itt_group_id id;
	} groups[] = {
		{ "all", __itt_group_all },
		{ "control", __itt_group_control },
		{ "thread", __itt_group_thread },
		{ "mark", __itt_group_mark },
		{ "sync", __itt_group_sync },
		{ "fsync", __itt_group_fsync },
		{ "jit", __itt_group_jit },
		{ "model", __itt_group_model },
		{ "counter", __itt_group_counter },
		{ "frame", __itt_group_frame },
		{ "stitch", __itt_group_stitch },
		{ "heap", __itt_group_heap },
		{ "structure", __itt_group_structure },
		{ "suppress", __itt_group_suppress },
		{ "arrays", __itt_group_arrays },
		{ "module", __itt_group_module },
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (strlen(groups[i].name) == len && !memcmp(groups[i].name, name, len))
			return groups[i].id;
	return __itt_group_none;
}

/* "sync,mark; frame" as bits. */
static __itt_group_id parse_groups(const char *list)
{
	static const char separators[] = ",; ";
	/* Four younger groups that tools from before them do not know to ask for. */
	unsigned int bits =
		__itt_group_counter | __itt_group_frame | __itt_group_stitch | __itt_group_heap;

	for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
		size_t len = strcspn(list, separators);
		__itt_group_id id = group_by_name(list, len);

		if (id == __itt_group_none)
			ittnotify_report(__itt_error_unknown_group, GROUPS_ENV, list);
		bits |= (unsigned int)id;
		list += len;
	}
	return (__itt_group_id)bits;
}

static __itt_group_id groups_from_env(void)
{
	const char *list = env(GROUPS_ENV);
	unsigned int bits = __itt_group_none;

	if (list)
		return parse_groups(list);
	/* How the OpenMP runtime was told, once. */
	if (env("KMP_FOR_TPROFILE"))
		bits = __itt_group_control | __itt_group_thread | __itt_group_sync |
		       __itt_group_mark;
	else if (env("KMP_FOR_TCHECK"))
		bits = __itt_group_control | __itt_group_thread | __itt_group_sync |
		       __itt_group_fsync | __itt_group_mark | __itt_group_suppress;
	return (__itt_group_id)bits;
}

/* ---- Start and stop ------------------------------------------------------------------------- */

static void store(const __itt_api_info *api, void *fn)
{
	__atomic_store_n(api->func_ptr, fn, __ATOMIC_RELEASE);
}

static void silence_all(void)
{
	for (const __itt_api_info *api = api_list; api->name; api++)
		store(api, api->null_func);
}

/* Nobody listens. Without a lock: what another thread binds meanwhile is left alone. */
static void ittnotify_give_up(__itt_collection_state state)
{
	__atomic_store_n(&self.state, state, __ATOMIC_RELAXED);
	for (const __itt_api_info *api = api_list; api->name; api++) {
		void *stub = api->init_func;

		__atomic_compare_exchange_n(api->func_ptr, &stub, api->null_func, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&self.api_initialized, 1, __ATOMIC_RELEASE);
}

/*
 * A collector that does not know __itt_api_init: we look its functions up. groups are those it was
 * asked for through the environment and by whoever initialises; others are silenced.
 */
static void bind_by_name(const char *path, unsigned int groups)
{
	for (const __itt_api_info *api = api_list; api->name; api++) {
		bool wanted = (unsigned int)api->group & groups;
		void *fn = wanted ? dlsym(self.lib, api->name) : NULL;

		if (wanted && !fn)
			ittnotify_report(__itt_error_no_symbol, path, api->name);
		store(api, fn ? fn : api->null_func);
	}
}

/* The oldest collectors know the older names only: lend them to the newer functions. */
static void bind_old_names(void)
{
	static const struct {
		const char *name, *old;
	} pairs[] = {
		{ "__itt_thread_ignore", "__itt_thr_ignore" },
		{ "__itt_sync_create", "__itt_sync_set_name" },
		{ "__itt_sync_prepare", "__itt_notify_sync_prepare" },
		{ "__itt_sync_cancel", "__itt_notify_sync_cancel" },
		{ "__itt_sync_acquired", "__itt_notify_sync_acquired" },
		{ "__itt_sync_releasing", "__itt_notify_sync_releasing" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		void *fn = dlsym(self.lib, pairs[i].old);

		for (const __itt_api_info *api = api_list; fn && api->name; api++)
			if (!strcmp(api->name, pairs[i].name) && api->group != __itt_group_fsync)
				store(api, fn);
	}
}

/* One start: from the name of a collector to its functions in the table. */
struct start {
	const char *path;
	__itt_group_id asked;
	void *lib;
	__itt_api_init_t *init;
	bool has_version;
	bool bound; /* by this or an earlier start */
};

static void bind_collector(const struct start *s)
{
	if (s->init) {
		s->init(&self, s->asked);
	} else if (s->has_version) {
		bind_by_name(s->path, (unsigned int)groups_from_env() & (unsigned int)s->asked);
	} else {
		bind_by_name(s->path, __itt_group_legacy & (unsigned int)s->asked);
		if ((unsigned int)s->asked & __itt_group_legacy)
			bind_old_names();
	}
}

/* On a stack of our own, with signals held. */
static void load_and_bind(void *arg)
{
	struct start *s = arg;
	uint64_t signals;

	s->lib = dlopen(s->path, RTLD_LAZY);
	if (s->lib) {
		s->init = (__itt_api_init_t *)(uintptr_t)dlsym(s->lib, "__itt_api_init");
		s->has_version = !s->init && dlsym(s->lib, "__itt_api_version");
	}
	s->bound = initialized();
	if (s->bound || !ut_itt_claim(UT_ITT_BIND))
		return;
	if (ut_itt_lock(&signals)) /* whoever changes a list now sees the claim after it */
		ut_itt_unlock(&signals);
	if (!initialized()) {
		self.lib = s->lib;
		self.state = s->lib ? __itt_collection_init_successful : __itt_collection_init_fail;
		if (s->lib) {
			bind_collector(s);
		} else {
			silence_all();
			ittnotify_report(__itt_error_no_module, s->path, dlerror ? dlerror() : "");
		}
		__atomic_store_n(&self.api_initialized, 1, __ATOMIC_RELEASE);
	}
	s->bound = true;
	ut_itt_unclaim(UT_ITT_BIND);
}

/* False: it has not come to an end, and there is nobody to wait for. */
static bool ittnotify_start(const char *path, __itt_group_id asked)
{
	struct start s = { .path = path ? path : env(COLLECTOR_ENV), .asked = asked };
	struct ut_itt_load load;

	if (!s.path && groups_from_env())
		s.path = DEFAULT_COLLECTOR;
	if (!s.path || !dlopen || !dlsym) {
		ittnotify_give_up(__itt_collection_collector_absent);
		return true;
	}
	switch (ut_itt_load_begin(&load)) {
	case UT_ITT_LOADS_ALREADY:
		return false;
	case UT_ITT_NEVER:
		ittnotify_give_up(__itt_collection_init_fail);
		return true;
	case UT_ITT_MAY_LOAD:
		break;
	}
	ut_itt_load_run(load_and_bind, &s);
	ut_itt_load_end(&load);
	return s.bound || ut_itt_claim_wait(UT_ITT_BIND);
}

static void start_once(const char *path, __itt_group_id asked)
{
	int saved_errno = errno;

	/* Once more where who was binding has not come to an end, as in a forked child. */
	while (!initialized() && ittnotify_start(path, asked))
		continue;
	errno = saved_errno;
}

/* What every stub does first. */
static void first_call(void)
{
	start_once(NULL, __itt_group_all);
}

int __itt_init_ittlib(const char *lib, __itt_group_id groups)
{
	start_once(lib, groups);
	for (const __itt_api_info *api = api_list; api->name; api++)
		if (((unsigned int)api->group & (unsigned int)groups) &&
		    *api->func_ptr != api->null_func)
			return 1;
	return 0;
}

/* The collector stays loaded: another thread may be inside it. */
void __itt_fini_ittlib(void)
{
	__itt_api_fini_t *fini = NULL;

	if (!initialized() || !ut_itt_claim(UT_ITT_BIND))
		return;
	if (self.lib)
		fini = (__itt_api_fini_t *)(uintptr_t)dlsym(self.lib, "__itt_api_fini");
	if (fini)
		fini(&self);
	silence_all();
	__atomic_store_n(&self.api_initialized, 0, __ATOMIC_RELEASE);
	ut_itt_unclaim(UT_ITT_BIND);
}

__itt_collection_state __itt_get_collection_state(void)
{
	first_call();
	return __atomic_load_n(&self.state, __ATOMIC_RELAXED);
}

__itt_error_handler_t *__itt_set_error_handler(__itt_error_handler_t *handler)
{
	void *old = self.error_handler;

	self.error_handler = (void *)(uintptr_t)handler;
	return (__itt_error_handler_t *)(uintptr_t)old;
}

/* Patterns for a Processor Trace decoder would go here; nothing we know of looks for them. */
void __itt_mark_pt_region_begin(__itt_pt_region region)
{
	(void)region;
}

void __itt_mark_pt_region_end(__itt_pt_region region)
{
	(void)region;
}

void __itt_release_resources(void)
{
	uint64_t signals;

	if (!ut_itt_lock(&signals))
		return;
	ut_itt_free_nodes(&self);
	ut_itt_unlock(&signals);
}

/* ---- Stubs ---------------------------------------------------------------------------------- */

/*
 * Is this object to be kept in our lists? Only while a collector may still come; a process that
 * nobody traces allocates nothing.
 */
static bool ittnotify_keep(void)
{
	__itt_collection_state state = __atomic_load_n(&self.state, __ATOMIC_RELAXED);

	if (initialized())
		return false;
	if (state == __itt_collection_uninitialized) {
		state = env(COLLECTOR_ENV) || groups_from_env() ? __itt_collection_collector_exists
								: __itt_collection_collector_absent;
		__atomic_store_n(&self.state, state, __ATOMIC_RELAXED);
	}
	return state == __itt_collection_collector_exists ||
	       state == __itt_collection_init_successful;
}

/* Before a change of the lists, which ut_itt_unlock() ends. False: the collector is asked. */
static bool lock_lists(uint64_t *signals)
{
	int saved_errno = errno;
	bool locked = false;

	while (!locked && ittnotify_keep() && ut_itt_lock(signals)) {
		locked = !initialized() && !ut_itt_bound_by_others();
		if (locked)
			break;
		ut_itt_unlock(signals);
		if (!ut_itt_claim_wait(UT_ITT_BIND))
			break;
	}
	errno = saved_errno;
	return locked;
}

/* The name a function's stub has here. */
#define STUB(name) name##_stub

/* The pointers all calls go through, and the stubs they start with. */
#define ITT_FN(ret, name, params, args, dll, group)                                                \
	static ret STUB(name) params;                                                              \
	extern ret(*ITTNOTIFY_NAME(name)) params;                                                  \
	ret(*ITTNOTIFY_NAME(name)) params = STUB(name);
#include "itt/api.def"

/* The function a collector has put in place of the stub, or NULL. */
#define INSTALLED(name) (ITTNOTIFY_LOAD(name) != STUB(name) ? ITTNOTIFY_LOAD(name) : NULL)

/* The ordinary stub: find the collector, then make the call again. */
#define DEFINE_STUB(ret, name, params, args, dll, group)                                           \
	static ret STUB(name) params                                                               \
	{                                                                                          \
		ret(*target) params;                                                               \
                                                                                                   \
		first_call();                                                                      \
		target = INSTALLED(name);                                                          \
		return target ? target args : (ret)0;                                              \
	}
#define DEFINE_STUB_VOID(ret, name, params, args, dll, group)                                      \
	static ret STUB(name) params                                                               \
	{                                                                                          \
		ret(*target) params;                                                               \
                                                                                                   \
		first_call();                                                                      \
		target = INSTALLED(name);                                                          \
		if (target)                                                                        \
			target args;                                                               \
	}
#define NOT_HERE(ret, name, params, args, dll, group) /* written out below */

#define ITT_FN           DEFINE_STUB
#define ITT_FNV          DEFINE_STUB_VOID
#define ITT_FN_STATIC    NOT_HERE
#define ITT_FNV_STATIC   NOT_HERE
#define ITT_FNV_VARIADIC NOT_HERE
#include "itt/api.def"

/* Ordinary too, but never NULL: the first of them after __itt_fini_ittlib() starts all over. */
DEFINE_STUB_VOID(void, pause, (void), (), , )
DEFINE_STUB_VOID(void, resume, (void), (), , )
DEFINE_STUB_VOID(void, pause_scoped, (__itt_collection_scope scope), (scope), , )
DEFINE_STUB_VOID(void, resume_scoped, (__itt_collection_scope scope), (scope), , )
DEFINE_STUB_VOID(void, thread_set_name, (const char *name), (name), , )
DEFINE_STUB_VOID(void, thread_ignore, (void), (), , )

static void STUB(enable_attach)(void)
{
}

/* The older pair falls back on the newer one. */
static int STUB(thr_name_set)(const char *name, int len)
{
	first_call();
	if (INSTALLED(thr_name_set))
		return ITTNOTIFY_NAME(thr_name_set)(name, len);
	if (INSTALLED(thread_set_name))
		ITTNOTIFY_NAME(thread_set_name)(name);
	return 0;
}

static void STUB(thr_ignore)(void)
{
	first_call();
	if (INSTALLED(thr_ignore))
		ITTNOTIFY_NAME(thr_ignore)();
	else if (INSTALLED(thread_ignore))
		ITTNOTIFY_NAME(thread_ignore)();
}

static void STUB(module_load_with_sections)(__itt_module_object *module)
{
	first_call();
	if (!module || !INSTALLED(module_load_with_sections))
		return;
	module->version = MODULE_VERSION;
	ITTNOTIFY_NAME(module_load_with_sections)(module);
}

static void STUB(module_unload_with_sections)(__itt_module_object *module)
{
	first_call();
	if (!module || !INSTALLED(module_unload_with_sections))
		return;
	module->version = MODULE_VERSION;
	ITTNOTIFY_NAME(module_unload_with_sections)(module);
}

/*
 * Variable arguments cannot be passed on as they came. So we do the collector's work for this one
 * call: format the text here and send it as the argument of "%s".
 */
static char *format_text(const __itt_string_handle *format, va_list args)
{
	char *text = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (!format || !format->strA || vasprintf(&text, format->strA, args) < 0)
		return NULL;
#pragma GCC diagnostic pop
	return text;
}

static __itt_string_handle *text_format(void)
{
	return ITTNOTIFY_NAME(string_handle_create) ? ITTNOTIFY_NAME(string_handle_create)("%s")
						    : NULL;
}

static void STUB(formatted_metadata_add)(const __itt_domain *domain, __itt_string_handle *format,
					 ...)
{
	va_list args;
	char *text;

	first_call();
	if (!INSTALLED(formatted_metadata_add))
		return;
	va_start(args, format);
	text = format_text(format, args);
	va_end(args);
	if (text)
		ITTNOTIFY_NAME(formatted_metadata_add)(domain, text_format(), text);
	free(text);
}

static void STUB(formatted_metadata_add_overlapped)(const __itt_domain *domain, __itt_id id,
						    __itt_string_handle *format, ...)
{
	va_list args;
	char *text;

	first_call();
	if (!INSTALLED(formatted_metadata_add_overlapped))
		return;
	va_start(args, format);
	text = format_text(format, args);
	va_end(args);
	if (text)
		ITTNOTIFY_NAME(formatted_metadata_add_overlapped)(domain, id, text_format(), text);
	free(text);
}

/* Creation: never loads the collector. A list node before it, the collector's object after. */

static __itt_domain *STUB(domain_create)(const char *name)
{
	__itt_domain *domain = NULL;
	uint64_t signals;

	if (!name)
		return NULL;
	if (lock_lists(&signals)) {
		domain = ut_itt_domain_node(&self, name);
		ut_itt_unlock(&signals);
	}
	if (!domain && INSTALLED(domain_create))
		domain = ITTNOTIFY_NAME(domain_create)(name);
	return domain ? domain : &no_domain;
}

static __itt_string_handle *STUB(string_handle_create)(const char *name)
{
	__itt_string_handle *string = NULL;
	uint64_t signals;

	if (!name)
		return NULL;
	if (lock_lists(&signals)) {
		string = ut_itt_string_node(&self, name);
		ut_itt_unlock(&signals);
	}
	if (!string && INSTALLED(string_handle_create))
		string = ITTNOTIFY_NAME(string_handle_create)(name);
	return string;
}

static __itt_counter STUB(counter_create_typed)(const char *name, const char *domain,
						__itt_metadata_type type)
{
	__itt_counter counter = NULL;
	uint64_t signals;

	if (!name)
		return NULL;
	if (lock_lists(&signals)) {
		counter = ut_itt_counter_node(&self, name, domain, type);
		ut_itt_unlock(&signals);
	}
	if (!counter && INSTALLED(counter_create_typed))
		counter = ITTNOTIFY_NAME(counter_create_typed)(name, domain, type);
	return counter;
}

static __itt_counter STUB(counter_create)(const char *name, const char *domain)
{
	if (INSTALLED(counter_create))
		return ITTNOTIFY_NAME(counter_create)(name, domain);
	return STUB(counter_create_typed)(name, domain, __itt_metadata_u64);
}

static __itt_counter STUB(counter_create_v3)(const __itt_domain *domain, const char *name,
					     __itt_metadata_type type)
{
	__itt_counter counter = NULL;
	uint64_t signals;

	if (!domain || !name)
		return NULL;
	if (lock_lists(&signals)) {
		counter = ut_itt_counter_node(&self, name, domain->nameA, type);
		ut_itt_unlock(&signals);
	}
	if (!counter && INSTALLED(counter_create_v3))
		counter = ITTNOTIFY_NAME(counter_create_v3)(domain, name, type);
	return counter;
}

static __itt_histogram *STUB(histogram_create)(const __itt_domain *domain, const char *name,
					       __itt_metadata_type x_type,
					       __itt_metadata_type y_type)
{
	__itt_histogram *histogram = NULL;
	uint64_t signals;

	if (!domain || !name)
		return NULL;
	if (lock_lists(&signals)) {
		histogram = ut_itt_histogram_node(&self, domain, name, x_type, y_type);
		ut_itt_unlock(&signals);
	}
	if (!histogram && INSTALLED(histogram_create))
		histogram = ITTNOTIFY_NAME(histogram_create)(domain, name, x_type, y_type);
	return histogram;
}

static void STUB(bind_context_metadata_to_counter)(__itt_counter counter, size_t length,
						   __itt_context_metadata *metadata)
{
	uint64_t signals;
	bool kept;

	if (!counter || !metadata)
		return;
	kept = lock_lists(&signals);
	for (size_t i = 0; kept && i < length; i++)
		ut_itt_metadata_node(&self, counter, &metadata[i]);
	if (kept)
		ut_itt_unlock(&signals);
	else if (INSTALLED(bind_context_metadata_to_counter))
		ITTNOTIFY_NAME(bind_context_metadata_to_counter)(counter, length, metadata);
}

/* ---- The table ------------------------------------------------------------------------------ */

#define ENTRY(name, dll, group, null)                                                              \
	{ "__itt_" #dll, (void **)(void *)&ITTNOTIFY_NAME(name), (void *)(uintptr_t)STUB(name),    \
	  null, (__itt_group_id)(group) },

static __itt_api_info api_list[API_COUNT + 1] = {
#define ITT_FN(ret, name, params, args, dll, group) ENTRY(name, dll, group, NULL)
#define ITT_FN_STATIC(ret, name, params, args, dll, group)                                         \
	ENTRY(name, dll, group, (void *)(uintptr_t)STUB(name))
#define ITT_FNV_STATIC ITT_FN_STATIC
#include "itt/api.def"
	{ NULL, NULL, NULL, NULL, __itt_group_none },
};
