/* table_args.c - args: the arguments of events, tracks and processes, a row each. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "query/arg.h"
#include "query/owner.h"
#include "query/scan.h"
#include "text/arg_json.h"

enum what {
	ARG_SET,
	EVENT,
	KEY,
	FLAT_KEY,
	VALUE_TYPE,
	VALUE,
	STRING,
	INTEGER,
	REAL,
	JSON,
	KEY_ID,
	ELEMENT,
};

static const struct ut_sql_column columns[] = {
	{ "arg_set_id", "INTEGER", "the list: slice.arg_set_id, track.arg_set_id, ...", ARG_SET,
	  false },
	{ "event_id", "INTEGER", "the event that has it: slice.id, instant.id, ...; NULL = none",
	  EVENT, false },
	{ "key", "TEXT", "name of the argument; key[0], key[1], ... for the elements of an array",
	  KEY, false },
	{ "flat_key", "TEXT", "name of the argument without the [number]", FLAT_KEY, false },
	{ "value_type", "TEXT", "string, uint, int, real, pointer, bool or json", VALUE_TYPE,
	  false },
	{ "value", "", "the value as text, integer or real", VALUE, false },
	{ "string_value", "TEXT", "the value of a string or pointer, the text of json", STRING,
	  false },
	{ "int_value", "INTEGER", "the value of an integer, bool or pointer", INTEGER, false },
	{ "real_value", "REAL", "the value of a real", REAL, false },
	{ "json", "TEXT", "the value as JSON", JSON, false },
	{ "key_id", "INTEGER", "number of flat_key among the strings of its trace", KEY_ID, true },
	{ "element", "INTEGER", "which element of an array it is; NULL = of none", ELEMENT, true },
	{ 0 },
};

enum plan {
	PLAN_ALL,
	PLAN_SET,   /* arg_set_id = ? */
	PLAN_EVENT, /* event_id = ? */
};

/* Goes from list to list (next_list) and from argument to argument. */
struct cursor {
	sqlite3_vtab_cursor base; /* first */
	struct ut_scan scan;      /* events, when all lists are wanted */
	bool scanning;
	uint32_t track, tracks;      /* then the tracks from here to there, ... */
	uint32_t process, processes; /* ... then the processes */
	int64_t set;
	bool has_event;
	uint64_t event;
	struct ut_arg_list list;
	size_t at;
	size_t element; /* of an array */
	bool end;
};

static struct ut_traces *traces_of(const struct cursor *c)
{
	return ((struct ut_sql_vtab *)c->base.pVtab)->traces;
}

static int args_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct ut_sql_vtab *v = (const struct ut_sql_vtab *)vtab;
	static char by_set[] = "arg_set_id = ?", by_event[] = "event_id = ?";
	double rows = 4 * (double)v->traces->row_count + 1;

	info->estimatedCost = rows;
	info->estimatedRows = (sqlite3_int64)rows;
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;

		if (!info->aConstraint[i].usable || (column != ARG_SET && column != EVENT) ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = column == ARG_SET ? PLAN_SET : PLAN_EVENT;
		info->idxStr = column == ARG_SET ? by_set : by_event;
		info->estimatedRows = 4;
		info->estimatedCost = 8;
		break;
	}
	return SQLITE_OK;
}

static int args_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct cursor *c = ut_make(sizeof(*c));

	ut_scan_init(&c->scan, ((struct ut_sql_vtab *)vtab)->traces, (1u << UT_KIND_COUNT) - 1);
	*cursor = &c->base;
	return SQLITE_OK;
}

static int args_close(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	ut_scan_release(&c->scan);
	free(c->list.items);
	free(c);
	return SQLITE_OK;
}

static void take_list(struct cursor *c, int64_t set)
{
	c->set = set;
	c->at = c->element = 0;
	ut_arg_list_get(&c->list, traces_of(c), set);
}

/* The next list that is not empty; at the end there is none. Returns an SQLite code. */
static int next_list(struct cursor *c)
{
	const struct ut_traces *t = traces_of(c);

	while (c->scanning) {
		const struct ut_place *p = &c->scan.at;
		int rc = ut_scan_next(&c->scan);

		if (rc < 0)
			return SQLITE_INTERRUPT;
		c->scanning = rc;
		if (!rc || !ut_place_args(t, p))
			continue;
		c->has_event = true;
		c->event = ut_place_id(p);
		take_list(c, ut_place_args(t, p));
		if (c->list.count)
			return SQLITE_OK;
	}
	c->has_event = false;
	while (c->track < c->tracks) {
		const struct ut_qtrack *k = &t->tracks[c->track++];

		take_list(c, ut_arg_set(k->trace, true, k->track->args));
		if (c->list.count)
			return SQLITE_OK;
	}
	while (c->process < c->processes) {
		const struct ut_qprocess *p = &t->processes[c->process++];

		take_list(c, ut_arg_set(p->trace, true, p->process->args));
		if (c->list.count)
			return SQLITE_OK;
	}
	c->end = true;
	return SQLITE_OK;
}

static int args_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	unsigned int flags = c->list.items[c->at].flags;

	c->element = (flags & UT_ARG_ARRAY) && (flags & UT_ARG_MORE) ? c->element + 1 : 0;
	return ++c->at < c->list.count ? SQLITE_OK : next_list(c);
}

