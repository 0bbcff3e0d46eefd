/* write_analysis.c - device_analysis_data.json: every row in every order, and what was found. */
#include "tt/write_devlog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "text/digits.h"
#include "text/out.h"
#include "tt/pytext.h"
#include "tt/write_setup.h"

/* What is said about a row beside its marker, time and value. */
enum {
	WITH_RISC = 1,
	WITH_CORE = 2,
};

/* Text that is ready to be copied. */
struct piece {
	const char *text;
	size_t len;
};

struct writer {
	struct ut_py_json j;
	const struct ut_tt_analysis *a;
	struct ut_tt_log *log;
	struct ut_arena arena;
	struct piece *riscs; /* "'BRISC'" */
	struct piece *cores; /* "(1, 2)" */
	size_t longest;      /* of all pieces */
	const struct ut_tt_chip *chip;
};

/* ---- rows ---------------------------------------------------------------------------------- */

static struct piece make_piece(struct writer *w, struct ut_buf *b)
{
	struct piece p;

	p.text = ut_py_escape(&w->arena, b->data, b->len, &p.len);
	ut_buf_release(b);
	w->longest = p.len > w->longest ? p.len : w->longest;
	return p;
}

static void make_pieces(struct writer *w)
{
	const struct ut_tt_log *log = w->log;

	w->riscs = UT_NEW_N(&w->arena, struct piece, log->risc_count + 1);
	w->cores = UT_NEW_N(&w->arena, struct piece, log->core_count + 1);
	for (size_t i = 0; i < log->risc_count; i++) {
		struct ut_buf b = { 0 };

		ut_py_str(&b, ut_tt_str(log, log->riscs[i].name));
		w->riscs[i] = make_piece(w, &b);
	}
	for (size_t i = 0; i < log->core_count; i++) {
		struct ut_buf b = { 0 };

		ut_buf_fmt(&b, "(%" PRId32 ", %" PRId32 ")", log->cores[i].x, log->cores[i].y);
		w->cores[i] = make_piece(w, &b);
	}
}

static char *add_piece(char *p, struct piece piece)
{
	memcpy(p, ", ", 2);
	memcpy(p + 2, piece.text, piece.len);
	return p + 2 + piece.len;
}

/* "(MARK, TS, VALUE, 'RISC', (x, y))": the hot path, one copy per part. */
static void write_analysis_put_row(struct writer *w, uint32_t number, int with)
{
	struct ut_tt_log *log = w->log;
	const struct ut_tt_row *row = &log->rows[number];
	size_t len;
	const char *mark = ut_tt_mark_text(log, row->mark, &len);
	uint32_t lane = row->lane;
	char *p;

	ut_py_item(&w->j);
	p = ut_out_reserve(w->j.out, len + 2 * w->longest + 3 * UT_DIGITS_ROOM);
	memcpy(p, "\"(", 2);
	memcpy(p + 2, mark, len);
	p += 2 + len;
	*p++ = ',';
	*p++ = ' ';
	p = ut_digits_u64(p, row->ts);
	if (log->zones) {
		*p++ = ',';
		*p++ = ' ';
		p = ut_digits_u64(p, row->data);
	}
	if (with & WITH_RISC)
		p = add_piece(p, w->riscs[log->lanes[lane].risc]);
	if (!log->zones && !log->marks[row->mark].id)
		lane = w->chip->t0_lane; /* T0 is tagged with the core that it was taken from */
	if (with & WITH_CORE)
		p = add_piece(p, w->cores[log->lanes[lane].core]);
	*p++ = ')';
	*p++ = '"';
	ut_out_advance(w->j.out, p);
}

static void write_analysis_put_rows(struct writer *w, const char *key, const uint32_t *rows,
				    size_t n, int with)
{
	if (key)
		ut_py_key(&w->j, key);
	else
		ut_py_item(&w->j);
	ut_py_open(&w->j, '[');
	for (size_t i = 0; i < n; i++)
		write_analysis_put_row(w, rows[i], with);
	ut_py_close(&w->j, ']');
}

/* ---- results ------------------------------------------------------------------------------- */

static void write_analysis_put_stats(struct writer *w, const struct ut_tt_stats *st, bool scope)
{
	struct ut_py_json *j = &w->j;

	ut_py_key(j, "stats");
	ut_py_open(j, '{');
	ut_py_put_double(j, "Average", st->average);
	ut_py_put_u64(j, "Count", st->count);
	if (scope)
		ut_py_put_i64(j, "First", st->first);
	ut_py_put_i64(j, "Max", st->max);
	ut_py_put_double(j, "Median", st->median);
	ut_py_put_i64(j, "Min", st->min);
	ut_py_put_u64(j, "Range", ut_tt_range(st));
	if (scope || w->log->zones)
		ut_py_put_i64(j, "Sum", st->sum);
	ut_py_close(j, '}');
}

