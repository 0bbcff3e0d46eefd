#include "sample/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/str.h"
#include "model/store.h"

#define UNKNOWN "[unknown]"
#define KERNEL  "[kernel]"

/* What a place is, for those who look for waiting and for regions. */
enum place_kind {
	PLACE_NEW, /* not looked at */
	PLACE_OTHER,
	PLACE_KERNEL,
	PLACE_RUNTIME, /* of a library that hands out work */
	PLACE_SPINS,   /* a function that waits by running */
	PLACE_GLUE,    /* of such a library, too, but compiled into the program: templates */
};

/* One store while it is counted. */
struct counting {
	struct ut_threads *t;
	const struct ut_store *store;
	const struct ut_trace *trace;
	uint32_t *process_of; /* index + 1, by process of the trace */
	uint8_t *kind_of;     /* by number of a place: enum place_kind */
	uint8_t *stack_spins; /* by number of a stack: 0 = not looked at, 1 = works, 2 = spins */
	uint32_t *region_of;  /* by number of a stack: 0 = not looked at, 1 = none, else row + 2 */
};

void ut_threads_init(struct ut_threads *t)
{
	*t = (struct ut_threads){ .samples = 0 };
	ut_strtab_init(&t->strings, &t->arena);
}

void ut_threads_release(struct ut_threads *t)
{
	for (size_t i = 0; i < t->process_count; i++)
		free(t->processes[i].at_once);
	free(t->processes);
	free(t->rows);
	free(t->regions);
	free(t->waits);
	ut_hashtab_release(&t->region_of);
	ut_hashtab_release(&t->wait_of);
	ut_arena_release(&t->arena);
}

double ut_region_balance(const struct ut_region_row *r)
{
	return r->most && r->threads
		       ? 100.0 * (double)r->ran / ((double)r->most * (double)r->threads)
		       : 100;
}

/* ---- places and stacks --------------------------------------------------------------------- */

/* Beginnings of names of libraries. */
static const char *const runtimes[] = {
	"libgomp",     "libomp", "libiomp5", "libtbb", "libopenblas", "libmpi",
	"libopen-pal", "libucp", "libuct",   "libucs", "libcuda",
};

static const char *const spinners[] = {
	"sched_yield",
	"__sched_yield",
	"pthread_spin_lock",
	"blas_thread_server",
	"opal_progress",
	"ucp_worker_",
	"MPIDI_",
	"__kmp_wait_",
	"kmp_flag_",
	"gomp_barrier_",
	"gomp_team_barrier",
	"do_spin",
	"rml::internal::",
};

static bool begins(struct ut_str s, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (ut_str_has_start(s, with[i]))
			return true;
	}
	return false;
}

#define BEGINS(s, list) begins(s, list, sizeof(list) / sizeof((list)[0]))

static enum place_kind kind_of_place(struct counting *c, uint32_t place)
{
	struct ut_place_in_code p = ut_stacks_get_place(&c->trace->stacks, place);
	struct ut_str module = ut_strtab_get(&c->trace->strings, p.module);
	struct ut_str function = ut_strtab_get(&c->trace->strings, p.function);
	enum place_kind kind = (enum place_kind)c->kind_of[place];

	if (kind != PLACE_NEW)
		return kind;
	if (ut_str_is(module, KERNEL))
		kind = PLACE_KERNEL;
	else if (BEGINS(ut_str_of(ut_path_base(module.ptr)), runtimes))
		kind = PLACE_RUNTIME;
	else
		kind = BEGINS(function, spinners)            ? PLACE_SPINS
		       : ut_str_has_start(function, "tbb::") ? PLACE_GLUE
							     : PLACE_OTHER;
	c->kind_of[place] = (uint8_t)kind;
	return kind;
}

/* The innermost place outside the kernel decides. */
static bool spins(struct counting *c, uint32_t stack)
{
	const struct ut_stacks *s = &c->trace->stacks;
	enum place_kind kind = PLACE_OTHER;

	if (stack > s->site_count)
		return false;
	if (c->stack_spins[stack])
		return c->stack_spins[stack] == 2;
	for (uint32_t at = stack; at; at = ut_stacks_get(s, at).caller) {
		kind = kind_of_place(c, ut_stacks_get(s, at).place);
		if (kind != PLACE_KERNEL)
			break;
	}
	c->stack_spins[stack] = kind == PLACE_RUNTIME || kind == PLACE_SPINS ? 2 : 1;
	return c->stack_spins[stack] == 2;
}

