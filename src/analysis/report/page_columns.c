#include "report/page_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/size.h"
#include "base/sort.h"
#include "model/counter.h"
#include "model/pyramid_lane.h"
#include "text/out.h"
#include "view/arguments.h"
#include "view/arrow_list.h"
#include "view/intro.h"
#include "view/strips.h"
#include "view/view_parts.h"

#define MAGIC        0x31495455u /* "UTI1" */
#define SAMPLES_MOST 200000u     /* of one counter */
#define ARGS_MOST    (32u << 20) /* bytes of all arguments, before they are deflated */
#define NOT_KEPT     UINT32_MAX
#define FLUSH        65536u

/* One track of the page: slices and marks, or one counter. */
struct track {
	const struct ut_view_track *of;
	uint32_t place;
	bool counter;
	uint32_t *rows; /* that are kept, in order */
	size_t count, cap;
	size_t numbered; /* of a counter: samples */
};

struct text {
	uint64_t hash;
	size_t at, len;
	uint32_t number; /* 0 = the slot is free */
};

struct columns {
	struct ut_view *view;
	ut_page_put put;
	void *ctx;
	int rc;
	struct ut_buf bytes; /* on their way out */
	struct track *tracks;
	size_t track_count, track_cap;
	uint32_t *types; /* of the view -> of the page */
	uint32_t *used;  /* of the page -> of the view */
	uint32_t type_count;
	uint64_t slices, samples, marks;
	struct ut_buf args; /* texts, a line each */
	uint32_t arg_count;
	struct text *texts;
	size_t text_mask;
	bool args_full;
	bool thinned;       /* slices are left out */
	struct ut_buf left; /* what is not in it, in a sentence */
};

/* ---- bytes ---------------------------------------------------------------------------------- */

static void flush(struct columns *c, int last)
{
	if (!c->rc && (c->bytes.len || last))
		c->rc = c->put(c->ctx, c->bytes.data ? c->bytes.data : "", c->bytes.len, last);
	c->bytes.len = 0;
}

static void put_bytes(struct columns *c, const void *data, size_t len)
{
	ut_buf_add(&c->bytes, data, len);
	if (c->bytes.len >= FLUSH)
		flush(c, 0);
}

#define NUMBER_ROOM 10u /* bytes of the largest */

static char *write_number(char *p, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		*p++ = (char)((value & 127) | 128);
	*p++ = (char)value;
	return p;
}

/* A page has some for each slice: nobody is called while there is room. */
static inline void put_number(struct columns *c, uint64_t value)
{
	if (c->bytes.cap - c->bytes.len < NUMBER_ROOM)
		ut_buf_reserve(&c->bytes, FLUSH + NUMBER_ROOM);
	c->bytes.len = (size_t)(write_number(c->bytes.data + c->bytes.len, value) - c->bytes.data);
	if (c->bytes.len >= FLUSH)
		flush(c, 0);
}

/* ---- which rows ----------------------------------------------------------------------------- */

static bool has_slices(const struct ut_lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++) {
		if (lanes->lanes[i].kind <= UT_LANE_MARKS)
			return true;
	}
	return false;
}

/* The lane of the counter of a track; NULL = it has none. */
static const struct ut_lane *counter_of(const struct ut_lanes *lanes)
{
	const struct ut_lane *last = lanes->count ? &lanes->lanes[lanes->count - 1] : NULL;

	return last && last->kind == UT_LANE_COUNTER ? last : NULL;
}

static void list_tracks(struct columns *c)
{
	for (uint32_t i = 0; i < c->view->place_count; i++) {
		uint32_t number = c->view->places[i].track;
		const struct ut_view_track *t;

		if (number == UT_NO_TRACK)
			continue;
		t = &c->view->tracks[number];
		for (int counter = 0; counter < 2; counter++) {
			if (counter ? !counter_of(t->lanes) : !has_slices(t->lanes))
				continue;
			c->tracks = ut_grow(c->tracks, c->track_count + 1, &c->track_cap,
					    sizeof(*c->tracks));
			c->tracks[c->track_count++] =
				(struct track){ .of = t, .place = i, .counter = counter };
		}
	}
}

