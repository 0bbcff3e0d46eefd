#include "launch/cpu/perf_choice.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

#define PRECISE_MOST 3

static int open_own(struct perf_event_attr *attr)
{
	return (int)syscall(__NR_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void ut_perf_choice_apply(const struct ut_perf_choice *c, struct perf_event_attr *attr, uint64_t hz)
{
	if (!c->cycles) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		attr->sample_period = UINT64_C(1000000000) / hz;
		return;
	}
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_CPU_CYCLES;
	attr->freq = 1;
	attr->sample_freq = hz;
	attr->precise_ip = c->precise & 3u;
	if (c->lbr) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	}
}

static int try_it(const struct ut_perf_choice *c, uint64_t hz, ut_perf_opener *opener)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1
	};
	int fd;

	ut_perf_choice_apply(c, &attr, hz);
	fd = opener(&attr);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int ut_perf_choose(struct ut_perf_choice *c, enum ut_perf_event event, bool want_lbr, uint64_t hz,
		   ut_perf_opener *opener)
{
	struct ut_perf_choice next;
	int rc;

	*c = (struct ut_perf_choice){ .cycles = false };
	if (event == UT_PERF_CLOCK)
		return 0;
	if (!opener)
		opener = open_own;
	next = (struct ut_perf_choice){ .cycles = true };
	rc = try_it(&next, hz, opener);
	if (rc)
		return event == UT_PERF_CYCLES ? rc : 0;
	for (next.precise = PRECISE_MOST; next.precise && try_it(&next, hz, opener); next.precise--)
		;
	*c = next;
	next.lbr = true;
	if (want_lbr && !try_it(&next, hz, opener))
		*c = next;
	return 0;
}
