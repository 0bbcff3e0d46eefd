#include "arrow/arrow_batch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *const ut_arrow_formats[UT_ARROW_TYPES] = {
#define TYPE_FORMAT(type, format, size) format,
	UT_ARROW_TYPE_LIST(TYPE_FORMAT)
#undef TYPE_FORMAT
};

struct ut_arrow_words {
	_Atomic size_t uses;
	int64_t count;
	int32_t *offsets;
	char *bytes;
};

struct ut_arrow_words *ut_arrow_words_new(int32_t *offsets, char *bytes, int64_t count)
{
	struct ut_arrow_words *words = ut_make(sizeof(*words));

	atomic_init(&words->uses, 1);
	words->count = count;
	words->offsets = offsets;
	words->bytes = bytes;
	return words;
}

struct ut_arrow_words *ut_arrow_words_share(struct ut_arrow_words *words)
{
	atomic_fetch_add_explicit(&words->uses, 1, memory_order_relaxed);
	return words;
}

void ut_arrow_words_release(struct ut_arrow_words *words)
{
	if (!words || atomic_fetch_sub_explicit(&words->uses, 1, memory_order_acq_rel) != 1)
		return;
	free(words->offsets);
	free(words->bytes);
	free(words);
}

/* ---- arrays -------------------------------------------------------------------------------- */

/* What a column of a batch owns; the array and its buffers lie in here, too. */
struct column {
	struct ArrowArray dictionary;
	const void *buffers[3], *word_buffers[3];
	uint8_t *valid;
	void *values;
	char *bytes;
	struct ut_arrow_words *words;
};

/* The list of words lives as long as the column that has it, which may not be released first. */
static void release_dictionary(struct ArrowArray *array)
{
	ut_arrow_words_release(array->private_data);
	array->release = NULL;
}

static void release_column(struct ArrowArray *array)
{
	struct column *column = array->private_data;

	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	free(column->valid);
	free(column->values);
	free(column->bytes);
	free(column);
	array->release = NULL;
}

static bool has_bytes(enum ut_arrow_type type)
{
	return type == UT_ARROW_TEXT || type == UT_ARROW_LONG_TEXT || type == UT_ARROW_BYTES ||
	       type == UT_ARROW_LONG_BYTES;
}

static void give_words(struct ArrowArray *array, struct column *column,
		       struct ut_arrow_words *words)
{
	static const char none[1];

	column->word_buffers[1] = words->offsets;
	column->word_buffers[2] = words->bytes ? words->bytes : none;
	column->dictionary = (struct ArrowArray){ .length = words->count,
						  .n_buffers = 3,
						  .buffers = column->word_buffers,
						  .release = release_dictionary,
						  .private_data = ut_arrow_words_share(words) };
	array->dictionary = &column->dictionary;
}

static void make_column(struct ArrowArray *out, const struct ut_arrow_data *data, int64_t rows)
{
	static const int64_t none[1]; /* readers want an address where there are no bytes, too */
	struct column *column = ut_make(sizeof(*column));

	column->valid = data->valid;
	column->values = data->values;
	column->bytes = data->bytes;
	column->buffers[0] = data->nulls ? data->valid : NULL;
	column->buffers[1] = data->values ? data->values : none;
	column->buffers[2] = data->bytes ? (const void *)data->bytes : none;
	*out = (struct ArrowArray){ .length = rows,
				    .null_count = data->nulls,
				    .n_buffers = has_bytes(data->type) ? 3 : 2,
				    .buffers = column->buffers,
				    .release = release_column,
				    .private_data = column };
	if (data->type == UT_ARROW_WORD)
		give_words(out, column, data->words);
}

/* A table: its columns, each of which somebody may have taken out. */
struct batch {
	const void *buffers[1]; /* no row of a table is missing as a whole */
	struct ArrowArray **children;
	struct ArrowArray *columns;
};

static void release_batch(struct ArrowArray *array)
{
	struct batch *batch = array->private_data;

	for (int64_t i = 0; i < array->n_children; i++) {
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	}
	free(batch->children);
	free(batch->columns);
	free(batch);
	array->release = NULL;
}

void ut_arrow_batch(struct ArrowArray *out, const struct ut_arrow_data *columns, size_t count,
		    int64_t rows)
{
	struct batch *batch = ut_make(sizeof(*batch));

	batch->columns = ut_make((count + !count) * sizeof(*batch->columns));
	batch->children = ut_make((count + !count) * sizeof(struct ArrowArray *));
	for (size_t i = 0; i < count; i++) {
		make_column(&batch->columns[i], &columns[i], rows);
		batch->children[i] = &batch->columns[i];
	}
	*out = (struct ArrowArray){ .length = rows,
				    .n_buffers = 1,
				    .n_children = (int64_t)count,
				    .buffers = batch->buffers,
				    .children = batch->children,
				    .release = release_batch,
				    .private_data = batch };
}

/* ---- schemas ------------------------------------------------------------------------------- */

static void release_field(struct ArrowSchema *schema)
{
	if (schema->dictionary) {
		if (schema->dictionary->release)
			schema->dictionary->release(schema->dictionary);
		free(schema->dictionary);
	}
	free(schema->private_data); /* the name */
	schema->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	}
	if (schema->n_children)
		free(schema->children[0]); /* they lie in one piece */
	free((void *)schema->children);
	schema->release = NULL;
}

static char *arrow_batch_copy_text(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(ut_make(size), text, size);
}

static void make_field(struct ArrowSchema *out, const struct ut_arrow_field *field)
{
	char *name = arrow_batch_copy_text(field->name);

	*out = (struct ArrowSchema){ .format = ut_arrow_formats[field->type],
				     .name = name,
				     .flags = field->nullable ? ARROW_FLAG_NULLABLE : 0,
				     .release = release_field,
				     .private_data = name };
	if (field->type != UT_ARROW_WORD)
		return;
	out->dictionary = ut_make(sizeof(*out->dictionary));
	make_field(out->dictionary, &(struct ut_arrow_field){ "", UT_ARROW_TEXT, false });
}

void ut_arrow_schema(struct ArrowSchema *out, const struct ut_arrow_field *fields, size_t count)
{
	struct ArrowSchema *list = count ? ut_make(count * sizeof(*list)) : NULL;
	struct ArrowSchema **children = ut_make((count + !count) * sizeof(struct ArrowSchema *));

	for (size_t i = 0; i < count; i++) {
		make_field(&list[i], &fields[i]);
		children[i] = &list[i];
	}
	*out = (struct ArrowSchema){ .format = "+s",
				     .name = "",
				     .n_children = (int64_t)count,
				     .children = children,
				     .release = release_schema };
}
