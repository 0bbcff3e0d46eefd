/*
 * fuzz_complog.c - libFuzzer target: any bytes as a compiler's log, and as a stage profile.
 */
#include <stdint.h>
#include <stdlib.h>

#include "acelyzer/complog.h"
#include "acelyzer/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_log(const uint8_t *data, size_t size, enum ut_ace_release release)
{
	struct ut_ace_messages messages = { 0 };
	struct ut_ace_complog log;
	struct ut_ace_table table;
	struct ut_ace_complog_reader r = {
		.table = &table, .messages = &messages, .core = 800, .release = release
	};

	ut_ace_table_init(&table);
	ut_ace_complog_text(&r, &log, (const char *)data, size);
	for (size_t i = 0; i < log.table_count; i++) {
		const struct ut_ace_ideal *t = &log.tables[i];

		for (size_t k = 0; k < t->kernel_count; k++) {
			uint32_t place = ut_idmap_get(&t->place, t->kernels[k]);

			if (place > t->cycle_count)
				abort();
		}
	}
	ut_ace_complog_release(&log);
	ut_ace_messages_release(&messages);
	ut_ace_table_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_ace_messages messages = { 0 };
	struct ut_ace_profile profile;

	for (int release = UT_ACE_1_0; release <= UT_ACE_1_2; release++) {
		struct ut_ace_profile_rules rules = { release, &messages };

		read_log(data, size, release);
		(void)!ut_ace_profile_text(&profile, &rules, "fuzz", (const char *)data, size,
					   NULL);
	}
	ut_ace_messages_release(&messages);
	return 0;
}
