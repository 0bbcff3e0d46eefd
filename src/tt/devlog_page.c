#include "tt/devlog_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "text/embed.h"
#include "text/html.h"
#include "text/out.h"
#include "tt/bars.h"
#include "tt/write_devlog.h"

UT_EMBED(ut_tt_page_js, "devlog.js");

#define MOST_LAUNCHES 10000 /* of a chip, about */

/*
 * The data of the page, for web/devlog.js:
 *
 *   arch, mhz, zones, rows, bars_all     the last: how many there are, drawn together or not
 *   within  cycles                       within which bars are drawn together, at most; 0 = none
 *   riscs   [name]                       kinds of bars are 0 idle, 1 firmware, 2 kernel, 3 user
 *   labels  [[text, kind]]
 *   ops     [number]                     as the host counts; a bar's op is an index + 1
 *   chips   [{id, t0, shift, cores: [[x, y]], lanes: [[core, risc, bars, bytes, levels, end]],
 *           launches: [[core, cycles since t0]], stats: [[name, count, average, max, median, min,
 *           sum]]}]
 *   by_zone [[label, risc, count, sum, min, max]]
 *   bars    base64; per lane, per bar: start since the one before (the first: since t0 of the
 *           page), cycles, label * 2, depth, op; each 7 bits a byte, low ones first. Where several
 *           bars are drawn as one, label * 2 + 1, and how many behind the op.
 */
struct page {
	const struct ut_tt_analysis *a;
	const struct ut_tt_log *log;
	const struct ut_tt_alignment *align;
	struct ut_out *json;
	uint64_t t0; /* the earliest time, shifted: everything counts from here */
	struct ut_tt_bars bars;
	size_t share;        /* most bars of a lane */
	uint64_t all;        /* bars before some were joined */
	uint64_t within;     /* see above */
	struct ut_buf bytes; /* of bars */
	/* labels and ops that have been met, in order */
	struct ut_arena arena;
	struct ut_idmap label_map, op_map, zone_map;
	struct ut_buf labels, ops;
	uint32_t label_count, op_count;
	struct zone *zones;
	size_t zone_count, zone_cap;
};

/* All bars of one label on one kind of RISC. */
struct zone {
	uint32_t label, risc;
	uint64_t count, sum, min, max;
};

/* ---- small parts --------------------------------------------------------------------------- */

static void put_base64(struct ut_out *out, const unsigned char *p, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);
		char *to = ut_out_reserve(out, 4);

		to[0] = digits[v >> 18];
		to[1] = digits[v >> 12 & 63];
		to[2] = left > 1 ? digits[v >> 6 & 63] : '=';
		to[3] = left > 2 ? digits[v & 63] : '=';
		ut_out_advance(out, to + 4);
	}
}

static void add_varint(struct ut_buf *b, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	while (v > 127) {
		bytes[n++] = (char)(v | 128);
		v >>= 7;
	}
	bytes[n++] = (char)v;
	ut_buf_add(b, bytes, n);
}

static void add_json_text(struct ut_buf *to, const char *s, size_t len)
{
	struct ut_out *out = ut_out_open_memory();
	const char *data;
	size_t n;

	ut_out_json_str(out, s, len);
	data = ut_out_data(out, &n);
	ut_buf_add(to, data, n);
	ut_out_abandon(out);
}

/* What tells labels apart: the marks at both ends, or the zone. */
static uint64_t label_key(const struct page *p, const struct ut_tt_bar *bar)
{
	const struct ut_tt_mark *from = &p->log->marks[p->log->rows[bar->row].mark];

	if (p->log->zones)
		return (uint64_t)from->zone + 1;
	return ((uint64_t)p->log->rows[bar->row].mark << 32 | p->log->rows[bar->end_row].mark) + 1;
}

static uint32_t label_of(struct page *p, const struct ut_tt_bar *bar)
{
	uint64_t key = label_key(p, bar);
	uint32_t number = ut_idmap_get(&p->label_map, key);
	struct ut_buf text = { 0 };

	if (number)
		return number - 1;
	ut_tt_bar_label(p->log, bar, !p->log->zones, &text);
	ut_buf_text(&p->labels, p->label_count ? "," : "");
	ut_buf_char(&p->labels, '[');
	add_json_text(&p->labels, text.data ? text.data : "", text.len);
	ut_buf_fmt(&p->labels, ",%u]", bar->kind);
	ut_buf_release(&text);
	ut_idmap_put(&p->label_map, key, ++p->label_count);
	return p->label_count - 1;
}

