/*
 * jit.c - the JIT profiling API: what code a compiler has just made, and where.
 *
 * A just-in-time compiler's static part loads us through INTEL_JIT_PROFILER64 and finds these
 * two functions by name. They are kept as definitions: the code may run until the end.
 */
#include "jitprofiling.h"

#include <string.h>

#include "collect/gate.h"
#include "collect/intern.h"
#include "wire/control.h"
#include "wire/writer.h"

#define EXPORT     __attribute__((visibility("default")))
#define MOST_LINES 1000u

EXPORT unsigned int Initialize(void);
EXPORT int NotifyEvent(iJIT_JVM_EVENT event, void *data);

struct method {
	unsigned int id, size, lines;
	const char *name, *class_name, *file;
	const void *address;
	const LineNumberInfo *table;
};

/* The three shapes differ only behind the line table. */
static bool read_method(iJIT_JVM_EVENT event, const void *data, struct method *m)
{
	const iJIT_Method_Load *v1 = data;
	const iJIT_Method_Inline_Load *in = data;
	const iJIT_Method_Load_V2 *v2 = data;

	*m = (struct method){ 0 };
	switch ((int)event) {
	case iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED:
	case iJVM_EVENT_TYPE_METHOD_UPDATE:
		*m = (struct method){ v1->method_id,           v1->method_size,
				      v1->line_number_size,    v1->method_name,
				      v1->class_file_name,     v1->source_file_name,
				      v1->method_load_address, v1->line_number_table };
		return true;
	case iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V2:
	case iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V3:
		*m = (struct method){ v2->method_id,           v2->method_size,
				      v2->line_number_size,    v2->method_name,
				      v2->class_file_name,     v2->source_file_name,
				      v2->method_load_address, v2->line_number_table };
		return true;
	case iJVM_EVENT_TYPE_METHOD_INLINE_LOAD_FINISHED:
		*m = (struct method){ in->method_id,           in->method_size,
				      in->line_number_size,    in->method_name,
				      in->class_file_name,     in->source_file_name,
				      in->method_load_address, in->line_number_table };
		return true;
	default:
		return false;
	}
}

EXPORT unsigned int Initialize(void)
{
	return ut_gate_wake() ? iJIT_SAMPLING_ON : iJIT_NOTHING_RUNNING;
}

/* Compiled code has no domain; the session's filter knows it as "jit". */
static bool wanted(void)
{
	const struct ut_control *control = ut_gate_settings();

	return ut_control_passes(control->include, control->exclude, "jit");
}

EXPORT int NotifyEvent(iJIT_JVM_EVENT event, void *data)
{
	struct method m;
	uint64_t words[6];

	if (!data || !ut_gate_wake() || !wanted() || !read_method(event, data, &m))
		return 1;
	if (!m.table)
		m.lines = 0;
	if (m.lines > MOST_LINES) {
		m.lines = MOST_LINES;
		ut_writer_count_cut();
	}
	words[0] = ut_pack(m.id, m.lines);
	words[1] = ut_clock_ticks(ut_writer_clock); /* definitions have no full time of their own */
	words[2] = (uint64_t)(uintptr_t)m.address;
	words[3] = m.size;
	words[4] = ut_pack(ut_intern_z(m.name), ut_intern_z(m.class_name));
	words[5] = ut_intern_z(m.file);
	ut_writer_define(UT_REC_JIT_METHOD, words, 6, m.table, m.lines * sizeof(*m.table));
	return 1;
}
