/*
 * memory_books.c - see memory_books.h: the books.
 *
 * What a site had live at the peak is found in one pass. Each new highest value starts an epoch. A
 * site that is about to change, and has not changed since the epoch began, has at that moment what
 * it had at the peak: that is saved. At the end the same is done for all sites.
 *
 * Where allocations are drawn, live bytes are an estimate that errs up and down, and the highest of
 * many estimates is one that errs up. So the drawing is taken apart into two, each of half as many
 * bytes, which know nothing of each other: what one says about the moment at which the other had
 * most errs as often up as down. The two answers together are how high the peak was; what all of
 * them together said too much is taken from the sites, from each by its part in the variance.
 */
#include "import/spool/memory_books.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "unitrace/backend_memory.h"

#define SLICES    1000u /* of the time of the recording: what samples of allocations tell apart */
#define STEPS     2000u /* of the row of live bytes */
#define ROWS      500000u
#define MOST_BITS 62u
#define NO_SITE   UINT32_MAX

/* Words of UT_REC_ALLOCATED. */
enum {
	ADDRESS,
	BYTES,
	STACK_HOW
};

/* ---- sums ---------------------------------------------------------------------------------- */

static void memory_books_add(struct ut_memory_sum *to, const struct ut_memory_sum *what,
			     double sign)
{
	to->bytes += sign * what->bytes;
	to->count += sign * what->count;
	to->variance += sign * what->variance;
}

/*
 * A block of s bytes was drawn with the chance p = 1 - exp(-s / 2^bits): it stands for 1 / p like
 * it. The variance of what it stands for is (s / p)^2 (1 - p), by the estimator of Horvitz and
 * Thompson.
 */
static struct ut_memory_sum stands_for(uint64_t bytes, uint32_t bits)
{
	double p = bits ? -expm1(-(double)bytes / (double)(UINT64_C(1) << bits)) : 1;
	struct ut_memory_sum s = { (double)bytes, 1, 0 };

	if (!bits || !bytes || !(p > 0))
		return s;
	s.count = 1 / p;
	s.bytes = (double)bytes / p;
	s.variance = s.bytes * s.bytes * (1 - p);
	return s;
}

/* ---- sites --------------------------------------------------------------------------------- */

static bool memory_books_same(const struct ut_memory_site *a, const struct ut_memory_site *b)
{
	return a->thread == b->thread && a->stack == b->stack && a->task == b->task &&
	       a->kind == b->kind;
}

static uint32_t site_of(struct ut_memory_books *b, const struct ut_memory_site *key)
{
	const uint32_t words[4] = { key->thread, key->stack, key->task, key->kind };
	uint32_t hash = (uint32_t)ut_hash_bytes(words, sizeof(words)), at = hash, number;

	while ((number = ut_hashtab_next(&b->site_of, hash, &at)) &&
	       !memory_books_same(&b->sites.items[number - 1], key))
		;
	if (number)
		return number - 1;
	*UT_VEC_PUSH(&b->sites) = *key;
	number = (uint32_t)b->sites.count;
	ut_hashtab_add(&b->site_of, hash, number);
	return number - 1;
}

/* Before a site changes. */
static void save_peak(const struct ut_memory_books *b, struct ut_memory_site *s)
{
	if (s->epoch != b->epoch) {
		s->peak = s->live;
		s->epoch = b->epoch;
	}
}

static void change(struct ut_memory_books *b, const struct ut_memory_block *block, double sign)
{
	struct ut_memory_site *s = &b->sites.items[block->site];

	save_peak(b, s);
	memory_books_add(&s->live, &block->sum, sign);
	memory_books_add(&b->live, &block->sum, sign);
	for (int i = 0; i < 2; i++) {
		if (block->halves >> i & 1)
			b->halves[i].live += sign * block->half;
	}
}

static void look_for_peak(struct ut_memory_books *b, uint64_t ts)
{
	for (int i = 0; i < 2; i++) {
		struct ut_memory_half *half = &b->halves[i];

		if (half->live > half->most) {
			half->most = half->live;
			half->other = b->halves[!i].live;
		}
	}
	if (b->live.bytes <= b->peak.bytes)
		return;
	b->peak = b->live;
	b->peak_ts = ts;
	b->epoch++;
}

double ut_memory_peak_excess(const struct ut_memory_books *b)
{
	double both = b->halves[0].other + b->halves[1].other;

	/* What is left at the end was there, and no more than at the peak. */
	both = both > b->live.bytes ? both : b->live.bytes;
	return b->peak.variance > 0 && both > 0 && both < b->peak.bytes ? b->peak.bytes - both : 0;
}

