#include "tt/ops_tracy_info.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/json_piece.h"
#include "base/str.h"
#include "text/csv_read.h"
#include "tt/pytext.h"

struct reader {
	struct ut_json j;
	struct ut_ops_report *r;
	const struct ut_tracy_columns *columns;
	struct ut_tracy_info *info;
	uint32_t inputs, outputs; /* tensors so far */
};

#define MOST_TENSORS 256u /* each takes seven columns, in every row */

/* ---- values as Python prints them ---------------------------------------------------------- */

static struct ut_str decoded(struct ut_arena *a, struct ut_str raw)
{
	char *text = ut_arena_alloc(a, raw.len + 1, 1);

	return (struct ut_str){ text, ut_json_decode(raw, text) };
}

/* A string inside a list or dict, from its opening quote on. Returns behind the closing one. */
static const char *py_string(struct ut_buf *b, struct ut_arena *a, const char *p, const char *end)
{
	const char *close = ut_json_closing_quote(p, end);

	ut_py_str(b, decoded(a, (struct ut_str){ p + 1, (size_t)(close - p - 1) }));
	return close < end ? close + 1 : end;
}

/* A whole number stays as it is; others may not be written with the digits that Python takes. */
static void py_number(struct ut_buf *b, struct ut_str word)
{
	char text[UT_PY_DOUBLE_ROOM];
	struct ut_json_number n;

	if (ut_json_number(word, &n) != UT_JSON_F64 || !isfinite(n.f64)) {
		ut_buf_add(b, word.ptr, word.len);
		return;
	}
	ut_py_double(text, n.f64);
	ut_buf_text(b, text);
}

/* A word or a number. */
static const char *py_word(struct ut_buf *b, const char *p, const char *end)
{
	static const struct {
		const char *json, *python;
	} words[] = { { "true", "True" }, { "false", "False" }, { "null", "None" } };
	const char *from = p;
	struct ut_str word;

	while (p < end && !strchr(",:]}", *p))
		p++;
	word = (struct ut_str){ from, (size_t)(p - from) };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (ut_str_is(word, words[i].json)) {
			ut_buf_text(b, words[i].python);
			return p;
		}
	}
	py_number(b, word);
	return p;
}

/* JSON without blanks, token by token. */
static void py_value(struct ut_buf *b, struct ut_arena *a, const char *p, const char *end)
{
	while (p < end) {
		switch (*p) {
		case '"':
			p = py_string(b, a, p, end);
			break;
		case ',':
		case ':':
			ut_buf_char(b, *p++);
			ut_buf_char(b, ' ');
			break;
		case '{':
		case '}':
		case '[':
		case ']':
			ut_buf_char(b, *p++);
			break;
		default:
			p = *p ? py_word(b, p, end) : p + 1;
		}
	}
}

static struct ut_str ops_tracy_info_take(struct ut_buf *b, struct ut_ops_report *r)
{
	size_t len = b->len;

	return ut_tracy_text(r, (struct ut_str){ ut_buf_take(b, &r->arena), len });
}

/* str() of the value at the cursor. */
static bool value_text(struct reader *d, struct ut_str *text)
{
	struct ut_str raw;
	struct ut_buf small = { 0 }, b = { 0 };

	if (ut_json_peek(&d->j) == '"') {
		if (!ut_json_string(&d->j, &raw))
			return false;
		*text = ut_tracy_text(d->r, decoded(&d->r->arena, raw));
		return true;
	}
	if (!ut_json_skip(&d->j, &raw))
		return false;
	ut_json_minify(raw, &small);
	py_value(&b, &d->r->arena, small.data, small.data + small.len);
	ut_buf_release(&small);
	*text = ops_tracy_info_take(&b, d->r);
	return true;
}

static bool ops_tracy_info_put_value(struct reader *d, uint32_t column)
{
	struct ut_str text;

	if (!value_text(d, &text))
		return false;
	ut_ops_put(d->r, column, text);
	return true;
}

