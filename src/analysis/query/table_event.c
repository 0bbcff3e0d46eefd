/* table_event.c - slice, instant, counter, event: rows of the columns that are of some kinds. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "query/arg.h"
#include "query/guard.h"
#include "query/result.h"
#include "query/scan.h"

#define INT_COLUMN(name, field, doc)                                                               \
	{                                                                                          \
		name, "INTEGER", doc, UT_FIELD_##field, false                                      \
	}
#define TEXT_COLUMN(name, field, doc)                                                              \
	{                                                                                          \
		name, "TEXT", doc, UT_FIELD_##field, false                                         \
	}
#define HIDDEN_COLUMN(name, type, field, doc)                                                      \
	{                                                                                          \
		name, type, doc, UT_FIELD_##field, true                                            \
	}
#define STRING_COLUMNS                                                                             \
	HIDDEN_COLUMN("category", "TEXT", CAT, "the same as cat"),                                 \
		HIDDEN_COLUMN("name_id", "INTEGER", NAME_ID, "number of the name in its trace"),   \
		HIDDEN_COLUMN("cat_id", "INTEGER", CAT_ID, "number of the category in its trace")

#define WHERE_COLUMNS                                                                              \
	INT_COLUMN("track_id", TRACK, "the track that it lies on: track.id"),                      \
		INT_COLUMN("utid", UTID, "the thread, unique: thread.utid; NULL = no thread's"),   \
		INT_COLUMN("tid", TID, "the system's number of the thread, or a text"),            \
		INT_COLUMN("upid", UPID, "the process, unique: process.upid"),                     \
		INT_COLUMN("pid", PID, "the system's number of the process, or a text"),           \
		TEXT_COLUMN("track_name", TRACK_NAME, "name of the track"),                        \
		TEXT_COLUMN("thread_name", THREAD_NAME, "name of the thread"),                     \
		TEXT_COLUMN("process_name", PROCESS_NAME, "name of the process"),                  \
		INT_COLUMN("rank", RANK, "rank in a parallel job; NULL = none"),                   \
		INT_COLUMN("trace", TRACE, "the file that it comes from: trace.id")

#define ARG_COLUMNS                                                                                \
	INT_COLUMN("arg_set_id", ARG_SET, "its arguments: args.arg_set_id; NULL = none"),          \
		TEXT_COLUMN("args", ARGS, "its arguments as a JSON object; NULL = none")

#define SLICE_COLUMNS                                                                              \
	INT_COLUMN("id", ID, "number of the event; the same in all tables"),                       \
		INT_COLUMN("ts", TS, "begin, in ns on the clock of the trace"),                    \
		INT_COLUMN("dur", DUR, "length in ns"),                                            \
		INT_COLUMN("self_dur", SELF,                                                       \
			   "length without the slices directly inside it, in ns"),                 \
		INT_COLUMN("end", END, "ts + dur"),                                                \
		TEXT_COLUMN("name", NAME, "what it is called"),                                    \
		TEXT_COLUMN("cat", CAT, "category, ITT domain"),                                   \
		INT_COLUMN("depth", DEPTH,                                                         \
			   "how many slices are around it, async ones of its id; 0 = outermost"),  \
		INT_COLUMN("parent_id", PARENT, "the slice directly around it; NULL = outermost"), \
		WHERE_COLUMNS,                                                                     \
		INT_COLUMN("unfinished", UNFINISHED,                                               \
			   "1: it never ended; dur reaches to the last sign of life"),             \
		INT_COLUMN("async", ASYNC, "1: may overlap others on its track (async events)"),   \
		INT_COLUMN("not_work", NOT_WORK, "1: about the recording, not the program"),       \
		INT_COLUMN("instant", INSTANT, "1: it happened at one moment; dur is 0"),          \
		ARG_COLUMNS, STRING_COLUMNS,                                                       \
		HIDDEN_COLUMN("slice_id", "INTEGER", ID, "the same as id")

static const struct ut_sql_column slice_columns[] = {
	SLICE_COLUMNS,
	{ 0 },
};

const struct ut_sql_column ut_sql_tree_columns[] = {
	/* the first hidden one gets the argument */
	{ "start_id", "INTEGER", "argument: the slice to start from", UT_SQL_START, true },
	SLICE_COLUMNS,
	{ 0 },
};

