/*
 * fuzz_ops.c - libFuzzer target: any bytes as what `unitrace ops` reads today, in three parts with
 * a zero byte between them: messages, zones of the host, report of the device.
 *
 * Whatever could be read is in order and goes out in every format.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "export/out.h"
#include "ttops/report.h"
#include "ttops/today.h"
#include "ttops/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

/* Up to the next zero byte, with nothing behind it that could be read by mistake. */
static struct ut_ops_text part(struct ut_arena *a, const uint8_t **data, size_t *left)
{
	const uint8_t *zero = *left ? memchr(*data, 0, *left) : NULL;
	size_t len = zero ? (size_t)(zero - *data) : *left;
	struct ut_ops_text text = { ut_arena_alloc_alone(a, len + 1, 1), len };

	if (len)
		memcpy(text.data, *data, len);
	*data += zero ? len + 1 : len;
	*left -= zero ? len + 1 : len;
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_ops_text messages, times, device;
	struct ut_ops_report r;

	ut_ops_report_init(&r);
	messages = part(&r.arena, &data, &size);
	times = part(&r.arena, &data, &size);
	device = part(&r.arena, &data, &size);
	ut_ops_read_today_texts(&r, messages, times, device);
	for (size_t i = 1; i < r.row_count; i++)
		need(r.rows[i - 1].when <= r.rows[i].when, "rows are in order");
	ut_ops_write_csv(&r, out);
	ut_ops_write_json(&r, out);
	ut_ops_write_page(&r, out);
	ut_out_abandon(out);
	ut_ops_report_release(&r);
	return 0;
}