/* The C library has several functions for one: which the program has called is the outermost. */
static bool is_libc(const struct counting *c, uint32_t place)
{
	struct ut_str module = ut_strtab_get(&c->trace->strings,
					     ut_stacks_get_place(&c->trace->stacks, place).module);
	struct ut_str name = ut_str_of(ut_path_base(module.ptr));

	return ut_str_has_start(name, "libc.") || ut_str_has_start(name, "libc-") ||
	       ut_str_has_start(name, "libpthread") || ut_str_is(name, "[vdso]");
}

static uint32_t threads_text(struct counting *c, uint32_t string)
{
	struct ut_str s = ut_strtab_get(&c->trace->strings, string);

	return string ? ut_strtab_intern(&c->t->strings, s.ptr, s.len)
		      : ut_strtab_intern_z(&c->t->strings, UNKNOWN);
}

static uint32_t row_of_region(struct counting *c, uint32_t place)
{
	struct ut_place_in_code p = ut_stacks_get_place(&c->trace->stacks, place);
	struct ut_threads *t = c->t;
	const uint32_t key[2] = { threads_text(c, p.function), threads_text(c, p.module) };
	uint32_t hash = (uint32_t)ut_hash_bytes(key, sizeof(key)), at = hash, number;

	while ((number = ut_hashtab_next(&t->region_of, hash, &at)) &&
	       (t->regions[number - 1].name != key[0] || t->regions[number - 1].module != key[1]))
		;
	if (number)
		return number;
	t->regions = ut_grow(t->regions, t->region_count + 1, &t->region_cap, sizeof(*t->regions));
	t->regions[t->region_count++] = (struct ut_region_row){ .name = key[0], .module = key[1] };
	ut_hashtab_add(&t->region_of, hash, (uint32_t)t->region_count);
	return (uint32_t)t->region_count;
}

/* What a runtime called last, from the outside: the innermost region. Index + 1; 0 = none. */
static uint32_t region_of(struct counting *c, uint32_t stack)
{
	const struct ut_stacks *s = &c->trace->stacks;
	uint32_t inner = 0, glue = 0, found = 0;

	if (stack > s->site_count)
		return 0;
	if (c->region_of[stack])
		return c->region_of[stack] - 1;
	for (uint32_t at = stack; at && !found; at = ut_stacks_get(s, at).caller) {
		uint32_t place = ut_stacks_get(s, at).place;
		enum place_kind kind = kind_of_place(c, place);

		if (kind == PLACE_GLUE) { /* the function may be compiled into it */
			glue = place;
			continue;
		}
		if (kind == PLACE_RUNTIME && (inner || glue))
			found = row_of_region(c, inner ? inner : glue);
		inner = kind == PLACE_OTHER && !is_libc(c, place) ? place : 0;
		glue = 0;
	}
	c->region_of[stack] = found + 1;
	return found;
}

/* ---- facts --------------------------------------------------------------------------------- */

static uint64_t threads_value_of(const struct ut_arg *a)
{
	return a->type == UT_ARG_F64 ? (uint64_t)a->value.f64 : a->value.u64;
}

/* The fact of a track, the first of a list; NULL = nobody has told. */
static const struct ut_arg *threads_fact(const struct ut_trace *t, const struct ut_track *track,
					 const char *key)
{
	for (uint32_t a = track->args; a && t->args[a].type != UT_ARG_END; a++) {
		if (ut_str_is(ut_strtab_get(&t->strings, t->args[a].key), key))
			return &t->args[a];
	}
	return NULL;
}

static uint64_t threads_number(const struct ut_trace *t, const struct ut_track *track,
			       const char *key)
{
	const struct ut_arg *a = threads_fact(t, track, key);

	return a ? threads_value_of(a) : 0;
}

static uint32_t process_of(struct counting *c, uint32_t process)
{
	const struct ut_process *p = &c->trace->processes[process];
	struct ut_threads *t = c->t;

	if (c->process_of[process])
		return c->process_of[process] - 1;
	t->processes =
		ut_grow(t->processes, t->process_count + 1, &t->process_cap, sizeof(*t->processes));
	t->processes[t->process_count] =
		(struct ut_threads_process){ .name = threads_text(c, p->name), .pid = p->pid };
	c->process_of[process] = (uint32_t)++t->process_count;
	return c->process_of[process] - 1;
}

