/*
 * read_input.c - a file: an array of events, or an object that has one among other things.
 */
#include "acelyzer/read_input.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/read_event.h"
#include "acelyzer/read_store.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/source.h"

#define MOST_META (16u << 20) /* bytes of a member that is repeated in the output */

static ssize_t read_input_read_text(void *ctx, void *to, size_t len, struct ut_err *err)
{
	struct ut_ace_text *t = ctx;
	ssize_t n;

	if (!t->source->seekable)
		return ut_source_read(t->source, to, len, err);
	n = ut_source_read_at(t->source, to, len, t->offset, err);
	t->offset += n > 0 ? (uint64_t)n : 0;
	return n;
}

/* Tries again with more text as long as that helps. */
#define UNTIL_DONE(j, ok, expression)                                                              \
	do {                                                                                       \
		ut_json_mark(j);                                                                   \
		do                                                                                 \
			(ok) = (expression);                                                       \
		while (!(ok) && ut_json_again(j));                                                 \
	} while (0)

/* The next event of the list. One that is not ours stays ahead of the cursor, with its comma. */
static bool read_next(struct ut_ace_reader *r)
{
	struct ut_json *j = &r->json;

	if (!ut_json_element(j))
		return false;
	if (ut_json_offset(j, j->at) < r->stop)
		return ut_ace_read_event(r);
	r->stopped = ut_json_offset(j, j->at);
	j->at = j->mark;
	j->fresh = j->mark_fresh;
	return false;
}

int ut_ace_read_list(struct ut_ace_reader *r)
{
	bool more;

	r->stopped = 0;
	do
		UNTIL_DONE(&r->json, more, read_next(r));
	while (more);
	return r->json.trouble;
}

static int read_input_read_events(struct ut_ace_reader *r)
{
	ut_json_enter(&r->json);
	return ut_ace_can_split(r) ? ut_ace_read_split(r) : ut_ace_read_list(r);
}

/* Events one behind the other, as some tools write them: a line each. */
static int read_input_read_lines(struct ut_ace_reader *r)
{
	struct ut_json *j = &r->json;
	bool more;

	do
		UNTIL_DONE(j, more, ut_json_peek(j) == '{' && ut_ace_read_event(r));
	while (more);
	if (j->trouble == UT_JSON_SHORT && j->at >= j->end)
		return UT_JSON_NONE;
	return j->trouble;
}

static char *read_input_copy_text(const char *s, size_t len)
{
	char *copy = ut_make(len + 1);

	memcpy(copy, s, len);
	return copy;
}

static void read_input_add_meta(struct ut_ace_part *p, const char *key, struct ut_str value)
{
	struct ut_buf b = { 0 };

	ut_json_minify(value, &b);
	p->meta = ut_grow(p->meta, p->meta_count + 1, &p->meta_cap, sizeof(*p->meta));
	p->meta[p->meta_count].key = read_input_copy_text(key, strlen(key));
	p->meta[p->meta_count++].json = read_input_copy_text(b.data ? b.data : "", b.len);
	ut_buf_release(&b);
}

/* The value of a key of the object at the cursor. */
static bool find_member(struct ut_str object, const char *name, struct ut_str *value,
			struct ut_json *copy)
{
	struct ut_str key;

	ut_json_init_text(copy, object.ptr, object.len);
	if (ut_json_peek(copy) != '{')
		return false;
	ut_json_enter(copy);
	while (ut_json_member(copy, &key) && ut_json_skip(copy, value)) {
		if (ut_str_is(key, name))
			return true;
	}
	return false;
}

static void read_rank(struct ut_ace_part *p, struct ut_str info)
{
	struct ut_str value;
	struct ut_json_number n;
	struct ut_json copy;

	if (find_member(info, "rank", &value, &copy) && ut_json_number(value, &n) == UT_JSON_U64 &&
	    n.u64 <= INT16_MAX)
		p->rank = p->reported_rank = (int64_t)n.u64;
	ut_json_release(&copy);
}

