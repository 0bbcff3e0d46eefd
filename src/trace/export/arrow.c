/*
 * arrow.c - one row per event, typed, for pandas, polars, DuckDB, Spark, as Arrow's file format or
 * as Parquet; see docs/formats/arrow.md.
 *
 * Columns are those of CSV. Events are gathered for a batch and written, so memory stays flat.
 */
#include "export/exporter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_file.h"
#include "arrow/arrow_table.h"
#include "arrow/parquet_file.h"
#include "base/grow.h"
#include "export/args_json.h"
#include "export/event_words.h"
#include "model/counter.h"
#include "model/pairs.h"
#include "model/store.h"
#include "model/trace.h"
#include "text/out.h"

#define BATCH_ROWS 65536
#define GROUP_ROWS 131072 /* of Parquet, which likes larger ones */

/* column, what it holds */
#define COLUMN_LIST(X)                                                                             \
	X(trace, INT)                                                                              \
	X(pid, TEXT) /* some tools have texts for it */                                            \
	X(process, TEXT)                                                                           \
	X(rank, SMALL)                                                                             \
	X(tid, TEXT)                                                                               \
	X(track, TEXT)                                                                             \
	X(kind, TEXT)                                                                              \
	X(ts_ns, INT)                                                                              \
	X(dur_ns, INT)                                                                             \
	X(name, TEXT)                                                                              \
	X(category, TEXT)                                                                          \
	X(depth, INT)                                                                              \
	X(value, REAL)                                                                             \
	X(unit, TEXT)                                                                              \
	X(id, INT)                                                                                 \
	X(flags, TEXT)                                                                             \
	X(args, TEXT)

static const char *const names[] = {
#define COLUMN_NAME(name, kind) #name,
	COLUMN_LIST(COLUMN_NAME)
#undef COLUMN_NAME
};

static const enum ut_arrow_kind column_kinds[] = {
#define COLUMN_KIND(name, kind) UT_ARROW_KIND_##kind,
	COLUMN_LIST(COLUMN_KIND)
#undef COLUMN_KIND
};

struct arrow {
	struct ut_sink sink;
	struct ut_arrow_table *table;
	struct ut_arrow_file *file; /* or */
	struct ut_parquet *parquet;
	int64_t batch_rows;
	struct ut_out *scratch;
	struct ut_pairs pairs;   /* also how many traces are complete */
	struct ut_depth *depths; /* one per track */
	size_t depth_cap;
};

/* ---- cells --------------------------------------------------------------------------------- */

static void add_string(struct arrow *a, const struct ut_trace *t, uint32_t id)
{
	struct ut_str text = ut_strtab_get(&t->strings, id);

	if (text.len)
		ut_arrow_add_text(a->table, text);
	else
		ut_arrow_add_null(a->table);
}

