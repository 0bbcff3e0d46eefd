/*
 * ftrace.c - of the kernel's events those that tell where programs ran (sched_switch) and
 * what they wrote into the kernel's trace themselves (print, as Android's atrace does). Times are
 * CLOCK_BOOTTIME. Each CPU is a lane, with a span for each stretch of time that a thread had.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "import/perfetto/shared.h"
#include "model/perfetto_fields.h"

enum ftrace {
	FTRACE_CPU = 1, /* of a bundle */
	FTRACE_EVENT = 2,
	FTRACE_COMPACT = 4,
	FTRACE_TIMESTAMP = 1, /* of an event */
	FTRACE_PID = 2,
	FTRACE_PRINT = 3,
	FTRACE_SWITCH = 4,
	PRINT_TEXT = 2,
	SWITCH_NEXT_COMM = 5,
	SWITCH_NEXT_PID = 6,
	COMPACT_TIMESTAMPS = 1, /* differences */
	COMPACT_NEXT_PIDS = 3,
	COMPACT_TABLE = 5, /* texts that the next ones refer to */
	COMPACT_NEXT_COMMS = 6,
};

struct bundle {
	struct ut_pf *p;
	uint32_t seq_id;
	uint32_t cpu;
};

static uint64_t ftrace_to_ns(const struct bundle *b, uint64_t ts)
{
	return ut_pf_clock_ns(&b->p->clocks, b->seq_id, CLOCK_BOOT, ts);
}

static uint64_t ftrace_hash_of(uint64_t what, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t all[] = { what, a, b, c };

	return ut_hash_bytes(all, sizeof(all));
}

/* ---- who runs ------------------------------------------------------------------------------ */

static uint32_t cpu_lane(const struct bundle *b)
{
	char name[24];

	snprintf(name, sizeof(name), "CPU %u", b->cpu);
	return ut_pf_lane(b->p, ftrace_hash_of('c', b->cpu, 0, 0), ut_pf_home(b->p),
			  ut_strtab_intern_z(&ut_pf_trace(b->p)->strings, name));
}

/* From now on this thread has the CPU; 0 = nobody. */
static void switch_to(const struct bundle *b, uint64_t ts, int64_t tid, uint32_t comm)
{
	struct ut_pf *p = b->p;
	uint32_t lane = cpu_lane(b);
	struct ut_pf_track *t = ut_pf_at(p, lane);

	p->arg_count = 0;
	if (t->base) /* somebody had it so far */
		ut_pf_add(p, lane, ts, 0, (struct ut_type){ .kind = UT_RAW_END });
	t->base = tid != 0;
	if (!tid)
		return;
	ut_pf_add_arg(p, ut_strtab_intern_z(&ut_pf_trace(p)->strings, "tid"), UT_ARG_I64)
		->value.i64 = tid;
	ut_pf_add(p, lane, ts, 0, (struct ut_type){ .name = comm, .kind = UT_RAW_BEGIN });
}

static void read_switch(const struct bundle *b, uint64_t ts, struct ut_pb m)
{
	struct ut_pb_field f;
	uint32_t comm = 0;
	int64_t tid = 0;

	while (ut_pb_next(&m, &f)) {
		if (f.number == SWITCH_NEXT_PID)
			tid = (int32_t)f.value;
		else if (f.number == SWITCH_NEXT_COMM)
			comm = ut_pf_string(b->p, &f);
	}
	switch_to(b, ts, tid, comm);
}

/* The same events, as columns. */
static void read_compact(const struct bundle *b, struct ut_pb m)
{
	struct ut_pf_list ts = { 0 }, tids = { 0 }, comms = { 0 }, table = { 0 };
	struct ut_pb_field f;
	uint64_t now = 0;

	while (ut_pb_next(&m, &f)) {
		if (f.number == COMPACT_TIMESTAMPS)
			ut_pf_list_read(&ts, &f, UT_PB_VARINT);
		else if (f.number == COMPACT_NEXT_PIDS)
			ut_pf_list_read(&tids, &f, UT_PB_VARINT);
		else if (f.number == COMPACT_NEXT_COMMS)
			ut_pf_list_read(&comms, &f, UT_PB_VARINT);
		else if (f.number == COMPACT_TABLE)
			ut_pf_list_add(&table, ut_pf_string(b->p, &f));
	}
	for (size_t i = 0; i < ts.count && i < tids.count && i < comms.count; i++) {
		uint64_t comm = comms.items[i];

		now += ts.items[i];
		switch_to(b, ftrace_to_ns(b, now), (int32_t)tids.items[i],
			  comm < table.count ? (uint32_t)table.items[comm] : 0);
	}
	free(ts.items);
	free(tids.items);
	free(comms.items);
	free(table.items);
}

/* ---- marks that programs write ------------------------------------------------------------- */

/* "S|pid|name|cookie": the letter and the texts behind it. */
struct mark {
	char letter;
	int64_t pid;
	struct ut_str parts[3];
	size_t count;
};

static bool read_mark(struct mark *m, const char *s, size_t len)
{
	const char *end = s + len, *bar;
	char pid[24] = "";

	*m = (struct mark){ 0 };
	while (len && (end[-1] == '\n' || !end[-1])) {
		end--;
		len--;
	}
	if (!len || (len > 1 && s[1] != '|'))
		return false;
	m->letter = s[0];
	s += len > 1 ? 2 : 1;
	bar = memchr(s, '|', (size_t)(end - s));
	bar = bar ? bar : end;
	if ((size_t)(bar - s) >= sizeof(pid))
		return false;
	memcpy(pid, s, (size_t)(bar - s));
	m->pid = strtoll(pid, NULL, 10);
	for (s = bar; s < end && m->count < 3; s = bar) {
		s++;
		bar = m->count < 2 ? memchr(s, '|', (size_t)(end - s)) : end;
		bar = bar ? bar : end;
		m->parts[m->count++] = (struct ut_str){ s, (size_t)(bar - s) };
	}
	return true;
}

