/* compat_stats.c - device_stats.txt: a block per rule, and for one chip a map of its cores. */
#include "tt/write_devlog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text/out.h"

#define WIDTH   17 /* of a cell */
#define COLUMNS 12
#define ROWS    10

/* The rows of the drawing: numbers, a line, memory, five rows, memory, five rows. */
#define ROW_NUMBERS (-3)
#define ROW_LINE    (-2)
#define ROW_DRAM    (-1)
#define ROW_DRAM_2  5
#define ROW_LAST    10

#define CELL 64

bool ut_tt_has_stats(const struct ut_tt_log *log)
{
	return log->zones || !strcmp(log->arch, UT_TT_OLD_ARCH);
}

/* Digits with a comma before each group of three. */
static void add_commas(char to[CELL], const char *digits)
{
	size_t len, n = 0;

	if (*digits == '-')
		to[n++] = *digits++;
	len = strlen(digits);
	for (size_t i = 0; i < len && n < CELL - 2; i++) {
		if (i && (len - i) % 3 == 0)
			to[n++] = ',';
		to[n++] = digits[i];
	}
	to[n] = '\0';
}

/* No decimals: halves go to the even side, as printf and Python both do. */
static const char *compat_stats_number(char to[CELL], double value)
{
	char digits[CELL / 2];

	snprintf(digits, sizeof(digits), "%.0f", value);
	add_commas(to, digits);
	return to;
}

static const char *compat_stats_whole(char to[CELL], uint64_t value)
{
	char digits[CELL / 2];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	add_commas(to, digits);
	return to;
}

static void compat_stats_put_stats(const struct ut_tt_stats *st, bool zones, struct ut_out *out)
{
	const struct {
		const char *name;
		double value;
	} shown[] = {
		{ "Count", (double)st->count },       { "Average", st->average },
		{ "Max", (double)st->max },           { "Median", st->median },
		{ "Min", (double)st->min },           { "Sum", (double)st->sum },
		{ "Range", (double)ut_tt_range(st) },
	};
	size_t count = zones ? 7 : 5;
	char text[CELL];

	if (st->count < 2) {
		ut_out_fmt(out, "%12s [cycles] = %10s\n", "Duration",
			   compat_stats_number(text, (double)st->max));
		return;
	}
	for (size_t i = 0; i < count; i++)
		ut_out_fmt(out, "%12s %s = %10s\n", shown[i].name,
			   zones && !i ? "        " : "[cycles]",
			   compat_stats_number(text, shown[i].value));
}

/* ---- the map ------------------------------------------------------------------------------- */

/* Results of one rule by place; NULL where there are none. */
struct map {
	const struct ut_tt_stats *at[ROWS][COLUMNS];
};

static void fill_map(struct map *map, const struct ut_tt_analysis *a, const struct ut_tt_chip *chip,
		     uint32_t rule)
{
	*map = (struct map){ 0 };
	for (uint32_t i = chip->core; i < chip->core + chip->core_count; i++) {
		const struct ut_tt_core *core = &a->log->cores[i];
		const struct ut_tt_scope *scope = &a->cores[i];

		if (core->x < 0 || core->x >= COLUMNS || core->y < 0 || core->y >= ROWS)
			continue;
		for (size_t k = 0; k < scope->count; k++) {
			const struct ut_tt_result *r = &a->results[scope->result + k];

			if (r->rule == rule)
				map->at[core->y][core->x] = &r->stats;
		}
	}
}

/* printf counts bytes; the sign in the middle has two. */
static void put_core(const struct ut_tt_stats *st, struct ut_out *out)
{
	char median[CELL], half[CELL], text[2 * CELL + 4];

	if (!st) {
		ut_out_fmt(out, "%*s", WIDTH, "X");
	} else if (st->count < 2) {
		ut_out_fmt(out, "%*s", WIDTH, compat_stats_number(median, st->median));
	} else {
		snprintf(text, sizeof(text), "%s\u00b1%s", compat_stats_number(median, st->median),
			 compat_stats_whole(half, ut_tt_range(st) / 2));
		ut_out_fmt(out, "%*s", WIDTH + 1, text);
	}
}

static void compat_stats_put_cell(const struct map *map, int row, int x, struct ut_out *out)
{
	if (row == ROW_NUMBERS)
		ut_out_fmt(out, "%*d", WIDTH, x);
	else if (row == ROW_LINE)
		ut_out_text(out, "=================");
	else if (row != ROW_DRAM && row != ROW_DRAM_2)
		put_core(map->at[row > ROW_DRAM_2 ? row - 1 : row][x], out);
	else if (x % 3)
		ut_out_fmt(out, "%*s", WIDTH, "---");
	else
		ut_out_fmt(out, "%*s%d", WIDTH - 1, "DRAM", x / 3 + (row == ROW_DRAM_2 ? 4 : 0));
}

static void compat_stats_put_row(const struct map *map, int row, struct ut_out *out)
{
	if (row >= 0 && row != ROW_DRAM_2)
		ut_out_fmt(out, "%2d|| ", row > ROW_DRAM_2 ? row - 1 : row);
	else
		ut_out_text(out, "     ");
	ut_out_text(out, row == 1 ? "ARC" : row == 3 ? "PCI" : row >= 0 ? "---" : "   ");
	for (int x = 0; x < COLUMNS; x++)
		compat_stats_put_cell(map, row, x, out);
	ut_out_text(out, "\n");
}

static void put_map(const struct ut_tt_analysis *a, const struct ut_tt_chip *chip, uint32_t rule,
		    struct ut_out *out)
{
	struct map map;

	fill_map(&map, a, chip, rule);
	for (int row = ROW_NUMBERS; row <= ROW_LAST; row++)
		compat_stats_put_row(&map, row, out);
	ut_out_text(out, "\n\n\n");
}

void ut_tt_write_stats(const struct ut_tt_analysis *a, struct ut_out *out)
{
	const struct ut_tt_log *log = a->log;
	/* the map is drawn for the chip that it shows */
	bool maps = !log->zones && !strcmp(log->arch, UT_TT_OLD_ARCH);

	for (size_t i = 0; i < log->chip_count; i++) {
		for (uint32_t r = 0; r < a->setup.count; r++) {
			const struct ut_tt_rule *rule = a->setup.rules[r];
			const struct ut_tt_stats *st = &a->chips[i].summary[r];

			if (!st->count)
				continue;
			ut_out_fmt(out, "\n=================== %s ===================\n",
				   rule->name);
			compat_stats_put_stats(st, log->zones, out);
			ut_out_text(out, "\n");
			if (maps && rule->across == UT_TT_ACROSS_CORE)
				put_map(a, &log->chips[i], r, out);
		}
	}
}
