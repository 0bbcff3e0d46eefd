/*
 * bench_query.c - what SQL over the columns costs: made-up slices, each query against a plain C
 * loop over the same columns and against SQLite's own table of the same rows, in one run.
 *
 *   bench_query [ROWS]     10 million by default
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"
#include "model/build.h"
#include "query/query.h"

#if UT_HAVE_SQLITE
#include <sqlite3.h>

#define NAMES  200
#define TRACKS 8
#define ROUNDS 3

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine is not ours alone */
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Pairs of an outer span and one inside it, the shape that most traces have. */
static void fill(struct ut_store *store, uint64_t slices)
{
	uint32_t types[NAMES], tracks[TRACKS], seed = 1, process;
	struct ut_build b;
	uint64_t ts = 1794729441490426;

	ut_build_init(&b);
	process = ut_trace_add_process(&b.store.trace, 31527);
	for (uint32_t i = 0; i < TRACKS; i++) {
		tracks[i] = ut_trace_add_track(&b.store.trace, process, UT_TRACK_THREAD);
		b.store.trace.tracks[tracks[i]].id = 31527 + i;
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		struct ut_type type = { .kind = UT_KIND_SPAN };
		char name[64];

		snprintf(name, sizeof(name), "dnnl::primitive::execute::kind_%u", i);
		type.name = ut_strtab_intern_z(&b.store.trace.strings, name);
		types[i] = ut_types_intern(&b.store.types, &type);
	}
	for (uint64_t i = 0; i < slices; i++) {
		uint64_t length;

		seed = seed * 1664525 + 1013904223;
		length = i & 1 ? 700 + (seed >> 20) : 5000 + (seed >> 20);
		ts += i & 1 ? 200 : 10007;
		ut_build_add(&b, tracks[(i >> 10) % TRACKS], ts, length, types[(seed >> 8) % NAMES],
			     0);
	}
	ut_build_finish(&b, store);
}

/* ---- the floor: the loops that somebody would write who has only this one question --------- */

struct loop {
	uint64_t count, sum, longest;
	uint64_t *by_type;
};

static void loop_over(const struct ut_store *s, int question, uint32_t wanted, struct loop *l)
{
	for (size_t t = 0; t < s->trace.track_count; t++) {
		for (size_t n = 0; n < ut_rows_blocks(&s->rows[t]); n++) {
			const struct ut_block *b = &s->rows[t].blocks[n];

			for (uint32_t i = 0; i < b->count; i++) {
				if (ut_store_type(s, b->type[i])->kind != UT_KIND_SPAN)
					continue;
				if (question == 0)
					l->count++;
				else if (question == 1)
					l->sum += b->val[i];
				else if (question == 2)
					l->sum += b->type[i] == wanted ? b->val[i] : 0;
				else if (question == 3)
					l->by_type[b->type[i]] += b->val[i];
				else
					l->longest =
						b->val[i] > l->longest ? b->val[i] : l->longest;
			}
		}
	}
}

static double best_loop(const struct ut_store *s, int question)
{
	uint64_t *by_type = calloc(s->types.count, sizeof(*by_type));
	struct loop l = { .by_type = by_type };
	double best = 1e9;

	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		double start = now(), took;

		loop_over(s, question, 5, &l);
		__asm__ volatile("" : : "r"(&l), "r"(by_type) : "memory");
		took = now() - start;
		best = took < best ? took : best;
	}
	free(by_type);
	return best;
}

/* ---- ours ---------------------------------------------------------------------------------- */

struct answer {
	int64_t first; /* the first number of the first row: both sides must agree */
	uint64_t rows;
};

static void begin(void *ctx, size_t columns, const char *const *names)
{
	(void)columns;
	(void)names;
	*(struct answer *)ctx = (struct answer){ 0 };
}

static int row(void *ctx, const struct ut_value *values)
{
	struct answer *a = ctx;

	if (!a->rows++)
		a->first = values[0].number;
	return 0;
}

static void end(void *ctx)
{
	(void)ctx;
}

/* cold: only the first time counts, because the answer is kept. */
static double best_query(struct ut_query *q, const char *sql, bool cold, struct answer *a)
{
	const struct ut_result result = { a, begin, row, end };
	struct ut_err err = { 0 };
	double best = 1e9;

	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		double start = now(), took;

		if (ut_query_run(q, sql, &result, &err)) {
			fprintf(stderr, "bench_query: %s\n", err.text);
			exit(1);
		}
		took = now() - start;
		best = took < best ? took : best;
		if (cold || took > 2)
			break;
	}
	return best;
}

/* ---- SQLite's own table -------------------------------------------------------------------- */

