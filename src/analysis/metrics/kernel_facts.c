#include "metrics/kernel_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_log.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/path.h"
#include "metrics/kernel_roof.h"
#include "metrics/roofline_device.h"
#include "model/device_records.h"
#include "model/store.h"

#define MOST_ARGS     256u
#define MOST_VARIANTS 65536u /* a real program has hundreds */
#define MOST_REASONS  64u
#define MOST_COUNTER  64u     /* counters of a device that tell a fact */
#define MOST_SAMPLES  100000u /* of one counter, in one kernel */
#define RATIO         "smsp__average_warps_issue_stalled_"
#define RATIO_END     "_per_issue_active.ratio"

/* What a key of the trace means: a fact, or one of these. */
enum meaning {
	BLOCKS_PER_SM = UT_KERNEL_FACTS +
			1, /* torch.profiler: blocks of the grid for each multiprocessor */
	LOAD_SECTORS,
	LOAD_REQUESTS,
	STORE_SECTORS,
	STORE_REQUESTS,
	STALL_RATIO, /* + number of the reason */
	NOTHING = UINT16_MAX
};

/* Sums of a variant, weighted by time where they are averages. */
struct sums {
	double of[UT_KERNEL_FACTS], weight[UT_KERNEL_FACTS];
	double sampled[UT_KERNEL_FACTS], samples[UT_KERNEL_FACTS];
	double sectors[2], requests[2]; /* loads, stores */
	double ratio[MOST_REASONS];
	double launch, launches;
	double processors;
	struct ut_roof_work work; /* operations and bytes that were counted */
};

/* Samples of instructions of all kernels of one name. */
struct stalls {
	uint64_t total, reason[MOST_REASONS];
	uint32_t places; /* first of its places, plus 1 */
};

struct place {
	uint64_t key, count;
	uint32_t reason, next; /* plus 1 */
	struct ut_place_in_code at;
};

struct counter {
	uint32_t track;
	enum ut_kernel_fact fact;
};

struct making {
	struct ut_kernel_set *set;
	const struct ut_store *store;
	const struct ut_device_log *log;
	struct sums *sums; /* by variant */
	size_t sums_cap;
	struct ut_idmap meanings; /* string of the trace -> 1 + meaning */
	struct ut_idmap by_key;   /* hash of a variant -> 1 + its number */
	struct ut_strtab names;   /* of kernels that have a variant */
	struct ut_idmap by_text;  /* in there -> name in the log */
	struct ut_arena arena;
	struct ut_str reasons[MOST_REASONS]; /* of the trace: those of ratios and of samples */
	uint32_t reason_count;
	struct counter counters[MOST_COUNTER];
	uint32_t counter_count;
	struct stalls *stalls; /* by name in the log's strings */
	size_t stall_cap;
	struct place *places;
	size_t place_count, place_cap;
	struct ut_idmap by_place;
	struct ut_kernel_roof roof;
	struct ut_str roof_model; /* whose peaks are in the next; "" = none yet */
	struct ut_roof_device roof_device;
};

/* ---- keys ---------------------------------------------------------------------------------- */

/* Facts that counters tell, and nothing else. */
static bool is_counted(unsigned int fact)
{
	return fact >= UT_FACT_ACHIEVED && fact <= UT_FACT_RED_SECTORS;
}

static uint32_t reason_number(struct making *m, struct ut_str reason)
{
	for (uint32_t i = 0; i < m->reason_count; i++) {
		if (ut_str_eq(m->reasons[i], reason))
			return i;
	}
	if (m->reason_count == MOST_REASONS)
		return MOST_REASONS - 1;
	m->reasons[m->reason_count] = reason;
	return m->reason_count++;
}

