/*
 * itt_hint.c - what a program tells tools that check it or advise about it.
 *
 * For a timeline these are moments. Functions with an answer give one that lets the caller go on as
 * under the tool that it was written for: states are kept and given back, regions are numbered.
 */
#define INTEL_NO_MACRO_BODY
#include <stdatomic.h>
#include <string.h>

#include "collect/hook.h"
#include "wire/spool_ops.h"

static void itt_hint_put(enum ut_hint_op op, const char *name, const void *addr, uint64_t size)
{
	struct ut_tbuf *t = ut_hook();
	uint64_t words[3] = { 0, (uint64_t)(uintptr_t)addr, size };

	if (!t)
		return;
	words[0] = ut_pack(op, ut_intern_z(name));
	ut_tbuf_words(t, UT_REC_HINT, words, 3);
}

/* ---- suppression --------------------------------------------------------------------------- */

void __itt_suppress_push(unsigned int mask)
{
	itt_hint_put(UT_HINT_SUPPRESS_PUSH, NULL, NULL, mask);
}

void __itt_suppress_pop(void)
{
	itt_hint_put(UT_HINT_SUPPRESS_POP, NULL, NULL, 0);
}

void __itt_suppress_mark_range(__itt_suppress_mode_t mode, unsigned int mask, void *addr,
			       size_t size)
{
	(void)mask;
	itt_hint_put(mode == __itt_suppress_range ? UT_HINT_SUPPRESS_RANGE
						  : UT_HINT_UNSUPPRESS_RANGE,
		     NULL, addr, size);
}

void __itt_suppress_clear_range(__itt_suppress_mode_t mode, unsigned int mask, void *addr,
				size_t size)
{
	(void)mode;
	(void)mask;
	itt_hint_put(UT_HINT_SUPPRESS_CLEAR, NULL, addr, size);
}

/* ---- models -------------------------------------------------------------------------------- */

#define RANGE_HOOK(name, op)                                                                       \
	void __itt_##name(void *addr, size_t size)                                                 \
	{                                                                                          \
		itt_hint_put(op, NULL, addr, size);                                                \
	}
#define ADDRESS_HOOK(name, op)                                                                     \
	void __itt_##name(void *addr)                                                              \
	{                                                                                          \
		itt_hint_put(op, NULL, addr, 0);                                                   \
	}

RANGE_HOOK(model_record_allocation, UT_HINT_ALLOCATION)
ADDRESS_HOOK(model_record_deallocation, UT_HINT_DEALLOCATION)
RANGE_HOOK(model_induction_uses, UT_HINT_INDUCTION)
RANGE_HOOK(model_reduction_uses, UT_HINT_REDUCTION)
RANGE_HOOK(model_observe_uses, UT_HINT_OBSERVE)
ADDRESS_HOOK(model_clear_uses, UT_HINT_CLEAR)
ADDRESS_HOOK(model_lock_acquire, UT_HINT_LOCK_ACQUIRE)
ADDRESS_HOOK(model_lock_release, UT_HINT_LOCK_RELEASE)
ADDRESS_HOOK(model_lock_acquire_2, UT_HINT_LOCK_ACQUIRE)
ADDRESS_HOOK(model_lock_release_2, UT_HINT_LOCK_RELEASE)

void __itt_model_aggregate_task(size_t count)
{
	itt_hint_put(UT_HINT_AGGREGATE, NULL, NULL, count);
}

void __itt_model_disable_push(__itt_model_disable what)
{
	itt_hint_put(UT_HINT_DISABLE_PUSH, NULL, NULL, (uint64_t)what);
}

void __itt_model_disable_pop(void)
{
	itt_hint_put(UT_HINT_DISABLE_POP, NULL, NULL, 0);
}

/* ---- memory -------------------------------------------------------------------------------- */

RANGE_HOOK(memory_read, UT_HINT_MEMORY_READ)
RANGE_HOOK(memory_write, UT_HINT_MEMORY_WRITE)
RANGE_HOOK(memory_update, UT_HINT_MEMORY_UPDATE)

/* Nobody here keeps the array; a caller hears the same as without any collector. */
int __itt_av_save(void *data, int rank, const int *dimensions, int type, const char *path,
		  int column_order)
{
	uint64_t elements = 1;

	(void)type;
	(void)column_order;
	for (int i = 0; dimensions && i < rank && i < 8; i++)
		elements *= dimensions[i] > 0 ? (uint64_t)dimensions[i] : 0;
	itt_hint_put(UT_HINT_SAVE_ARRAY, path, data, elements);
	return 0;
}

/* ---- states -------------------------------------------------------------------------------- */

#define PROPERTIES 4

static _Atomic int state;
static _Atomic int object_modes[PROPERTIES]; /* 0 = as at the start: clear */
static _Thread_local int thread_modes[PROPERTIES];

__itt_state_t __itt_state_get(void)
{
	return atomic_load_explicit(&state, memory_order_relaxed);
}

/* These give back what was in force before. */
__itt_state_t __itt_state_set(__itt_state_t to)
{
	return atomic_exchange_explicit(&state, to, memory_order_relaxed);
}

__itt_obj_state_t __itt_obj_mode_set(__itt_obj_prop_t prop, __itt_obj_state_t to)
{
	int before;

	if ((unsigned int)prop - 1 >= PROPERTIES - 1)
		return __itt_obj_state_err;
	before = atomic_exchange_explicit(&object_modes[prop], (int)to, memory_order_relaxed);
	return before ? (__itt_obj_state_t)before : __itt_obj_state_clr;
}

__itt_thr_state_t __itt_thr_mode_set(__itt_thr_prop_t prop, __itt_thr_state_t to)
{
	int before;

	if (prop != __itt_thr_prop_quiet)
		return __itt_thr_state_err;
	before = thread_modes[prop];
	thread_modes[prop] = (int)to;
	return before ? (__itt_thr_state_t)before : __itt_thr_state_clr;
}

/* ---- the rest ------------------------------------------------------------------------------ */

/*
 * The marks of such a region are instructions for a decoder of Processor Trace, not calls: its
 * number and name are all that can be seen. 255 regions are as many as the type can tell apart.
 */
__itt_pt_region __itt_pt_region_create(const char *name)
{
	static _Atomic unsigned int last;
	unsigned int region = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;

	region = region < 255 ? region : 255;
	itt_hint_put(UT_HINT_PT_REGION, name, NULL, region);
	return (__itt_pt_region)region;
}

/* We are here already. */
void __itt_enable_attach(void)
{
}
