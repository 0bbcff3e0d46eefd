#include "tt/ops_tracy_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/str.h"
#include "text/csv_read.h"

/* The fields that are more than text to us. */
enum {
	CALL,
	DEVICE,
	TRACE,
	REPLAY,
	NAME,
	FW_START,
	FW_END,
	FW_TIME,
	KERNEL_START,
	KERNEL_END,
	KERNEL_TIME,
	DM_START,
	DM_END,
	FIELDS
};

static const char *const titles[FIELDS] = {
	"GLOBAL CALL COUNT",
	"DEVICE ID",
	"METAL TRACE ID",
	"METAL TRACE REPLAY SESSION ID",
	"OP NAME",
	"DEVICE FW START CYCLE",
	"DEVICE FW END CYCLE",
	"DEVICE FW DURATION [ns]",
	"DEVICE KERNEL START CYCLE",
	"DEVICE KERNEL END CYCLE",
	"DEVICE KERNEL DURATION [ns]",
	"DEVICE KERNEL DM START CYCLE",
	"DEVICE KERNEL DM END CYCLE",
};

struct reader {
	struct ut_tracy_device *d;
	struct ut_ops_report *r;
	const struct ut_tracy_columns *columns;
	const struct ut_csv *csv;
	size_t field[FIELDS];
	uint32_t *column; /* of the report, per field; UT_OPS_NO_COLUMN = none so far */
	bool *counter;    /* per field: it has a column as soon as it has a value */
};

/* ---- reading ------------------------------------------------------------------------------- */

static uint64_t hash(const struct ut_tracy_key *key)
{
	return ut_hash_bytes(key, sizeof(*key));
}

static uint64_t hash_op(uint64_t op, int64_t device)
{
	const struct ut_tracy_key key = { .op = op, .device = device };

	return hash(&key);
}

/* A whole number may have gone through a tool that knows only fractions: "1024.0". */
static struct ut_str ops_tracy_device_whole(struct ut_str text)
{
	const char *point = text.len ? memchr(text.ptr, '.', text.len) : NULL;
	size_t len = point ? (size_t)(point - text.ptr) : text.len;

	for (size_t i = len + 1; i < text.len; i++) {
		if (text.ptr[i] != '0')
			return text;
	}
	for (size_t i = 0; i < len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return text;
	}
	return len ? (struct ut_str){ text.ptr, len } : text;
}

static struct ut_str ops_tracy_device_get(const struct reader *d, int field)
{
	return ops_tracy_device_whole(ut_csv_field(d->csv, d->field[field]));
}

static int64_t number_or(struct ut_str text, int64_t otherwise)
{
	uint64_t value;

	return ut_csv_number(text, &value) && value <= INT64_MAX ? (int64_t)value : otherwise;
}

static struct ut_tracy_cycles cycles(const struct reader *d, int start, int end)
{
	struct ut_tracy_cycles c = { 0 };

	c.known = ut_csv_number(ops_tracy_device_get(d, start), &c.start) &&
		  ut_csv_number(ops_tracy_device_get(d, end), &c.end);
	return c;
}

static double ops_tracy_device_ns(const struct reader *d, int field)
{
	struct ut_str text = ops_tracy_device_get(d, field);
	uint64_t value;

	return ut_csv_number(text, &value) ? (double)value : 0;
}

static void ops_tracy_device_put_cells(struct reader *d, struct ut_tracy_run *run)
{
	size_t first = d->r->cell_count;

	for (size_t i = 0; i < d->csv->count && i < d->csv->title_count; i++) {
		struct ut_str text = d->csv->fields[i];

		if (text.len && d->counter[i] && d->column[i] == UT_OPS_NO_COLUMN)
			d->column[i] = ut_tracy_counter(d->r, d->csv->titles[i], (uint32_t)i);
		if (d->column[i] == UT_OPS_NO_COLUMN || !text.len)
			continue;
		run->has_latency |= d->column[i] == d->columns->id[UT_TRACY_LATENCY];
		run->has_latency_dm |= d->column[i] == d->columns->id[UT_TRACY_LATENCY_DM];
		ut_ops_put(
			d->r, d->column[i],
			ut_tracy_text(d->r, d->counter[i] ? text : ops_tracy_device_whole(text)));
	}
	run->cells = ut_ops_since(d->r, first);
}