static void draw_lanes(struct columns *c, double pixel,
		       void (*item)(void *ctx, const struct ut_strip_item *item), void *ctx)
{
	for (uint32_t i = 0; i < c->view->track_count; i++) {
		const struct ut_view_track *t = &c->view->tracks[i];

		for (uint32_t lane = 0; lane < t->lanes->count; lane++) {
			if (t->lanes->lanes[lane].kind > UT_LANE_MARKS || t->place == UT_NO_PLACE)
				continue;
			ut_strip_draw(&(struct ut_strip){ t, lane, 0, (double)c->view->span + 1,
							  pixel, item, ctx });
		}
	}
}

static void count_item(void *ctx, const struct ut_strip_item *item)
{
	(void)item;
	++*(uint64_t *)ctx;
}

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

/* The finest resolution, in ns, at which there are no more items than may be. 0 = all fit. */
static double choose_pixel(struct columns *c, uint64_t most)
{
	double low = 1, high = (double)c->view->span + 1;
	uint64_t all = c->slices + c->marks;

	if (all <= most)
		return 0;
	while (high / low > 1.05) {
		double mid = sqrt(low * high);
		uint64_t items = 0;

		draw_lanes(c, mid, count_item, &items);
		if (items > most)
			low = mid;
		else
			high = mid;
	}
	return high;
}

struct keep {
	struct track *track;
	uint32_t lane;
};

static void keep_row(struct track *t, uint32_t row)
{
	t->rows = ut_grow_raw(t->rows, t->count + 1, &t->cap, sizeof(*t->rows));
	t->rows[t->count++] = row;
}

