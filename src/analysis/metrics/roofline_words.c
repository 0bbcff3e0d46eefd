#include "metrics/roofline_words.h"

#include <stdio.h>

#include "text/cells.h"

/* 1234567.8 is "1,234,568", 12.3 is "12.3": four digits at least. */
static void roofline_words_put_number(struct ut_buf *to, double value)
{
	char text[64];
	int len;

	if (value < 1000 || value >= 1e18) {
		ut_buf_fmt(to, "%.4g", value);
		return;
	}
	len = snprintf(text, sizeof(text), "%.0f", value);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			ut_buf_char(to, ',');
		ut_buf_char(to, text[i]);
	}
}

void ut_roof_say_rate(const struct ut_roof *r, const struct ut_roof_kernel *k, unsigned int part,
		      struct ut_buf *to)
{
	double seconds = k->work.ns / 1e9;

	roofline_words_put_number(to, seconds > 0 ? k->work.done[part] / seconds / 1e9 : 0);
	if (r->device.peak[part] > 0) {
		ut_buf_text(to, " of ");
		roofline_words_put_number(to, r->device.peak[part] / 1e9);
	}
	ut_buf_text(to, ut_roof_is_level(part) ? " GB/s" : " GFLOP/s");
}

void ut_roof_say_kernel(const struct ut_roof *r, const struct ut_roof_kernel *k, size_t columns,
			struct ut_buf *to)
{
	const char *part = ut_roof_title(&r->device, k->bound);

	ut_cell_name(to, k->shown.ptr, k->shown.len, columns);
	ut_buf_fmt(to, " (%.1f %% of the time) ", 100 * k->share);
	if (k->bound == UT_ROOF_NONE) {
		ut_buf_text(to, "did nothing that was measured and has a roof.");
		return;
	}
	if (ut_roof_reached(k) >= UT_ROOF_NEAR) {
		ut_buf_fmt(to,
			   "is %s bound (%s): ", ut_roof_is_level(k->bound) ? "memory" : "compute",
			   part);
		ut_roof_say_rate(r, k, k->bound, to);
		ut_buf_fmt(to, ", %.1f %% of its roof.", 100 * ut_roof_reached(k));
		return;
	}
	ut_buf_fmt(to, "is far from any roof; the nearest is %s with %.*f %% (", part,
		   ut_roof_reached(k) < 0.001 ? 3 : 1, 100 * ut_roof_reached(k));
	ut_roof_say_rate(r, k, k->bound, to);
	ut_buf_text(to, "): it waits, has too little to do, or is bound by what has no roof "
			"(integers, special functions, atomics, issue slots).");
}

/* The parts by which most of the time is bound, the largest share first. */
static unsigned int next_part(const struct ut_roof *r, uint32_t said)
{
	unsigned int best = UT_ROOF_NONE;
	double most = 0;

	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++) {
		double share = said & 1u << p ? 0 : ut_roof_bound_share(r, p);

		if (share > most) {
			best = p;
			most = share;
		}
	}
	return best;
}

void ut_roof_say_all(const struct ut_roof *r, struct ut_buf *to)
{
	char time[UT_CELL_TIME];
	uint32_t said = 0;
	unsigned int part;

	ut_buf_fmt(to, "%zu kernel%s, %s", r->count, r->count == 1 ? "" : "s",
		   ut_cell_time(time, r->ns < 1e19 ? (uint64_t)r->ns : UINT64_MAX));
	if (r->device.name.len) {
		ut_buf_text(to, " on ");
		ut_cell_name(to, r->device.name.ptr, r->device.name.len, 60);
	}
	while ((part = next_part(r, said)) != UT_ROOF_NONE) {
		ut_buf_text(to, said ? ", " : ": ");
		ut_buf_fmt(to, "%.1f %% of the time %s %s", 100 * ut_roof_bound_share(r, part),
			   said ? "by" : "bound by", ut_roof_title(&r->device, part));
		said |= 1u << part;
	}
	if (ut_roof_bound_share(r, UT_ROOF_NONE) > 0) {
		ut_buf_fmt(to, "%s %.1f %% of the time far from any roof.", said ? "," : ":",
			   100 * ut_roof_bound_share(r, UT_ROOF_NONE));
		return;
	}
	ut_buf_text(to, said ? "." : ": nothing that was measured has a roof.");
}
