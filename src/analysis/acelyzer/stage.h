/*
 * stage.h - the passes in their order.
 *
 * The order is that of the reference ("master order"); a profile switches stages off by name, the
 * options decide which of the rest are asked for. Barriers and checks that do nothing here are
 * listed as well, since profiles name them and dumps of intermediate results count them.
 */
#ifndef UT_ACELYZER_STAGE_H
#define UT_ACELYZER_STAGE_H

#include "acelyzer/analysis.h"

/* Which releases know a stage: a set of enum ut_ace_release. */
enum ut_ace_stage_releases {
	UT_ACE_OLD = 1u << UT_ACE_1_0,
	UT_ACE_ONLY_1_2 = 1u << UT_ACE_1_2,
	UT_ACE_NEW = UT_ACE_ONLY_1_2 | 1u << UT_ACE_1_3,
	UT_ACE_BOTH = UT_ACE_OLD | UT_ACE_NEW,
};

/* name, releases, when it is asked for, pass */
#define UT_ACE_STAGE_LIST(X)                                                                       \
	X(drop_timestamp_reversed_events, BOTH, true, nothing)                                     \
	X(create_slice_from_BE, BOTH, true, nothing)                                               \
	X(normalize_phase1, BOTH, true, normal1)                                                   \
	X(frequency_align_collect, BOTH, o->flex_ts_fix, fix_collect)                              \
	X(pipeline_barrier, BOTH, o->flex_ts_fix || o->release >= UT_ACE_1_2, nothing)             \
	X(frequency_align_apply, BOTH, o->flex_ts_fix, fix_apply)                                  \
	X(normalize_phase2, BOTH, true, normal2)                                                   \
	X(event_sanity_checks, BOTH, true, nothing)                                                \
	X(time_align_collect, OLD, true, align_collect)                                            \
	X(pipeline_barrier, OLD, true, nothing)                                                    \
	X(time_align_apply, OLD, true, align_apply)                                                \
	X(remove_ids_from_name, BOTH, o->overlap == UT_ACE_OVERLAP_ASYNC, remove_ids)              \
	X(map_tid_to_range, BOTH, true, map_tid)                                                   \
	X(cycle_count_to_wallclock, BOTH, true, wallclock)                                         \
	X(tighten_hts_by_instr_type, BOTH, true, tighten)                                          \
	X(tripple_phased_events, BOTH, o->split_events, split)                                     \
	X(mp_sync_tight_v1, BOTH, !o->no_mp_sync && !o->mp_sync_v2, sync)                          \
	X(mp_ts_calibration_v2, BOTH, !o->no_mp_sync && o->mp_sync_v2, sync_v2)                    \
	X(queueing_counter, BOTH, o->counters &UT_ACE_PREP_QUEUE, preps)                           \
	X(drop_global_events, BOTH, o->drop_globals, drop_globals)                                 \
	X(recombine_cpu_events, BOTH, true, recombine)                                             \
	X(sort_events, BOTH, true, sort_streams)                                                   \
	X(assert_ts_sequence, BOTH, true, check_order)                                             \
	X(detect_partial_overlap_tids, NEW, o->overlap == UT_ACE_OVERLAP_TID, overlap_tids)        \
	X(pipeline_barrier, NEW, o->overlap == UT_ACE_OVERLAP_TID, nothing)                        \
	X(detect_partial_overlap_events, BOTH, true, overlap)                                      \
	X(assert_ts_sequence, BOTH, true, check_order)                                             \
	X(collect_iteration_stats, BOTH, true, iterations)                                         \
	X(extract_power_event, BOTH, o->counters &UT_ACE_POWERS, power_samples)                    \
	X(sort_events, BOTH, o->counters &UT_ACE_POWERS, sort_samples)                             \
	X(compute_power, BOTH, o->counters &UT_ACE_POWERS, power)                                  \
	X(analyze_power_statistics, NEW, o->power_stats && o->counters & UT_ACE_POWERS,            \
	  power_stats)                                                                             \
	X(extract_data_transfer_event, BOTH, o->counters &UT_ACE_BANDWIDTH, transfers)             \
	X(compute_bandwidth, BOTH, o->counters &UT_ACE_BANDWIDTH, bandwidth)                       \
	X(compute_utilization_fingerprints, BOTH, WITH_LOGS, fingerprints)                         \
	X(assert_ts_sequence, BOTH, true, check_order)                                             \
	X(communication_event_collection, BOTH, o->summarize, comm_collect)                        \
	X(pipeline_barrier, BOTH, true, nothing)                                                   \
	X(communication_event_apply, BOTH, o->summarize, comm_apply)                               \
	X(compute_utilization, BOTH, WITH_LOGS, utilization)                                       \
	X(sort_events, BOTH, true, sort_all)                                                       \
	X(assert_global_ts_sequence, BOTH, o->flow || o->release >= UT_ACE_1_2, check_global)      \
	X(launch_flow_collect, NEW, true, launch_collect)                                          \
	X(event_categorizer, NEW, true, classify)                                                  \
	X(pipeline_barrier, NEW, true, nothing)                                                    \
	X(event_categorizer_update, NEW, true, classify_again)                                     \
	X(launch_flow_create_missing, NEW, true, launch_create)                                    \
	X(flow_prepare_event_data, BOTH, o->flow, flow_prepare)                                    \
	X(flow_extraction, BOTH, o->flow, flow_extract)                                            \
	X(mp_calc_bw_v2, BOTH, o->counters &UT_ACE_COLL_BW && o->coll_events, coll_bw_v2)          \
	X(mp_calc_bw, BOTH, o->counters &UT_ACE_COLL_BW && !o->coll_events, coll_bw)               \
	X(calculate_stats, BOTH, o->stats, stats)                                                  \
	X(processing_filter, BOTH, *o->keep_phases, keep_phases)                                   \
	X(flow_data_cleanup, BOTH, true, flow_cleanup)                                             \
	X(cleanup_copy_of_device_ts, BOTH, true, forget_dev_us)                                    \
	X(tb_refinement_intrusive, BOTH, o->refine, refine)                                        \
	X(tb_refinement_lightweight, BOTH, true, refine_light)                                     \
	X(cycle_count_conversion_cleanup, BOTH, true, forget_all)                                  \
	X(calculate_stats_v2, BOTH, o->stats && o->coll_events, stats_v2)                          \
	X(sort_events, NEW, true, sort_final)                                                      \
	X(verify, ONLY_1_2, o->verify, verify)                                                     \
	X(verify_cleanup, ONLY_1_2, o->verify, nothing)

