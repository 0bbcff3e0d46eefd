#include "metrics/metrics_csv_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "metrics/metrics_stall_write.h"
#include "model/classify.h"
#include "model/device_records.h"
#include "model/event.h"
#include "model/measured.h"
#include "model/shape.h"
#include "model/trace.h"
#include "text/csv_write.h"
#include "text/out.h"

/* ---- kernels --------------------------------------------------------------------------------- */

static const struct ut_arg *find_arg(const struct ut_trace *t, uint32_t args, const char *key)
{
	for (const struct ut_arg *a = &t->args[args]; a->type != UT_ARG_END; a++) {
		if (ut_str_is(ut_strtab_get(&t->strings, a->key), key))
			return a;
	}
	return NULL;
}

static uint64_t arg_number(const struct ut_trace *t, uint32_t args, const char *key)
{
	const struct ut_arg *a = find_arg(t, args, key);

	return a && a->type == UT_ARG_U64 ? a->value.u64 : 0;
}

static uint32_t name_number(struct ut_metrics_write *w, const struct ut_buf *text)
{
	uint64_t hash = ut_hash_bytes(text->data, text->len);
	uint32_t at = ut_idmap_get(&w->name_of, hash);

	if (at && !strcmp(w->names[at - 1], text->data))
		return at - 1;
	w->names = ut_grow(w->names, w->name_count + 1, &w->name_cap, sizeof(*w->names));
	w->names[w->name_count++] = ut_arena_copy(&w->arena, text->data, text->len);
	ut_idmap_put(&w->name_of, hash, (uint32_t)w->name_count);
	return (uint32_t)w->name_count - 1;
}

static void metrics_csv_write_add_kernel(struct ut_metrics_write *w, const struct ut_trace *t,
					 const struct ut_event *e)
{
	uint32_t process = t->tracks[e->track].process;
	struct ut_metrics_write_kernel *k;
	struct ut_device_record r = { 0 };
	struct ut_buf name = { 0 };

	ut_device_record_read(&r, t, e->args);
	ut_shape_name(&name, ut_strtab_get(&t->strings, e->name), &r.launch,
		      ut_api_traits(t->processes[process].api.api)->lanes);
	ut_buf_char(&name, '\0');
	name.len--;
	w->kernels = ut_grow(w->kernels, w->kernel_count + 1, &w->kernel_cap, sizeof(*k));
	k = &w->kernels[w->kernel_count++];
	*k = (struct ut_metrics_write_kernel){ .start = e->ts,
					       .end = e->ts + e->val,
					       .correlation = r.correlation,
					       .process = process,
					       .name = name_number(w, &name),
					       .instance = (uint32_t)arg_number(t, e->args,
										"instance") };
	ut_buf_release(&name);
}

static void metrics_csv_write_take_event(struct ut_sink *sink, const struct ut_trace *t,
					 const struct ut_event *e)
{
	struct ut_metrics_write *w = (struct ut_metrics_write *)sink;
	uint32_t process = t->tracks[e->track].process;
	struct ut_category c;

	if (t->processes[process].kind != UT_PROCESS_DEVICE)
		return;
	c = ut_classify_category(t, e->cat);
	if (e->kind == UT_KIND_SPAN && c.use == UT_CATEGORY_WORK && c.work == UT_DEVICE_KERNEL)
		metrics_csv_write_add_kernel(w, t, e);
	else if (e->kind == UT_KIND_SAMPLE)
		ut_stall_table_add(w->stalls, t, e);
}

static int by_process_and_start(const void *a, const void *b)
{
	const struct ut_metrics_write_kernel *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->instance > y->instance) - (x->instance < y->instance);
}

static void sort_kernels(struct ut_metrics_write *w)
{
	if (w->sorted)
		return;
	w->sorted = true;
	if (w->kernel_count)
		qsort(w->kernels, w->kernel_count, sizeof(*w->kernels), by_process_and_start);
	for (size_t i = 0; i < w->kernel_count; i++) {
		if (w->kernels[i].correlation)
			ut_idmap_put(&w->kernel_of, w->kernels[i].correlation, (uint32_t)i + 1);
	}
}

/* ---- sections -------------------------------------------------------------------------------- */

struct ut_out *ut_metrics_write_section(struct ut_metrics_write *w, const struct ut_trace *trace,
					uint32_t process, enum ut_metrics_written kind)
{
	int32_t device = trace->processes[process].device;
	struct ut_out *out = w->opts.open(w->opts.ctx, device < 0 ? 0 : device, kind);
	struct ut_buf banner = { 0 };

	if (!out)
		return NULL;
	ut_buf_fmt(&banner, "\n=== Device #%" PRId32 " Metrics ===\n\n", device < 0 ? 0 : device);
	ut_out_write(out, banner.data, banner.len);
	ut_buf_release(&banner);
	return out;
}

