/*
 * calls.c - the wrappers that the program calls: made from api.def.
 *
 * A wrapper records the call around the function that it goes on to. One that appends a command
 * does so around the command's record, too (ze_list.h).
 */
#include <string.h>

#include "backend/levelzero/ze_list.h"

#define LONGEST_TEXT 200u

/* ---- arguments, for -c --------------------------------------------------------------------- */

enum fact_kind {
	A_NUMBER,
	A_TEXT,
	AN_ADDRESS,
	A_SMALL_RESULT, /* where 32 bits are written */
	A_RESULT,       /* 64 bits, a size or a count */
	A_HANDLE,       /* of a new object */
};

#define FACT_KIND(value)                                                                           \
	_Generic((value), unsigned                                                                 \
		 : A_NUMBER, unsigned long                                                         \
		 : A_NUMBER, const char *                                                          \
		 : A_TEXT, unsigned *                                                              \
		 : A_SMALL_RESULT, unsigned long *                                                 \
		 : A_RESULT, ze_made                                                               \
		 : A_HANDLE, default                                                               \
		 : AN_ADDRESS)

static const uint32_t types[] = {
	[A_NUMBER] = UT_VALUE_U64,       [A_TEXT] = UT_VALUE_NAME,  [AN_ADDRESS] = UT_VALUE_HEX,
	[A_SMALL_RESULT] = UT_VALUE_U64, [A_RESULT] = UT_VALUE_U64, [A_HANDLE] = UT_VALUE_HEX
};

/* What was written there; the pointer itself if nothing was. */
static bool levelzero_calls_follow(enum fact_kind kind, uint64_t *value)
{
	const void *at = (const void *)(uintptr_t)*value;

	if (!at)
		return false;
	*value = 0;
	memcpy(value, at, kind == A_SMALL_RESULT ? 4 : 8);
	return true;
}

static struct ut_fact levelzero_calls_fact(const char *key, enum fact_kind kind, const void *value,
					   size_t size, bool good)
{
	const struct ut_host *host = ut_ze.host;
	struct ut_fact f = { .key = host->name(key, strlen(key)), .type = types[kind] };
	const char *text;

	memcpy(&f.value, value, size < sizeof(f.value) ? size : sizeof(f.value));
	if (kind == A_TEXT) {
		memcpy(&text, value, sizeof(text));
		f.value = text ? host->name(text, strnlen(text, LONGEST_TEXT)) : 0;
	} else if (kind > AN_ADDRESS && !(good && levelzero_calls_follow(kind, &f.value))) {
		f.type = UT_VALUE_HEX;
	}
	return f;
}

#define FACT(type, name) levelzero_calls_fact(#name, FACT_KIND(name), &(name), sizeof(type), good_)

/* ---- the call's record --------------------------------------------------------------------- */

static struct ut_fact result_fact(uint32_t key, ze_result result)
{
	const char *name = ut_ze_result_name(result);

	if (name)
		return (struct ut_fact){ key, UT_VALUE_NAME, ut_ze.host->name(name, strlen(name)) };
	return (struct ut_fact){ key, UT_VALUE_HEX, result };
}

static void levelzero_calls_enter(enum ut_ze_id id, uint64_t correlation)
{
	ut_ze.host->call_begin(ut_ze.api, ut_ze.names[id], correlation);
}

/* A call that went well, or has only to be asked again, needs no word about it. */
static void levelzero_calls_leave(ze_result result)
{
	struct ut_fact f;
	bool bad = UT_UNLIKELY(result != ZE_SUCCESS && result != ZE_NOT_READY);

	if (bad)
		f = result_fact(ut_ze.key.error, result);
	ut_ze.host->call_end(ut_ze.api, &f, bad);
}

/* The end of a call, with its arguments if they are wanted. */
#define LEAVE(result, count, ...)                                                                  \
	do {                                                                                       \
		if (UT_UNLIKELY(ut_ze.args)) {                                                     \
			const bool good_ = (result) == ZE_SUCCESS;                                 \
			const struct ut_fact facts[] = { UT_MAP_##count(FACT, __VA_ARGS__),        \
							 result_fact(ut_ze.key.result, result) };  \
			ut_ze.host->call_end(ut_ze.api, facts, (count) + 1);                       \
		} else {                                                                           \
			levelzero_calls_leave(result);                                             \
		}                                                                                  \
	} while (0)

#define NEXT(name, count, ...) UT_ZE(name)(UT_MAP_##count(UT_ARGUMENT, __VA_ARGS__))

#define WRAPPER(name, count, ...)                                                                  \
	static ze_result wrap_##name(UT_MAP_##count(UT_PARAMETER, __VA_ARGS__))

/* ---- plain calls --------------------------------------------------------------------------- */

