#include "export/support.h"

#include <stdlib.h>
#include <string.h>

#include "text/out.h"

static void start_trace(struct script *s)
{
	ut_trace_init(&s->trace);
	s->process = ut_trace_add_process(&s->trace, 100);
	s->trace.processes[s->process].name = script_str(s, "app");
	s->thread = script_track(s, UT_TRACK_THREAD, NULL, 101);
}

void script_start(struct script *s, const struct ut_exporter *exporter)
{
	*s = (struct script){ .exporter = exporter };
	s->out = ut_out_open_memory();
	s->sink = exporter->open(s->out);
	start_trace(s);
}

void script_next_trace(struct script *s)
{
	s->exporter->end_trace(s->sink, &s->trace);
	ut_trace_release(&s->trace);
	start_trace(s);
}

const char *script_end(struct script *s)
{
	const char *data;

	s->exporter->end_trace(s->sink, &s->trace);
	s->exporter->close(s->sink);
	data = ut_out_data(s->out, &s->len);
	s->text = malloc(s->len + 1);
	memcpy(s->text, data, s->len);
	s->text[s->len] = '\0';
	return s->text;
}

void script_release(struct script *s)
{
	ut_out_abandon(s->out);
	ut_trace_release(&s->trace);
	free(s->text);
}

uint32_t script_str(struct script *s, const char *text)
{
	return ut_strtab_intern_z(&s->trace.strings, text);
}

uint32_t script_track(struct script *s, enum ut_track_type type, const char *name, uint64_t id)
{
	uint32_t track = ut_trace_add_track(&s->trace, s->process, type);

	s->trace.tracks[track].name = script_str(s, name);
	s->trace.tracks[track].id = id;
	return track;
}

void script_event(struct script *s, struct ut_event e)
{
	ut_sink_event(s->sink, &s->trace, &e);
}

void script_span(struct script *s, uint32_t track, const char *name, uint64_t ts, uint64_t length)
{
	script_event(
		s, (struct ut_event){
			   .ts = ts, .val = length, .track = track, .name = script_str(s, name) });
}
