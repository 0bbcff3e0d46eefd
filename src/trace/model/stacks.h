/*
 * stacks.h - where samples were taken: places in code, and stacks of them as a tree.
 *
 * A stack is the number of its innermost call: a place, and the stack that it was called from. So
 * a million samples of a program share a few thousand numbers. Numbers count from 1, 0 is none; a
 * caller's number is always smaller, and a walk outwards ends. Everything lies in an arena; each
 * place and stack is there once. Not thread-safe.
 */
#ifndef UT_MODEL_STACKS_H
#define UT_MODEL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* A place in code; what is unknown is 0. */
struct ut_place_in_code {
	uint64_t address;
	uint32_t function, module, file; /* string ids */
	uint32_t line;
};

struct ut_callsite {
	uint32_t caller; /* number of a stack */
	uint32_t place;  /* number of a place */
};

/* Numbers of equal items: open addressing, a power of two; 0 = empty. */
struct ut_stack_slots {
	uint32_t *slots;
	size_t count;
};

struct ut_stacks {
	struct ut_place_in_code *places;
	size_t place_count, place_cap;
	struct ut_callsite *sites;
	size_t site_count, site_cap;
	struct ut_stack_slots place_slots, site_slots;
};

/* The number of a place or a stack, adding it if it is new. caller and place must exist. */
uint32_t ut_stacks_place(struct ut_stacks *s, struct ut_arena *a, const struct ut_place_in_code *p);
uint32_t ut_stacks_site(struct ut_stacks *s, struct ut_arena *a, uint32_t caller, uint32_t place);

/* What a number stands for; of one that is none, all zeros. */
static inline struct ut_callsite ut_stacks_get(const struct ut_stacks *s, uint32_t number)
{
	return number - 1 < s->site_count ? s->sites[number - 1] : (struct ut_callsite){ 0 };
}

static inline struct ut_place_in_code ut_stacks_get_place(const struct ut_stacks *s,
							  uint32_t number)
{
	return number - 1 < s->place_count ? s->places[number - 1] : (struct ut_place_in_code){ 0 };
}

/* The function of a sample that stands for CPU time in which none was taken. */
#define UT_SAMPLE_NONE "[not sampled]"

/* Where a sample was: the innermost place of its stack. */
static inline struct ut_place_in_code ut_stacks_innermost(const struct ut_stacks *s, uint32_t stack)
{
	return ut_stacks_get_place(s, ut_stacks_get(s, stack).place);
}

/* How many calls deep; 0 for no stack. */
uint32_t ut_stacks_depth(const struct ut_stacks *s, uint32_t number);

/*
 * Tables from a file: -1 if a caller does not come before what it calls, or there is no such place;
 * else copies of them. s must be empty.
 */
int ut_stacks_take(struct ut_stacks *s, struct ut_arena *a, const struct ut_stacks *from);

/* ---- what was sampled: the name of an event of UT_KIND_SAMPLE ------------------------------- */

/* What the weights of its samples are: "ns" of time, unless the name ends with one of "bytes",
 * "_space" ("bytes"), UT_SAMPLE_EVENTS, "_objects", or is "samples" (""). */
#define UT_SAMPLE_EVENTS " events"
const char *ut_sample_unit(struct ut_str name);

/* Is it the time that CPUs spent? */
bool ut_sample_is_cpu_time(struct ut_str name);

/* ---- samples: val of UT_KIND_SAMPLE -------------------------------------------------------- */

/* A weight that does not fit is an argument of this name, and the field has this value. */
#define UT_SAMPLE_WEIGHT     "weight"
#define UT_SAMPLE_WEIGHT_ARG UINT32_MAX

static inline uint64_t ut_sample_val(uint32_t stack, uint64_t weight)
{
	return stack | (weight < UT_SAMPLE_WEIGHT_ARG ? weight : UT_SAMPLE_WEIGHT_ARG) << 32;
}

static inline uint32_t ut_sample_stack(uint64_t val)
{
	return (uint32_t)val;
}

/* The field; see UT_SAMPLE_WEIGHT_ARG. */
static inline uint32_t ut_sample_weight(uint64_t val)
{
	return (uint32_t)(val >> 32);
}

#endif
