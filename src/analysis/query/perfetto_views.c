/* perfetto_views.c - tables of Perfetto: in its shape, those that only it has, and empty ones. */
#include "query/perfetto_parts.h"

/* What Perfetto leaves NULL in traces like ours, too. */
#define NO_MACHINE "NULL AS machine_id"
#define NO_PARENT  "NULL AS parent_id, NULL AS source_arg_set_id, " NO_MACHINE

#define SLICE                                                                                      \
	"SELECT id, ts, dur, track_id, cat AS category, name, depth, parent_id, arg_set_id,"       \
	" arg(id, 'tts') * 1000 AS thread_ts, arg(id, 'tdur') * 1000 AS thread_dur,"               \
	" NULL AS thread_instruction_count, NULL AS thread_instruction_delta, cat,"                \
	" id AS slice_id FROM slice"

#define COUNTER_TRACK                                                                              \
	"SELECT id, name, type, NULL AS dimension_arg_set_id, " NO_PARENT                          \
	", unit, NULL AS description"

const struct ut_pf_view ut_pf_shapes[] = {
	{ "slice", SLICE },
	{ "counter", "SELECT id, ts, track_id, CAST(value AS REAL) AS value, arg_set_id"
		     " FROM counter" },
	{ "flow", "SELECT id, slice_out, slice_in, number AS trace_id, NULL AS arg_set_id"
		  " FROM flow" },
	{ "thread", "SELECT utid AS id, utid, tid, name, start_ts, end_ts, upid, is_main_thread,"
		    " 0 AS is_idle, " NO_MACHINE " FROM thread" },
	{ "process", "SELECT upid AS id, upid, pid, name, start_ts, end_ts, NULL AS parent_upid,"
		     " NULL AS uid, NULL AS android_appid, NULL AS android_user_id, cmdline,"
		     " arg_set_id, " NO_MACHINE " FROM process" },
	{ "track", "SELECT id, name, type, NULL AS dimension_arg_set_id, " NO_PARENT
		   ", NULL AS track_group_id FROM track" },
	{ "thread_track", "SELECT id, name, type, " NO_PARENT ", utid FROM track"
			  " WHERE type = 'thread'" },
	{ "process_track", "SELECT id, name, type, " NO_PARENT ", upid FROM track"
			   " WHERE type IN ('lane', 'async')" },
	{ "counter_track", COUNTER_TRACK " FROM track WHERE type = 'counter'" },
	{ "args", "SELECT rowid AS id, arg_set_id, flat_key, key, int_value, string_value,"
		  " real_value, replace(value_type, 'uint', 'int') AS value_type,"
		  " CAST(value AS TEXT) AS display_value FROM args" },
	{ "metadata", "SELECT rowid AS id, name, 'single' AS key_type,"
		      " iif(typeof(value) = 'integer', value, NULL) AS int_value,"
		      " iif(typeof(value) = 'integer', NULL, value) AS str_value FROM metadata" },
	{ 0 },
};

#define OF_THREAD                                                                                  \
	" t.name AS thread_name, s.utid, t.tid, t.is_main_thread, s.process_name, s.upid, s.pid,"
#define SLICE_HEAD  "SELECT s.id, s.ts, s.dur, s.cat AS category, s.name, s.track_id, s.track_name,"
#define SLICE_TAIL  " s.depth, s.parent_id, s.arg_set_id"
#define SLICE_TIMES ", arg(s.id, 'tts') * 1000 AS thread_ts, arg(s.id, 'tdur') * 1000 AS thread_dur"

#define LOSS(column) "SELECT '" column "' AS name, " column " AS value FROM trace"
#define AND          " UNION ALL "
#define LOSSES                                                                                     \
	LOSS("dropped")                                                                            \
	AND LOSS("overwritten") AND LOSS("torn") AND LOSS("stray_ends") AND LOSS("implicit_ends")  \
		AND LOSS("unfinished") AND LOSS("unknown") AND LOSS("ignored") AND LOSS("unread")  \
			AND LOSS("seen_ends")

const struct ut_pf_view ut_pf_views[] = {
	{ "slices", SLICE },
	{ "thread_slice", SLICE_HEAD OF_THREAD SLICE_TAIL SLICE_TIMES
	  " FROM slice s JOIN thread t ON t.utid = s.utid" },
	{ "process_slice", SLICE_HEAD " s.process_name, s.upid, s.pid," SLICE_TAIL SLICE_TIMES
				      " FROM slice s WHERE s.utid IS NULL" },
	{ "thread_or_process_slice",
	  SLICE_HEAD " s.thread_name, s.utid, s.tid, s.process_name, s.upid, s.pid," SLICE_TAIL
		     " FROM slice s" },
	{ "slice_self_dur", "SELECT id, self_dur FROM slice" },
	{ "counters", "SELECT id, ts, track_id, CAST(value AS REAL) AS value, arg_set_id,"
		      " track_name AS name, unit FROM counter" },
	{ "process_counter_track", COUNTER_TRACK ", upid FROM track WHERE type = 'counter'" },
	{ "trace_bounds", "SELECT trace_start() AS start_ts, trace_end() AS end_ts" },
	{ "stats", "SELECT name, NULL AS idx, 'data_loss' AS severity, 'trace' AS source,"
		   " sum(value) AS value, NULL AS description FROM (" LOSSES ") GROUP BY name" },
	{ "sched", "SELECT *, ts + dur AS ts_end FROM sched_slice" },
	{ 0 },
};