/* Into the object or list at the cursor; anything else is skipped. */
static bool ops_tracy_info_enter(struct reader *d, char bracket, bool *inside)
{
	*inside = ut_json_peek(&d->j) == bracket;
	if (!*inside)
		return ut_json_skip(&d->j, NULL);
	ut_json_enter(&d->j);
	return true;
}

/* ---- tensors ------------------------------------------------------------------------------- */

static bool read_shape(struct reader *d, bool output, uint32_t index)
{
	static const char axes[] = "WZYX";
	struct ut_str key;
	bool inside;

	if (!ops_tracy_info_enter(d, '{', &inside))
		return false;
	while (inside && ut_json_member(&d->j, &key)) {
		const char *axis = key.len == 1 && *key.ptr ? strchr(axes, *key.ptr) : NULL;

		if (!(axis ? ops_tracy_info_put_value(d, ut_tracy_tensor(d->r, output, index,
									 (uint32_t)(axis - axes)))
			   : ut_json_skip(&d->j, NULL)))
			return false;
	}
	return !d->j.trouble;
}

/* {"buffer_type", "memory_layout"} */
static bool read_config(struct reader *d, struct ut_str *buffer, struct ut_str *layout)
{
	struct ut_str key;
	bool inside;

	if (!ops_tracy_info_enter(d, '{', &inside))
		return false;
	while (inside && ut_json_member(&d->j, &key)) {
		if (!(ut_str_is(key, "buffer_type")     ? value_text(d, buffer)
		      : ut_str_is(key, "memory_layout") ? value_text(d, layout)
							: ut_json_skip(&d->j, NULL)))
			return false;
	}
	return !d->j.trouble;
}

static void add_upper(struct ut_buf *b, struct ut_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		ut_buf_char(b, (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c));
	}
}

/* "HOST", or a device and a place on it. */
static bool read_storage(struct reader *d, uint32_t column)
{
	struct ut_str device = { "", 0 }, buffer = { "", 0 }, layout = { "", 0 };
	struct ut_str key;
	struct ut_buf b = { 0 };

	if (ut_json_peek(&d->j) != '{')
		return ops_tracy_info_put_value(d, column);
	ut_json_enter(&d->j);
	while (ut_json_member(&d->j, &key)) {
		if (!(ut_str_is(key, "device_id")       ? value_text(d, &device)
		      : ut_str_is(key, "memory_config") ? read_config(d, &buffer, &layout)
							: ut_json_skip(&d->j, NULL)))
			return false;
	}
	if (d->j.trouble)
		return false;
	ut_buf_text(&b, "DEV_");
	ut_buf_add(&b, device.ptr, device.len);
	ut_buf_char(&b, '_');
	add_upper(&b, buffer);
	ut_buf_char(&b, '_');
	add_upper(&b, layout);
	ut_ops_put(d->r, column, ops_tracy_info_take(&b, d->r));
	return true;
}

static bool read_tensor(struct reader *d, bool output, uint32_t index)
{
	struct ut_str key;
	bool inside;

	for (uint32_t i = 0; i < UT_TRACY_TENSOR_FIELDS; i++)
		ut_tracy_tensor(d->r, output, index, i);
	if (!ops_tracy_info_enter(d, '{', &inside))
		return false;
	while (inside && ut_json_member(&d->j, &key)) {
		bool ok;

		if (ut_str_is(key, "shape"))
			ok = read_shape(d, output, index);
		else if (ut_str_is(key, "layout"))
			ok = ops_tracy_info_put_value(d, ut_tracy_tensor(d->r, output, index, 4));
		else if (ut_str_is(key, "dtype"))
			ok = ops_tracy_info_put_value(d, ut_tracy_tensor(d->r, output, index, 5));
		else if (ut_str_is(key, "storage_type"))
			ok = read_storage(d, ut_tracy_tensor(d->r, output, index, 6));
		else
			ok = ut_json_skip(&d->j, NULL);
		if (!ok)
			return false;
	}
	return !d->j.trouble;
}