static unsigned int meaning_of_text(struct making *m, struct ut_str s)
{
	static const struct {
		const char *name;
		unsigned int meaning;
	} others[] = {
		{ "blocks per SM", BLOCKS_PER_SM },
		{ "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", LOAD_SECTORS },
		{ "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", LOAD_REQUESTS },
		{ "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", STORE_SECTORS },
		{ "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", STORE_REQUESTS },
	};
	enum ut_kernel_fact fact = ut_kernel_fact_named(s);
	const char *unit = s.len ? memchr(s.ptr, '[', s.len) : NULL;

	if (fact < UT_KERNEL_FACTS)
		return fact;
	s.len = unit ? (size_t)(unit - s.ptr) : s.len;
	if (ut_str_has_start(s, RATIO) && ut_str_has_end(s, RATIO_END))
		return STALL_RATIO +
		       reason_number(m, (struct ut_str){ s.ptr + strlen(RATIO),
							 s.len - strlen(RATIO RATIO_END) });
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (ut_str_is(s, others[i].name))
			return others[i].meaning;
	}
	return NOTHING;
}

static unsigned int meaning(struct making *m, uint32_t key)
{
	uint32_t known = ut_idmap_get(&m->meanings, key);

	if (!known) {
		known = 1 + meaning_of_text(m, ut_strtab_get(&m->store->trace.strings, key));
		ut_idmap_put(&m->meanings, key, known);
	}
	return known - 1;
}

/* ---- one launch ---------------------------------------------------------------------------- */

/* What the arguments of one launch say. */
struct launch {
	double value[STALL_RATIO + MOST_REASONS]; /* by meaning; NAN = nothing */
	bool is_measured;                         /* by -q */
	double blocks, threads, shared;           /* NAN = unknown */
	struct ut_roof_work work;
};

static double kernel_facts_number(const struct making *m, const struct ut_arg *a)
{
	struct ut_str text;

	switch ((enum ut_arg_type)a->type) {
	case UT_ARG_U64:
	case UT_ARG_PTR:
	case UT_ARG_BOOL:
		return (double)a->value.u64;
	case UT_ARG_I64:
		return (double)a->value.i64;
	case UT_ARG_F64:
		return a->value.f64;
	case UT_ARG_STR:
	case UT_ARG_JSON:
		text = ut_strtab_get(&m->store->trace.strings, a->value.str);
		return text.len && text.len < 64 ? strtod(text.ptr, NULL) : NAN;
	case UT_ARG_END:
		break;
	}
	return NAN;
}

/* How many there are of a size; NAN = unknown. */
static double product(const uint64_t size[3])
{
	double all = size[0] ? 1 : NAN;

	for (int i = 0; i < 3 && size[i]; i++)
		all *= (double)size[i];
	return all;
}

/* "NAME[UNIT]": only what was measured is called so. */
static bool is_metric(struct ut_str name)
{
	return name.len > 2 && name.ptr[name.len - 1] == ']' && name.ptr[0] != '[';
}

static void read_args(struct making *m, uint32_t list, struct launch *l)
{
	struct ut_arg args[MOST_ARGS];
	uint32_t keys[MOST_ARGS];
	struct ut_str titles[MOST_ARGS];
	double values[MOST_ARGS];
	size_t metrics = 0,
	       count = list ? ut_arglists_get(&m->store->args, list, args, MOST_ARGS) : 0;

	for (size_t i = 0; i < sizeof(l->value) / sizeof(l->value[0]); i++)
		l->value[i] = NAN;
	l->is_measured = false;
	l->work = (struct ut_roof_work){ 0 };
	for (size_t i = 0; i < count && i < MOST_ARGS; i++) {
		unsigned int what = meaning(m, args[i].key);

		titles[metrics] = ut_strtab_get(&m->store->trace.strings, args[i].key);
		if (is_metric(titles[metrics])) {
			l->is_measured = true;
			keys[metrics] = args[i].key;
			values[metrics++] = kernel_facts_number(m, &args[i]);
		}
		if (what == NOTHING)
			continue;
		if (what < UT_KERNEL_FACTS)
			/* of several counters of one unit, the busiest tells */
			l->value[what] = fmax(l->value[what], kernel_facts_number(m, &args[i]));
		else
			l->value[what] = kernel_facts_number(m, &args[i]);
	}
	ut_kernel_roof_add(&m->roof, keys, titles, values, metrics, &l->work);
}

