/*
 * read_split.c - the events of one large file, read by several threads.
 *
 * The text is cut where an event seems to start, as import/chrome/split.c does it. A piece counts
 * only if the one before it ended exactly there, and if its begins and ends are pairs inside it;
 * otherwise it is thrown away and the reader of the file goes on through its text. So what comes
 * out is what one thread would have read.
 */
#include <stdlib.h>

#include "acelyzer/file_merge.h"
#include "acelyzer/read_event.h"
#include "base/grow.h"
#include "base/thread_pool.h"
#include "import/chrome/part.h"
#include "text/source.h"

#define PIECE_LEAST (4u << 20) /* bytes; less is not worth a thread */

struct piece {
	struct ut_ace_reader reader;
	struct ut_ace_part part;
	uint64_t start;
	int trouble;
};

struct pieces {
	struct ut_ace_reader *first; /* that of the file reads the first one */
	struct piece *items;         /* the others */
	size_t count;
	int trouble; /* of the first */
};

static uint64_t read_split_place_of(const struct ut_ace_reader *r)
{
	return ut_json_offset(&r->json, r->json.at);
}

bool ut_ace_can_split(const struct ut_ace_reader *r)
{
	const struct ut_source *s = r->text_from.source;

	return r->threads > 1 && s && s->seekable && s->size > read_split_place_of(r) &&
	       s->size - read_split_place_of(r) >= 2 * PIECE_LEAST;
}

/* Cuts what lies ahead into as many pieces as there are threads, or fewer. */
static void read_split_cut(struct pieces *p)
{
	const struct ut_ace_reader *r = p->first;
	const struct ut_source *s = r->text_from.source;
	uint64_t from = read_split_place_of(r), size = s->size - from, last = from;
	size_t wanted = r->threads < size / PIECE_LEAST ? r->threads : size / PIECE_LEAST;

	p->items = ut_make(wanted * sizeof(*p->items));
	for (size_t i = 1; i < wanted; i++) {
		uint64_t start = ut_chrome_guess_start(s, from + size / wanted * i);

		if (start > last)
			p->items[p->count++].start = last = start;
	}
}

static uint64_t stop_of(const struct pieces *p, size_t next)
{
	return next < p->count ? p->items[next].start : UINT64_MAX;
}

static void open_pieces(struct pieces *p)
{
	const struct ut_ace_reader *r = p->first;

	p->first->stop = stop_of(p, 0);
	for (size_t i = 0; i < p->count; i++) {
		struct piece *x = &p->items[i];

		ut_ace_reader_init(&x->reader, &x->part, "", r->release);
		ut_ace_reader_open(&x->reader, r->text_from.source, x->start);
		x->reader.json.fresh = true; /* the comma before it has been seen */
		x->reader.stop = stop_of(p, i + 1);
	}
}

static void read_piece(void *ctx, size_t i)
{
	struct pieces *p = ctx;

	if (i)
		p->items[i - 1].trouble = ut_ace_read_list(&p->items[i - 1].reader);
	else
		p->trouble = ut_ace_read_list(p->first);
}

/* Does it belong right there, and does it need nothing that is not in it? */
static bool read_split_fits(const struct ut_ace_reader *r, const struct piece *x)
{
	return r->stopped == x->start && !x->trouble && !x->part.stray_ends &&
	       !x->reader.open.count;
}

static void add_counts(struct ut_ace_part *to, const struct ut_ace_part *from)
{
	to->negative += from->negative;
	to->zero += from->zero;
	to->zero_busy += from->zero_busy;
	to->not_events += from->not_events;
	to->bad_stamps += from->bad_stamps;
	to->no_length += from->no_length;
}

/* The piece's events behind those of r, which goes on where the piece ended. */
static void read_split_take(struct ut_ace_reader *r, struct piece *x)
{
	struct ut_json *j = &r->json, *from = &x->reader.json;

	for (int i = 0; i < UT_JSON_REPAIRS; i++) {
		if (j->repairs[i].count)
			from->repairs[i].first = j->repairs[i].first;
		from->repairs[i].count += j->repairs[i].count;
	}
	ut_json_release(j);
	*j = *from;
	j->ctx = &r->text_from;
	*from = (struct ut_json){ 0 };
	r->text_from = x->reader.text_from;
	r->stopped = x->reader.stopped;
	r->last_begin = 0;
	add_counts(r->part, &x->part);
	ut_ace_append(r->table, &x->part.table);
}

int ut_ace_read_split(struct ut_ace_reader *r)
{
	struct pieces p = { .first = r };
	int trouble;

	read_split_cut(&p);
	open_pieces(&p);
	ut_thread_pool_each(p.count + 1, p.count + 1, read_piece, &p);
	trouble = p.trouble;
	for (size_t i = 0; i < p.count && !trouble && r->stopped; i++) {
		if (read_split_fits(r, &p.items[i])) {
			read_split_take(r, &p.items[i]);
		} else {
			r->stop = stop_of(&p, i + 1);
			trouble = ut_ace_read_list(r);
		}
	}
	for (size_t i = 0; i < p.count; i++) {
		ut_ace_reader_release(&p.items[i].reader);
		ut_ace_part_release(&p.items[i].part);
	}
	free(p.items);
	return trouble;
}