static uint32_t op_of(struct page *p, const struct ut_tt_bar *bar)
{
	uint64_t host = p->log->marks[p->log->rows[bar->row].mark].host;
	uint32_t number;

	if (!host)
		return 0;
	number = ut_idmap_get(&p->op_map, host);
	if (!number) {
		ut_buf_fmt(&p->ops, "%s%" PRIu64, p->op_count ? "," : "", host);
		number = ++p->op_count;
		ut_idmap_put(&p->op_map, host, number);
	}
	return number;
}

/* ---- lanes --------------------------------------------------------------------------------- */

static struct zone *find_zone(struct page *p, uint32_t label, uint32_t risc)
{
	uint64_t key = (uint64_t)label << 32 | risc;
	uint32_t number = ut_idmap_get(&p->zone_map, key);

	if (!number) {
		p->zones = ut_grow(p->zones, p->zone_count + 1, &p->zone_cap, sizeof(*p->zones));
		p->zones[p->zone_count++] =
			(struct zone){ .label = label, .risc = risc, .min = UINT64_MAX };
		number = (uint32_t)p->zone_count;
		ut_idmap_put(&p->zone_map, key, number);
	}
	return &p->zones[number - 1];
}

static void count_bars(struct page *p, uint32_t risc)
{
	for (size_t i = 0; i < p->bars.count; i++) {
		const struct ut_tt_bar *bar = &p->bars.items[i];
		struct zone *z = find_zone(p, label_of(p, bar), risc);

		z->count++;
		z->sum += bar->cycles;
		z->min = bar->cycles < z->min ? bar->cycles : z->min;
		z->max = bar->cycles > z->max ? bar->cycles : z->max;
	}
}

/*
 * When the clocks of chips are brought together, what began before the page does is clipped: T0 of
 * an old log may be that of another chip.
 */
static void shift_bar(const struct page *p, struct ut_tt_bar *bar, int64_t shift)
{
	uint64_t start = bar->start + (uint64_t)shift;
	bool below = shift < 0 && bar->start < -(uint64_t)shift;

	if (below || start < p->t0) {
		uint64_t cut = p->t0 - start;

		bar->cycles = bar->cycles > cut ? bar->cycles - cut : 0;
		start = p->t0;
	}
	bar->start = start;
}

static void add_bars(struct page *p)
{
	uint64_t last = p->t0;

	for (size_t i = 0; i < p->bars.count; i++) {
		const struct ut_tt_bar *bar = &p->bars.items[i];
		uint64_t start = bar->start;
		bool several = bar->count > 1;

		add_varint(&p->bytes, start - last);
		add_varint(&p->bytes, bar->cycles);
		add_varint(&p->bytes, (uint64_t)label_of(p, bar) * 2 + several);
		add_varint(&p->bytes, bar->depth);
		add_varint(&p->bytes, op_of(p, bar));
		if (several)
			add_varint(&p->bytes, bar->count);
		last = start;
	}
}

/* RISCs in the order in which people look for them, others behind. */
static int risc_rank(const struct ut_tt_log *log, uint32_t risc)
{
	static const char *const order[] = { "BRISC",   "NCRISC",  "TRISC_0",
					     "TRISC_1", "TRISC_2", "ERISC" };

	for (int i = 0; i < 6; i++) {
		if (ut_tt_is(log, log->riscs[risc].name, order[i]))
			return i;
	}
	return 6 + (int)risc;
}

static void put_lane(struct page *p, uint32_t lane, uint32_t core, int64_t shift, const char **sep)
{
	const struct ut_tt_lane *l = &p->log->lanes[lane];
	size_t before = p->bytes.len;
	uint64_t within, end = 0;
	uint32_t depth = 0;

	if (p->log->zones)
		ut_tt_bars_spans(&p->bars, p->log, l);
	else
		ut_tt_bars_gaps(&p->bars, p->log, l);
	p->all += p->bars.count;
	count_bars(p, l->risc);
	within = ut_tt_bars_thin(&p->bars, p->share);
	p->within = within > p->within ? within : p->within;
	for (size_t i = 0; i < p->bars.count; i++)
		shift_bar(p, &p->bars.items[i], shift);
	add_bars(p);
	for (size_t i = 0; i < p->bars.count; i++) {
		const struct ut_tt_bar *bar = &p->bars.items[i];
		uint64_t its = bar->start - p->t0 + bar->cycles;

		end = its > end ? its : end;
		depth = bar->depth > depth ? bar->depth : depth;
	}
	ut_out_fmt(p->json, "%s[%" PRIu32 ",%" PRIu32 ",%zu,%zu,%" PRIu32 ",%" PRIu64 "]", *sep,
		   core, l->risc, p->bars.count, p->bytes.len - before, depth + 1, end);
	*sep = ",";
}

