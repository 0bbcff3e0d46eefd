/* ranks_table.c - see ranks_table.h. */
#include "ranks/ranks_table.h"

#include <string.h>

#include "ranks/ranks_table_parts.h"
#include "text/out.h"

/* People see these only where ranks have used files. */
#define OF_FILES(k, t, u, what)                                                                    \
	{                                                                                          \
		.key = (k), .title = (t), .unit = (u), .type = (what), .readers = UT_FOR_PROGRAMS  \
	}

/* People see less: what it was that a rank waited for, --waits tells them better. */
static const struct ut_report_column rank_columns[] = {
	COUNT("rank", "Rank"),
	{ .key = "host", .type = UT_REPORT_TEXT, .readers = UT_FOR_PROGRAMS },
	TIME("total", "Total"),
	TIME("useful", "Useful"),
	SHARE("useful_share", "of total"),
	TIME("wait", "Waits"),
	SHARE("wait_share", "of total"),
	TIME("transfer", "Transfer"),
	TIME("caused", "Others wait"),
	TEXT("blamed", "because of"),
	TIME("critical", "Critical path"),
	COUNT("messages", "Messages"),
	BYTES("sent", "Sent"),
	FOR_DATA("received", "bytes", UT_REPORT_BYTES),
	FOR_DATA("calls", NULL, UT_REPORT_COUNT),
	FOR_DATA("in_calls", "ns", UT_REPORT_TIME),
	FOR_DATA("late_sender", "ns", UT_REPORT_TIME),
	FOR_DATA("late_receiver", "ns", UT_REPORT_TIME),
	FOR_DATA("collective", "ns", UT_REPORT_TIME),
	FOR_DATA("indirect", "ns", UT_REPORT_TIME),
	FOR_DATA("one_sided", "ns", UT_REPORT_TIME),
	FOR_DATA("idle", "ns", UT_REPORT_TIME),
	OF_FILES("file", "Files", "ns", UT_REPORT_TIME),
	OF_FILES("written", "Written", "bytes", UT_REPORT_BYTES),
	OF_FILES("read", "Read", "bytes", UT_REPORT_BYTES),
};

static const struct ut_report_column call_columns[] = {
	TEXT("call", "Call"),
	COUNT("count", "Count"),
	TIME("time", "Time"),
	TIME("wait", "Waits"),
	SHARE("wait_share", "of time"),
	TIME("transfer", "Transfer"),
	BYTES("sent", "Sent"),
	BYTES("received", "Received"),
	TIME("most", "Most of a rank"),
	COUNT("most_rank", "Rank"),
	OF_FILES("file", "Files", "ns", UT_REPORT_TIME),
	OF_FILES("written", "Written", "bytes", UT_REPORT_BYTES),
	OF_FILES("read", "Read", "bytes", UT_REPORT_BYTES),
};

static const struct ut_report_column task_columns[] = {
	TEXT("task", "Task"),
	COUNT("ranks", "Ranks"),
	TIME("useful", "Useful"),
	TIME("mean", "Mean"),
	TIME("most", "Most"),
	COUNT("most_rank", "of rank"),
	SHARE("imbalance", "Imbalance"),
	TIME("in_calls", "In calls"),
	TIME("wait", "Waits"),
	TIME("caused", "Others wait"),
};

static const struct ut_report_column wait_columns[] = {
	COUNT("rank", "For rank"), TEXT("task", "because of"), TEXT("why", "Why"),
	TEXT("call", "Call"),      TIME("wait", "Waits"),      SHARE("share", "of all"),
	COUNT("times", "Times"),   COUNT("waiters", "Ranks"),  TIME("indirect", "through others"),
};

static const struct ut_report_column matrix_columns[] = {
	COUNT("from", "From"),  COUNT("to", "To"),    COUNT("messages", "Messages"),
	BYTES("sent", "Bytes"), TIME("time", "Time"), TIME("wait", "Waits"),
};

static const struct ut_report_column pop_columns[] = {
	{ .key = "metric", .title = "Metric", .type = UT_REPORT_TEXT },
	SHARE("value", "Value"),
	{ .key = "meaning", .title = "Meaning", .type = UT_REPORT_TEXT },
};

