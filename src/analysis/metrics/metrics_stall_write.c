#include "metrics/metrics_stall_write.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "metrics/metrics_csv_write.h"
#include "metrics/stall_report.h"
#include "model/event.h"
#include "model/stacks.h"
#include "model/store.h"
#include "model/trace.h"
#include "text/csv_write.h"
#include "text/out.h"

#define MOST_REASONS 64u /* further ones count as the last */
#define NAME_LEAST   50  /* columns of the name, as Intel's unitrace has them */
#define ACTIVE       "Active[Events]"
#define OTHER        "OtherStall[Events]"
#define CUBIN        ".cubin"
#define STORED_ARGS  8u /* of a sample: it has two */

/* Samples at one instruction. */
struct row {
	uint32_t process, place;
	uint32_t symbol; /* string id; 0 = the function is called so */
	uint64_t *all;   /* by reason */
	uint64_t idle;   /* of them, when nothing was issued */
};

struct ut_stall_table {
	struct ut_arena arena;
	struct ut_idmap row_of; /* process, place -> index + 1 */
	struct row *rows;
	size_t count, cap;
	uint32_t reasons[MOST_REASONS]; /* string ids */
	size_t reason_count;
	bool sorted;
};

struct ut_stall_table *ut_stall_table_new(void)
{
	struct ut_stall_table *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	ut_idmap_init(&t->row_of, &t->arena);
	return t;
}

void ut_stall_table_free(struct ut_stall_table *t)
{
	if (!t)
		return;
	free(t->rows);
	ut_arena_release(&t->arena);
	free(t);
}

size_t ut_stall_table_count(const struct ut_stall_table *t)
{
	return t->count;
}

/* ---- counting -------------------------------------------------------------------------------- */

static size_t reason_number(struct ut_stall_table *t, uint32_t name)
{
	size_t i = 0;

	while (i < t->reason_count && t->reasons[i] != name)
		i++;
	if (i == t->reason_count && i < MOST_REASONS)
		t->reasons[t->reason_count++] = name;
	return i < MOST_REASONS ? i : MOST_REASONS - 1;
}

static struct row *metrics_stall_write_row_of(struct ut_stall_table *t, uint32_t process,
					      uint32_t place)
{
	uint64_t key = (uint64_t)process << 32 | place;
	uint32_t at = ut_idmap_get(&t->row_of, key);

	if (at)
		return &t->rows[at - 1];
	t->rows = ut_grow(t->rows, t->count + 1, &t->cap, sizeof(*t->rows));
	t->rows[t->count++] = (struct row){ .process = process,
					    .place = place,
					    .all = UT_NEW_N(&t->arena, uint64_t, MOST_REASONS) };
	ut_idmap_put(&t->row_of, key, (uint32_t)t->count);
	return &t->rows[t->count - 1];
}

static const struct ut_arg *find_arg(const struct ut_trace *t, const struct ut_arg *args,
				     const char *key)
{
	for (const struct ut_arg *a = args; a->type != UT_ARG_END; a++) {
		if (ut_str_is(ut_strtab_get(&t->strings, a->key), key))
			return a;
	}
	return NULL;
}

static void metrics_stall_write_add(struct ut_stall_table *t, const struct ut_trace *trace,
				    const struct ut_event *e, const struct ut_arg *args)
{
	uint32_t place = ut_stacks_get(&trace->stacks, ut_sample_stack(e->val)).place;
	uint64_t weight = ut_sample_weight(e->val);
	const struct ut_arg *symbol, *large;
	struct row *r;

	if (!place || !e->cat)
		return;
	if (weight == UT_SAMPLE_WEIGHT_ARG) {
		large = find_arg(trace, args, UT_SAMPLE_WEIGHT);
		weight = large ? large->value.u64 : weight;
	}
	r = metrics_stall_write_row_of(t, trace->tracks[e->track].process, place);
	symbol = r->symbol ? NULL : find_arg(trace, args, "symbol");
	if (symbol && symbol->type == UT_ARG_STR)
		r->symbol = symbol->value.str;
	r->all[reason_number(t, e->cat)] += weight;
	if (ut_str_is(ut_strtab_get(&trace->strings, e->name), UT_STALL_NOT_ISSUED))
		r->idle += weight;
}

