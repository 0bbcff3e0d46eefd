/*
 * query.c - hardware metrics of each kernel (-q): a query around it, in the program's own list. Its
 * kernels run one after the other: in lists that do not keep order there are barriers before and
 * behind each.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "backend/levelzero/ze_measure.h"
#include "backend/levelzero/ze_memory.h"
#include "base/metric_list.h"

#define A_POOL      64u
#define MOST_DATA   (1u << 20)
#define MOST_VALUES (4u * UT_ZE_MOST_METRICS)
#define PATIENCE_NS UINT64_C(20000000) /* for the end of a query, behind its kernel */

struct ut_ze_query {
	struct ut_ze_query *next; /* free ones */
	struct measured *of;
	ze_handle handle;
};

struct pool {
	struct pool *next;
	ze_handle handle;
	struct ut_ze_query queries[A_POOL];
	uint32_t count;
};

/* A device in a context. */
struct measured {
	struct measured *next;
	struct ut_ze_context *context;
	struct ut_ze_device *device;
	struct ut_ze_group *group; /* NULL = it cannot be measured */
	struct pool *pools;
	struct ut_ze_query *free;
};

struct instances {
	struct ut_handle_item item;
	_Atomic uint64_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ut_handle_table kernels = { .size = sizeof(struct instances) };
static _Atomic uint64_t lost;

/* ---- a device in a context ----------------------------------------------------------------- */

/* The group is the device's, whatever context it is measured in. */
static struct ut_ze_group *levelzero_query_group_of(struct ut_ze_device *d)
{
	static struct {
		struct ut_ze_device *device;
		struct ut_ze_group *group;
	} known[64];
	size_t i = 0;

	while (i < 63 && known[i].device && known[i].device != d)
		i++;
	if (known[i].device != d) {
		known[i].device = d;
		known[i].group =
			d->id ? ut_ze_group_of(d, ut_ze_group_asked(), ZET_EVENT_BASED) : NULL;
	}
	return known[i].group;
}

static struct measured *levelzero_query_make(struct ut_ze_context *c, struct ut_ze_device *d)
{
	struct measured *m = ut_ze_alloc(sizeof(*m));
	ze_result rc;

	if (!m)
		return NULL;
	m->context = c;
	m->device = d;
	m->group = levelzero_query_group_of(d);
	if (m->group) {
		rc = ut_zet()->activate(ut_ze_handle(&c->item), ut_ze_handle(&d->item), 1,
					&m->group->handle);
		if (rc) {
			ut_ze_measure_complain("the group cannot be activated", rc);
			m->group = NULL;
		}
	}
	m->next = c->metrics;
	c->metrics = m;
	return m;
}

static struct measured *levelzero_query_find(struct ut_ze_context *c, struct ut_ze_device *d)
{
	struct measured *m = c->metrics;

