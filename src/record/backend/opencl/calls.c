/*
 * calls.c - the wrappers that the program calls: made from api.def.
 *
 * A wrapper records the call around the function that it goes on to. One that submits a command
 * does so around the command's record, too (command.h).
 */
#include "backend/opencl/calls.h"

#include <string.h>

#include "backend/opencl/cl_text.h"
#include "backend/opencl/harvest.h"

#define LONGEST_TEXT 200u

/* ---- arguments, for -c --------------------------------------------------------------------- */

/* What a value is, by its C type; a handle or any other pointer is an address. */
#define FACT_TYPE(value)                                                                           \
	_Generic((value), int                                                                      \
		 : UT_VALUE_I64, long                                                              \
		 : UT_VALUE_I64, long long                                                         \
		 : UT_VALUE_I64, unsigned                                                          \
		 : UT_VALUE_U64, unsigned long                                                     \
		 : UT_VALUE_U64, unsigned long long                                                \
		 : UT_VALUE_U64, const char *                                                      \
		 : UT_VALUE_NAME, default                                                          \
		 : UT_VALUE_HEX)

static struct ut_fact opencl_calls_fact(const char *key, enum ut_value_type type, const void *value,
					size_t size)
{
	const struct ut_host *host = ut_cl.host;
	struct ut_fact f = { .key = host->name(key, strlen(key)), .type = type };
	const char *text;
	int32_t small;

	if (type == UT_VALUE_NAME) {
		memcpy(&text, value, sizeof(text));
		f.value = text ? host->name(text, strnlen(text, LONGEST_TEXT)) : 0;
	} else if (type == UT_VALUE_I64 && size == sizeof(small)) {
		memcpy(&small, value, sizeof(small));
		f.value = (uint64_t)(int64_t)small;
	} else {
		memcpy(&f.value, value, size < sizeof(f.value) ? size : sizeof(f.value));
	}
	return f;
}

#define FACT(type, name) opencl_calls_fact(#name, FACT_TYPE(name), &(name), sizeof(type))

/* ---- the call's record --------------------------------------------------------------------- */

static struct ut_fact code_fact(uint32_t key, cl_int code)
{
	const char *name = ut_cl_error_name(code);

	if (name)
		return (struct ut_fact){ key, UT_VALUE_NAME, ut_cl.host->name(name, strlen(name)) };
	return (struct ut_fact){ key, UT_VALUE_I64, (uint64_t)(int64_t)code };
}

static void opencl_calls_enter(enum ut_cl_id id)
{
	ut_cl.host->call_begin(ut_cl.api, ut_cl.names[id], 0);
}

/* A call that went well needs no word about it. */
static void opencl_calls_leave(cl_int code)
{
	struct ut_fact f;

	if (UT_UNLIKELY(code != CL_SUCCESS))
		f = code_fact(ut_cl.key.error, code);
	ut_cl.host->call_end(ut_cl.api, &f, code != CL_SUCCESS);
}

/* The end of a call, with its arguments if they are wanted. */
#define LEAVE(code, result, count, ...)                                                            \
	do {                                                                                       \
		if (UT_UNLIKELY(ut_cl.args)) {                                                     \
			const struct ut_fact facts[] = { UT_MAP_##count(FACT, __VA_ARGS__),        \
							 result };                                 \
			ut_cl.host->call_end(ut_cl.api, facts, (count) + 1);                       \
		} else {                                                                           \
			opencl_calls_leave(code);                                                  \
		}                                                                                  \
	} while (0)

#define CODE_RESULT(code)   code_fact(ut_cl.key.result, code)
#define HANDLE_RESULT(made) opencl_calls_fact("result", UT_VALUE_HEX, &(made), sizeof(void *))
/* Why nothing was made, if the program wants to know. */
#define MADE_CODE(made)   ((made) || !errcode_ret ? CL_SUCCESS : *errcode_ret)
#define MADE_RESULT(made) (MADE_CODE(made) ? CODE_RESULT(MADE_CODE(made)) : HANDLE_RESULT(made))