static bool ops_tracy_device_same_key(const struct ut_tracy_key *a, const struct ut_tracy_key *b)
{
	return !memcmp(a, b, sizeof(*a));
}

void ut_tracy_device_add(struct ut_tracy_device *d, const struct ut_tracy_run *run)
{
	uint64_t key = hash(&run->key);
	uint32_t last = ut_idmap_get(&d->last, key);

	d->runs = ut_grow(d->runs, ++d->count, &d->cap, sizeof(*d->runs));
	d->runs[d->count - 1] = *run;
	if (last)
		d->runs[last - 1].next = (uint32_t)d->count;
	else
		ut_idmap_put(&d->by_key, key, (uint32_t)d->count);
	ut_idmap_put(&d->last, key, (uint32_t)d->count);
	ut_idmap_put(&d->by_op, hash_op(run->key.op, run->key.device), (uint32_t)d->count);
}

static void read_run(struct reader *d)
{
	struct ut_tracy_run run = {
		.key = { .device = number_or(ops_tracy_device_get(d, DEVICE), 0),
			 .trace = number_or(ops_tracy_device_get(d, TRACE), UT_TRACY_NO_TRACE),
			 .replay = number_or(ops_tracy_device_get(d, REPLAY), UT_TRACY_NO_TRACE) },
		.name = ops_tracy_device_get(d, NAME),
		.fw = cycles(d, FW_START, FW_END),
		.kernel = cycles(d, KERNEL_START, KERNEL_END),
		.dm = cycles(d, DM_START, DM_END),
		.fw_ns = ops_tracy_device_ns(d, FW_TIME),
		.has_kernel_ns = ops_tracy_device_get(d, KERNEL_TIME).len > 0,
		.kernel_ns = ops_tracy_device_ns(d, KERNEL_TIME),
		.reported = true,
	};

	if (!ut_csv_number(ops_tracy_device_get(d, CALL), &run.key.op))
		return;
	ops_tracy_device_put_cells(d, &run);
	ut_tracy_device_add(d->d, &run);
}

static void find_columns(struct reader *d)
{
	d->column = UT_NEW_N(&d->r->arena, uint32_t, d->csv->title_count + 1);
	d->counter = UT_NEW_N(&d->r->arena, bool, d->csv->title_count + 1);
	for (int i = 0; i < FIELDS; i++)
		d->field[i] = ut_csv_find(d->csv, titles[i]);
	for (size_t i = 0; i < d->csv->title_count; i++) {
		if (!ut_tracy_column_find(d->r, d->csv->titles[i], &d->column[i]))
			d->column[i] = UT_OPS_NO_COLUMN;
		d->counter[i] =
			d->column[i] == UT_OPS_NO_COLUMN && ut_tracy_is_counter(d->csv->titles[i]);
	}
}

void ut_tracy_device_read(struct ut_tracy_device *d, const struct ut_tracy_columns *columns,
			  struct ut_ops_report *r, struct ut_csv *csv)
{
	struct reader reader = { .d = d, .r = r, .columns = columns, .csv = csv };

	*d = (struct ut_tracy_device){ .present = csv };
	ut_idmap_init(&d->by_key, &r->arena);
	ut_idmap_init(&d->last, &r->arena);
	ut_idmap_init(&d->by_op, &r->arena);
	if (!csv)
		return;
	find_columns(&reader);
	while (ut_csv_next(csv))
		read_run(&reader);
}

void ut_tracy_device_release(struct ut_tracy_device *d)
{
	free(d->runs);
}

