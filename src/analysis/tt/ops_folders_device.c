#include "tt/ops_folders_device.h"

#include <errno.h>
#include <math.h>

#include "tt/read_log.h"

/* From the first marker `from` to the last marker `to`, across cores; risc NULL = any. */
struct rule {
	const char *risc;
	int64_t from, to;
};

static const struct rule rules[UT_OPS_TIMES] = {
	[UT_OPS_FW] = { NULL, 1, 4 },          [UT_OPS_KERNEL] = { NULL, 2, 3 },
	[UT_OPS_BRISC] = { "BRISC", 2, 3 },    [UT_OPS_NCRISC] = { "NCRISC", 2, 3 },
	[UT_OPS_TRISC0] = { "TRISC_0", 2, 3 }, [UT_OPS_TRISC1] = { "TRISC_1", 2, 3 },
	[UT_OPS_TRISC2] = { "TRISC_2", 2, 3 },
};

uint64_t ut_ops_ns(uint64_t cycles, uint64_t mhz)
{
	double ns = nearbyint((double)cycles * 1000.0 / (double)mhz);

	return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

static bool ops_folders_device_matches(const struct ut_tt_log *log, uint32_t row, const char *risc,
				       int64_t id)
{
	const struct ut_tt_row *r = &log->rows[row];

	return log->marks[r->mark].id == id &&
	       (!risc || ut_tt_is(log, ut_tt_risc_of(log, r)->name, risc));
}

static bool ops_folders_device_measure(const struct ut_tt_log *log, const struct rule *rule,
				       uint64_t *cycles)
{
	const struct ut_tt_chip *chip = &log->chips[0];
	const uint32_t *order = log->by_chip + chip->first;
	uint32_t from = 0, to = chip->count;

	while (from < chip->count &&
	       !ops_folders_device_matches(log, order[from], rule->risc, rule->from))
		from++;
	while (to > from && !ops_folders_device_matches(log, order[to - 1], rule->risc, rule->to))
		to--;
	if (to <= from)
		return false;
	*cycles = log->rows[order[to - 1]].ts - log->rows[order[from]].ts;
	return true;
}

static void measure_all(struct ut_ops_device *d, const struct ut_tt_log *log)
{
	const struct ut_tt_chip *chip = &log->chips[0];
	const uint32_t *order = log->by_chip + chip->first;
	uint64_t cycles;

	*d = (struct ut_ops_device){ .cores = chip->core_count,
				     .start = log->rows[order[0]].ts,
				     .end = log->rows[order[chip->count - 1]].ts };
	for (int i = 0; i < UT_OPS_TIMES; i++) {
		d->found[i] = ops_folders_device_measure(log, &rules[i], &cycles);
		if (d->found[i])
			d->ns[i] = ut_ops_ns(cycles, log->mhz);
	}
}

int ut_ops_device_read(struct ut_ops_device *d, const char *path, struct ut_err *err)
{
	const struct ut_tt_read_opts opts = { 0 };
	struct ut_tt_log log;
	int rc;

	ut_tt_log_init(&log);
	rc = ut_tt_read_file(&log, path, &opts, err);
	if (!rc && log.zones)
		rc = ut_err_set(
			err, -EINVAL,
			"%s: a log of zones, not of timer numbers; 'unitrace devlog' reads it",
			path);
	if (!rc && (!log.chip_count || !log.chips[0].count))
		rc = ut_err_set(err, -EINVAL, "%s: no markers", path);
	if (!rc)
		measure_all(d, &log);
	ut_tt_log_release(&log);
	return rc;
}