static void read_other(struct ut_ace_part *p, struct ut_str other)
{
	struct ut_str value;
	struct ut_json copy;

	if (find_member(other, "Application", &value, &copy))
		p->processed = memmem(value.ptr, value.len, "Acelyzer", 8) != NULL;
	ut_json_release(&copy);
}

static int read_input_read_member(struct ut_ace_reader *r, const char *key, bool *found)
{
	struct ut_json *j = &r->json;
	struct ut_str value;
	bool ok;

	UNTIL_DONE(j, ok, ut_json_peek(j) != 0);
	if (!ok)
		return j->trouble;
	if (!strcmp(key, "traceEvents") && *j->at == '[') {
		*found = true;
		return read_input_read_events(r);
	}
	if (!ut_json_hold(j, &value))
		return j->trouble;
	if (!strcmp(key, "distributedInfo"))
		read_rank(r->part, value);
	else if (!strcmp(key, "otherData"))
		read_other(r->part, value);
	else if (value.len <= MOST_META)
		read_input_add_meta(r->part, key, value);
	if (!strcmp(key, "deviceProperties"))
		r->part->dialect = UT_ACE_TORCH;
	ut_json_skip(j, NULL);
	return j->trouble;
}

/* Is the object at the cursor an event rather than a file's frame? */
static bool is_event(struct ut_json *j)
{
	struct ut_str value, all;
	struct ut_json copy;
	bool yes;

	if (!ut_json_hold(j, &all))
		return false;
	yes = find_member(all, "ph", &value, &copy);
	ut_json_release(&copy);
	return yes;
}

static int read_object(struct ut_ace_reader *r)
{
	struct ut_json *j = &r->json;
	struct ut_str key = { NULL, 0 };
	bool found = false, more;
	int trouble = 0;

	ut_json_enter(j);
	for (;;) {
		char *name;

		UNTIL_DONE(j, more, ut_json_member(j, &key));
		if (!more)
			break;
		name = read_input_copy_text(key.ptr, key.len);
		trouble = read_input_read_member(r, name, &found);
		free(name);
		if (trouble)
			return trouble;
	}
	return j->trouble;
}

static int read_json(struct ut_ace_reader *r)
{
	struct ut_json *j = &r->json;
	bool ok;

	UNTIL_DONE(j, ok, ut_json_peek(j) != 0);
	if (!ok)
		return j->eof && j->at >= j->end ? UT_JSON_NONE : j->trouble;
	if (*j->at == '[')
		return read_input_read_events(r);
	/* A small file may be one event per line; a large one never starts with a huge object. */
	if (j->eof && is_event(j))
		return read_input_read_lines(r);
	return read_object(r);
}

/* What became of begins without an end. */
static void drop_open(struct ut_ace_part *p)
{
	struct ut_ace_table *t = &p->table;

	for (size_t i = 0; i < t->event_count; i++) {
		if (t->events[i].flags & UT_ACE_OPEN) {
			t->events[i].flags |= UT_ACE_DROP;
			p->open_begins++;
		}
		t->events[i].link = 0;
	}
}

static void note_repairs(struct ut_ace_part *p, const struct ut_json *j)
{
	static const char *const words[] = {
#define WORD(kind, text) text,
		UT_JSON_REPAIR_LIST(WORD)
#undef WORD
	};
	struct ut_buf b = { 0 };

	for (int i = 0; i < UT_JSON_REPAIRS; i++) {
		if (j->repairs[i].count)
			ut_buf_fmt(&b, "%s%llu x %s (first at offset %llu)", b.len ? ", " : "",
				   (unsigned long long)j->repairs[i].count, words[i],
				   (unsigned long long)j->repairs[i].first);
	}
	p->repairs = b.data;
}

static int read_input_finish(struct ut_ace_reader *r, const char *path, int trouble,
			     struct ut_err *err)
{
	struct ut_ace_part *p = r->part;
	int rc = 0;

