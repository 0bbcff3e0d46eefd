/*
 * test_samples.c - writes one trace with everything in it, in every format, for the oracles of
 * tests/e2e/test_oracles.py: they must agree with each other about what is in it.
 *
 *   test_samples [FOLDER]      without FOLDER: into a temporary one, to see that it works
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/exporter.h"
#include "model/event.h"
#include "model/trace.h"
#include "support/unit.h"
#include "text/out.h"

#define UPTIME   UINT64_C(3456789012345678) /* 40 days: what long-lived machines have */
#define MAX_DEEP 6

struct sample {
	struct ut_trace t;
	struct ut_sink *sink;
	uint32_t seed;
	uint32_t names[8];
	size_t name_count;
	bool apart; /* no two spans begin or end at the same time */
};

static uint32_t below(struct sample *s, uint32_t n)
{
	s->seed = s->seed * 1664525 + 1013904223;
	return (s->seed >> 8) % n;
}

static uint32_t str(struct sample *s, const char *text)
{
	return ut_strtab_intern_z(&s->t.strings, text);
}

static uint32_t track(struct sample *s, enum ut_track_type type, const char *name, uint64_t id)
{
	uint32_t i = ut_trace_add_track(&s->t, 0, type);

	s->t.tracks[i].name = str(s, name);
	s->t.tracks[i].id = id;
	return i;
}

static void send(struct sample *s, struct ut_event e)
{
	ut_sink_event(s->sink, &s->t, &e);
}

/* Nested spans as an importer hands them out: by start, the outer one first. */
static void nest(struct sample *s, uint32_t on, uint64_t begin, uint64_t end, int depth)
{
	uint64_t at = begin;

	while (at < end) {
		uint64_t length = below(s, 5) ? 1 + below(s, (uint32_t)(end - at)) : 0;
		struct ut_event e = { .ts = at, .val = length, .track = on };

		e.name = s->names[below(s, (uint32_t)s->name_count)];
		e.cat = str(s, below(s, 2) ? "dom,ain" : NULL);
		send(s, e);
		if (depth < MAX_DEEP && length > 20)
			nest(s, on, at + s->apart + below(s, 2),
			     at + length - s->apart - below(s, 3), depth + 1);
		at += length + below(s, 2) * below(s, 1000) + (s->apart || !length);
	}
}

static void fill_names(struct sample *s, bool hostile)
{
	s->names[s->name_count++] = str(s, "gemm");
	s->names[s->name_count++] = str(s, "dnnl::primitive::execute::convolution");
	s->names[s->name_count++] = str(s, "caf\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97");
	if (!hostile)
		return;
	s->names[s->name_count++] = str(s, "\"},{\"ph\":\"X\"\n\t\\ \x1b[2J");
	s->names[s->name_count++] = str(s, "bad \xff\xc0\x80\xed\xa0\x80\xe2\x82");
	s->names[s->name_count++] = ut_strtab_intern(&s->t.strings, "a\0b", 3);
	s->names[s->name_count++] = 0;
}

static void start(struct sample *s, struct ut_sink *sink, int32_t rank, bool hostile)
{
	struct ut_process *p;

	*s = (struct sample){ .sink = sink, .seed = 42 + (uint32_t)rank, .apart = !hostile };
	ut_trace_init(&s->t);
	s->t.realtime_offset = 1700000000000000000;
	s->t.boottime_offset = 1000;
	s->t.first = UPTIME;
	ut_trace_add_process(&s->t, 4242);
	p = &s->t.processes[0];
	p->rank = rank;
	p->name = str(s, "solver");
	p->host = str(s, "node");
	p->cmdline = str(s, "./solver --size=\"1 2\"");
	fill_names(s, hostile);
}

static void end(struct sample *s, const struct ut_exporter *x)
{
	x->end_trace(s->sink, &s->t);
	ut_trace_release(&s->t);
}

static uint32_t some_args(struct sample *s)
{
	struct ut_trace *t = &s->t;
	uint32_t at = (uint32_t)t->arg_count, shape = str(s, "shape");

	ut_trace_add_arg(t, str(s, "u"), UT_ARG_U64)->value.u64 = UINT64_MAX;
	ut_trace_add_arg(t, str(s, "i"), UT_ARG_I64)->value.i64 = -1;
	ut_trace_add_arg(t, str(s, "f"), UT_ARG_F64)->value.f64 = 0.1;
	ut_trace_add_arg(t, str(s, "p"), UT_ARG_PTR)->value.u64 = 0xdeadbeef;
	ut_trace_add_arg(t, str(s, "s"), UT_ARG_STR)->value.str = str(s, "a \"b\" \xff");
	for (uint64_t i = 0; i < 3; i++) {
		struct ut_arg *a = ut_trace_add_arg(t, shape, UT_ARG_U64);

		a->value.u64 = i;
		a->flags = (uint8_t)(UT_ARG_ARRAY | (i < 2 ? UT_ARG_MORE : 0));
	}
	ut_trace_close_args(t);
	return at;
}

