/* host_take.c - see host_take.h. */
#include "collect/host_take.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/gate.h"
#include "wire/text.h"

#define FACTS_A_RECORD 500u /* 8 kB: half of the smallest chunk */

static const char *const names[UT_HOST_STRUCTS] = {
	"ut_device", "ut_work",   "ut_metric_set", "ut_values",
	"ut_frame",  "ut_sample", "ut_message",    "ut_allocation",
};

void ut_host_note(const char *text)
{
	size_t len = text ? strnlen(text, 1000) : 0;
	const uint64_t words[1] = { len };

	if (len && ut_gate_wake())
		ut_writer_define(UT_REC_NOTE, words, 1, text, len);
}

/* Once per struct: a backend that is wrong is wrong a million times. */
static void host_take_complain(enum ut_host_struct which, struct ut_host_sizes size,
			       const char *what)
{
	static _Atomic unsigned int reported;
	char text[200];
	struct ut_text t = ut_text_init(text, sizeof(text));

	if (atomic_fetch_or(&reported, 1u << which) >> which & 1)
		return;
	ut_text_str(&t, "a backend hands over struct ");
	ut_text_str(&t, names[which]);
	ut_text_str(&t, " of ");
	ut_text_u64(&t, size.said);
	ut_text_str(&t, " bytes, this collector knows ");
	ut_text_u64(&t, size.ours);
	ut_text_str(&t, what);
	ut_host_note(text);
}

static bool is_zero(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

bool ut_host_take(enum ut_host_struct which, void *to, const void *from, struct ut_host_sizes size)
{
	size_t known = size.said < size.ours ? size.said : size.ours;

	if (size.said < size.least) {
		host_take_complain(which, size, ": it is too old for it and is not recorded");
		ut_writer_count_dropped();
		return false;
	}
	memcpy(to, from, known);
	memset((char *)to + known, 0, size.ours - known);
	/* A size that is garbage must not lead us far. */
	if (size.said > size.ours &&
	    (size.said > 4 * size.ours ||
	     !is_zero((const char *)from + size.ours, size.said - size.ours)))
		host_take_complain(which, size, ": what is new in it is not recorded");
	return true;
}

/* ---- facts --------------------------------------------------------------------------------- */

static void record_more(uint64_t number, const struct ut_fact *facts, size_t count)
{
	while (count) {
		size_t n = count < FACTS_A_RECORD ? count : FACTS_A_RECORD;

		ut_tbuf_record(&ut_me, UT_REC_FACTS, &number, 1, facts, n * sizeof(*facts));
		facts += n;
		count -= n;
	}
}

void ut_host_record(enum ut_rec type, const uint64_t *words, size_t count,
		    const struct ut_fact *facts, size_t fact_count)
{
	static _Atomic uint64_t last;
	uint64_t head[16];

	fact_count = facts ? fact_count : 0;
	if (fact_count <= FACTS_A_RECORD) {
		ut_tbuf_record(&ut_me, type, words, count, facts, fact_count * sizeof(*facts));
		return;
	}
	memcpy(head, words, count * sizeof(*words));
	head[count] = ut_pack(0, UT_FACT_MORE);
	head[count + 1] = atomic_fetch_add(&last, 1) + 1;
	record_more(head[count + 1], facts, fact_count);
	ut_tbuf_words(&ut_me, type, head, count + 2);
}
