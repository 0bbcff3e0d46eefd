#include "tt/pytext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/out.h"

void ut_py_str(struct ut_buf *b, struct ut_str s)
{
	char quote = memchr(s.ptr, '\'', s.len) && !memchr(s.ptr, '"', s.len) ? '"' : '\'';

	ut_buf_char(b, quote);
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		if (c == (unsigned char)quote || c == '\\')
			ut_buf_fmt(b, "\\%c", c);
		else if (c == '\n' || c == '\r' || c == '\t')
			ut_buf_fmt(b, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
		else if (c < 0x20 || c == 0x7f)
			ut_buf_fmt(b, "\\x%02x", c);
		else
			ut_buf_char(b, (char)c);
	}
	ut_buf_char(b, quote);
}

char *ut_py_escape(struct ut_arena *a, const char *s, size_t len, size_t *out_len)
{
	struct ut_out *out = ut_out_open_memory();
	const char *data;
	size_t n;
	char *copy;

	ut_out_json_str(out, s, len);
	data = ut_out_data(out, &n);
	*out_len = n - 2;
	copy = ut_arena_copy(a, data + 1, n - 2);
	ut_out_abandon(out);
	return copy;
}

/* ---- marks --------------------------------------------------------------------------------- */

static void add_str(struct ut_tt_log *log, struct ut_buf *b, const char *key, uint32_t id)
{
	ut_buf_fmt(b, ", '%s': ", key);
	ut_py_str(b, ut_tt_str(log, id));
}

static void add_dict(struct ut_tt_log *log, struct ut_buf *b, const struct ut_tt_mark *m)
{
	ut_buf_fmt(b, "{'id': %" PRId64, m->id);
	add_str(log, b, "zone_name", m->zone);
	add_str(log, b, "type", m->type);
	ut_buf_fmt(b, ", 'src_line': %" PRId64, m->line);
	add_str(log, b, "src_file", m->file);
	if (log->has[UT_TT_RUN])
		ut_buf_fmt(b, ", 'run_id': %" PRIu64, m->run);
	if (log->has[UT_TT_HOST])
		ut_buf_fmt(b, ", 'run_host_id': %" PRIu64, m->host);
	if (log->has[UT_TT_TRACE])
		ut_buf_fmt(b, ", 'trace_id': %" PRId64, m->trace);
	if (log->has[UT_TT_REPLAY])
		ut_buf_fmt(b, ", 'trace_id_count': %" PRId64, m->replay);
	if (log->has[UT_TT_META])
		add_str(log, b, "meta_data", m->meta);
	ut_buf_char(b, '}');
}

const char *ut_tt_mark_text(struct ut_tt_log *log, uint32_t mark, size_t *len)
{
	struct ut_tt_mark *m = &log->marks[mark];
	struct ut_buf b = { 0 };

	if (!m->text) {
		if (log->zones)
			add_dict(log, &b, m);
		else
			ut_buf_fmt(&b, "%" PRId64, m->id);
		m->text = ut_py_escape(&log->arena, b.data, b.len, len);
		m->text_len = (uint32_t)*len;
		ut_buf_release(&b);
	}
	*len = m->text_len;
	return m->text;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void new_line(struct ut_py_json *j)
{
	char *p = ut_out_reserve(j->out, 1 + 2 * (size_t)j->depth);

	*p++ = '\n';
	memset(p, ' ', 2 * (size_t)j->depth);
	ut_out_advance(j->out, p + 2 * j->depth);
}

void ut_py_open(struct ut_py_json *j, char bracket)
{
	ut_out_write(j->out, &bracket, 1);
	j->depth++;
	j->empty = true;
}

void ut_py_close(struct ut_py_json *j, char bracket)
{
	j->depth--;
	if (!j->empty)
		new_line(j);
	ut_out_write(j->out, &bracket, 1);
	j->empty = false;
}

void ut_py_item(struct ut_py_json *j)
{
	if (!j->empty)
		ut_out_write(j->out, ",", 1);
	new_line(j);
	j->empty = false;
}

void ut_py_key(struct ut_py_json *j, const char *key)
{
	ut_py_item(j);
	ut_out_json_str(j->out, key, strlen(key));
	ut_out_text(j->out, ": ");
}

void ut_py_put_str(struct ut_py_json *j, const char *key, const char *value)
{
	ut_py_key(j, key);
	ut_out_json_str(j->out, value, strlen(value));
}

void ut_py_put_u64(struct ut_py_json *j, const char *key, uint64_t value)
{
	ut_py_key(j, key);
	ut_out_u64(j->out, value);
}

void ut_py_put_i64(struct ut_py_json *j, const char *key, int64_t value)
{
	ut_py_key(j, key);
	ut_out_i64(j->out, value);
}

void ut_py_double(char text[UT_PY_DOUBLE_ROOM], double value)
{
	if (fabs(value) < 1e16 && floor(value) == value) {
		snprintf(text, UT_PY_DOUBLE_ROOM, "%.1f", value);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, UT_PY_DOUBLE_ROOM, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
}

void ut_py_put_double(struct ut_py_json *j, const char *key, double value)
{
	char text[UT_PY_DOUBLE_ROOM];

	ut_py_key(j, key);
	ut_py_double(text, value);
	ut_out_text(j->out, text);
}

void ut_py_put_bool(struct ut_py_json *j, const char *key, bool value)
{
	ut_py_key(j, key);
	ut_out_text(j->out, value ? "true" : "false");
}

void ut_py_put_list(struct ut_py_json *j, const char *key, const char *const *items)
{
	ut_py_key(j, key);
	ut_py_open(j, '[');
	for (; *items; items++) {
		ut_py_item(j);
		ut_out_json_str(j->out, *items, strlen(*items));
	}
	ut_py_close(j, ']');
}