static const struct ut_sql_column instant_columns[] = {
	INT_COLUMN("id", ID, "number of the event; the same in all tables"),
	INT_COLUMN("ts", TS, "when, in ns on the clock of the trace"),
	TEXT_COLUMN("name", NAME, "what it is called"),
	TEXT_COLUMN("cat", CAT, "category, ITT domain"),
	INT_COLUMN("parent_id", PARENT, "the slice that it happens in; NULL = none"),
	TEXT_COLUMN("scope", SCOPE, "whom it concerns: thread, process or global"),
	WHERE_COLUMNS,
	ARG_COLUMNS,
	STRING_COLUMNS,
	{ 0 },
};

static const struct ut_sql_column counter_columns[] = {
	INT_COLUMN("id", ID, "number of the event; the same in all tables"),
	INT_COLUMN("ts", TS, "when, in ns on the clock of the trace"),
	{ "value", "",
	  "what was counted: an integer or a real; from 2^63 on the digits as text; NULL: none"
	  " from then on",
	  UT_FIELD_VALUE, false },
	TEXT_COLUMN("name", TRACK_NAME, "which counter it is: the name of its track"),
	TEXT_COLUMN("cat", CAT, "category, ITT domain"),
	TEXT_COLUMN("unit", UNIT, "what the value counts"),
	WHERE_COLUMNS,
	ARG_COLUMNS,
	STRING_COLUMNS,
	{ 0 },
};

static const struct ut_sql_column sample_columns[] = {
	INT_COLUMN("id", ID, "number of the event; the same in all tables"),
	INT_COLUMN("ts", TS, "when, in ns on the clock of the trace"),
	TEXT_COLUMN("name", NAME, "what was sampled: cycles, bytes, ..."),
	TEXT_COLUMN("cat", CAT, "why it stood there: a stall reason, a state"),
	{ "weight", "", "how much it stands for", UT_FIELD_WEIGHT, false },
	TEXT_COLUMN("weight_unit", WEIGHT_UNIT, "ns of time, bytes of memory, or empty: events"),
	INT_COLUMN("callsite_id", CALLSITE,
		   "its stack: stack_profile_callsite.id; NULL = none was taken"),
	WHERE_COLUMNS,
	ARG_COLUMNS,
	STRING_COLUMNS,
	{ 0 },
};

static const struct ut_sql_column event_columns[] = {
	INT_COLUMN("id", ID, "number of the event; the same in all tables"),
	INT_COLUMN("ts", TS, "when it happens or begins, in ns on the clock of the trace"),
	TEXT_COLUMN("kind", KIND, "span, instant, counter, async begin, flow out, ..."),
	TEXT_COLUMN("name", NAME, "what it is called"),
	TEXT_COLUMN("cat", CAT, "category, ITT domain"),
	{ "value", "",
	  "length of a span in ns, value of a counter, else the number that joins events",
	  UT_FIELD_VALUE, false },
	INT_COLUMN("parent_id", PARENT, "the slice that it lies in; NULL = none"),
	WHERE_COLUMNS,
	ARG_COLUMNS,
	STRING_COLUMNS,
	{ 0 },
};

/* ---- which conditions we take ------------------------------------------------------------- */

enum plan {
	PLAN_BY_ID,
	PLAN_BY_TS,
	PLAN_GROUPED,  /* sorted by fields of types and tracks */
	PLAN_DISTINCT, /* the same, each combination once */
};

struct cost {
	double looked_at; /* rows */
	double found;
	bool unique;
};

#define MOST_GROUPED 8 /* fields to group by; SQLite does more */

static bool takes_row_field(enum ut_field f, enum ut_op op)
{
	if (op == UT_OP_EQ && (f == UT_FIELD_ID || f == UT_FIELD_PARENT || f == UT_FIELD_ARG_SET))
		return true;
	return op <= UT_OP_LE && (f == UT_FIELD_TS || f == UT_FIELD_DUR || f == UT_FIELD_SELF ||
				  f == UT_FIELD_END || f == UT_FIELD_DEPTH);
}

static bool takes(enum ut_field f, enum ut_op op)
{
	if (ut_field_level(f) == UT_LEVEL_ROW)
		return takes_row_field(f, op);
	if (ut_field_is_text(f))
		return op == UT_OP_EQ || op >= UT_OP_IN;
	/* ids of threads and processes may be text, which has no place in a range */
	if (f == UT_FIELD_TID || f == UT_FIELD_PID)
		return op == UT_OP_EQ || op == UT_OP_IN;
	return op <= UT_OP_IN;
}

