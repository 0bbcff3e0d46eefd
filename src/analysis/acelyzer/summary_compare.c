#include "acelyzer/summary_compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/str.h"
#include "text/source.h"

#define MOST_TEXT (512u << 20)
#define SCHEMA    "unitrace.analyze/1"

const struct ut_ace_figure_about ut_ace_figures[] = {
#define UT_ACE_FIGURE_ABOUT(figure, word, unit) { word, UT_ACE_##unit },
	UT_ACE_FIGURE_LIST(UT_ACE_FIGURE_ABOUT)
#undef UT_ACE_FIGURE_ABOUT
};

/* ---- reading ------------------------------------------------------------------------------- */

/* A key of the summary and the figure it holds. */
struct key {
	const char *key;
	enum ut_ace_figure figure;
};

static const struct key run_keys[] = {
	{ "length_us", UT_ACE_FIGURE_LENGTH },
	{ "longest_rank_us", UT_ACE_FIGURE_MAX },
	{ "step_mean_us", UT_ACE_FIGURE_STEP },
	{ "step_median_us", UT_ACE_FIGURE_STEP_P50 },
	{ "step_max_us", UT_ACE_FIGURE_STEP_MAX },
	{ "step_count", UT_ACE_FIGURE_COUNT },
	{ "compute_us", UT_ACE_FIGURE_COMPUTE },
	{ "communication_us", UT_ACE_FIGURE_COMM },
	{ "communication_exposed_us", UT_ACE_FIGURE_EXPOSED },
	{ "overlap_percent", UT_ACE_FIGURE_OVERLAP },
	{ "transfer_us", UT_ACE_FIGURE_TRANSFER },
	{ "prep_us", UT_ACE_FIGURE_PREP },
	{ "idle_us", UT_ACE_FIGURE_IDLE },
	{ "trust_percent", UT_ACE_FIGURE_TRUST },
	{ "energy_j", UT_ACE_FIGURE_ENERGY },
	{ NULL, 0 },
};

static const struct key kernel_keys[] = {
	{ "calls", UT_ACE_FIGURE_COUNT },
	{ "total_us", UT_ACE_FIGURE_TOTAL },
	{ "mean_us", UT_ACE_FIGURE_MEAN },
	{ "median_us", UT_ACE_FIGURE_P50 },
	{ "min_us", UT_ACE_FIGURE_MIN },
	{ "max_us", UT_ACE_FIGURE_MAX },
	{ "energy_j", UT_ACE_FIGURE_ENERGY },
	{ "power_w", UT_ACE_FIGURE_POWER },
	{ NULL, 0 },
};

struct reader {
	struct ut_ace_summary *to;
	struct ut_json json;
	struct ut_ace_row run;
	double steps, step_time; /* of all ranks */
	bool schema;             /* it says that it is one */
};

static void summary_compare_clear(struct ut_ace_row *r, enum ut_ace_row_kind kind)
{
	*r = (struct ut_ace_row){ .kind = kind, .rank = UT_ACE_ALL_RANKS };
	for (int i = 0; i < UT_ACE_FIGURES; i++)
		r->value[i] = NAN;
}

static const char *summary_compare_text_of(struct ut_arena *a, struct ut_str raw)
{
	char *text = ut_arena_copy(a, raw.ptr, raw.len);

	text[ut_json_decode(raw, text)] = 0;
	return text;
}

/* An object of figures, perhaps with a name and a rank. */
static bool summary_compare_read_row(struct reader *r, const struct key *keys,
				     struct ut_ace_row *row)
{
	struct ut_json *j = &r->json;
	struct ut_str key, value;

