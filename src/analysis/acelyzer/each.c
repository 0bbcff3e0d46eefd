#include "acelyzer/each.h"

#include "base/thread_pool.h"

#define PIECE 16384u /* steps: enough to be worth a thread's trip to the counter */

struct loop {
	size_t n;
	void (*piece)(void *ctx, size_t from, size_t to);
	void *ctx;
};

static void do_piece(void *ctx, size_t i)
{
	const struct loop *l = ctx;
	size_t from = i * PIECE;

	l->piece(l->ctx, from, l->n - from < PIECE ? l->n : from + PIECE);
}

void ut_ace_each(unsigned int threads, size_t n, void (*piece)(void *ctx, size_t from, size_t to),
		 void *ctx)
{
	struct loop loop = { n, piece, ctx };

	ut_thread_pool_each(threads, n / PIECE + (n % PIECE > 0), do_piece, &loop);
}
