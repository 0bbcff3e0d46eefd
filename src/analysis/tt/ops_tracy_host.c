#include "tt/ops_tracy_host.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "text/csv_read.h"

/* The number behind "id:", wherever that is. */
static bool find_id(struct ut_str text, uint64_t *id)
{
	const char *at = memmem(text.ptr, text.len, "id:", 3), *end = text.ptr + text.len;
	struct ut_str digits;

	if (!at)
		return false;
	digits.ptr = at + 3;
	for (at = digits.ptr; at < end && *at >= '0' && *at <= '9'; at++)
		;
	digits.len = (size_t)(at - digits.ptr);
	return ut_csv_number(digits, id);
}

/* The op's entry, made if need be; the pointer holds until the next one. */
static struct ut_tracy_time *ops_tracy_host_time_of(struct ut_tracy_host *h, uint64_t op)
{
	uint32_t n = ut_idmap_get(&h->by_op, op);

	if (n)
		return &h->times[n - 1];
	h->times = ut_grow(h->times, ++h->time_count, &h->time_cap, sizeof(*h->times));
	h->times[h->time_count - 1] = (struct ut_tracy_time){ 0 };
	ut_idmap_put(&h->by_op, op, (uint32_t)h->time_count);
	return &h->times[h->time_count - 1];
}

static void ops_tracy_host_add_call(struct ut_tracy_host *h, uint64_t op, uint32_t column,
				    uint64_t ns)
{
	uint64_t key = op << 20 | column;
	uint32_t n;

	if (column == UT_OPS_NO_COLUMN)
		return;
	n = ut_idmap_get(&h->by_call, key);
	if (!n) {
		struct ut_tracy_time *t = ops_tracy_host_time_of(h, op);

		h->children =
			ut_grow(h->children, ++h->child_count, &h->child_cap, sizeof(*h->children));
		n = (uint32_t)h->child_count;
		h->children[n - 1] = (struct ut_tracy_child){ .column = column, .next = t->child };
		t->child = n;
		ut_idmap_put(&h->by_call, key, n);
	}
	h->children[n - 1].ns += ns;
}

static bool names_op(struct ut_str name)
{
	return memmem(name.ptr, name.len, "TT_DNN", 6) || memmem(name.ptr, name.len, "TT_METAL", 8);
}

struct fields {
	size_t name, text, start, ns, parent;
};

static void read_zone(struct ut_tracy_host *h, struct ut_ops_report *r, const struct ut_csv *csv,
		      const struct fields *f)
{
	struct ut_str name = ut_csv_field(csv, f->name);
	uint64_t start, ns, op;

	if (!ut_csv_number(ut_csv_field(csv, f->start), &start) ||
	    !ut_csv_number(ut_csv_field(csv, f->ns), &ns))
		return;
	if (names_op(name) && find_id(ut_csv_field(csv, f->text), &op)) {
		struct ut_tracy_time *t = ops_tracy_host_time_of(h, op);

		t->timed = true;
		t->start = start;
		t->ns = ns;
	}
	if (find_id(ut_csv_field(csv, f->parent), &op) && op >> 44 == 0)
		ops_tracy_host_add_call(h, op, ut_tracy_call(r, name), ns);
}

void ut_tracy_host_read(struct ut_tracy_host *h, struct ut_ops_report *r, struct ut_csv *csv)
{
	struct fields f;

	*h = (struct ut_tracy_host){ 0 };
	ut_idmap_init(&h->by_op, &r->arena);
	ut_idmap_init(&h->by_call, &r->arena);
	if (!csv)
		return;
	f = (struct fields){
		ut_csv_find(csv, "name"),
		ut_csv_find(csv, "zone_text"),
		ut_csv_find(csv, "ns_since_start"),
		ut_csv_find(csv, "exec_time_ns"),
		ut_csv_find(csv, "special_parent_text"),
	};
	while (ut_csv_next(csv))
		read_zone(h, r, csv, &f);
}

void ut_tracy_host_release(struct ut_tracy_host *h)
{
	free(h->times);
	free(h->children);
}

bool ut_tracy_host_start(const struct ut_tracy_host *h, uint64_t op, uint64_t *start)
{
	uint32_t n = ut_idmap_get(&h->by_op, op);

	if (!n || !h->times[n - 1].timed)
		return false;
	*start = h->times[n - 1].start;
	return true;
}

void ut_tracy_host_put(const struct ut_tracy_host *h, const struct ut_tracy_columns *columns,
		       struct ut_ops_report *r, uint64_t op)
{
	uint32_t n = ut_idmap_get(&h->by_op, op);
	const struct ut_tracy_time *t;

	if (!n)
		return;
	t = &h->times[n - 1];
	if (t->timed) {
		ut_ops_put_u64(r, columns->id[UT_TRACY_HOST_START], t->start);
		ut_ops_put_u64(r, columns->id[UT_TRACY_HOST_END], t->start + t->ns);
		ut_ops_put_u64(r, columns->id[UT_TRACY_HOST_TIME], t->ns);
	}
	for (uint32_t c = t->child; c; c = h->children[c - 1].next)
		ut_ops_put_u64(r, h->children[c - 1].column, h->children[c - 1].ns);
}
