/*
 * perfetto_module.c - INCLUDE PERFETTO MODULE, our own macros, and what cannot be had.
 *
 * What a module brings is always there, so including one only says whether there is such a module.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "query/perfetto_parts.h"

/* ---- modules ------------------------------------------------------------------------------- */

static const char *const modules[] = {
	"counters.intervals",
	"graphs.search",
	"intervals.overlap",
	"linux.cpu.frequency",
	"prelude.after_eof.casts",
	"prelude.after_eof.slices",
	"prelude.after_eof.tables_views",
	"prelude.after_eof.views",
	"prelude.before_eof.trace_bounds",
	"sched.latency",
	"sched.thread_level_parallelism",
	"sched.time_in_state",
	"sched.with_context",
	"slices.cpu_time",
	"slices.self_dur",
	"slices.slices",
	"slices.time_in_state",
	"slices.with_context",
	"time.conversion",
};

#define MODULES (sizeof(modules) / sizeof(*modules))

/* Parts of Perfetto's library that are about what our traces do not hold. */
static const struct {
	const char *package, *about;
} elsewhere[] = {
	{ "android", "Android, which these traces do not record" },
	{ "appleos", "Apple's Instruments, which these traces do not record" },
	{ "callstacks", "samples of call stacks; sample and stack_profile_callsite are here" },
	{ "chrome", "Chrome itself; its slices are in slice" },
	{ "counters", "counters; counters.intervals is here" },
	{ "export", "files of other tools; unitrace export writes those it knows" },
	{ "graphs", "graphs; graphs.search is here" },
	{ "intervals", "intervals; SPAN_JOIN and intervals.overlap are here" },
	{ "linux", "the kernel's events, which these traces do not record" },
	{ "pixel", "Android, which these traces do not record" },
	{ "pkvm", "Android, which these traces do not record" },
	{ "prelude", "tables that are always there" },
	{ "sched", "scheduling, which these traces do not record" },
	{ "slices", "slices; ancestor_slice(ID), descendant_slice(ID) and slice_stats are here" },
	{ "stack_trace", "samples of call stacks; sample and stack_profile_callsite are here" },
	{ "stacks", "samples of call stacks; sample and stack_profile_callsite are here" },
	{ "traced", "Perfetto's own recorder" },
	{ "v8", "JavaScript, which these traces do not record" },
	{ "viz", "Perfetto's own page" },
	{ "wattson", "power, which these traces do not record" },
};

/* "a.b.*" includes a.b.c; "*" includes all. */
static bool perfetto_module_matches(const char *wanted, const char *module)
{
	size_t len = strlen(wanted);

	if (len && wanted[len - 1] == '*')
		return !strncasecmp(wanted, module, len - 1);
	return !strcasecmp(wanted, module);
}

static const char *about(const char *module)
{
	size_t len = strcspn(module, ".");

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++) {
		if (strlen(elsewhere[i].package) == len &&
		    !strncasecmp(module, elsewhere[i].package, len))
			return elsewhere[i].about;
	}
	return NULL;
}

int ut_pf_include(const char *module, struct ut_err *err)
{
	unsigned int distance = 99;
	const char *near = NULL;

	for (size_t i = 0; i < MODULES; i++) {
		if (perfetto_module_matches(module, modules[i]))
			return 0;
		if (ut_str_closer(module, modules[i], &distance))
			near = modules[i];
	}
	if (near && distance <= 2)
		return ut_err_set(err, -EINVAL, "no module %s; did you mean %s?", module, near);
	if (about(module))
		return ut_err_set(err, -EINVAL, "no module %s: it would be about %s", module,
				  about(module));
	return ut_err_set(err, -EINVAL,
			  "no module %s; of Perfetto's modules there are %s, %s, %s, ...", module,
			  "slices.with_context", "time.conversion", "counters.intervals");
}

/* ---- what cannot be had -------------------------------------------------------------------- */