uint32_t ut_kernel_row_args(const struct ut_store *store, const struct ut_device_work *w)
{
	const struct ut_device_records *r = ut_store_devices(store);
	uint64_t row;

	if (!w->record)
		return 0;
	row = r->row[w->record - 1];
	return store->rows[w->queue].blocks[row / UT_BLOCK_ROWS].args[row % UT_BLOCK_ROWS];
}

/* What the record of a launch says. */
static void read_record(const struct making *m, const struct ut_device_work *w, struct launch *l)
{
	const struct ut_device_info *d = &m->log->devices[w->device];
	const struct ut_device_launch *of = &m->log->launches.items[w->launch];

	l->blocks = ut_device_api_traits(m->log, d->api)->items ? NAN : product(of->grid);
	l->threads = ut_device_api_traits(m->log, d->api)->items ? NAN : product(of->block);
	l->shared = (double)of->static_shared + (double)of->dynamic_shared;
}

/* ---- variants ------------------------------------------------------------------------------ */

static uint64_t kernel_facts_mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x9e3779b97f4a7c15u;
}

/* Traces say anything: what is no size is none. */
static uint64_t kernel_facts_whole(double size)
{
	return size >= 0 && size < 0x1p63 ? (uint64_t)size : 0;
}

static uint32_t variant_of(struct making *m, const struct ut_device_work *w, const struct launch *l)
{
	struct ut_kernel_set *s = m->set;
	double blocks = l->blocks, threads = l->threads;
	uint64_t key = kernel_facts_mix(
		kernel_facts_mix(kernel_facts_mix(w->name, w->device), kernel_facts_whole(blocks)),
		kernel_facts_whole(threads));
	uint32_t at = ut_idmap_get(&m->by_key, key);

	if (at || s->count == MOST_VARIANTS)
		return at;
	s->variants = ut_grow(s->variants, s->count + 1, &s->cap, sizeof(*s->variants));
	m->sums = ut_grow(m->sums, s->count + 1, &m->sums_cap, sizeof(*m->sums));
	s->variants[s->count] = (struct ut_kernel_variant){ .name = w->name,
							    .device = w->device,
							    .blocks = blocks,
							    .threads = threads,
							    .least = UINT64_MAX };
	ut_idmap_put(&m->by_key, key, (uint32_t)++s->count);
	return (uint32_t)s->count;
}

static void kernel_facts_add_pair(double *sectors, double *requests, double s, double r)
{
	if (s >= 0 && r > 0) {
		*sectors += s;
		*requests += r;
	}
}

static void add_launch(struct sums *s, const struct ut_device_work *w, const struct launch *l)
{
	double time = (double)(w->end - w->start) + 1;

	ut_roof_work_add(&s->work, &l->work);
	for (unsigned int i = 0; i < UT_KERNEL_FACTS; i++) {
		if (!isfinite(l->value[i]))
			continue;
		s->of[i] += time * l->value[i];
		s->weight[i] += time;
	}
	if (l->shared > 0 && !isfinite(l->value[UT_FACT_SHARED])) {
		s->of[UT_FACT_SHARED] += time * l->shared;
		s->weight[UT_FACT_SHARED] += time;
	}
	if (l->value[BLOCKS_PER_SM] > 0 && l->blocks > 0)
		s->processors = round(l->blocks / l->value[BLOCKS_PER_SM]);
	kernel_facts_add_pair(&s->sectors[0], &s->requests[0], l->value[LOAD_SECTORS],
			      l->value[LOAD_REQUESTS]);
	kernel_facts_add_pair(&s->sectors[1], &s->requests[1], l->value[STORE_SECTORS],
			      l->value[STORE_REQUESTS]);
	for (unsigned int i = 0; i < MOST_REASONS; i++) {
		if (l->value[STALL_RATIO + i] > 0)
			s->ratio[i] += time * l->value[STALL_RATIO + i];
	}
	/* While counters are read, a launch takes as long as all runs of its kernel. */
	if (!l->is_measured && w->called && w->handed > w->called) {
		s->launch += (double)(w->handed - w->called);
		s->launches++;
	}
}

/* ---- counters ------------------------------------------------------------------------------ */