static const struct ut_report_column step_columns[] = {
	COUNT("step", "Step"),
	TIME("begin", "Begin"),
	TIME("time", "Time"),
	TIME("shortest", "Shortest"),
	TIME("longest", "Longest"),
	COUNT("slowest", "of rank"),
	COUNT("critical", "Critical rank"),
	TIME("on_path", "on the path"),
	TEXT("task", "in"),
	TIME("wait", "Waits"),
};

static const struct ut_report_column path_columns[] = {
	COUNT("rank", "Rank"),
	TEXT("task", "in"),
	TIME("time", "Time"),
	SHARE("share", "of the path"),
};

static const struct ut_report_table tables[UT_RANK_TABLES] = {
	[UT_RANK_TABLE_RANKS] = COLUMNS(rank_columns),
	[UT_RANK_TABLE_CALLS] = COLUMNS(call_columns),
	[UT_RANK_TABLE_TASKS] = COLUMNS(task_columns),
	[UT_RANK_TABLE_WAITS] = COLUMNS(wait_columns),
	[UT_RANK_TABLE_MATRIX] = COLUMNS(matrix_columns),
	[UT_RANK_TABLE_POP] = COLUMNS(pop_columns),
	[UT_RANK_TABLE_STEPS] = COLUMNS(step_columns),
	[UT_RANK_TABLE_PATH] = COLUMNS(path_columns),
	[UT_RANK_TABLE_COLLECTIVES] = COLUMNS(ut_rank_coll_columns),
	[UT_RANK_TABLE_CLOCKS] = COLUMNS(ut_rank_clock_columns),
};

#define MOST_COLUMNS 32

/* ---- cells --------------------------------------------------------------------------------- */