static void begin_section(struct ut_metrics_write *w, const struct ut_trace *t,
			  const struct ut_measured *m)
{
	const char *comma = m->sample ? ", " : ",";
	struct ut_buf head = { 0 };

	w->begun = true;
	w->process = m->process;
	w->set = m->set;
	w->idle_of = SIZE_MAX;
	for (w->next = 0; w->next < w->kernel_count && w->kernels[w->next].process < m->process;)
		w->next++;
	w->out = ut_metrics_write_section(
		w, t, m->process, m->sample ? UT_METRICS_WROTE_SAMPLES : UT_METRICS_WROTE_QUERY);
	if (!w->out)
		return;
	ut_buf_fmt(&head, "Kernel%sGlobalInstanceId", comma);
	if (!m->sample)
		ut_buf_fmt(&head, "%sSubDeviceId", comma);
	ut_buf_fmt(&head, "%sGpuTime[ns]", comma);
	for (size_t i = 0; i < m->column_count; i++)
		ut_buf_fmt(&head, "%s%s", comma,
			   ut_strtab_get(&t->strings, m->columns[i].name).ptr);
	if (m->sample)
		ut_buf_fmt(&head, "%sQueryBeginTime[ns]", comma);
	ut_buf_char(&head, '\n');
	ut_out_write(w->out, head.data, head.len);
	ut_buf_release(&head);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void metrics_csv_write_add_name(struct ut_buf *to, const char *name)
{
	ut_csv_add_quoted(to, name, strlen(name));
}

static void metrics_csv_write_put_value(struct ut_buf *to, const struct ut_trace *t,
					const struct ut_metric_column *c, uint64_t bits)
{
	struct ut_str text;
	double d;

	switch (c->type) {
	case UT_ARG_F64:
		memcpy(&d, &bits, sizeof(d));
		if (isfinite(d))
			ut_buf_fmt(to, "%f", d);
		break;
	case UT_ARG_I64:
		ut_buf_fmt(to, "%" PRId64, (int64_t)bits);
		break;
	case UT_ARG_STR:
		text = ut_strtab_get(&t->strings, (uint32_t)bits);
		ut_csv_add_quoted(to, text.ptr, text.len);
		break;
	default:
		ut_buf_fmt(to, "%" PRIu64, bits);
		break;
	}
}

/* All behind the name. */
static void metrics_csv_write_put_row(struct ut_buf *to, const struct ut_trace *t,
				      const struct ut_measured *m, uint32_t instance)
{
	const char *comma = m->sample ? ", " : ",";

	ut_buf_fmt(to, "%s%" PRIu32 "%s", comma, instance, m->sample ? "" : ",0");
	ut_buf_fmt(to, "%s%" PRIu64, comma, m->end - m->begin);
	for (size_t i = 0; i < m->column_count; i++) {
		ut_buf_text(to, comma);
		if (i < m->count)
			metrics_csv_write_put_value(to, t, &m->columns[i], m->values[i]);
	}
	if (m->sample)
		ut_buf_fmt(to, "%s%" PRIu64, comma, m->begin);
	ut_buf_char(to, '\n');
}

static void write_buf(struct ut_out *out, struct ut_buf *text)
{
	if (out && text->len)
		ut_out_write(out, text->data, text->len);
	ut_buf_release(text);
}

/* The kernels of a list that was executed have one number: of those, the one that began then.
 * Index + 1; 0 = not known. */
static uint32_t metrics_csv_write_kernel_of(const struct ut_metrics_write *w,
					    const struct ut_measured *m)
{
	uint32_t last = m->correlation ? ut_idmap_get(&w->kernel_of, m->correlation) : 0;
	size_t lo = 0, hi = w->kernel_count;

	while (last && lo < hi) {
		const struct ut_metrics_write_kernel *k = &w->kernels[(lo + hi) / 2];

		if (k->process < m->process || (k->process == m->process && k->start < m->begin))
			lo = (lo + hi) / 2 + 1;
		else
			hi = (lo + hi) / 2;
	}
	for (; last && lo < w->kernel_count && w->kernels[lo].process == m->process &&
	       w->kernels[lo].start == m->begin;
	     lo++) {
		if (w->kernels[lo].correlation == m->correlation)
			return (uint32_t)lo + 1;
	}
	return last;
}

/* A kernel that was asked for: its row, and an empty line behind it. */
static void write_query(struct ut_metrics_write *w, const struct ut_trace *t,
			const struct ut_measured *m)
{
	uint32_t at = metrics_csv_write_kernel_of(w, m);
	struct ut_buf row = { 0 };

	metrics_csv_write_add_name(&row, at ? w->names[w->kernels[at - 1].name]
					    : ut_strtab_get(&t->strings, m->name).ptr);
	metrics_csv_write_put_row(&row, t, m, at ? w->kernels[at - 1].instance : 0);
	ut_buf_char(&row, '\n');
	write_buf(w->out, &row);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Writes what was gathered for kernels that were over before this time. */
static void end_kernels(struct ut_metrics_write *w, uint64_t time)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->running_count; i++) {
		struct ut_metrics_running *r = &w->running[i];

		if (w->kernels[r->kernel].end >= time) {
			w->running[kept++] = *r;
			continue;
		}
		if (r->rows.len)
			ut_buf_char(&r->rows, '\n');
		write_buf(w->out, &r->rows);
	}
	w->running_count = kept;
}

