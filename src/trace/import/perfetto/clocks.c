#include "import/perfetto/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/perfetto_fields.h"
#include "model/trace.h"

#define MOST_CLOCKS 64 /* of one snapshot; real ones have about ten */

/* One clock of a snapshot. */
struct reading {
	uint32_t id;
	uint64_t ts, unit_ns; /* ts in its unit */
	bool incremental;
};

struct readings {
	struct reading items[MOST_CLOCKS];
	size_t count;
	uint32_t primary; /* 0 = not said */
};

static uint64_t clocks_key_of(uint32_t seq_id, uint32_t clock_id)
{
	bool local = clock_id >= CLOCK_FIRST_LOCAL && clock_id <= CLOCK_LAST_LOCAL;

	return clock_id | (local ? (uint64_t)seq_id << 32 : 0);
}

static struct ut_pf_clock *clocks_find(const struct ut_pf_clocks *c, uint64_t key)
{
	uint32_t at = ut_idmap_get(&c->by_key, key);

	return at ? &c->items[at - 1] : NULL;
}

static struct ut_pf_clock *find_or_add(struct ut_pf_clocks *c, uint64_t key)
{
	struct ut_pf_clock *clock = clocks_find(c, key);

	if (clock)
		return clock;
	c->items = ut_grow(c->items, c->count + 1, &c->cap, sizeof(*c->items));
	c->items[c->count].unit_ns = 1;
	ut_idmap_put(&c->by_key, key, (uint32_t)++c->count);
	return &c->items[c->count - 1];
}

static struct reading read_clock(struct ut_pb m)
{
	struct reading r = { .unit_ns = 1 };
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		if (f.number == CLOCK_ID)
			r.id = (uint32_t)f.value;
		else if (f.number == CLOCK_TIMESTAMP)
			r.ts = f.value;
		else if (f.number == CLOCK_INCREMENTAL)
			r.incremental = f.value != 0;
		else if (f.number == CLOCK_UNIT_NS && f.value)
			r.unit_ns = f.value;
	}
	return r;
}

static void read_snapshot(struct readings *all, struct ut_pb m)
{
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		if (f.number == SNAPSHOT_PRIMARY)
			all->primary = (uint32_t)f.value;
		else if (f.number == SNAPSHOT_CLOCKS && all->count < MOST_CLOCKS)
			all->items[all->count++] = read_clock(ut_pb_inside(&f));
	}
}

static const struct reading *reading_of(const struct readings *all, uint32_t id)
{
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].id == id)
			return &all->items[i];
	}
	return NULL;
}

/* The first snapshot decides. One that lacks its own primary clock is read by what it has. */
static void choose_trace_clock(struct ut_pf_clocks *c, const struct readings *all)
{
	uint32_t wanted = all->primary ? all->primary : CLOCK_BOOT;

	if (c->trace_clock || !all->count)
		return;
	if (reading_of(all, wanted))
		c->trace_clock = wanted;
	else if (reading_of(all, CLOCK_MONO))
		c->trace_clock = CLOCK_MONO;
	else
		c->trace_clock = all->items[0].id;
}

/* The latest pair at or before ns, the first one if there is none. */
static const struct ut_pf_pair *pair_for(const struct ut_pf_clock *clock, uint64_t ns)
{
	size_t lo = 0, hi = clock->count;

	if (clock->pairs[hi - 1].clock <= ns)
		return &clock->pairs[hi - 1];
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (clock->pairs[mid].clock <= ns)
			lo = mid;
		else
			hi = mid;
	}
	return &clock->pairs[lo];
}

/* When the snapshot was taken, on the trace's clock, by any of its clocks that is known already. */
static bool timestamp_of(const struct ut_pf_clocks *c, uint32_t seq_id, const struct readings *all,
			 uint64_t *timestamp)
{
	const struct reading *own = reading_of(all, c->trace_clock);

	if (own) {
		*timestamp = own->ts * own->unit_ns;
		return true;
	}
	for (size_t i = 0; i < all->count; i++) {
		const struct reading *r = &all->items[i];
		const struct ut_pf_clock *clock = clocks_find(c, clocks_key_of(seq_id, r->id));

		if (clock && clock->count) {
			uint64_t ns = r->ts * r->unit_ns;
			const struct ut_pf_pair *pair = pair_for(clock, ns);

			*timestamp = ns - pair->clock + pair->trace;
			return true;
		}
	}
	return false;
}

/* Pairs stay sorted: a clock that was set back starts anew. */
static void clocks_add_pair(struct ut_pf_clock *clock, uint64_t ns, uint64_t timestamp)
{
	while (clock->count && clock->pairs[clock->count - 1].clock >= ns)
		clock->count--;
	clock->pairs = ut_grow(clock->pairs, clock->count + 1, &clock->cap, sizeof(*clock->pairs));
	clock->pairs[clock->count++] = (struct ut_pf_pair){ ns, timestamp };
}

static void fill_offsets(const struct ut_pf_clocks *c, const struct readings *all,
			 struct ut_trace *trace)
{
	const struct reading *own = reading_of(all, c->trace_clock);
	const struct reading *real = reading_of(all, CLOCK_REAL);
	const struct reading *boot = reading_of(all, CLOCK_BOOT);

	if (!own)
		return;
	if (real && !trace->realtime_offset)
		trace->realtime_offset = (int64_t)(real->ts - own->ts * own->unit_ns);
	if (boot && !trace->boottime_offset)
		trace->boottime_offset = (int64_t)(boot->ts - own->ts * own->unit_ns);
}

void ut_pf_clock_snapshot(struct ut_pf_clocks *c, uint32_t seq_id, struct ut_pb snapshot,
			  struct ut_trace *trace)
{
	struct readings all = { 0 };
	uint64_t timestamp;
	bool known;

	read_snapshot(&all, snapshot);
	choose_trace_clock(c, &all);
	known = timestamp_of(c, seq_id, &all, &timestamp);
	for (size_t i = 0; i < all.count; i++) {
		const struct reading *r = &all.items[i];
		struct ut_pf_clock *clock = find_or_add(c, clocks_key_of(seq_id, r->id));

		clock->unit_ns = r->unit_ns;
		clock->incremental = r->incremental;
		clock->last = r->ts;
		if (known)
			clocks_add_pair(clock, r->ts * r->unit_ns, timestamp);
		if (r->id == c->trace_clock)
			c->plain = r->unit_ns == 1 && !r->incremental;
	}
	fill_offsets(c, &all, trace);
}

uint64_t ut_pf_clock_ns(struct ut_pf_clocks *c, uint32_t seq_id, uint32_t clock_id, uint64_t ts)
{
	struct ut_pf_clock *clock;
	const struct ut_pf_pair *pair;

	if (!clock_id || (clock_id == c->trace_clock && c->plain))
		return ts;
	if (!c->trace_clock) /* no snapshot yet: the first clock that is used is as good as any */
		c->trace_clock = clock_id;
	clock = clocks_find(c, clocks_key_of(seq_id, clock_id));
	if (clock && clock->incremental)
		ts = clock->last += ts;
	if (clock)
		ts *= clock->unit_ns;
	if (clock_id == c->trace_clock)
		return ts;
	if (!clock || !clock->count) {
		if (!c->unmapped++)
			c->unmapped_id = clock_id;
		return ts;
	}
	pair = pair_for(clock, ts);
	return ts - pair->clock + pair->trace;
}

void ut_pf_clocks_release(struct ut_pf_clocks *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->items[i].pairs);
	free(c->items);
	ut_idmap_release(&c->by_key);
	*c = (struct ut_pf_clocks){ 0 };
}
