/*
 * itt_request.c - groups that are recorded on request (locks, stack stitching, heaps) because
 * programs do extra work when somebody listens; and modules and models, which are rare.
 */
#define INTEL_NO_MACRO_BODY
#include <stdatomic.h>
#include <string.h>

#include "collect/hook.h"
#include "collect/mem.h"
#include "collect/number.h"
#include "wire/spool_ops.h"

#define MOST_PATH 4096u

/* ---- synchronisation ----------------------------------------------------------------------- */

static void put_sync(const void *addr, enum ut_sync_op op)
{
	struct ut_tbuf *t = ut_hook();
	uint64_t words[2] = { (uint64_t)(uintptr_t)addr, op };

	if (t)
		ut_tbuf_words(t, UT_REC_SYNC, words, 2);
}

static void name_sync(const void *addr, uint32_t type, uint32_t name)
{
	struct ut_tbuf *t = ut_hook();
	uint64_t words[2] = { (uint64_t)(uintptr_t)addr, ut_pack(type, name) };

	if (t)
		ut_tbuf_words(t, UT_REC_SYNC_CREATE, words, 2);
}

void __itt_sync_create(void *addr, const char *type, const char *name, int attribute)
{
	(void)attribute;
	name_sync(addr, ut_intern_z(type), ut_intern_z(name));
}

void __itt_sync_set_name(void *addr, const char *type, const char *name, int attribute)
{
	__itt_sync_create(addr, type, name, attribute);
}

void __itt_sync_rename(void *addr, const char *name)
{
	name_sync(addr, 0, ut_intern_z(name));
}

int __itt_notify_sync_name(void *addr, const char *type, int type_len, const char *name,
			   int name_len, int attribute)
{
	(void)attribute;
	name_sync(addr, type && type_len > 0 ? ut_intern(type, strnlen(type, (size_t)type_len)) : 0,
		  name && name_len > 0 ? ut_intern(name, strnlen(name, (size_t)name_len)) : 0);
	return 0;
}

#define SYNC_HOOK(name, op)                                                                        \
	void __itt_##name(void *addr)                                                              \
	{                                                                                          \
		put_sync(addr, op);                                                                \
	}

SYNC_HOOK(sync_destroy, UT_SYNC_DESTROY)
SYNC_HOOK(sync_prepare, UT_SYNC_PREPARE)
SYNC_HOOK(sync_cancel, UT_SYNC_CANCEL)
SYNC_HOOK(sync_acquired, UT_SYNC_ACQUIRED)
SYNC_HOOK(sync_releasing, UT_SYNC_RELEASING)
SYNC_HOOK(notify_sync_prepare, UT_SYNC_PREPARE)
SYNC_HOOK(notify_sync_cancel, UT_SYNC_CANCEL)
SYNC_HOOK(notify_sync_acquired, UT_SYNC_ACQUIRED)
SYNC_HOOK(notify_sync_releasing, UT_SYNC_RELEASING)

/* ---- stitching ----------------------------------------------------------------------------- */

static void put_stitch(uint64_t id, enum ut_stitch_op op)
{
	struct ut_tbuf *t = id ? ut_hook() : NULL;
	uint64_t words[2] = { id, op };

	if (t)
		ut_tbuf_words(t, UT_REC_STITCH, words, 2);
}

/* A number is all that the program needs to hand on. */
__itt_caller __itt_stack_caller_create(void)
{
	static _Atomic uint64_t last;
	uint64_t id = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;

	put_stitch(id, UT_STITCH_CREATE);
	return (__itt_caller)(uintptr_t)id;
}

void __itt_stack_caller_destroy(__itt_caller caller)
{
	put_stitch((uint64_t)(uintptr_t)caller, UT_STITCH_DESTROY);
}

void __itt_stack_callee_enter(__itt_caller caller)
{
	put_stitch((uint64_t)(uintptr_t)caller, UT_STITCH_ENTER);
}