/* ---- plain calls --------------------------------------------------------------------------- */

#define FIRST(count, list) ((count) && (list) ? (const void *)(list)[0] : NULL)

#define NEXT(type, name, handle, count, ...)                                                       \
	((type(CL_API_CALL *)(UT_MAP_##count(UT_PARAMETER_TYPE, __VA_ARGS__)))ut_cl_next(          \
		UT_CL_##name, handle))(UT_MAP_##count(UT_ARGUMENT, __VA_ARGS__))

#define WRAPPER(type, name, count, ...)                                                            \
	static type CL_API_CALL wrap_##name(UT_MAP_##count(UT_PARAMETER, __VA_ARGS__))

#define OCL_CALL(name, handle, count, ...)                                                         \
	WRAPPER(cl_int, name, count, __VA_ARGS__)                                                  \
	{                                                                                          \
		cl_int code;                                                                       \
                                                                                                   \
		opencl_calls_enter(UT_CL_##name);                                                  \
		code = NEXT(cl_int, name, handle, count, __VA_ARGS__);                             \
		LEAVE(code, CODE_RESULT(code), count, __VA_ARGS__);                                \
		return code;                                                                       \
	}

#define OCL_VOID(name, handle, count, ...)                                                         \
	WRAPPER(void, name, count, __VA_ARGS__)                                                    \
	{                                                                                          \
		opencl_calls_enter(UT_CL_##name);                                                  \
		NEXT(void, name, handle, count, __VA_ARGS__);                                      \
		LEAVE(CL_SUCCESS, CODE_RESULT(CL_SUCCESS), count, __VA_ARGS__);                    \
	}

#define OCL_MAKE(type, name, handle, count, ...)                                                   \
	WRAPPER(type, name, count, __VA_ARGS__)                                                    \
	{                                                                                          \
		type made;                                                                         \
                                                                                                   \
		opencl_calls_enter(UT_CL_##name);                                                  \
		made = NEXT(type, name, handle, count, __VA_ARGS__);                               \
		LEAVE(MADE_CODE(made), MADE_RESULT(made), count, __VA_ARGS__);                     \
		return made;                                                                       \
	}

#define OCL_GIVE(type, name, handle, count, ...)                                                   \
	WRAPPER(type, name, count, __VA_ARGS__)                                                    \
	{                                                                                          \
		type made;                                                                         \
                                                                                                   \
		opencl_calls_enter(UT_CL_##name);                                                  \
		made = NEXT(type, name, handle, count, __VA_ARGS__);                               \
		LEAVE(CL_SUCCESS, HANDLE_RESULT(made), count, __VA_ARGS__);                        \
		return made;                                                                       \
	}

/* ---- calls after which work is complete ---------------------------------------------------- */

#define OCL_WAIT(name, handle, count, ...)                                                         \
	WRAPPER(cl_int, name, count, __VA_ARGS__)                                                  \
	{                                                                                          \
		cl_int code;                                                                       \
                                                                                                   \
		if (ut_cl.calls)                                                                   \
			opencl_calls_enter(UT_CL_##name);                                          \
		code = NEXT(cl_int, name, handle, count, __VA_ARGS__);                             \
		if (ut_cl.calls)                                                                   \
			LEAVE(code, CODE_RESULT(code), count, __VA_ARGS__);                        \
		ut_cl_harvest_waited();                                                            \
		return code;                                                                       \
	}

/* ---- calls that submit a command ----------------------------------------------------------- */

#define KERNEL(kernel, dimensions, global, local)                                                  \
	ut_cl_say_kernel(&submit, kernel, dimensions, global, local)
#define COPY(direction, bytes)            ut_cl_say_copy(&submit, UT_CL_##direction, bytes)
#define FILL(bytes)                       ut_cl_say_fill(&submit, bytes)
#define WORK(kind)                        ut_cl_say_work(&submit, UT_WORK_##kind)
#define BUFFER(buffer)                    ut_cl_say_buffer(&submit, buffer)
#define IMAGE(image, region)              ut_cl_image_bytes(image, region)
#define RECT(region)                      ut_cl_box_bytes(region)
#define BUFFER_QUEUE(count, list, buffer) ((count) && (list) ? (list)[0] : buffer_queue(buffer))

static cl_command_queue buffer_queue(const void *buffer)
{
	struct ut_cl_buffer *b = ut_cl_buffer_find(buffer);

	return b ? b->queue : NULL;
}

#define OCL_SUBMIT(name, queue, what, blocks, count, ...)                                          \
	WRAPPER(cl_int, name, count, __VA_ARGS__)                                                  \
	{                                                                                          \
		struct ut_cl_submit submit = { .id = UT_CL_##name };                               \
		const cl_command_queue to = (queue);                                               \
		cl_int code;                                                                       \
                                                                                                   \
		if (ut_cl_submit_opens(&submit, to, event))                                        \
			what;                                                                      \
		event = ut_cl_submit_begin(&submit, event);                                        \
		code = NEXT(cl_int, name, to, count, __VA_ARGS__);                                 \
		event = ut_cl_submit_end(&submit);                                                 \
		if (submit.reported)                                                               \
			LEAVE(code, CODE_RESULT(code), count, __VA_ARGS__);                        \
		ut_cl_submit_done(&submit, code, blocks);                                          \
		return code;                                                                       \
	}

#define OCL_MAP(name, queue, what, blocks, count, ...)                                             \
	WRAPPER(void *, name, count, __VA_ARGS__)                                                  \
	{                                                                                          \
		struct ut_cl_submit submit = { .id = UT_CL_##name };                               \
		const cl_command_queue to = (queue);                                               \
		void *made;                                                                        \
                                                                                                   \
		if (ut_cl_submit_opens(&submit, to, event))                                        \
			what;                                                                      \
		event = ut_cl_submit_begin(&submit, event);                                        \
		made = NEXT(void *, name, to, count, __VA_ARGS__);                                 \
		event = ut_cl_submit_end(&submit);                                                 \
		if (submit.reported)                                                               \
			LEAVE(MADE_CODE(made), MADE_RESULT(made), count, __VA_ARGS__);             \
		ut_cl_submit_done(&submit, made ? CL_SUCCESS : CL_MAP_FAILURE, blocks);            \
		return made;                                                                       \
	}

/* ---- calls that we answer ourselves -------------------------------------------------------- */

#define OCL_OWN(type, name, count, ...)                                                            \
	WRAPPER(type, name, count, __VA_ARGS__)                                                    \
	{                                                                                          \
		type answer;                                                                       \
                                                                                                   \
		if (ut_cl.calls)                                                                   \
			opencl_calls_enter(UT_CL_##name);                                          \
		answer = ut_##name(UT_MAP_##count(UT_ARGUMENT, __VA_ARGS__));                      \
		if (ut_cl.calls)                                                                   \
			LEAVE(OWN_CODE(answer), OWN_RESULT(answer), count, __VA_ARGS__);           \
		return answer;                                                                     \
	}

#define OCL_OWN_MAKE(type, name, count, ...)                                                       \
	WRAPPER(type, name, count, __VA_ARGS__)                                                    \
	{                                                                                          \
		type made;                                                                         \
                                                                                                   \
		if (ut_cl.calls)                                                                   \
			opencl_calls_enter(UT_CL_##name);                                          \
		made = ut_##name(UT_MAP_##count(UT_ARGUMENT, __VA_ARGS__));                        \
		if (ut_cl.calls)                                                                   \
			LEAVE(MADE_CODE(made), MADE_RESULT(made), count, __VA_ARGS__);             \
		return made;                                                                       \
	}

static cl_int own_code(enum ut_value_type type, const void *answer)
{
	cl_int code = CL_SUCCESS;

	if (type == UT_VALUE_I64)
		memcpy(&code, answer, sizeof(code));
	return code;
}

#define OWN_CODE(answer) own_code(FACT_TYPE(answer), &(answer))
#define OWN_RESULT(answer)                                                                         \
	(FACT_TYPE(answer) == UT_VALUE_I64 ? CODE_RESULT(OWN_CODE(answer)) : HANDLE_RESULT(answer))

/* ---- commands of a command buffer ---------------------------------------------------------- */

/*
 * Version 0.9.5 of the extension gave them a parameter more. Each parameter of each version is an
 * integer or a pointer, and so each takes a word wherever unitrace runs: we hand on as many as the
 * longest list has, and nobody looks at those that are too many.
 */
#define WORDS(m)                                                                                   \
	m(1), m(2), m(3), m(4), m(5), m(6), m(7), m(8), m(9), m(10), m(11), m(12), m(13), m(14),   \
		m(15)
#define WORD(n)          uintptr_t word_##n
#define WORD_TYPE(n)     uintptr_t
#define WORD_ARGUMENT(n) word_##n

typedef cl_int(CL_API_CALL *words_fn)(void *, WORDS(WORD_TYPE));

#define OCL_WORDS(name)                                                                            \
	static cl_int CL_API_CALL wrap_##name(void *command_buffer, WORDS(WORD))                   \
	{                                                                                          \
		words_fn next = (words_fn)ut_cl_next(UT_CL_##name, command_buffer);                \
		cl_int code;                                                                       \
                                                                                                   \
		if (ut_cl.calls)                                                                   \
			opencl_calls_enter(UT_CL_##name);                                          \
		code = next(command_buffer, WORDS(WORD_ARGUMENT));                                 \
		if (ut_cl.calls)                                                                   \
			LEAVE(code, CODE_RESULT(code), 1, (void *, command_buffer));               \
		if (!code)                                                                         \
			ut_cl_buffer_grows(command_buffer);                                        \
		return code;                                                                       \
	}

#define OCL_HOLE(name)
#include "backend/opencl/api.def"

/* ---- the list ------------------------------------------------------------------------------ */

enum need {
	NEVER,
	FOR_CALLS, /* only to record the call */
	FOR_WORK,
};

static const struct {
	const char *name;
	ut_cl_fn *wrapper;
	enum need need;
	const char *handle; /* how api.def says it */
} all[UT_CL_COUNT] = {
#define ROW(name, need, handle)           [UT_CL_##name] = { #name, (ut_cl_fn *)wrap_##name, need, handle },
#define OCL_HOLE(name)                    [UT_CL_##name] = { #name, NULL, NEVER, "" },
#define OCL_CALL(name, handle, ...)       ROW(name, FOR_CALLS, #handle)
#define OCL_VOID(name, handle, ...)       ROW(name, FOR_CALLS, #handle)
#define OCL_MAKE(type, name, handle, ...) ROW(name, FOR_CALLS, #handle)
#define OCL_GIVE(type, name, handle, ...) ROW(name, FOR_CALLS, #handle)
#define OCL_WAIT(name, handle, ...)       ROW(name, FOR_WORK, #handle)
#define OCL_SUBMIT(name, queue, ...)      ROW(name, FOR_WORK, #queue)
#define OCL_MAP(name, queue, ...)         ROW(name, FOR_WORK, #queue)
#define OCL_OWN(type, name, ...)          ROW(name, FOR_WORK, "")
#define OCL_WORDS(name)                   ROW(name, FOR_WORK, "command_buffer")
#include "backend/opencl/api.def"
};

ut_cl_fn *ut_cl_wrapper(enum ut_cl_id id)
{
	bool for_work = all[id].need == FOR_WORK && (ut_cl.work || ut_cl.submits);

	return for_work || ut_cl.calls ? all[id].wrapper : NULL;
}

const char *ut_cl_name(enum ut_cl_id id)
{
	return all[id].name;
}

bool ut_cl_has_handle(enum ut_cl_id id)
{
	return strcmp(all[id].handle, "NULL") != 0 && id != UT_CL_clGetExtensionFunctionAddress;
}
