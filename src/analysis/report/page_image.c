#include "report/page_image.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/size.h"
#include "export/utr_write.h"
#include "model/arrows.h"
#include "model/counter.h"
#include "model/device_records.h"
#include "model/nesting.h"
#include "model/pyramid_lane.h"
#include "model/utr.h"
#include "model/utr_planes.h"
#include "text/out.h"
#include "view/lane_items.h"
#include "view/view_header.h"
#include "view/view_parts.h"

#define MAGIC        0x32495455u          /* "UTI2" */
#define COUNTER_MOST 200000u              /* samples of one counter */
#define SAMPLES_MOST 1000000u             /* of a profiler, in all traces */
#define WORDS_MOST   (UINT64_C(16) << 20) /* of arguments, in all traces */
#define ARGS_OF_ONE  256u                 /* arguments that need no memory of their own */

/* What a page holds of a view. */
struct page {
	struct ut_view *view;
	double pixel;    /* ns: of what is shorter, only the longest is here; 0 = everything is */
	bool thinned;    /* something is not */
	bool samples;    /* all samples of a profiler are here */
	bool args;       /* so are all arguments */
	uint64_t words;  /* of arguments that are here */
	uint64_t slices; /* and marks that are here, if not all are */
	struct ut_buf left; /* what is not in it, in a sentence */
};

/* ---- how much fits -------------------------------------------------------------------------- */

static uint64_t count_marks(const struct ut_view *v)
{
	uint64_t marks = 0;

	for (uint32_t i = 0; i < v->track_count; i++) {
		const struct ut_lanes *lanes = v->tracks[i].lanes;

		for (uint32_t n = 0; n < lanes->count; n++)
			marks += lanes->lanes[n].kind == UT_LANE_MARKS ? lanes->lanes[n].count : 0;
	}
	return marks;
}

uint64_t ut_page_too_many(const struct ut_view *v, uint64_t slices)
{
	uint64_t all = v->slices + count_marks(v);

	return all > slices ? all : 0;
}

static void draw_track(const struct ut_view *v, const struct ut_view_track *t, uint32_t lane,
		       double pixel, void (*item)(void *ctx, const struct ut_lane_item *item),
		       void *ctx)
{
	if (t->lanes->lanes[lane].kind <= UT_LANE_MARKS)
		ut_lane_items_draw(&(struct ut_lane_items){ t, lane, 0, (double)v->span + 1, pixel,
							    item, ctx });
}

static void count_item(void *ctx, const struct ut_lane_item *item)
{
	(void)item;
	++*(uint64_t *)ctx;
}

/* The finest resolution, in ns, at which there are no more items than may be. 0 = all fit. */
static double choose_pixel(const struct ut_view *v, uint64_t most)
{
	double low = 1, high = (double)v->span + 1;

	if (!ut_page_too_many(v, most))
		return 0;
	while (high / low > 1.05) {
		double mid = sqrt(low * high);
		uint64_t items = 0;

		for (uint32_t i = 0; i < v->track_count; i++) {
			const struct ut_view_track *t = &v->tracks[i];

			for (uint32_t n = 0; n < t->lanes->count && t->place != UT_NO_PLACE; n++)
				draw_track(v, t, n, mid, count_item, &items);
		}
		if (items > most)
			low = mid;
		else
			high = mid;
	}
	return high;
}