/* Of those that share a pixel, the longest. */
static void keep_item(void *ctx, const struct ut_strip_item *item)
{
	struct keep *k = ctx;
	const struct ut_view_track *t = k->track->of;
	uint64_t longest = 0, row = item->row;

	for (uint64_t i = item->first; item->row == UT_STRIP_MANY && i < item->next; i++) {
		struct ut_entry e;

		if (!ut_lane_entry(t->trace->store, t->local, k->lane, i, &e))
			continue;
		if (row != UT_STRIP_MANY && e.end - e.ts <= longest)
			continue;
		longest = e.end - e.ts;
		row = e.row;
	}
	if (row < UINT32_MAX)
		keep_row(k->track, (uint32_t)row);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void keep_some(struct columns *c, struct track *t, double pixel)
{
	for (uint32_t lane = 0; lane < t->of->lanes->count; lane++) {
		struct keep k = { t, lane };

		if (t->of->lanes->lanes[lane].kind > UT_LANE_MARKS)
			continue;
		ut_strip_draw(&(struct ut_strip){ t->of, lane, 0, (double)c->view->span + 1, pixel,
						  keep_item, &k });
	}
	ut_sort(t->rows, t->count, sizeof(*t->rows), by_number);
}

static void keep_all(const struct columns *c, struct track *t)
{
	for (uint64_t row = 0; row < t->of->rows->count && row < UINT32_MAX; row++) {
		const struct ut_block *b = &t->of->rows->blocks[row / UT_BLOCK_ROWS];

		if (c->view->classes[ut_view_type(t->of, b->type[row % UT_BLOCK_ROWS])] !=
		    UT_CLASS_NONE)
			keep_row(t, (uint32_t)row);
	}
}

static void choose_rows(struct columns *c, uint64_t most)
{
	uint64_t all, kept = 0;
	double pixel;

	c->marks = count_marks(c->view);
	c->slices = c->view->slices;
	all = c->slices + c->marks;
	pixel = choose_pixel(c, most);
	for (size_t i = 0; i < c->track_count; i++) {
		struct track *t = &c->tracks[i];

		if (t->counter)
			continue;
		if (pixel > 0)
			keep_some(c, t, pixel);
		else
			keep_all(c, t);
		kept += t->count;
	}
	c->thinned = pixel > 0;
	if (c->thinned) {
		char time[32];

		ut_buf_fmt(&c->left,
			   "%" PRIu64 " of %" PRIu64 " slices were left out to keep this page "
			   "small: where several share %s of a lane, the longest is here",
			   all - kept, all, ut_time_text(time, sizeof(time), (uint64_t)pixel));
	}
}

/* ---- types ---------------------------------------------------------------------------------- */

struct use {
	uint64_t count;
	uint32_t type;
};

static int by_use(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static uint32_t type_of(const struct track *t, uint32_t row)
{
	return ut_view_type(t->of,
			    t->of->rows->blocks[row / UT_BLOCK_ROWS].type[row % UT_BLOCK_ROWS]);
}

/* Tables of the whole trace name types of which no slice is kept. A type without a name is none. */
static bool is_in_tables(const struct ut_view *v, uint32_t type)
{
	return v->classes[type] != UT_CLASS_NONE && ut_view_type_name(v, type).len;
}

/* Those that are used, the most frequent first: small numbers are short. */
static void number_types(struct columns *c)
{
	struct use *uses = ut_make(((size_t)c->view->type_count + 1) * sizeof(*uses));

	for (uint32_t i = 0; i < c->view->type_count; i++)
		uses[i].type = i;
	for (size_t i = 0; i < c->track_count; i++) {
		for (size_t n = 0; n < c->tracks[i].count; n++)
			uses[type_of(&c->tracks[i], c->tracks[i].rows[n])].count++;
	}
	ut_sort(uses, c->view->type_count, sizeof(*uses), by_use);
	c->types = ut_make(((size_t)c->view->type_count + 1) * sizeof(*c->types));
	c->used = ut_make(((size_t)c->view->type_count + 1) * sizeof(*c->used));
	for (uint32_t i = 0; i < c->view->type_count; i++) {
		uint32_t type = uses[i].type;

		if (!uses[i].count && !(c->thinned && is_in_tables(c->view, type)))
			continue;
		c->used[c->type_count] = type;
		c->types[type] = c->type_count++;
	}
	free(uses);
}

/* ---- arguments ------------------------------------------------------------------------------ */

static void grow_texts(struct columns *c)
{
	size_t old = c->text_mask ? c->text_mask + 1 : 0, mask = old ? old * 2 - 1 : 4095;
	struct text *texts = ut_make((mask + 1) * sizeof(*texts));

	for (size_t i = 0; i < old; i++) {
		size_t n = c->texts[i].hash & mask;

		if (!c->texts[i].number)
			continue;
		while (texts[n].number)
			n = (n + 1) & mask;
		texts[n] = c->texts[i];
	}
	free(c->texts);
	c->texts = texts;
	c->text_mask = mask;
}

/* The number of a text, from 1 on; 0 if there is no more room. */
static uint32_t keep_text(struct columns *c, const struct ut_buf *text)
{
	uint64_t hash = ut_hash_bytes(text->data, text->len);
	size_t i;

	if ((size_t)c->arg_count * 2 >= c->text_mask)
		grow_texts(c);
	for (i = hash & c->text_mask; c->texts[i].number; i = (i + 1) & c->text_mask) {
		const struct text *t = &c->texts[i];

		if (t->hash == hash && t->len == text->len &&
		    !memcmp(c->args.data + t->at, text->data, t->len))
			return t->number;
	}
	if (c->args.len + text->len > ARGS_MOST) {
		c->args_full = true;
		return 0;
	}
	if (c->arg_count)
		ut_buf_char(&c->args, '\n');
	c->texts[i] = (struct text){ hash, c->args.len, text->len, ++c->arg_count };
	ut_buf_add(&c->args, text->data, text->len);
	return c->arg_count;
}

static uint32_t args_of(struct columns *c, const struct track *t, uint32_t row,
			struct ut_view_args *list, struct ut_buf *text)
{
	struct ut_view_row r;

	if (!ut_view_row(c->view, t->of, row, &r))
		return 0;
	ut_view_args_get(list, &r);
	if (!list->count)
		return 0;
	text->len = 0;
	ut_view_args_json(list, text);
	return keep_text(c, text);
}

/* ---- tracks --------------------------------------------------------------------------------- */

static void put_rows(struct columns *c, const struct track *t)
{
	struct ut_view_row r = { 0 };
	uint64_t before = 0;

	for (size_t i = 0; i < t->count; i++) {
		(void)ut_view_row(c->view, t->of, t->rows[i], &r);
		put_number(c, r.start - before);
		before = r.start;
	}
	for (size_t i = 0; i < t->count; i++) {
		(void)ut_view_row(c->view, t->of, t->rows[i], &r);
		put_number(c, r.end - r.start);
	}
	for (size_t i = 0; i < t->count; i++)
		put_number(c, c->types[type_of(t, t->rows[i])]);
}

static void put_args(struct columns *c, const struct track *t, const uint32_t *args)
{
	for (size_t i = 0; args && i < t->count; i++)
		put_number(c, args[i]);
}

/* Times and values of a counter; of too many, the extremes of equal pieces of time. */
struct samples {
	uint64_t *times;
	double *values;
	size_t count, time_cap, value_cap;
};

static void add_sample(struct samples *s, uint64_t time, double value)
{
	s->times = ut_grow(s->times, s->count + 1, &s->time_cap, sizeof(*s->times));
	s->values = ut_grow(s->values, s->count + 1, &s->value_cap, sizeof(*s->values));
	s->times[s->count] = time;
	s->values[s->count++] = value;
}

static void take_samples(const struct track *t, const struct ut_lane *l, struct samples *s)
{
	for (uint64_t i = 0; i < l->count; i++) {
		struct ut_entry e;
		const struct ut_block *b;

		if (!ut_entry_get(t->of->rows, l, i, &e))
			continue;
		b = &t->of->rows->blocks[e.row / UT_BLOCK_ROWS];
		add_sample(s, ut_view_time(t->of, e.ts),
			   ut_counter_value(b->val[e.row % UT_BLOCK_ROWS],
					    ut_store_type(t->of->trace->store, e.type)->flags));
	}
}

static void thin_samples(const struct columns *c, const struct track *t, struct samples *s)
{
	const struct ut_picture w = { ut_view_ts(t->of, 0), ut_view_ts(t->of, c->view->span + 1),
				      SAMPLES_MOST / 2 };
	struct ut_value_cell *cells = ut_make(w.pixels * sizeof(*cells));
	uint32_t n = ut_pyramid_values(t->of->trace->store, t->of->local, t->of->lanes->count - 1,
				       &w, cells);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = (uint64_t)((double)(c->view->span + 1) * i / n);

		if (!cells[i].count)
			continue;
		add_sample(s, at, cells[i].last == cells[i].max ? cells[i].min : cells[i].max);
		if (isnan(cells[i].last) && !isnan(cells[i].max))
			add_sample(s, at + 1, NAN);
		else if (cells[i].min < cells[i].max)
			add_sample(s, at + 1,
				   cells[i].last == cells[i].max ? cells[i].max : cells[i].min);
	}
	free(cells);
}

static void get_samples(const struct columns *c, const struct track *t, struct samples *s)
{
	const struct ut_lane *l = counter_of(t->of->lanes);

	*s = (struct samples){ 0 };
	if (l->count > SAMPLES_MOST)
		thin_samples(c, t, s);
	else
		take_samples(t, l, s);
}

static void put_samples(struct columns *c, const struct track *t)
{
	struct samples s;
	uint64_t before = 0;

	get_samples(c, t, &s);
	for (size_t i = 0; i < s.count; i++) {
		uint64_t at = s.times[i] > before ? s.times[i] : before;

		put_number(c, at - before);
		before = at;
	}
	put_bytes(c, s.values ? (const void *)s.values : "", s.count * sizeof(*s.values));
	free(s.times);
	free(s.values);
}

/* ---- arrows --------------------------------------------------------------------------------- */

struct end {
	uint32_t track, row;
};

/* Where an event is in the page; false if it is not. */
static bool find_end(const struct columns *c, const uint32_t *numbers, uint64_t id, struct end *e)
{
	uint32_t number = numbers[id >> 32], row = (uint32_t)id;
	size_t low = 0, high;
	const struct track *t;

	if (number >= c->track_count || !c->tracks) /* NOT_KEPT */
		return false;
	t = &c->tracks[number];
	high = t->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->rows[mid] < row)
			low = mid + 1;
		else
			high = mid;
	}
	*e = (struct end){ number, (uint32_t)low };
	return low < t->count && t->rows[low] == row;
}