#define ZE_HOLE(table, name)
#define ZE_CALL(table, name, major, minor, count, ...)                                             \
	WRAPPER(name, count, __VA_ARGS__)                                                          \
	{                                                                                          \
		ze_result result;                                                                  \
                                                                                                   \
		levelzero_calls_enter(UT_ZE_##name, 0);                                            \
		result = NEXT(name, count, __VA_ARGS__);                                           \
		LEAVE(result, count, __VA_ARGS__);                                                 \
		return result;                                                                     \
	}

/* ---- calls that are ours ------------------------------------------------------------------- */

#define ZE_OWN(table, name, major, minor, count, ...)                                              \
	WRAPPER(name, count, __VA_ARGS__)                                                          \
	{                                                                                          \
		ze_result result;                                                                  \
                                                                                                   \
		if (ut_ze.calls)                                                                   \
			levelzero_calls_enter(UT_ZE_##name, 0);                                    \
		result = ut_##name(UT_MAP_##count(UT_ARGUMENT, __VA_ARGS__));                      \
		if (ut_ze.calls)                                                                   \
			LEAVE(result, count, __VA_ARGS__);                                         \
		return result;                                                                     \
	}

#define ZE_EXECUTE(table, name, major, minor, count, ...)                                          \
	WRAPPER(name, count, __VA_ARGS__)                                                          \
	{                                                                                          \
		const uint64_t correlation = ut_ze_correlation();                                  \
		ze_result result;                                                                  \
                                                                                                   \
		if (ut_ze.calls || ut_ze.submits)                                                  \
			levelzero_calls_enter(UT_ZE_##name, correlation);                          \
		result = ut_##name(UT_MAP_##count(UT_ARGUMENT, __VA_ARGS__), correlation);         \
		if (ut_ze.calls || ut_ze.submits)                                                  \
			LEAVE(result, count, __VA_ARGS__);                                         \
		return result;                                                                     \
	}

/* ---- calls that append a command ----------------------------------------------------------- */

#define KERNEL(kernel, groups)       ut_ze_say_kernel(&append, kernel, groups, NULL)
#define SIZED(kernel, groups, sizes) ut_ze_say_kernel(&append, kernel, &(groups), &(sizes))
#define KERNELS(count, list)                                                                       \
	ut_ze_say_kernel(&append, (count) && (list) ? (list)[0] : NULL, NULL, NULL)
#define COPY(to, from, bytes) ut_ze_say_copy(&append, to, from, bytes)
#define IMAGE(image, region)  ut_ze_say_image(&append, image, region)
#define FILL(to, bytes)       ut_ze_say_fill(&append, to, bytes)
#define SYNC                  ut_ze_say_work(&append, UT_WORK_SYNC)
#define OTHER                 ut_ze_say_work(&append, UT_WORK_OTHER)
#define BOX(region)           box_bytes(region)

static uint64_t box_bytes(const struct ze_region *r)
{
	if (!r)
		return 0;
	return (uint64_t)r->width * (r->height ? r->height : 1) * (r->depth ? r->depth : 1);
}

#define ZE_APPEND(table, name, major, minor, what, count, ...)                                     \
	WRAPPER(name, count, __VA_ARGS__)                                                          \
	{                                                                                          \
		struct ut_ze_append append = { .id = UT_ZE_##name };                               \
		const ze_handle given = hSignalEvent;                                              \
		ze_result result;                                                                  \
                                                                                                   \
		if (ut_ze_append_opens(&append, hCommandList, hSignalEvent))                       \
			what;                                                                      \
		hSignalEvent = ut_ze_append_begin(&append);                                        \
		result = NEXT(name, count, __VA_ARGS__);                                           \
		hSignalEvent = given;                                                              \
		if (append.reported)                                                               \
			LEAVE(result, count, __VA_ARGS__);                                         \
		return ut_ze_append_done(&append, result);                                         \
	}

#include "backend/levelzero/api.def"

/* ---- the list ------------------------------------------------------------------------------ */

enum need {
	NEVER,
	FOR_CALLS, /* only to record the call */
	FOR_WORK,
};

static const struct {
	const char *name;
	ut_ze_fn *wrapper;
	enum need need;
	uint32_t since;
} all[UT_ZE_COUNT] = {
#define ROW(name, major, minor, need)                                                              \
	[UT_ZE_##name] = { #name, (ut_ze_fn *)wrap_##name, need, ZE_VERSION(major, minor) },
#define ZE_HOLE(table, name)                       [UT_ZE_##name] = { #name, NULL, NEVER, 0 },
#define ZE_CALL(table, name, major, minor, ...)    ROW(name, major, minor, FOR_CALLS)
#define ZE_OWN(table, name, major, minor, ...)     ROW(name, major, minor, FOR_WORK)
#define ZE_EXECUTE(table, name, major, minor, ...) ROW(name, major, minor, FOR_WORK)
#define ZE_APPEND(table, name, major, minor, ...)  ROW(name, major, minor, FOR_WORK)
#include "backend/levelzero/api.def"
};

/* Whoever is here sees all calls that lead to work, or none of them: handles that were hidden
 * cannot be understood later. */
ut_ze_fn *ut_ze_wrapper(enum ut_ze_id id)
{
	return all[id].need == FOR_WORK || ut_ze.calls ? all[id].wrapper : NULL;
}

const char *ut_ze_function(enum ut_ze_id id)
{
	return all[id].name;
}

uint32_t ut_ze_since(enum ut_ze_id id)
{
	return all[id].since;
}

enum ut_ze_id ut_ze_called(const char *name)
{
	uint32_t id = 0;

	while (id < UT_ZE_COUNT && strcmp(all[id].name, name) != 0)
		id++;
	return (enum ut_ze_id)id;
}