void ut_stall_table_add(struct ut_stall_table *t, const struct ut_trace *trace,
			const struct ut_event *e)
{
	metrics_stall_write_add(t, trace, e, &trace->args[e->args]);
}

void ut_stall_table_add_stored(struct ut_stall_table *t, const struct ut_store *store,
			       const struct ut_event *e)
{
	struct ut_arg args[STORED_ARGS + 1] = { 0 };

	if (e->args)
		ut_arglists_get(&store->args, e->args, args, STORED_ARGS);
	metrics_stall_write_add(t, &store->trace, e, args);
}

/* ---- order ----------------------------------------------------------------------------------- */

struct order {
	const struct ut_trace *trace;
};

static int by_function_and_address(const void *a, const void *b, void *ctx)
{
	const struct row *x = a, *y = b;
	const struct ut_trace *t = ((const struct order *)ctx)->trace;
	struct ut_place_in_code p = ut_stacks_get_place(&t->stacks, x->place),
				q = ut_stacks_get_place(&t->stacks, y->place);
	int c;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	c = ut_str_cmp(ut_strtab_get(&t->strings, p.function),
		       ut_strtab_get(&t->strings, q.function));
	if (!c)
		c = ut_str_cmp(ut_strtab_get(&t->strings, p.module),
			       ut_strtab_get(&t->strings, q.module));
	return c ? c : (p.address > q.address) - (p.address < q.address);
}