/* The arrows whose ends are both there, as bytes; how many. */
static uint64_t take_arrows(struct columns *c, struct ut_buf *to)
{
	const struct ut_view_arrows *all = ut_view_arrows_get(c->view);
	uint32_t *numbers = ut_make(((size_t)c->view->track_count + 1) * sizeof(*numbers));
	uint64_t count = 0;
	struct end from, end;
	char *p;

	for (uint32_t i = 0; i < c->view->track_count; i++)
		numbers[i] = NOT_KEPT;
	for (size_t i = 0; i < c->track_count; i++) {
		if (!c->tracks[i].counter)
			numbers[c->tracks[i].of - c->view->tracks] = (uint32_t)i;
	}
	for (size_t i = 0; i < all->count; i++) {
		if (!find_end(c, numbers, all->list[i].from, &from) ||
		    !find_end(c, numbers, all->list[i].to, &end))
			continue;
		p = ut_buf_reserve(to, (size_t)4 * NUMBER_ROOM);
		p = write_number(write_number(p, from.track), from.row);
		ut_buf_advance(to, write_number(write_number(p, end.track), end.row));
		count++;
	}
	free(numbers);
	return count;
}

/* ---- the head ------------------------------------------------------------------------------- */

static void put_places(const struct columns *c, struct ut_out *out)
{
	const struct ut_view *v = c->view;
	uint32_t *first = ut_make(((size_t)v->place_count + 1) * sizeof(*first));

	for (size_t i = c->track_count; i--;)
		first[c->tracks[i].place] = (uint32_t)i + 1;
	ut_out_text(out, ",\"places\":[");
	for (uint32_t i = 0; i < v->place_count; i++) {
		ut_out_text(out, i ? "," : "");
		ut_intro_place(v, i, first[i] ? first[i] - 1 : UT_NO_TRACK, NULL, out);
	}
	/* A counter on a track of slices has a place of its own here. */
	for (size_t i = 0, more = 0; i < c->track_count; i++) {
		const struct ut_view_place *p = &v->places[c->tracks[i].place];

		if (first[c->tracks[i].place] == i + 1)
			continue;
		ut_out_fmt(out,
			   ",{\"id\":%zu,\"parent\":%" PRId64 ",\"kind\":\"counter\",\"rank\":%d,"
			   "\"track\":%zu,\"lanes\":[],\"name\":",
			   (size_t)v->place_count + more++,
			   p->parent == UT_NO_PLACE ? -1 : (int64_t)p->parent, (int)p->rank, i);
		ut_out_json_str(out, p->name.ptr, p->name.len);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "]");
	free(first);
}