	while (m && m->device != d)
		m = m->next;
	return m ? m : levelzero_query_make(c, d);
}

static void add_pool(struct measured *m)
{
	const struct zet_pool_desc desc = { .type = ZET_QUERY_POOL_DESC, .count = A_POOL };
	struct pool *p = ut_ze_alloc(sizeof(*p));
	ze_result rc = ZE_SUCCESS;

	if (!p)
		return;
	rc = ut_zet()->pool_create(ut_ze_handle(&m->context->item), ut_ze_handle(&m->device->item),
				   m->group->handle, &desc, &p->handle);
	if (rc) {
		ut_ze_measure_complain("there is no pool for queries", rc);
		ut_ze_free(p, sizeof(*p));
		return;
	}
	p->next = m->pools;
	m->pools = p;
	for (uint32_t i = 0; i < A_POOL && !rc; i++) {
		struct ut_ze_query *q = &p->queries[i];

		rc = ut_zet()->query_create(p->handle, i, &q->handle);
		if (rc) {
			ut_ze_measure_complain("a query cannot be made", rc);
			break;
		}
		p->count++;
		q->of = m;
		q->next = m->free;
		m->free = q;
	}
}

/* ---- around a kernel ----------------------------------------------------------------------- */

static bool levelzero_query_is_wanted(const struct ut_ze_facts *kernel)
{
	const char *list =
		UT_HOST_HAS(ut_ze.host, option) ? ut_ze.host->option("metrics.instances") : NULL;
	struct instances *i = list ? ut_handle_item_of(&kernels, kernel) : NULL;

	return !i || ut_metric_wants_instance(list, atomic_fetch_add(&i->count, 1) + 1);
}

struct ut_ze_query *ut_ze_query_take(struct ut_ze_context *c, struct ut_ze_device *d,
				     const struct ut_ze_facts *kernel)
{
	struct ut_ze_query *q = NULL;
	struct measured *m;

	if (!levelzero_query_is_wanted(kernel))
		return NULL;
	pthread_mutex_lock(&lock);
	m = levelzero_query_find(c, d);
	if (m && m->group && !m->free)
		add_pool(m);
	if (m && m->free) {
		q = m->free;
		m->free = q->next;
	}
	pthread_mutex_unlock(&lock);
	return q;
}

static bool put_in_order(ze_handle list, bool in_order)
{
	return in_order || !UT_ZE(zeCommandListAppendBarrier)(list, NULL, 0, NULL);
}

bool ut_ze_query_begin(struct ut_ze_query *q, ze_handle list, bool in_order)
{
	ze_result rc = put_in_order(list, in_order) ? ut_zet()->query_begin(list, q->handle)
						    : ZE_NOT_READY;

	if (rc)
		ut_ze_measure_complain("a query cannot be begun", rc);
	return !rc;
}

bool ut_ze_query_end(struct ut_ze_query *q, ze_handle list, bool in_order)
{
	ze_result rc = put_in_order(list, in_order)
			       ? ut_zet()->query_end(list, q->handle, NULL, 0, NULL)
			       : ZE_NOT_READY;

	if (rc)
		ut_ze_measure_complain("a query cannot be ended", rc);
	return !rc;
}

/* ---- what it says -------------------------------------------------------------------------- */

static ze_result read_data(const struct ut_ze_query *q, size_t *size, uint8_t *to)
{
	uint64_t since = ut_ze.host->now();
	ze_result rc;

	do {
		size_t room = *size;

		rc = ut_zet()->query_data(q->handle, &room, to);
		if (rc != ZE_NOT_READY) {
			*size = room;
			return rc;
		}
		sched_yield();
	} while (ut_ze.host->now() - since < PATIENCE_NS);
	return rc;
}

void ut_ze_query_send(struct ut_ze_query *q, const struct ut_work *w)
{
	static struct zet_value values[MOST_VALUES];
	struct ut_ze_group *g = q->of->group;
	struct ut_values about = {
		.name = w->name, .begin = w->start, .end = w->end, .correlation = w->correlation
	};
	size_t size = 0;
	uint8_t *raw = NULL;

	if (read_data(q, &size, NULL) || !size || size > MOST_DATA) {
		ut_ze_query_lost();
		return;
	}
	raw = ut_ze_alloc(size);
	if (raw && !read_data(q, &size, raw) &&
	    ut_ze_group_values(g, raw, size, values, MOST_VALUES) >= g->count) {
		if (g->time >= 0)
			about.end = about.begin + ut_zet_integer(&values[g->time]);
		ut_ze_group_send(g, values, &about);
	} else {
		ut_ze_query_lost();
	}
	ut_ze_free(raw, size);
}

void ut_ze_query_lost(void)
{
	atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
}

void ut_ze_query_note_losses(void)
{
	uint64_t count = atomic_exchange(&lost, 0);
	char text[200];

	if (!count)
		return;
	snprintf(text, sizeof(text),
		 "-q: %llu runs of kernels were not measured: their lists were executed again "
		 "before they were complete, or the driver had no values",
		 (unsigned long long)count);
	ut_ze.host->note(text);
}

void ut_ze_query_give(struct ut_ze_query *q, bool kept)
{
	(void)ut_zet()->query_reset(q->handle);
	if (kept)
		return;
	pthread_mutex_lock(&lock);
	q->next = q->of->free;
	q->of->free = q;
	pthread_mutex_unlock(&lock);
}

/* Nothing of it is in use any more. */
void ut_ze_query_context_ends(struct ut_ze_context *c)
{
	struct measured *m;

	pthread_mutex_lock(&lock);
	while ((m = c->metrics)) {
		struct pool *p;

		c->metrics = m->next;
		while ((p = m->pools)) {
			m->pools = p->next;
			for (uint32_t i = 0; i < p->count; i++)
				(void)ut_zet()->query_destroy(p->queries[i].handle);
			(void)ut_zet()->pool_destroy(p->handle);
			ut_ze_free(p, sizeof(*p));
		}
		ut_ze_free(m, sizeof(*m));
	}
	pthread_mutex_unlock(&lock);
}
