/*
 * write_chrome.c - device_chrome_tracing.json for logs of timer numbers: every RISC of every core
 * is a process, and each launch begins at T0. Kept for those who compare with the original;
 * log_trace.h makes the timeline to look at.
 */
#include "tt/write_devlog.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "text/out.h"

static const char *const riscs[] = { "BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2", "ERISC" };

/* Per RISC its number, from 1; those that the original does not know come behind. */
static uint32_t *number_riscs(const struct ut_tt_log *log)
{
	const uint32_t known = sizeof(riscs) / sizeof(riscs[0]);
	uint32_t *numbers = ut_make((log->risc_count + 1) * sizeof(*numbers));

	for (uint32_t i = 0; i < log->risc_count; i++) {
		numbers[i] = known + 1 + i;
		for (uint32_t k = 0; k < known; k++) {
			if (ut_tt_is(log, log->riscs[i].name, riscs[k]))
				numbers[i] = k + 1;
		}
	}
	return numbers;
}

struct place {
	const struct ut_tt_core *core;
	uint32_t risc; /* index into log->riscs */
	int64_t id;
};

static void write_chrome_put_name(const struct place *p, struct ut_out *out)
{
	ut_out_fmt(out,
		   "  {\n    \"args\": {\n      \"name\": \"(%" PRId32 ", %" PRId32 ")\"\n    },\n"
		   "    \"name\": \"thread_name\",\n    \"ph\": \"M\",\n"
		   "    \"pid\": %" PRId64 ",\n    \"tid\": %" PRId64 "\n  }",
		   p->core->x, p->core->y, p->id, p->id);
}

static void put_edge(const struct ut_tt_log *log, const struct place *p, char phase, uint64_t ts,
		     struct ut_out *out)
{
	struct ut_str name = ut_tt_str(log, log->riscs[p->risc].name);

	ut_out_text(out, "  {\n    \"cat\": \"PERF\",\n    \"name\": ");
	ut_out_json_str(out, name.ptr, name.len);
	ut_out_fmt(out,
		   ",\n    \"ph\": \"%c\",\n    \"pid\": %" PRId64 ",\n    \"tid\": %" PRId64 ",\n"
		   "    \"ts\": %" PRIu64 "\n  },\n",
		   phase, p->id, p->id, ts);
}

void ut_tt_write_chrome(const struct ut_tt_log *log, struct ut_out *out)
{
	uint32_t *numbers = number_riscs(log);
	const char *sep = "";

	ut_out_text(out, "[\n");
	for (size_t i = 0; i < log->chip_count; i++) {
		const struct ut_tt_chip *chip = &log->chips[i];

		for (uint32_t k = 0; k < chip->count; k++) {
			const struct ut_tt_row *row = &log->rows[log->by_chip[chip->first + k]];
			int64_t id = log->marks[row->mark].id;
			/* T0 is tagged with the core that it was taken from */
			uint32_t lane = id ? row->lane : chip->t0_lane;
			struct place p = { .core = &log->cores[log->lanes[lane].core] };

			p.risc = log->lanes[row->lane].risc;
			p.id = numbers[p.risc] + 100ll * p.core->x + 10000ll * p.core->y;
			ut_out_text(out, sep);
			if (id == 1)
				put_edge(log, &p, 'B', chip->t0, out);
			else if (id == 4)
				put_edge(log, &p, 'E', row->ts, out);
			write_chrome_put_name(&p, out);
			sep = ",\n";
		}
	}
	ut_out_text(out, *sep ? "\n]" : "]");
	free(numbers);
}