/* Which of the lists of types a type is in. */
static bool is_in(size_t list, enum ut_view_class class, uint8_t traits)
{
	if (list == 0)
		return class == UT_CLASS_MARK || class == UT_CLASS_SAMPLE;
	if (list == 1)
		return class == UT_CLASS_ASIDE || class == UT_CLASS_ASYNC;
	if (list == 2)
		return class == UT_CLASS_NOT_WORK || class == UT_CLASS_SAMPLE;
	if (list == 3)
		return class == UT_CLASS_ASYNC;
	return traits & (list == 4 ? UT_TRAIT_QUIET : UT_TRAIT_ITSELF);
}

static void put_types(const struct columns *c, struct ut_out *out)
{
	static const char *const lists[] = { "],\"marks\":[",  "],\"asides\":[", "],\"notWork\":[",
					     "],\"asyncs\":[", "],\"quiet\":[",  "],\"itself\":[" };

	for (int cats = 0; cats < 2; cats++) {
		ut_out_text(out, cats ? "],\"cats\":[" : ",\"names\":[");
		for (uint32_t i = 0; i < c->type_count; i++) {
			struct ut_str s = cats ? ut_view_type_cat(c->view, c->used[i])
					       : ut_view_type_name(c->view, c->used[i]);

			ut_out_text(out, i ? "," : "");
			ut_out_json_str(out, s.ptr, s.len);
		}
	}
	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		const char *between = "";

		ut_out_text(out, lists[list]);
		for (uint32_t i = 0; i < c->type_count; i++) {
			if (!is_in(list, (enum ut_view_class)c->view->classes[c->used[i]],
				   c->view->traits[c->used[i]]))
				continue;
			ut_out_fmt(out, "%s%" PRIu32, between, i);
			between = ",";
		}
	}
	ut_out_text(out, "]");
}