/* How many ran at once: facts of the row of all threads. */
static void take_parallel(struct counting *c, const struct ut_track *track)
{
	const struct ut_trace *t = c->trace;
	const struct ut_arg *a = threads_fact(t, track, "running_ns");
	struct ut_threads_process *p;
	uint32_t process;
	size_t cap = 0;

	if (!a)
		return;
	process = process_of(c, track->process); /* may move them all */
	p = &c->t->processes[process];
	p->elapsed = threads_number(t, track, "elapsed_ns");
	p->paused = threads_number(t, track, "paused_ns");
	p->at_once_count = 0;
	free(p->at_once);
	p->at_once = NULL;
	for (uint32_t key = a->key; a->type != UT_ARG_END && a->key == key; a++) {
		p->at_once = ut_grow(p->at_once, p->at_once_count + 1, &cap, sizeof(*p->at_once));
		p->at_once[p->at_once_count++] = threads_value_of(a);
	}
}

/* ---- threads ------------------------------------------------------------------------------- */

static uint64_t weight_of(const struct counting *c, const struct ut_event *e)
{
	uint64_t weight = ut_sample_weight(e->val);

	struct ut_arg list[4];
	size_t count;

	if (weight != UT_SAMPLE_WEIGHT_ARG || !e->args)
		return weight;
	count = ut_arglists_get(&c->store->args, e->args, list, 4);
	for (size_t i = 0; i < count && i < 4; i++) {
		if (ut_str_is(ut_strtab_get(&c->trace->strings, list[i].key), UT_SAMPLE_WEIGHT))
			return threads_value_of(&list[i]);
	}
	return weight;
}

static void threads_take_sample(struct counting *c, struct ut_thread_row *r,
				const struct ut_event *e)
{
	uint32_t stack = ut_sample_stack(e->val), region;
	uint64_t weight = weight_of(c, e);

	r->sampled += weight;
	c->t->samples++;
	if (!stack)
		return;
	if (spins(c, stack)) {
		r->spun += weight;
		return;
	}
	region = region_of(c, stack);
	if (!region)
		return;
	c->t->regions[region - 1].now += weight;
	c->t->regions[region - 1].samples++;
}

static void each_sample(struct counting *c, uint32_t track,
			void (*take)(struct counting *c, struct ut_thread_row *r,
				     const struct ut_event *e),
			struct ut_thread_row *r)
{
	const struct ut_rows *rows = &c->store->rows[track];

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			struct ut_event e;

			if (ut_store_type(c->store, block->type[i])->kind != UT_KIND_SAMPLE)
				continue;
			e = ut_block_event(c->store, track, block, i);
			take(c, r, &e);
		}
	}
}

/* The regions that this thread took part in. */
static void close_regions(struct ut_threads *t)
{
	for (size_t i = 0; i < t->region_count; i++) {
		struct ut_region_row *r = &t->regions[i];

		if (!r->now)
			continue;
		r->ran += r->now;
		r->most = r->now > r->most ? r->now : r->most;
		r->threads++;
		r->now = 0;
	}
}

static void take_thread(struct counting *c, uint32_t number_of_track)
{
	const struct ut_trace *t = c->trace;
	const struct ut_track *track = &t->tracks[number_of_track];
	struct ut_thread_row r = { .name = threads_text(c, track->name),
				   .tid = track->id,
				   .ran = threads_number(t, track, "cpu_ns"),
				   .waited = threads_number(t, track, "waiting_ns"),
				   .ready = threads_number(t, track, "ready_ns"),
				   .switches = threads_number(t, track, "switches"),
				   .preemptions = threads_number(t, track, "preemptions"),
				   .migrations = threads_number(t, track, "migrations"),
				   .has_counts = threads_fact(t, track, "waiting_ns") != NULL };

	each_sample(c, number_of_track, threads_take_sample, &r);
	close_regions(c->t);
	if (!r.sampled && !r.ran && !r.waited)
		return;
	if (!threads_fact(t, track, "cpu_ns"))
		r.ran = r.sampled;
	r.together = !r.tid && ut_strtab_get(&c->trace->strings, track->name).ptr[0] == '[';
	r.process = process_of(c, track->process);
	if (!r.together)
		c->t->processes[r.process].ran += r.ran;
	c->t->processes[r.process].switches |= threads_fact(t, track, "switches") != NULL;
	c->t->rows = ut_grow(c->t->rows, c->t->count + 1, &c->t->cap, sizeof(*c->t->rows));
	c->t->rows[c->t->count++] = r;
}

/* ---- waits --------------------------------------------------------------------------------- */