static void page_image_choose(struct page *p, uint64_t most)
{
	const struct ut_view *v = p->view;
	uint64_t samples = 0, words = 0;

	for (uint32_t i = 0; i < v->track_count; i++) {
		const struct ut_view_track *t = &v->tracks[i];

		for (uint64_t row = 0; row < t->rows->count && samples <= SAMPLES_MOST; row++) {
			const struct ut_block *b = &t->rows->blocks[row / UT_BLOCK_ROWS];
			uint32_t type = ut_view_type(t, b->type[row % UT_BLOCK_ROWS]);

			samples += v->classes[type] == UT_CLASS_SAMPLE;
		}
	}
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_arglists *l = &v->traces[i].store->args;

		words += l->chunk_count ? (l->chunk_count - 1) * (uint64_t)UT_ARG_CHUNK + l->used
					: 0;
	}
	p->pixel = choose_pixel(v, most);
	p->samples = samples <= SAMPLES_MOST;
	p->thinned = p->pixel > 0;
	p->args = !p->thinned && words <= WORDS_MOST;
	for (uint32_t i = 0; i < v->track_count; i++) {
		const struct ut_lanes *lanes = v->tracks[i].lanes;

		for (uint32_t n = 0; n < lanes->count; n++)
			p->args &= lanes->lanes[n].kind != UT_LANE_COUNTER ||
				   lanes->lanes[n].count <= COUNTER_MOST;
	}
}

/* ---- which rows ----------------------------------------------------------------------------- */

/* A bit for each row of a track. */
struct chosen {
	const struct ut_view_track *track;
	uint32_t lane;
	uint64_t *bits;
};

static bool is_kept(const uint64_t *bits, uint64_t row)
{
	return bits[row / 64] >> row % 64 & 1;
}

static void page_image_keep(uint64_t *bits, uint64_t row)
{
	bits[row / 64] |= UINT64_C(1) << row % 64;
}

/* Of those that share a pixel, the longest. */
static void keep_item(void *ctx, const struct ut_lane_item *item)
{
	struct chosen *c = ctx;
	const struct ut_view_track *t = c->track;
	uint64_t longest = 0, row = item->row;

	for (uint64_t i = item->first; item->row == UT_LANE_ITEM_MANY && i < item->next; i++) {
		struct ut_entry e;

		if (!ut_lane_entry(t->trace->store, t->local, c->lane, i, &e))
			continue;
		if (row != UT_LANE_ITEM_MANY && e.end - e.ts <= longest)
			continue;
		longest = e.end - e.ts;
		row = e.row;
	}
	if (row < UINT32_MAX)
		page_image_keep(c->bits, row);
}

/* Of too many samples of a counter, the least, the greatest and the last of equal pieces of time.
 */
static void keep_counter(const struct page *p, const struct chosen *c, const struct ut_lane *l)
{
	const struct ut_view_track *t = c->track;
	double piece = ((double)p->view->span + 1) / (COUNTER_MOST / 3.0);
	uint64_t low = 0, high = 0, last = 0, of = UINT64_MAX;
	double least = NAN, most = NAN;

	for (uint64_t i = 0; i < l->count; i++) {
		const struct ut_block *b;
		struct ut_entry e;
		uint64_t at;
		double value;

		if (!ut_entry_get(t->rows, l, i, &e))
			continue;
		at = (uint64_t)((double)ut_view_time(t, e.ts) / piece);
		if (l->count <= COUNTER_MOST || at != of) {
			if (of != UINT64_MAX) {
				page_image_keep(c->bits, low);
				page_image_keep(c->bits, high);
				page_image_keep(c->bits, last);
			}
			of = at;
			low = high = e.row;
			least = most = NAN;
		}
		b = &t->rows->blocks[e.row / UT_BLOCK_ROWS];
		value = ut_counter_value(b->val[e.row % UT_BLOCK_ROWS],
					 ut_store_type(t->trace->store, e.type)->flags);
		if (!(value >= least)) {
			least = isnan(value) ? least : value;
			low = isnan(value) ? low : e.row;
		}
		if (!(value <= most)) {
			most = isnan(value) ? most : value;
			high = isnan(value) ? high : e.row;
		}
		last = e.row;
	}
	if (of != UINT64_MAX) {
		page_image_keep(c->bits, low);
		page_image_keep(c->bits, high);
		page_image_keep(c->bits, last);
	}
}