static bool read_tensors(struct reader *d, bool output)
{
	uint32_t *count = output ? &d->outputs : &d->inputs;
	bool inside;

	if (!ops_tracy_info_enter(d, '[', &inside))
		return false;
	while (inside && ut_json_element(&d->j)) {
		if (!(*count < MOST_TENSORS ? read_tensor(d, output, (*count)++)
					    : ut_json_skip(&d->j, NULL)))
			return false;
	}
	return !d->j.trouble;
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void add_item(struct ut_buf *list, struct ut_str text)
{
	ut_buf_text(list, list->len > 1 ? ", " : "");
	ut_py_str(list, text);
}

static bool read_kernel(struct reader *d, struct ut_buf *sources, struct ut_buf *names)
{
	struct ut_str key;
	struct ut_str text;
	bool inside;

	if (!ops_tracy_info_enter(d, '{', &inside))
		return false;
	while (inside && ut_json_member(&d->j, &key)) {
		if (!value_text(d, &text))
			return false;
		if (ut_str_is(key, "source"))
			add_item(sources, text);
		else if (ut_str_is(key, "name"))
			add_item(names, text);
		else if (ut_str_is(key, "math_fidelity"))
			ut_ops_put(d->r, d->columns->id[UT_TRACY_FIDELITY], text);
	}
	return !d->j.trouble;
}

/* A list of kernels becomes a list of sources and one of hashes. */
static bool read_kernels(struct reader *d, enum ut_tracy_word source, enum ut_tracy_word hash)
{
	struct ut_buf sources = { 0 }, names = { 0 };
	bool inside, ok = ops_tracy_info_enter(d, '[', &inside);

	ut_buf_char(&sources, '[');
	ut_buf_char(&names, '[');
	while (ok && inside && ut_json_element(&d->j))
		ok = read_kernel(d, &sources, &names);
	ut_buf_char(&sources, ']');
	ut_buf_char(&names, ']');
	ut_ops_put(d->r, d->columns->id[source], ops_tracy_info_take(&sources, d->r));
	ut_ops_put(d->r, d->columns->id[hash], ops_tracy_info_take(&names, d->r));
	return ok && !d->j.trouble;
}

static bool read_sizes(struct reader *d)
{
	struct ut_str key;
	bool inside;

	if (!ops_tracy_info_enter(d, '{', &inside))
		return false;
	while (inside && ut_json_member(&d->j, &key)) {
		if (!ops_tracy_info_put_value(
			    d, ut_tracy_size(d->r, (struct ut_str){ key.ptr, key.len })))
			return false;
	}
	return !d->j.trouble;
}

static bool read_kernel_info(struct reader *d)
{
	struct ut_str key;
	bool inside;

	if (!ops_tracy_info_enter(d, '{', &inside))
		return false;
	while (inside && ut_json_member(&d->j, &key)) {
		bool ok;

		if (ut_str_is(key, "compute_kernels"))
			ok = read_kernels(d, UT_TRACY_COMPUTE_SOURCE, UT_TRACY_COMPUTE_HASH);
		else if (ut_str_is(key, "datamovement_kernels"))
			ok = read_kernels(d, UT_TRACY_MOVE_SOURCE, UT_TRACY_MOVE_HASH);
		else if (ut_str_is(key, "kernel_sizes"))
			ok = read_sizes(d);
		else
			ok = ut_json_skip(&d->j, NULL);
		if (!ok)
			return false;
	}
	return !d->j.trouble;
}

/* ---- the rest ------------------------------------------------------------------------------ */

static void note_compute(struct reader *d, struct ut_str text)
{
	struct ut_json_number n;

	if (ut_json_number((struct ut_str){ text.ptr, text.len }, &n) == UT_JSON_NOT)
		return;
	d->info->has_compute = true;
	d->info->compute = n.f64;
}

static bool read_model(struct reader *d)
{
	static const struct {
		const char *key;
		enum ut_tracy_word word;
	} fields[] = {
		{ "ideal_ns", UT_TRACY_IDEAL },         { "compute_ns", UT_TRACY_COMPUTE },
		{ "bandwidth_ns", UT_TRACY_BANDWIDTH }, { "input_bws", UT_TRACY_INPUT_BW },
		{ "output_bws", UT_TRACY_OUTPUT_BW },
	};
	struct ut_str key;
	struct ut_str text;
	bool inside;

	if (!ops_tracy_info_enter(d, '{', &inside))
		return false;
	while (inside && ut_json_member(&d->j, &key)) {
		if (!value_text(d, &text))
			return false;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
			if (ut_str_is(key, fields[i].key))
				ut_ops_put(d->r, d->columns->id[fields[i].word], text);
		}
		if (ut_str_is(key, "compute_ns"))
			note_compute(d, text);
	}
	return !d->j.trouble;
}