static void put_mark(struct writer *w, uint32_t row)
{
	size_t len;
	const char *text = ut_tt_mark_text(w->log, w->log->rows[row].mark, &len);

	ut_out_write(w->j.out, text, len);
}

/* A firmware start as "(MARK, TS)". */
static void put_round(struct writer *w, const char *key, uint32_t row)
{
	ut_py_key(&w->j, key);
	if (row == UT_TT_NO_ROW) {
		ut_out_text(w->j.out, "null");
		return;
	}
	ut_out_text(w->j.out, "\"(");
	put_mark(w, row);
	ut_out_fmt(w->j.out, ", %" PRIu64 ")\"", w->log->rows[row].ts);
}

static void put_span(struct writer *w, const struct ut_tt_rule *rule, const struct ut_tt_span *s)
{
	struct ut_py_json *j = &w->j;

	ut_py_item(j);
	ut_py_open(j, '{');
	ut_py_put_i64(j, "duration_cycles", s->cycles);
	ut_py_key(j, "duration_type");
	if (s->start == UT_TT_NO_ROW) {
		ut_tt_put_match(j, &rule->start, true);
		ut_py_close(j, '}');
		return;
	}
	ut_out_text(j->out, "\"(");
	put_mark(w, s->start);
	ut_out_text(j->out, ", ");
	put_mark(w, s->end);
	ut_out_text(j->out, ")\"");
	ut_py_put_u64(j, "end_cycle", w->log->rows[s->end].ts);
	if (rule->type == UT_TT_ADJACENT)
		put_round(w, "end_iter_mark", s->end_round);
	ut_py_put_u64(j, "start_cycle", w->log->rows[s->start].ts);
	if (rule->type == UT_TT_ADJACENT)
		put_round(w, "start_iter_mark", s->start_round);
	ut_py_close(j, '}');
}

static void write_analysis_put_result(struct writer *w, const struct ut_tt_result *r)
{
	const struct ut_tt_rule *rule = w->a->setup.rules[r->rule];
	struct ut_py_json *j = &w->j;

	ut_py_key(j, rule->name);
	ut_py_open(j, '{');
	ut_py_key(j, "analysis");
	ut_tt_put_rule(j, rule, w->log->zones);
	if (w->log->zones) {
		ut_py_key(j, "series");
		ut_py_open(j, '[');
		for (size_t i = 0; i < r->stats.count; i++)
			put_span(w, rule, &w->a->spans[r->span + i]);
		ut_py_close(j, ']');
	}
	write_analysis_put_stats(w, &r->stats, true);
	ut_py_close(j, '}');
}

static void put_scope(struct writer *w, const struct ut_tt_scope *scope)
{
	if (!scope->count)
		return;
	ut_py_key(&w->j, "analysis");
	ut_py_open(&w->j, '{');
	for (size_t i = 0; i < scope->count; i++)
		write_analysis_put_result(w, &w->a->results[scope->result + i]);
	ut_py_close(&w->j, '}');
}

static void put_summary(struct writer *w, const struct ut_tt_stats *summary)
{
	const struct ut_tt_setup *setup = &w->a->setup;
	bool any = false;

	for (size_t i = 0; i < setup->count; i++) {
		uint32_t rule = setup->by_name[i];

		if (!summary[rule].count)
			continue;
		if (!any) {
			ut_py_key(&w->j, "analysis");
			ut_py_open(&w->j, '{');
		}
		any = true;
		ut_py_key(&w->j, setup->rules[rule]->name);
		ut_py_open(&w->j, '{');
		ut_py_key(&w->j, "analysis");
		ut_tt_put_rule(&w->j, setup->rules[rule], w->log->zones);
		write_analysis_put_stats(w, &summary[rule], false);
		ut_py_close(&w->j, '}');
	}
	if (any)
		ut_py_close(&w->j, '}');
}

/* ---- ops, launches, events ----------------------------------------------------------------- */