static void find_counters(struct making *m)
{
	const struct ut_trace *t = &m->store->trace;

	for (uint32_t i = 0; i < t->track_count && m->counter_count < MOST_COUNTER; i++) {
		const struct ut_track *track = &t->tracks[i];
		enum ut_kernel_fact fact;

		if (track->type != UT_TRACK_COUNTER || !ut_is_device(t, track->process))
			continue;
		fact = ut_kernel_fact_named(
			ut_strtab_get(&t->strings, track->base ? track->base : track->name));
		if (fact < UT_KERNEL_FACTS)
			m->counters[m->counter_count++] = (struct counter){ i, fact };
	}
}

static double counter_value(const struct ut_event *e)
{
	double value;

	if (e->flags & UT_EV_DOUBLE) {
		memcpy(&value, &e->val, sizeof(value));
		return value;
	}
	return e->flags & UT_EV_SIGNED ? (double)(int64_t)e->val : (double)e->val;
}

static uint64_t kernel_facts_time_of(const struct ut_rows *rows, uint64_t at)
{
	return rows->blocks[at / UT_BLOCK_ROWS].ts[at % UT_BLOCK_ROWS];
}

/*
 * A sample is about the time until the next one; of the last, until as long as the one before took.
 * What lies by more than a tenth behind the end is about other things, too.
 */
static bool ends_within(const struct ut_store *store, uint32_t track, uint64_t at, uint64_t end)
{
	const struct ut_rows *rows = &store->rows[track];
	uint64_t begin = kernel_facts_time_of(rows, at), length = 0;

	if (at + 1 < rows->count)
		length = kernel_facts_time_of(rows, at + 1) - begin;
	else if (at)
		length = begin - kernel_facts_time_of(rows, at - 1);
	return begin + length - length / 10 <= end;
}

uint32_t ut_kernel_sampled(const struct ut_store *store, const struct ut_device_work *w,
			   uint32_t track, double *sum)
{
	const struct ut_track *tracks = store->trace.tracks;
	const struct ut_rows *rows = &store->rows[track];
	uint64_t at = ut_rows_find(rows, w->start);
	uint32_t n = 0;

	if (tracks[track].process != tracks[w->queue].process)
		return 0;
	for (; at < rows->count && n < MOST_SAMPLES; at++) {
		struct ut_event e = ut_block_event(store, track, &rows->blocks[at / UT_BLOCK_ROWS],
						   (uint32_t)(at % UT_BLOCK_ROWS));
		double value = counter_value(&e);

		if (e.ts >= w->end || !ends_within(store, track, at, w->end))
			break;
		if (e.kind != UT_KIND_COUNTER || !isfinite(value))
			continue;
		*sum += value;
		n++;
	}
	return n;
}

static void add_samples(struct making *m, struct sums *s, const struct ut_device_work *w)
{
	for (uint32_t k = 0; k < m->counter_count; k++) {
		const struct counter *c = &m->counters[k];

		s->samples[c->fact] +=
			ut_kernel_sampled(m->store, w, c->track, &s->sampled[c->fact]);
	}
}

/* ---- samples of stalls --------------------------------------------------------------------- */

/* Names of functions in samples are those of kernels; the log has its own numbers for them. */
static void learn_names(struct making *m)
{
	ut_strtab_init(&m->names, &m->arena);
	for (size_t i = 0; i < m->set->count; i++) {
		uint32_t name = m->set->variants[i].name;
		struct ut_str s = ut_strtab_get(&m->log->strings, name);

		if (name) /* a kernel without one has no samples either */
			ut_idmap_put(&m->by_text, ut_strtab_intern(&m->names, s.ptr, s.len), name);
	}
}

static uint32_t log_name(struct making *m, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&m->store->trace.strings, id);

	return ut_idmap_get(&m->by_text, ut_strtab_intern(&m->names, s.ptr, s.len));
}