/* The ends of async spans; all of a track where spans end with those around them. */
static void keep_ends(struct ut_view *v, const struct chosen *c)
{
	const struct ut_view_track *t = c->track;
	const struct ut_async_end *ends = NULL;
	bool all = false;

	for (int pass = 0; pass < 2; pass++) {
		for (uint64_t row = 0; row < t->rows->count; row++) {
			const struct ut_block *b = &t->rows->blocks[row / UT_BLOCK_ROWS];
			uint32_t type = ut_view_type(t, b->type[row % UT_BLOCK_ROWS]);

			if (v->classes[type] != UT_CLASS_ASYNC || (!all && !is_kept(c->bits, row)))
				continue;
			ends = ends ? ends : ut_view_ends(v, t);
			page_image_keep(c->bits, row);
			all |= !ends[row].row && ends[row].ts != UINT64_MAX;
			if (ends[row].row)
				page_image_keep(c->bits, ends[row].row - 1);
		}
		if (!all)
			break;
	}
}

static void choose_rows(const struct page *p, const struct chosen *c)
{
	const struct ut_view *v = p->view;
	const struct ut_view_track *t = c->track;
	bool shown = t->place != UT_NO_PLACE;

	for (uint64_t row = 0; row < t->rows->count; row++) {
		const struct ut_block *b = &t->rows->blocks[row / UT_BLOCK_ROWS];
		uint32_t type = ut_view_type(t, b->type[row % UT_BLOCK_ROWS]);
		uint8_t class = v->classes[type];
		uint8_t kind = ut_store_type(t->trace->store, b->type[row % UT_BLOCK_ROWS])->kind;

		if (class == UT_CLASS_SAMPLE ? p->samples : class != UT_CLASS_NONE && !p->thinned)
			page_image_keep(c->bits, row);
		else if (kind == UT_KIND_ASYNC_END && !p->thinned)
			page_image_keep(c->bits, row);
	}
	for (uint32_t n = 0; shown && n < t->lanes->count; n++) {
		struct chosen of = { t, n, c->bits };

		if (t->lanes->lanes[n].kind == UT_LANE_COUNTER)
			keep_counter(p, c, &t->lanes->lanes[n]);
		else if (p->thinned)
			draw_track(v, t, n, p->pixel, keep_item, &of);
	}
	if (p->thinned)
		keep_ends(p->view, c);
}

/* A flow is here if all spans are here that it goes through: part of it would be another flow. */
static void choose_flows(const struct ut_store *s, uint64_t *const *bits)
{
	struct ut_arrows arrows = { 0 };

	if (!ut_arrows_any(s))
		return;
	ut_arrows_make(&arrows, s, NULL);
	for (size_t first = 0, next; first < arrows.end_count; first = next) {
		bool whole = true;

		for (next = first; next < arrows.end_count &&
				   arrows.ends[next].number == arrows.ends[first].number;
		     next++) {
			const struct ut_arrow_end *e = &arrows.ends[next];

			whole &= e->slice == UT_NO_SLICE || is_kept(bits[e->track], e->slice);
		}
		for (size_t i = first; whole && i < next; i++)
			page_image_keep(bits[arrows.ends[i].track], arrows.ends[i].row);
	}
	ut_arrows_release(&arrows);
}

/* ---- a store of fewer rows ------------------------------------------------------------------ */

/* A copy without what can be made of the rows again: less to carry. */
static struct ut_store without_more(const struct ut_store *store)
{
	static struct ut_device_records none;
	struct ut_store bare = *store;

	bare.pyramid = NULL;
	bare.devices = &none;
	return bare;
}

static uint32_t copy_args(struct page *p, const struct ut_arglists *from, uint32_t list,
			  struct ut_arglists *to)
{
	struct ut_arg some[ARGS_OF_ONE], *args = some;
	size_t count = list ? ut_arglists_get(from, list, some, ARGS_OF_ONE) : 0;
	uint32_t copy;

	if (!count)
		return 0;
	p->words += 1 + 2 * count;
	if (p->words > WORDS_MOST)
		return 0;
	if (count > ARGS_OF_ONE) {
		args = ut_make(count * sizeof(*args));
		ut_arglists_get(from, list, args, count);
	}
	copy = ut_arglists_add(to, args, count);
	if (args != some)
		free(args);
	return copy;
}

