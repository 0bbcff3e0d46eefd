#include "view/kernel_code.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/logger.h"
#include "metrics/kernel_facts.h"
#include "metrics/metrics_stall_write.h"
#include "metrics/stall_beside.h"
#include "metrics/stall_report.h"
#include "model/store.h"
#include "text/out.h"
#include "view/annotated.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/view_parts.h"

#define TOP           200u   /* findings of a reason: what has half a percent of the samples */
#define SECONDS       60u    /* that reading a module may take */
#define MOST_ROWS     20000u /* instructions of a kernel, else those around samples */
#define CONTEXT_LINES 8u     /* of them, before and behind one with samples */
#define MOST_NAMED    32u    /* modules that have a kernel of one name */
#define MOST_KEPT     ((size_t)64 << 20) /* bytes of answers */

/* ---- what was sampled ----------------------------------------------------------------------- */

struct taking {
	struct ut_stall_table *table;
	const struct ut_store *store;
};

static void kernel_code_take_sample(void *ctx, const struct ut_event *e)
{
	struct taking *t = ctx;

	ut_stall_table_add_stored(t->table, t->store, e);
}

static struct ut_stall_table *samples_of(const struct ut_view_trace *t)
{
	struct taking taking = { ut_stall_table_new(), t->store };

	ut_kernel_each_sample(t->store, kernel_code_take_sample, &taking);
	return taking.table;
}

/* ---- one kernel ----------------------------------------------------------------------------- */

/* A kernel of a trace, and where what is said of it goes. */
struct report_state {
	const struct ut_view_trace *trace;
	const struct ut_stall_table *table;
	struct ut_str kernel, module;
	struct ut_out *notes, *report;
	struct ut_arena arena;
};

static void kernel_code_note(struct report_state *t, const char *text)
{
	ut_keep_note(t->notes, UT_WARN, NULL, text);
}

/* Of code that is too much for a page, what lies around samples. */
static void kernel_code_cut(struct report_state *t, struct ut_stall_result *r)
{
	size_t n = 0, all = r->instruction_count;
	struct ut_buf text = { 0 };
	bool *near;

	if (all <= MOST_ROWS)
		return;
	ut_buf_fmt(&text, "it has %zu instructions: those around samples are listed", all);
	kernel_code_note(t, text.data);
	ut_buf_release(&text);
	near = UT_NEW_N(&t->arena, bool, all);
	for (size_t i = 0; i < all; i++) {
		size_t from = i > CONTEXT_LINES ? i - CONTEXT_LINES : 0;

		for (size_t k = from;
		     r->instructions[i].samples && k <= i + CONTEXT_LINES && k < all; k++)
			near[k] = true;
	}
	for (size_t i = 0; i < all && n < MOST_ROWS; i++) {
		if (near[i])
			r->instructions[n++] = r->instructions[i];
	}
	r->instruction_count = n;
}

static bool put_report(struct report_state *t)
{
	const struct ut_logger logger = { .line = ut_keep_note, .ctx = t->notes };
	const struct ut_stall_opts opts = { .top = TOP,
					    .no_files = true,
					    .seconds = SECONDS,
					    .readable = ut_is_source,
					    .logger = &logger };
	struct ut_stall_samples samples;
	struct ut_stall_result result;
	struct ut_err err = { 0 };
	struct ut_out *json;

	ut_stall_table_samples(t->table, &t->trace->store->trace, t->kernel, t->module, &t->arena,
			       &samples);
	if (ut_stall_find_beside(&result, &samples, &opts, t->trace->path, &err)) {
		kernel_code_note(t, err.text);
		return false;
	}
	kernel_code_cut(t, &result);
	json = ut_out_open_memory();
	ut_stall_json(json, &result);
	ut_out_one_line(t->report, json);
	ut_out_abandon(json);
	ut_stall_release(&result);
	return true;
}