static void kernel_facts_add_place(struct making *m, struct stalls *s, uint32_t function,
				   uint32_t reason, const struct ut_place_in_code *at,
				   uint64_t weight)
{
	/* a line, or an instruction where lines are not known */
	uint64_t where = at->line ? kernel_facts_mix(at->file, at->line) : ~at->address;
	uint64_t key = kernel_facts_mix(kernel_facts_mix(where, function), reason);
	uint32_t n = ut_idmap_get(&m->by_place, key);

	if (!n) {
		m->places =
			ut_grow(m->places, m->place_count + 1, &m->place_cap, sizeof(*m->places));
		n = (uint32_t)++m->place_count;
		m->places[n - 1] = (struct place){
			.key = key, .reason = reason, .next = s->places, .at = *at
		};
		s->places = n;
		ut_idmap_put(&m->by_place, key, n);
	}
	m->places[n - 1].count += weight;
}

static void add_stall(void *ctx, const struct ut_event *e)
{
	struct making *m = ctx;
	const struct ut_trace *t = &m->store->trace;
	struct ut_place_in_code at = ut_stacks_innermost(&t->stacks, ut_sample_stack(e->val));
	uint32_t name = at.function ? log_name(m, at.function) : 0, reason;
	uint64_t weight = ut_sample_weight(e->val);
	struct stalls *s;

	if (!name || !e->cat)
		return;
	weight = weight ? weight : 1;
	m->stalls = ut_grow(m->stalls, (size_t)name + 1, &m->stall_cap, sizeof(*m->stalls));
	s = &m->stalls[name];
	s->total += weight;
	reason = reason_number(m, ut_strtab_get(&t->strings, e->cat));
	s->reason[reason] += weight;
	kernel_facts_add_place(m, s, name, reason, &at, weight);
}

void ut_kernel_each_sample(const struct ut_store *store,
			   void (*take)(void *ctx, const struct ut_event *e), void *ctx)
{
	for (uint32_t track = 0; track < store->trace.track_count; track++) {
		const struct ut_rows *rows = &store->rows[track];

		if (!ut_is_device(&store->trace, store->trace.tracks[track].process))
			continue;
		for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
			for (uint32_t i = 0; i < rows->blocks[b].count; i++) {
				struct ut_event e =
					ut_block_event(store, track, &rows->blocks[b], i);

				if (e.kind == UT_KIND_SAMPLE)
					take(ctx, &e);
			}
		}
	}
}

/* ---- facts of a variant -------------------------------------------------------------------- */

/* A warp that could issue, and another one did. */
static bool is_passed_over(struct ut_str reason)
{
	return ut_str_is(reason, "not_selected") || ut_str_is(reason, "NotSelectedStall");
}

static bool waits(struct ut_str reason)
{
	return !ut_str_is(reason, "selected") && !is_passed_over(reason) &&
	       !ut_str_is(reason, "Active");
}

static struct ut_str place_text(struct making *m, const struct ut_place_in_code *at)
{
	struct ut_arena *a = &m->set->arena;
	struct ut_str file = ut_strtab_get(&m->store->trace.strings, at->file);

	if (at->line)
		return ut_str_of(ut_str_fmt(a, "%s:%u", ut_path_base(file.ptr), at->line));
	return ut_str_of(ut_str_fmt(a, "0x%" PRIx64, at->address));
}

/* From samples of instructions: what most of them wait for, and where. */
static void put_stalls(struct making *m, const struct stalls *s, struct ut_kernel_facts *f)
{
	uint32_t most = MOST_REASONS;
	uint64_t ready = 0, passed_over = 0;
	const struct place *best = NULL;

	for (uint32_t i = 0; i < m->reason_count; i++) {
		ready += waits(m->reasons[i]) ? 0 : s->reason[i];
		passed_over += is_passed_over(m->reasons[i]) ? s->reason[i] : 0;
		if (waits(m->reasons[i]) &&
		    (most == MOST_REASONS || s->reason[i] > s->reason[most]))
			most = i;
	}
	f->value[UT_FACT_SAMPLES] = (double)s->total;
	f->value[UT_FACT_READY] = 100 * (double)ready / (double)s->total;
	f->value[UT_FACT_NOT_SELECTED] = 100 * (double)passed_over / (double)s->total;
	if (most == MOST_REASONS || !s->reason[most])
		return;
	for (uint32_t n = s->places; n; n = m->places[n - 1].next) {
		if (m->places[n - 1].reason == most &&
		    (!best || m->places[n - 1].count > best->count))
			best = &m->places[n - 1];
	}
	f->value[UT_FACT_STALL] = 100 * (double)s->reason[most] / (double)s->total;
	f->reason = m->reasons[most];
	if (best) {
		f->value[UT_FACT_STALL_PLACE] = 100 * (double)best->count / (double)s->total;
		f->place = place_text(m, &best->at);
	}
}

