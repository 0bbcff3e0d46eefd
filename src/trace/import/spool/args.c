/* args.c - arguments of events, from the records that carry them. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "import/spool/steps.h"
#include "ittnotify.h"
#include "model/sink.h"

#define MOST_KEYS 64u /* lists are short; longer ones are not looked through */

uint64_t ut_spool_id(const struct ut_spool_rec *r, size_t i, size_t step)
{
	uint64_t id[3] = { ut_rec_word(r, i), ut_rec_word(r, i + step),
			   ut_rec_word(r, i + 2 * step) };

	if (!(id[0] | id[1] | id[2]))
		return 0;
	return ut_hash_bytes(id, sizeof(id)) | 1;
}

static uint32_t key_string(struct ut_spool_import *im, const char *key)
{
	return ut_strtab_intern_z(&im->trace->strings, key);
}

/* An id is an address in most programs: one number in hex, or three. */
void ut_spool_args_id(struct ut_spool_import *im, const char *key, const struct ut_spool_rec *r,
		      size_t i, size_t step)
{
	uint32_t name = key_string(im, key);
	bool plain = !ut_rec_word(r, i + step) && !ut_rec_word(r, i + 2 * step);
	struct ut_arg *a;

	if (!ut_spool_id(r, i, step))
		return;
	for (size_t part = 0; part < (plain ? 1 : 3); part++) {
		a = ut_trace_add_arg(im->trace, name, part ? UT_ARG_U64 : UT_ARG_PTR);
		a->value.u64 = ut_rec_word(r, i + part * step);
		if (!plain)
			a->flags = UT_ARG_ARRAY | (part < 2 ? UT_ARG_MORE : 0);
	}
}

void ut_spool_args_text(struct ut_spool_import *im, const char *key, uint32_t string)
{
	if (string)
		ut_trace_add_arg(im->trace, key_string(im, key), UT_ARG_STR)->value.str = string;
}

void ut_spool_args_source(struct ut_spool_import *im, uint32_t place)
{
	const struct ut_spool_source *at = ut_spool_source(&im->tables, place);

	if (!at)
		return;
	ut_spool_args_text(im, "file", at->file);
	if (at->line)
		ut_trace_add_arg(im->trace, key_string(im, "line"), UT_ARG_U64)->value.u64 =
			at->line;
}

void ut_spool_args_pointer(struct ut_spool_import *im, const char *key, uint64_t address)
{
	ut_trace_add_arg(im->trace, key_string(im, key), UT_ARG_PTR)->value.u64 = address;
}

void ut_spool_args_parent(struct ut_spool_import *im, const struct ut_spool_rec *r, size_t i,
			  size_t step, uint64_t ticks)
{
	uint32_t name = ut_spool_group_name(im, ut_spool_id(r, i, step), ticks);

	if (name)
		ut_spool_args_text(im, "parent", name);
	else
		ut_spool_args_id(im, "parent", r, i, step);
}

/* ---- metadata ------------------------------------------------------------------------------ */

struct number {
	enum ut_arg_type type;
	uint64_t bits;
};

static struct number spool_args_read_number(uint32_t type, const char *p)
{
	struct number n = { UT_ARG_U64, 0 };
	int32_t s32;
	int16_t s16;
	float f;
	double d;

	switch (type) {
	case __itt_metadata_s64:
		n.type = UT_ARG_I64;
		memcpy(&n.bits, p, 8);
		break;
	case __itt_metadata_u32:
		memcpy(&n.bits, p, 4);
		break;
	case __itt_metadata_s32:
		memcpy(&s32, p, 4);
		n = (struct number){ UT_ARG_I64, (uint64_t)(int64_t)s32 };
		break;
	case __itt_metadata_u16:
		memcpy(&n.bits, p, 2);
		break;
	case __itt_metadata_s16:
		memcpy(&s16, p, 2);
		n = (struct number){ UT_ARG_I64, (uint64_t)(int64_t)s16 };
		break;
	case __itt_metadata_float:
		memcpy(&f, p, 4);
		d = (double)f;
		n.type = UT_ARG_F64;
		memcpy(&n.bits, &d, 8);
		break;
	case __itt_metadata_double:
		n.type = UT_ARG_F64;
		memcpy(&n.bits, p, 8);
		break;
	default:
		memcpy(&n.bits, p, 8);
		break;
	}
	return n;
}