static void copy_rows(struct page *p, const struct ut_view_track *t, const uint64_t *bits,
		      struct ut_rows *to, struct ut_arglists *args)
{
	const struct ut_arglists *from = &t->trace->store->args;
	const struct ut_rows *rows = t->rows;
	uint64_t left;
	size_t block = 0;
	uint32_t at = 0;
	char *room;

	*to = (struct ut_rows){ .first = rows->first, .last = rows->last };
	for (uint64_t row = 0; row < rows->count; row++)
		to->count += is_kept(bits, row);
	to->blocks = ut_make((ut_rows_blocks(to) + 1) * sizeof(*to->blocks));
	room = to->count ? ut_make((size_t)to->count * UT_UTR_ROW) : NULL; /* its first block's */
	left = to->count;
	for (size_t i = 0; left; i++) {
		uint32_t n = left < UT_BLOCK_ROWS ? (uint32_t)left : UT_BLOCK_ROWS;
		uint64_t *ts = (uint64_t *)(void *)room, *val = ts + n;
		uint32_t *type = (uint32_t *)(val + n);

		to->blocks[i] = (struct ut_block){ ts, val, type, type + n, n };
		room += (size_t)n * UT_UTR_ROW;
		left -= n;
	}
	for (uint64_t row = 0; row < rows->count; row++) {
		const struct ut_block *b = &rows->blocks[row / UT_BLOCK_ROWS], *o;
		uint32_t i = (uint32_t)(row % UT_BLOCK_ROWS);

		if (!is_kept(bits, row))
			continue;
		p->slices += p->view->classes[ut_view_type(t, b->type[i])] != UT_CLASS_NONE;
		o = &to->blocks[block];
		((uint64_t *)(uintptr_t)o->ts)[at] = b->ts[i];
		((uint64_t *)(uintptr_t)o->val)[at] = b->val[i];
		((uint32_t *)(uintptr_t)o->type)[at] = b->type[i];
		((uint32_t *)(uintptr_t)o->args)[at] = copy_args(p, from, b->args[i], args);
		if (++at == o->count) {
			block++;
			at = 0;
		}
	}
}

/* The image of a trace with the rows that are chosen. */
static void put_some(struct page *p, const struct ut_view_trace *t, struct ut_out *out)
{
	struct ut_store *from = t->store, some = without_more(from);
	size_t tracks = from->trace.track_count;
	uint64_t **bits = ut_make((tracks + 1) * sizeof(*bits));

	some.row_count = 0;
	some.rows = ut_make((tracks + 1) * sizeof(*some.rows));
	ut_arglists_init(&some.args);
	for (uint32_t i = 0; i < tracks; i++) {
		struct chosen c = { &p->view->tracks[t->first_track + i], 0, NULL };

		bits[i] = c.bits = ut_make((from->rows[i].count / 64 + 1) * sizeof(*c.bits));
		choose_rows(p, &c);
	}
	choose_flows(from, bits);
	for (uint32_t i = 0; i < tracks; i++) {
		copy_rows(p, &p->view->tracks[t->first_track + i], bits[i], &some.rows[i],
			  &some.args);
		some.row_count += some.rows[i].count;
		free(bits[i]);
	}
	ut_utr_write(&some, out);
	for (uint32_t i = 0; i < tracks; i++) {
		if (some.rows[i].count)
			free((void *)(uintptr_t)some.rows[i].blocks[0].ts);
		free(some.rows[i].blocks);
	}
	free(some.rows);
	free(bits);
	ut_arglists_release(&some.args);
}

static struct ut_out *make_image(struct page *p, const struct ut_view_trace *t)
{
	struct ut_out *out = ut_out_open_memory();
	const char *image;
	size_t len;

	if (p->args) {
		struct ut_store all = without_more(t->store);

		ut_utr_write(&all, out);
	} else {
		put_some(p, t, out);
	}
	image = ut_out_data(out, &len);
	ut_utr_split_rows((void *)(uintptr_t)image, len);
	return out;
}

/* ---- the head ------------------------------------------------------------------------------- */

