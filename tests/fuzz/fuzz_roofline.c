/*
 * fuzz_roofline.c - libFuzzer target: any bytes as a device file, a header and rows of numbers;
 * then everything that is made of them. Nothing may be said to be used that was not done.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/roofline.h"
#include "metrics/roofline_chart.h"
#include "metrics/roofline_columns.h"
#include "metrics/roofline_device.h"
#include "metrics/roofline_table.h"
#include "metrics/roofline_words.h"
#include "text/out.h"
#include "text/table_report.h"

#define TITLES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text up to a NUL, which is gone then. */
static struct ut_str piece(struct ut_str *rest, char end)
{
	const char *at = rest->len ? memchr(rest->ptr, end, rest->len) : NULL;
	struct ut_str text = { rest->ptr, at ? (size_t)(at - rest->ptr) : rest->len };

	rest->ptr += text.len + (at != NULL);
	rest->len -= text.len + (at != NULL);
	return text;
}

static void add_rows(struct ut_roof *r, const struct ut_roof_columns *c, struct ut_str rest)
{
	double values[TITLES];
	struct ut_roof_work work;

	while (rest.len >= 2 + c->count * sizeof(double)) {
		struct ut_str name = { rest.ptr, 1 };
		unsigned int run = rest.ptr[1] & 1;

		memcpy(values, rest.ptr + 2, c->count * sizeof(double));
		ut_roof_columns_take(c, values, &work);
		ut_roof_add(r, run, name, &work);
		rest.ptr += 2 + c->count * sizeof(double);
		rest.len -= 2 + c->count * sizeof(double);
	}
}

static void check(const struct ut_roof *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_roof_kernel *k = &r->kernels[i];

		for (unsigned int p = 0; p < UT_ROOF_PARTS; p++) {
			if (k->used[p] > 0 && !(k->work.done[p] > 0))
				abort();
		}
		if (k->bound < UT_ROOF_PARTS && !(k->used[k->bound] > 0))
			abort();
	}
}

static void show(const struct ut_roof *r)
{
	const struct ut_report_opts how = { .format = UT_REPORT_JSON };
	struct ut_out *out = ut_out_open_memory();
	struct ut_arena arena = { 0 };
	struct ut_roof_picture picture;
	struct ut_buf text = { 0 };

	if (ut_roof_table(out, &how, r, NULL) || ut_roof_levels(out, &how, r, NULL))
		abort();
	ut_roof_compat(out, r);
	for (unsigned int i = 0; i < UT_ROOF_CHARTS; i++) {
		if (ut_roof_chart(r, (enum ut_roof_chart)i, &arena, &picture))
			ut_chart_json(out, &picture.chart);
	}
	ut_roof_say_all(r, &text);
	ut_buf_release(&text);
	ut_arena_release(&arena);
	ut_out_abandon(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_str rest = { (const char *)data, size }, header, device;
	struct ut_roof_columns columns = { 0 };
	struct ut_roof roof = { 0 };
	struct ut_str titles[TITLES];
	size_t count = 0;

	device = piece(&rest, '\0');
	header = piece(&rest, '\0');
	while (header.len && count < TITLES)
		titles[count++] = piece(&header, ',');
	if (!ut_roof_device_read(&roof.device, &roof.arena, "fuzz", device, NULL, NULL)) {
		ut_roof_columns_bind(&columns, titles, count);
		add_rows(&roof, &columns, rest);
		ut_roof_place(&roof);
		check(&roof);
		show(&roof);
	}
	ut_roof_columns_release(&columns);
	ut_roof_release(&roof);
	return 0;
}