/* ---- asking -------------------------------------------------------------------------------- */

uint32_t ut_tracy_device_take(struct ut_tracy_device *d, const struct ut_tracy_key *key)
{
	uint32_t n = ut_idmap_take(&d->by_key, hash(key)), next = n ? d->runs[n - 1].next : 0;

	/* other keys with this hash, which are as good as none, are lost: their rows say so */
	if (!n || !ops_tracy_device_same_key(&d->runs[n - 1].key, key))
		return 0;
	if (next)
		ut_idmap_put(&d->by_key, hash(key), next);
	d->runs[n - 1].used = true;
	return n;
}

bool ut_tracy_device_ran(const struct ut_tracy_device *d, uint64_t op, int64_t device)
{
	return ut_idmap_get(&d->by_op, hash_op(op, device)) > 0;
}

/* ---- latencies ----------------------------------------------------------------------------- */

/* What was last seen of a device. */
struct last {
	double ns_per_cycle;
	struct ut_tracy_cycles kernel, dm;
};

static void put_latency(struct ut_ops_report *r, uint32_t column, const struct last *last,
			const struct ut_tracy_cycles *before, const struct ut_tracy_cycles *now)
{
	double gap = 0;
	char *text;

	if (now->known && before->known)
		gap = ((double)now->start - (double)before->end) * last->ns_per_cycle;
	text = ut_str_fmt(&r->arena, "%.0f", nearbyint(gap) + 0.0);
	ut_ops_put(r, column, (struct ut_str){ text, strlen(text) });
}

struct lasts {
	struct ut_idmap by_device;
	struct last *items;
	size_t count, cap;
	double ns_per_cycle; /* of all; 0 = the first rows tell */
};

static struct last *ops_tracy_device_last_of(struct lasts *lasts, const struct ut_tracy_run *run)
{
	uint32_t n = ut_idmap_get(&lasts->by_device, (uint64_t)run->key.device);
	struct last *last;

	if (!n) {
		n = (uint32_t)++lasts->count;
		lasts->items = ut_grow(lasts->items, n, &lasts->cap, sizeof(*last));
		lasts->items[n - 1] = (struct last){ .ns_per_cycle = lasts->ns_per_cycle };
		ut_idmap_put(&lasts->by_device, (uint64_t)run->key.device, n);
	}
	last = &lasts->items[n - 1];
	if (last->ns_per_cycle <= 0 && run->fw.known && run->fw.end > run->fw.start)
		last->ns_per_cycle = run->fw_ns / (double)(run->fw.end - run->fw.start);
	return last;
}

void ut_tracy_device_latencies(const struct ut_tracy_device *d,
			       const struct ut_tracy_columns *columns, struct ut_ops_report *r)
{
	struct lasts lasts = { .ns_per_cycle = d->ns_per_cycle };

	ut_idmap_init(&lasts.by_device, &r->arena);
	for (size_t i = 0; i < r->row_count; i++) {
		struct ut_ops_row *row = &r->rows[i];
		const struct ut_tracy_run *run = row->tag ? &d->runs[row->tag - 1] : NULL;
		size_t first = r->cell_count;
		struct last *last;

		if (!run)
			continue;
		last = ops_tracy_device_last_of(&lasts, run);
		if (!run->has_latency && (run->kernel.known || run->reported))
			put_latency(r, columns->id[UT_TRACY_LATENCY], last, &last->kernel,
				    &run->kernel);
		if (!run->has_latency_dm && (run->dm.known || run->reported))
			put_latency(r, columns->id[UT_TRACY_LATENCY_DM], last, &last->dm, &run->dm);
		row->parts[UT_OPS_PARTS - 1] = ut_ops_since(r, first);
		if (run->kernel.known)
			last->kernel = run->kernel;
		if (run->dm.known)
			last->dm = run->dm;
	}
	free(lasts.items);
}