static void sort(struct ut_stall_table *t, const struct ut_trace *trace)
{
	struct order order = { trace };

	if (!t->sorted && t->count)
		qsort_r(t->rows, t->count, sizeof(*t->rows), by_function_and_address, &order);
	t->sorted = true;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The reasons of a maker's devices, as columns between Active and OtherStall. */
static const char *const nvidia[] = {
	"barrier",
	"branch_resolving",
	"dispatch_stall",
	"drain",
	"gmma",
	"imc_miss",
	"lg_throttle",
	"long_scoreboard",
	"math_pipe_throttle",
	"membar",
	"mio_throttle",
	"no_instructions",
	"not_selected",
	"short_scoreboard",
	"sleeping",
	"tex_throttle",
	"wait",
	"warpgroup_arrive",
	NULL,
};
static const char *const intel[] = {
	"ControlStall", "PipeStall", "SendStall",       "DistStall",
	"SbidStall",    "SyncStall", "InstrFetchStall", NULL,
};

static bool lists(const char *const *list, struct ut_str name)
{
	for (; *list; list++) {
		if (ut_str_is(name, *list))
			return true;
	}
	return false;
}

static bool is_active(struct ut_str name)
{
	return ut_str_is(name, "selected") || ut_str_is(name, "Active");
}

/* A column, and which of the reasons it counts. */
struct column {
	char title[80];
	struct ut_str reason;
	size_t number; /* in the table; SIZE_MAX = it did not occur */
};

struct columns {
	struct column items[MOST_REASONS * 2];
	size_t count;
	uint8_t other[MOST_REASONS]; /* reasons that go to OtherStall */
	size_t active;               /* reason; SIZE_MAX = none occurred */
};

/* "long_scoreboard" is LongScoreboardStall[Events]. */
static void title_of(struct ut_str reason, char title[80])
{
	size_t n = 0;
	bool upper = true;

	if (ut_str_has_end(reason, "_stall"))
		reason.len -= strlen("_stall");
	for (size_t i = 0; i < reason.len && n < 50; i++) {
		char c = reason.ptr[i];

		if (c == '_' || c == ',' || (unsigned char)c <= ' ') {
			upper = true;
			continue;
		}
		title[n++] = upper && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
		upper = false;
	}
	title[n] = '\0';
	if (!ut_str_ends(title, "Stall"))
		memcpy(title + n, "Stall", sizeof("Stall"));
	memcpy(title + strlen(title), "[Events]", sizeof("[Events]"));
}

static size_t metrics_stall_write_number_of(const struct ut_stall_table *t,
					    const struct ut_trace *trace, struct ut_str reason)
{
	for (size_t i = 0; i < t->reason_count; i++) {
		if (ut_str_eq(ut_strtab_get(&trace->strings, t->reasons[i]), reason))
			return i;
	}
	return SIZE_MAX;
}

static void add_column(struct columns *c, struct ut_str reason, size_t number)
{
	struct column *to = &c->items[c->count++];

	to->reason = reason;
	to->number = number;
	title_of(reason, to->title);
}

/* Those of the maker, whether they occurred or not, and then what nobody knows yet. */
static void metrics_stall_write_make_columns(const struct ut_stall_table *t,
					     const struct ut_trace *trace, struct columns *c)
{
	const char *const *known = nvidia;

	*c = (struct columns){ .active = SIZE_MAX };
	for (size_t i = 0; i < t->reason_count; i++) {
		struct ut_str name = ut_strtab_get(&trace->strings, t->reasons[i]);

		if (lists(intel, name) || ut_str_is(name, "Active") ||
		    ut_str_is(name, "OtherStall"))
			known = intel; /* spelled as this maker's driver spells them */
	}
	for (const char *const *p = known; *p; p++)
		add_column(c, ut_str_of(*p),
			   metrics_stall_write_number_of(t, trace, ut_str_of(*p)));
	for (size_t i = 0; i < t->reason_count; i++) {
		struct ut_str name = ut_strtab_get(&trace->strings, t->reasons[i]);

		if (is_active(name))
			c->active = i;
		else if (ut_str_is(name, "misc") || ut_str_is(name, "OtherStall") || !name.len)
			c->other[i] = 1;
		else if (!lists(known, name))
			add_column(c, name, i);
	}
}

/* ---- the section ----------------------------------------------------------------------------- */

/* The numbers of a line of the section, from Active on. */
static void count_line(const struct row *r, const struct columns *c, uint64_t *to)
{
	to[0] = c->active == SIZE_MAX ? 0 : r->all[c->active];
	for (size_t i = 0; i < c->count; i++)
		to[i + 1] = c->items[i].number == SIZE_MAX ? 0 : r->all[c->items[i].number];
	to[c->count + 1] = 0;
	for (size_t i = 0; i < MOST_REASONS; i++)
		to[c->count + 1] += c->other[i] ? r->all[i] : 0;
}

static void metrics_stall_write_put_head(struct ut_buf *to, const struct columns *c, int width)
{
	ut_buf_fmt(to, "%*s, IP[Address], " ACTIVE, width, "Kernel");
	for (size_t i = 0; i < c->count; i++)
		ut_buf_fmt(to, ", %s", c->items[i].title);
	ut_buf_text(to, ", " OTHER "\n");
}

static void metrics_stall_write_put_count(struct ut_buf *to, const char *title, uint64_t count)
{
	ut_buf_fmt(to, ", %*" PRIu64, (int)strlen(title), count);
}

static void metrics_stall_write_put_row(struct ut_buf *to, const struct row *r,
					const struct columns *c, const struct ut_trace *trace,
					int width)
{
	struct ut_place_in_code p = ut_stacks_get_place(&trace->stacks, r->place);
	uint64_t counts[MOST_REASONS * 2 + 2];
	struct ut_buf name = { 0 };
	struct ut_str function = ut_strtab_get(&trace->strings, p.function);

	ut_csv_add_quoted(&name, function.ptr, function.len);
	ut_buf_fmt(to, "%*s, %*s%08" PRIX64, width, name.data, (int)sizeof("IP[Address]") - 1 - 8,
		   "", p.address);
	ut_buf_release(&name);
	count_line(r, c, counts);
	metrics_stall_write_put_count(to, ACTIVE, counts[0]);
	for (size_t i = 0; i < c->count; i++)
		metrics_stall_write_put_count(to, c->items[i].title, counts[i + 1]);
	metrics_stall_write_put_count(to, OTHER, counts[c->count + 1]);
	ut_buf_char(to, '\n');
}

static int name_width(const struct ut_stall_table *t, const struct ut_trace *trace, size_t first,
		      size_t end)
{
	size_t width = NAME_LEAST;

	for (size_t i = first; i < end; i++) {
		struct ut_place_in_code p = ut_stacks_get_place(&trace->stacks, t->rows[i].place);
		size_t len = ut_strtab_get(&trace->strings, p.function).len + 2;

		width = len > width && len < 4096 ? len : width;
	}
	return (int)width;
}

void ut_stall_table_write(struct ut_stall_table *t, struct ut_metrics_write *w,
			  const struct ut_trace *trace)
{
	struct columns *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	sort(t, trace);
	metrics_stall_write_make_columns(t, trace, c);
	for (size_t i = 0, n; i < t->count; i = n) {
		struct ut_out *out = ut_metrics_write_section(w, trace, t->rows[i].process,
							      UT_METRICS_WROTE_STALLS);
		struct ut_buf text = { 0 };
		int width;

		for (n = i; n < t->count && t->rows[n].process == t->rows[i].process;)
			n++;
		width = name_width(t, trace, i, n);
		metrics_stall_write_put_head(&text, c, width);
		for (size_t k = i; out && k < n; k++) {
			metrics_stall_write_put_row(&text, &t->rows[k], c, trace, width);
			ut_out_write(out, text.data, text.len);
			text.len = 0;
		}
		ut_buf_release(&text);
	}
	free(c);
}

/* ---- for a report ---------------------------------------------------------------------------- */

static uint64_t sum(const struct row *r)
{
	uint64_t all = 0;

	for (size_t i = 0; i < MOST_REASONS; i++)
		all += r->all[i];
	return all;
}

static int by_samples(const void *a, const void *b)
{
	const struct ut_stall_part *x = a, *y = b;
	int order = (x->samples < y->samples) - (x->samples > y->samples);

	return order ? order : ut_str_cmp(x->name, y->name);
}

/* Of each string: kernels, or modules of one kernel. */
static struct ut_stall_part *parts_of(const struct ut_stall_table *t, const struct ut_trace *trace,
				      const struct ut_str *kernel, struct ut_arena *a,
				      size_t *count)
{
	struct ut_stall_part *parts = UT_NEW_N(a, struct ut_stall_part, t->count + 1);
	struct ut_idmap of = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct ut_place_in_code p = ut_stacks_get_place(&trace->stacks, t->rows[i].place);
		uint32_t id = kernel ? p.module : p.function;
		uint32_t at;

		if (kernel && !ut_str_eq(ut_strtab_get(&trace->strings, p.function), *kernel))
			continue;
		at = ut_idmap_get(&of, (uint64_t)id + 1);
		if (!at) {
			parts[n].name = ut_strtab_get(&trace->strings, id);
			at = (uint32_t)++n;
			ut_idmap_put(&of, (uint64_t)id + 1, at);
		}
		parts[at - 1].samples += sum(&t->rows[i]);
	}
	ut_idmap_release(&of);
	ut_sort(parts, n, sizeof(*parts), by_samples);
	*count = n;
	return parts;
}