static void begin_kernels(struct ut_metrics_write *w, uint64_t time)
{
	for (; w->next < w->kernel_count && w->kernels[w->next].process == w->process &&
	       w->kernels[w->next].start <= time;
	     w->next++) {
		if (w->kernels[w->next].end < time)
			continue; /* between two samples */
		w->running = ut_grow(w->running, w->running_count + 1, &w->running_cap,
				     sizeof(*w->running));
		w->running[w->running_count++] = (struct ut_metrics_running){ .kernel = w->next };
	}
}

static void end_idle(struct ut_metrics_write *w)
{
	if (w->idle_of != SIZE_MAX && w->out)
		ut_out_write(w->out, "\n", 1);
	w->idle_of = SIZE_MAX;
}

static void write_idle(struct ut_metrics_write *w, const struct ut_trace *t,
		       const struct ut_measured *m)
{
	bool more = w->next < w->kernel_count && w->kernels[w->next].process == w->process;
	struct ut_buf name = { 0 }, row = { 0 };

	if (!w->opts.idle)
		return;
	if (w->idle_of != w->next)
		end_idle(w);
	w->idle_of = w->next;
	ut_buf_fmt(&name, "NoKernel(Before %s)", more ? w->names[w->kernels[w->next].name] : "");
	metrics_csv_write_add_name(&row, more ? name.data : "NoKernel");
	metrics_csv_write_put_row(&row, t, m, 0);
	write_buf(w->out, &row);
	ut_buf_release(&name);
}

static void write_sample(struct ut_metrics_write *w, const struct ut_trace *t,
			 const struct ut_measured *m)
{
	uint64_t middle = m->begin + (m->end - m->begin) / 2;

	end_kernels(w, middle);
	begin_kernels(w, middle);
	if (!w->running_count) {
		write_idle(w, t, m);
		return;
	}
	end_idle(w);
	for (size_t i = 0; i < w->running_count; i++) {
		struct ut_metrics_running *r = &w->running[i];

		metrics_csv_write_add_name(&r->rows, w->names[w->kernels[r->kernel].name]);
		metrics_csv_write_put_row(&r->rows, t, m, w->kernels[r->kernel].instance);
	}
}

static void end_section(struct ut_metrics_write *w)
{
	if (!w->begun)
		return;
	end_kernels(w, UINT64_MAX);
	end_idle(w);
	w->begun = false;
	w->out = NULL;
}

static void take_measured(struct ut_sink *sink, const struct ut_trace *t,
			  const struct ut_measured *m)
{
	struct ut_metrics_write *w = (struct ut_metrics_write *)sink;

	if (t->processes[m->process].kind != UT_PROCESS_DEVICE)
		return; /* of the process itself: no device's */
	sort_kernels(w);
	if (!w->begun || w->process != m->process || w->set != m->set) {
		end_section(w);
		begin_section(w, t, m);
	}
	if (m->sample)
		write_sample(w, t, m);
	else
		write_query(w, t, m);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void ut_metrics_write_init(struct ut_metrics_write *w, const struct ut_metrics_write_opts *opts)
{
	*w = (struct ut_metrics_write){ .sink = { .event = metrics_csv_write_take_event,
						  .measured = take_measured },
					.opts = *opts };
	ut_idmap_init(&w->name_of, &w->arena);
	ut_idmap_init(&w->kernel_of, &w->arena);
	w->stalls = ut_stall_table_new();
}

void ut_metrics_write_end(struct ut_metrics_write *w, const struct ut_trace *trace)
{
	end_section(w);
	if (ut_stall_table_count(w->stalls))
		ut_stall_table_write(w->stalls, w, trace);
}

void ut_metrics_write_release(struct ut_metrics_write *w)
{
	for (size_t i = 0; i < w->running_count; i++)
		ut_buf_release(&w->running[i].rows);
	free(w->running);
	free(w->kernels);
	free(w->names);
	ut_stall_table_free(w->stalls);
	ut_arena_release(&w->arena);
	*w = (struct ut_metrics_write){ 0 };
}