static void put_torn(const struct columns *c, const struct track *t, struct ut_out *out)
{
	const char *between = ",\"unfinished\":[";

	for (size_t i = 0; i < t->count; i++) {
		uint32_t type = type_of(t, t->rows[i]);

		if (!(ut_view_type_flags(c->view, type) & UT_EV_UNFINISHED) ||
		    c->view->classes[type] >= UT_CLASS_MARK)
			continue;
		ut_out_fmt(out, "%s%zu", between, i);
		between = ",";
	}
	ut_out_text(out, between[1] ? "" : "]");
}

static void put_tracks(const struct columns *c, uint32_t *const *args, struct ut_out *out)
{
	ut_out_text(out, ",\"tracks\":[");
	for (size_t i = 0; i < c->track_count; i++) {
		const struct track *t = &c->tracks[i];

		ut_out_fmt(out, "%s{\"rows\":%zu,\"counter\":%s,\"args\":%s", i ? "," : "",
			   t->counter ? t->numbered : t->count, t->counter ? "true" : "false",
			   args[i] ? "true" : "false");
		if (!t->counter)
			put_torn(c, t, out);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "]");
}

/*
 * What a page that lacks slices cannot count: the tables of the whole trace, with the numbers that
 * its types and tracks have in them.
 */
static void put_whole(struct columns *c, struct ut_out *out)
{
	struct ut_out *table = ut_out_open_memory();
	struct ut_err err = { 0 };
	enum ut_answer kind;
	const char *json;
	size_t len;

	if (!ut_view_ask(c->view, "aggregate", ut_str_of("{\"scope\":{}}"), table, &kind, &err)) {
		json = ut_out_data(table, &len);
		ut_out_text(out, ",\"whole\":{\"aggregate\":");
		ut_out_write(out, json, len);
		ut_out_text(out, ",\"types\":[");
		for (uint32_t i = 0; i < c->type_count; i++)
			ut_out_fmt(out, "%s%" PRIu32, i ? "," : "", c->used[i]);
		ut_out_text(out, "],\"tracks\":[");
		for (size_t i = 0; i < c->track_count; i++)
			ut_out_fmt(out, "%s%td", i ? "," : "",
				   c->tracks[i].counter ? -1 : c->tracks[i].of - c->view->tracks);
		ut_out_text(out, "]}");
	}
	ut_out_abandon(table);
}