/* The lanes of a core by the rank of their RISC. There are few. */
static void put_core_lanes(struct page *p, uint32_t number, uint32_t core, int64_t shift,
			   const char **sep)
{
	const struct ut_tt_core *c = &p->log->cores[core];
	int done = -1;

	for (;;) {
		uint32_t best = UINT32_MAX;
		int best_rank = INT32_MAX;

		for (uint32_t i = c->lane; i < c->lane + c->lane_count; i++) {
			int rank = risc_rank(p->log, p->log->lanes[i].risc);

			if (rank > done && rank < best_rank) {
				best = i;
				best_rank = rank;
			}
		}
		if (best == UINT32_MAX)
			return;
		put_lane(p, best, number, shift, sep);
		done = best_rank;
	}
}

/* ---- chips --------------------------------------------------------------------------------- */

/* Where there are very many, those of a core that lie close together are not all told. */
static void put_launches(struct page *p, const struct ut_tt_chip *chip, const uint32_t *cores)
{
	const uint32_t *rows = p->log->by_chip + chip->first;
	uint64_t span = p->log->rows[rows[chip->count - 1]].ts - p->log->rows[rows[0]].ts;
	uint64_t apart = chip->count > MOST_LAUNCHES
				 ? span / (MOST_LAUNCHES / (chip->core_count + 1) + 1) + 1
				 : 0;
	const char *sep = "";

	ut_out_text(p->json, "],\"launches\":[");
	for (uint32_t i = 0; !p->log->zones && i < chip->core_count; i++) {
		const struct ut_tt_core *c = &p->log->cores[cores[i]];
		uint64_t next = 0;

		for (uint32_t k = 0; k < c->count; k++) {
			uint32_t row = p->log->by_core[c->first + k];
			uint64_t since = p->log->rows[row].ts - chip->t0;

			if (since < next || !ut_tt_begins_launch(p->log, row))
				continue;
			ut_out_fmt(p->json, "%s[%" PRIu32 ",%" PRIu64 "]", sep, i, since);
			sep = ",";
			next = since + apart;
		}
	}
}

static void put_stats(struct page *p, const struct ut_tt_stats *summary)
{
	const char *sep = "";

	ut_out_text(p->json, "],\"stats\":[");
	for (size_t i = 0; i < p->a->setup.count; i++) {
		const struct ut_tt_stats *st = &summary[i];
		const char *name = p->a->setup.rules[i]->name;

		if (!st->count)
			continue;
		ut_out_fmt(p->json, "%s[", sep);
		ut_out_json_str(p->json, name, strlen(name));
		ut_out_fmt(p->json, ",%" PRIu64 ",", st->count);
		ut_out_json_double(p->json, st->average);
		ut_out_fmt(p->json, ",%" PRId64 ",", st->max);
		ut_out_json_double(p->json, st->median);
		ut_out_fmt(p->json, ",%" PRId64 ",%" PRId64 "]", st->min, st->sum);
		sep = ",";
	}
	ut_out_text(p->json, "]}");
}

static void put_chip(struct page *p, uint32_t number)
{
	const struct ut_tt_chip *chip = &p->log->chips[number];
	int64_t shift = p->align->shift[number];
	uint32_t *cores = ut_tt_cores_by_place(p->log, chip);
	const char *sep = "";

	ut_out_fmt(p->json,
		   "{\"id\":%" PRId32 ",\"t0\":%" PRIu64 ",\"shift\":%" PRId64 ",\"cores\":[",
		   chip->id, chip->t0, (int64_t)(chip->t0 + (uint64_t)shift - p->t0));
	for (uint32_t i = 0; i < chip->core_count; i++)
		ut_out_fmt(p->json, "%s[%" PRId32 ",%" PRId32 "]", i ? "," : "",
			   p->log->cores[cores[i]].x, p->log->cores[cores[i]].y);
	ut_out_text(p->json, "],\"lanes\":[");
	for (uint32_t i = 0; i < chip->core_count; i++)
		put_core_lanes(p, i, cores[i], shift, &sep);
	put_launches(p, chip, cores);
	put_stats(p, p->a->chips[number].summary);
	free(cores);
}

