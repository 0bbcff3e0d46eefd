/* host_metrics.c - what a backend measures, and the messages that it sees. */
#include <string.h>

#include "collect/gate.h"
#include "collect/host_take.h"
#include "collect/intern.h"
#include "collect/number.h"

#define VALUES_A_RECORD 1000u /* 8 kB: half of the smallest chunk */

static void define_metric(uint32_t set, uint32_t index, const struct ut_metric *m)
{
	const uint64_t words[3] = { ut_pack(set, index),
				    ut_pack(ut_intern_z(m->key), ut_intern_z(m->title)),
				    ut_pack(ut_intern_z(m->unit), m->type) };

	ut_number_define(UT_REC_METRIC, words, 3, NULL, 0);
}

uint32_t ut_host_metrics(const struct ut_metric_set *given)
{
	struct ut_metric_set set;
	uint64_t words[2];
	uint32_t id;

	if (!UT_HOST_TAKE(UT_HOST_METRIC_SET, &set, given, count) || !set.device ||
	    set.count > UINT32_MAX || (set.count && !set.metrics))
		return 0;
	id = ut_number_next();
	words[0] = ut_pack(id, set.device);
	words[1] = ut_pack(ut_intern_z(set.title), (uint32_t)set.count);
	ut_number_define(UT_REC_METRIC_SET, words, 2, NULL, 0);
	for (size_t i = 0; i < set.count; i++)
		define_metric(id, (uint32_t)i, &set.metrics[i]);
	return id;
}

/* Each record says where in the set its values begin. */
void ut_host_values(const struct ut_values *given)
{
	struct ut_values v;
	uint64_t words[5];

	if (!UT_HOST_TAKE(UT_HOST_VALUES, &v, given, count) || !v.set ||
	    !ut_gate_passes(&ut_me, UT_CALL_LATE_END))
		return;
	words[1] = v.begin;
	words[2] = v.end;
	words[3] = ut_pack(v.name, v.flags);
	words[4] = v.correlation;
	for (size_t first = 0; v.values && first < v.count; first += VALUES_A_RECORD) {
		size_t n = v.count - first < VALUES_A_RECORD ? v.count - first : VALUES_A_RECORD;

		words[0] = ut_pack(v.set, (uint32_t)first);
		ut_tbuf_record(&ut_me, UT_REC_VALUES, words, 5, v.values + first,
			       n * sizeof(*v.values));
	}
}

void ut_host_message(const struct ut_message *given)
{
	struct ut_message m;
	uint64_t words[3];

	if (!UT_HOST_TAKE(UT_HOST_MESSAGE, &m, given, name) || !(m.id[0] | m.id[1]) ||
	    !ut_gate_passes(&ut_me, UT_CALL_OTHER))
		return;
	words[0] = ut_pack(m.name, m.end);
	words[1] = ut_message_number(m.id);
	words[2] = m.correlation;
	ut_tbuf_words(&ut_me, UT_REC_MESSAGE, words, 3);
}