static void put_modules(const struct ut_stall_part *parts, size_t count, struct ut_out *out)
{
	for (size_t i = 0; i < count && i < MOST_NAMED; i++) {
		ut_out_text(out, i ? ",{\"module\":" : "{\"module\":");
		ut_out_json_str(out, parts[i].name.ptr, parts[i].name.len);
		ut_out_fmt(out, ",\"samples\":%" PRIu64 "}", parts[i].samples);
	}
}

static void put_data(struct ut_out *out, const struct ut_out *from, const char *otherwise)
{
	size_t len;
	const char *text = ut_out_data(from, &len);

	ut_out_write(out, text, len);
	ut_out_text(out, len ? "" : otherwise);
}

/* Writes the answer; true if it has the code. module "": the one with most samples. */
static bool kernel_code_send_report(struct ut_view *v, const struct ut_view_trace *trace,
				    const struct ut_stall_table *table, struct ut_str kernel,
				    struct ut_str module, struct ut_out *out)
{
	struct report_state t = {
		.trace = trace, .table = table, .kernel = kernel, .module = module
	};
	size_t count = 0;
	struct ut_stall_part *parts = NULL;
	bool done = false;

	t.notes = ut_out_open_memory();
	t.report = ut_out_open_memory();
	if (table)
		parts = ut_stall_table_modules(table, &trace->store->trace, kernel, &t.arena,
					       &count);
	if (count && !module.len)
		t.module = parts[0].name;
	if (!count)
		kernel_code_note(&t, "no instruction of this kernel was sampled");
	else if (!v->code)
		kernel_code_note(
			&t, "files of code are not read here: unitrace view does, and serve with "
			    "--enable-server-profiling");
	else
		done = put_report(&t);
	ut_out_text(out, "{\"notes\":[");
	put_data(out, t.notes, "");
	ut_out_text(out, "],\"modules\":[");
	put_modules(parts, count, out);
	ut_out_text(out, "],\"module\":");
	ut_out_json_str(out, t.module.len ? t.module.ptr : "", t.module.len);
	ut_out_text(out, ",\"report\":");
	put_data(out, t.report, "null");
	ut_out_text(out, "}");
	ut_out_abandon(t.notes);
	ut_out_abandon(t.report);
	ut_arena_release(&t.arena);
	return done;
}

/* The first trace that has samples of it, as the table of kernels shows it. */
static bool report_first(struct ut_view *v, struct ut_str kernel, struct ut_str module,
			 struct ut_out *out)
{
	struct ut_stall_table *table = NULL;
	struct ut_arena arena = { 0 };
	size_t at = 0, count = 0;
	bool done;

	for (; at < v->trace_count && !count; at++) {
		ut_stall_table_free(table);
		table = samples_of(&v->traces[at]);
		ut_stall_table_modules(table, &v->traces[at].store->trace, kernel, &arena, &count);
	}
	done = kernel_code_send_report(v, at ? &v->traces[at - 1] : NULL, table, kernel, module,
				       out);
	ut_stall_table_free(table);
	ut_arena_release(&arena);
	return done;
}

/* ---- those that were asked for -------------------------------------------------------------- */

struct kept {
	char *key; /* kernel, NUL, module */
	size_t key_len;
	struct ut_out *answer;
};

struct ut_view_codes {
	pthread_mutex_t lock; /* one kernel at a time */
	struct kept *items;   /* the oldest first */
	size_t count, cap, bytes;
};

