#include "sample/memory_report.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/path.h"
#include "model/store.h"
#include "sample/memory_owner.h"
#include "sample/short_name.h"

#define UNKNOWN   "[unknown]"
#define MOST_ARGS 16u
#define MOST_DEEP 32u /* frames of a stack as a text */

const char *const ut_memory_by_words[UT_MEMORY_BYS] = {
#define UT_MEMORY_BY_WORD(by, word) word,
	UT_MEMORY_BY_LIST(UT_MEMORY_BY_WORD)
#undef UT_MEMORY_BY_WORD
};

/* One store while it is counted. */
struct counting {
	struct ut_memory_report *r;
	const struct ut_store *store;
	const struct ut_trace *trace;
	double *bytes[UT_MEMORY_SAMPLES]; /* by number of a stack: of samples that end there */
	double *total;                    /* live at the peak, with what is called from there */
	uint32_t *line_of_place;          /* by number of a place: index + 1 */
	uint32_t *line_of_stack;          /* by number of a stack: index + 1 */
	uint8_t *meanings;    /* by string id: enum meaning + 1; 0 = not looked at yet */
	size_t first_process; /* of the report */
};

/* What a string of the trace means to us: the name of a sample or of an argument. */
enum meaning {
	SAMPLE, /* and those behind it, as in enum ut_memory_sample */
	TASK = UT_MEMORY_SAMPLES,
	WEIGHT,
	COUNT,
	VARIANCE,
	FREED,
	LIFE,
	NOTHING,
};

static enum meaning memory_report_look_up(struct ut_str s)
{
	static const char *const keys[] = { "task",          UT_SAMPLE_WEIGHT,
					    UT_MEMORY_COUNT, UT_MEMORY_VARIANCE,
					    UT_MEMORY_FREED, UT_MEMORY_LIFE };

	for (int i = 0; i < UT_MEMORY_SAMPLES; i++) {
		if (ut_str_is(s, ut_memory_sample_names[i]))
			return (enum meaning)(SAMPLE + i);
	}
	for (int i = 0; i < NOTHING - TASK; i++) {
		if (ut_str_is(s, keys[i]))
			return (enum meaning)(TASK + i);
	}
	return NOTHING;
}

static enum meaning meaning_of(struct counting *c, uint32_t string)
{
	if (string > c->trace->strings.count)
		return NOTHING;
	if (!c->meanings[string])
		c->meanings[string] =
			(uint8_t)(1 +
				  memory_report_look_up(ut_strtab_get(&c->trace->strings, string)));
	return (enum meaning)(c->meanings[string] - 1);
}

void ut_memory_report_init(struct ut_memory_report *r, enum ut_memory_by by)
{
	*r = (struct ut_memory_report){ .by = by };
	ut_strtab_init(&r->strings, &r->arena);
}

void ut_memory_report_release(struct ut_memory_report *r)
{
	free(r->lines);
	free(r->processes);
	free(r->name_parts);
	ut_hashtab_release(&r->by_key);
	ut_arena_release(&r->arena);
}

/* ---- lines --------------------------------------------------------------------------------- */

static bool memory_report_same(const struct ut_memory_line *a, const struct ut_memory_line *b)
{
	return a->name == b->name && a->module == b->module && a->file == b->file &&
	       a->line == b->line;
}

/* Index + 1. */
static uint32_t line(struct ut_memory_report *r, const struct ut_memory_line *key)
{
	const uint32_t words[4] = { key->name, key->module, key->file, key->line };
	uint32_t hash = (uint32_t)ut_hash_bytes(words, sizeof(words)), at = hash, number;

	while ((number = ut_hashtab_next(&r->by_key, hash, &at)) &&
	       !memory_report_same(&r->lines[number - 1], key))
		;
	if (number)
		return number;
	r->lines = ut_grow(r->lines, r->count + 1, &r->cap, sizeof(*r->lines));
	r->lines[r->count] = *key;
	number = (uint32_t)++r->count;
	ut_hashtab_add(&r->by_key, hash, number);
	return number;
}

static uint32_t memory_report_text(struct counting *c, uint32_t string)
{
	struct ut_str s = ut_strtab_get(&c->trace->strings, string);

	return string ? ut_strtab_intern(&c->r->strings, s.ptr, s.len) : 0;
}

static uint32_t text_or(struct counting *c, uint32_t string, const char *other)
{
	return string ? memory_report_text(c, string) : ut_strtab_intern_z(&c->r->strings, other);
}

static struct ut_memory_line key_of_place(struct counting *c, uint32_t place)
{
	struct ut_place_in_code p = ut_stacks_get_place(&c->trace->stacks, place);
	struct ut_memory_line key = { .module = text_or(c, p.module, UNKNOWN) };

