/*
 * store_sink.h - for formats that are made from columns: events are collected in a store, which is
 * written when the last one has come.
 */
#ifndef UT_EXPORT_STORE_SINK_H
#define UT_EXPORT_STORE_SINK_H

struct ut_out;
struct ut_sink;
struct ut_store;
struct ut_trace;

/* Members of struct ut_exporter, but for write, which open() is told. */
struct ut_sink *ut_store_sink_open(struct ut_out *out,
				   void (*write)(struct ut_store *store, struct ut_out *out));
void ut_store_sink_end_trace(struct ut_sink *sink, const struct ut_trace *trace);
void ut_store_sink_close(struct ut_sink *sink);

#endif
