#include "tt/log_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"

void ut_tt_ops_release(struct ut_tt_ops *ops)
{
	free(ops->rows);
	free(ops->first);
	*ops = (struct ut_tt_ops){ 0 };
}

static void close_op(struct ut_tt_ops *ops)
{
	ops->count++;
	ops->first = ut_grow(ops->first, ops->count + 1, &ops->cap, sizeof(*ops->first));
	ops->first[ops->count] = (uint32_t)ops->row_count;
}

/* ---- firmware ------------------------------------------------------------------------------ */

/* The RISC that is in charge of a core, and its zone around everything. */
static const struct {
	const char *risc, *zone;
} masters[] = {
	{ "BRISC", "BRISC-FW" },    { "ERISC", "ERISC-FW" },    { "TENSIX_RISC_AGG", "TRACE-FW" },
	{ "CORE_AGG", "TRACE-FW" }, { "QUASAR_DM0", "DM0-FW" },
};

/* Per RISC the string id of that zone; UINT32_MAX = not in charge. */
static uint32_t *find_masters(struct ut_tt_log *log)
{
	uint32_t *zones = ut_make((log->risc_count + 1) * sizeof(*zones));

	for (size_t i = 0; i < log->risc_count; i++) {
		zones[i] = UINT32_MAX;
		for (size_t k = 0; k < sizeof(masters) / sizeof(masters[0]); k++) {
			if (ut_tt_is(log, log->riscs[i].name, masters[k].risc))
				zones[i] = ut_strtab_intern_z(&log->strings, masters[k].zone);
		}
	}
	return zones;
}

/* ---- ops ----------------------------------------------------------------------------------- */

struct walk {
	struct ut_tt_log *log;
	struct ut_tt_ops *ops;
	bool one_core;
	uint32_t *masters;
	/* per core: the group that it was last met in; how far its firmware is (0, 1, 2), which
	 * holds only in the round that is noted beside it */
	uint32_t *group, *round;
	uint8_t *state;
	uint32_t rounds;      /* ops begun so far, in all groups */
	uint32_t cores, done; /* of this group; how many have ended in this round */
};

/* Does the firmware's start or end here complete the op? */
static bool log_ops_step(struct walk *w, const struct ut_tt_row *row)
{
	const struct ut_tt_lane *lane = &w->log->lanes[row->lane];
	const struct ut_tt_mark *m = &w->log->marks[row->mark];
	uint8_t *state;

	if (m->zone != w->masters[lane->risc] || m->phase > UT_TT_END)
		return false;
	if (w->one_core)
		return m->phase == UT_TT_END;
	state = &w->state[lane->core];
	if (w->round[lane->core] != w->rounds)
		*state = 0;
	w->round[lane->core] = w->rounds;
	if (m->phase == UT_TT_START) {
		w->log->doubts.again += *state > 0;
		w->done -= *state == 2;
		*state = 1;
		return false;
	}
	w->log->doubts.stray += *state == 2;
	if (*state != 1)
		return false;
	*state = 2;
	return ++w->done == w->cores;
}

static void begin_round(struct walk *w)
{
	w->rounds++;
	w->done = 0;
}

static void walk_group(struct walk *w, const uint32_t *rows, size_t n, uint32_t group)
{
	w->cores = 0;
	begin_round(w);
	for (size_t i = 0; !w->one_core && i < n; i++) {
		uint32_t core = w->log->lanes[w->log->rows[rows[i]].lane].core;

		w->cores += w->group[core] != group;
		w->group[core] = group;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ut_tt_row *row = &w->log->rows[rows[i]];
		bool done;

		if (!w->log->marks[row->mark].id)
			continue;
		done = log_ops_step(w, row);
		w->ops->rows[w->ops->row_count++] = rows[i];
		if (!done)
			continue;
		close_op(w->ops);
		begin_round(w);
	}
}

/* Rows by the number of their op, groups in order of first appearance. */
struct groups {
	uint32_t *rows, *first;
	size_t count, cap;
};

static void group_rows(const struct ut_tt_log *log, const uint32_t *order, size_t n,
		       struct groups *g)
{
	struct ut_arena arena = { 0 };
	uint32_t *of = ut_tt_make_rows(n, sizeof(*of));
	struct ut_idmap map;
	uint64_t last = 0; /* mostly the row before is of the same op */
	uint32_t number = 0;
	size_t kept = 0;