	key.name = c->r->by == UT_MEMORY_BY_MODULE ? key.module : text_or(c, p.function, UNKNOWN);
	if (c->r->by == UT_MEMORY_BY_LINE) {
		key.file = memory_report_text(c, p.file);
		key.line = p.line;
	}
	return key;
}

static uint32_t line_of_place(struct counting *c, uint32_t place)
{
	uint32_t *known = &c->line_of_place[place];
	struct ut_memory_line key;

	if (!*known) {
		key = key_of_place(c, place);
		*known = line(c->r, &key);
	}
	return *known;
}

static void memory_report_put_place(struct counting *c, struct ut_buf *b, uint32_t place)
{
	struct ut_place_in_code p = ut_stacks_get_place(&c->trace->stacks, place);
	struct ut_str s = ut_strtab_get(&c->trace->strings, p.function);

	ut_buf_text(b, b->len ? " < " : "");
	ut_buf_add(b, p.function ? s.ptr : UNKNOWN, p.function ? s.len : sizeof(UNKNOWN) - 1);
	if (p.line)
		ut_buf_fmt(b, ":%" PRIu32, p.line);
}

/* "leaf < middle < main": the owner and its callers, without those that are only on the way. */
static uint32_t line_of_stack(struct counting *c, uint32_t owner)
{
	struct ut_memory_line key = { 0 };
	struct ut_buf b = { 0 };
	unsigned int deep = 0;

	for (uint32_t at = owner; at; at = ut_stacks_get(&c->trace->stacks, at).caller) {
		uint32_t place = ut_stacks_get(&c->trace->stacks, at).place;

		if (at != owner && ut_memory_on_the_way(c->trace, place))
			continue;
		if (deep++ == MOST_DEEP) {
			ut_buf_text(&b, " < ...");
			break;
		}
		memory_report_put_place(c, &b, place);
	}
	if (!b.len)
		ut_buf_text(&b, UNKNOWN);
	key.name = ut_strtab_intern(&c->r->strings, b.data, b.len);
	ut_buf_release(&b);
	return line(c->r, &key);
}

static uint32_t line_of_thread(struct counting *c, uint32_t track)
{
	const struct ut_track *t = &c->trace->tracks[track];
	struct ut_str name = ut_strtab_get(&c->trace->strings, t->name);
	struct ut_memory_line key = { .module = memory_report_text(
					      c, c->trace->processes[t->process].name) };
	char buf[320];

	snprintf(buf, sizeof(buf), "%.*s (%" PRIu64 ")", name.len < 256 ? (int)name.len : 256,
		 name.ptr, t->id);
	key.name = ut_strtab_intern_z(&c->r->strings, buf);
	return line(c->r, &key);
}

static uint32_t line_of_process(struct counting *c, uint32_t process)
{
	const struct ut_process *p = &c->trace->processes[process];
	struct ut_str name = ut_strtab_get(&c->trace->strings, p->name);
	struct ut_memory_line key = { 0 };
	char buf[320];

	snprintf(buf, sizeof(buf), "%.*s (%" PRIu64 ")", name.len < 256 ? (int)name.len : 256,
		 name.ptr, p->pid);
	key.name = ut_strtab_intern_z(&c->r->strings, buf);
	return line(c->r, &key);
}

/* The line that a stack's blocks belong to. */
static uint32_t line_at(struct counting *c, uint32_t stack)
{
	uint32_t *known = &c->line_of_stack[stack], owner;

	if (*known)
		return *known;
	owner = ut_memory_owner(c->trace, stack);
	if (c->r->by == UT_MEMORY_BY_LINE)
		owner = ut_memory_line_owner(c->trace, owner);
	*known = c->r->by == UT_MEMORY_BY_STACK
			 ? line_of_stack(c, owner)
			 : line_of_place(c, ut_stacks_get(&c->trace->stacks, owner).place);
	return *known;
}

static uint32_t memory_report_line_of(struct counting *c, const struct ut_event *e, uint32_t task)
{
	uint32_t stack = ut_sample_stack(e->val);

	switch ((int)c->r->by) {
	case UT_MEMORY_BY_THREAD:
		return line_of_thread(c, e->track);
	case UT_MEMORY_BY_PROCESS:
		return line_of_process(c, c->trace->tracks[e->track].process);
	case UT_MEMORY_BY_TASK:
		return line(c->r, &(struct ut_memory_line){
					  .name = text_or(c, task, "[outside any task]") });
	default:
		return line_at(c, stack <= c->trace->stacks.site_count ? stack : 0);
	}
}

/* ---- samples ------------------------------------------------------------------------------- */

/* What a sample says. */
struct said {
	struct ut_memory_amount amount;
	double freed, life;
	uint32_t task;
};

static double memory_report_number(const struct ut_arg *a)
{
	return a->type == UT_ARG_U64   ? (double)a->value.u64
	       : a->type == UT_ARG_I64 ? (double)a->value.i64
	       : a->type == UT_ARG_F64 ? a->value.f64
				       : 0;
}