struct ut_stall_part *ut_stall_table_kernels(const struct ut_stall_table *t,
					     const struct ut_trace *trace, struct ut_arena *a,
					     size_t *count)
{
	return parts_of(t, trace, NULL, a, count);
}

struct ut_stall_part *ut_stall_table_modules(const struct ut_stall_table *t,
					     const struct ut_trace *trace, struct ut_str kernel,
					     struct ut_arena *a, size_t *count)
{
	return parts_of(t, trace, &kernel, a, count);
}

static bool metrics_stall_write_is_of(const struct ut_trace *trace, const struct row *r,
				      struct ut_str kernel, struct ut_str module)
{
	struct ut_place_in_code p = ut_stacks_get_place(&trace->stacks, r->place);

	return ut_str_eq(ut_strtab_get(&trace->strings, p.function), kernel) &&
	       ut_str_eq(ut_strtab_get(&trace->strings, p.module), module);
}

static const struct ut_str *titles_of(const struct columns *c, struct ut_arena *a)
{
	struct ut_str *titles = UT_NEW_N(a, struct ut_str, c->count + 2);

	titles[0] = ut_str_of(ACTIVE);
	for (size_t i = 0; i < c->count; i++)
		titles[i + 1] = ut_str_of(c->items[i].title);
	titles[c->count + 1] = ut_str_of(OTHER);
	return titles;
}

