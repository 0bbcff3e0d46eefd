#include "arrow/parquet_thrift.h"

#include <assert.h>
#include <string.h>

void ut_thrift_varint(struct ut_buf *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		ut_buf_char(to, (char)(value | 0x80));
	ut_buf_char(to, (char)value);
}

/* Small ones stay small, whatever their sign. */
static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static void parquet_thrift_put_head(struct ut_thrift *t, int field, enum ut_thrift_type type)
{
	int step = field - t->last[t->depth];

	assert(step > 0);
	if (step < 16) {
		ut_buf_char(t->to, (char)(step << 4 | (int)type));
	} else {
		ut_buf_char(t->to, (char)type);
		ut_thrift_varint(t->to, zigzag(field));
	}
	t->last[t->depth] = field;
}

void ut_thrift_i32(struct ut_thrift *t, int field, int32_t value)
{
	parquet_thrift_put_head(t, field, UT_THRIFT_I32);
	ut_thrift_varint(t->to, zigzag(value));
}

void ut_thrift_i64(struct ut_thrift *t, int field, int64_t value)
{
	parquet_thrift_put_head(t, field, UT_THRIFT_I64);
	ut_thrift_varint(t->to, zigzag(value));
}

static void parquet_thrift_put_bytes(struct ut_buf *to, const void *bytes, size_t len)
{
	ut_thrift_varint(to, len);
	ut_buf_add(to, bytes, len);
}

void ut_thrift_bytes(struct ut_thrift *t, int field, const void *bytes, size_t len)
{
	parquet_thrift_put_head(t, field, UT_THRIFT_BYTES);
	parquet_thrift_put_bytes(t->to, bytes, len);
}

void ut_thrift_text(struct ut_thrift *t, int field, const char *text)
{
	ut_thrift_bytes(t, field, text, strlen(text));
}

void ut_thrift_begin(struct ut_thrift *t, int field)
{
	if (field)
		parquet_thrift_put_head(t, field, UT_THRIFT_STRUCT);
	assert(t->depth + 1 < UT_THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

void ut_thrift_end(struct ut_thrift *t)
{
	ut_buf_char(t->to, '\0');
	t->depth -= t->depth > 0;
}

void ut_thrift_list(struct ut_thrift *t, int field, enum ut_thrift_type type, size_t count)
{
	parquet_thrift_put_head(t, field, UT_THRIFT_LIST);
	if (count < 15) {
		ut_buf_char(t->to, (char)(count << 4 | (size_t)type));
		return;
	}
	ut_buf_char(t->to, (char)(0xf0 | (int)type));
	ut_thrift_varint(t->to, count);
}

void ut_thrift_element_i32(struct ut_thrift *t, int32_t value)
{
	ut_thrift_varint(t->to, zigzag(value));
}

void ut_thrift_element_text(struct ut_thrift *t, const char *text)
{
	parquet_thrift_put_bytes(t->to, text, strlen(text));
}