static struct ut_report_cell task_cell(const struct ut_rank_view *v, uint32_t task)
{
	if (task == UT_RANK_IN_CALL)
		return ut_report_text("(in calls)");
	return task ? ut_rank_string_cell(v, task) : ut_report_text("(no task)");
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void add_ranks(struct ut_report *r, const struct ut_rank_view *v)
{
	for (uint32_t i = 0; i < v->ranks->count; i++) {
		const struct ut_rank_sum *s = &v->sums.ranks[i];
		const struct ut_report_cell cells[] = {
			ut_rank_cell(v, i),
			ut_rank_string_cell(v, v->ranks->items[i].host),
			ut_report_u64(s->total),
			ut_report_u64(s->useful),
			ut_rank_share_cell(s->useful, s->total),
			ut_report_u64(s->wait[0]),
			ut_rank_share_cell(s->wait[0], s->total),
			ut_report_u64(s->transfer),
			ut_report_u64(s->caused),
			s->caused ? task_cell(v, s->blamed_task)
				  : ut_report_said(ut_report_none(), "-"),
			ut_report_u64(v->path.of_rank[i]),
			ut_report_u64(s->messages),
			ut_report_u64(s->sent),
			ut_report_u64(s->received),
			ut_report_u64(s->calls),
			ut_report_u64(s->in_calls),
			ut_report_u64(s->wait[UT_RANK_LATE_SENDER]),
			ut_report_u64(s->wait[UT_RANK_LATE_RECEIVER]),
			ut_report_u64(s->wait[UT_RANK_COLLECTIVE]),
			ut_report_u64(s->indirect),
			ut_report_u64(s->wait[UT_RANK_LATE_TARGET] + s->wait[UT_RANK_LATE_ORIGIN] +
				      s->wait[UT_RANK_LOCKED]),
			ut_report_u64(s->idle),
			ut_report_u64(s->file),
			ut_report_u64(s->written),
			ut_report_u64(s->read),
		};

		ut_report_add(r, cells);
	}
}

static void add_calls(struct ut_report *r, const struct ut_rank_view *v)
{
	for (size_t i = 0; i < v->sums.call_count; i++) {
		const struct ut_rank_by_call *c = &v->sums.calls[i];
		const struct ut_report_cell cells[] = {
			ut_rank_string_cell(v, c->name),
			ut_report_u64(c->count),
			ut_report_u64(c->time),
			ut_report_u64(c->wait),
			ut_rank_share_cell(c->wait, c->time),
			ut_report_u64(c->transfer),
			ut_report_u64(c->sent),
			ut_report_u64(c->received),
			ut_report_u64(c->most),
			ut_rank_cell(v, c->most_rank),
			ut_report_u64(c->file),
			ut_report_u64(c->written),
			ut_report_u64(c->read),
		};

		ut_report_add(r, cells);
	}
}

static void add_tasks(struct ut_report *r, const struct ut_rank_view *v)
{
	for (size_t i = 0; i < v->sums.task_count; i++) {
		const struct ut_rank_by_task *t = &v->sums.tasks[i];
		double mean = (double)t->useful / (double)v->ranks->count;
		const struct ut_report_cell cells[] = {
			task_cell(v, t->task),
			ut_report_u64(t->ranks),
			ut_report_u64(t->useful),
			ut_report_u64((uint64_t)mean),
			ut_report_u64(t->most),
			t->most ? ut_rank_cell(v, t->most_rank) : ut_report_none(),
			mean > 0 ? ut_report_real(100 * ((double)t->most / mean - 1))
				 : ut_report_none(),
			ut_report_u64(t->in_calls),
			ut_report_u64(t->wait),
			ut_report_u64(t->caused),
		};

		ut_report_add(r, cells);
	}
}

static void add_waits(struct ut_report *r, const struct ut_rank_view *v)
{
	for (size_t i = 0; i < v->sums.wait_count; i++) {
		const struct ut_rank_wait *w = &v->sums.waits[i];
		const struct ut_report_cell cells[] = {
			ut_rank_cell(v, w->rank),
			task_cell(v, w->task),
			ut_report_text(ut_rank_why_words[w->why]),
			ut_rank_string_cell(v, w->call),
			ut_report_u64(w->time),
			ut_rank_share_cell(w->time, v->sums.all.wait[0]),
			ut_report_u64(w->times),
			ut_report_u64(w->waiters),
			ut_report_u64(w->indirect),
		};

		ut_report_add(r, cells);
	}
}

static void add_matrix(struct ut_report *r, const struct ut_rank_view *v)
{
	for (size_t i = 0; i < v->sums.pair_count; i++) {
		const struct ut_rank_pair *p = &v->sums.pairs[i];
		const struct ut_report_cell cells[] = {
			ut_report_i64(p->from),  ut_report_i64(p->to),   ut_report_u64(p->messages),
			ut_report_u64(p->bytes), ut_report_u64(p->time), ut_report_u64(p->wait),
		};

		ut_report_add(r, cells);
	}
}

static void add_pop(struct ut_report *r, const struct ut_rank_view *v)
{
	const struct ut_rank_pop *p = &v->pop;
	const struct {
		const char *name;
		double value;
		const char *meaning;
	} rows[] = {
		{ "parallel_efficiency", p->parallel, "load balance x communication efficiency" },
		{ "load_balance", p->balance, "useful time of a rank: mean / most" },
		{ "communication_efficiency", p->communication, "serialisation x transfer" },
		{ "serialisation", p->serialisation,
		  "most useful time / run on an ideal network: ranks wait for each other" },
		{ "transfer", p->transfer, "run on an ideal network / run: data is moved" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct ut_report_cell cells[] = {
			ut_report_text(rows[i].name),
			ut_report_real(100 * rows[i].value),
			ut_report_text(rows[i].meaning),
		};

		ut_report_add(r, cells);
	}
}

static void add_steps(struct ut_report *r, const struct ut_rank_view *v)
{
	for (size_t i = 0; i < v->path.step_count; i++) {
		const struct ut_rank_step *s = &v->path.steps[i];
		const struct ut_report_cell cells[] = {
			ut_report_u64(i),
			ut_report_u64(s->begin > v->ranks->start ? s->begin - v->ranks->start : 0),
			ut_report_u64(s->end - s->begin),
			ut_report_u64(s->shortest),
			ut_report_u64(s->longest),
			ut_rank_cell(v, s->slowest),
			s->on_path ? ut_rank_cell(v, s->critical) : ut_report_none(),
			ut_report_u64(s->on_path),
			task_cell(v, s->task),
			ut_report_u64(s->wait),
		};

		ut_report_add(r, cells);
	}
}

static void ranks_table_add_path(struct ut_report *r, const struct ut_rank_view *v)
{
	uint64_t all = 0;

	for (size_t i = 0; i < v->path.part_count; i++)
		all += v->path.parts[i].time;
	for (size_t i = 0; i < v->path.part_count; i++) {
		const struct ut_rank_on_path *p = &v->path.parts[i];
		const struct ut_report_cell cells[] = {
			ut_rank_cell(v, p->rank),
			task_cell(v, p->task),
			ut_report_u64(p->time),
			ut_rank_share_cell(p->time, all),
		};

		ut_report_add(r, cells);
	}
}

/* ---- tables -------------------------------------------------------------------------------- */

int ut_rank_table_check(enum ut_rank_table table, const char *sort, struct ut_err *err)
{
	return ut_report_check_sort(&tables[table], sort, err);
}

void ut_rank_table_print(struct ut_out *out, const struct ut_rank_view *v, enum ut_rank_table table,
			 const struct ut_report_opts *opts)
{
	static void (*const add[UT_RANK_TABLES])(struct ut_report *,
						 const struct ut_rank_view *) = {
		[UT_RANK_TABLE_RANKS] = add_ranks,
		[UT_RANK_TABLE_CALLS] = add_calls,
		[UT_RANK_TABLE_TASKS] = add_tasks,
		[UT_RANK_TABLE_WAITS] = add_waits,
		[UT_RANK_TABLE_MATRIX] = add_matrix,
		[UT_RANK_TABLE_POP] = add_pop,
		[UT_RANK_TABLE_STEPS] = add_steps,
		[UT_RANK_TABLE_PATH] = ranks_table_add_path,
		[UT_RANK_TABLE_COLLECTIVES] = ut_rank_add_colls,
		[UT_RANK_TABLE_CLOCKS] = ut_rank_add_clocks,
	};
	struct ut_report_column columns[MOST_COLUMNS];
	struct ut_report_table shown = tables[table];
	struct ut_report *r;

	if (v->sums.all.file && (table == UT_RANK_TABLE_RANKS || table == UT_RANK_TABLE_CALLS)) {
		memcpy(columns, shown.columns, shown.count * sizeof(*columns));
		for (size_t i = 0; i < shown.count; i++) {
			if (columns[i].readers == UT_FOR_PROGRAMS && columns[i].title)
				columns[i].readers = 0;
		}
		shown.columns = columns;
	}
	r = ut_report_start(out, opts, &shown);
	add[table](r, v);
	ut_report_finish(r);
}

const struct ut_report_table *ut_rank_table_columns(enum ut_rank_table table)
{
	return &tables[table];
}

const char *ut_rank_table_member(enum ut_rank_table table)
{
	static const char *const members[UT_RANK_TABLES] = {
#define UT_RANK_TABLE_MEMBER(table, word, member) [UT_RANK_TABLE_##table] = member,
		UT_RANK_TABLE_LIST(UT_RANK_TABLE_MEMBER)
#undef UT_RANK_TABLE_MEMBER
	};

	return members[table];
}

void ut_rank_json(struct ut_out *out, const struct ut_rank_view *v)
{
	const struct ut_report_opts opts = { .format = UT_REPORT_JSON, .close = "]" };
	struct ut_buf text = { 0 };

	ut_rank_summary_text(v, &text);
	ut_out_text(out, "{\"verdict\":");
	ut_out_json_str(out, text.data, text.len);
	ut_out_fmt(out,
		   ",\n\"run_ns\":%llu,\"ideal_run_ns\":%llu,\"messages\":%llu,"
		   "\"single_ends\":%llu,\"backwards\":%llu",
		   (unsigned long long)v->pop.run, (unsigned long long)v->pop.ideal,
		   (unsigned long long)v->ranks->messages, (unsigned long long)v->ranks->single,
		   (unsigned long long)v->ranks->backwards);
	for (int i = 0; i < UT_RANK_TABLES; i++) {
		ut_out_fmt(out, ",\n\"%s\":", ut_rank_table_member((enum ut_rank_table)i));
		ut_rank_table_print(out, v, (enum ut_rank_table)i, &opts);
	}
	ut_out_text(out, "}\n");
	ut_buf_release(&text);
}
