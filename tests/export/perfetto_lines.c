/* perfetto_lines.c - see perfetto_lines.h. */
#include "export/perfetto_lines.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/utf8.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"

struct message {
	const unsigned char *at, *end;
};

struct field {
	uint32_t number;
	uint64_t value;        /* varint, fixed64 */
	struct message inside; /* bytes */
};

struct reader {
	struct ut_buf text;
	uint64_t uuids[64];
	size_t uuid_count;
	struct message names[64], cats[64], keys[64]; /* by iid */
};

static uint64_t read_varint(struct message *m)
{
	uint64_t v = 0;

	for (int shift = 0;; shift += 7) {
		assert_true(m->at < m->end && shift < 70);
		v |= (uint64_t)(*m->at & 0x7f) << shift;
		if (!(*m->at++ & 0x80))
			return v;
	}
}

static bool next(struct message *m, struct field *f)
{
	uint64_t tag, len;

	if (m->at == m->end)
		return false;
	tag = read_varint(m);
	*f = (struct field){ .number = (uint32_t)(tag >> 3) };
	switch (tag & 7) {
	case 0:
		f->value = read_varint(m);
		break;
	case 1:
		assert_true(m->end - m->at >= 8);
		memcpy(&f->value, m->at, 8);
		m->at += 8;
		break;
	case 2:
		len = read_varint(m);
		assert_true((uint64_t)(m->end - m->at) >= len);
		f->inside = (struct message){ m->at, m->at + len };
		m->at += len;
		break;
	default:
		fail_msg("wire type %d", (int)(tag & 7));
	}
	return true;
}

static struct field get(struct message m, uint32_t number)
{
	struct field f;

	while (next(&m, &f)) {
		if (f.number == number)
			return f;
	}
	return (struct field){ 0 };
}

static void add_text(struct reader *r, const char *before, struct message m)
{
	if (!m.at)
		return;
	ut_buf_text(&r->text, before);
	ut_buf_add(&r->text, (const char *)m.at, (size_t)(m.end - m.at));
}

static size_t uuid_number(struct reader *r, uint64_t uuid)
{
	size_t i = 0;

	if (!uuid)
		return 0;
	while (i < r->uuid_count && r->uuids[i] != uuid)
		i++;
	if (i == r->uuid_count)
		r->uuids[r->uuid_count++] = uuid;
	return i + 1;
}

static void read_interned(struct reader *r, struct message m)
{
	struct field f;

	while (next(&m, &f)) {
		uint64_t iid = get(f.inside, INTERNED_IID).value;
		struct message text = get(f.inside, INTERNED_TEXT).inside;

		assert_true(iid > 0 && iid < 64);
		assert_true(ut_utf8_valid((const char *)text.at, (size_t)(text.end - text.at)));
		(f.number == INTERNED_NAMES        ? r->names
		 : f.number == INTERNED_CATEGORIES ? r->cats
						   : r->keys)[iid] = text;
	}
}

static void read_annotation(struct reader *r, struct message m, bool element)
{
	struct field f;

	ut_buf_text(&r->text, element ? "," : " ");
	while (next(&m, &f)) {
		if (f.number == ANNOTATION_NAME_IID)
			add_text(r, "", r->keys[f.value]);
		else if (f.number == ANNOTATION_NAME)
			add_text(r, "", f.inside);
		else if (f.number == ANNOTATION_ARRAY || f.number == ANNOTATION_DICT)
			read_annotation(r, f.inside, true);
		else if (f.number == ANNOTATION_STRING || f.number == ANNOTATION_JSON)
			add_text(r, "=", f.inside);
		else if (f.number == ANNOTATION_EXACT)
			add_text(r, "~", f.inside);
		else if (f.number == ANNOTATION_NAMELESS)
			ut_buf_text(&r->text, "?");
		else if (f.number == ANNOTATION_NESTED)
			ut_buf_fmt(&r->text, "={%d}", (int)get(f.inside, NESTED_TYPE).value);
		else
			ut_buf_fmt(&r->text, "=%" PRId64, (int64_t)f.value);
	}
}

