/* itt_object.c - ids, groups, relations, regions, frames, markers, marks and legacy events. */
#define INTEL_NO_MACRO_BODY
#include <stdbool.h>
#include <string.h>

#include "collect/hook.h"
#include "collect/mem.h"
#include "wire/control.h"

/* ---- one id, two ids ----------------------------------------------------------------------- */

static void put_one(const __itt_domain *domain, enum ut_rec type, const __itt_id *id)
{
	bool ends = type == UT_REC_REGION_END || type == UT_REC_FRAME_END;
	uint32_t d;
	struct ut_tbuf *t = ends ? ut_hook_end(domain, &d) : ut_hook_domain(domain, &d);
	uint64_t words[4] = { d };

	if (!t)
		return;
	ut_put_id(words + 1, 1, id);
	ut_tbuf_words(t, type, words, 4);
}

static void put_two(const __itt_domain *domain, enum ut_rec type, uint32_t what, const __itt_id *a,
		    const __itt_id *b)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_domain(domain, &d);
	uint64_t words[7];

	if (!t)
		return;
	words[0] = ut_pack(d, what);
	ut_put_id(words + 1, 2, a);
	ut_put_id(words + 2, 2, b);
	ut_tbuf_words(t, type, words, 7);
}

void __itt_id_create(const __itt_domain *domain, __itt_id id)
{
	put_one(domain, UT_REC_ID_CREATE, &id);
}

void __itt_id_destroy(const __itt_domain *domain, __itt_id id)
{
	put_one(domain, UT_REC_ID_DESTROY, &id);
}

/* When an id was made says nothing that its tasks do not say: the clock is not kept. */
void __itt_id_create_ex(const __itt_domain *domain, __itt_clock_domain *clock,
			unsigned long long timestamp, __itt_id id)
{
	(void)clock;
	(void)timestamp;
	put_one(domain, UT_REC_ID_CREATE, &id);
}

void __itt_id_destroy_ex(const __itt_domain *domain, __itt_clock_domain *clock,
			 unsigned long long timestamp, __itt_id id)
{
	(void)clock;
	(void)timestamp;
	put_one(domain, UT_REC_ID_DESTROY, &id);
}

void __itt_task_group(const __itt_domain *domain, __itt_id id, __itt_id parent,
		      __itt_string_handle *name)
{
	put_two(domain, UT_REC_TASK_GROUP, ut_string_id(name), &id, &parent);
}

void __itt_region_begin(const __itt_domain *domain, __itt_id id, __itt_id parent,
			__itt_string_handle *name)
{
	put_two(domain, UT_REC_REGION_BEGIN, ut_string_id(name), &id, &parent);
}

void __itt_region_end(const __itt_domain *domain, __itt_id id)
{
	put_one(domain, UT_REC_REGION_END, &id);
}

void __itt_relation_add(const __itt_domain *domain, __itt_id head, __itt_relation relation,
			__itt_id tail)
{
	put_two(domain, UT_REC_RELATION, (uint32_t)relation, &head, &tail);
}

void __itt_relation_add_to_current(const __itt_domain *domain, __itt_relation relation,
				   __itt_id tail)
{
	put_two(domain, UT_REC_RELATION, (uint32_t)relation, &__itt_null, &tail);
}

void __itt_relation_add_ex(const __itt_domain *domain, __itt_clock_domain *clock,
			   unsigned long long timestamp, __itt_id head, __itt_relation relation,
			   __itt_id tail)
{
	(void)clock;
	(void)timestamp;
	put_two(domain, UT_REC_RELATION, (uint32_t)relation, &head, &tail);
}

void __itt_relation_add_to_current_ex(const __itt_domain *domain, __itt_clock_domain *clock,
				      unsigned long long timestamp, __itt_relation relation,
				      __itt_id tail)
{
	(void)clock;
	(void)timestamp;
	put_two(domain, UT_REC_RELATION, (uint32_t)relation, &__itt_null, &tail);
}

/* ---- frames -------------------------------------------------------------------------------- */

void __itt_frame_begin_v3(const __itt_domain *domain, __itt_id *id)
{
	put_one(domain, UT_REC_FRAME_BEGIN, id ? id : &__itt_null);
}

void __itt_frame_end_v3(const __itt_domain *domain, __itt_id *id)
{
	put_one(domain, UT_REC_FRAME_END, id ? id : &__itt_null);
}

void __itt_frame_submit_v3(const __itt_domain *domain, __itt_id *id, __itt_timestamp begin,
			   __itt_timestamp end)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_domain(domain, &d);
	uint64_t words[6] = { d };

	if (!t)
		return;
	ut_put_id(words + 1, 1, id ? id : &__itt_null);
	words[4] = begin;
	words[5] = end == __itt_timestamp_none ? ut_clock_ticks(ut_writer_clock) : end;
	ut_tbuf_words(t, UT_REC_FRAME_SUBMIT, words, 6);
}

