/* compat_rearranged.c - device_rearranged_timestamps.csv: a row per core, a cell per marker. */
#include "tt/write_devlog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "text/digits.h"
#include "text/out.h"

static const char *const riscs[] = { "BRISC", "NCRISC" };
static const char *const marks[] = { "Firmware Start", "Kernel start", "Kernel End",
				     "Firmware End" };

struct placed {
	int64_t key;
	uint32_t core;
};

static int compat_rearranged_by_key(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->core > b->core) - (a->core < b->core);
}

uint32_t *ut_tt_cores_by_place(const struct ut_tt_log *log, const struct ut_tt_chip *chip)
{
	struct placed *placed = ut_make((size_t)(chip->core_count + 1) * sizeof(*placed));
	uint32_t *cores = ut_make((size_t)(chip->core_count + 1) * sizeof(*cores));

	for (uint32_t i = 0; i < chip->core_count; i++) {
		const struct ut_tt_core *c = &log->cores[chip->core + i];

		placed[i] = (struct placed){ c->x + 100ll * c->y, chip->core + i };
	}
	qsort(placed, chip->core_count, sizeof(*placed), compat_rearranged_by_key);
	for (uint32_t i = 0; i < chip->core_count; i++)
		cores[i] = placed[i].core;
	free(placed);
	return cores;
}

/* Which of the four default markers a mark is, from 1; in a log of zones those of its own RISC. */
static int64_t default_marker(const struct ut_tt_log *log, const struct ut_tt_mark *m,
			      const char *risc)
{
	char firmware[32], kernel[32];

	if (!log->zones)
		return m->id;
	if (m->phase > UT_TT_END)
		return 0;
	snprintf(firmware, sizeof(firmware), "%s-FW", risc);
	snprintf(kernel, sizeof(kernel), "%s-KERNEL", risc);
	if (ut_tt_is(log, m->zone, firmware))
		return m->phase == UT_TT_START ? 1 : 4;
	if (ut_tt_is(log, m->zone, kernel))
		return m->phase == UT_TT_START ? 2 : 3;
	return 0;
}

/* Per mark which of the four it is. */
static uint8_t *find_defaults(const struct ut_tt_log *log, const char *risc)
{
	uint8_t *found = ut_make(log->mark_count + 1);

	for (size_t i = 0; i < log->mark_count; i++) {
		int64_t n = default_marker(log, &log->marks[i], risc);

		found[i] = n >= 1 && n <= 4 ? (uint8_t)n : 0;
	}
	return found;
}

static void compat_rearranged_put_cells(const struct ut_tt_log *log, const struct ut_tt_lane *lane,
					const uint8_t *defaults, struct ut_out *out)
{
	for (int marker = 1; marker <= 4; marker++) {
		const char *sep = ",";

		for (uint32_t i = 0; lane && i < lane->count; i++) {
			const struct ut_tt_row *row = &log->rows[lane->first + i];
			char *p;

			if (defaults[row->mark] != marker)
				continue;
			p = ut_out_reserve(out, UT_DIGITS_ROOM + 1);
			*p++ = *sep;
			ut_out_advance(out, ut_digits_u64(p, row->ts));
			sep = " ";
		}
		if (*sep == ',')
			ut_out_text(out, sep);
	}
}

static const struct ut_tt_lane *find_lane(const struct ut_tt_log *log,
					  const struct ut_tt_core *core, const char *risc)
{
	for (uint32_t i = 0; i < core->lane_count; i++) {
		const struct ut_tt_lane *lane = &log->lanes[core->lane + i];

		if (ut_tt_is(log, log->riscs[lane->risc].name, risc))
			return lane;
	}
	return NULL;
}

static void put_header(const struct ut_tt_log *log, const struct ut_tt_chip *chip,
		       struct ut_out *out)
{
	ut_out_fmt(out, "Clock Frequency [MHz],%" PRIu64 "\r\nPCIe slot,%" PRId32 "\r\n", log->mhz,
		   chip->id);
	ut_out_text(out, "core x,core y");
	for (size_t r = 0; r < 2; r++) {
		for (size_t m = 0; m < 4; m++)
			ut_out_fmt(out, ",%s %s", riscs[r], marks[m]);
	}
	ut_out_text(out, "\r\n");
}

void ut_tt_write_rearranged(const struct ut_tt_log *log, struct ut_out *out)
{
	uint8_t *defaults[2] = { find_defaults(log, riscs[0]), find_defaults(log, riscs[1]) };

	for (size_t i = 0; i < log->chip_count; i++) {
		const struct ut_tt_chip *chip = &log->chips[i];
		uint32_t *cores = ut_tt_cores_by_place(log, chip);

		put_header(log, chip, out);
		for (uint32_t k = 0; k < chip->core_count; k++) {
			const struct ut_tt_core *core = &log->cores[cores[k]];

			ut_out_fmt(out, "%" PRId32 ",%" PRId32, core->x, core->y);
			for (size_t r = 0; r < 2; r++)
				compat_rearranged_put_cells(log, find_lane(log, core, riscs[r]),
							    defaults[r], out);
			ut_out_text(out, "\r\n");
		}
		free(cores);
	}
	free(defaults[0]);
	free(defaults[1]);
}