/* A guess; only its order of magnitude matters. */
static void estimate(struct cost *c, const struct ut_traces *t, enum ut_field f, enum ut_op op)
{
	double tracks = (double)t->track_count + 1, processes = (double)t->process_count + 1;
	double part = op == UT_OP_EQ ? 0.02 : op == UT_OP_IN ? 0.05 : 0.25;

	if (f == UT_FIELD_ID || f == UT_FIELD_ARG_SET) {
		c->looked_at = c->found = f == UT_FIELD_ID ? 1 : 4; /* the id is cheaper to find */
		c->unique |= f == UT_FIELD_ID;
		return;
	}
	if (f == UT_FIELD_PARENT) {
		c->looked_at *= 1e-5;
		part = 1e-5;
	} else if (f == UT_FIELD_TS) {
		part = op == UT_OP_EQ ? 1e-5 : 0.25;
		c->looked_at *= part;
	} else if (ut_field_level(f) == UT_LEVEL_TRACK) {
		if (op == UT_OP_EQ)
			part = f == UT_FIELD_TRACK || f == UT_FIELD_UTID ? 1 / tracks
									 : 1 / processes;
		c->looked_at *= part;
	}
	c->found *= part;
}

static bool plain_collation(sqlite3_index_info *info, int i)
{
	return !strcmp(sqlite3_vtab_collation(info, i), "BINARY");
}

static enum ut_field field_of(const struct ut_sql_vtab *v, int column)
{
	return column < 0 ? UT_FIELD_ID : (enum ut_field)v->table->columns[column].what;
}

/*
 * What we make of condition i. An IN is taken whole where that saves scans; elsewhere SQLite asks
 * for one value after the other.
 */
static enum ut_op table_event_take(const struct ut_sql_vtab *v, sqlite3_index_info *info, int i)
{
	enum ut_op op = ut_sql_op(info->aConstraint[i].op);
	enum ut_field f;

	if (!info->aConstraint[i].usable || op == UT_OP_COUNT)
		return UT_OP_COUNT;
	f = field_of(v, info->aConstraint[i].iColumn);
	if (op == UT_OP_EQ && sqlite3_vtab_in(info, i, -1)) {
		if (ut_field_level(f) != UT_LEVEL_ROW)
			op = UT_OP_IN;
		else if (f != UT_FIELD_ID && f != UT_FIELD_PARENT && f != UT_FIELD_ARG_SET &&
			 f != UT_FIELD_TS)
			return UT_OP_COUNT;
	}
	if (!takes(f, op) || (ut_field_is_text(f) && !plain_collation(info, i)))
		return UT_OP_COUNT;
	return op;
}

static enum ut_field order_field(const struct ut_sql_vtab *v, const sqlite3_index_info *info, int i)
{
	return field_of(v, info->aOrderBy[i].iColumn);
}

/* Rows come by id; by ts at the price of a merge. */
static bool take_sorted(const struct ut_sql_vtab *v, sqlite3_index_info *info)
{
	enum ut_field f = order_field(v, info, 0);

	if (info->aOrderBy[0].desc)
		return false;
	if (f == UT_FIELD_ID)
		return true; /* unique: what follows does not matter */
	if (f != UT_FIELD_TS || (info->nOrderBy > 1 && (order_field(v, info, 1) != UT_FIELD_ID ||
							info->aOrderBy[1].desc)))
		return false;
	info->idxNum = PLAN_BY_TS;
	return true;
}

/* Are the columns that the query uses all among those that it groups by? */
static bool only_those(const struct ut_sql_vtab *v, const sqlite3_index_info *info)
{
	for (int i = 0; v->table->columns[i].name; i++) {
		bool among = false;

		if (!(info->colUsed >> (i < 63 ? i : 63) & 1))
			continue;
		for (int k = 0; k < info->nOrderBy; k++)
			among |= info->aOrderBy[k].iColumn == i;
		if (!among)
			return false;
	}
	return true;
}

/*
 * GROUP BY and DISTINCT: equal rows together. SQLite 3.40 says that their order does not matter
 * and yet leaves out the sorting of "GROUP BY a, b ORDER BY a, b", so they come sorted. It asks for
 * descending groups, too, as soon as ORDER BY has as many terms: "GROUP BY 1 ORDER BY 2 DESC".
 */
static bool take_grouped(const struct ut_sql_vtab *v, sqlite3_index_info *info)
{
	int changes = 0;

	if (info->nOrderBy > MOST_GROUPED || v->traces->row_count >= UINT32_MAX)
		return false;
	for (int i = 0; i < info->nOrderBy; i++) {
		enum ut_level level = ut_field_level(order_field(v, info, i));

		if (level == UT_LEVEL_ROW)
			return false;
		changes += i && level != ut_field_level(order_field(v, info, i - 1));
	}
	if (changes > 1)
		return false;
	info->idxNum = PLAN_GROUPED;
	if (sqlite3_vtab_distinct(info) >= 2 && only_those(v, info))
		info->idxNum = PLAN_DISTINCT;
	return true;
}