/* From 0 to 1, by chance, but the same whenever the recording is read. */
static double chance(uint64_t address, uint64_t ticks)
{
	uint64_t h =
		(address ^ ticks * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);

	return (double)((h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 11) * 0x1p-53;
}

/* Which of the two drawings has it, given that one of them has; and what it stands for there. */
static void deal(struct ut_memory_block *b, uint64_t bytes, uint32_t bits, uint64_t ticks)
{
	double half = -expm1(-(double)bytes / (double)(UINT64_C(2) << bits));
	double whole = 1 / b->sum.count, both = half * half / whole;
	double u = chance(b->address, ticks);

	b->halves = 3;
	b->half = b->sum.bytes / 2;
	if (!bits || !bytes || !(half > 0))
		return;
	b->half = (double)bytes / 2 / half;
	if (u >= both)
		b->halves = u - both < (1 - both) / 2 ? 1 : 2;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The row of a site for this moment. */
static uint32_t memory_books_row_of(struct ut_memory_books *b, uint32_t site, uint64_t ts)
{
	struct ut_memory_site *s = &b->sites.items[site];

	if (b->rows.count > b->rows_wanted) {
		b->slice *= 2;
		b->rows_wanted += ROWS;
	}
	if (s->row && ts < b->rows.items[s->row - 1].until)
		return s->row - 1;
	*UT_VEC_PUSH(&b->rows) = (struct ut_memory_row){
		.ts = ts, .until = ts + b->slice - (ts - b->first) % b->slice, .site = site
	};
	s->row = (uint32_t)b->rows.count;
	return s->row - 1;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static struct ut_memory_block *new_block(struct ut_memory_books *b, uint64_t address)
{
	uint32_t at = b->free_block;

	if (at) {
		b->free_block = b->blocks.items[at - 1].next_free;
	} else {
		UT_VEC_PUSH(&b->blocks);
		at = (uint32_t)b->blocks.count;
	}
	ut_idmap_put(&b->block_at, address, at);
	return &b->blocks.items[at - 1];
}

static bool take_block(struct ut_memory_books *b, uint64_t address, struct ut_memory_block *block)
{
	uint32_t at = ut_idmap_take(&b->block_at, address);

	if (!at)
		return false;
	*block = b->blocks.items[at - 1];
	b->blocks.items[at - 1].next_free = b->free_block;
	b->free_block = at;
	return true;
}

static void end_block(struct ut_memory_books *b, const struct ut_memory_block *block, uint64_t ts)
{
	struct ut_memory_row *row = &b->rows.items[block->row];

	row->freed += block->sum.count;
	row->life += block->sum.count * (double)(ts - block->ts);
	change(b, block, -1);
}

static void on_freed(struct ut_memory_books *b, const struct ut_memory_record *r, uint64_t ts)
{
	struct ut_memory_block block;

	b->given.site = NO_SITE;
	if (!take_block(b, ut_rec_word(&r->rec, ADDRESS), &block))
		return; /* it was there before anybody looked */
	end_block(b, &block, ts);
	b->given = block;
	b->given_by = r->thread;
	b->given_ts = ts;
}

/* realloc() could not do it: the block stays what it was. */
static void on_back(struct ut_memory_books *b, const struct ut_memory_record *r, uint64_t ts)
{
	struct ut_memory_block back = b->given;
	struct ut_memory_row *row;

	if (back.site == NO_SITE || back.address != ut_rec_word(&r->rec, ADDRESS) ||
	    b->given_by != r->thread || ut_idmap_get(&b->block_at, back.address))
		return;
	row = &b->rows.items[back.row];
	row->freed -= back.sum.count;
	row->life -= back.sum.count * (double)(b->given_ts - back.ts);
	*new_block(b, back.address) = back;
	change(b, &back, 1);
	look_for_peak(b, ts);
	b->given.site = NO_SITE;
}

static void on_allocated(struct ut_memory_books *b, const struct ut_memory_record *r, uint64_t ts)
{
	uint32_t how = ut_rec_high(&r->rec, STACK_HOW), said = how >> 16 & 255;
	uint32_t bits = said < MOST_BITS ? said : MOST_BITS;
	uint64_t bytes = ut_rec_word(&r->rec, BYTES);
	struct ut_memory_block old, block = { .address = ut_rec_word(&r->rec, ADDRESS), .ts = ts };

	block.site = site_of(b, &(struct ut_memory_site){
					.thread = r->thread,
					.stack = ut_idmap_get(&b->im->backend_data.site_of_stack,
							      ut_rec_low(&r->rec, STACK_HOW)),
					.task = r->task,
					.kind = how & 0xffff });
	block.row = memory_books_row_of(b, block.site, ts);
	block.sum = stands_for(bytes, bits);
	deal(&block, bytes, bits, r->ticks);
	/* The end of what was there was not told: the recording has a gap. */
	if (take_block(b, block.address, &old))
		end_block(b, &old, ts);
	*new_block(b, block.address) = block;
	memory_books_add(&b->rows.items[block.row].sum, &block.sum, 1);
	change(b, &block, 1);
	look_for_peak(b, ts);
}

static void memory_books_take(void *ctx, const struct ut_memory_record *r)
{
	struct ut_memory_books *b = ctx;
	uint64_t ts = ut_spool_ns(&b->im->tables, r->ticks);

	ts = ts > b->last ? ts : b->last;
	b->last = ts;
	if (r->rec.type == UT_REC_FREED)
		on_freed(b, r, ts);
	else if (ut_rec_high(&r->rec, STACK_HOW) >> 24)
		on_back(b, r, ts);
	else
		on_allocated(b, r, ts);
	ut_memory_level(b, ts);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static uint64_t memory_books_part_of(uint64_t ns, uint32_t count)
{
	return ns / count + 1;
}

void ut_spool_import_memory(struct ut_spool_import *im)
{
	struct ut_memory_books b = { .im = im,
				     .rows_wanted = ROWS,
				     .first = im->trace->first,
				     .last = im->trace->first,
				     .given.site = NO_SITE };

	if (!im->memory.any)
		return;
	b.slice = memory_books_part_of(im->trace->last - im->trace->first, SLICES);
	b.step = memory_books_part_of(im->trace->last - im->trace->first, STEPS);
	ut_spool_merge_memory(im, memory_books_take, &b);
	for (size_t i = 0; i < b.sites.count; i++)
		save_peak(&b, &b.sites.items[i]);
	ut_memory_level_end(&b);
	ut_memory_send(&b);
	free(b.sites.items);
	free(b.rows.items);
	free(b.blocks.items);
	ut_hashtab_release(&b.site_of);
	ut_idmap_release(&b.block_at);
}

void ut_spool_memory_release(struct ut_spool_memory *m)
{
	free(m->runs.items);
}
