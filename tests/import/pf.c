#include "import/pf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/exporter.h"
#include "import/perfetto/shared.h"
#include "model/perfetto_fields.h"
#include "text/out.h"

void pf_release(struct pf *f)
{
	ut_pbuf_release(&f->file);
	if (f->loaded)
		ut_store_release(&f->store);
	ut_buf_release(&f->warnings);
	ut_buf_release(&f->csv);
	*f = (struct pf){ 0 };
}

void pf_open(struct pf *f, uint32_t sequence, uint64_t flags)
{
	f->packet = ut_pbuf_begin(&f->file, TRACE_PACKET);
	ut_pbuf_varint(&f->file, PACKET_SEQUENCE_ID, sequence);
	if (flags)
		ut_pbuf_varint(&f->file, PACKET_SEQUENCE_FLAGS, flags);
}

void pf_close(struct pf *f)
{
	ut_pbuf_end(&f->file, f->packet);
}

void pf_text(struct pf *f, uint32_t field, const char *text)
{
	if (text)
		ut_pbuf_bytes(&f->file, field, text, strlen(text));
}

static size_t open_descriptor(struct pf *f, uint64_t uuid, uint64_t parent)
{
	size_t mark;

	pf_open(f, 1, 0);
	mark = ut_pbuf_begin(&f->file, PACKET_TRACK_DESCRIPTOR);
	ut_pbuf_varint(&f->file, TRACK_UUID, uuid);
	if (parent)
		ut_pbuf_varint(&f->file, TRACK_PARENT, parent);
	return mark;
}

static void close_descriptor(struct pf *f, size_t mark)
{
	ut_pbuf_end(&f->file, mark);
	pf_close(f);
}

void pf_process(struct pf *f, uint64_t uuid, int32_t pid, const char *name)
{
	size_t mark = open_descriptor(f, uuid, 0);
	size_t inside = ut_pbuf_begin(&f->file, TRACK_PROCESS);

	ut_pbuf_varint(&f->file, PROCESS_PID, (uint64_t)(int64_t)pid);
	pf_text(f, PROCESS_NAME, name);
	ut_pbuf_end(&f->file, inside);
	close_descriptor(f, mark);
}

void pf_thread(struct pf *f, uint64_t uuid, int32_t pid, int64_t tid, const char *name)
{
	size_t mark = open_descriptor(f, uuid, 0);
	size_t inside = ut_pbuf_begin(&f->file, TRACK_THREAD);

	ut_pbuf_varint(&f->file, THREAD_PID, (uint64_t)(int64_t)pid);
	ut_pbuf_varint(&f->file, THREAD_TID, (uint64_t)tid);
	pf_text(f, THREAD_NAME, name);
	ut_pbuf_end(&f->file, inside);
	close_descriptor(f, mark);
}

void pf_lane(struct pf *f, uint64_t uuid, uint64_t parent, const char *name)
{
	size_t mark = open_descriptor(f, uuid, parent);

	pf_text(f, TRACK_NAME, name);
	close_descriptor(f, mark);
}

void pf_counter(struct pf *f, uint64_t uuid, uint64_t parent, const char *name)
{
	size_t mark = open_descriptor(f, uuid, parent);

	pf_text(f, TRACK_NAME, name);
	ut_pbuf_bytes(&f->file, TRACK_COUNTER, "", 0);
	close_descriptor(f, mark);
}

size_t pf_event_open(struct pf *f, uint64_t ts, uint64_t type, uint64_t uuid)
{
	size_t mark;

	pf_open(f, 1, 0);
	ut_pbuf_varint(&f->file, PACKET_TIMESTAMP, ts);
	mark = ut_pbuf_begin(&f->file, PACKET_TRACK_EVENT);
	if (type)
		ut_pbuf_varint(&f->file, EVENT_TYPE, type);
	ut_pbuf_varint(&f->file, EVENT_TRACK_UUID, uuid);
	return mark;
}

void pf_event_close(struct pf *f, size_t event)
{
	ut_pbuf_end(&f->file, event);
	pf_close(f);
}

void pf_begin(struct pf *f, uint64_t ts, uint64_t uuid, const char *name)
{
	size_t event = pf_event_open(f, ts, TYPE_SLICE_BEGIN, uuid);

	pf_text(f, EVENT_NAME, name);
	pf_event_close(f, event);
}