void __itt_stack_callee_leave(__itt_caller caller)
{
	put_stitch((uint64_t)(uintptr_t)caller, UT_STITCH_LEAVE);
}

/* ---- heaps --------------------------------------------------------------------------------- */

__itt_heap_function __itt_heap_function_create(const char *name, const char *domain)
{
	uint32_t id;
	uint64_t words[2];

	if (!ut_gate_wake())
		return NULL;
	id = ut_number_next();
	words[0] = ut_pack(id, ut_intern_z(name));
	words[1] = ut_intern_z(domain);
	ut_number_define(UT_REC_HEAP_FUNCTION, words, 2, NULL, 0);
	return (__itt_heap_function)(uintptr_t)id;
}

static void put_heap(__itt_heap_function h, enum ut_heap_op op, const void *addr, size_t size,
		     const void *new_addr)
{
	struct ut_tbuf *t = ut_hook();
	uint64_t words[4] = { ut_pack((uint32_t)(uintptr_t)h, op), (uint64_t)(uintptr_t)addr, size,
			      (uint64_t)(uintptr_t)new_addr };

	if (t)
		ut_tbuf_words(t, UT_REC_HEAP, words, 4);
}

void __itt_heap_allocate_begin(__itt_heap_function h, size_t size, int initialized)
{
	(void)initialized;
	put_heap(h, UT_HEAP_ALLOC_BEGIN, NULL, size, NULL);
}

void __itt_heap_allocate_end(__itt_heap_function h, void **addr, size_t size, int initialized)
{
	(void)initialized;
	put_heap(h, UT_HEAP_ALLOC_END, addr ? *addr : NULL, size, NULL);
}

void __itt_heap_free_begin(__itt_heap_function h, void *addr)
{
	put_heap(h, UT_HEAP_FREE_BEGIN, addr, 0, NULL);
}

void __itt_heap_free_end(__itt_heap_function h, void *addr)
{
	put_heap(h, UT_HEAP_FREE_END, addr, 0, NULL);
}

void __itt_heap_reallocate_begin(__itt_heap_function h, void *addr, size_t new_size,
				 int initialized)
{
	(void)initialized;
	put_heap(h, UT_HEAP_REALLOC_BEGIN, addr, new_size, NULL);
}

void __itt_heap_reallocate_end(__itt_heap_function h, void *addr, void **new_addr, size_t new_size,
			       int initialized)
{
	(void)initialized;
	put_heap(h, UT_HEAP_REALLOC_END, addr, new_size, new_addr ? *new_addr : NULL);
}

void __itt_heap_internal_access_begin(void)
{
	put_heap(NULL, UT_HEAP_ACCESS_BEGIN, NULL, 0, NULL);
}

void __itt_heap_internal_access_end(void)
{
	put_heap(NULL, UT_HEAP_ACCESS_END, NULL, 0, NULL);
}

void __itt_heap_record_memory_growth_begin(void)
{
	put_heap(NULL, UT_HEAP_RECORD_BEGIN, NULL, 0, NULL);
}

void __itt_heap_record_memory_growth_end(void)
{
	put_heap(NULL, UT_HEAP_RECORD_END, NULL, 0, NULL);
}

void __itt_heap_reset_detection(unsigned int mask)
{
	put_heap(NULL, UT_HEAP_RESET, NULL, mask, NULL);
}

void __itt_heap_record(unsigned int mask)
{
	put_heap(NULL, UT_HEAP_RECORD, NULL, mask, NULL);
}

/* ---- modules ------------------------------------------------------------------------------- */

static void put_module(const void *start, const void *end, enum ut_module_op op, const char *path)
{
	struct ut_tbuf *t = ut_hook();
	size_t len = path ? strnlen(path, MOST_PATH + 1) : 0;
	uint64_t words[3] = { (uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)end };

	if (!t)
		return;
	if (len > MOST_PATH) {
		len = MOST_PATH;
		ut_writer_count_cut();
	}
	words[2] = ut_pack(op, (uint32_t)len);
	ut_tbuf_record(t, UT_REC_MODULE, words, 3, path, len);
}

