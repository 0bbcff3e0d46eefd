#include "tt/setup.h"

#include <stdlib.h>
#include <string.h>

const char *const ut_tt_across_names[] = {
	[UT_TT_ACROSS_CORE] = "core",
	[UT_TT_ACROSS_DEVICE] = "device",
	[UT_TT_ACROSS_OPS] = "ops",
	[UT_TT_ACROSS_DISPATCH] = "dispatch_ops",
};

const char *const ut_tt_rule_type_names[] = {
	[UT_TT_ADJACENT] = "adjacent",          [UT_TT_SESSION] = "session_first_last",
	[UT_TT_LAUNCH] = "launch_first_last",   [UT_TT_OP] = "op_first_last",
	[UT_TT_OP_CORE] = "op_core_first_last", [UT_TT_SUM] = "sum",
	[UT_TT_EVENT_LIST] = "event",
};

/* ---- logs of timer numbers ----------------------------------------------------------------- */

#define TIMER(r, id)                                                                               \
	{                                                                                          \
		.risc = (r), .timer = (id)                                                         \
	}
#define ALL_CORES(r, id)                                                                           \
	{                                                                                          \
		.risc = (r), .timer = (id), .any_core = true                                       \
	}
#define CORE(n, t, a, b)                                                                           \
	{                                                                                          \
		(n), UT_TT_ACROSS_CORE, (t), a, b                                                  \
	}

static const struct ut_tt_rule old_rules[] = {
	CORE("T0 -> BRISC FW start", UT_TT_ADJACENT, TIMER("BRISC", 0), TIMER("BRISC", 1)),
	CORE("TRISC0 kernel start -> TRISC0 kernel end", UT_TT_ADJACENT, TIMER("TRISC_0", 2),
	     TIMER("TRISC_0", 3)),
	CORE("TRISC1 kernel start -> TRISC1 kernel end", UT_TT_ADJACENT, TIMER("TRISC_1", 2),
	     TIMER("TRISC_1", 3)),
	CORE("TRISC2 kernel start -> TRISC2 kernel end", UT_TT_ADJACENT, TIMER("TRISC_2", 2),
	     TIMER("TRISC_2", 3)),
	CORE("BRISC kernel start -> BRISC kernel end", UT_TT_ADJACENT, TIMER("BRISC", 2),
	     TIMER("BRISC", 3)),
	CORE("NCRISC kernel start -> NCRISC kernel end", UT_TT_ADJACENT, TIMER("NCRISC", 2),
	     TIMER("NCRISC", 3)),
	CORE("ANY RISC FW start -> ANY RISC FW end", UT_TT_LAUNCH, TIMER("ANY", 1),
	     TIMER("ANY", 4)),
	CORE("ANY RISC FW end -> BRISC FW start", UT_TT_ADJACENT, TIMER("ANY", 4),
	     TIMER("BRISC", 1)),
	CORE("T0 -> ANY RISC FW end", UT_TT_SESSION, TIMER("BRISC", 0), TIMER("ANY", 4)),
	/* any RISC begins it, whatever the name says */
	CORE("BRISC FW start -> ANY RISC FW end", UT_TT_SESSION, TIMER("ANY", 1), TIMER("ANY", 4)),
	{ "T0 -> ANY CORE ANY RISC FW end", UT_TT_ACROSS_DEVICE, UT_TT_SESSION, ALL_CORES("ANY", 1),
	  ALL_CORES("ANY", 4) },
};

static const struct ut_tt_rule old_full_buffer[] = {
	CORE("Marker Repeat", UT_TT_ADJACENT, TIMER("ANY", 5), TIMER("ANY", 5)),
};

/* Matrix products of tt-metal's tests, which mark what their kernels wait for. */
static const struct ut_tt_rule old_matmul[] = {
	CORE("Compute~", UT_TT_ADJACENT, TIMER("NCRISC", 6), TIMER("BRISC", 5)),
};