static void put_head(struct columns *c, uint32_t *const *args, uint64_t arrows)
{
	const struct ut_intro intro = { .left = c->left.len ? c->left.data : NULL,
					.slices = c->slices,
					.samples = c->samples,
					.types = c->type_count };
	struct ut_out *head = ut_out_open_memory();
	uint32_t words[2] = { MAGIC, 0 };
	const char *json;
	size_t len;

	ut_out_text(head, "{\"info\":");
	ut_intro_info(c->view, &intro, head);
	put_places(c, head);
	put_types(c, head);
	put_tracks(c, args, head);
	if (c->thinned)
		put_whole(c, head);
	ut_out_fmt(head, ",\"arrows\":%" PRIu64 ",\"args\":%zu}", arrows, c->args.len);
	json = ut_out_data(head, &len);
	words[1] = (uint32_t)len;
	put_bytes(c, words, sizeof(words));
	put_bytes(c, json, len);
	ut_out_abandon(head);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The numbers of the arguments of all rows of a track; NULL = none has any. */
static uint32_t *number_args(struct columns *c, const struct track *t)
{
	uint32_t *args = ut_make((t->count + 1) * sizeof(*args));
	struct ut_view_args list = { 0 };
	struct ut_buf text = { 0 };
	bool any = false;

	for (size_t i = 0; i < t->count; i++) {
		args[i] = args_of(c, t, t->rows[i], &list, &text);
		any |= args[i] != 0;
	}
	free(list.items);
	ut_buf_release(&text);
	if (any)
		return args;
	free(args);
	return NULL;
}

static void count_samples(struct columns *c)
{
	for (size_t i = 0; i < c->track_count; i++) {
		struct samples s;

		if (!c->tracks[i].counter)
			continue;
		get_samples(c, &c->tracks[i], &s);
		c->tracks[i].numbered = s.count;
		c->samples += s.count;
		free(s.times);
		free(s.values);
	}
}

static void tell_args(struct columns *c)
{
	if (!c->args_full)
		return;
	ut_buf_text(&c->left, c->left.len ? "; some arguments were left out, too"
					  : "some arguments were left out to keep this page small");
}

static void release(struct columns *c, uint32_t **args)
{
	for (size_t i = 0; i < c->track_count; i++) {
		free(c->tracks[i].rows);
		free(args[i]);
	}
	free(args);
	free(c->tracks);
	free(c->types);
	free(c->used);
	free(c->texts);
	ut_buf_release(&c->args);
	ut_buf_release(&c->bytes);
	ut_buf_release(&c->left);
}

int ut_page_columns(struct ut_view *v, uint64_t slices, ut_page_put put, void *ctx)
{
	struct columns c = { .view = v, .put = put, .ctx = ctx };
	struct ut_buf arrows = { 0 };
	uint32_t **args;
	uint64_t count;

	list_tracks(&c);
	choose_rows(&c, slices);
	number_types(&c);
	count_samples(&c);
	args = ut_make((c.track_count + 1) * sizeof(*args));
	for (size_t i = 0; i < c.track_count; i++)
		args[i] = c.tracks[i].counter ? NULL : number_args(&c, &c.tracks[i]);
	tell_args(&c);
	count = take_arrows(&c, &arrows);
	put_head(&c, args, count);
	for (size_t i = 0; i < c.track_count; i++) {
		if (c.tracks[i].counter) {
			put_samples(&c, &c.tracks[i]);
			continue;
		}
		put_rows(&c, &c.tracks[i]);
		put_args(&c, &c.tracks[i], args[i]);
	}
	put_bytes(&c, arrows.data ? arrows.data : "", arrows.len);
	put_bytes(&c, c.args.data ? c.args.data : "", c.args.len);
	flush(&c, 1);
	ut_buf_release(&arrows);
	release(&c, args);
	return c.rc;
}