static void read_event(struct reader *r, uint64_t ts, struct message m)
{
	static const char *const types[] = { "?", "begin", "end", "instant", "counter" };
	struct field f;
	double d;

	ut_buf_fmt(&r->text, "%s %" PRIu64 " on %zu", types[get(m, EVENT_TYPE).value], ts,
		   uuid_number(r, get(m, EVENT_TRACK_UUID).value));
	while (next(&m, &f)) {
		if (f.number == EVENT_NAME_IID)
			add_text(r, " ", r->names[f.value]);
		else if (f.number == EVENT_NAME)
			add_text(r, " ", f.inside);
		else if (f.number == EVENT_CATEGORY_IIDS)
			add_text(r, " @", r->cats[f.value]);
		else if (f.number == EVENT_ANNOTATIONS)
			read_annotation(r, f.inside, false);
		else if (f.number == EVENT_COUNTER)
			ut_buf_fmt(&r->text, " = %" PRId64, (int64_t)f.value);
		else if (f.number == EVENT_FLOWS)
			ut_buf_fmt(&r->text, " out %u", (unsigned int)f.value & 0xff);
		else if (f.number == EVENT_ENDING_FLOWS)
			ut_buf_fmt(&r->text, " in %u", (unsigned int)f.value & 0xff);
		else if (f.number == EVENT_DOUBLE_COUNTER) {
			memcpy(&d, &f.value, sizeof(d));
			ut_buf_fmt(&r->text, " = %g", d);
		}
	}
	ut_buf_text(&r->text, "\n");
}

static void read_descriptor(struct reader *r, struct message m)
{
	uint64_t parent = get(m, TRACK_PARENT).value;
	struct field process = get(m, TRACK_PROCESS), thread = get(m, TRACK_THREAD);
	struct field counter = get(m, TRACK_COUNTER);

	ut_buf_fmt(&r->text, "track %zu", uuid_number(r, get(m, TRACK_UUID).value));
	assert_int_equal(get(m, TRACK_CHILD_ORDERING).value, process.number ? ORDER_EXPLICIT : 0);
	if (parent)
		ut_buf_fmt(&r->text, " in %zu", uuid_number(r, parent));
	add_text(r, " ", get(m, TRACK_NAME).inside);
	if (process.number) {
		ut_buf_fmt(&r->text, " pid %d", (int)get(process.inside, PROCESS_PID).value);
		add_text(r, " ", get(process.inside, PROCESS_NAME).inside);
		add_text(r, " cmd ", get(process.inside, PROCESS_CMDLINE).inside);
		add_text(r, " host ", get(process.inside, PROCESS_LABELS).inside);
	}
	if (thread.number) {
		ut_buf_fmt(&r->text, " tid %d", (int)get(thread.inside, THREAD_TID).value);
		add_text(r, " ", get(thread.inside, THREAD_NAME).inside);
	}
	if (counter.number) {
		ut_buf_fmt(&r->text, " unit %d", (int)get(counter.inside, COUNTER_UNIT).value);
		add_text(r, " ", get(counter.inside, COUNTER_UNIT_NAME).inside);
	}
	ut_buf_text(&r->text, "\n");
}

static void read_clocks(struct reader *r, struct message m)
{
	struct field f;

	ut_buf_text(&r->text, "clocks");
	while (next(&m, &f)) {
		if (f.number == SNAPSHOT_CLOCKS)
			ut_buf_fmt(&r->text, " %d=%" PRIu64, (int)get(f.inside, CLOCK_ID).value,
				   get(f.inside, CLOCK_TIMESTAMP).value);
	}
	ut_buf_text(&r->text, "\n");
}

static void read_packet(struct reader *r, struct message m)
{
	uint64_t ts = get(m, PACKET_TIMESTAMP).value;
	uint64_t flags = get(m, PACKET_SEQUENCE_FLAGS).value;
	struct field defaults = get(m, PACKET_DEFAULTS), f;

	if (flags & SEQ_STATE_CLEARED)
		ut_buf_fmt(&r->text, "sequence %d clock %d\n",
			   (int)get(m, PACKET_SEQUENCE_ID).value,
			   (int)get(defaults.inside, DEFAULTS_CLOCK_ID).value);
	while (next(&m, &f)) {
		if (f.number == PACKET_TRACK_EVENT) {
			assert_int_equal(flags, SEQ_NEEDS_STATE);
			read_event(r, ts, f.inside);
		} else if (f.number == PACKET_TRACK_DESCRIPTOR) {
			read_descriptor(r, f.inside);
		} else if (f.number == PACKET_INTERNED_DATA) {
			read_interned(r, f.inside);
		} else if (f.number == PACKET_CLOCK_SNAPSHOT) {
			read_clocks(r, f.inside);
		}
	}
}

void perfetto_expect(struct script *s, const char *want)
{
	struct reader r = { 0 };
	struct message file;
	struct field f;

	script_end(s);
	file.at = (const unsigned char *)s->text;
	file.end = file.at + s->len;
	while (next(&file, &f)) {
		assert_int_equal(f.number, TRACE_PACKET);
		read_packet(&r, f.inside);
	}
	assert_string_equal(r.text.data, want);
	ut_buf_release(&r.text);
}
