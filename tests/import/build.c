/* build.c - see build.h. */
#include "import/build.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "import/spool/reader.h"

#define META_UNITS 16u

/* ---- writing ------------------------------------------------------------------------------- */

static uint64_t *words(struct build *b)
{
	return (uint64_t *)(void *)b->bytes;
}

static size_t add_chunk(struct build *b, size_t units, enum ut_chunk_kind kind)
{
	size_t at = b->size;
	struct ut_chunk *c;

	b->size += units * UT_CHUNK_UNIT;
	b->bytes = realloc(b->bytes, b->size);
	memset(b->bytes + at, 0, b->size - at);
	c = (struct ut_chunk *)(void *)(b->bytes + at);
	c->magic = UT_CHUNK_MAGIC;
	c->bytes = (uint32_t)(units * UT_CHUNK_UNIT);
	c->kind = kind;
	return (at + sizeof(*c)) / 8;
}

void build_start(struct build *b)
{
	struct ut_spool_header *h;

	*b = (struct build){ .size = UT_CHUNK_UNIT };
	b->bytes = calloc(1, b->size);
	h = build_header(b);
	memcpy(h->magic, UT_SPOOL_MAGIC, sizeof(h->magic));
	h->version = UT_SPOOL_VERSION;
	h->pid = 100;
	h->rank = -1;
	h->clock_source = UT_CLOCK_MONOTONIC;
	memcpy(h->name, "app", 4);
	b->meta_words = add_chunk(b, META_UNITS, UT_CHUNK_META) + 1;
	BUILD_DEFINE(b, DOMAIN, pair(1, build_name(b, "dom")));
	build_define(b, UT_REC_THREAD_INFO, (uint64_t[]){ pair(1, 100), 0 }, 2, "main\0\0\0\0", 8);
	build_define(b, UT_REC_THREAD_INFO, (uint64_t[]){ pair(2, 102), 0 }, 2, "two\0\0\0\0\0", 8);
}

void build_release(struct build *b)
{
	for (uint32_t i = 0; i < b->name_count; i++)
		free(b->names[i]);
	free(b->bytes);
	if (b->path[0])
		unlink(b->path);
	*b = (struct build){ 0 };
}

struct ut_spool_header *build_header(struct build *b)
{
	return (struct ut_spool_header *)(void *)b->bytes;
}

static size_t put_record(struct build *b, size_t at, uint64_t first, const uint64_t *from,
			 size_t count)
{
	words(b)[at++] = first;
	if (count)
		memcpy(words(b) + at, from, count * sizeof(*from));
	return at + count;
}

static size_t put_long(struct build *b, size_t at, uint64_t first, const uint64_t *from,
		       size_t count, const void *bytes, size_t len)
/* limits: where, what and its two kinds of content */
{
	at = put_record(b, at, first, from, count);
	if (len)
		memcpy(words(b) + at, bytes, len);
	return at + (len + 7) / 8;
}

void build_define(struct build *b, enum ut_rec type, const uint64_t *from, size_t count,
		  const void *bytes, size_t len)
{
	size_t total = 1 + count + (len + 7) / 8;

	assert_true((b->meta_words + total) * 8 < (META_UNITS + 1ul) * UT_CHUNK_UNIT);
	b->meta_words = put_long(b, b->meta_words, ut_word_long(UT_WORD_LONG, 0, type, total), from,
				 count, bytes, len);
}

uint32_t build_name(struct build *b, const char *text)
{
	uint64_t word;

	for (uint32_t i = 0; i < b->name_count; i++)
		if (!strcmp(b->names[i], text))
			return i + 1;
	assert_true(b->name_count < sizeof(b->names) / sizeof(b->names[0]));
	b->names[b->name_count++] = strdup(text);
	word = pair(b->name_count, (uint32_t)strlen(text));
	build_define(b, UT_REC_STRING, &word, 1, text, strlen(text));
	return b->name_count;
}

void build_chunk(struct build *b, size_t units)
{
	b->pos = add_chunk(b, units, UT_CHUNK_DATA);
	b->end = b->size / 8;
}

void build_bytes(struct build *b, enum ut_rec type, uint64_t ticks, const uint64_t *from,
		 size_t count, const void *bytes, size_t len)
/* limits: what, when and its two kinds of content */
{
	size_t total = 1 + count + (len + 7) / 8;

	if (!b->end)
		build_chunk(b, 1);
	assert_true(b->pos + total <= b->end);
	b->pos = put_long(b, b->pos, ut_word_long(UT_WORD_LONG, ticks, type, total), from, count,
			  bytes, len);
}

void build_part(struct build *b, uint32_t thread, uint32_t number, uint64_t ticks)
{
	BUILD_LONG(b, THREAD, ticks, ticks, pair(thread, number));
}

void build_thread(struct build *b, uint32_t thread, uint64_t ticks)
{
	build_part(b, thread, thread < 8 ? ++b->parts[thread] : 1, ticks);
}

void build_raw(struct build *b, uint64_t word)
{
	assert_true(b->pos < b->end);
	words(b)[b->pos++] = word;
}