static const struct {
	const char *theirs, *nearest;
} missing[] = {
	{ "stack_id", "the parents of a slice are in ancestor_slice(ID), parent_id" },
	{ "parent_stack_id", "the parents of a slice are in ancestor_slice(ID), parent_id" },
	{ "ancestor_slice_by_stack", "there is ancestor_slice(ID)" },
	{ "descendant_slice_by_stack", "there is descendant_slice(ID)" },
	{ "run_metric",
	  "metrics of Perfetto are not here; slice_stats has how often and how long" },
	{ "create_function", "there is CREATE PERFETTO FUNCTION" },
	{ "create_view_function", "there is CREATE PERFETTO FUNCTION ... RETURNS TABLE(...)" },
	{ "import", "there is INCLUDE PERFETTO MODULE" },
	{ "extract_metadata", "there is the table metadata" },
	{ "experimental_profile", "profiles are not made here; slice_stats has times by name" },
	{ "stack_from_stack_profile_callsite", "follow stack_profile_callsite.parent_id" },
	{ "stack_from_stack_profile_frame", "follow stack_profile_callsite.parent_id" },
	{ "cat_stacks", "these traces have no samples of call stacks" },
	{ "to_monotonic", "all times are on one clock; there is to_realtime()" },
	{ "interval_self_intersect", "there are SPAN_JOIN and intervals_overlap_count!()" },
	{ "_interval_intersect", "there is SPAN_JOIN" },
	{ "interval_intersect", "there is SPAN_JOIN" },
	{ "graph_dominator_tree", "there is graph_reachable_bfs!()" },
	{ "experimental_slice_flattened", "self times are in slice.self_dur" },
	{ "_slice_flattened", "self times are in slice.self_dur" },
	{ "dimension_arg_set_id", "track has upid, utid and name" },
	{ "args.value", "there are string_value, int_value and real_value" },
};

const char *ut_pf_missing(const char *name)
{
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
		if (!strcasecmp(missing[i].theirs, name))
			return missing[i].nearest;
	}
	return NULL;
}

/* ---- macros -------------------------------------------------------------------------------- */

const struct ut_pf_library_macro ut_pf_library[] = {
	{ "cast_int", "value", "CAST($value AS INT)" },
	{ "cast_double", "value", "CAST($value AS REAL)" },
	{ "cast_string", "value", "CAST($value AS TEXT)" },
	{ "counter_leading_intervals", "counter_table",
	  "(SELECT id, ts, lead(ts, 1, trace_end()) OVER ut_w - ts AS dur, track_id, value,"
	  " lead(value) OVER ut_w AS next_value, value - lag(value) OVER ut_w AS delta_value"
	  " FROM $counter_table WINDOW ut_w AS (PARTITION BY track_id ORDER BY ts, id))" },
	{ "intervals_overlap_count", "segments,ts_column,dur_column",
	  "(SELECT ut_ts AS ts, sum(sum(ut_step)) OVER (ORDER BY ut_ts) AS value FROM"
	  " (SELECT $ts_column AS ut_ts, 1 AS ut_step FROM $segments UNION ALL"
	  " SELECT $ts_column + $dur_column, -1 FROM $segments) GROUP BY ut_ts)" },
	{ "intervals_overlap_count_by_group", "segments,ts_column,dur_column,group_column",
	  "(SELECT ut_ts AS ts, sum(sum(ut_step)) OVER (PARTITION BY ut_group ORDER BY ut_ts)"
	  " AS value, ut_group AS group_name FROM"
	  " (SELECT $ts_column AS ut_ts, 1 AS ut_step, $group_column AS ut_group FROM $segments"
	  " UNION ALL SELECT $ts_column + $dur_column, -1, $group_column FROM $segments)"
	  " GROUP BY ut_group, ut_ts ORDER BY ut_ts)" },
	{ "interval_merge_overlapping", "intervals,epsilon",
	  "(SELECT min(ts) AS ts, max(ts + dur) - min(ts) AS dur FROM"
	  " (SELECT ts, dur, sum(ut_new) OVER (ORDER BY ts, dur ROWS UNBOUNDED PRECEDING)"
	  " AS ut_run FROM (SELECT ts, dur, ts > coalesce(max(ts + dur) OVER (ORDER BY ts, dur"
	  " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), ts - 1) + $epsilon AS ut_new"
	  " FROM $intervals)) GROUP BY ut_run)" },
	{ "graph_reachable_bfs", "graph_table,start_nodes",
	  "(WITH RECURSIVE ut_reach(node_id, parent_node_id) AS (SELECT node_id, NULL"
	  " FROM $start_nodes UNION SELECT g.dest_node_id, g.source_node_id FROM ut_reach r"
	  " JOIN $graph_table g ON g.source_node_id = r.node_id)"
	  " SELECT node_id, min(parent_node_id) AS parent_node_id FROM ut_reach"
	  " GROUP BY node_id)" },
	{ 0 },
};