#define TRACK_COLUMNS "id, name, type, parent_id, source_arg_set_id, machine_id"
#define SLICE_COLUMNS "id, ts, dur, track_id, category, name, depth, parent_id, arg_set_id"

/* Scheduling, the kernel's events, samples, Android: recorders of ours have none of it. */
const struct ut_pf_view ut_pf_empty[] = {
	{ "sched_slice", "id, ts, dur, cpu, utid, end_state, priority, ucpu" },
	{ "thread_state", "id, ts, dur, cpu, utid, state, io_wait, blocked_function, waker_utid,"
			  " waker_id, irq_context, ucpu" },
	{ "ftrace_event", "id, ts, name, cpu, utid, arg_set_id, common_flags, ucpu" },
	{ "raw", "id, ts, name, cpu, utid, arg_set_id, common_flags, ucpu" },
	{ "cpu", "id, ucpu, cpu, cluster_id, processor, machine_id, capacity, arg_set_id" },
	{ "cpu_available_frequencies", "id, cpu, freq, ucpu" },
	{ "cpu_track", TRACK_COLUMNS ", cpu" },
	{ "gpu_track", TRACK_COLUMNS ", dimension_arg_set_id, scope, description, context_id" },
	{ "cpu_counter_track", TRACK_COLUMNS ", unit, description, cpu" },
	{ "gpu_counter_track", TRACK_COLUMNS ", unit, description, gpu_id" },
	{ "thread_counter_track", TRACK_COLUMNS ", unit, description, utid" },
	{ "perf_counter_track",
	  TRACK_COLUMNS ", unit, description, perf_session_id, cpu, is_timebase" },
	{ "perf_session", "id, perf_session_id, cmdline" },
	{ "cpu_profile_stack_sample", "id, ts, callsite_id, utid, process_priority" },
	{ "heap_graph_class",
	  "id, name, deobfuscated_name, location, superclass_id, classloader_id, kind" },
	{ "heap_graph_object", "id, upid, graph_sample_ts, self_size, native_size,"
			       " reference_set_id, reachable, heap_type, type_id, root_type,"
			       " root_distance" },
	{ "heap_graph_reference", "id, reference_set_id, owner_id, owned_id, field_name,"
				  " field_type_name, deobfuscated_field_name" },
	{ "android_logs", "id, ts, utid, prio, tag, msg" },
	{ "clock_snapshot", "id, ts, clock_id, clock_name, clock_value, snapshot_id, machine_id" },
	{ "gpu_slice",
	  SLICE_COLUMNS ", context_id, render_target, render_target_name,"
			" render_pass, render_pass_name, command_buffer, command_buffer_name,"
			" frame_id, submission_id, hw_queue_id, upid, render_subpasses" },
	{ "expected_frame_timeline_slice", SLICE_COLUMNS ", display_frame_token,"
							 " surface_frame_token, upid, layer_name" },
	{ "actual_frame_timeline_slice",
	  SLICE_COLUMNS ", display_frame_token,"
			" surface_frame_token, upid, layer_name, present_type,"
			" on_time_finish, gpu_composition, jank_type,"
			" jank_severity_type, prediction_type, jank_tag" },
	{ "thread_slice_time_in_state", "id, name, utid, thread_name, upid, process_name, state,"
					" io_wait, blocked_function, dur" },
	{ "thread_slice_cpu_time", "id, name, utid, thread_name, upid, process_name, cpu_time" },
	{ "sched_with_thread_process", "id, ts, dur, utid, thread_name, upid, process_name, cpu,"
				       " end_state, priority" },
	{ "sched_time_in_state_for_thread",
	  "utid, total_runtime, state, time_in_state, percentage_in_state" },
	{ "sched_active_cpu_count", "ts, active_cpu_count" },
	{ "sched_runnable_thread_count", "ts, runnable_thread_count" },
	{ "sched_latency_for_running_interval",
	  "thread_state_id, sched_id, utid, runnable_latency_id, latency_dur" },
	{ "cpu_frequency_counters", "id, track_id, ts, dur, freq, ucpu, cpu" },
	{ 0 },
};