void ut_stall_table_samples(const struct ut_stall_table *t, const struct ut_trace *trace,
			    struct ut_str kernel, struct ut_str module, struct ut_arena *a,
			    struct ut_stall_samples *s)
{
	struct columns *c = UT_NEW(a, struct columns);
	uint64_t *addresses, *counts;
	size_t rows = 0, width;

	metrics_stall_write_make_columns(t, trace, c);
	width = c->count + 2;
	for (size_t i = 0; i < t->count; i++)
		rows += metrics_stall_write_is_of(trace, &t->rows[i], kernel, module);
	addresses = UT_NEW_N(a, uint64_t, rows + 1);
	counts = UT_NEW_N(a, uint64_t, (rows + 1) * width);
	*s = (struct ut_stall_samples){ .kernel = kernel,
					.reasons = titles_of(c, a),
					.reason_count = width,
					.addresses = addresses,
					.counts = counts };
	for (size_t i = 0; i < t->count; i++) {
		if (!metrics_stall_write_is_of(trace, &t->rows[i], kernel, module))
			continue;
		addresses[s->row_count] =
			ut_stacks_get_place(&trace->stacks, t->rows[i].place).address;
		count_line(&t->rows[i], c, counts + s->row_count++ * width);
	}
	/* "CRC.cubin": what files of its code have in their names */
	if (ut_str_has_end(module, CUBIN))
		s->module = (struct ut_str){ module.ptr, module.len - strlen(CUBIN) };
}

/* ---- stalls.json ----------------------------------------------------------------------------- */

static void put_json_str(struct ut_out *out, const struct ut_trace *t, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&t->strings, id);

	ut_out_json_str(out, s.ptr, s.len);
}

/* "CRC.cubin" without its end. */
static void put_crc(struct ut_out *out, const struct ut_trace *t, uint32_t module)
{
	struct ut_str s = ut_strtab_get(&t->strings, module);

	if (ut_str_has_end(s, CUBIN))
		s.len -= strlen(CUBIN);
	ut_out_json_str(out, s.ptr, s.len);
}

static void put_modules(struct ut_stall_table *t, const struct ut_trace *trace, struct ut_out *out,
			int64_t (*module)(void *ctx, const char *file), void *ctx)
{
	struct ut_idmap seen;
	const char *comma = "";

	ut_idmap_init(&seen, &t->arena);
	ut_out_text(out, " \"modules\":[");
	for (size_t i = 0; i < t->count; i++) {
		uint32_t id = ut_stacks_get_place(&trace->stacks, t->rows[i].place).module;
		int64_t bytes;

		if (!id || ut_idmap_get(&seen, id))
			continue;
		ut_idmap_put(&seen, id, 1);
		bytes = module(ctx, ut_strtab_get(&trace->strings, id).ptr);
		if (bytes < 0)
			continue;
		ut_out_fmt(out, "%s{\"crc\":", comma);
		put_crc(out, trace, id);
		ut_out_text(out, ",\"file\":");
		put_json_str(out, trace, id);
		ut_out_fmt(out, ",\"bytes\":%" PRId64 "}", bytes);
		comma = ",\n  ";
	}
	ut_out_text(out, "],\n");
}

