#include "tt/ops_tracy_counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "text/csv_read.h"
#include "tt/devlog.h"
#include "tt/ops_tracy_columns.h"
#include "tt/pytext.h"

#define MARKER 9090u
#define UNITS  UT_TRACY_UNITS

/* In the order of the columns. */
static const struct {
	const char *counter;
	const char *number; /* as the runtime numbers it */
	const char *columns[4];
} units[UNITS] = {
	{ "SFPU_COUNTER",
	  "2",
	  { "SFPU Util Min (%)", "SFPU Util Median (%)", "SFPU Util Max (%)",
	    "Avg SFPU util on full grid (%)" } },
	{ "FPU_COUNTER",
	  "1",
	  { "FPU Util Min (%)", "FPU Util Median (%)", "FPU Util Max (%)",
	    "Avg FPU util on full grid (%)" } },
	{ "MATH_COUNTER",
	  "3",
	  { "MATH Util Min (%)", "MATH Util Median (%)", "MATH Util Max (%)",
	    "Avg Math util on full grid (%)" } },
};

/* ---- reading ------------------------------------------------------------------------------- */

/* The word or number behind a key, whatever quotes are around it. */
static struct ut_str ops_tracy_counters_value_of(struct ut_str meta, const char *key)
{
	const char *at = meta.len ? memmem(meta.ptr, meta.len, key, strlen(key)) : NULL;
	const char *end = meta.ptr + meta.len;
	struct ut_str value = { "", 0 };

	if (!at)
		return value;
	for (at += strlen(key); at < end && strchr(" \"':", *at); at++)
		;
	value.ptr = at;
	while (at < end && !strchr(" \"';,}", *at))
		at++;
	value.len = (size_t)(at - value.ptr);
	return value;
}

static uint64_t ops_tracy_counters_key_of(uint64_t op, int64_t replay)
{
	const uint64_t both[] = { op, (uint64_t)replay };

	return ut_hash_bytes(both, sizeof(both));
}

/* One counter of one core in one op. */
struct count {
	uint32_t slot; /* number of the op * UNITS + unit */
	bool timed;    /* how long it counted is known */
	double util, value;
};

struct counts {
	struct count *items;
	size_t count, cap;
};

static void read_mark(struct ut_tracy_counters *c, struct counts *counts,
		      const struct ut_tt_log *log, const struct ut_tt_mark *mark)
{
	struct ut_str meta = ut_tt_str(log, mark->meta);
	struct ut_str type = ops_tracy_counters_value_of(meta, "counter type");
	uint64_t key = ops_tracy_counters_key_of(mark->host, mark->replay), value, reference;
	uint32_t unit = 0, op = ut_idmap_get(&c->by_op, key);

	while (unit < UNITS && !ut_str_is(type, units[unit].counter) &&
	       !ut_str_is(type, units[unit].number))
		unit++;
	if (unit == UNITS ||
	    !ut_csv_number(ops_tracy_counters_value_of(meta, "\"value\""), &value) ||
	    !ut_csv_number(ops_tracy_counters_value_of(meta, "ref cnt"), &reference))
		return;
	if (!op) {
		op = (uint32_t)++c->count;
		ut_idmap_put(&c->by_op, key, op);
	}
	counts->items =
		ut_grow(counts->items, counts->count + 1, &counts->cap, sizeof(*counts->items));
	counts->items[counts->count++] = (struct count){
		.slot = (op - 1) * UNITS + unit,
		.timed = reference > 0,
		.util = reference ? (double)value / (double)reference * 100 : 0,
		.value = (double)value,
	};
}

static bool is_counter(const struct ut_tt_mark *mark)
{
	return ((uint64_t)mark->id & 0xffff) == MARKER && mark->meta;
}

static int by_slot(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->timed != y->timed)
		return x->timed ? -1 : 1;
	return (x->util > y->util) - (x->util < y->util);
}

/* Of n counts of one slot, in order: those that are timed come first. */
static struct ut_tracy_util util_of(const struct count *items, size_t n)
{
	struct ut_tracy_util u = { 0 };
	size_t timed = 0;

	for (size_t i = 0; i < n; i++) {
		u.sum += items[i].value;
		timed += items[i].timed;
	}
	if (!timed)
		return u;
	u.known = true;
	u.min = items[0].util;
	u.max = items[timed - 1].util;
	u.median = timed % 2 ? items[timed / 2].util
			     : (items[timed / 2 - 1].util + items[timed / 2].util) / 2;
	return u;
}

static void sum_up(struct ut_tracy_counters *c, struct counts *counts)
{
	size_t n;

	c->ops = ut_arena_alloc(&c->arena, c->count, sizeof(*c->ops));
	qsort(counts->items, counts->count, sizeof(*counts->items), by_slot);
	for (size_t i = 0; i < counts->count; i += n) {
		uint32_t slot = counts->items[i].slot;

		n = 1;
		while (i + n < counts->count && counts->items[i + n].slot == slot)
			n++;
		c->ops[slot / UNITS][slot % UNITS] = util_of(counts->items + i, n);
	}
}

void ut_tracy_counters_read(struct ut_tracy_counters *c, const struct ut_tt_log *log,
			    const struct ut_tt_chip *chip)
{
	struct counts counts = { 0 };
	bool any = false;

	c->count = 0;
	ut_arena_release(&c->arena);
	ut_idmap_init(&c->by_op, &c->arena);
	for (size_t i = 0; i < log->mark_count && !any; i++)
		any = is_counter(&log->marks[i]);
	for (uint32_t i = 0; any && i < chip->count; i++) {
		const struct ut_tt_mark *mark = &log->marks[log->rows[chip->first + i].mark];

		if (is_counter(mark))
			read_mark(c, &counts, log, mark);
	}
	if (counts.count)
		sum_up(c, &counts);
	free(counts.items);
}

void ut_tracy_counters_release(struct ut_tracy_counters *c)
{
	ut_arena_release(&c->arena);
}

/* ---- telling ------------------------------------------------------------------------------- */

static void ops_tracy_counters_put(struct ut_ops_report *r, uint32_t unit, uint32_t field,
				   double value)
{
	const char *name = units[unit].columns[field];
	uint32_t column =
		ut_tracy_counter(r, (struct ut_str){ name, strlen(name) }, unit * 4 + field);
	char text[UT_PY_DOUBLE_ROOM];
	size_t len;

	ut_py_double(text, value);
	len = strlen(text);
	ut_ops_put(r, column, (struct ut_str){ ut_arena_copy(&r->arena, text, len), len });
}

void ut_tracy_counters_put(const struct ut_tracy_counters *c, struct ut_ops_report *r,
			   const struct ut_tracy_counted *op)
{
	uint32_t n =
		c->count ? ut_idmap_get(&c->by_op, ops_tracy_counters_key_of(op->op, op->replay))
			 : 0;

	for (uint32_t unit = 0; n && unit < UNITS; unit++) {
		const struct ut_tracy_util *u = &c->ops[n - 1][unit];

		if (!u->known)
			continue;
		ops_tracy_counters_put(r, unit, 0, u->min);
		ops_tracy_counters_put(r, unit, 1, u->median);
		ops_tracy_counters_put(r, unit, 2, u->max);
		if (op->kernel && op->cores > 0)
			ops_tracy_counters_put(
				r, unit, 3, u->sum / (double)op->cores / (double)op->kernel * 100);
	}
}