static sqlite3 *copy_to_sqlite(const struct ut_store *s)
{
	sqlite3_stmt *insert;
	sqlite3 *db;

	sqlite3_open(":memory:", &db);
	sqlite3_exec(db, "create table slice(ts integer, dur integer, name text, track_id integer)",
		     NULL, NULL, NULL);
	sqlite3_exec(db, "begin", NULL, NULL, NULL);
	sqlite3_prepare_v2(db, "insert into slice values(?,?,?,?)", -1, &insert, NULL);
	for (size_t t = 0; t < s->trace.track_count; t++) {
		for (uint64_t r = 0; r < s->rows[t].count; r++) {
			const struct ut_block *b = &s->rows[t].blocks[r / UT_BLOCK_ROWS];
			uint32_t i = (uint32_t)(r % UT_BLOCK_ROWS);
			struct ut_str name = ut_strtab_get(&s->trace.strings,
							   ut_store_type(s, b->type[i])->name);

			sqlite3_bind_int64(insert, 1, (sqlite3_int64)b->ts[i]);
			sqlite3_bind_int64(insert, 2, (sqlite3_int64)b->val[i]);
			sqlite3_bind_text(insert, 3, name.ptr, (int)name.len, SQLITE_STATIC);
			sqlite3_bind_int64(insert, 4, (sqlite3_int64)t);
			sqlite3_step(insert);
			sqlite3_reset(insert);
		}
	}
	sqlite3_finalize(insert);
	sqlite3_exec(db, "commit", NULL, NULL, NULL);
	return db;
}

static double best_table(sqlite3 *db, const char *sql, struct answer *a)
{
	double best = 1e9;

	for (int i = 0; i < bench_rounds(ROUNDS); i++) {
		double start = now(), took;
		sqlite3_stmt *stmt;

		*a = (struct answer){ 0 };
		if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
			fprintf(stderr, "bench_query: %s\n", sqlite3_errmsg(db));
			exit(1);
		}
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			if (!a->rows++)
				a->first = sqlite3_column_int64(stmt, 0);
		}
		sqlite3_finalize(stmt);
		took = now() - start;
		best = took < best ? took : best;
		if (took > 2)
			break;
	}
	return best;
}

/* ---- all ----------------------------------------------------------------------------------- */

static const struct {
	const char *sql;
	int question;     /* of the loop; -1 = none */
	const char *same; /* for SQLite's table, where ours is asked otherwise */
	bool cold;
} queries[] = {
	{ "select count(*) from slice", 0, NULL, false },
	{ "select sum(dur) from slice", 1, NULL, false },
	{ "select max(dur) from slice", 4, NULL, false },
	{ "select sum(dur) from slice where name = 'dnnl::primitive::execute::kind_5'", 2, NULL,
	  false },
	{ "select count(*) from slice where name glob '*kind_1?'", 2, NULL, false },
	{ "select count(*) from slice where dur > 8000", 1, NULL, false },
	{ "select sum(dur) from slice where ts between 1794740000000000 and 1794741000000000", 1,
	  NULL, false },
	{ "select dur from slice order by dur desc limit 10", 4, NULL, false },
	{ "select ts from slice order by ts limit 10", -1, NULL, false },
	{ "select count(*) from slice where depth = 1", -1, "select count(*) from slice", true },
	{ "select count(*), sum(dur), name from slice group by name", 3, NULL, false },
	{ "select count, total, name from slice_stats order by name", 3,
	  "select count(*), sum(dur), name from slice group by name", true },
};

int main(int argc, char **argv)
{
	uint64_t rows = bench_size(argc, argv, 1, 10000000, 10000);
	struct ut_err err = { 0 };
	struct ut_query *q;
	struct ut_store store;
	sqlite3 *table;

	if (ut_query_open(&q, 1, &err)) {
		fprintf(stderr, "bench_query: %s\n", err.text);
		return BENCH_SKIPPED;
	}
	fill(&store, rows);
	ut_query_add(q, "bench", &store);
	table = copy_to_sqlite(&store);
	printf("%" PRIu64 " slices; seconds of processor time\n", rows);
	printf("   query    loop   ratio   table   ratio\n");
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		struct answer ours, theirs;
		double took = best_query(q, queries[i].sql, queries[i].cold, &ours);
		double other = best_table(table, queries[i].same ? queries[i].same : queries[i].sql,
					  &theirs);

		printf("%8.3f", took);
		if (queries[i].question >= 0) {
			double loop = best_loop(&store, queries[i].question);

			printf("%8.3f%8.1f", loop, took / loop);
		} else {
			printf("%8s%8s", "", "");
		}
		printf("%8.3f%8.2f  %s\n", other, took / other, queries[i].sql);
		if (!queries[i].same && (ours.first != theirs.first || ours.rows != theirs.rows)) {
			fprintf(stderr,
				"bench_query: the answers differ: %" PRId64 " %" PRId64 "\n",
				ours.first, theirs.first);
			return 1;
		}
	}
	sqlite3_close(table);
	ut_query_close(q);
	ut_store_release(&store);
	return 0;
}
#else
int main(void)
{
	printf("SKIP: built without SQLite\n");
	return BENCH_SKIPPED;
}
#endif