/* One element of a list of ops. */
static void put_op(struct writer *w, const struct ut_tt_ops *ops, size_t op,
		   const struct ut_tt_scope *scope, int with)
{
	bool of_chip = with & WITH_CORE;

	ut_py_item(&w->j);
	ut_py_open(&w->j, '{');
	if (scope)
		put_scope(w, scope);
	if (of_chip) {
		ut_py_key(&w->j, "events");
		ut_py_open(&w->j, '{');
		ut_py_close(&w->j, '}');
	}
	write_analysis_put_rows(w, "timeseries", ops->rows + ops->first[op],
				ops->first[op + 1] - ops->first[op], with);
	ut_py_close(&w->j, '}');
}

static const struct ut_tt_dispatch *dispatch_of(const struct ut_tt_analysis *a, uint32_t core)
{
	size_t low = 0, high = a->dispatch_count; /* they are in the order of cores */

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (a->dispatch[mid].core < core)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->dispatch_count && a->dispatch[low].core == core ? &a->dispatch[low] : NULL;
}

static void put_core_ops(struct writer *w, uint32_t number)
{
	const struct ut_tt_core *core = &w->log->cores[number];
	const struct ut_tt_dispatch *d = core->dispatch ? dispatch_of(w->a, number) : NULL;
	struct ut_tt_ops own = { 0 };
	const struct ut_tt_ops *ops = d ? &d->ops : &own;

	if (!d && w->a->setup.detect_ops)
		ut_tt_ops_find(w->log, w->log->by_core + core->first, core->count, true, &own);
	ut_py_key(&w->j, "ops");
	ut_py_open(&w->j, '[');
	for (size_t i = 0; i < ops->count; i++)
		put_op(w, ops, i, d ? &d->scopes[i] : NULL, WITH_RISC);
	ut_py_close(&w->j, ']');
	ut_tt_ops_release(&own);
}

static void put_launches(struct writer *w, const struct ut_tt_core *core)
{
	const uint32_t *rows = w->log->by_core + core->first;
	uint32_t begin = 0;

	ut_py_key(&w->j, "launches");
	ut_py_open(&w->j, '[');
	while (begin < core->count && !ut_tt_begins_launch(w->log, rows[begin]))
		begin++;
	while (begin < core->count) {
		uint32_t end = begin + 1;

		while (end < core->count && !ut_tt_begins_launch(w->log, rows[end]))
			end++;
		write_analysis_put_rows(w, NULL, rows + begin, end - begin, WITH_RISC);
		begin = end;
	}
	ut_py_close(&w->j, ']');
}

/* Lists of rows; the rules that make them exist only across a chip. */
static void put_events(struct writer *w, const uint32_t *rows, size_t n)
{
	const struct ut_tt_setup *setup = &w->a->setup;

	ut_py_key(&w->j, "events");
	ut_py_open(&w->j, '{');
	for (size_t i = 0; rows && i < setup->count; i++) {
		uint32_t rule = setup->by_name[i];

		if (setup->rules[rule]->type != UT_TT_EVENT_LIST)
			continue;
		ut_py_key(&w->j, setup->rules[rule]->name);
		ut_py_open(&w->j, '[');
		for (size_t k = 0; k < n; k++) {
			if (ut_tt_starts(w->log, rows[k]) & 1u << rule)
				write_analysis_put_row(w, rows[k], WITH_RISC | WITH_CORE);
		}
		ut_py_close(&w->j, ']');
	}
	ut_py_close(&w->j, '}');
}

/* ---- cores --------------------------------------------------------------------------------- */

/* The whole of a core or a chip goes by this name among the RISCs. */
#define WHOLE "TENSIX"

/* A name to write things under, in order of names. */
struct named {
	struct ut_str name;
	uint32_t number; /* of a lane, a RISC, a core; UINT32_MAX = WHOLE */
};

static int by_text(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	return ut_str_cmp(a->name, b->name);
}

static void write_analysis_put_name(struct writer *w, const struct named *n)
{
	ut_py_item(&w->j);
	ut_out_json_str(w->j.out, n->name.ptr, n->name.len);
	ut_out_text(w->j.out, ": ");
	ut_py_open(&w->j, '{');
}

static void put_lane(struct writer *w, const struct ut_tt_lane *lane)
{
	ut_py_key(&w->j, "timeseries");
	ut_py_open(&w->j, '[');
	for (uint32_t i = 0; i < lane->count; i++)
		write_analysis_put_row(w, lane->first + i, 0);
	ut_py_close(&w->j, ']');
}

