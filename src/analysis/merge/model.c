/*
 * model.c - merges traces of any format, through the model: each is loaded, moved onto the
 * common clock and handed to the exporter, one after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/logger.h"
#include "export/exporter.h"
#include "import/importer.h"
#include "merge/merge.h"
#include "model/event.h"
#include "model/sink.h"
#include "model/store.h"
#include "mpijob/mpijob.h"
#include "text/out.h"

static void model_warn(void *ctx, const char *path, const char *text)
{
	const struct ut_logger *const *logger = ctx;

	ut_logger_log(*logger, UT_WARN, "%s: %s", path, text);
}

static int model_load(const struct ut_merge *m, size_t i, bool first_time, struct ut_store *store,
		      struct ut_err *err)
{
	const struct ut_logger *logger = m->logger;
	struct ut_import_opts opts = { .threads = m->threads, .checked = first_time };

	opts.progress = &m->progress->done;
	opts.ctx = &logger;
	if (first_time)
		opts.warn = model_warn;
	return ut_import(m->files[i].path, &opts, store, err);
}

/* What the plan needs: the clock, and the host that it belongs to. */
static void note_clock(struct ut_facts *f, const struct ut_store *store)
{
	const struct ut_trace *t = &store->trace;
	struct ut_str host = { "", 0 };

	*f = (struct ut_facts){ .first = INT64_MAX, .last = INT64_MIN, .rank = -1 };
	if (store->row_count && t->first <= INT64_MAX && t->last <= INT64_MAX) {
		f->first = (int64_t)t->first;
		f->last = (int64_t)t->last;
	}
	if (t->process_count)
		host = ut_strtab_get(&t->strings, t->processes[0].host);
	ut_buf_add(&f->text, host.ptr, host.len);
	f->processes = ut_grow(NULL, 1, &f->process_cap, sizeof(*f->processes));
	f->process_count = 1;
	f->processes[0].placed = t->realtime_offset != 0;
	f->processes[0].realtime = t->realtime_offset;
	f->processes[0].host.len = (uint32_t)host.len;
	f->id_first = UINT64_MAX;
}

/* The first look: when did each start? */
static int read_clocks(struct ut_merge *m, struct ut_err *err)
{
	size_t valid = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct ut_merge_file *f = &m->files[i];
		struct ut_err why = { 0 };
		struct ut_store store;
		int rc;

		f->left_out = !m->sizes[i];
		if (f->left_out) {
			ut_logger_log(m->logger, UT_WARN, "%s: empty, left out", f->name);
			continue;
		}
		rc = model_load(m, i, true, &store, &why);
		if (rc && m->strict)
			return ut_err_set(err, rc, "%s", why.text);
		f->left_out = rc != 0;
		if (rc) {
			ut_logger_log(m->logger, UT_WARN, "%s; left out", why.text);
			continue;
		}
		note_clock(&f->facts, &store);
		ut_store_release(&store);
		valid++;
	}
	return valid ? 0 : ut_merge_empty_result(m, err);
}

/* Times on the common clock, on their way into a file, where clocks run differently. */
struct mapping {
	struct ut_sink sink; /* first */
	struct ut_sink *to;
	const struct ut_time_map *map;
};

static uint64_t mapped(const struct ut_time_map *map, uint64_t ts)
{
	int64_t to = ts <= INT64_MAX ? ut_time_map_to(map, (int64_t)ts) : INT64_MAX;

	return to > 0 ? (uint64_t)to : 0;
}

static void map_event(struct ut_sink *sink, const struct ut_trace *trace,
		      const struct ut_event *event)
{
	struct mapping *m = (struct mapping *)sink;
	struct ut_event e = *event;

	e.ts = mapped(m->map, event->ts);
	if (e.kind == UT_KIND_SPAN)
		e.val = mapped(m->map, ut_event_end(event)) - e.ts;
	ut_sink_event(m->to, trace, &e);
}