	if (trouble == UT_JSON_SHORT)
		p->cut_at = ut_json_offset(&r->json, r->json.end);
	else if (trouble)
		rc = ut_json_error(&r->json, path, err);
	note_repairs(p, &r->json);
	drop_open(p);
	ut_ace_reader_release(r);
	if (rc)
		ut_ace_part_release(p);
	return rc;
}

void ut_ace_reader_init(struct ut_ace_reader *r, struct ut_ace_part *p, const char *path,
			enum ut_ace_release release)
{
	*p = (struct ut_ace_part){ .rank = -1, .reported_rank = -1 };
	ut_ace_table_init(&p->table);
	ut_ace_job_add(&p->table, path);
	*r = (struct ut_ace_reader){
		.part = p, .table = &p->table, .release = release, .stop = UINT64_MAX
	};
	r->args = ut_grow(NULL, 16, &r->arg_cap, sizeof(*r->args));
	ut_idmap_init(&r->open, &p->table.arena);
}

void ut_ace_reader_release(struct ut_ace_reader *r)
{
	ut_json_release(&r->json);
	free(r->args);
	free(r->text);
}

void ut_ace_reader_open(struct ut_ace_reader *r, struct ut_source *source, uint64_t offset)
{
	r->text_from = (struct ut_ace_text){ source, offset };
	ut_json_init(&r->json, read_input_read_text, &r->text_from, offset);
}

int ut_ace_read_text(struct ut_ace_part *part, const char *path, const char *text, size_t len,
		     enum ut_ace_release release, struct ut_err *err)
{
	struct ut_ace_reader r;

	ut_ace_reader_init(&r, part, path, release);
	ut_json_init_text(&r.json, text, len);
	return read_input_finish(&r, path, read_json(&r), err);
}

/* Names decide as they do in the reference: a log may well start like JSON. */
static bool is_called_log(const char *path)
{
	return strstr(path, ".log") && !strstr(path, ".json") && !strstr(path, ".pftrace");
}

/* Does it start like JSON; like a log (a time of day at the start of a line)? */
static bool looks_like_json(const struct ut_source *s)
{
	size_t i = 0;

	while (i < s->head_len && (isspace((unsigned char)s->head[i]) || !s->head[i]))
		i++;
	if (s->head_len >= 3 && !memcmp(s->head, "\xef\xbb\xbf", 3))
		return true;
	return i == s->head_len || s->head[i] == '[' || s->head[i] == '{';
}

static bool looks_like_log(const struct ut_source *s)
{
	const char *h = s->head;

	return s->head_len > 4 && h[0] >= '0' && h[0] <= '2' && isdigit((unsigned char)h[1]) &&
	       h[2] == ':' && h[3] == '0';
}

int ut_ace_read(struct ut_ace_part *part, const char *path, enum ut_ace_release release,
		unsigned int threads, struct ut_err *err)
{
	struct ut_ace_reader r;
	struct ut_source source;
	int rc = ut_source_open(&source, path, err);

	if (rc)
		return rc;
	if (is_called_log(path) || !looks_like_json(&source)) {
		bool log = is_called_log(path) || looks_like_log(&source);

		ut_source_close(&source);
		ut_ace_reader_init(&r, part, path, release);
		ut_ace_reader_release(&r);
		part->is_log = log;
		rc = log ? 0 : ut_ace_read_store(part, path, release, err);
		if (rc)
			ut_ace_part_release(part);
		return rc;
	}
	ut_ace_reader_init(&r, part, path, release);
	ut_ace_reader_open(&r, &source, 0);
	r.threads = threads;
	rc = read_input_finish(&r, path, read_json(&r), err);
	ut_source_close(&source);
	return rc;
}

void ut_ace_part_release(struct ut_ace_part *part)
{
	for (size_t i = 0; i < part->meta_count; i++) {
		free(part->meta[i].key);
		free(part->meta[i].json);
	}
	free(part->meta);
	free(part->repairs);
	ut_ace_table_release(&part->table);
	*part = (struct ut_ace_part){ 0 };
}