/* Times and numbers are unsigned here and signed there. */
static void arrow_add_number(struct arrow *a, uint64_t value)
{
	ut_arrow_add_int(a->table, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

/* What was written into the scratch since it was started; nothing is null. */
static void add_scratch(struct arrow *a)
{
	struct ut_str text;

	text.ptr = ut_out_data(a->scratch, &text.len);
	if (text.len)
		ut_arrow_add_text(a->table, text);
	else
		ut_arrow_add_null(a->table);
}

static void start_scratch(struct arrow *a)
{
	size_t len;

	ut_out_advance(a->scratch, ut_out_data(a->scratch, &len));
}

static void add_id(struct arrow *a, const struct ut_trace *t, uint64_t id, uint32_t text)
{
	if (text) {
		add_string(a, t, text);
		return;
	}
	start_scratch(a);
	ut_out_u64(a->scratch, id);
	add_scratch(a);
}

static void arrow_add_place(struct arrow *a, const struct ut_trace *t, uint32_t index)
{
	const struct ut_track *track = &t->tracks[index];
	const struct ut_process *process = &t->processes[track->process];

	arrow_add_number(a, a->pairs.traces);
	add_id(a, t, process->pid, process->pid_text);
	add_string(a, t, process->name);
	if (process->rank >= 0)
		ut_arrow_add_int(a->table, process->rank);
	else
		ut_arrow_add_null(a->table);
	if (track->type == UT_TRACK_THREAD)
		add_id(a, t, track->id, track->id_text);
	else
		ut_arrow_add_null(a->table);
	add_string(a, t, track->name);
}

static void arrow_add_value(struct arrow *a, const struct ut_trace *t, const struct ut_event *e)
{
	if (e->kind == UT_KIND_COUNTER && !ut_counter_ends(e->val, e->flags))
		ut_arrow_add_real(a->table, ut_counter_value(e->val, e->flags));
	else if (e->kind == UT_KIND_SAMPLE && ut_sample_weight(e->val) != UT_SAMPLE_WEIGHT_ARG)
		ut_arrow_add_real(a->table, ut_sample_weight(e->val));
	else
		ut_arrow_add_null(a->table);
	add_string(a, t, e->kind == UT_KIND_COUNTER ? t->tracks[e->track].unit : 0);
}

static void add_args(struct arrow *a, const struct ut_trace *t, const struct ut_event *e)
{
	start_scratch(a);
	if (e->kind == UT_KIND_SAMPLE && ut_sample_has_stack(t, e))
		ut_sample_json(a->scratch, t, e);
	else if (e->args)
		ut_args_json(a->scratch, t, e->args);
	add_scratch(a);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void arrow_flush(struct arrow *a)
{
	struct ArrowArray batch;

	if (!ut_arrow_table_rows(a->table))
		return;
	ut_arrow_table_take(a->table, &batch);
	if (a->parquet)
		ut_parquet_add(a->parquet, &batch);
	else
		ut_arrow_file_add(a->file, &batch);
}

static void arrow_add_span(struct arrow *a, const struct ut_event *e)
{
	a->depths = ut_grow(a->depths, (size_t)e->track + 1, &a->depth_cap, sizeof(*a->depths));
	arrow_add_number(a, ut_depth_of(&a->depths[e->track], e));
}

static void arrow_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	struct arrow *a = (struct arrow *)sink;
	bool is_span = e->kind == UT_KIND_SPAN;

	if (e->kind >= UT_KIND_COUNT)
		return; /* from a newer collector; the importer has counted it */
	assert(e->track < t->track_count);
	arrow_add_place(a, t, e->track);
	ut_arrow_add_text(a->table, ut_str_of(ut_kind_words[e->kind]));
	arrow_add_number(a, e->ts);
	if (is_span)
		arrow_add_number(a, e->val);
	else
		ut_arrow_add_null(a->table);
	add_string(a, t, e->name);
	add_string(a, t, e->cat);
	if (is_span)
		arrow_add_span(a, e);
	else
		ut_arrow_add_null(a->table);
	arrow_add_value(a, t, e);
	if (ut_pairs_has(e))
		arrow_add_number(a, ut_pairs_of(&a->pairs, e));
	else
		ut_arrow_add_null(a->table);
	start_scratch(a);
	ut_flag_words(a->scratch, e->flags);
	add_scratch(a);
	add_args(a, t, e);
	if (ut_arrow_table_rows(a->table) == a->batch_rows)
		arrow_flush(a);
}

/* ---- the file ------------------------------------------------------------------------------ */

static struct arrow *make_sink(struct ArrowSchema *schema, int64_t batch_rows)
{
	struct arrow *a = ut_make(sizeof(*a));

	a->sink.event = arrow_event;
	a->batch_rows = batch_rows;
	a->scratch = ut_out_open_memory();
	a->table = ut_arrow_table_new(names, sizeof(names) / sizeof(names[0]));
	ut_arrow_table_fix(a->table, column_kinds);
	ut_arrow_table_schema(a->table, schema);
	return a;
}

static struct ut_sink *arrow_open(struct ut_out *out)
{
	struct ArrowSchema schema;
	struct arrow *a = make_sink(&schema, BATCH_ROWS);

	a->file = ut_arrow_file_begin(out, &schema);
	return &a->sink;
}

static struct ut_sink *parquet_open(struct ut_out *out)
{
	struct ArrowSchema schema;
	struct arrow *a = make_sink(&schema, GROUP_ROWS);

	a->parquet = ut_parquet_begin(out, &schema);
	return &a->sink;
}

static void arrow_end_trace(struct ut_sink *sink, const struct ut_trace *t)
{
	struct arrow *a = (struct arrow *)sink;

	(void)t;
	for (size_t i = 0; i < a->depth_cap; i++)
		ut_depth_release(&a->depths[i]);
	ut_pairs_end_trace(&a->pairs);
}

static void arrow_close(struct ut_sink *sink)
{
	struct arrow *a = (struct arrow *)sink;

	for (size_t i = 0; i < a->depth_cap; i++)
		ut_depth_release(&a->depths[i]);
	free(a->depths);
	arrow_flush(a);
	if (a->parquet)
		ut_parquet_end(a->parquet);
	else
		ut_arrow_file_end(a->file);
	ut_arrow_table_free(a->table);
	ut_out_abandon(a->scratch);
	free(a);
}

const struct ut_exporter ut_export_arrow = {
	.name = "arrow",
	.suffix = ".arrow",
	.open = arrow_open,
	.end_trace = arrow_end_trace,
	.close = arrow_close,
};

const struct ut_exporter ut_export_parquet = {
	.name = "parquet",
	.suffix = ".parquet",
	.open = parquet_open,
	.end_trace = arrow_end_trace,
	.close = arrow_close,
};