/* From the ratios of a group of -q: the same without places. */
static void put_ratios(const struct making *m, const struct sums *s, struct ut_kernel_facts *f)
{
	double all = 0, most = 0;

	for (uint32_t i = 0; i < m->reason_count; i++) {
		all += s->ratio[i];
		if (s->ratio[i] > most && waits(m->reasons[i])) {
			most = s->ratio[i];
			f->reason = m->reasons[i];
		}
	}
	if (most > 0)
		f->value[UT_FACT_STALL] = 100 * most / all;
}

/* How many samples the counters have at least of it; NAN = it was not sampled, or measured. */
static double samples_of_counters(const struct making *m, const struct sums *s)
{
	double least = NAN;

	for (unsigned int i = 0; i < UT_KERNEL_FACTS; i++) {
		if (s->weight[i] > 0 && is_counted(i))
			return NAN;
	}
	for (uint32_t k = 0; k < m->counter_count; k++)
		least = fmin(least, s->samples[m->counters[k].fact]);
	return least;
}

/*
 * Half of the FMA pipe computes FP32 only; the heavy half also multiplies integers and has the half
 * of FP16 arithmetic that this pipe takes. What it does more than the other half is one of these.
 */
static double multiplications(const double *v)
{
	double more = 2 * (v[UT_FACT_FMA_HEAVY] - v[UT_FACT_FMA]) - v[UT_FACT_FP16];

	return isnan(more) ? NAN : fmin(fmax(more, 0), 100);
}

static void put_shares(struct ut_kernel_facts *f)
{
	double *v = f->value, atomics = fmax(v[UT_FACT_ATOM_SECTORS], v[UT_FACT_RED_SECTORS]);

	if (v[UT_FACT_ATOM_SECTORS] >= 0 && v[UT_FACT_RED_SECTORS] >= 0)
		atomics = v[UT_FACT_ATOM_SECTORS] + v[UT_FACT_RED_SECTORS];
	v[UT_FACT_MULTIPLY] = multiplications(v);
	if (v[UT_FACT_SHARED_CYCLES] > 0)
		v[UT_FACT_CONFLICTS] = 100 * v[UT_FACT_CONFLICT_CYCLES] / v[UT_FACT_SHARED_CYCLES];
	if (v[UT_FACT_L2_SECTORS] > 0)
		v[UT_FACT_ATOMIC_SHARE] = fmin(100 * atomics / v[UT_FACT_L2_SECTORS], 100);
}

/* Where the group counts work, the peaks of the device tell how much of a unit that is. */
static void put_uses(struct making *m, const struct ut_roof_work *work, struct ut_str model,
		     struct ut_kernel_facts *f)
{
	if (!work->count)
		return;
	if (!m->roof_model.len || !ut_str_eq(m->roof_model, model)) {
		m->roof_device = (struct ut_roof_device){ 0 };
		m->roof_model = model;
		if (ut_roof_device_for(&m->roof_device, &m->arena, model))
			m->roof_device = (struct ut_roof_device){ 0 };
	}
	ut_kernel_roof_facts(f, work, &m->roof_device);
}