/* ---- the page ------------------------------------------------------------------------------ */

static void put_riscs(struct page *p)
{
	ut_out_text(p->json, ",\"riscs\":[");
	for (size_t i = 0; i < p->log->risc_count; i++) {
		struct ut_str name = ut_tt_str(p->log, p->log->riscs[i].name);

		ut_out_text(p->json, i ? "," : "");
		ut_out_json_str(p->json, name.ptr, name.len);
	}
	ut_out_text(p->json, "]");
}

static void put_zones(struct page *p)
{
	ut_out_text(p->json, "],\"by_zone\":[");
	for (size_t i = 0; i < p->zone_count; i++) {
		const struct zone *z = &p->zones[i];

		ut_out_fmt(p->json,
			   "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			   "]",
			   i ? "," : "", z->label, z->risc, z->count, z->sum, z->min, z->max);
	}
}

static void find_t0(struct page *p, uint32_t from, uint32_t to)
{
	bool together = to - from > 1 && p->align->used != UT_TT_ALIGN_NONE;

	p->t0 = UINT64_MAX;
	for (uint32_t i = from; i < to; i++) {
		const struct ut_tt_chip *c = &p->log->chips[i];
		uint64_t first = together ? ut_tt_first_own_time(p->log, i)
					  : p->log->rows[p->log->by_chip[c->first]].ts;

		first += (uint64_t)p->align->shift[i];
		p->t0 = first < p->t0 ? first : p->t0;
	}
}

static void put_data(struct page *p, uint32_t from, uint32_t to)
{
	const char *arch = p->log->arch;

	ut_out_text(p->json, "{\"arch\":");
	ut_out_json_str(p->json, arch, strlen(arch));
	ut_out_fmt(p->json, ",\"mhz\":%" PRIu64 ",\"zones\":%s,\"rows\":%zu", p->log->mhz,
		   p->log->zones ? "true" : "false", p->log->row_count);
	put_riscs(p);
	ut_out_text(p->json, ",\"chips\":[");
	for (uint32_t i = from; i < to; i++) {
		ut_out_text(p->json, i > from ? "," : "");
		put_chip(p, i);
	}
	ut_out_text(p->json, "],\"labels\":[");
	ut_out_write(p->json, p->labels.data, p->labels.len);
	ut_out_text(p->json, "],\"ops\":[");
	ut_out_write(p->json, p->ops.data, p->ops.len);
	put_zones(p);
	ut_out_fmt(p->json, "],\"bars_all\":%" PRIu64 ",\"within\":%" PRIu64 ",\"bars\":\"", p->all,
		   p->within);
	put_base64(p->json, (const unsigned char *)p->bytes.data, p->bytes.len);
	ut_out_text(p->json, "\"}\n");
}

/* Of the chips from one up to another. */
static size_t lanes_of(const struct ut_tt_log *log, uint32_t from, uint32_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < log->lane_count; i++) {
		uint32_t chip = log->cores[log->lanes[i].core].chip;

		n += chip >= from && chip < to;
	}
	return n;
}

void ut_tt_write_page(const struct ut_tt_analysis *a, const struct ut_tt_alignment *align,
		      uint32_t chip, size_t most, struct ut_out *out)
{
	struct page p = { .a = a, .log = a->log, .align = align, .json = ut_out_open_memory() };
	bool all = chip == UT_TT_ALL_CHIPS;
	uint32_t from = all ? 0 : chip, to = all ? (uint32_t)a->log->chip_count : chip + 1;
	const char *json;
	size_t len;

	ut_idmap_init(&p.label_map, &p.arena);
	ut_idmap_init(&p.op_map, &p.arena);
	ut_idmap_init(&p.zone_map, &p.arena);
	p.share = most / (lanes_of(a->log, from, to) + 1);
	find_t0(&p, from, to);
	put_data(&p, from, to);
	json = ut_out_data(p.json, &len);
	ut_html_begin(out, "Device profile");
	ut_html_data(out, "data", json, len);
	ut_html_end(out, ut_tt_page_js);
	ut_out_abandon(p.json);
	ut_tt_bars_release(&p.bars);
	ut_buf_release(&p.bytes);
	ut_buf_release(&p.labels);
	ut_buf_release(&p.ops);
	free(p.zones);
	ut_arena_release(&p.arena);
}