/* What was called to wait, and by whom. */
static void threads_find_functions(struct counting *c, uint32_t stack, uint32_t *name,
				   uint32_t *caller)
{
	const struct ut_stacks *s = &c->trace->stacks;
	uint32_t at = stack, next;

	while (at && kind_of_place(c, ut_stacks_get(s, at).place) == PLACE_KERNEL)
		at = ut_stacks_get(s, at).caller;
	for (; at; at = next) {
		next = ut_stacks_get(s, at).caller;
		if (!next || !is_libc(c, ut_stacks_get(s, at).place) ||
		    !is_libc(c, ut_stacks_get(s, next).place))
			break;
	}
	next = ut_stacks_get(s, at).caller;
	*name = at ? threads_text(c, ut_stacks_innermost(s, at).function) : 0;
	*caller = next ? threads_text(c, ut_stacks_innermost(s, next).function) : 0;
}

static void take_wait(struct counting *c, struct ut_thread_row *unused, const struct ut_event *e)
{
	struct ut_threads *t = c->t;
	uint32_t key[3] = { threads_text(c, e->name), 0, 0 }, hash, at, number_of_row;
	uint64_t ns = weight_of(c, e);
	struct ut_wait_row *r;

	(void)unused;
	threads_find_functions(c, ut_sample_stack(e->val), &key[1], &key[2]);
	hash = at = (uint32_t)ut_hash_bytes(key, sizeof(key));
	while ((number_of_row = ut_hashtab_next(&t->wait_of, hash, &at))) {
		r = &t->waits[number_of_row - 1];
		if (r->kind == key[0] && r->name == key[1] && r->caller == key[2])
			break;
	}
	if (!number_of_row) {
		t->waits = ut_grow(t->waits, t->wait_count + 1, &t->wait_cap, sizeof(*t->waits));
		t->waits[t->wait_count] =
			(struct ut_wait_row){ .kind = key[0], .name = key[1], .caller = key[2] };
		number_of_row = (uint32_t)++t->wait_count;
		ut_hashtab_add(&t->wait_of, hash, number_of_row);
	}
	r = &t->waits[number_of_row - 1];
	r->waited += ns;
	r->count++;
	r->longest = ns > r->longest ? ns : r->longest;
	r->threads += r->last != e->track + 1;
	r->last = e->track + 1;
}

/* ---- all ----------------------------------------------------------------------------------- */

void ut_threads_add(struct ut_threads *t, const struct ut_store *store)
{
	const struct ut_trace *trace = &store->trace;
	struct counting c = { .t = t, .store = store, .trace = trace };

	c.process_of = ut_make((trace->process_count + 1) * sizeof(*c.process_of));
	c.kind_of = ut_make(trace->stacks.place_count + 1);
	c.stack_spins = ut_make(trace->stacks.site_count + 1);
	c.region_of = ut_make((trace->stacks.site_count + 1) * sizeof(*c.region_of));
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ut_track *k = &trace->tracks[i];

		if (ut_track_role(k) == UT_ROLE_WAITS)
			each_sample(&c, i, take_wait, NULL);
		else if (k->type == UT_TRACK_THREAD && !ut_is_device(trace, k->process))
			take_thread(&c, i);
		else if (k->type == UT_TRACK_COUNTER)
			take_parallel(&c, k);
	}
	for (size_t i = 0; i < t->wait_count; i++)
		t->waits[i].last = 0; /* tracks of the next store have the same numbers */
	free(c.process_of);
	free(c.kind_of);
	free(c.stack_spins);
	free(c.region_of);
}

static int by_cpu(const void *a, const void *b)
{
	const struct ut_thread_row *x = a, *y = b;

	if (x->ran != y->ran)
		return x->ran < y->ran ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int by_ran(const void *a, const void *b)
{
	const struct ut_region_row *x = a, *y = b;

	return (x->ran < y->ran) - (x->ran > y->ran);
}

static int by_waited(const void *a, const void *b)
{
	const struct ut_wait_row *x = a, *y = b;

	return (x->waited < y->waited) - (x->waited > y->waited);
}

void ut_threads_sort(struct ut_threads *t)
{
	if (t->count)
		qsort(t->rows, t->count, sizeof(*t->rows), by_cpu);
	if (t->region_count)
		qsort(t->regions, t->region_count, sizeof(*t->regions), by_ran);
	if (t->wait_count)
		qsort(t->waits, t->wait_count, sizeof(*t->waits), by_waited);
	ut_hashtab_release(&t->region_of); /* numbers have changed */
	ut_hashtab_release(&t->wait_of);
}