struct ut_view_codes *ut_view_codes_new(void)
{
	struct ut_view_codes *c = ut_make(sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void ut_view_codes_free(struct ut_view_codes *c)
{
	pthread_mutex_destroy(&c->lock);
	for (size_t i = 0; i < c->count; i++) {
		free(c->items[i].key);
		ut_out_abandon(c->items[i].answer);
	}
	free(c->items);
	free(c);
}

static void forget_oldest(struct ut_view_codes *c)
{
	size_t len;

	ut_out_data(c->items[0].answer, &len);
	c->bytes -= len;
	free(c->items[0].key);
	ut_out_abandon(c->items[0].answer);
	memmove(c->items, c->items + 1, --c->count * sizeof(*c->items));
}

/* The answer is taken over. */
static void kernel_code_keep(struct ut_view_codes *c, const struct ut_buf *key,
			     struct ut_out *answer)
{
	struct kept k = { .key = ut_make(key->len + 1), .key_len = key->len, .answer = answer };
	size_t len;

	memcpy(k.key, key->data, key->len);
	ut_out_data(answer, &len);
	c->bytes += len;
	c->items = ut_grow(c->items, c->count + 1, &c->cap, sizeof(*c->items));
	c->items[c->count++] = k;
	while (c->bytes > MOST_KEPT && c->count > 1)
		forget_oldest(c);
}

static const struct ut_out *find_kept(const struct ut_view_codes *c, const struct ut_buf *key)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct kept *k = &c->items[i];

		if (k->key_len == key->len && !memcmp(k->key, key->data, key->len))
			return k->answer;
	}
	return NULL;
}

/* What could not be done is tried again: whoever is told what is missing may have brought it. */
int ut_answer_stalls(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err)
{
	const struct ut_str none = { "", 0 };
	struct ut_buf key = { 0 };
	const struct ut_out *kept;

	(void)err;
	ut_buf_add(&key, a->name.len ? a->name.ptr : "", a->name.len);
	ut_buf_char(&key, '\0');
	ut_buf_add(&key, a->module.len ? a->module.ptr : "", a->module.len);
	pthread_mutex_lock(&v->codes->lock);
	kept = find_kept(v->codes, &key);
	if (kept) {
		put_data(out, kept, "");
	} else {
		struct ut_out *answer = ut_out_open_memory();
		bool done = report_first(v, a->name.len ? a->name : none,
					 a->module.len ? a->module : none, answer);

		put_data(out, answer, "");
		if (done)
			kernel_code_keep(v->codes, &key, answer);
		else
			ut_out_abandon(answer);
	}
	pthread_mutex_unlock(&v->codes->lock);
	ut_buf_release(&key);
	return 0;
}

/* ---- those of a page ------------------------------------------------------------------------ */

#define PAGE_KERNELS 16u
#define PAGE_BYTES   ((size_t)16 << 20) /* before they are packed */

struct page {
	struct ut_view *view;
	struct ut_out *out;
	struct ut_str names[PAGE_KERNELS];
	size_t count;
};

static bool is_in(const struct page *p, struct ut_str kernel)
{
	for (size_t i = 0; i < p->count; i++) {
		if (ut_str_eq(p->names[i], kernel))
			return true;
	}
	return false;
}

static bool has_room(const struct page *p)
{
	size_t len;

	ut_out_data(p->out, &len);
	return p->count < PAGE_KERNELS && len < PAGE_BYTES;
}

static void kernel_code_put_kernels(struct page *p, const struct ut_view_trace *trace)
{
	struct ut_stall_table *table = samples_of(trace);
	struct ut_arena arena = { 0 };
	size_t count;
	struct ut_stall_part *parts =
		ut_stall_table_kernels(table, &trace->store->trace, &arena, &count);

	for (size_t i = 0; i < count && has_room(p); i++) {
		if (is_in(p, parts[i].name))
			continue;
		ut_out_text(p->out, p->count ? ",{\"kernel\":" : "{\"kernel\":");
		ut_out_json_str(p->out, parts[i].name.ptr, parts[i].name.len);
		ut_out_text(p->out, ",\"code\":");
		kernel_code_send_report(p->view, trace, table, parts[i].name,
					(struct ut_str){ "", 0 }, p->out);
		ut_out_text(p->out, "}");
		p->names[p->count++] = parts[i].name;
	}
	ut_arena_release(&arena);
	ut_stall_table_free(table);
}

void ut_make_kernel_code_sheet(struct ut_view *v, struct ut_out *out)
{
	struct page page = { .view = v, .out = out };

	ut_out_text(out, "{\"kernels\":[");
	for (size_t i = 0; v->code && i < v->trace_count; i++)
		kernel_code_put_kernels(&page, &v->traces[i]);
	ut_out_text(out, "]}");
}
