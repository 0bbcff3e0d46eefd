#include "query/sample.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void sample_init(struct sample *s)
{
	int rc;

	*s = (struct sample){ 0 };
	rc = ut_query_open(&s->query, 2, &s->err);
	assert(!rc);
	(void)rc;
	ut_build_init(&s->build);
}

void sample_release(struct sample *s)
{
	ut_query_close(s->query);
	ut_build_abandon(&s->build);
	for (size_t i = 0; i < s->count; i++)
		ut_store_release(&s->stores[i]);
	ut_buf_release(&s->answer);
}

uint32_t sample_str(struct sample *s, const char *text)
{
	return ut_strtab_intern_z(&s->build.store.trace.strings, text);
}

uint32_t sample_process(struct sample *s, uint64_t pid, const char *name, int32_t rank)
{
	uint32_t i = ut_trace_add_process(&s->build.store.trace, pid);

	s->build.store.trace.processes[i].name = sample_str(s, name);
	s->build.store.trace.processes[i].rank = rank;
	return i;
}

uint32_t sample_track(struct sample *s, uint32_t process, enum ut_track_type type, uint64_t id,
		      const char *name)
{
	uint32_t i = ut_trace_add_track(&s->build.store.trace, process, type);

	s->build.store.trace.tracks[i].id = id;
	s->build.store.trace.tracks[i].name = sample_str(s, name);
	return i;
}

static uint32_t type_of(struct sample *s, enum ut_kind kind, const char *name)
{
	const struct ut_type type = { .name = sample_str(s, name), .kind = (uint8_t)kind };

	return ut_types_intern(&s->build.store.types, &type);
}

void sample_event(struct sample *s, uint32_t track, enum ut_kind kind, const char *name,
		  uint64_t ts, uint64_t val)
{
	ut_build_add(&s->build, track, ts, val, type_of(s, kind, name), 0);
}

struct ut_arg sample_arg(struct sample *s, const char *key, enum ut_arg_type type, uint64_t value)
{
	return (struct ut_arg){ .key = sample_str(s, key),
				.type = (uint8_t)type,
				.value.u64 = value };
}

void sample_event_arg(struct sample *s, uint32_t track, const char *name, uint64_t ts, uint64_t val,
		      struct ut_arg arg)
{
	ut_build_add(&s->build, track, ts, val, type_of(s, UT_KIND_SPAN, name),
		     ut_arglists_add(&s->build.store.args, &arg, 1));
}

void sample_next(struct sample *s, const char *path)
{
	struct ut_store *store = &s->stores[s->count++];

	assert(s->count <= SAMPLE_TRACES);
	ut_build_finish(&s->build, store);
	ut_build_init(&s->build);
	ut_query_add(s->query, path, store);
}

struct answer {
	struct ut_buf *to;
	size_t columns;
};

static void begin(void *ctx, size_t columns, const char *const *names)
{
	struct answer *a = ctx;

	(void)names;
	a->columns = columns;
}

static void put(struct ut_buf *to, const struct ut_value *v)
{
	switch (v->type) {
	case UT_VALUE_NULL:
		ut_buf_text(to, "NULL");
		break;
	case UT_VALUE_INT:
		ut_buf_fmt(to, "%" PRId64, v->number);
		break;
	case UT_VALUE_REAL:
		ut_buf_fmt(to, "%.12g", v->real);
		if (v->real == (double)(int64_t)v->real)
			ut_buf_text(to, ".0");
		break;
	case UT_VALUE_TEXT:
	case UT_VALUE_BLOB:
		ut_buf_add(to, v->text, v->len);
		break;
	}
}

static int row(void *ctx, const struct ut_value *values)
{
	struct answer *a = ctx;

	for (size_t i = 0; i < a->columns; i++) {
		if (i)
			ut_buf_char(a->to, '|');
		put(a->to, &values[i]);
	}
	ut_buf_char(a->to, '\n');
	return 0;
}

static void end(void *ctx)
{
	(void)ctx;
}

const char *sample_ask(struct sample *s, const char *sql)
{
	struct answer a = { .to = &s->answer };
	const struct ut_result result = { &a, begin, row, end };

	s->err = (struct ut_err){ 0 };
	s->answer.len = 0;
	ut_buf_text(&s->answer, "");
	if (ut_query_run(s->query, sql, &result, &s->err)) {
		s->answer.len = 0;
		ut_buf_text(&s->answer, s->err.text);
	}
	return s->answer.data;
}