void __itt_module_load(void *start, void *end, const char *path)
{
	put_module(start, end, UT_MODULE_LOAD, path);
}

void __itt_module_unload(void *start)
{
	put_module(start, NULL, UT_MODULE_UNLOAD, NULL);
}

static void put_sections(const __itt_module_object *module, enum ut_module_op op)
{
	for (size_t i = 0; module && i < module->section_number && i < 64; i++) {
		const __itt_section_info *s = &module->section_array[i];

		put_module(s->start_addr, (const char *)s->start_addr + s->size, op,
			   module->module_name);
	}
}

void __itt_module_load_with_sections(__itt_module_object *module)
{
	put_sections(module, UT_MODULE_LOAD);
}

void __itt_module_unload_with_sections(__itt_module_object *module)
{
	put_sections(module, UT_MODULE_UNLOAD);
}

/* ---- models: sites and tasks of a program that is to be made parallel ---------------------- */

static void put_model(enum ut_model_op op, const char *name, size_t len)
{
	bool begins = op == UT_MODEL_SITE_BEGIN || op == UT_MODEL_TASK_BEGIN;
	bool ends = op == UT_MODEL_SITE_END || op == UT_MODEL_TASK_END;
	uint64_t word;

	if (!ut_gate_passes(&ut_me, begins ? UT_CALL_BEGIN : ends ? UT_CALL_END : UT_CALL_OTHER))
		return;
	word = ut_pack(op, name ? ut_intern(name, len) : 0);
	ut_tbuf_words(&ut_me, UT_REC_MODEL, &word, 1);
}

static void put_model_z(enum ut_model_op op, const char *name)
{
	put_model(op, name, name ? strlen(name) : 0);
}

void __itt_model_site_begin(__itt_model_site *site, __itt_model_site_instance *instance,
			    const char *name)
{
	(void)site;
	(void)instance;
	put_model_z(UT_MODEL_SITE_BEGIN, name);
}

void __itt_model_site_end(__itt_model_site *site, __itt_model_site_instance *instance)
{
	(void)site;
	(void)instance;
	put_model_z(UT_MODEL_SITE_END, NULL);
}

void __itt_model_task_begin(__itt_model_task *task, __itt_model_task_instance *instance,
			    const char *name)
{
	(void)task;
	(void)instance;
	put_model_z(UT_MODEL_TASK_BEGIN, name);
}

void __itt_model_task_end(__itt_model_task *task, __itt_model_task_instance *instance)
{
	(void)task;
	(void)instance;
	put_model_z(UT_MODEL_TASK_END, NULL);
}

void __itt_model_site_beginA(const char *name)
{
	put_model_z(UT_MODEL_SITE_BEGIN, name);
}

void __itt_model_site_beginAL(const char *name, size_t len)
{
	put_model(UT_MODEL_SITE_BEGIN, name, len);
}

void __itt_model_site_end_2(void)
{
	put_model_z(UT_MODEL_SITE_END, NULL);
}

void __itt_model_task_beginA(const char *name)
{
	put_model_z(UT_MODEL_TASK_BEGIN, name);
}

void __itt_model_task_beginAL(const char *name, size_t len)
{
	put_model(UT_MODEL_TASK_BEGIN, name, len);
}

void __itt_model_task_end_2(void)
{
	put_model_z(UT_MODEL_TASK_END, NULL);
}

/* An iteration task ends where the next begins; the reader knows. */
void __itt_model_iteration_taskA(const char *name)
{
	put_model(UT_MODEL_ITERATION, name, name ? strlen(name) : 0);
}

void __itt_model_iteration_taskAL(const char *name, size_t len)
{
	put_model(UT_MODEL_ITERATION, name, len);
}
