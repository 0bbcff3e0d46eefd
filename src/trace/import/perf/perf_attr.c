#include "import/perf/perf_attr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/perf/perf_file.h"
#include "model/stacks.h"

#define MOST_ATTRS 4096u

/* ---- attributes ------------------------------------------------------------------------------ */

static uint64_t word_at(const uint8_t *bytes, size_t size, size_t at, size_t len)
{
	uint64_t value = 0;

	if (at + len <= size)
		memcpy(&value, bytes + at, len);
	return value;
}

/* As perf calls them, if the file does not. */
static void name_event(struct ut_pdata_attr *a)
{
	static const char *const hardware[] = { "cycles",
						"instructions",
						"cache-references",
						"cache-misses",
						"branches",
						"branch-misses",
						"bus-cycles",
						"stalled-cycles-frontend",
						"stalled-cycles-backend",
						"ref-cycles" };
	static const char *const software[] = { "cpu-clock",      "task-clock",
						"page-faults",    "context-switches",
						"cpu-migrations", "minor-faults",
						"major-faults" };

	if (a->type == 0 && a->config < sizeof(hardware) / sizeof(hardware[0]))
		snprintf(a->name, sizeof(a->name), "%s", hardware[a->config]);
	else if (a->type == 1 && a->config < sizeof(software) / sizeof(software[0]))
		snprintf(a->name, sizeof(a->name), "%s", software[a->config]);
	else
		snprintf(a->name, sizeof(a->name), "event %u:%llx", a->type,
			 (unsigned long long)a->config);
}

bool ut_pdata_attr_add(struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size)
{
	uint64_t own = word_at(bytes, size, UT_PDATA_ATTR_SIZE, 4);
	struct ut_pdata_attr *to;

	if (size < UT_PDATA_ATTR_LEAST || a->count == MOST_ATTRS)
		return false;
	if (own >= UT_PDATA_ATTR_LEAST && own < size)
		size = own;
	a->items = ut_grow(a->items, a->count + 1, &a->cap, sizeof(*a->items));
	to = &a->items[a->count++];
	to->type = (uint32_t)word_at(bytes, size, UT_PDATA_ATTR_TYPE, 4);
	to->config = word_at(bytes, size, UT_PDATA_ATTR_CONFIG, 8);
	to->period = word_at(bytes, size, UT_PDATA_ATTR_PERIOD, 8);
	to->sample_type = word_at(bytes, size, UT_PDATA_ATTR_SAMPLE_TYPE, 8);
	to->read_format = word_at(bytes, size, UT_PDATA_ATTR_READ_FORMAT, 8);
	to->flags = word_at(bytes, size, UT_PDATA_ATTR_FLAGS, 8);
	to->branches = word_at(bytes, size, UT_PDATA_ATTR_BRANCHES, 8);
	to->regs_user = word_at(bytes, size, UT_PDATA_ATTR_REGS_USER, 8);
	name_event(to);
	return true;
}

void ut_pdata_event_name(const struct ut_pdata_attr *a, struct ut_buf *name)
{
	struct ut_str own = ut_str_of(a->name);

	ut_buf_text(name, a->name);
	if (!ut_str_has_start(own, "cpu-clock") && !ut_str_has_start(own, "task-clock"))
		ut_buf_text(name, UT_SAMPLE_EVENTS);
}

void ut_pdata_attr_id(struct ut_pdata_attrs *a, size_t attr, uint64_t id)
{
	if (attr < a->count)
		ut_idmap_put(&a->by_id, id, (uint32_t)attr + 1);
}

void ut_pdata_attrs_release(struct ut_pdata_attrs *a)
{
	free(a->items);
	ut_idmap_release(&a->by_id);
	*a = (struct ut_pdata_attrs){ 0 };
}

/* ---- samples --------------------------------------------------------------------------------- */

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t perf_attr_take(struct cursor *c)
{
	uint64_t value = 0;

	if (c->bad || c->end - c->at < 8) {
		c->bad = true;
		return 0;
	}
	memcpy(&value, c->at, 8);
	c->at += 8;
	return value;
}