static void put_whole_core(struct writer *w, uint32_t number)
{
	const struct ut_tt_core *core = &w->log->cores[number];

	put_scope(w, &w->a->cores[number]);
	if (w->log->zones) {
		put_events(w, NULL, 0);
		put_core_ops(w, number);
	} else {
		put_launches(w, core);
	}
	write_analysis_put_rows(w, "timeseries", w->log->by_core + core->first, core->count,
				WITH_RISC);
}

static void put_core(struct writer *w, uint32_t number)
{
	const struct ut_tt_core *core = &w->log->cores[number];
	size_t n = core->lane_count + 1;
	struct named *names = ut_make(n * sizeof(*names));

	for (uint32_t i = 0; i < core->lane_count; i++) {
		uint32_t lane = core->lane + i;

		names[i].name = ut_tt_str(w->log, w->log->riscs[w->log->lanes[lane].risc].name);
		names[i].number = lane;
	}
	names[n - 1] = (struct named){ { WHOLE, strlen(WHOLE) }, UINT32_MAX };
	qsort(names, n, sizeof(*names), by_text);
	ut_py_key(&w->j, "riscs");
	ut_py_open(&w->j, '{');
	for (size_t i = 0; i < n; i++) {
		write_analysis_put_name(w, &names[i]);
		if (names[i].number == UINT32_MAX)
			put_whole_core(w, number);
		else
			put_lane(w, &w->log->lanes[names[i].number]);
		ut_py_close(&w->j, '}');
	}
	ut_py_close(&w->j, '}');
	free(names);
}

/* ---- chips --------------------------------------------------------------------------------- */

/* Rows of a chip in order of time, RISC by RISC; first[risc] up to first[risc + 1]. */
struct by_risc {
	uint32_t *rows, *first;
};

static void split_by_risc(const struct ut_tt_log *log, const struct ut_tt_chip *chip,
			  struct by_risc *s)
{
	uint32_t *next = ut_make((log->risc_count + 1) * sizeof(*next));

	s->rows = ut_make(((size_t)chip->count + 1) * sizeof(*s->rows));
	s->first = ut_make((log->risc_count + 2) * sizeof(*s->first));
	for (uint32_t i = 0; i < chip->count; i++)
		s->first[log->lanes[log->rows[chip->first + i].lane].risc + 1]++;
	for (size_t i = 1; i <= log->risc_count; i++)
		s->first[i] += s->first[i - 1];
	memcpy(next, s->first, (log->risc_count + 1) * sizeof(*next));
	for (uint32_t i = 0; i < chip->count; i++) {
		uint32_t row = log->by_chip[chip->first + i];

		s->rows[next[log->lanes[log->rows[row].lane].risc]++] = row;
	}
	free(next);
}

static void put_whole_chip(struct writer *w, const struct ut_tt_chip_results *c)
{
	const struct ut_tt_chip *chip = w->chip;
	const uint32_t *rows = w->log->by_chip + chip->first;

	put_scope(w, &c->device);
	if (w->log->zones) {
		ut_py_key(&w->j, "dispatch_ops");
		ut_py_open(&w->j, '[');
		for (size_t i = 0; i < c->dispatch_count; i++) {
			const struct ut_tt_dispatch_op *o = &c->dispatch_ops[i];
			const struct ut_tt_dispatch *d = &w->a->dispatch[o->dispatch];

			put_op(w, &d->ops, o->op, &d->scopes[o->op], WITH_RISC);
		}
		ut_py_close(&w->j, ']');
		put_events(w, rows, chip->count);
		ut_py_key(&w->j, "ops");
		ut_py_open(&w->j, '[');
		for (size_t i = 0; i < c->ops.count; i++)
			put_op(w, &c->ops, i, &c->op_scopes[i], WITH_RISC | WITH_CORE);
		ut_py_close(&w->j, ']');
	}
	write_analysis_put_rows(w, "timeseries", rows, chip->count, WITH_RISC | WITH_CORE);
}

static void write_analysis_put_device(struct writer *w, const struct ut_tt_chip_results *c)
{
	const struct ut_tt_log *log = w->log;
	struct named *names = ut_make((log->risc_count + 1) * sizeof(*names));
	struct by_risc split;
	size_t n = 0;

	split_by_risc(log, w->chip, &split);
	for (uint32_t i = 0; i < log->risc_count; i++) {
		if (split.first[i] < split.first[i + 1])
			names[n++] = (struct named){ ut_tt_str(log, log->riscs[i].name), i };
	}
	names[n++] = (struct named){ { WHOLE, strlen(WHOLE) }, UINT32_MAX };
	qsort(names, n, sizeof(*names), by_text);
	put_summary(w, c->summary);
	ut_py_key(&w->j, "riscs");
	ut_py_open(&w->j, '{');
	for (size_t i = 0; i < n; i++) {
		uint32_t risc = names[i].number;

		write_analysis_put_name(w, &names[i]);
		if (risc == UINT32_MAX)
			put_whole_chip(w, c);
		else
			write_analysis_put_rows(w, "timeseries", split.rows + split.first[risc],
						split.first[risc + 1] - split.first[risc],
						WITH_CORE);
		ut_py_close(&w->j, '}');
	}
	ut_py_close(&w->j, '}');
	free(split.rows);
	free(split.first);
	free(names);
}