#define UT_ACE_POWERS (UT_ACE_POWER_TS3 | UT_ACE_POWER_TS4)

struct ut_ace_stage {
	const char *name;
	unsigned int releases;
	/* 0, or negative errno with a->err saying why the run has to end. */
	int (*run)(struct ut_ace_analysis *a);
};

/* All of them; the last one has no name. */
extern const struct ut_ace_stage ut_ace_stages[];

struct ut_ace_profile;

/* What to do after a stage: number counts the stages that ran. 0 or negative errno. */
typedef int ut_ace_after(void *ctx, struct ut_ace_analysis *a, unsigned int number,
			 const char *stage, struct ut_err *err);

/*
 * Drops events that lack something, then runs the stages that the profile allows and the options
 * ask for. after may be NULL. On failure err says why.
 */
int ut_ace_run(struct ut_ace_analysis *a, const struct ut_ace_profile *p, ut_ace_after *after,
	       void *ctx, struct ut_err *err) UT_MUST_CHECK;

/* The passes. Each works on a->table.seq. */
#define UT_ACE_PASS(name, releases, asked, pass) int ut_ace_pass_##pass(struct ut_ace_analysis *a);
UT_ACE_STAGE_LIST(UT_ACE_PASS)
#undef UT_ACE_PASS

#endif
