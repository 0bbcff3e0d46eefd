/* fuzz_stall.c - libFuzzer target: any bytes as the assembly of a kernel that stalls everywhere. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bytes.h"
#include "metrics/stall_report.h"
#include "text/out.h"
#include "text/table_report.h"

#define ROWS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(const struct ut_stall_result *r)
{
	struct ut_out *out = ut_out_open_memory();

	ut_stall_text(out, r);
	ut_stall_json(out, r);
	for (int i = UT_STALL_SOURCE; i <= UT_STALL_ASSEMBLY; i++) {
		enum ut_stall_listing what = (enum ut_stall_listing)i;
		struct ut_report *report =
			ut_stall_listing_start(out, &(struct ut_report_opts){ 0 }, what);

		ut_stall_listing_head(out, r, what);
		ut_stall_listing_add(report, r, what);
		ut_report_finish(report);
	}
	ut_out_abandon(out);
}

static void check(const struct ut_stall_result *r)
{
	uint64_t last = 0;

	need(r->samples >= r->stalls && r->samples >= r->lost, "stalls are samples");
	for (size_t i = 0; i < r->instruction_count; i++) {
		need(!i || r->instructions[i].place.address > last, "addresses ascend");
		last = r->instructions[i].place.address;
	}
	for (size_t i = 0; i < r->finding_count; i++)
		need(r->findings[i].count > 0 && r->findings[i].share <= 1,
		     "a finding has samples");
}

/* Each address that an instruction may have, with as many samples of each reason as it likes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ut_str reasons[] = { { "Active[Events]", 14 },
						 { "SbidStall[Events]", 17 },
						 { "LongScoreboardStall[Events]", 27 },
						 { "WaitStall[Events]", 17 },
						 { "OtherStall[Events]", 18 } };
	enum {
		REASONS = sizeof(reasons) / sizeof(reasons[0])
	};
	static int file = -1;
	static char path[64];
	uint64_t addresses[ROWS], counts[ROWS * REASONS];
	struct ut_stall_samples samples = { { "_Z1kPi", 6 }, reasons, REASONS,  addresses,
					    counts,          ROWS,    { "", 0 } };
	struct ut_stall_opts opts = { .code = path, .top = 20, .no_files = true };
	struct ut_stall_result result;

	if (file < 0) {
		file = memfd_create("asm", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
		setenv("UNITRACE_NVDISASM", "/no/such/tool", 1); /* a cubin ends there */
	}
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	for (size_t i = 0; i < ROWS; i++)
		addresses[i] = 8 * i;
	for (size_t i = 0; i < ROWS * REASONS; i++)
		counts[i] = size ? data[i % size] : 0;
	if (ut_stall_find(&result, &samples, &opts, NULL))
		return 0;
	check(&result);
	write_all(&result);
	ut_stall_release(&result);
	return 0;
}