static void put_metadata(struct writer *w)
{
	const struct ut_tt_lane *lane = &w->log->lanes[w->chip->t0_lane];
	struct ut_str risc = ut_tt_str(w->log, w->log->riscs[lane->risc].name);
	struct ut_py_json *j = &w->j;

	ut_py_key(j, "metadata");
	ut_py_open(j, '{');
	ut_py_key(j, "global_min");
	ut_py_open(j, '{');
	ut_py_put_str(j, "core", w->cores[lane->core].text);
	ut_py_key(j, "risc");
	ut_out_json_str(j->out, risc.ptr, risc.len);
	ut_py_put_u64(j, "ts", w->chip->t0);
	ut_py_close(j, '}');
	ut_py_close(j, '}');
}

static void put_chip(struct writer *w, uint32_t number)
{
	const struct ut_tt_chip *chip = &w->log->chips[number];
	struct named *names = ut_make(((size_t)chip->core_count + 1) * sizeof(*names));
	char id[16];

	w->chip = chip;
	for (uint32_t i = 0; i < chip->core_count; i++) {
		struct piece p = w->cores[chip->core + i];

		names[i] = (struct named){ { p.text, p.len }, chip->core + i };
	}
	qsort(names, chip->core_count, sizeof(*names), by_text);
	snprintf(id, sizeof(id), "%" PRId32, chip->id);
	ut_py_key(&w->j, id);
	ut_py_open(&w->j, '{');
	ut_py_key(&w->j, "cores");
	ut_py_open(&w->j, '{');
	for (uint32_t i = 0; i < chip->core_count; i++) {
		write_analysis_put_name(w, &names[i]);
		put_core(w, names[i].number);
		ut_py_close(&w->j, '}');
	}
	write_analysis_put_name(w, &(struct named){ { "DEVICE", 6 }, 0 });
	write_analysis_put_device(w, &w->a->chips[number]);
	ut_py_close(&w->j, '}');
	ut_py_close(&w->j, '}');
	if (!w->log->zones)
		put_metadata(w);
	ut_py_close(&w->j, '}');
	free(names);
}

struct numbered {
	int32_t id;
	uint32_t chip;
};

static int write_analysis_by_id(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

static void put_chips(struct writer *w)
{
	const struct ut_tt_log *log = w->log;
	struct numbered *chips = ut_make((log->chip_count + 1) * sizeof(*chips));

	for (uint32_t i = 0; i < log->chip_count; i++)
		chips[i] = (struct numbered){ log->chips[i].id, i };
	qsort(chips, log->chip_count, sizeof(*chips), write_analysis_by_id);
	ut_py_key(&w->j, "devices");
	ut_py_open(&w->j, '{');
	for (uint32_t i = 0; i < log->chip_count; i++)
		put_chip(w, chips[i].chip);
	ut_py_close(&w->j, '}');
	free(chips);
}

void ut_tt_write_analysis(const struct ut_tt_analysis *a, const struct ut_tt_about_run *run,
			  struct ut_out *out)
{
	struct writer w = { .j.out = out, .a = a, .log = a->log };
	struct ut_py_json *j = &w.j;

	make_pieces(&w);
	ut_py_open(j, '{');
	ut_py_key(j, "data");
	ut_py_open(j, '{');
	ut_py_key(j, "deviceInfo");
	ut_py_open(j, '{');
	ut_py_put_str(j, "arch", a->log->arch);
	ut_py_put_u64(j, "freq", a->log->mhz);
	if (a->log->max_cores >= 0)
		ut_py_put_i64(j, "max_compute_cores", a->log->max_cores);
	ut_py_close(j, '}');
	put_chips(&w);
	ut_py_close(j, '}');
	ut_py_key(j, "setup");
	ut_tt_put_setup(j, &a->setup, run);
	ut_py_close(j, '}');
	ut_arena_release(&w.arena);
}
