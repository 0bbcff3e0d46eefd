/*
 * libfloor.c - the floor that our collector is measured against: the least that any collector
 * with its own records can do. Two rdtsc and 32 bytes of stores per task pair, into a ring of
 * 64 KiB that stays in the cache; nothing is kept, checked or lost.
 */
#define INTEL_NO_MACRO_BODY
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "itt/abi.h"

#define EXPORT __attribute__((visibility("default")))
#define WORDS  8192u

struct ring {
	uint32_t at;
	uint64_t words[WORDS];
};

static _Thread_local struct ring *ring __attribute__((tls_model("initial-exec")));

static inline void put(uint64_t what)
{
	struct ring *r = ring;

	if (__builtin_expect(!r, 0))
		r = ring = calloc(1, sizeof(*r));
	r->words[r->at] = __rdtsc();
	r->words[r->at + 1] = what;
	r->at = (r->at + 2) & (WORDS - 1);
}

static void task_begin(const __itt_domain *domain, __itt_id id, __itt_id parent,
		       __itt_string_handle *name)
{
	(void)domain;
	(void)id;
	(void)parent;
	put((uint64_t)(uintptr_t)name);
}

static void task_end(const __itt_domain *domain)
{
	put((uint64_t)(uintptr_t)domain);
}

static void *find(const char *name)
{
	union {
		void (*begin)(const __itt_domain *, __itt_id, __itt_id, __itt_string_handle *);
		void (*end)(const __itt_domain *);
		void *pointer;
	} f = { .pointer = NULL };

	if (!strcmp(name, "__itt_task_begin"))
		f.begin = task_begin;
	else if (!strcmp(name, "__itt_task_end"))
		f.end = task_end;
	return f.pointer;
}

EXPORT void __itt_api_init(__itt_global *copy, __itt_group_id groups)
{
	(void)groups;
	for (__itt_api_info *a = copy->api_list_ptr; a->name; a++)
		*a->func_ptr = find(a->name) ? find(a->name) : a->null_func;
}