static void kernel_facts_put_facts(struct making *m, struct ut_kernel_variant *v,
				   const struct sums *s)
{
	struct ut_kernel_facts *f = &v->facts;
	struct ut_str model =
		ut_strtab_get(&m->log->strings, m->log->devices[v->device].model
							? m->log->devices[v->device].model
							: m->log->devices[v->device].name);
	struct ut_device_limits limits = ut_device_limits(model);

	ut_kernel_facts_init(f);
	f->name = ut_strtab_get(&m->log->strings, v->name);
	for (unsigned int i = 0; i < UT_KERNEL_FACTS; i++) {
		if (s->weight[i] > 0)
			f->value[i] = s->of[i] / s->weight[i];
		else if (s->samples[i] > 0)
			f->value[i] = s->sampled[i] / s->samples[i];
	}
	f->value[UT_FACT_COUNTER_SAMPLES] = samples_of_counters(m, s);
	put_uses(m, &s->work, model, f);
	put_shares(f);
	f->value[UT_FACT_MEAN] = (double)v->total / (double)v->launches;
	f->value[UT_FACT_LAUNCH] = s->launches > 0 ? s->launch / s->launches : NAN;
	f->value[UT_FACT_BLOCKS] = v->blocks;
	f->value[UT_FACT_THREADS] = v->threads;
	f->value[UT_FACT_PROCESSORS] = s->processors > 0 ? s->processors : NAN;
	f->value[UT_FACT_LOAD_SECTORS] = s->requests[0] > 0 ? s->sectors[0] / s->requests[0] : NAN;
	f->value[UT_FACT_STORE_SECTORS] = s->requests[1] > 0 ? s->sectors[1] / s->requests[1] : NAN;
	if (v->name < m->stall_cap && m->stalls[v->name].total)
		put_stalls(m, &m->stalls[v->name], f);
	else
		put_ratios(m, s, f);
	ut_kernel_facts_fit(f, &limits);
}

static void kernel_facts_evaluate(struct ut_kernel_set *s, struct ut_kernel_variant *v)
{
	struct ut_kernel_bottleneck bottlenecks[UT_BOTTLENECKS_MAX];

	v->bottleneck_count = ut_kernel_bottlenecks(&v->facts, bottlenecks);
	v->bottlenecks = UT_NEW_N(&s->arena, struct ut_kernel_bottleneck, v->bottleneck_count);
	memcpy(v->bottlenecks, bottlenecks, v->bottleneck_count * sizeof(*bottlenecks));
}

static void kernel_facts_release(struct making *m)
{
	free(m->sums);
	free(m->stalls);
	free(m->places);
	ut_idmap_release(&m->meanings);
	ut_idmap_release(&m->by_text);
	ut_arena_release(&m->arena);
	ut_idmap_release(&m->by_key);
	ut_idmap_release(&m->by_place);
	ut_kernel_roof_release(&m->roof);
}

void ut_kernel_set_make(struct ut_kernel_set *s, const struct ut_store *store,
			const struct ut_device_log *log)
{
	struct making m = { .set = s, .store = store, .log = log };
	struct launch l;

	*s = (struct ut_kernel_set){ 0 };
	s->of_work = UT_NEW_N(&s->arena, uint32_t, log->work_count + 1);
	find_counters(&m);
	for (size_t i = 0; i < log->work_count; i++) {
		const struct ut_device_work *w = &log->works[i];
		struct ut_kernel_variant *v;
		uint64_t time = w->end - w->start;

		if (w->kind != UT_DEVICE_KERNEL || w->queue >= store->trace.track_count)
			continue;
		read_args(&m, ut_kernel_row_args(store, w), &l);
		read_record(&m, w, &l);
		s->of_work[i] = variant_of(&m, w, &l);
		if (!s->of_work[i]) {
			s->left++;
			continue;
		}
		v = &s->variants[s->of_work[i] - 1];
		v->launches++;
		v->total += time;
		v->least = time < v->least ? time : v->least;
		v->most = time > v->most ? time : v->most;
		s->total += time;
		add_launch(&m.sums[s->of_work[i] - 1], w, &l);
		add_samples(&m, &m.sums[s->of_work[i] - 1], w);
	}
	learn_names(&m);
	ut_kernel_each_sample(store, add_stall, &m);
	for (size_t i = 0; i < s->count; i++) {
		kernel_facts_put_facts(&m, &s->variants[i], &m.sums[i]);
		kernel_facts_evaluate(s, &s->variants[i]);
	}
	kernel_facts_release(&m);
}

void ut_kernel_set_release(struct ut_kernel_set *s)
{
	free(s->variants);
	ut_arena_release(&s->arena);
	*s = (struct ut_kernel_set){ 0 };
}
