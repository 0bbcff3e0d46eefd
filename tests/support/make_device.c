#include "support/make_device.h"

#include <string.h>

#include "model/classify.h"
#include "model/event.h"

void make_program(struct device_maker *m, uint64_t pid)
{
	m->program = ut_trace_add_process(&m->trace, pid);
	m->trace.processes[m->program].name = ut_strtab_intern_z(&m->trace.strings, "app");
	m->calls = ut_trace_add_track(&m->trace, m->program, UT_TRACK_THREAD);
	m->trace.tracks[m->calls].id = 7;
}

void make_device_start(struct device_maker *m)
{
	ut_device_log_init(&m->log, true);
	ut_trace_init(&m->trace);
	make_program(m, 100);
}

uint32_t make_queue(struct device_maker *m, const char *device, const char *queue)
{
	uint32_t name = ut_strtab_intern_z(&m->trace.strings, device), process = m->program, track;

	while (process < m->trace.process_count && m->trace.processes[process].name != name)
		process++;
	if (process == m->trace.process_count) {
		process = ut_trace_add_process(&m->trace, 100);
		m->trace.processes[process].name = name;
	}
	track = ut_trace_add_track(&m->trace, process, UT_TRACK_LANE);
	m->trace.tracks[track].name = ut_strtab_intern_z(&m->trace.strings, queue);
	ut_classify_places(&m->trace); /* as importers do, for traces that say no more than this */
	return track;
}

static void add_number(struct ut_trace *t, const char *key, uint64_t value)
{
	if (value)
		ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, key), UT_ARG_U64)->value.u64 =
			value;
}

static void add_text(struct ut_trace *t, const char *key, const char *value)
{
	if (value)
		ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, key), UT_ARG_STR)->value.str =
			ut_strtab_intern_z(&t->strings, value);
}

static void send(struct device_maker *m, uint32_t track, const char *cat, const struct made_work *w)
{
	struct ut_trace *t = &m->trace;
	size_t mark = t->arg_count;
	const struct ut_event e = { .ts = w->start,
				    .val = w->end - w->start,
				    .name = ut_strtab_intern_z(&t->strings, w->name),
				    .cat = ut_strtab_intern_z(&t->strings, cat),
				    .track = track,
				    .args = (uint32_t)mark };

	add_number(t, "correlation", w->correlation);
	add_number(t, "queued", w->queued);
	add_number(t, "submitted", w->submitted);
	add_number(t, "bytes", w->bytes);
	add_number(t, "registers", w->registers);
	add_text(t, "task", w->task);
	add_text(t, "grid", w->grid);
	add_text(t, "block", w->block);
	ut_trace_close_args(t);
	ut_sink_event(&m->log.sink, t, &e);
	ut_trace_drop_args(t, mark);
}

void make_work(struct device_maker *m, uint32_t queue, const struct made_work *w)
{
	send(m, queue, w->cat ? w->cat : "kernel", w);
}

void make_call(struct device_maker *m, const char *api, const struct made_work *call)
{
	send(m, m->calls, api, call);
}

void make_arrow(struct device_maker *m, uint32_t queue, uint64_t number)
{
	const struct ut_event out = { .kind = UT_KIND_FLOW_OUT, .val = number, .track = m->calls };
	const struct ut_event in = { .kind = UT_KIND_FLOW_IN, .val = number, .track = queue };

	ut_sink_event(&m->log.sink, &m->trace, &out);
	ut_sink_event(&m->log.sink, &m->trace, &in);
}

void make_pause(struct device_maker *m, uint64_t start, uint64_t end)
{
	uint32_t track = ut_trace_add_track(&m->trace, m->program, UT_TRACK_LANE);

	m->trace.tracks[track].role = UT_ROLE_CONTROL;
	send(m, track, "control",
	     &(struct made_work){ .name = "paused", .start = start, .end = end });
}

void make_device_finish(struct device_maker *m)
{
	ut_device_log_end_trace(&m->log, &m->trace);
	ut_device_log_finish(&m->log);
}

void make_device_release(struct device_maker *m)
{
	ut_device_log_release(&m->log);
	ut_trace_release(&m->trace);
}