static void send_mapped(struct ut_store *store, const struct ut_time_map *map, struct ut_sink *to)
{
	struct mapping m = { .sink = *to, .to = to, .map = map };

	m.sink.event = map_event;
	m.sink.measured = NULL; /* stores have none */
	ut_store_send(store, 0, &m.sink);
	store->trace.first = mapped(map, store->trace.first);
	store->trace.last = mapped(map, store->trace.last);
}

static uint64_t moved(uint64_t ts, int64_t shift)
{
	uint64_t to = ts + (uint64_t)shift;

	if (shift < 0)
		return to > ts ? 0 : to;
	return to < ts ? UINT64_MAX : to;
}

/* What was measured about the clock of a host was used: its times are not those of the result. */
static void drop_measured(struct ut_trace *t)
{
	for (size_t i = 0; i < t->process_count; i++) {
		struct ut_arg *a = &t->args[t->processes[i].args];

		while (a->type != UT_ARG_END &&
		       !(a->type == UT_ARG_JSON &&
			 ut_str_is(ut_strtab_get(&t->strings, a->key), "host_clock")))
			a++;
		for (; a->type != UT_ARG_END; a++)
			a[0] = a[1];
	}
}

static int model_send(struct ut_merge *m, const struct ut_merge_plan *plan, size_t i,
		      struct ut_sink *sink, struct ut_err *err)
{
	const struct ut_merge_file *f = &m->files[i];
	struct ut_store store;
	int rc = model_load(m, i, false, &store, err);

	if (rc)
		return rc;
	if (f->plan.shift || f->map.count)
		drop_measured(&store.trace);
	if (f->plan.map) {
		send_mapped(&store, f->plan.map, sink);
	} else {
		ut_store_send(&store, f->plan.shift, sink);
		store.trace.first = moved(store.trace.first, f->plan.shift);
		store.trace.last = moved(store.trace.last, f->plan.shift);
	}
	if (plan->placed && f->placed)
		store.trace.realtime_offset = plan->epoch;
	else if (store.trace.realtime_offset)
		store.trace.realtime_offset -= f->plan.shift;
	m->format->end_trace(sink, &store.trace);
	m->events += store.row_count;
	ut_store_release(&store);
	return 0;
}

static int model_write_all(struct ut_merge *m, const struct ut_merge_plan *plan, struct ut_err *err)
{
	struct ut_out *out = ut_out_open(m->output, m->out_flags);
	struct ut_sink *sink = m->format->open(out);
	int rc = 0;

	for (size_t i = 0; !rc && i < m->count; i++) {
		if (!m->files[i].left_out)
			rc = model_send(m, plan, i, sink, err);
	}
	m->format->close(sink);
	if (!rc)
		return ut_out_commit(out, err);
	ut_out_abandon(out);
	return rc;
}

int ut_merge_model(struct ut_merge *m, struct ut_err *err)
{
	/* Exporters see to it that pids and numbers are unique. */
	struct ut_merge_rules rules = m->rules;
	struct ut_merge_plan plan = { 0 };
	int rc;

	if (m->job->rank)
		return 0;
	if (rules.pids != UT_MERGE_AUTO || rules.ids != UT_MERGE_AUTO)
		return ut_err_set(err, -EINVAL,
				  "--pids and --ids work from Chrome JSON to Chrome JSON only");
	rc = read_clocks(m, err);
	if (rc)
		return rc;
	rules.pids = rules.ids = UT_MERGE_KEEP;
	rc = ut_merge_find_clocks(m, 0, m->count, &plan.clocks, err);
	if (rc)
		return rc;
	rc = ut_merge_plan_make(&plan, m->files, m->count, &rules, err);
	if (rc)
		return rc;
	rc = model_write_all(m, &plan, err);
	if (!rc && !m->quiet)
		ut_merge_log_clocks(&plan, m->logger);
	ut_merge_plan_release(&plan);
	return rc;
}