static void take_arg(struct counting *c, const struct ut_arg *a, struct said *to)
{
	switch ((int)meaning_of(c, a->key)) {
	case TASK:
		to->task = a->type == UT_ARG_STR ? a->value.str : 0;
		break;
	case WEIGHT:
		to->amount.bytes = memory_report_number(a);
		break;
	case COUNT:
		to->amount.count = memory_report_number(a);
		break;
	case VARIANCE:
		to->amount.variance = memory_report_number(a);
		break;
	case FREED:
		to->freed = memory_report_number(a);
		break;
	case LIFE:
		to->life = memory_report_number(a);
		break;
	default:
		break;
	}
}

static struct said memory_report_read_sample(struct counting *c, const struct ut_event *e)
{
	struct said s = { .amount = { ut_sample_weight(e->val), 1, 0 } };
	struct ut_arg list[MOST_ARGS];
	size_t count = e->args ? ut_arglists_get(&c->store->args, e->args, list, MOST_ARGS) : 0;

	for (size_t i = 0; i < count && i < MOST_ARGS; i++)
		take_arg(c, &list[i], &s);
	return s;
}

static void memory_report_add(struct ut_memory_amount *to, const struct ut_memory_amount *what)
{
	to->bytes += what->bytes;
	to->count += what->count;
	to->variance += what->variance;
}

static void count_sample(struct counting *c, const struct ut_event *e, enum ut_memory_sample which)
{
	struct said s = memory_report_read_sample(c, e);
	uint32_t at = memory_report_line_of(c, e, s.task), stack = ut_sample_stack(e->val);
	struct ut_memory_line *l = &c->r->lines[at - 1];
	struct ut_memory_process *p =
		&c->r->processes[c->first_process + c->trace->tracks[e->track].process];

	memory_report_add(&l->of[which], &s.amount);
	memory_report_add(&p->of[which], &s.amount);
	memory_report_add(&c->r->of[which], &s.amount);
	l->freed += s.freed;
	l->life += s.life;
	if (stack <= c->trace->stacks.site_count)
		c->bytes[which][stack] += s.amount.bytes;
	if (which == UT_MEMORY_AT_PEAK)
		p->peak_at = e->ts > c->trace->first ? e->ts - c->trace->first : 0;
	c->r->samples++;
}

/* Which kind of sample of memory has this type? UT_MEMORY_SAMPLES = none. */
static enum ut_memory_sample which_of(struct counting *c, const struct ut_type *type)
{
	enum meaning meaning = NOTHING;

	if (type->kind == UT_KIND_SAMPLE && type->name)
		meaning = meaning_of(c, type->name);
	return meaning < TASK ? (enum ut_memory_sample)meaning : UT_MEMORY_SAMPLES;
}

static void count_track(struct counting *c, uint32_t track)
{
	const struct ut_rows *rows = &c->store->rows[track];

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			enum ut_memory_sample which =
				which_of(c, ut_store_type(c->store, block->type[i]));
			struct ut_event e;

			if (which == UT_MEMORY_SAMPLES)
				continue;
			e = ut_block_event(c->store, track, block, i);
			count_sample(c, &e, which);
		}
	}
}

/* ---- stacks -------------------------------------------------------------------------------- */

/* Is there a place of the same line further out? Then that one counts. */
static bool memory_report_is_inside(struct counting *c, uint32_t stack)
{
	const struct ut_stacks *s = &c->trace->stacks;
	struct ut_memory_line key = key_of_place(c, ut_stacks_get(s, stack).place), outer;

	for (stack = ut_stacks_get(s, stack).caller; stack;
	     stack = ut_stacks_get(s, stack).caller) {
		outer = key_of_place(c, ut_stacks_get(s, stack).place);
		if (memory_report_same(&outer, &key))
			return true;
	}
	return false;
}

/* Functions that only are on the way to others have a line if they have memory themselves. */
static bool has_total(struct counting *c, uint32_t stack)
{
	uint32_t place = ut_stacks_get(&c->trace->stacks, stack).place;

	return c->total[stack] > 0 &&
	       (c->r->by == UT_MEMORY_BY_MODULE || c->line_of_place[place] ||
		!ut_memory_on_the_way(c->trace, place)) &&
	       !memory_report_is_inside(c, stack);
}

/* A caller's number is smaller: from the last to the first, totals are complete when met. */
static void count_totals(struct counting *c)
{
	const struct ut_stacks *s = &c->trace->stacks;

	for (uint32_t stack = (uint32_t)s->site_count; stack; stack--) {
		c->total[stack] += c->bytes[UT_MEMORY_AT_PEAK][stack];
		c->total[ut_stacks_get(s, stack).caller] += c->total[stack];
	}
	for (uint32_t stack = 1; stack <= s->site_count; stack++) {
		if (has_total(c, stack)) {
			uint32_t at = line_of_place(c, ut_stacks_get(s, stack).place);

			c->r->lines[at - 1].total += c->total[stack];
		}
	}
}