	ut_idmap_init(&map, &arena);
	g->first = ut_grow(NULL, 2, &g->cap, sizeof(*g->first));
	for (size_t i = 0; i < n; i++) {
		uint64_t host = log->marks[log->rows[order[i]].mark].host;

		if (!host)
			continue;
		if (host != last)
			number = ut_idmap_get(&map, host);
		if (!number) {
			number = (uint32_t)++g->count;
			ut_idmap_put(&map, host, number);
			g->first = ut_grow(g->first, g->count + 2, &g->cap, sizeof(*g->first));
		}
		last = host;
		of[i] = number;
		g->first[of[i] + 1]++;
		kept++;
	}
	g->rows = ut_tt_make_rows(kept, sizeof(*g->rows));
	for (size_t i = 2; i <= g->count + 1; i++)
		g->first[i] += g->first[i - 1];
	for (size_t i = 0; i < n; i++) {
		if (of[i])
			g->rows[g->first[of[i]]++] = order[i];
	}
	free(of);
	ut_arena_release(&arena);
}

void ut_tt_ops_find(struct ut_tt_log *log, const uint32_t *order, size_t n, bool one_core,
		    struct ut_tt_ops *ops)
{
	struct walk w = { .log = log, .ops = ops, .one_core = one_core };
	struct groups g = { 0 };
	size_t begin = 0;

	group_rows(log, order, n, &g);
	*ops = (struct ut_tt_ops){ .rows = ut_tt_make_rows(n, sizeof(*ops->rows)) };
	ops->first = ut_grow(NULL, 1, &ops->cap, sizeof(*ops->first));
	w.masters = find_masters(log);
	if (!one_core) {
		w.group = ut_make((log->core_count + 1) * sizeof(*w.group));
		w.round = ut_make((log->core_count + 1) * sizeof(*w.round));
		w.state = ut_make(log->core_count + 1);
	}
	/* group i now ends where i + 1 began */
	for (uint32_t i = 1; i <= g.count; i++) {
		walk_group(&w, g.rows + begin, g.first[i] - begin, i);
		begin = g.first[i];
	}
	/* rows behind the last op that ended belong to none */
	ops->row_count = ops->first[ops->count];
	free(w.masters);
	free(w.group);
	free(w.round);
	free(w.state);
	free(g.rows);
	free(g.first);
}

/* ---- cores that dispatch ------------------------------------------------------------------- */

static bool zone_has(const struct ut_tt_log *log, const struct ut_tt_mark *m, const char *part)
{
	struct ut_str s = ut_tt_str(log, m->zone);

	return memmem(s.ptr, s.len, part, strlen(part)) != NULL;
}

void ut_tt_ops_find_dispatch(struct ut_tt_log *log)
{
	bool *dispatches = ut_make(log->mark_count + 1);

	for (size_t i = 0; i < log->mark_count; i++)
		dispatches[i] = zone_has(log, &log->marks[i], "CQ-DISPATCH") ||
				zone_has(log, &log->marks[i], "CQ-PREFETCH");
	for (size_t i = 0; i < log->lane_count; i++) {
		const struct ut_tt_lane *lane = &log->lanes[i];
		struct ut_str risc = ut_tt_str(log, log->riscs[lane->risc].name);

		if (memmem(risc.ptr, risc.len, "ERISC", 5))
			continue;
		for (uint32_t k = 0; k < lane->count; k++) {
			if (dispatches[log->rows[lane->first + k].mark])
				log->cores[lane->core].dispatch = true;
		}
	}
	free(dispatches);
}

/* The value of a key in the meta data, which is JSON with semicolons; NULL = no such key. */
static const char *meta_value(struct ut_str meta, const char *key, size_t *len)
{
	const char *end = meta.ptr + meta.len;
	const char *p = memmem(meta.ptr, meta.len, key, strlen(key));

	if (!p)
		return NULL;
	p += strlen(key);
	while (p < end && (*p == '"' || *p == '\'' || *p == ':' || *p == ' '))
		p++;
	*len = 0;
	while (p + *len < end && !strchr("\"';,}", p[*len]))
		++*len;
	return p;
}

static uint64_t meta_number(const char *text, size_t len)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len && text[i] >= '0' && text[i] <= '9' && v < UINT32_MAX; i++)
		v = v * 10 + (uint64_t)(text[i] - '0');
	return v;
}

/* What one of the two RISCs that dispatch did, zone by zone. */
struct side {
	uint32_t *rows;      /* of zones that ended, and behind them the open one */
	uint32_t *op;        /* per row: the number of its op here, from 1 */
	uint64_t *ids;       /* per op: the host's number; 0 = no op */
	uint32_t *first;     /* per op: of its rows, once they are grouped */
	size_t count, begin; /* begin: the first row of the open zone */
	uint64_t current;
	uint32_t command; /* string id */
	bool finished;
	struct ut_arena arena;
	struct ut_idmap seen; /* the host's number + 1 -> ours */
	uint32_t ops;
};

static bool command_is(const struct ut_tt_log *log, uint32_t command, const char *part)
{
	struct ut_str s = ut_tt_str(log, command);

	return memmem(s.ptr, s.len, part, strlen(part)) != NULL;
}