static const struct ut_tt_rule old_matmul_in0[] = {
	CORE("NCRISC start sender -> BRISC kernel end", UT_TT_ADJACENT, TIMER("NCRISC", 10),
	     TIMER("BRISC", 3)),
	CORE("NCRISC start reciever -> BRISC kernel end", UT_TT_ADJACENT, TIMER("NCRISC", 7),
	     TIMER("BRISC", 3)),
};

static const struct ut_tt_rule old_matmul_in1[] = {
	CORE("NCRISC start sender -> BRISC kernel end", UT_TT_ADJACENT, TIMER("NCRISC", 20),
	     TIMER("BRISC", 3)),
	CORE("NCRISC start reciever -> BRISC kernel end", UT_TT_ADJACENT, TIMER("NCRISC", 16),
	     TIMER("BRISC", 3)),
};

static const struct ut_tt_rule old_matmul_in0_in1[] = {
	CORE("NC_in0_s_in1_r -> B_end", UT_TT_ADJACENT, TIMER("NCRISC", 24), TIMER("BRISC", 3)),
	CORE("NC_in0_s_in1_s -> B_end", UT_TT_ADJACENT, TIMER("NCRISC", 29), TIMER("BRISC", 3)),
	CORE("NC_in0_r_in1_r -> B_end", UT_TT_ADJACENT, TIMER("NCRISC", 34), TIMER("BRISC", 3)),
	CORE("NC_in0_r_in1_s -> B_end", UT_TT_ADJACENT, TIMER("NCRISC", 39), TIMER("BRISC", 3)),
};

static const struct ut_tt_rule old_matmul_global[] = {
	{ "Matmul Read In Write Out", UT_TT_ACROSS_DEVICE, UT_TT_SESSION, ALL_CORES("ANY", 5),
	  ALL_CORES("ANY", 8) },
};

static const struct ut_tt_rule old_noc[] = {
	CORE("NoC For Loop", UT_TT_ADJACENT, TIMER("NCRISC", 5), TIMER("NCRISC", 6)),
};

/* ---- logs of zones ------------------------------------------------------------------------- */

#define ONE(name)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		(name), NULL                                                                       \
	}
#define ALL_OF(suffix)                                                                             \
	(const char *const[])                                                                      \
	{                                                                                          \
		"BRISC-" suffix, "NCRISC-" suffix, "TRISC-" suffix, "ERISC-" suffix,               \
			"TENSIX_RISC_AGG-" suffix, "DM-" suffix, NULL                              \
	}

#define ZONE(r, name)                                                                              \
	{                                                                                          \
		.risc = (r), .zones = ONE(name), .one = true, .any_core = true                     \
	}
#define ZONE_PHASE(r, name, p)                                                                     \
	{                                                                                          \
		.risc = (r), .zones = ONE(name), .one = true, .any_core = true, .phase = (p)       \
	}
#define ZONES(list)                                                                                \
	{                                                                                          \
		.risc = "ANY", .zones = (list), .any_core = true                                   \
	}
#define ZONES_PHASE(list, p)                                                                       \
	{                                                                                          \
		.risc = "ANY", .zones = (list), .any_core = true, .phase = (p)                     \
	}
#define BARE(r, name)                                                                              \
	{                                                                                          \
		.risc = (r), .zones = ONE(name), .one = true                                       \
	}

#define OPS(n, t, a, b)                                                                            \
	{                                                                                          \
		(n), UT_TT_ACROSS_OPS, (t), a, b                                                   \
	}
#define SAME(n, across, t, m)                                                                      \
	{                                                                                          \
		(n), (across), (t), m, m                                                           \
	}
#define KERNEL(n, r, zone) SAME(n, UT_TT_ACROSS_OPS, UT_TT_OP, ZONE(r, zone))

#define DATA_MOVERS                                                                                \
	(const char *const[])                                                                      \
	{                                                                                          \
		"BRISC-KERNEL", "NCRISC-KERNEL", "ERISC-KERNEL", NULL                              \
	}