static void add_counters(struct sample *s)
{
	uint32_t heap = track(s, UT_TRACK_COUNTER, "mem: heap", 1);
	uint32_t load = track(s, UT_TRACK_COUNTER, "cpu: load", 2);

	s->t.tracks[heap].unit = str(s, "bytes");
	for (uint64_t i = 0; i < 10; i++) {
		struct ut_event e = { .kind = UT_KIND_COUNTER, .ts = UPTIME + i * 1000 };
		double value = (double)i / 7;

		e.track = heap;
		e.val = i << 40;
		send(s, e);
		e.track = load;
		e.flags = UT_EV_DOUBLE;
		memcpy(&e.val, &value, sizeof(value));
		send(s, e);
	}
}

/* Overlapping spans. */
static void add_async(struct sample *s)
{
	uint32_t io = track(s, UT_TRACK_ASYNC, "io", 3);
	struct ut_event e = { .track = io, .name = str(s, "read"), .cat = str(s, "disk") };

	for (uint64_t i = 1; i <= 20; i++) {
		e.val = i;
		e.kind = UT_KIND_ASYNC_BEGIN;
		e.ts = UPTIME + i * 100;
		send(s, e);
		e.kind = UT_KIND_ASYNC_END;
		e.ts += 250;
		send(s, e);
	}
}

static void add_flow(struct sample *s, uint32_t from, uint32_t to, uint64_t at, uint64_t number)
{
	struct ut_event span = { .ts = at, .val = 100, .name = str(s, "launch"), .track = from };
	struct ut_event flow = { .kind = UT_KIND_FLOW_OUT, .ts = at + 10, .val = number };

	flow.track = from;
	send(s, span);
	send(s, flow);
	span.track = flow.track = to;
	span.name = str(s, "kernel");
	span.ts += 200;
	span.args = some_args(s);
	send(s, span);
	flow.kind = UT_KIND_FLOW_IN;
	flow.ts = span.ts + 10;
	send(s, flow);
}

/* 64 KiB of the worst byte, once. */
static void add_huge_name(struct sample *s, uint32_t on, uint64_t at)
{
	static char huge[65536];

	memset(huge, '"', sizeof(huge));
	send(s, (struct ut_event){ .ts = at,
				   .track = on,
				   .name = ut_strtab_intern(&s->t.strings, huge, sizeof(huge)) });
}

static void add_everything(struct sample *s)
{
	uint32_t main_thread = track(s, UT_TRACK_THREAD, "main", 4242);
	uint32_t worker = track(s, UT_TRACK_THREAD, "w\"orker", 4243);
	uint32_t lane = track(s, UT_TRACK_LANE, "Frames", 4242);
	struct ut_event mark = { .kind = UT_KIND_INSTANT, .track = worker, .ts = UPTIME + 7 };

	nest(s, main_thread, UPTIME, UPTIME + 100000, 0);
	nest(s, lane, UPTIME, UPTIME + 100000, 4);
	mark.name = s->names[3];
	send(s, mark);
	mark.flags = UT_EV_SCOPE_PROCESS;
	send(s, mark);
	mark.flags = UT_EV_SCOPE_GLOBAL;
	send(s, mark);
	for (uint64_t i = 0; i < 5; i++)
		add_flow(s, main_thread, worker, UPTIME + 200000 + i * 1000, i);
	add_counters(s);
	add_async(s);
	send(s, (struct ut_event){ .ts = UPTIME + 300000,
				   .val = 1000,
				   .track = main_thread,
				   .name = s->names[0],
				   .args = some_args(s),
				   .flags = UT_EV_UNFINISHED });
	add_huge_name(s, main_thread, UPTIME + 301000);
	s->t.last = UPTIME + 301000;
	s->t.losses.unfinished = 1;
	s->t.global_args = some_args(s);
}

static int write_file(const char *folder, const char *name, bool everything)
{
	const struct ut_exporter *x = ut_exporter_by_file(name);
	struct ut_err err = { 0 };
	char path[4096];
	struct ut_out *out;
	struct ut_sink *sink;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = ut_out_open(path, UT_OUT_OVERWRITE);
	sink = x->open(out);
	for (int32_t rank = 0; rank < 2; rank++) {
		struct sample s;

		start(&s, sink, rank, everything);
		if (everything)
			add_everything(&s);
		else
			nest(&s, track(&s, UT_TRACK_THREAD, "main", 4242), UPTIME, UPTIME + 1000000,
			     0);
		end(&s, x);
	}
	x->close(sink);
	if (ut_out_commit(out, &err))
		fprintf(stderr, "test_samples: %s\n", err.text);
	return err.code;
}

UT_TESTS(samples)
{
	static const char *const files[] = { "sample.json", "sample.json.gz", "sample.json.zst",
					     "sample.pftrace" };
	char made[] = "/tmp/ut_samples_XXXXXX", command[64];
	const char *folder = argc > 1 ? argv[1] : mkdtemp(made);
	int rc = folder ? 0 : 1;

	for (size_t i = 0; i < 4 && !rc; i++)
		rc = write_file(folder, files[i], true);
	if (!rc)
		rc = write_file(folder, "nested.json", false);
	if (argc < 2 && folder) {
		snprintf(command, sizeof(command), "rm -r %s", folder);
		rc = system(command) || rc;
	}
	return rc != 0;
}
