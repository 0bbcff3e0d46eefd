#include "category/tally.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/device_table.h"
#include "analyze/stats_dist.h"
#include "base/grow.h"
#include "base/hash.h"
#include "category/schema.h"

void ut_tally_release(struct ut_tally *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->names[i].values);
	free(t->names);
	ut_hashtab_release(&t->by_name);
	ut_arena_release(&t->arena);
	*t = (struct ut_tally){ 0 };
}

static struct ut_tally_name *entry_of(struct ut_tally *t, const struct ut_tally_name *name)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(name->name.ptr, name->name.len) + name->part;
	uint32_t at = hash, number;
	struct ut_tally_name *entry;

	while ((number = ut_hashtab_next(&t->by_name, hash, &at))) {
		entry = &t->names[number - 1];
		if (entry->part == name->part && ut_str_eq(entry->name, name->name))
			return entry;
	}
	t->names = ut_grow(t->names, t->count + 1, &t->cap, sizeof(*t->names));
	entry = &t->names[t->count++];
	*entry = (struct ut_tally_name){ .part = name->part, .whole_run = name->whole_run };
	entry->name.ptr = ut_arena_copy(&t->arena, name->name.ptr, name->name.len);
	entry->name.len = name->name.len;
	ut_hashtab_add(&t->by_name, hash, (uint32_t)t->count);
	return entry;
}

void ut_tally_add(struct ut_tally *t, const struct ut_tally_name *name, struct ut_tally_value value)
{
	struct ut_tally_name *entry = entry_of(t, name);

	entry->values = ut_grow(entry->values, entry->count + 1, &entry->cap, sizeof(value));
	entry->values[entry->count++] = value;
}

static void add_section(struct ut_tally *t, const struct ut_device_section *section)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct ut_device_row *row = &section->rows[i];
		const struct ut_tally_name name = { .part = UT_TALLY_DEVICE,
						    .name = ut_str_of(row->name) };

		ut_tally_add(t, &name, (struct ut_tally_value){ row->total, row->calls });
	}
}

void ut_tally_traces(struct ut_tally *t, const struct ut_device_log *log)
{
	for (uint32_t source = 0; source < log->source_count; source++) {
		struct ut_device_table table = { 0 };

		ut_device_table_work(&table, log, source, false);
		for (size_t i = 0; i < table.section_count; i++)
			add_section(t, &table.sections[i]);
		ut_device_table_release(&table);
	}
}

/* ---- over processes ------------------------------------------------------------------------ */

static struct ut_amount tally_whole(uint64_t number)
{
	return (struct ut_amount){ .whole = true, .number = number, .real = (double)number };
}