#define MOVERS                                                                                     \
	(const char *const[])                                                                      \
	{                                                                                          \
		"BRISC-KERNEL", "NCRISC-KERNEL", NULL                                              \
	}

static const struct ut_tt_rule zone_rules[] = {
	KERNEL("trace_fw_duration", "TENSIX_RISC_AGG", "TRACE-FW"),
	KERNEL("trace_kernel_duration", "TENSIX_RISC_AGG", "TRACE-KERNEL"),
	{ "trace2trace - FW", UT_TT_ACROSS_DEVICE, UT_TT_ADJACENT,
	  ZONE_PHASE("ANY", "TRACE-FW", "ZONE_END"), ZONE_PHASE("ANY", "TRACE-FW", "ZONE_START") },
	{ "trace2trace - kernel", UT_TT_ACROSS_DEVICE, UT_TT_ADJACENT,
	  ZONE_PHASE("ANY", "TRACE-KERNEL", "ZONE_END"),
	  ZONE_PHASE("ANY", "TRACE-KERNEL", "ZONE_START") },
	CORE("op2op", UT_TT_ADJACENT, ZONES_PHASE(ALL_OF("KERNEL"), "ZONE_END"),
	     ZONES_PHASE(MOVERS, "ZONE_START")),
	OPS("device_kernel_first_to_last_start", UT_TT_OP,
	    ZONES_PHASE(ALL_OF("KERNEL"), "ZONE_START"),
	    ZONES_PHASE(ALL_OF("KERNEL"), "ZONE_START")),
	OPS("device_kernel_duration_per_core", UT_TT_OP_CORE, ZONES(ALL_OF("KERNEL")),
	    ZONES(ALL_OF("KERNEL"))),
	OPS("device_fw_duration", UT_TT_OP, ZONES(ALL_OF("FW")), ZONES(ALL_OF("FW"))),
	OPS("device_kernel_duration", UT_TT_OP, ZONES(ALL_OF("KERNEL")), ZONES(ALL_OF("KERNEL"))),
	OPS("device_kernel_duration_dm_start", UT_TT_OP, ZONES(DATA_MOVERS),
	    ZONES(ALL_OF("KERNEL"))),
	KERNEL("device_brisc_kernel_duration", "BRISC", "BRISC-KERNEL"),
	KERNEL("device_ncrisc_kernel_duration", "NCRISC", "NCRISC-KERNEL"),
	KERNEL("device_trisc0_kernel_duration", "TRISC_0", "TRISC-KERNEL"),
	KERNEL("device_trisc1_kernel_duration", "TRISC_1", "TRISC-KERNEL"),
	KERNEL("device_trisc2_kernel_duration", "TRISC_2", "TRISC-KERNEL"),
	KERNEL("device_erisc_kernel_duration", "ERISC", "ERISC-KERNEL"),
	{ "device_compute_cb_wait_front",
	  UT_TT_ACROSS_OPS,
	  UT_TT_SUM,
	  BARE("TRISC_0", "CB-COMPUTE-WAIT-FRONT"),
	  { 0 } },
	{ "device_compute_cb_reserve_back",
	  UT_TT_ACROSS_OPS,
	  UT_TT_SUM,
	  BARE("TRISC_2", "CB-COMPUTE-RESERVE-BACK"),
	  { 0 } },
	SAME("dispatch_total_cq_cmd_op_time", UT_TT_ACROSS_DISPATCH, UT_TT_OP,
	     ZONE("BRISC", "CQ_DISPATCH_*")),
	SAME("dispatch_go_send_wait_time", UT_TT_ACROSS_DISPATCH, UT_TT_OP,
	     ZONE("NCRISC", "CQ_DISPATCH_CMD_SEND_GO_SIGNAL")),
	{ "perf_counter_data", UT_TT_ACROSS_DEVICE, UT_TT_EVENT_LIST, { .risc = "BRISC" }, { 0 } },
};

#define REPEAT(n, ...)                                                                             \
	{                                                                                          \
		(n), UT_TT_ACROSS_CORE, UT_TT_ADJACENT, __VA_ARGS__, __VA_ARGS__                   \
	}