static void put_pc(const struct ut_stall_table *t, const struct row *r,
		   const struct ut_trace *trace, struct ut_out *out)
{
	struct ut_place_in_code p = ut_stacks_get_place(&trace->stacks, r->place);
	const char *comma = "";

	ut_out_fmt(out, "{\"offset\":%" PRIu64 ",\"samples\":{", p.address);
	for (size_t i = 0; i < t->reason_count; i++) {
		if (!r->all[i])
			continue;
		ut_out_text(out, comma);
		put_json_str(out, trace, t->reasons[i]);
		ut_out_fmt(out, ":%" PRIu64, r->all[i]);
		comma = ",";
	}
	ut_out_fmt(out, "},\"not_issued\":%" PRIu64, r->idle);
	if (p.line) {
		ut_out_text(out, ",\"file\":");
		put_json_str(out, trace, p.file);
		ut_out_fmt(out, ",\"line\":%" PRIu32, p.line);
	}
	ut_out_text(out, "}");
}

/* From row first on, all of one function; returns the next. */
static size_t put_function(const struct ut_stall_table *t, size_t first,
			   const struct ut_trace *trace, struct ut_out *out)
{
	const struct row *r = &t->rows[first];
	struct ut_place_in_code p = ut_stacks_get_place(&trace->stacks, r->place), q;
	uint64_t samples = 0;
	size_t end = first;

	do {
		samples += sum(&t->rows[end++]);
		q = end < t->count ? ut_stacks_get_place(&trace->stacks, t->rows[end].place)
				   : (struct ut_place_in_code){ 0 };
	} while (end < t->count && t->rows[end].process == r->process && q.function == p.function &&
		 q.module == p.module);
	ut_out_fmt(out, "{\"device\":%" PRId32 ",\"crc\":", trace->processes[r->process].device);
	put_crc(out, trace, p.module);
	ut_out_text(out, ",\"symbol\":");
	put_json_str(out, trace, r->symbol ? r->symbol : p.function);
	ut_out_text(out, ",\"kernel\":");
	put_json_str(out, trace, p.function);
	ut_out_fmt(out, ",\"samples\":%" PRIu64 ",\n   \"pcs\":[", samples);
	for (size_t i = first; i < end; i++) {
		ut_out_text(out, i > first ? ",\n    " : "");
		put_pc(t, &t->rows[i], trace, out);
	}
	ut_out_text(out, "]}");
	return end;
}

static void metrics_stall_write_put_devices(const struct ut_stall_table *t,
					    const struct ut_trace *trace, struct ut_out *out)
{
	ut_out_text(out, " \"devices\":[");
	for (size_t i = 0; i < t->count; i++) {
		const struct ut_process *p = &trace->processes[t->rows[i].process];

		if (i && t->rows[i].process == t->rows[i - 1].process)
			continue;
		ut_out_fmt(out, "%s{\"device\":%" PRId32 ",\"name\":", i ? "," : "", p->device);
		put_json_str(out, trace, p->model);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "],\n");
}

void ut_stall_table_json(struct ut_stall_table *t, const struct ut_trace *trace, struct ut_out *out,
			 int64_t (*module)(void *ctx, const char *file), void *ctx)
{
	uint64_t pid = trace->process_count ? trace->processes[0].pid : 0;

	sort(t, trace);
	ut_out_fmt(out, "{\"format\":\"unitrace stalls\",\"version\":1,\"pid\":%" PRIu64 ",\n",
		   pid);
	ut_out_text(out, " \"reasons\":[");
	for (size_t i = 0; i < t->reason_count; i++) {
		ut_out_text(out, i ? "," : "");
		put_json_str(out, trace, t->reasons[i]);
	}
	ut_out_text(out, "],\n");
	metrics_stall_write_put_devices(t, trace, out);
	put_modules(t, trace, out, module, ctx);
	ut_out_text(out, " \"functions\":[");
	for (size_t i = 0; i < t->count;) {
		ut_out_text(out, i ? ",\n  " : "");
		i = put_function(t, i, trace, out);
	}
	ut_out_text(out, "]}\n");
}