	if (ut_json_peek(j) != '{')
		return ut_json_skip(j, NULL);
	ut_json_enter(j);
	while (ut_json_member(j, &key)) {
		struct ut_json_number n;

		if (!ut_json_skip(j, &value))
			return false;
		if (ut_str_is(key, "name") && value.len >= 2 && *value.ptr == '"')
			row->name = summary_compare_text_of(
				&r->to->arena, (struct ut_str){ value.ptr + 1, value.len - 2 });
		if (ut_json_number(value, &n) == UT_JSON_NOT || !isfinite(n.f64))
			continue;
		if (ut_str_is(key, "rank") && fabs(n.f64) < 1e15)
			row->rank = (int64_t)n.f64;
		for (const struct key *k = keys; k->key; k++) {
			if (ut_str_is(key, k->key))
				row->value[k->figure] = n.f64;
		}
	}
	return !j->trouble;
}

static void summary_compare_add_row(struct ut_ace_summary *s, const struct ut_ace_row *row)
{
	s->rows = ut_grow(s->rows, s->count + 1, &s->cap, sizeof(*s->rows));
	s->rows[s->count++] = *row;
}

/* What only runs and ranks have: the share of time in which something went on. */
static void finish_run(struct ut_ace_row *row)
{
	double *v = row->value;

	if (v[UT_ACE_FIGURE_LENGTH] > 0)
		v[UT_ACE_FIGURE_BUSY] = 100 - 100 * v[UT_ACE_FIGURE_IDLE] / v[UT_ACE_FIGURE_LENGTH];
	v[UT_ACE_FIGURE_COUNT] = NAN;
}

static void summary_compare_add_rank(struct reader *r, struct ut_ace_row *row)
{
	double *run = r->run.value, *v = row->value;

	if (v[UT_ACE_FIGURE_COUNT] > 0 && isfinite(v[UT_ACE_FIGURE_STEP])) {
		r->steps += v[UT_ACE_FIGURE_COUNT];
		r->step_time += v[UT_ACE_FIGURE_STEP] * v[UT_ACE_FIGURE_COUNT];
	}
	/* fmax() takes the other one for a NAN */
	run[UT_ACE_FIGURE_STEP_P50] = fmax(run[UT_ACE_FIGURE_STEP_P50], v[UT_ACE_FIGURE_STEP_P50]);
	run[UT_ACE_FIGURE_STEP_MAX] = fmax(run[UT_ACE_FIGURE_STEP_MAX], v[UT_ACE_FIGURE_STEP_MAX]);
	row->name = ut_str_fmt(&r->to->arena, "rank %" PRId64, row->rank);
	finish_run(row);
	summary_compare_add_row(r->to, row);
}

static bool summary_compare_read_list(struct reader *r, enum ut_ace_row_kind kind)
{
	struct ut_json *j = &r->json;

	if (ut_json_peek(j) != '[')
		return ut_json_skip(j, NULL);
	ut_json_enter(j);
	while (ut_json_element(j)) {
		struct ut_ace_row row;

		summary_compare_clear(&row, kind);
		if (!summary_compare_read_row(r, kind == UT_ACE_ROW_KERNEL ? kernel_keys : run_keys,
					      &row))
			return false;
		if (kind == UT_ACE_ROW_RANK)
			summary_compare_add_rank(r, &row);
		else if (row.name)
			summary_compare_add_row(r->to, &row);
	}
	return !j->trouble;
}

static bool summary_compare_read_member(struct reader *r, struct ut_str key)
{
	struct ut_str text;

	if (ut_str_is(key, "totals") || ut_str_is(key, "verify"))
		return summary_compare_read_row(r, run_keys, &r->run);
	if (ut_str_is(key, "ranks"))
		return summary_compare_read_list(r, UT_ACE_ROW_RANK);
	if (ut_str_is(key, "kernels"))
		return summary_compare_read_list(r, UT_ACE_ROW_KERNEL);
	if (!ut_json_skip(&r->json, &text))
		return false;
	if (ut_str_is(key, "schema"))
		r->schema = ut_str_is(text, "\"" SCHEMA "\"");
	return true;
}

static bool summary_compare_read_all(struct reader *r)
{
	struct ut_str key;

	if (ut_json_peek(&r->json) != '{')
		return false;
	ut_json_enter(&r->json);
	while (ut_json_member(&r->json, &key)) {
		if (!summary_compare_read_member(r, key))
			return false;
	}
	return !r->json.trouble;
}