static void start_event(struct cursor *c, int64_t id)
{
	struct ut_place p;

	if (id < 0 || !ut_traces_find(traces_of(c), (uint64_t)id, &p))
		return;
	c->has_event = true;
	c->event = (uint64_t)id;
	take_list(c, ut_place_args(traces_of(c), &p));
}

static int args_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
		       sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	struct ut_match match;
	int64_t low, high;

	(void)text;
	c->end = c->has_event = false;
	c->scanning = plan == PLAN_ALL;
	c->track = 0;
	c->tracks = plan == PLAN_ALL ? (uint32_t)traces_of(c)->track_count : 0;
	c->process = 0;
	c->processes = plan == PLAN_ALL ? (uint32_t)traces_of(c)->process_count : 0;
	c->list.count = 0;
	if (!argc) {
		ut_scan_start(&c->scan);
		return next_list(c);
	}
	ut_match_init(&match, UT_OP_EQ, false, argv[0]);
	ut_match_range(&match, &low, &high);
	ut_match_release(&match);
	if (low <= high && plan == PLAN_EVENT)
		start_event(c, low);
	else if (low <= high)
		take_list(c, low);
	c->end = !c->list.count;
	return SQLITE_OK;
}

static int args_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->end;
}

/* Unique as long as there are less than 2^14 traces. */
static int args_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	const struct cursor *c = (const struct cursor *)cursor;

	*id = (sqlite3_int64)((uint64_t)c->set << 16 | c->at);
	return SQLITE_OK;
}

static void result_event(sqlite3_context *ctx, struct cursor *c)
{
	bool of_no_event = c->set >> 32 & 1;

	if (!c->has_event && !of_no_event)
		c->has_event = ut_owner_find(traces_of(c), c->set, &c->event);
	if (c->has_event)
		ut_sql_result_u64(ctx, c->event);
}

static void result_key(sqlite3_context *ctx, const struct cursor *c, const struct ut_arg *arg)
{
	struct ut_str key = ut_strtab_get(c->list.strings, arg->key);
	struct ut_buf b = { 0 };

	if (!(arg->flags & UT_ARG_ARRAY)) {
		ut_sql_result_text(ctx, key);
		return;
	}
	ut_buf_add(&b, key.ptr, key.len);
	ut_buf_fmt(&b, "[%zu]", c->element);
	sqlite3_result_text64(ctx, b.data, b.len, free, SQLITE_UTF8);
}

static const char *type_name(const struct ut_arg *arg)
{
	static const char *const names[] = {
		[UT_ARG_STR] = "string", [UT_ARG_U64] = "uint",    [UT_ARG_I64] = "int",
		[UT_ARG_F64] = "real",   [UT_ARG_PTR] = "pointer", [UT_ARG_BOOL] = "bool",
		[UT_ARG_JSON] = "json",
	};

	if (arg->flags & UT_ARG_TEXT)
		return names[UT_ARG_STR];
	return arg->type < sizeof(names) / sizeof(*names) ? names[arg->type] : NULL;
}

static void result_json(sqlite3_context *ctx, const struct cursor *c, const struct ut_arg *arg)
{
	struct ut_buf b = { 0 };

	ut_arg_json_value(&b, c->list.strings, arg);
	ut_sql_result_buf(ctx, &b);
}

static int args_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	struct cursor *c = (struct cursor *)cursor;
	struct ut_arg arg = c->list.items[c->at];
	bool text = arg.type == UT_ARG_STR || arg.type == UT_ARG_PTR || arg.type == UT_ARG_JSON ||
		    arg.flags & UT_ARG_TEXT;
	bool real = arg.type == UT_ARG_F64;

	if (i == ARG_SET)
		sqlite3_result_int64(ctx, c->set);
	else if (i == EVENT)
		result_event(ctx, c);
	else if (i == KEY)
		result_key(ctx, c, &arg);
	else if (i == FLAT_KEY)
		ut_sql_result_str(ctx, ut_strtab_get(c->list.strings, arg.key));
	else if (i == VALUE_TYPE)
		sqlite3_result_text(ctx, type_name(&arg), -1, SQLITE_STATIC);
	else if (i == JSON)
		result_json(ctx, c, &arg);
	else if (i == KEY_ID)
		sqlite3_result_int64(ctx, arg.key);
	else if (i == ELEMENT && arg.flags & UT_ARG_ARRAY)
		sqlite3_result_int64(ctx, (sqlite3_int64)c->element);
	else if (i == INTEGER && arg.type == UT_ARG_PTR)
		ut_sql_result_u64(ctx, arg.value.u64);
	else if (i == VALUE || (i == STRING && text) || (i == REAL && real) ||
		 (i == INTEGER && !text && !real)) {
		arg.flags &= UT_ARG_TEXT; /* the element alone */
		ut_sql_result_arg(ctx, c->list.strings, &arg, 1);
	}
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = ut_sql_connect,
	.xBestIndex = args_best_index,
	.xDisconnect = ut_sql_disconnect,
	.xOpen = args_open,
	.xClose = args_close,
	.xFilter = args_filter,
	.xNext = args_next,
	.xEof = args_eof,
	.xColumn = args_column,
	.xRowid = args_rowid,
};

const struct ut_sql_table ut_sql_args = {
	.name = "args",
	.doc = "the arguments of events, tracks and processes, one row each",
	.columns = columns,
	.module = &module,
	.collation = UT_ARG_KEY_COLLATION,
};