static void report_order(const struct ut_sql_vtab *v, const sqlite3_index_info *info,
			 struct ut_buf *plan)
{
	static const char *const words[] = { "", "by ts", "grouped by", "distinct" };

	if (info->idxNum == PLAN_BY_ID)
		return;
	ut_buf_fmt(plan, "%s%s", plan->len ? ", " : "", words[info->idxNum]);
	for (int i = 0; info->idxNum != PLAN_BY_TS && i < info->nOrderBy; i++)
		ut_buf_fmt(plan, " %s%s", v->table->columns[info->aOrderBy[i].iColumn].name,
			   info->aOrderBy[i].desc ? " desc" : "");
}

/* The plan in words: "ts >= ?, name IN ?". xFilter reads it, and EXPLAIN QUERY PLAN shows it. */
static int event_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct ut_sql_vtab *v = (const struct ut_sql_vtab *)vtab;
	double rows = (double)v->traces->row_count + 1;
	struct cost cost = { rows, rows, false };
	struct ut_buf plan = { 0 };
	int args = 0;

	for (int i = 0; i < info->nConstraint && args < (int)UT_SCAN_MOST; i++) {
		enum ut_op op = table_event_take(v, info, i);
		int column = info->aConstraint[i].iColumn;

		if (op == UT_OP_COUNT)
			continue;
		if (op == UT_OP_IN)
			sqlite3_vtab_in(info, i, 1);
		info->aConstraintUsage[i].argvIndex = ++args;
		info->aConstraintUsage[i].omit = 1;
		estimate(&cost, v->traces, field_of(v, column), op);
		ut_buf_fmt(&plan, "%s%s %s ?", plan.len ? ", " : "",
			   column < 0 ? "id" : v->table->columns[column].name, ut_op_names[op]);
	}
	if (info->nOrderBy)
		info->orderByConsumed = take_sorted(v, info) || take_grouped(v, info);
	report_order(v, info, &plan);
	info->estimatedRows = (sqlite3_int64)cost.found + 1;
	info->estimatedCost = cost.looked_at / 16 + cost.found + 4;
	info->idxFlags = cost.unique ? SQLITE_INDEX_SCAN_UNIQUE : 0;
	if (plan.len) {
		info->idxStr = sqlite3_mprintf("%s", plan.data);
		info->needToFreeIdxStr = 1;
	}
	ut_buf_release(&plan);
	return info->idxStr || !args ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- rows ---------------------------------------------------------------------------------- */

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	struct ut_scan scan;
	const char *plan; /* that steps were read from */
	struct {
		enum ut_field field;
		enum ut_op op;
	} steps[UT_SCAN_MOST];
	size_t step_count;
	struct ut_scan_order grouped[MOST_GROUPED];
	size_t grouped_count;
	bool end;
	struct ut_arg_list args;
};

static int event_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct ut_sql_vtab *v = (struct ut_sql_vtab *)vtab;
	struct cursor *c = ut_make(sizeof(*c));

	ut_scan_init(&c->scan, v->traces, v->table->kinds);
	*cursor = &c->base;
	return SQLITE_OK;
}

static int event_close(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	ut_scan_release(&c->scan);
	free(c->args.items);
	free(c);
	return SQLITE_OK;
}

static enum ut_field find_field(const struct ut_sql_table *t, struct ut_str word)
{
	for (const struct ut_sql_column *c = t->columns; c->name; c++) {
		if (ut_str_is(word, c->name))
			return (enum ut_field)c->what;
	}
	return UT_FIELD_ID; /* what rowid is called in a plan */
}

static enum ut_op find_op(struct ut_str word)
{
	enum ut_op op = UT_OP_EQ;

	while (op < UT_OP_COUNT && !ut_str_is(word, ut_op_names[op]))
		op++;
	return op;
}

/* Reads "grouped by column desc column" or "distinct column". */
static void read_groups(struct cursor *c, const struct ut_sql_table *t, const char *s)
{
	c->grouped_count = 0;
	while (*s) {
		struct ut_str word = { s, strcspn(s, " ") };

		if (ut_str_is(word, "desc") && c->grouped_count)
			c->grouped[c->grouped_count - 1].desc = true;
		else if (c->grouped_count < MOST_GROUPED)
			c->grouped[c->grouped_count++] =
				(struct ut_scan_order){ find_field(t, word), false };
		s += word.len + (s[word.len] != '\0');
	}
}