static uint32_t ftrace_part(struct ut_pf *p, const struct mark *m, size_t i)
{
	return ut_strtab_intern(&ut_pf_trace(p)->strings, m->parts[i].ptr, m->parts[i].len);
}

/* The thread that wrote a mark. Its end may not say of which process. */
static uint32_t writer(struct ut_pf *p, const struct mark *m, int64_t tid)
{
	uint32_t known = ut_idmap_get(&p->tracks.by_tid, (uint64_t)tid);

	if (known && !m->pid)
		return known - 1;
	return ut_pf_thread(p, ut_pf_process(p, m->pid), tid);
}

static uint32_t mark_lane(struct ut_pf *p, const struct mark *m, uint64_t cookie)
{
	uint32_t process = ut_pf_process(p, m->pid), name = ftrace_part(p, m, 0);

	return ut_pf_lane(p, ftrace_hash_of('a', process, name, cookie), process, name);
}

static void ftrace_add_counter(struct ut_pf *p, const struct mark *m, uint64_t ts)
{
	char number[24] = "";
	uint32_t lane = mark_lane(p, m, UINT64_MAX);

	ut_pf_at(p, lane)->kind = UT_PF_COUNTER;
	if (m->parts[1].len < sizeof(number))
		memcpy(number, m->parts[1].ptr, m->parts[1].len);
	ut_pf_add_number(p, lane, ts, strtoll(number, NULL, 10), 0);
}

/* False if it is none of the marks that we know. */
static bool add_mark(struct ut_pf *p, const struct mark *m, uint64_t ts, int64_t tid)
{
	struct ut_type type = { 0 };
	size_t last = m->count ? m->count - 1 : 0;
	uint64_t cookie = ut_hash_bytes(m->parts[last].ptr, m->parts[last].len);

	p->arg_count = 0;
	if (m->letter == 'E') {
		type.kind = UT_RAW_END;
		ut_pf_add(p, writer(p, m, tid), ts, 0, type);
	} else if ((m->letter == 'B' || m->letter == 'I') && m->count >= 1) {
		type.kind = m->letter == 'B' ? UT_RAW_BEGIN : UT_KIND_INSTANT;
		type.name = ftrace_part(p, m, 0);
		ut_pf_add(p, writer(p, m, tid), ts, 0, type);
	} else if (m->letter == 'C' && m->count >= 2) {
		ftrace_add_counter(p, m, ts);
	} else if (m->letter == 'N' && m->count >= 2) {
		type.kind = UT_KIND_INSTANT;
		type.name = ftrace_part(p, m, 1);
		ut_pf_add(p, mark_lane(p, m, 0), ts, 0, type);
	} else if ((m->letter == 'S' || m->letter == 'G') && m->count >= 2) {
		type.kind = UT_RAW_BEGIN;
		type.name = ftrace_part(p, m, m->letter == 'S' ? 0 : 1);
		ut_pf_add(p, mark_lane(p, m, cookie), ts, 0, type);
	} else if ((m->letter == 'F' || m->letter == 'H') && m->count >= 2) {
		type.kind = UT_RAW_END;
		ut_pf_add(p, mark_lane(p, m, cookie), ts, 0, type);
	} else {
		return false;
	}
	return true;
}

static void read_print(const struct bundle *b, uint64_t ts, int64_t tid, struct ut_pb m)
{
	struct ut_pb_field f;
	struct mark mark;
	bool known = false;

	while (ut_pb_next(&m, &f)) {
		if (f.number == PRINT_TEXT && f.wire == UT_PB_BYTES)
			known = read_mark(&mark, (const char *)f.data, f.value) &&
				add_mark(b->p, &mark, ts, tid);
	}
	b->p->troubles.kernel += !known;
}

/* ---- bundles ------------------------------------------------------------------------------- */

static void read_event(const struct bundle *b, struct ut_pb m)
{
	struct ut_pb sched = { 0 }, print = { 0 };
	struct ut_pb_field f;
	uint64_t ts = 0;
	int64_t tid = 0;

	while (ut_pb_next(&m, &f)) {
		if (f.number == FTRACE_TIMESTAMP)
			ts = f.value;
		else if (f.number == FTRACE_PID)
			tid = (int32_t)f.value;
		else if (f.number == FTRACE_SWITCH)
			sched = ut_pb_inside(&f);
		else if (f.number == FTRACE_PRINT)
			print = ut_pb_inside(&f);
	}
	ts = ftrace_to_ns(b, ts);
	if (sched.at)
		read_switch(b, ts, sched);
	else if (print.at)
		read_print(b, ts, tid, print);
	else
		b->p->troubles.kernel++;
}

void ut_pf_ftrace(struct ut_pf *p, uint32_t seq_id, struct ut_pb bundle)
{
	struct bundle b = { .p = p, .seq_id = seq_id };
	struct ut_pb rest = bundle;
	struct ut_pb_field f;

	while (ut_pb_next(&rest, &f)) {
		if (f.number == FTRACE_CPU)
			b.cpu = (uint32_t)f.value;
	}
	while (ut_pb_next(&bundle, &f)) {
		if (f.number == FTRACE_EVENT)
			read_event(&b, ut_pb_inside(&f));
		else if (f.number == FTRACE_COMPACT)
			read_compact(&b, ut_pb_inside(&f));
	}
}