static struct ut_amount fraction(double value)
{
	return (struct ut_amount){ .real = value };
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double sum_of(const uint64_t *sorted, size_t n)
{
	ut_u128 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += sorted[i];
	return (double)sum;
}

/* Half of two numbers' sum, rounded down, without their sum. */
static uint64_t between(uint64_t a, uint64_t b)
{
	return a / 2 + b / 2 + (a & b & 1);
}

static struct ut_amount aggregate(const uint64_t *sorted, size_t n, enum ut_aggregate how)
{
	switch (how) {
	case UT_AGGREGATE_MIN:
		return tally_whole(sorted[0]);
	case UT_AGGREGATE_MAX:
		return tally_whole(sorted[n - 1]);
	case UT_AGGREGATE_MEDIAN:
		if (n % 2)
			return tally_whole(sorted[n / 2]);
		return fraction(sum_of(sorted + n / 2 - 1, 2) / 2);
	case UT_AGGREGATE_MIN_1:
		return tally_whole(n == 1   ? sorted[0]
				   : n == 2 ? between(sorted[0], sorted[1])
					    : sorted[1]);
	case UT_AGGREGATE_MAX_1:
		return tally_whole(n == 1   ? sorted[0]
				   : n == 2 ? between(sorted[0], sorted[1])
					    : sorted[n - 2]);
	case UT_AGGREGATE_SUM:
		return fraction(sum_of(sorted, n));
	case UT_AGGREGATE_MEAN:
	case UT_AGGREGATES:
		break;
	}
	return fraction(sum_of(sorted, n) / (double)n);
}

static struct ut_amount over_processes(const struct ut_tally_name *name, enum ut_aggregate how,
				       bool calls)
{
	struct ut_arena scratch = { 0 };
	uint64_t *all = UT_NEW_N(&scratch, uint64_t, name->count + 1);
	struct ut_amount result;

	for (size_t i = 0; i < name->count; i++)
		all[i] = calls ? name->values[i].calls : name->values[i].time;
	qsort(all, name->count, sizeof(*all), by_size);
	result = name->count ? aggregate(all, name->count, how) : tally_whole(0);
	ut_arena_release(&scratch);
	return result;
}

struct ut_amount ut_tally_time(const struct ut_tally_name *name, enum ut_aggregate how)
{
	return over_processes(name, how, false);
}

struct ut_amount ut_tally_calls(const struct ut_tally_name *name, enum ut_aggregate how)
{
	return over_processes(name, how, true);
}

int ut_aggregate_find(const char *word, enum ut_aggregate *how, struct ut_err *err)
{
	static const char *const words[] = {
#define UT_AGGREGATE_WORD(how, word) [UT_AGGREGATE_##how] = (word),
		UT_AGGREGATE_LIST(UT_AGGREGATE_WORD)
#undef UT_AGGREGATE_WORD
	};

	for (size_t i = 0; i < UT_AGGREGATES; i++) {
		if (!strcmp(words[i], word)) {
			*how = (enum ut_aggregate)i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL,
			  "'%s' is no way to aggregate; one of mean, min, max, median, sum, min+1, "
			  "max-1",
			  word);
}

/* ---- by category --------------------------------------------------------------------------- */

static void add_amount(struct ut_amount *to, struct ut_amount more)
{
	to->whole = to->whole && more.whole;
	to->number += more.number;
	to->real = to->whole ? (double)to->number : to->real + more.real;
}

static struct ut_tally_line *tally_line_of(struct ut_tally_line *lines, size_t *count,
					   struct ut_str category)
{
	for (size_t i = 0; i < *count; i++) {
		if (ut_str_eq(lines[i].category, category))
			return &lines[i];
	}
	lines[*count] = (struct ut_tally_line){ .category = category, .known = true };
	lines[*count].time.whole = lines[*count].calls.whole = true;
	return &lines[(*count)++];
}

struct ut_tally_line *ut_tally_lines(struct ut_tally *t, const struct ut_schema *schema,
				     enum ut_aggregate how, bool all, size_t *count)
{
	static const char *const rest[] = {
#define UT_TALLY_REST(part, text) [UT_TALLY_##part] = (text),
		UT_TALLY_LIST(UT_TALLY_REST)
#undef UT_TALLY_REST
	};
	struct ut_tally_line *lines =
		UT_NEW_N(&t->arena, struct ut_tally_line, schema->count + UT_TALLY_PARTS + 1);

	*count = 0;
	for (int part = 0; part < UT_TALLY_PARTS; part++) {
		for (size_t i = 0; i < t->count; i++) {
			const struct ut_tally_name *name = &t->names[i];
			struct ut_str category = ut_schema_category(schema, name->name);
			struct ut_tally_line *line;

			if ((int)name->part != part || (!all && !category.ptr && name->whole_run))
				continue;
			line = tally_line_of(lines, count,
					     category.ptr ? category : ut_str_of(rest[part]));
			line->known = category.ptr;
			line->whole_run = name->whole_run;
			line->names++;
			add_amount(&line->time, ut_tally_time(name, how));
			add_amount(&line->calls, ut_tally_calls(name, how));
		}
	}
	return lines;
}