static size_t number_size(uint32_t type)
{
	static const unsigned char sizes[] = { 0, 8, 8, 4, 4, 2, 2, 4, 8 };

	return type < sizeof(sizes) ? sizes[type] : 0;
}

static void add_numbers(struct ut_spool_import *im, uint32_t key, const struct ut_spool_rec *r)
{
	uint32_t type = ut_rec_low(r, 4);
	size_t size = number_size(type), count = ut_rec_low(r, 5), len = count * size;
	const char *p = ut_rec_bytes(r, 6, &len);

	count = size ? len / size : 0;
	for (size_t i = 0; i < count; i++) {
		struct number n = spool_args_read_number(type, p + i * size);
		struct ut_arg *a = ut_trace_add_arg(im->trace, key, n.type);

		a->value.u64 = n.bits;
		if (count > 1)
			a->flags = UT_ARG_ARRAY | (i + 1 < count ? UT_ARG_MORE : 0);
	}
}

static uint32_t add_bytes(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	size_t len = ut_rec_low(r, 4);
	const char *p = ut_rec_bytes(r, 5, &len);

	return ut_strtab_intern(&im->trace->strings, p, len);
}

void ut_spool_args_meta(struct ut_spool_import *im, const struct ut_spool_rec *r)
{
	uint32_t key = ut_spool_string(&im->tables, ut_rec_high(r, 0));

	if (r->type == UT_REC_META_NUM) {
		if (!ut_spool_omp_meta(im, r))
			add_numbers(im, key, r);
	} else if (r->type == UT_REC_META_STR) {
		ut_trace_add_arg(im->trace, key, UT_ARG_STR)->value.str = add_bytes(im, r);
	} else if (r->type == UT_REC_META_TEXT) {
		/* One text per task; its format says nothing that the text does not. */
		ut_spool_args_text(im, "info", add_bytes(im, r));
	}
}

void ut_spool_keep_args(struct ut_spool_import *im, struct ut_spool_late *late, size_t mark)
{
	size_t count = im->trace->arg_count - mark;
	struct ut_arg *copy;

	if (!count)
		return;
	copy = UT_NEW_N(&im->trace->arena, struct ut_arg, count);
	memcpy(copy, im->trace->args + mark, count * sizeof(*copy));
	late->args = copy;
	late->arg_count = (uint32_t)count;
	ut_trace_drop_args(im->trace, mark);
}

static bool has_key(const struct ut_arg *args, size_t count, uint32_t key)
{
	for (size_t i = 0; i < count; i++)
		if (args[i].key == key)
			return true;
	return false;
}

static uint32_t other_key(struct ut_spool_import *im, uint32_t key, unsigned int turn)
{
	struct ut_str s = ut_strtab_get(&im->trace->strings, key);
	char text[300];

	snprintf(text, sizeof(text), "%.*s #%u", s.len > 256 ? 256 : (int)s.len, s.ptr, turn);
	return ut_strtab_intern_z(&im->trace->strings, text);
}

/* A program may say the same key twice; formats with keys would keep one of them. */
static void distinguish_keys(struct ut_spool_import *im, size_t mark)
{
	size_t count = im->trace->arg_count - mark;

	for (size_t i = 1; i < count && i < MOST_KEYS; i++) {
		struct ut_arg *args = im->trace->args + mark;
		uint32_t key = args[i].key;

		if (args[i - 1].flags & UT_ARG_MORE) {
			args[i].key = args[i - 1].key; /* of the same array */
			continue;
		}
		for (unsigned int turn = 2; has_key(args, i, args[i].key); turn++) {
			uint32_t other = other_key(im, key, turn);

			args = im->trace->args + mark;
			args[i].key = other;
		}
	}
}

void ut_spool_close_args(struct ut_spool_import *im, struct ut_event *e, size_t mark)
{
	if (im->trace->arg_count > mark) {
		distinguish_keys(im, mark);
		e->args = (uint32_t)mark;
		ut_trace_close_args(im->trace);
	}
}

void ut_spool_send(struct ut_spool_import *im, struct ut_event *e, size_t mark)
{
	ut_spool_close_args(im, e, mark);
	ut_sink_event(im->sink, im->trace, e);
	ut_trace_drop_args(im->trace, mark);
}
