/*
 * support.h - a trace made by hand and what an exporter makes of it.
 */
#ifndef TESTS_EXPORT_SUPPORT_H
#define TESTS_EXPORT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "export/exporter.h"
#include "model/event.h"
#include "model/trace.h"

struct script {
	const struct ut_exporter *exporter;
	struct ut_trace trace;
	struct ut_out *out;
	struct ut_sink *sink;
	uint32_t process, thread; /* one each from the start: pid 100 "app", tid 101 */
	char *text;               /* after script_end(); NUL-terminated */
	size_t len;
};

void script_start(struct script *s, const struct ut_exporter *exporter);
void script_release(struct script *s);

/* The next trace of the same file. */
void script_next_trace(struct script *s);

uint32_t script_str(struct script *s, const char *text);
uint32_t script_track(struct script *s, enum ut_track_type type, const char *name, uint64_t id);
void script_event(struct script *s, struct ut_event e);
void script_span(struct script *s, uint32_t track, const char *name, uint64_t ts, uint64_t length);

/* Everything that was written. */
const char *script_end(struct script *s);

#endif