static void note_callers(struct counting *c)
{
	const struct ut_stacks *s = &c->trace->stacks;

	for (uint32_t stack = 1; stack <= s->site_count; stack++) {
		for (int i = 0; i < UT_MEMORY_SAMPLES; i++) {
			uint32_t owner, caller;
			struct ut_memory_line *l;

			if (!(c->bytes[i][stack] > 0))
				continue;
			owner = ut_memory_owner(c->trace, stack);
			l = &c->r->lines[line_at(c, stack) - 1];
			if (c->bytes[i][stack] <= l->caller_bytes[i])
				continue;
			caller = ut_memory_caller(c->trace, owner);
			l->caller_bytes[i] = c->bytes[i][stack];
			l->caller[i] =
				memory_report_text(c, ut_stacks_innermost(s, caller).function);
		}
	}
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void add_processes(struct counting *c)
{
	struct ut_memory_report *r = c->r;

	c->first_process = r->process_count;
	for (size_t i = 0; i < c->trace->process_count; i++) {
		const struct ut_process *p = &c->trace->processes[i];

		r->processes = ut_grow(r->processes, r->process_count + 1, &r->process_cap,
				       sizeof(*r->processes));
		r->processes[r->process_count++] =
			(struct ut_memory_process){ .name = memory_report_text(c, p->name),
						    .pid = p->pid };
	}
}

static void count_store(struct counting *c)
{
	const struct ut_trace *t = c->trace;

	for (uint32_t i = 0; i < t->track_count; i++) {
		if (t->tracks[i].type == UT_TRACK_THREAD)
			count_track(c, i);
	}
	if (c->r->by == UT_MEMORY_BY_FUNCTION || c->r->by == UT_MEMORY_BY_MODULE ||
	    c->r->by == UT_MEMORY_BY_LINE)
		count_totals(c);
	if (c->r->by == UT_MEMORY_BY_FUNCTION || c->r->by == UT_MEMORY_BY_LINE)
		note_callers(c);
}

void ut_memory_report_add(struct ut_memory_report *r, const struct ut_store *store)
{
	const struct ut_trace *t = &store->trace;
	struct counting c = { .r = r, .store = store, .trace = t };
	size_t stacks = t->stacks.site_count + 1;

	for (int i = 0; i < UT_MEMORY_SAMPLES; i++)
		c.bytes[i] = ut_make(stacks * sizeof(*c.bytes[i]));
	c.total = ut_make(stacks * sizeof(*c.total));
	c.line_of_stack = ut_make(stacks * sizeof(*c.line_of_stack));
	c.line_of_place = ut_make((t->stacks.place_count + 1) * sizeof(*c.line_of_place));
	c.meanings = ut_make(t->strings.count + 1);
	add_processes(&c);
	count_store(&c);
	for (int i = 0; i < UT_MEMORY_SAMPLES; i++)
		free(c.bytes[i]);
	free(c.total);
	free(c.line_of_stack);
	free(c.line_of_place);
	free(c.meanings);
}

static int memory_report_compare(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_peak(const void *a, const void *b, void *ctx)
{
	const struct ut_memory_line *x = a, *y = b;
	const struct ut_memory_report *r = ctx;
	int by = memory_report_compare(x->of[UT_MEMORY_AT_PEAK].bytes,
				       y->of[UT_MEMORY_AT_PEAK].bytes);

	if (!by)
		by = memory_report_compare(x->of[UT_MEMORY_ALLOCATED].bytes,
					   y->of[UT_MEMORY_ALLOCATED].bytes);
	if (!by)
		by = memory_report_compare(x->total, y->total);
	return by ? by
		  : ut_str_cmp(ut_strtab_get(&r->strings, x->name),
			       ut_strtab_get(&r->strings, y->name));
}

void ut_memory_report_sort(struct ut_memory_report *r)
{
	struct ut_str *names = ut_make((r->count + 1) * sizeof(*names));
	uint8_t *parts = ut_make(r->count + 1);

	if (r->count)
		qsort_r(r->lines, r->count, sizeof(*r->lines), by_peak, r);
	for (size_t i = 0; i < r->count; i++)
		names[i] = ut_strtab_get(&r->strings, r->lines[i].name);
	ut_name_parts(names, r->count, parts);
	free(r->name_parts);
	r->name_parts = ut_make((size_t)r->strings.count + 1);
	for (size_t i = 0; i < r->count; i++)
		r->name_parts[r->lines[i].name] = parts[i];
	free(names);
	free(parts);
}
