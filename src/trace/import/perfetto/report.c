/*
 * report.c - at the end: what could not be read, each in one line.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"
#include "import/perfetto/shared.h"
#include "model/perfetto_fields.h"

#define MOST_SOURCES 5 /* that the warning names */

/* Data that packets may hold and that we do not read, by field. */
static const char *const sources[256] = {
	[4] = "inode_file_map",
	[5] = "chrome_events",
	[7] = "sys_stats",
	[9] = "process_stats",
	[37] = "profile_packet",
	[38] = "battery",
	[39] = "android_log",
	[40] = "power_rails",
	[47] = "packages_list",
	[49] = "perfetto_metatrace",
	[52] = "gpu_counter_event",
	[53] = "gpu_render_stage_event",
	[54] = "streaming_profile_packet",
	[56] = "heap_graph",
	[57] = "graphics_frame_event",
	[61] = "module_symbols",
	[62] = "vulkan_memory_event",
	[63] = "gpu_log",
	[65] = "vulkan_api_event",
	[66] = "perf_sample",
	[68] = "smaps_packet",
	[71] = "gpu_mem_total_event",
	[73] = "memory_tracker_snapshot",
	[76] = "frame_timeline_event",
	[84] = "statsd_atom",
	[88] = "network_packet",
	[91] = "entity_state_residency",
	[92] = "network_packet_bundle",
	[95] = "etw_events",
	[117] = "generic_kernel_task_state_event",
	[118] = "generic_kernel_cpu_freq_event",
};

/* About the recording itself: nobody misses them in a timeline. */
bool ut_pf_is_about_recording(uint32_t field)
{
	switch (field) {
	case 33:  /* trace_config */
	case 34:  /* ftrace_stats */
	case 35:  /* trace_stats */
	case 36:  /* synchronization_marker */
	case 45:  /* system_info */
	case 46:  /* trigger */
	case 48:  /* chrome_benchmark_metadata */
	case 51:  /* chrome_metadata */
	case 67:  /* cpu_info */
	case 69:  /* service_event */
	case 72:  /* extension_descriptor */
	case 78:  /* ui_state */
	case 82:  /* translation_table */
	case 89:  /* trace_uuid */
	case 90:  /* track_event_range_of_interest */
	case 107: /* remote_clock_sync */
	case 109: /* chrome_trigger */
	case 113: /* clone_snapshot_trigger */
	case 124: /* trace_provenance */
	case 126: /* trace_attributes */
		return true;
	default:
		return false;
	}
}

void ut_pf_broken(struct ut_pf *p)
{
	if (!p->troubles.broken++)
		p->troubles.broken_at = p->offset;
}

void ut_pf_warn(struct ut_pf *p, bool lost, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (!p->opts || !p->opts->warn)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (lost)
		ut_import_lost(p->opts, p->path, text);
	else
		p->opts->warn(p->opts->ctx, p->path, text);
}

static void put_source(struct ut_buf *b, uint32_t field, uint64_t count)
{
	ut_buf_fmt(b, "%s%" PRIu64 " of ", b->len ? ", " : "", count);
	if (field && sources[field])
		ut_buf_text(b, sources[field]);
	else if (field)
		ut_buf_fmt(b, "field %u", field);
	else
		ut_buf_text(b, "other kinds");
}

static void report_sources(struct ut_pf *p)
{
	struct ut_buf b = { 0 };
	uint64_t total = 0, rest = 0, named = 0;

	for (uint32_t i = 0; i < 256; i++) {
		uint64_t count = p->troubles.left_out[i];

		total += count;
		if (count && named++ < MOST_SOURCES)
			put_source(&b, i, count);
		else
			rest += count;
	}
	if (rest)
		ut_buf_fmt(&b, ", %" PRIu64 " of other kinds", rest);
	if (total)
		ut_pf_warn(p, false, "packets with data that is not read: %s", b.data);
	ut_buf_release(&b);
}

void ut_pf_report(struct ut_pf *p)
{
	const struct ut_pf_troubles *t = &p->troubles;

	if (t->broken)
		ut_pf_warn(p, true,
			   "offset %" PRIu64 ": a packet is damaged inside; such packets were left "
			   "out: %" PRIu64,
			   t->broken_at, t->broken);
	if (t->packed)
		ut_pf_warn(p, true,
			   "offset %" PRIu64
			   ": a compressed packet cannot be unpacked; such packets "
			   "were left out: %" PRIu64,
			   t->packed_at, t->packed);
	if (t->lost)
		ut_pf_warn(p, true,
			   "packets left out because what they refer to was lost while recording: "
			   "%" PRIu64,
			   t->lost);
	if (t->nameless)
		ut_pf_warn(p, true, "references to names that the file does not define: %" PRIu64,
			   t->nameless);
	if (p->clocks.unmapped)
		ut_pf_warn(p, false,
			   "times of clock %u, which the file does not explain, are shown as they "
			   "are: %" PRIu64,
			   p->clocks.unmapped_id, p->clocks.unmapped);
	report_sources(p);
	if (t->kernel)
		ut_pf_warn(p, true,
			   "kernel events that are neither sched_switch nor marks of programs were "
			   "left out: %" PRIu64,
			   t->kernel);
	if (t->typed + t->legacy)
		ut_pf_warn(p, true,
			   "arguments and events that only Chrome's own tools know were left out: "
			   "%" PRIu64 " and %" PRIu64,
			   t->typed, t->legacy);
}