static void summary_compare_add_run(struct reader *r)
{
	double *v = r->run.value, longest = v[UT_ACE_FIGURE_MAX];

	r->run.kind = UT_ACE_ROW_RUN;
	r->run.rank = UT_ACE_ALL_RANKS;
	r->run.name = "run";
	v[UT_ACE_FIGURE_MAX] = NAN;
	v[UT_ACE_FIGURE_STEP] = r->steps > 0 ? r->step_time / r->steps : NAN;
	finish_run(&r->run);
	v[UT_ACE_FIGURE_LENGTH] = longest;
	summary_compare_add_row(r->to, &r->run);
}

/* ---- rows in order ------------------------------------------------------------------------- */

static int summary_compare_compare_rows(const struct ut_ace_row *a, const struct ut_ace_row *b)
{
	int names;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	names = a->kind == UT_ACE_ROW_KERNEL ? strcmp(a->name, b->name) : 0;
	if (names)
		return names;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_row(const void *a, const void *b)
{
	return summary_compare_compare_rows(a, b);
}

/* The same kernel once more: on another rank, or from a rank that comes twice. */
static void summary_compare_join(struct ut_ace_row *to, const struct ut_ace_row *from)
{
	static const enum ut_ace_figure sums[] = { UT_ACE_FIGURE_COUNT, UT_ACE_FIGURE_TOTAL,
						   UT_ACE_FIGURE_ENERGY };
	double *v = to->value;

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		v[sums[i]] += from->value[sums[i]];
	v[UT_ACE_FIGURE_MIN] = fmin(v[UT_ACE_FIGURE_MIN], from->value[UT_ACE_FIGURE_MIN]);
	v[UT_ACE_FIGURE_MAX] = fmax(v[UT_ACE_FIGURE_MAX], from->value[UT_ACE_FIGURE_MAX]);
	v[UT_ACE_FIGURE_P50] = NAN;
	v[UT_ACE_FIGURE_MEAN] = v[UT_ACE_FIGURE_TOTAL] / v[UT_ACE_FIGURE_COUNT];
	v[UT_ACE_FIGURE_POWER] = v[UT_ACE_FIGURE_ENERGY] / v[UT_ACE_FIGURE_TOTAL] * 1e6;
}

static void summary_compare_finalize(struct ut_ace_summary *s, bool by_rank)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count && !by_rank; i++) {
		if (s->rows[i].kind == UT_ACE_ROW_KERNEL)
			s->rows[i].rank = UT_ACE_ALL_RANKS;
	}
	if (s->count)
		qsort(s->rows, s->count, sizeof(*s->rows), by_row);
	for (size_t i = 0; i < s->count; i++) {
		bool same = n && !summary_compare_compare_rows(&s->rows[n - 1], &s->rows[i]);

		if (s->rows[i].kind == UT_ACE_ROW_RANK && (!by_rank || same))
			continue;
		if (same)
			summary_compare_join(&s->rows[n - 1], &s->rows[i]);
		else
			s->rows[n++] = s->rows[i];
	}
	s->count = n;
}

static int summary_compare_read_text(const char *path, struct ut_buf *b, struct ut_err *err)
{
	struct ut_source source;
	char chunk[1 << 14];
	ssize_t n;
	int rc = ut_source_open(&source, path, err);

	if (rc)
		return rc;
	while ((n = ut_source_read(&source, chunk, sizeof(chunk), err)) > 0 && b->len < MOST_TEXT)
		ut_buf_add(b, chunk, (size_t)n);
	ut_source_close(&source);
	if (n > 0)
		return ut_err_set(err, -EFBIG, "%s: a summary has at most %u MiB", path,
				  MOST_TEXT >> 20);
	return (int)n;
}

