#include "analyze/device_call.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/opencl_errors.h"
#include "base/str.h"
#include "model/event.h"
#include "model/trace.h"

static void device_call_put_value(struct ut_buf *b, const struct ut_trace *t,
				  const struct ut_arg *a)
{
	struct ut_str s;

	switch ((enum ut_arg_type)a->type) {
	case UT_ARG_STR:
	case UT_ARG_JSON:
		s = ut_strtab_get(&t->strings, a->value.str);
		ut_buf_add(b, s.ptr, s.len);
		break;
	case UT_ARG_I64:
		ut_buf_fmt(b, "%" PRId64, a->value.i64);
		break;
	case UT_ARG_F64:
		ut_buf_fmt(b, "%g", a->value.f64);
		break;
	case UT_ARG_PTR:
		ut_buf_fmt(b, "0x%" PRIx64, a->value.u64);
		break;
	case UT_ARG_U64:
	case UT_ARG_BOOL:
	case UT_ARG_END:
		ut_buf_fmt(b, "%" PRIu64, a->value.u64);
		break;
	}
}

/* "CL_SUCCESS (0)", as Intel's tool has it. */
static void device_call_put_code(struct ut_buf *b, const char *name)
{
	static const struct {
		const char *name;
		int code;
	} codes[] = {
#define X(text, number) { "CL_" #text, number },
		UT_OPENCL_ERRORS(X)
#undef X
	};

	ut_buf_text(b, name);
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (!strcmp(codes[i].name, name))
			ut_buf_fmt(b, " (%d)", codes[i].code);
	}
}

/* What a call gave back: "-> CL_SUCCESS (0)", or what it made and how that went. */
static void device_call_put_result(struct ut_buf *b, const struct ut_trace *t,
				   const struct ut_arg *a, bool has_code)
{
	if (a->type == UT_ARG_PTR) {
		ut_buf_text(b, "result = ");
		device_call_put_value(b, t, a);
		if (has_code)
			ut_buf_text(b, " -> CL_SUCCESS (0)");
		return;
	}
	ut_buf_text(b, "-> ");
	if (a->type == UT_ARG_STR)
		device_call_put_code(b, ut_strtab_get(&t->strings, a->value.str).ptr);
	else
		device_call_put_value(b, t, a);
}

static bool device_call_is(const char *name, const char *one, const char *other)
{
	return !strcmp(name, one) || !strcmp(name, other);
}

void ut_device_call_text(const struct ut_trace *t, const struct ut_event *e, struct ut_buf *args,
			 struct ut_buf *result)
{
	bool has_code = false;

	for (size_t i = e->args; e->args && i < t->arg_count && t->args[i].type; i++) {
		const struct ut_arg *a = &t->args[i];
		const char *name = ut_strtab_get(&t->strings, a->key).ptr;

		has_code = has_code || !strcmp(name, "errcode_ret");
		if (device_call_is(name, "correlation", "task"))
			continue;
		if (device_call_is(name, "result", "error")) {
			device_call_put_result(result, t, a, has_code);
			continue;
		}
		ut_buf_fmt(args, "%s%s = ", args->len ? " " : "", name);
		device_call_put_value(args, t, a);
	}
}