/* "device_id" is DEVICE ID, and so on: what has a column of its name goes there. */
static bool read_named(struct reader *d, struct ut_str key)
{
	char name[64];
	uint32_t column;

	if (key.len >= sizeof(name))
		return ut_json_skip(&d->j, NULL);
	for (size_t i = 0; i < key.len; i++) {
		char c = key.ptr[i];

		name[i] = (char)(c == '_' ? ' ' : c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
	}
	if (!ut_tracy_column_find(d->r, (struct ut_str){ name, key.len }, &column))
		return ut_json_skip(&d->j, NULL);
	return ops_tracy_info_put_value(d, column);
}

static bool read_call(struct reader *d)
{
	struct ut_str text;

	if (!value_text(d, &text))
		return false;
	if (!ut_csv_number(text, &d->info->call))
		d->info->call = 0;
	ut_ops_put(d->r, d->columns->id[UT_TRACY_CALL], text);
	return true;
}

static bool ops_tracy_info_read_member(struct reader *d, struct ut_str key)
{
	d->info->code |= ut_str_is(key, "op_code");
	if (ut_str_is(key, "input_tensors") || ut_str_is(key, "optional_input_tensors")) {
		d->info->inputs = true;
		return read_tensors(d, false);
	}
	if (ut_str_is(key, "output_tensors")) {
		d->info->outputs = true;
		return read_tensors(d, true);
	}
	if (ut_str_is(key, "kernel_info"))
		return read_kernel_info(d);
	if (ut_str_is(key, "performance_model"))
		return read_model(d);
	if (ut_str_is(key, "global_call_count"))
		return read_call(d);
	if (ut_str_is(key, "op_hash"))
		return ops_tracy_info_put_value(d, d->columns->id[UT_TRACY_PROGRAM_HASH]);
	return read_named(d, key);
}

bool ut_tracy_info_read(struct ut_tracy_info *info, const struct ut_tracy_columns *columns,
			struct ut_ops_report *r, struct ut_str json, const char **why)
{
	struct reader d = { .r = r, .columns = columns, .info = info };
	size_t first = r->cell_count;
	struct ut_str key;
	bool ok;

	*info = (struct ut_tracy_info){ 0 };
	ut_json_init_text(&d.j, json.ptr, json.len);
	ok = ut_json_peek(&d.j) == '{';
	if (ok) {
		ut_json_enter(&d.j);
		while (ok && ut_json_member(&d.j, &key))
			ok = ops_tracy_info_read_member(&d, key);
		ok = ok && !d.j.trouble;
	}
	*why = ok                             ? NULL
	       : d.j.trouble == UT_JSON_SHORT ? "its JSON ends too early"
	       : d.j.trouble == UT_JSON_BAD   ? "its JSON is broken"
					      : "it has no JSON";
	info->cells = ut_ops_since(r, first);
	ut_json_release(&d.j);
	return ok;
}