static const uint8_t *take_bytes(struct cursor *c, uint64_t count)
{
	const uint8_t *at = c->at;

	if (c->bad || count > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at += count;
	return at;
}

/* Where in a sample the number of its event is: before anything else, or behind other words. */
static bool find_attr(const struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size,
		      const struct ut_pdata_attr **attr)
{
	uint64_t type = a->count ? a->items[0].sample_type : 0, id;
	size_t at = 0;
	uint32_t number;

	*attr = a->count ? &a->items[0] : NULL;
	if (a->count < 2)
		return a->count != 0;
	if (!(type & UT_PDATA_IDENTIFIER)) {
		if (!(type & UT_PDATA_ID))
			return true;
		at = 8u *
		     (unsigned int)__builtin_popcountll(
			     type & (UT_PDATA_IP | UT_PDATA_TID | UT_PDATA_TIME | UT_PDATA_ADDR));
	}
	if (at + 8 > size)
		return false;
	memcpy(&id, bytes + at, 8);
	number = ut_idmap_get(&a->by_id, id);
	if (number)
		*attr = &a->items[number - 1];
	return number != 0;
}

/* Values of counters that are read with the sample: only their size matters. */
static void skip_read(struct cursor *c, uint64_t format)
{
	uint64_t each = 1 + !!(format & UT_PDATA_READ_ID) + !!(format & UT_PDATA_READ_LOST);
	uint64_t times = !!(format & UT_PDATA_READ_ENABLED) + !!(format & UT_PDATA_READ_RUNNING);
	uint64_t count = 1;

	if (format & UT_PDATA_READ_GROUP)
		count = perf_attr_take(c);
	if (count > (uint64_t)(c->end - c->at) / 8)
		c->bad = true;
	take_bytes(c, c->bad ? 0 : 8 * (times + count * each));
}

static void take_stack(struct cursor *c, const struct ut_pdata_attr *a, struct ut_pdata_taken *to)
{
	uint64_t size;

	if (a->sample_type & UT_PDATA_REGS_USER &&
	    perf_attr_take(c)) /* the registers of no abi are none */
		to->regs = take_bytes(c, 8u * (unsigned int)__builtin_popcountll(a->regs_user));
	if (!(a->sample_type & UT_PDATA_STACK_USER))
		return;
	size = perf_attr_take(c);
	to->stack = take_bytes(c, size);
	to->stack_size = size && to->stack ? perf_attr_take(c) : 0;
	if (to->stack_size > size)
		to->stack_size = size;
	if (c->bad)
		to->stack_size = 0;
}

/* What stands behind the chain of calls, as far as the registers and the stack. */
static void take_rest(struct cursor *c, const struct ut_pdata_attr *a, struct ut_pdata_taken *to)
{
	uint64_t type = a->sample_type, count;
	uint32_t size = 0;

	if (type & UT_PDATA_RAW) {
		if (c->end - c->at >= 4)
			memcpy(&size, c->at, 4);
		take_bytes(c, (UINT64_C(4) + size + 7) & ~UINT64_C(7));
	}
	if (type & UT_PDATA_BRANCHES) {
		count = perf_attr_take(c);
		if (a->branches & UT_PDATA_BRANCH_HW_INDEX)
			perf_attr_take(c);
		if (count > (uint64_t)(c->end - c->at) / 24)
			c->bad = true;
		take_bytes(c, c->bad ? 0 : count * 24);
	}
	take_stack(c, a, to);
}

bool ut_pdata_sample(const struct ut_pdata_attrs *a, const uint8_t *bytes, size_t size,
		     struct ut_pdata_taken *to)
{
	struct cursor c = { bytes, bytes + size, false };
	uint64_t type, who;

	*to = (struct ut_pdata_taken){ 0 };
	if (!find_attr(a, bytes, size, &to->attr))
		return false;
	type = to->attr->sample_type;
	to->period = to->attr->flags & UT_PDATA_FLAG_FREQ ? 1 : to->attr->period;
	if (type & UT_PDATA_IDENTIFIER)
		perf_attr_take(&c);
	if (type & UT_PDATA_IP)
		to->ip = perf_attr_take(&c);
	if (type & UT_PDATA_TID) {
		who = perf_attr_take(&c);
		to->pid = (uint32_t)who;
		to->tid = (uint32_t)(who >> 32);
	}
	if (type & UT_PDATA_TIME)
		to->time = perf_attr_take(&c);
	take_bytes(&c, 8u * (unsigned int)__builtin_popcountll(type & (UT_PDATA_ADDR | UT_PDATA_ID |
								       UT_PDATA_STREAM_ID |
								       UT_PDATA_CPU)));
	if (type & UT_PDATA_PERIOD)
		to->period = perf_attr_take(&c);
	if (type & UT_PDATA_READ)
		skip_read(&c, to->attr->read_format);
	if (type & UT_PDATA_CALLCHAIN) {
		to->chain_count = perf_attr_take(&c);
		if (to->chain_count > (uint64_t)(c.end - c.at) / 8)
			c.bad = true;
		to->chain = take_bytes(&c, c.bad ? 0 : 8 * to->chain_count);
	}
	if (c.bad)
		return false;
	take_rest(&c, to->attr, to); /* what is damaged there is not needed */
	return true;
}

/* Other records have the same facts at their end, in another order: time before the last ones. */
uint64_t ut_pdata_time(const struct ut_pdata_attrs *a, uint32_t type, const uint8_t *bytes,
		       size_t size)
{
	const struct ut_pdata_attr *attr = a->count ? &a->items[0] : NULL;
	struct ut_pdata_taken taken;
	uint64_t time;
	size_t behind;

	if (type == UT_PDATA_SAMPLE)
		return ut_pdata_sample(a, bytes, size, &taken) ? taken.time : 0;
	if (!attr || !(attr->flags & UT_PDATA_FLAG_SAMPLE_ID_ALL) ||
	    !(attr->sample_type & UT_PDATA_TIME) || type > UT_PDATA_KERNEL_LAST)
		return 0;
	behind = 8u * (1u + (unsigned int)__builtin_popcountll(
				    attr->sample_type & (UT_PDATA_ID | UT_PDATA_STREAM_ID |
							 UT_PDATA_CPU | UT_PDATA_IDENTIFIER)));
	if (behind > size)
		return 0;
	memcpy(&time, bytes + size - behind, 8);
	return time;
}
