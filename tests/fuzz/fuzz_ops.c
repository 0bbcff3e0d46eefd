/*
 * fuzz_ops.c - libFuzzer target: any bytes as what `unitrace ops` reads today, in three parts with
 * a zero byte between them: messages, zones of the host, report of the device.
 *
 * Whatever could be read is in order and goes out in every format.
 */
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "ops.h"
#include "tt/ops_tracy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Up to the next zero byte, with nothing behind it that could be read by mistake. */
static struct ut_ops_text part(struct ut_arena *a, const uint8_t **data, size_t *left)
{
	size_t len;
	const uint8_t *bytes = next_part(data, left, &len);
	struct ut_ops_text text = { ut_arena_alloc_alone(a, len + 1, 1), len };

	if (len)
		memcpy(text.data, bytes, len);
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
	ut_ops_read_tracy_texts(&r, messages, times, device);
	write_report(&r, out);
	ut_out_abandon(out);
	ut_ops_report_release(&r);
	return 0;
}