int ut_ace_summary_text(struct ut_ace_summary *s, const char *name, struct ut_str text,
			bool by_rank, struct ut_err *err)
{
	struct reader r = { .to = s };
	int rc = 0;

	*s = (struct ut_ace_summary){ 0 };
	summary_compare_clear(&r.run, UT_ACE_ROW_RUN);
	ut_json_init_text(&r.json, text.ptr, text.len);
	if (!summary_compare_read_all(&r))
		rc = r.json.trouble ? ut_json_error(&r.json, name, err)
				    : ut_err_set(err, -EPROTO, "%s: no JSON object", name);
	else if (!r.schema)
		rc = ut_err_set(err, -EPROTO,
				"%s: not a summary that this program knows (schema " SCHEMA ")",
				name);
	ut_json_release(&r.json);
	if (rc) {
		ut_ace_summary_release(s);
		return rc;
	}
	summary_compare_add_run(&r);
	summary_compare_finalize(s, by_rank);
	return 0;
}

int ut_ace_summary_read(struct ut_ace_summary *s, const char *path, bool by_rank,
			struct ut_err *err)
{
	struct ut_buf text = { 0 };
	int rc = summary_compare_read_text(path, &text, err);

	if (!rc)
		rc = ut_ace_summary_text(s, path,
					 (struct ut_str){ text.data ? text.data : "", text.len },
					 by_rank, err);
	ut_buf_release(&text);
	return rc;
}

void ut_ace_summary_release(struct ut_ace_summary *s)
{
	ut_arena_release(&s->arena);
	free(s->rows);
	*s = (struct ut_ace_summary){ 0 };
}

bool ut_ace_is_summary(const char *path)
{
	static const char *const tokens[] = { "{", "\"schema\"", ":", "\"unitrace.analyze/" };
	struct ut_source source;
	struct ut_err err = { 0 };
	const char *at, *end;
	bool found = true;

	if (!strcmp(path, "-") || ut_source_open(&source, path, &err))
		return false;
	at = source.head;
	end = at + source.head_len;
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]) && found; i++) {
		size_t len = strlen(tokens[i]);

		while (at < end && strchr(" \t\r\n", *at))
			at++;
		found = (size_t)(end - at) >= len && !memcmp(at, tokens[i], len);
		at += len;
	}
	ut_source_close(&source);
	return found;
}

/* ---- both ---------------------------------------------------------------------------------- */

static double total_of(const struct ut_ace_row *r)
{
	return r && isfinite(r->value[UT_ACE_FIGURE_TOTAL]) ? r->value[UT_ACE_FIGURE_TOTAL] : 0;
}

static int by_change(const void *p, const void *q)
{
	const struct ut_ace_pair *a = p, *b = q;
	const struct ut_ace_row *x = a->after ? a->after : a->before;
	const struct ut_ace_row *y = b->after ? b->after : b->before;
	double left = fabs(total_of(a->after) - total_of(a->before));
	double right = fabs(total_of(b->after) - total_of(b->before));

	if (x->kind == y->kind && left != right)
		return left > right ? -1 : 1;
	return summary_compare_compare_rows(x, y);
}

static bool seldom(const struct ut_ace_row *r, uint64_t min_count)
{
	return !r || !(r->value[UT_ACE_FIGURE_COUNT] >= (double)min_count);
}

struct ut_ace_pair *ut_ace_compare(const struct ut_ace_summary *before,
				   const struct ut_ace_summary *after, uint64_t min_count,
				   size_t *count)
{
	struct ut_ace_pair *pairs = ut_make((before->count + after->count + 1) * sizeof(*pairs));
	size_t n = 0, i = 0, k = 0;

	while (i < before->count || k < after->count) {
		int order = i == before->count  ? 1
			    : k == after->count ? -1
						: summary_compare_compare_rows(&before->rows[i],
									       &after->rows[k]);
		struct ut_ace_pair p = { 0 };
		const struct ut_ace_row *some;

		if (order >= 0)
			some = p.after = &after->rows[k++];
		if (order <= 0)
			some = p.before = &before->rows[i++];
		if (some->kind != UT_ACE_ROW_KERNEL || !seldom(p.before, min_count) ||
		    !seldom(p.after, min_count))
			pairs[n++] = p;
	}
	qsort(pairs, n, sizeof(*pairs), by_change);
	*count = n;
	return pairs;
}
