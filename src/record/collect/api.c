/*
 * api.c - the handshake: a static part has loaded us and asks for its functions.
 *
 * Called once per static copy (and again for a library that is unloaded and loaded), under the
 * copy's lock, on whatever thread came first, possibly before main, inside malloc or under the
 * loader's lock. Other threads call our functions as soon as the first pointer is stored: so
 * everything is made ready first, and nothing here waits for anybody.
 */
#define INTEL_NO_MACRO_BODY

/* What we do not implement is a weak symbol that nobody outside may fill in: NULL. */
#pragma GCC visibility push(hidden)
#include "ittnotify.h"
#define ITT_FN(ret, name, params, args, dll, group) __attribute__((weak)) ret __itt_##dll params;
#include "itt/api.def"
#pragma GCC visibility pop

#include <stdbool.h>
#include <string.h>

#include "collect/adopt.h"
#include "collect/gate.h"
#include "collect/intern.h"
#include "itt/abi.h"
#include "wire/control.h"
#include "wire/sandbox.h"
#include "wire/signals.h"

#define EXPORT __attribute__((visibility("default")))

/* libomp 13 carries this static part and crashes when somebody takes its frames. */
#define BUILD_OF_LIBOMP_13 20151119ul

#define REQUESTED_GROUPS                                                                           \
	(__itt_group_sync | __itt_group_fsync | __itt_group_heap | __itt_group_stitch)

union any_function {
	void (*function)(void);
	void *pointer;
};

struct entry {
	const char *name;
	union any_function hook;
};

static const struct entry entries[] = {
#define ITT_FN(ret, name, params, args, dll, group)                                                \
	{ "__itt_" #dll, { .function = (void (*)(void))__itt_##dll } },
#include "itt/api.def"
};

static void *api_find(const char *name)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!strcmp(entries[i].name, name))
			return entries[i].hook.pointer;
	return NULL;
}

static bool names(const __itt_global *copy, const char *name)
{
	for (const __itt_api_info *a = copy->api_list_ptr; a && a->name; a++)
		if (!strcmp(a->name, name))
			return true;
	return false;
}

/* Programs do extra work for locks, heaps and stacks as soon as somebody listens. */
static bool wanted(const __itt_global *copy, const __itt_api_info *a)
{
	const struct ut_control *control = ut_gate_settings();
	uint32_t groups = control ? control->groups : 0;

	if (copy->version_build == BUILD_OF_LIBOMP_13 && !strcmp(a->name, "__itt_frame_submit_v3"))
		return false;
	/* What belongs to other groups as well (the version, which OpenCV asks for first) is no
	 * part of these; "legacy" says how old a function is, not what it is about. */
	if (!(a->group & REQUESTED_GROUPS) || a->group & ~(REQUESTED_GROUPS | __itt_group_legacy))
		return true;
	return (a->group & (__itt_group_sync | __itt_group_fsync) && groups & UT_GROUP_SYNC) ||
	       (a->group & __itt_group_heap && groups & UT_GROUP_HEAP) ||
	       (a->group & __itt_group_stitch && groups & UT_GROUP_STITCH);
}

static void patch(const __itt_global *copy, bool on)
{
	for (__itt_api_info *a = copy->api_list_ptr; a && a->name; a++) {
		void *hook = on && wanted(copy, a) ? api_find(a->name) : NULL;

		__atomic_store_n(a->func_ptr, hook ? hook : a->null_func, __ATOMIC_RELEASE);
	}
}

/* The members behind string_list came one by one; see struct ___itt_global. */
static void adopt(const __itt_global *copy)
{
	for (__itt_domain *d = copy->domain_list; d; d = d->next)
		ut_intern_adopt_domain(d);
	for (__itt_string_handle *s = copy->string_list; s; s = s->next)
		ut_intern_adopt_string(s);
	if (copy->version_build <= BUILD_OF_LIBOMP_13)
		return;
	if (names(copy, "__itt_counter_create_typed"))
		for (__itt_counter_info_t *c = copy->counter_list; c; c = c->next)
			ut_adopt_counter(c);
	if (names(copy, "__itt_histogram_create"))
		for (__itt_histogram *h = copy->histogram_list; h; h = h->next)
			ut_adopt_histogram(h);
	if (names(copy, "__itt_bind_context_metadata_to_counter"))
		for (__itt_counter_metadata *m = copy->counter_metadata_list; m; m = m->next)
			ut_adopt_counter_metadata(m);
}

EXPORT void __itt_api_init(__itt_global *copy, __itt_group_id groups)
{
	static const unsigned char magic[8] = ITT_MAGIC;
	struct ut_signals before;
	bool on, hold;

	(void)groups; /* what the copy has; ours is decided by the session */
	if (!copy || memcmp(copy->magic, magic, sizeof(magic)) != 0)
		return;
	on = ut_gate_wake();
	if (on) {
		adopt(copy);
		(void)ut_gate_passes(&ut_me, UT_CALL_OTHER); /* attaches the thread */
		/* See itt_meta.c; our own static part loses no arguments. */
		ut_me.fresh = copy->version_build == UT_ITT_BUILD ? 0 : (uintptr_t)ut_me.pos | 1;
	}
	/* A handler in between would find a begin that records and an end that does not. */
	hold = !ut_sandbox_closed();
	if (hold)
		ut_signals_hold(&before);
	patch(copy, on);
	if (hold)
		ut_signals_release(&before);
}

/* "This copy is quiet now": others go on, and it may come back. */
EXPORT void __itt_api_fini(__itt_global *copy)
{
	(void)copy;
}