void build_begin(struct build *b, uint64_t ticks, const char *name)
{
	build_raw(b, ut_word(UT_WORD_BEGIN, ticks, 1 | (uint64_t)build_name(b, name) << 8));
}

void build_end(struct build *b, uint64_t ticks)
{
	build_raw(b, ut_word(UT_WORD_END, ticks, 1));
}

const char *build_file(struct build *b)
{
	int fd;

	build_header(b)->next = b->size;
	snprintf(b->path, sizeof(b->path), "/tmp/ut_import_XXXXXX");
	fd = mkstemp(b->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->bytes, b->size), b->size);
	close(fd);
	return b->path;
}

/* ---- seeing -------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3))) say(struct seen *s, const char *format, ...)
{
	va_list args;

	s->text = ut_grow(s->text, s->len + 1024, &s->text_cap, 1);
	va_start(args, format);
	s->len += (size_t)vsnprintf(s->text + s->len, 1024, format, args);
	va_end(args);
}

static const char *text_of(const struct ut_trace *t, uint32_t id)
{
	return ut_strtab_get(&t->strings, id).ptr;
}

static void say_value(struct seen *s, const struct ut_trace *t, const struct ut_arg *a)
{
	switch ((enum ut_arg_type)a->type) {
	case UT_ARG_STR:
	case UT_ARG_JSON:
		say(s, "'%s'", text_of(t, a->value.str));
		break;
	case UT_ARG_I64:
		say(s, "%" PRId64, a->value.i64);
		break;
	case UT_ARG_F64:
		say(s, "%g", a->value.f64);
		break;
	case UT_ARG_PTR:
		say(s, "0x%" PRIx64, a->value.u64);
		break;
	case UT_ARG_END:
	case UT_ARG_U64:
	case UT_ARG_BOOL:
	default:
		say(s, "%" PRIu64, a->value.u64);
		break;
	}
}

static void say_args(struct seen *s, const struct ut_trace *t, uint32_t first)
{
	bool more = false;

	for (uint32_t i = first; t->args[i].type != UT_ARG_END; i++) {
		const struct ut_arg *a = &t->args[i];

		if (more)
			say(s, ";");
		else
			say(s, "%s%s=", i == first ? " {" : ", ", text_of(t, a->key));
		say_value(s, t, a);
		more = a->flags & UT_ARG_MORE;
	}
	if (t->args[first].type != UT_ARG_END)
		say(s, "}");
}

static void say_val(struct seen *s, const struct ut_event *e)
{
	double d;

	memcpy(&d, &e->val, sizeof(d));
	if (e->kind == UT_KIND_SPAN)
		say(s, "+%" PRIu64, e->val);
	else if (e->kind == UT_KIND_COUNTER && e->flags & UT_EV_DOUBLE)
		say(s, "=%g", d);
	else if (e->kind == UT_KIND_COUNTER && e->flags & UT_EV_SIGNED)
		say(s, "=%" PRId64, (int64_t)e->val);
	else if (e->kind == UT_KIND_COUNTER)
		say(s, "=%" PRIu64, e->val);
	else if (e->kind != UT_KIND_INSTANT)
		say(s, "#%" PRIu64, e->val);
}

static void see(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	static const char *const kinds[] = {
#define KIND_NAME(kind, text, val) text,
		UT_KIND_LIST(KIND_NAME)
#undef KIND_NAME
	};
	struct seen *s = (struct seen *)(void *)sink;

	contract_event(&s->contract, t, e);
	s->events = ut_grow(s->events, s->count + 1, &s->cap, sizeof(*s->events));
	s->events[s->count++] = *e;
	if (s->count > 1000)
		return; /* nobody reads that much text */
	say(s, "%s: %s %s %" PRIu64, text_of(t, t->tracks[e->track].name), kinds[e->kind],
	    text_of(t, e->name), e->ts);
	say_val(s, e);
	if (e->flags & UT_EV_UNFINISHED)
		say(s, " unfinished");
	if (e->flags & UT_EV_IMPLICIT_END)
		say(s, " implicit");
	if (e->flags & UT_EV_SCOPE_PROCESS)
		say(s, " process");
	if (e->flags & UT_EV_SCOPE_GLOBAL)
		say(s, " global");
	say_args(s, t, e->args);
	say(s, "\n");
}

void seen_import(struct seen *s, struct build *b)
{
	*s = (struct seen){ .contract.sink.event = see };
	ut_trace_init(&s->trace);
	say(s, "%s", "");
	assert_int_equal(ut_import_spool(build_file(b), &s->trace, &s->contract.sink, NULL), 0);
	contract_trace(&s->contract, &s->trace);
}

void seen_release(struct seen *s)
{
	contract_release(&s->contract);
	ut_trace_release(&s->trace);
	free(s->events);
	free(s->text);
	*s = (struct seen){ 0 };
}

void expect_events(struct build *b, const char *text)
{
	struct seen s;

	seen_import(&s, b);
	assert_string_equal(s.text, text);
	seen_release(&s);
	build_release(b);
}