/* First generation: the handle stands for the domain. */
struct __itt_frame_t {
	uint32_t domain;
};

__itt_frame __itt_frame_create(const char *domain)
{
	struct __itt_frame_t *frame = ut_mem_alloc(sizeof(*frame));

	if (frame && ut_gate_wake())
		frame->domain = ut_domain_id_by_name(domain);
	return frame;
}

static void itt_object_put_frame(__itt_frame frame, enum ut_rec type)
{
	enum ut_gate_call call = type == UT_REC_FRAME_END ? UT_CALL_LATE_END : UT_CALL_OTHER;
	uint64_t word = frame ? frame->domain : 0;

	if (word && word != UT_DOMAIN_UNWANTED && ut_gate_passes(&ut_me, call))
		ut_tbuf_words(&ut_me, type, &word, 1);
}

void __itt_frame_begin(__itt_frame frame)
{
	itt_object_put_frame(frame, UT_REC_FRAME_BEGIN);
}

void __itt_frame_end(__itt_frame frame)
{
	itt_object_put_frame(frame, UT_REC_FRAME_END);
}

/* ---- moments ------------------------------------------------------------------------------- */

void __itt_marker_ex(const __itt_domain *domain, __itt_clock_domain *clock,
		     unsigned long long timestamp, __itt_id id, __itt_string_handle *name,
		     __itt_scope scope)
{
	uint32_t d;
	struct ut_tbuf *t = ut_hook_domain(domain, &d);
	uint64_t words[7];

	if (!t)
		return;
	words[0] = ut_pack(d, ut_string_id(name));
	ut_put_id(words + 1, 1, &id);
	words[4] = (uint32_t)scope;
	words[5] = ut_clock_id(clock);
	words[6] = timestamp;
	ut_tbuf_words(t, UT_REC_MARKER, words, 7);
}

void __itt_marker(const __itt_domain *domain, __itt_id id, __itt_string_handle *name,
		  __itt_scope scope)
{
	__itt_marker_ex(domain, NULL, 0, id, name, scope);
}

/*
 * Marks and events have no object: their number is that of their name. They have no domain
 * either, so the session's filter looks at the name ("oneCCL::allreduce").
 */
static int create_name(const char *name, size_t len)
{
	const struct ut_control *control;
	uint32_t number;

	if (!name || !ut_gate_wake())
		return 0;
	control = ut_gate_settings();
	number = ut_intern(name, len);
	if (!ut_control_passes(control->include, control->exclude, name))
		number = UT_DOMAIN_UNWANTED;
	return (int)number;
}

static int itt_object_put_name(enum ut_rec type, int number, const char *parameter, bool global)
{
	bool ends = type == UT_REC_EVENT_END || type == UT_REC_MARK_OFF;
	uint64_t words[2];

	if (number > 0 && number != (int)UT_DOMAIN_UNWANTED &&
	    ut_gate_passes(&ut_me, ends ? UT_CALL_LATE_END : UT_CALL_OTHER)) {
		words[0] = ut_pack((uint32_t)number, ut_intern_z(parameter));
		words[1] = global;
		ut_tbuf_words(&ut_me, type, words, 2);
	}
	return 0; /* the Rust binding asserts it */
}

__itt_mark_type __itt_mark_create(const char *name)
{
	return create_name(name, name ? strlen(name) : 0);
}

int __itt_mark(__itt_mark_type type, const char *parameter)
{
	return itt_object_put_name(UT_REC_MARK, type, parameter, false);
}

int __itt_mark_off(__itt_mark_type type)
{
	return itt_object_put_name(UT_REC_MARK_OFF, type, NULL, false);
}

int __itt_mark_global(__itt_mark_type type, const char *parameter)
{
	return itt_object_put_name(UT_REC_MARK, type, parameter, true);
}

int __itt_mark_global_off(__itt_mark_type type)
{
	return itt_object_put_name(UT_REC_MARK_OFF, type, NULL, false);
}

/* Must be positive: 0 and negative numbers read as failure. */
__itt_event __itt_event_create(const char *name, int len)
{
	int number = create_name(name, name && len > 0 ? strnlen(name, (size_t)len) : 0);

	return number > 0 ? number : (int)UT_DOMAIN_UNWANTED;
}

int __itt_event_start(__itt_event event)
{
	return itt_object_put_name(UT_REC_EVENT_START, event, NULL, false);
}

int __itt_event_end(__itt_event event)
{
	return itt_object_put_name(UT_REC_EVENT_END, event, NULL, false);
}