/* Reads "column op ?, column op ?, ...". An inner loop of a join asks with one plan many times. */
static void read_plan(struct cursor *c, int number, const char *plan, int count)
{
	const struct ut_sql_table *t = ((const struct ut_sql_vtab *)c->base.pVtab)->table;
	const char *s = plan;

	if (c->plan == plan || !plan)
		return;
	c->plan = plan;
	for (c->step_count = 0; c->step_count < (size_t)count;) {
		size_t column = strcspn(s, " ");
		size_t op = strcspn(s + column + 1, " ");

		c->steps[c->step_count].field = find_field(t, (struct ut_str){ s, column });
		c->steps[c->step_count++].op = find_op((struct ut_str){ s + column + 1, op });
		s += column + op + strlen("  ?");
		s += *s ? strlen(", ") : 0;
	}
	if (number == PLAN_GROUPED)
		read_groups(c, t, s + strlen("grouped by "));
	else if (number == PLAN_DISTINCT)
		read_groups(c, t, s + strlen("distinct "));
}

static int event_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	int rc = ut_scan_next(&c->scan);

	c->end = rc <= 0;
	return rc < 0 ? SQLITE_INTERRUPT : SQLITE_OK;
}

static bool is_pattern_too_long(enum ut_op op, sqlite3_value *value)
{
	return (op == UT_OP_LIKE || op == UT_OP_GLOB) &&
	       sqlite3_value_bytes(value) > UT_PATTERN_MOST;
}

static int event_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
			sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;

	read_plan(c, number, plan, argc);
	ut_scan_clear(&c->scan);
	for (int i = 0; i < argc; i++) {
		enum ut_field f = c->steps[i].field;
		struct ut_match match;

		if (is_pattern_too_long(c->steps[i].op, argv[i])) {
			sqlite3_free(cursor->pVtab->zErrMsg);
			cursor->pVtab->zErrMsg =
				sqlite3_mprintf("LIKE or GLOB pattern too complex");
			return SQLITE_ERROR;
		}
		ut_match_init(&match, c->steps[i].op, ut_field_is_text(f), argv[i]);
		ut_scan_add(&c->scan, f, &match);
	}
	if (number == PLAN_BY_TS)
		ut_scan_by_ts(&c->scan);
	else if (number != PLAN_BY_ID)
		ut_scan_grouped(&c->scan, c->grouped, c->grouped_count, number == PLAN_DISTINCT);
	else
		ut_scan_start(&c->scan);
	return event_next(cursor);
}

static int event_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->end;
}

static int event_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = ut_datum_clamp(ut_place_id(&((struct cursor *)cursor)->scan.at));
	return SQLITE_OK;
}

static int event_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct ut_sql_vtab *v = (const struct ut_sql_vtab *)cursor->pVtab;

	ut_sql_result_field(ctx, v->traces, &c->scan.at, (enum ut_field)v->table->columns[i].what,
			    &c->args);
	return SQLITE_OK;
}

static const sqlite3_module event_module = {
	.iVersion = 1,
	.xConnect = ut_sql_connect,
	.xBestIndex = event_best_index,
	.xDisconnect = ut_sql_disconnect,
	.xOpen = event_open,
	.xClose = event_close,
	.xFilter = event_filter,
	.xNext = event_next,
	.xEof = event_eof,
	.xColumn = event_column,
	.xRowid = event_rowid,
};

#define KIND(kind) (1u << UT_KIND_##kind)

const struct ut_sql_table ut_sql_slice = {
	.name = "slice",
	.doc = "what took time: spans, overlapping (async) spans; and instants, which took none",
	.columns = slice_columns,
	.module = &event_module,
	.kinds = KIND(SPAN) | KIND(ASYNC_BEGIN) | KIND(INSTANT) | KIND(ASYNC_INSTANT),
};

const struct ut_sql_table ut_sql_instant = {
	.name = "instant",
	.doc = "what happened at one moment",
	.columns = instant_columns,
	.module = &event_module,
	.kinds = KIND(INSTANT) | KIND(ASYNC_INSTANT),
};

const struct ut_sql_table ut_sql_counter = {
	.name = "counter",
	.doc = "values over time",
	.columns = counter_columns,
	.module = &event_module,
	.kinds = KIND(COUNTER),
};

const struct ut_sql_table ut_sql_sample = {
	.name = "sample",
	.doc = "what ran at a moment: samples of threads and of queues of devices",
	.columns = sample_columns,
	.module = &event_module,
	.kinds = KIND(SAMPLE),
};

const struct ut_sql_table ut_sql_event = {
	.name = "event",
	.doc = "every row of the traces, whatever its kind",
	.columns = event_columns,
	.module = &event_module,
	.kinds = (1u << UT_KIND_COUNT) - 1,
};