static const struct ut_tt_rule timestamped_events[] = {
	{ "erisc_events", UT_TT_ACROSS_DEVICE, UT_TT_EVENT_LIST, { .risc = "ERISC" }, { 0 } },
	{ "all_events", UT_TT_ACROSS_DEVICE, UT_TT_EVENT_LIST, { .risc = "ANY" }, { 0 } },
};

/* The first of these alone is test_multi_op. */
static const struct ut_tt_rule cycle_count[] = {
	REPEAT("BRISC KERNEL_START->KERNEL_END", ZONE("BRISC", "BRISC-KERNEL")),
	REPEAT("NCRISC KERNEL_START->KERNEL_END", ZONE("NCRISC", "NCRISC-KERNEL")),
	REPEAT("TRISC_0 KERNEL_START->KERNEL_END", ZONE("TRISC_0", "TRISC-KERNEL")),
	REPEAT("TRISC_1 KERNEL_START->KERNEL_END", ZONE("TRISC_1", "TRISC-KERNEL")),
	REPEAT("TRISC_2 KERNEL_START->KERNEL_END", ZONE("TRISC_2", "TRISC-KERNEL")),
};

static const struct ut_tt_rule full_buffer[] = {
	REPEAT("Marker Repeat", BARE("ANY", "TEST-FULL")),
	REPEAT("Marker Repeat ETH", BARE("ERISC", "TEST-FULL")),
};

static const struct ut_tt_rule dispatch_cores[] = {
	REPEAT("Tensix CQ Dispatch", BARE("BRISC", "CQ-DISPATCH")),
	REPEAT("Tensix CQ Prefetch", BARE("BRISC", "CQ-PREFETCH")),
};

static const struct ut_tt_rule ethernet_cores[] = {
	REPEAT("Ethernet CQ Dispatch", BARE("ERISC", "CQ-DISPATCH")),
	REPEAT("Ethernet CQ Prefetch", BARE("ERISC", "CQ-PREFETCH")),
};

static const struct ut_tt_rule noc[] = {
	REPEAT("NoC For Loop", BARE("NCRISC", "NOC-FOR-LOOP")),
};

/* ---- setups -------------------------------------------------------------------------------- */

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define PLAIN       "default_setup"

static const struct {
	const char *name;
	bool zones;
	const struct ut_tt_rule *rules;
	size_t count;
} setups[] = {
	{ PLAIN, false, NULL, 0 },
	{ "test_full_buffer", false, old_full_buffer, COUNT(old_full_buffer) },
	{ "test_matmul_multi_core_multi_dram", false, old_matmul, COUNT(old_matmul) },
	{ "test_matmul_multi_core_multi_dram_in0_mcast", false, old_matmul_in0,
	  COUNT(old_matmul_in0) },
	{ "test_matmul_multi_core_multi_dram_in1_mcast", false, old_matmul_in1,
	  COUNT(old_matmul_in1) },
	{ "test_matmul_multi_core_multi_dram_in0_mcast_in1_mcast", false, old_matmul_in0_in1,
	  COUNT(old_matmul_in0_in1) },
	{ "test_matmul_global", false, old_matmul_global, COUNT(old_matmul_global) },
	{ "test_noc", false, old_noc, COUNT(old_noc) },
	{ PLAIN, true, NULL, 0 },
	{ "test_timestamped_events", true, timestamped_events, COUNT(timestamped_events) },
	{ "test_multi_op", true, cycle_count, 1 },
	{ "test_multi_op_buffer_overflow", true, cycle_count, 1 },
	{ "test_custom_cycle_count", true, cycle_count, COUNT(cycle_count) },
	{ "test_custom_cycle_count_slow_dispatch", true, cycle_count, COUNT(cycle_count) },
	{ "test_full_buffer", true, full_buffer, COUNT(full_buffer) },
	{ "test_dispatch_cores", true, dispatch_cores, COUNT(dispatch_cores) },
	{ "test_ethernet_dispatch_cores", true, ethernet_cores, COUNT(ethernet_cores) },
	{ "test_noc", true, noc, COUNT(noc) },
};