/* What fewer rows cannot tell: the server's own answer about everything. */
static void put_whole(struct ut_view *v, const char *method, const char *before, struct ut_out *out)
{
	struct ut_out *whole = ut_out_open_memory();
	struct ut_err err = { 0 };
	enum ut_answer kind;
	const char *json;
	size_t len;

	if (!ut_view_ask(v, method, ut_str_of("{\"scope\":{}}"), whole, &kind, &err)) {
		json = ut_out_data(whole, &len);
		ut_out_fmt(out, "%s\"%s\":", before, method);
		ut_out_write(out, json, len);
	}
	ut_out_abandon(whole);
}

static void put_groups(const struct ut_view_trace *t, struct ut_out *out)
{
	const char *between = "";

	ut_out_text(out, ",\"groups\":[");
	for (uint32_t i = 0; t->groups && i < t->store->trace.track_count; i++) {
		if (!t->groups[i])
			continue;
		ut_out_fmt(out, "%s[%" PRIu32 ",", between, i);
		ut_out_json_str(out, t->groups[i], strlen(t->groups[i]));
		ut_out_text(out, "]");
		between = ",";
	}
	ut_out_text(out, "]");
}

static void page_image_put_head(struct page *p, struct ut_out *const *images, struct ut_out *out)
{
	struct ut_view *v = p->view;
	struct ut_view_header intro = { .left = p->left.len ? p->left.data : NULL,
					.slices = v->slices,
					.samples = v->samples,
					.types = v->type_count };

	ut_out_text(out, "{\"info\":");
	ut_view_header_info(v, &intro, out);
	ut_out_text(out, ",\"whole\":{");
	if (p->thinned)
		put_whole(v, "aggregate", "", out);
	if (!p->samples)
		put_whole(v, "stacks", p->thinned ? "," : "", out);
	ut_out_text(out, "},\"traces\":[");
	for (size_t i = 0; i < v->trace_count; i++) {
		size_t len;

		ut_out_data(images[i], &len);
		ut_out_fmt(out, "%s{\"bytes\":%zu", i ? "," : "", len);
		put_groups(&v->traces[i], out);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "]}");
}

static void report_left(struct page *p)
{
	uint64_t all = p->view->slices + count_marks(p->view);
	char time[32];

	if (p->thinned)
		ut_buf_fmt(&p->left,
			   "%" PRIu64 " of %" PRIu64 " slices were left out to keep this page "
			   "small: where several share %s of a lane, the longest is here",
			   all - p->slices, all,
			   ut_time_text(time, sizeof(time), (uint64_t)p->pixel));
	if (p->words > WORDS_MOST)
		ut_buf_text(&p->left,
			    p->left.len ? "; some arguments were left out, too"
					: "some arguments were left out to keep this page small");
}

/* ---- all of it ------------------------------------------------------------------------------ */

int ut_page_image(struct ut_view *v, uint64_t slices, ut_page_put put, void *ctx)
{
	struct page p = { .view = v };
	struct ut_out **images = ut_make((v->trace_count + 1) * sizeof(struct ut_out *));
	struct ut_out *head = ut_out_open_memory();
	uint32_t words[2] = { MAGIC, 0 };
	const char *data;
	size_t len;
	int rc;

	page_image_choose(&p, slices);
	for (size_t i = 0; i < v->trace_count; i++)
		images[i] = make_image(&p, &v->traces[i]);
	report_left(&p);
	page_image_put_head(&p, images, head);
	data = ut_out_data(head, &len);
	words[1] = (uint32_t)len;
	rc = put(ctx, words, sizeof(words), 0);
	rc = rc ? rc : put(ctx, data, len, v->trace_count == 0);
	for (size_t i = 0; i < v->trace_count; i++) {
		data = ut_out_data(images[i], &len);
		rc = rc ? rc : put(ctx, data, len, i + 1 == v->trace_count);
		ut_out_abandon(images[i]);
	}
	ut_out_abandon(head);
	ut_buf_release(&p.left);
	free(images);
	return rc;
}