static void read_meta(struct ut_tt_log *log, struct side *s, const struct ut_tt_mark *m)
{
	struct ut_str meta = ut_tt_str(log, m->meta);
	size_t len;
	const char *value = meta_value(meta, "workers_runtime_id", &len);

	if (value) {
		s->finished = false;
		s->current = meta_number(value, len);
		/* only the first run of a captured trace counts */
		if (ut_idmap_get(&s->seen, s->current + 1))
			s->current = 0;
	}
	value = meta_value(meta, "dispatch_command_type", &len);
	if (!value)
		return;
	s->command = ut_strtab_intern(&log->strings, value, len);
	if (command_is(log, s->command, "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL"))
		s->finished = true;
	if (command_is(log, s->command, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL"))
		s->current++;
}

static void rename_row(struct ut_tt_log *log, uint32_t row, uint32_t zone)
{
	log->rows[row].mark = ut_tt_mark_renamed(log, log->rows[row].mark, zone);
}

static void side_row(struct ut_tt_log *log, struct side *s, uint32_t row)
{
	struct ut_tt_mark m = log->marks[log->rows[row].mark];
	uint32_t op;

	s->rows[s->count++] = row;
	read_meta(log, s, &m);
	if (m.phase != UT_TT_END)
		return;
	rename_row(log, s->rows[s->begin], s->command);
	rename_row(log, row, s->command);
	op = ut_idmap_get(&s->seen, s->current + 1);
	if (!op) {
		op = ++s->ops;
		s->ids[op] = s->current;
		ut_idmap_put(&s->seen, s->current + 1, op);
	}
	while (s->begin < s->count)
		s->op[s->begin++] = op;
	if (s->finished)
		s->current = 0;
}

static void side_init(struct side *s, size_t n)
{
	*s = (struct side){ .rows = ut_make((n + 1) * sizeof(*s->rows)),
			    .op = ut_make((n + 1) * sizeof(*s->op)),
			    .ids = ut_make((n + 2) * sizeof(*s->ids)),
			    .first = ut_make((n + 3) * sizeof(*s->first)) };
	ut_idmap_init(&s->seen, &s->arena);
}

static void side_release(struct side *s)
{
	free(s->rows);
	free(s->op);
	free(s->ids);
	free(s->first);
	ut_arena_release(&s->arena);
}

/* Rows of op n are then rows[first[n]] up to rows[first[n + 1]]. */
static void side_group(struct side *s)
{
	uint32_t *grouped = ut_make((s->count + 1) * sizeof(*grouped));
	uint32_t *next = ut_make(((size_t)s->ops + 2) * sizeof(*next));

	for (size_t i = 0; i < s->begin; i++)
		s->first[s->op[i] + 1]++;
	for (uint32_t n = 1; n <= s->ops + 1; n++)
		s->first[n] += s->first[n - 1];
	memcpy(next, s->first, ((size_t)s->ops + 2) * sizeof(*next));
	for (size_t i = 0; i < s->begin; i++)
		grouped[next[s->op[i]]++] = s->rows[i];
	free(next);
	free(s->rows);
	s->rows = grouped;
}

/* The rows of both, by time; at the same time the master's first. */
static void join_op(const struct ut_tt_log *log, const struct side *a, const struct side *b,
		    uint32_t n, struct ut_tt_ops *ops)
{
	uint32_t i = a->first[n], k = b->first[n];

	while (i < a->first[n + 1] || k < b->first[n + 1]) {
		bool take_a = k == b->first[n + 1] ||
			      (i < a->first[n + 1] &&
			       log->rows[a->rows[i]].ts <= log->rows[b->rows[k]].ts);

		ops->rows[ops->row_count++] = take_a ? a->rows[i++] : b->rows[k++];
	}
	close_op(ops);
}

void ut_tt_ops_of_dispatch(struct ut_tt_log *log, const struct ut_tt_core *core,
			   struct ut_tt_ops *ops)
{
	struct side master, sub;

	*ops = (struct ut_tt_ops){ .rows = ut_make(((size_t)core->count + 1) * sizeof(uint32_t)) };
	ops->first = ut_grow(NULL, 1, &ops->cap, sizeof(*ops->first));
	side_init(&master, core->count);
	side_init(&sub, core->count);
	for (uint32_t i = 0; i < core->count; i++) {
		uint32_t row = log->by_core[core->first + i];
		uint32_t risc = ut_tt_risc_of(log, &log->rows[row])->name;

		if (ut_tt_is(log, risc, "BRISC"))
			side_row(log, &master, row);
		else if (ut_tt_is(log, risc, "NCRISC"))
			side_row(log, &sub, row);
	}
	side_group(&master);
	side_group(&sub);
	/* the n-th of one side belongs to the n-th of the other */
	for (uint32_t n = 1; n <= master.ops && n <= sub.ops; n++) {
		if (master.ids[n])
			join_op(log, &master, &sub, n, ops);
	}
	side_release(&master);
	side_release(&sub);
}
