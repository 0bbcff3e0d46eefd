/* diff_table.c - functions of two profiles beside each other: see hotspots_table.h. */
#include "sample/hotspots_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "base/path.h"
#include "sample/hotspots.h"
#include "sample/short_name.h"
#include "sample/table_parts.h"
#include "text/out.h"
#include "text/table_report.h"

enum {
	CHANGE,
	CHANGE_SHARE,
	BEFORE,
	AFTER,
	SHARE_BEFORE,
	SHARE_AFTER,
	SIZE,
	NAME,
	MODULE,
	COLUMNS
};

#define COLUMN_LIST(weight, unit_)                                                                 \
	{                                                                                          \
		[CHANGE] = { .key = "change", .title = "Change", .unit = unit_, .type = weight },  \
		[CHANGE_SHARE] = { .key = "change_points",                                         \
				   .title = "Points",                                              \
				   .unit = "%",                                                    \
				   .type = UT_REPORT_SHARE },                                      \
		[BEFORE] = { .key = "before", .title = "Before", .unit = unit_, .type = weight },  \
		[AFTER] = { .key = "after", .title = "After", .unit = unit_, .type = weight },     \
		[SHARE_BEFORE] = { .key = "share_before",                                          \
				   .title = "Before %",                                            \
				   .unit = "%",                                                    \
				   .type = UT_REPORT_SHARE },                                      \
		[SHARE_AFTER] = { .key = "share_after",                                            \
				  .title = "After %",                                              \
				  .unit = "%",                                                     \
				  .type = UT_REPORT_SHARE },                                       \
		[SIZE] = { .key = "size", .type = weight, .readers = UT_FOR_NOBODY },              \
		[NAME] = { .key = "name",                                                          \
			   .title = "Name",                                                        \
			   .type = UT_REPORT_TEXT,                                                 \
			   .most = UT_HOT_NAME_COLUMNS },                                          \
		[MODULE] = { .key = "module",                                                      \
			     .title = "Module",                                                    \
			     .type = UT_REPORT_TEXT,                                               \
			     .most = UT_HOT_MODULE_COLUMNS,                                        \
			     .if_any = true },                                                     \
	}

static const struct ut_report_column columns[UT_HOT_UNITS][COLUMNS] = {
	COLUMN_LIST(UT_REPORT_TIME, "ns"),
	COLUMN_LIST(UT_REPORT_BYTES, "bytes"),
	COLUMN_LIST(UT_REPORT_COUNT, NULL),
};

int ut_prof_check_diff_sort(const char *sort, struct ut_err *err)
{
	const struct ut_report_table table = { columns[0], COLUMNS, .ruled = true };

	return ut_report_check_sort(&table, sort, err);
}

/* A function is the same in both runs if its name and the last part of its module's are: another
 * build lies in another folder. */
struct pair {
	struct ut_str name;
	const char *module;
	uint64_t self[2];
};

struct pairs {
	struct pair *items;
	size_t count, cap;
	struct ut_hashtab by_key;
};

static struct pair *pair_of(struct pairs *p, struct ut_str name, const char *module)
{
	uint32_t hash = (uint32_t)(ut_hash_bytes(name.ptr, name.len) * 31 +
				   ut_hash_bytes(module, strlen(module)));
	uint32_t at = hash, number;

	while ((number = ut_hashtab_next(&p->by_key, hash, &at)) &&
	       (!ut_str_eq(p->items[number - 1].name, name) ||
		strcmp(p->items[number - 1].module, module) != 0))
		;
	if (!number) {
		p->items = ut_grow(p->items, p->count + 1, &p->cap, sizeof(*p->items));
		p->items[p->count] = (struct pair){ .name = name, .module = module };
		number = (uint32_t)++p->count;
		ut_hashtab_add(&p->by_key, hash, number);
	}
	return &p->items[number - 1];
}

static void diff_table_add(struct pairs *pairs, const struct ut_prof *p, int which)
{
	struct ut_hotspots h;

	ut_hotspots_init(&h, p, UT_HOT_BY_FUNCTION);
	for (size_t i = 0; i < h.count; i++) {
		const struct ut_prof_frame *f = &h.rows[i].frame;
		struct ut_str name = f->function ? ut_prof_text(p, f->function)
						 : (struct ut_str){ "[unknown]", 9 };

		pair_of(pairs, name, ut_path_base(ut_prof_text(p, f->module).ptr))->self[which] +=
			h.rows[i].self;
	}
	ut_hotspots_release(&h);
}

static uint64_t change_of(const struct pair *p)
{
	return p->self[1] > p->self[0] ? p->self[1] - p->self[0] : p->self[0] - p->self[1];
}

static int largest_first(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	uint64_t m = change_of(x), n = change_of(y);

	if (m != n)
		return m < n ? 1 : -1;
	return ut_str_cmp(x->name, y->name);
}

static struct ut_report_cell signed_cell(const struct pair *p)
{
	return ut_report_i64((int64_t)(p->self[1] - p->self[0]));
}

/* How much of each name is shown: people see it in short. */
static uint8_t *name_parts(const struct pairs *pairs, bool people)
{
	struct ut_str *names = ut_make((pairs->count + 1) * sizeof(*names));
	uint8_t *parts = ut_make(pairs->count + 1);

	for (size_t i = 0; i < pairs->count; i++)
		names[i] = pairs->items[i].name;
	if (people)
		ut_name_parts(names, pairs->count, parts);
	else
		memset(parts, UT_NAME_WHOLE, pairs->count);
	free(names);
	return parts;
}

void ut_prof_print_diff(struct ut_out *out, const struct ut_prof *before,
			const struct ut_prof *after, const struct ut_report_opts *opts)
{
	const struct ut_report_table table = { columns[ut_hot_unit(after)], COLUMNS,
					       .ruled = true };
	struct ut_report *report = ut_report_start(out, opts, &table);
	bool people = ut_report_for_people(report);
	struct pairs pairs = { 0 };
	struct ut_buf name = { 0 };
	uint8_t *parts;

	diff_table_add(&pairs, before, 0);
	diff_table_add(&pairs, after, 1);
	if (pairs.count)
		qsort(pairs.items, pairs.count, sizeof(*pairs.items), largest_first);
	parts = name_parts(&pairs, people);
	for (size_t i = 0; i < pairs.count; i++) {
		const struct pair *p = &pairs.items[i];
		double was = ut_hot_share(p->self[0], before->weight);
		double is = ut_hot_share(p->self[1], after->weight);
		struct ut_report_cell cells[COLUMNS];

		cells[CHANGE] = signed_cell(p);
		cells[CHANGE_SHARE] = ut_report_real(is - was);
		cells[BEFORE] = ut_report_u64(p->self[0]);
		cells[AFTER] = ut_report_u64(p->self[1]);
		cells[SHARE_BEFORE] = ut_report_real(was);
		cells[SHARE_AFTER] = ut_report_real(is);
		cells[SIZE] = ut_report_u64(change_of(p));
		name.len = 0;
		ut_name_part(&name, p->name, (enum ut_name_part)parts[i]);
		cells[NAME] = ut_report_str((struct ut_str){ name.data, name.len });
		cells[MODULE] = p->module[0] ? ut_report_text(p->module) : ut_report_none();
		ut_report_add(report, cells);
	}
	ut_report_finish(report);
	ut_buf_release(&name);
	free(parts);
	ut_hashtab_release(&pairs.by_key);
	free(pairs.items);
}