static void setup_add(struct ut_tt_setup *s, const struct ut_tt_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		s->rules[s->count++] = &rules[i];
}

static void order_names(struct ut_tt_setup *s)
{
	for (size_t i = 0; i < s->count; i++) {
		size_t k = i;

		for (; k && strcmp(s->rules[s->by_name[k - 1]]->name, s->rules[i]->name) > 0; k--)
			s->by_name[k] = s->by_name[k - 1];
		s->by_name[k] = (uint8_t)i;
	}
}

bool ut_tt_setup_find(struct ut_tt_setup *s, bool zones, const char *name)
{
	_Static_assert(COUNT(zone_rules) + COUNT(cycle_count) <= UT_TT_MAX_RULES, "bits in a mark");
	name = name ? name : PLAIN;
	for (size_t i = 0; i < COUNT(setups); i++) {
		if (setups[i].zones != zones || strcmp(setups[i].name, name) != 0)
			continue;
		*s = (struct ut_tt_setup){ .zones = zones, .detect_ops = !setups[i].rules };
		setup_add(s, setups[i].rules, setups[i].count);
		if (zones)
			setup_add(s, zone_rules, COUNT(zone_rules));
		else
			setup_add(s, old_rules, COUNT(old_rules));
		order_names(s);
		return true;
	}
	return false;
}

/* ---- binding ------------------------------------------------------------------------------- */

static bool zone_fits(const char *want, struct ut_str zone, bool parts)
{
	size_t len = strlen(want);

	if (parts && len && want[len - 1] == '*')
		return memmem(zone.ptr, zone.len, want, len - 1) != NULL;
	return ut_str_is(zone, want);
}

static bool phase_fits(const char *want, const struct ut_tt_mark *m)
{
	if (!want)
		return true;
	return m->phase == (strcmp(want, "ZONE_END") ? UT_TT_START : UT_TT_END);
}

static bool mark_fits(const struct ut_tt_rule *rule, const struct ut_tt_match *match,
		      const struct ut_tt_log *log, const struct ut_tt_mark *m)
{
	if (rule->type == UT_TT_EVENT_LIST)
		return m->phase == UT_TT_DATA || m->phase == UT_TT_EVENT;
	if (!log->zones)
		return match->risc && m->id == match->timer;
	if (!phase_fits(match->phase, m))
		return false;
	for (const char *const *z = match->zones; z && *z; z++) {
		if (zone_fits(*z, ut_tt_str(log, m->zone), rule->type != UT_TT_ADJACENT))
			return true;
	}
	return false;
}

static bool risc_fits(const struct ut_tt_match *match, const struct ut_tt_log *log, uint32_t name)
{
	return match->risc && (!strcmp(match->risc, "ANY") || ut_tt_is(log, name, match->risc));
}

void ut_tt_setup_bind(const struct ut_tt_setup *s, struct ut_tt_log *log)
{
	for (size_t i = 0; i < log->mark_count; i++) {
		struct ut_tt_mark *m = &log->marks[i];

		m->starts = m->ends = 0;
		for (size_t r = 0; r < s->count; r++) {
			const struct ut_tt_rule *rule = s->rules[r];

			m->starts |= (uint32_t)mark_fits(rule, &rule->start, log, m) << r;
			m->ends |= (uint32_t)mark_fits(rule, &rule->end, log, m) << r;
		}
	}
	for (size_t i = 0; i < log->risc_count; i++) {
		struct ut_tt_risc *risc = &log->riscs[i];

		risc->starts = risc->ends = 0;
		for (size_t r = 0; r < s->count; r++) {
			const struct ut_tt_rule *rule = s->rules[r];

			risc->starts |= (uint32_t)risc_fits(&rule->start, log, risc->name) << r;
			risc->ends |= (uint32_t)risc_fits(&rule->end, log, risc->name) << r;
		}
	}
}
