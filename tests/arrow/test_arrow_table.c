#include "arrow/arrow_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static struct ut_arrow_table *one_column(void)
{
	static const char *const names[] = { "c" };

	return ut_arrow_table_new(names, 1);
}

/* The format of the only column, and its values in *out. */
static const char *finish(struct ut_arrow_table *table, struct ArrowArray *out)
{
	static char format[8];
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray end;

	ut_arrow_table_stream(table, &stream);
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_string_equal(schema.format, "+s");
	assert_int_equal(schema.n_children, 1);
	assert_string_equal(schema.children[0]->name, "c");
	strncpy(format, schema.children[0]->format, sizeof(format) - 1);
	schema.release(&schema);
	assert_null(schema.release);
	assert_int_equal(stream.get_next(&stream, out), 0);
	assert_int_equal(stream.get_next(&stream, &end), 0);
	assert_null(end.release);
	stream.release(&stream); /* the batch outlives it */
	return format;
}

static const char *text_at(const struct ArrowArray *batch, int64_t row, size_t *len)
{
	const int32_t *offsets = batch->children[0]->buffers[1];

	*len = (size_t)(offsets[row + 1] - offsets[row]);
	return (const char *)batch->children[0]->buffers[2] + offsets[row];
}

static void assert_text(const struct ArrowArray *batch, int64_t row, const char *expected)
{
	size_t len;
	const char *text = text_at(batch, row, &len);

	assert_int_equal(len, strlen(expected));
	assert_memory_equal(text, expected, len);
}

static bool is_there(const struct ArrowArray *batch, int64_t row)
{
	const uint8_t *valid = batch->children[0]->buffers[0];

	return !valid || valid[row / 8] >> (row % 8) & 1;
}

static void whole_numbers_stay_whole(void **state)
{
	struct ut_arrow_table *t = one_column();
	struct ArrowArray batch;

	(void)state;
	for (int64_t i = 0; i < 1000; i++)
		ut_arrow_add_int(t, INT64_MAX - i);
	assert_string_equal(finish(t, &batch), "l");
	assert_int_equal(batch.length, 1000);
	assert_int_equal(batch.children[0]->null_count, 0);
	assert_true(((const int64_t *)batch.children[0]->buffers[1])[999] == INT64_MAX - 999);
	batch.release(&batch);
}

static void a_real_number_makes_all_of_them_real(void **state)
{
	struct ut_arrow_table *t = one_column();
	struct ArrowArray batch;
	const double *values;

	(void)state;
	ut_arrow_add_int(t, 3);
	ut_arrow_add_null(t);
	ut_arrow_add_real(t, 2.5);
	ut_arrow_add_int(t, 4);
	assert_string_equal(finish(t, &batch), "g");
	values = batch.children[0]->buffers[1];
	assert_true(values[0] == 3.0 && values[2] == 2.5 && values[3] == 4.0);
	assert_int_equal(batch.children[0]->null_count, 1);
	assert_true(is_there(&batch, 0) && !is_there(&batch, 1) && is_there(&batch, 3));
	batch.release(&batch);
}

static void a_text_makes_all_of_them_text(void **state)
{
	struct ut_arrow_table *t = one_column();
	struct ArrowArray batch;

	(void)state;
	ut_arrow_add_null(t);
	ut_arrow_add_int(t, -7);
	ut_arrow_add_real(t, 0.5);
	ut_arrow_add_text(t, ut_str_of("x"));
	ut_arrow_add_int(t, 8);
	ut_arrow_add_null(t);
	assert_string_equal(finish(t, &batch), "u");
	assert_text(&batch, 0, "");
	assert_text(&batch, 1, "-7");
	assert_text(&batch, 2, "0.5");
	assert_text(&batch, 3, "x");
	assert_text(&batch, 4, "8");
	assert_false(is_there(&batch, 0));
	assert_false(is_there(&batch, 5));
	batch.release(&batch);
}

static void text_that_is_no_utf8_is_repaired(void **state)
{
	struct ut_arrow_table *t = one_column();
	struct ArrowArray batch;

	(void)state;
	ut_arrow_add_text(t, (struct ut_str){ "a\xff\0b", 4 });
	finish(t, &batch);
	assert_int_equal(((const int32_t *)batch.children[0]->buffers[1])[1], 6);
	assert_memory_equal(batch.children[0]->buffers[2], "a\xef\xbf\xbd\0b", 6);
	batch.release(&batch);
}

static void bytes_stay_bytes(void **state)
{
	struct ut_arrow_table *t = one_column();
	struct ArrowArray batch;

	(void)state;
	ut_arrow_add_bytes(t, (struct ut_str){ "\xff\xfe", 2 });
	assert_string_equal(finish(t, &batch), "z");
	assert_memory_equal(batch.children[0]->buffers[2], "\xff\xfe", 2);
	batch.release(&batch);
}

static void a_column_of_nothing_is_text(void **state)
{
	struct ut_arrow_table *t = one_column();
	struct ArrowArray batch;

	(void)state;
	for (int i = 0; i < 20; i++)
		ut_arrow_add_null(t);
	assert_string_equal(finish(t, &batch), "u");
	assert_int_equal(batch.children[0]->null_count, 20);
	batch.release(&batch);
}

static void a_table_without_rows_has_columns(void **state)
{
	struct ArrowArray batch;

	(void)state;
	assert_string_equal(finish(one_column(), &batch), "u");
	assert_null(batch.release);
}

/* Readers take single columns out of a batch and keep them. */
static void a_column_outlives_its_batch(void **state)
{
	struct ut_arrow_table *t = one_column();
	struct ArrowArray batch, column;

	(void)state;
	ut_arrow_add_int(t, 42);
	finish(t, &batch);
	column = *batch.children[0];
	batch.children[0]->release = NULL;
	batch.release(&batch);
	assert_true(((const int64_t *)column.buffers[1])[0] == 42);
	column.release(&column);
}

UT_TESTS(arrow_table)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_stay_whole),
		cmocka_unit_test(a_real_number_makes_all_of_them_real),
		cmocka_unit_test(a_text_makes_all_of_them_text),
		cmocka_unit_test(text_that_is_no_utf8_is_repaired),
		cmocka_unit_test(bytes_stay_bytes),
		cmocka_unit_test(a_column_of_nothing_is_text),
		cmocka_unit_test(a_table_without_rows_has_columns),
		cmocka_unit_test(a_column_outlives_its_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