void pf_end(struct pf *f, uint64_t ts, uint64_t uuid)
{
	pf_event_close(f, pf_event_open(f, ts, TYPE_SLICE_END, uuid));
}

void pf_instant(struct pf *f, uint64_t ts, uint64_t uuid, const char *name)
{
	size_t event = pf_event_open(f, ts, TYPE_INSTANT, uuid);

	pf_text(f, EVENT_NAME, name);
	pf_event_close(f, event);
}

void pf_value(struct pf *f, uint64_t ts, uint64_t uuid, int64_t value)
{
	size_t event = pf_event_open(f, ts, TYPE_COUNTER, uuid);

	ut_pbuf_varint(&f->file, EVENT_COUNTER, (uint64_t)value);
	pf_event_close(f, event);
}

void pf_intern(struct pf *f, uint32_t table, uint64_t iid, const char *text)
{
	size_t data = ut_pbuf_begin(&f->file, PACKET_INTERNED_DATA);
	size_t entry = ut_pbuf_begin(&f->file, table);

	ut_pbuf_varint(&f->file, INTERNED_IID, iid);
	pf_text(f, INTERNED_TEXT, text);
	ut_pbuf_end(&f->file, entry);
	ut_pbuf_end(&f->file, data);
}

/* ---- reading ------------------------------------------------------------------------------- */

struct limited {
	struct pf *f;
	size_t len;
};

static ssize_t read_bytes(void *ctx, void *to, size_t len, struct ut_err *err)
{
	struct limited *l = ctx;
	size_t left = l->len - l->f->read;

	(void)err;
	if (l->f->step && len > l->f->step)
		len = l->f->step;
	if (len > left)
		len = left;
	if (len)
		memcpy(to, l->f->file.data + l->f->read, len);
	l->f->read += len;
	return (ssize_t)len;
}

static void take_warning(void *ctx, const char *path, const char *text)
{
	struct pf *f = ctx;

	assert_string_equal(path, "a.pftrace");
	ut_buf_text(&f->warnings, text);
	ut_buf_char(&f->warnings, '\n');
}

int pf_load(struct pf *f, size_t len)
{
	struct limited ctx = { f, len };
	const struct ut_pf_input in = { "a.pftrace", read_bytes, &ctx };
	const struct ut_import_opts opts = { .warn = take_warning, .ctx = f };
	int rc;

	if (f->loaded)
		ut_store_release(&f->store);
	f->read = 0;
	f->warnings.len = 0;
	ut_buf_text(&f->warnings, "");
	f->err = (struct ut_err){ 0 };
	rc = ut_perfetto_load(&in, &opts, &f->store, &f->err);
	f->loaded = !rc;
	return rc;
}

void pf_export(struct ut_store *store, const char *format, struct ut_buf *to)
{
	const struct ut_exporter *x = ut_exporter_by_name(format);
	struct ut_out *out = ut_out_open_memory();
	struct ut_sink *sink = x->open(out);
	const char *data;
	size_t len;

	ut_store_send(store, 0, sink);
	x->end_trace(sink, &store->trace);
	x->close(sink);
	data = ut_out_data(out, &len);
	to->len = 0;
	ut_buf_text(to, "");
	ut_buf_add(to, data, len);
	ut_out_abandon(out);
}

/* "0," in front of each line goes; no test has line ends inside of fields. */
static void take_csv(struct pf *f)
{
	struct ut_buf all = { 0 };
	char *line, *rest;

	pf_export(&f->store, "csv", &all);
	f->csv.len = 0;
	ut_buf_text(&f->csv, "");
	strtok_r(all.data, "\n", &rest);
	while ((line = strtok_r(NULL, "\n", &rest)))
		ut_buf_fmt(&f->csv, "%s\n", line + 2);
	ut_buf_release(&all);
}

void pf_expect(struct pf *f, const char *csv)
{
	int rc = pf_load(f, f->file.len);

	assert_string_equal(f->err.text, "");
	assert_int_equal(rc, 0);
	take_csv(f);
	assert_string_equal(f->csv.data, csv);
}

void pf_expect_warning(const struct pf *f, const char *text)
{
	if (!strstr(f->warnings.data, text))
		fail_msg("no warning says '%s':\n%s", text, f->warnings.data);
}
