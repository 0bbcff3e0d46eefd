/* itt_number.c - counters, histograms, clock domains and tracks. */
#define INTEL_NO_MACRO_BODY
#include <stdatomic.h>
#include <string.h>

#include "collect/adopt.h"
#include "collect/hook.h"
#include "collect/mem.h"
#include "collect/number.h"
#include "wire/control.h"

#define BUCKETS   1024u
#define MOST_BINS 800u
#define MOST_TEXT 1024u

/* ---- counters ------------------------------------------------------------------------------ */

struct counter {
	struct counter *next;
	uint32_t id;               /* 0 = the session does not want it */
	uint32_t name, domain;     /* string numbers */
	uint32_t type;             /* __itt_metadata_type */
	_Atomic uint64_t value;    /* what inc and dec have made of it */
	__itt_counter_info_t info; /* what the program holds */
};

static _Atomic(struct counter *) counters[BUCKETS];

static void define_counter(struct counter *c)
{
	uint64_t words[2];

	c->id = ut_number_next();
	words[0] = ut_pack(c->id, c->name);
	words[1] = ut_pack(c->domain, c->type);
	ut_number_define(UT_REC_COUNTER_DEF, words, 2, NULL, 0);
}

static struct counter *itt_number_look_up(uint32_t name, uint32_t domain)
{
	struct counter *c = atomic_load_explicit(&counters[(name * 31 + domain) % BUCKETS],
						 memory_order_acquire);

	while (c && (c->name != name || c->domain != domain))
		c = c->next;
	return c;
}

static struct counter *itt_number_add_counter(uint32_t name, const char *domain, uint32_t type)
{
	const struct ut_control *control = ut_gate_settings();
	struct counter *c = ut_mem_alloc(sizeof(*c)), *head;
	_Atomic(struct counter *) *bucket;

	if (!c)
		return NULL;
	c->name = name;
	c->domain = ut_intern_z(domain);
	c->type = type;
	c->info.type = (int)type;
	c->info.index = (long)(intptr_t)c;
	if (control && ut_control_passes(control->include, control->exclude, domain ? domain : ""))
		define_counter(c);
	bucket = &counters[(name * 31 + c->domain) % BUCKETS];
	head = atomic_load_explicit(bucket, memory_order_acquire);
	do {
		struct counter *other = itt_number_look_up(name, c->domain);

		if (other)
			return other; /* another thread was faster */
		c->next = head;
	} while (!atomic_compare_exchange_strong(bucket, &head, c));
	return c;
}

/* One counter for one name in one domain, whoever asks. */
static struct counter *find_counter(uint32_t name, const char *domain, uint32_t type)
{
	struct counter *c = itt_number_look_up(name, ut_intern_z(domain));

	return c ? c : itt_number_add_counter(name, domain, type);
}

static __itt_counter create(const char *name, const char *domain, __itt_metadata_type type)
{
	struct counter *c = NULL;

	if (name && ut_gate_wake())
		c = find_counter(ut_intern_z(name), domain, (uint32_t)type);
	return c ? (__itt_counter)(void *)&c->info : NULL;
}

__itt_counter __itt_counter_create(const char *name, const char *domain)
{
	return create(name, domain, __itt_metadata_u64);
}

__itt_counter __itt_counter_create_typed(const char *name, const char *domain,
					 __itt_metadata_type type)
{
	return create(name, domain, type);
}

__itt_counter __itt_counter_create_v3(const __itt_domain *domain, const char *name,
				      __itt_metadata_type type)
{
	return create(name, domain ? domain->nameA : NULL, type);
}

void __itt_counter_destroy(__itt_counter counter)
{
	(void)counter; /* its last value stands; the name may come back */
}

/* The handle is ours, or one that a static part made before we came; both lead to the counter
 * through index, which static parts leave at 0. */
static struct counter *itt_number_counter_of(__itt_counter handle)
{
	__itt_counter_info_t *info = (void *)handle;

	if (!info)
		return NULL;
	if (!info->index)
		ut_adopt_counter(info);
	return (struct counter *)(intptr_t)info->index;
}

void ut_adopt_counter(__itt_counter_info_t *info)
{
	uint32_t type = info->type ? (uint32_t)info->type : __itt_metadata_u64;
	struct counter *c =
		info->nameA ? find_counter(ut_intern_z(info->nameA), info->domainA, type) : NULL;

	info->index = (long)(intptr_t)c;
}

static void itt_number_put(struct ut_tbuf *t, const struct counter *c, uint64_t value)
{
	uint64_t words[2] = { ut_pack(c->id, c->type), value };

	ut_tbuf_words(t, UT_REC_COUNTER, words, 2);
}

/* Kept right also while nothing is recorded. */
static void change(struct counter *c, uint64_t delta)
{
	uint64_t value;
	struct ut_tbuf *t;

	if (!c)
		return;
	value = atomic_fetch_add_explicit(&c->value, delta, memory_order_relaxed) + delta;
	t = c->id ? ut_hook() : NULL;
	if (t)
		itt_number_put(t, c, value);
}

void __itt_counter_inc(__itt_counter counter)
{
	change(itt_number_counter_of(counter), 1);
}

void __itt_counter_inc_delta(__itt_counter counter, unsigned long long delta)
{
	change(itt_number_counter_of(counter), delta);
}

void __itt_counter_dec(__itt_counter counter)
{
	change(itt_number_counter_of(counter), UINT64_MAX);
}

void __itt_counter_dec_delta(__itt_counter counter, unsigned long long delta)
{
	change(itt_number_counter_of(counter), 0 - (uint64_t)delta);
}

static struct counter *counter_v3(const __itt_domain *domain, const __itt_string_handle *name)
{
	uint32_t s = ut_string_id(name);

	return domain && s ? find_counter(s, domain->nameA, __itt_metadata_u64) : NULL;
}

void __itt_counter_inc_v3(const __itt_domain *domain, __itt_string_handle *name)
{
	change(counter_v3(domain, name), 1);
}

void __itt_counter_inc_delta_v3(const __itt_domain *domain, __itt_string_handle *name,
				unsigned long long delta)
{
	change(counter_v3(domain, name), delta);
}

void __itt_counter_dec_v3(const __itt_domain *domain, __itt_string_handle *name)
{
	change(counter_v3(domain, name), UINT64_MAX);
}

void __itt_counter_dec_delta_v3(const __itt_domain *domain, __itt_string_handle *name,
				unsigned long long delta)
{
	change(counter_v3(domain, name), 0 - (uint64_t)delta);
}

/* The bits of a value as the record keeps them: integers as 64 bits, floats as doubles. */
static uint64_t itt_number_read_value(uint32_t type, const void *p)
{
	uint64_t bits = 0;
	double d;
	float f;
	int32_t s32;
	int16_t s16;

	switch (type) {
	case __itt_metadata_u32:
		memcpy(&bits, p, 4);
		return bits;
	case __itt_metadata_s32:
		memcpy(&s32, p, 4);
		return (uint64_t)(int64_t)s32;
	case __itt_metadata_u16:
		memcpy(&bits, p, 2);
		return bits;
	case __itt_metadata_s16:
		memcpy(&s16, p, 2);
		return (uint64_t)(int64_t)s16;
	case __itt_metadata_float:
		memcpy(&f, p, 4);
		d = (double)f;
		memcpy(&bits, &d, 8);
		return bits;
	default:
		memcpy(&bits, p, 8);
		return bits;
	}
}

void __itt_counter_set_value_ex(__itt_counter counter, __itt_clock_domain *clock,
				unsigned long long timestamp, void *value)
{
	struct counter *c = itt_number_counter_of(counter);
	uint64_t words[4] = { 0 };
	struct ut_tbuf *t;

	if (!c || !value)
		return;
	words[1] = itt_number_read_value(c->type, value);
	atomic_store_explicit(&c->value, words[1], memory_order_relaxed);
	t = c->id ? ut_hook() : NULL;
	if (!t)
		return;
	words[0] = ut_pack(c->id, c->type);
	words[2] = ut_clock_id(clock);
	words[3] = timestamp;
	ut_tbuf_words(t, words[2] ? UT_REC_COUNTER_CLOCK : UT_REC_COUNTER, words, words[2] ? 4 : 2);
}

void __itt_counter_set_value(__itt_counter counter, void *value)
{
	__itt_counter_set_value_ex(counter, NULL, 0, value);
}

void __itt_counter_set_value_v3(__itt_counter counter, void *value)
{
	__itt_counter_set_value_ex(counter, NULL, 0, value);
}

/* What a text about a counter has that is kept; counted when there is more. */
static size_t kept_length(const char *text)
{
	size_t len = strnlen(text, MOST_TEXT + 1);

	if (len <= MOST_TEXT)
		return len;
	ut_writer_count_cut();
	return MOST_TEXT;
}

static void describe_counter(const struct counter *c, const __itt_context_metadata *m)
{
	bool is_text = m->type >= __itt_context_nameA && m->type <= __itt_context_pci_addrW;
	uint64_t words[2] = { ut_pack(c->id, (uint32_t)m->type) };
	size_t len;

	if (!m->value)
		return;
	len = is_text ? kept_length(m->value) : sizeof(uint64_t);
	words[1] = len;
	ut_number_define(UT_REC_COUNTER_META, words, 2, m->value, len);
}

void __itt_bind_context_metadata_to_counter(__itt_counter counter, size_t length,
					    __itt_context_metadata *metadata)
{
	const struct counter *c = itt_number_counter_of(counter);

	for (size_t i = 0; c && c->id && metadata && i < length && i < 64; i++)
		describe_counter(c, &metadata[i]);
}

void ut_adopt_counter_metadata(const __itt_counter_metadata *node)
{
	const struct counter *c = itt_number_counter_of(node->counter);
	uint64_t words[2];

	if (!c || !c->id)
		return;
	words[0] = ut_pack(c->id, (uint32_t)node->type);
	words[1] = node->str_valueA ? kept_length(node->str_valueA) : sizeof(node->value);
	ut_number_define(UT_REC_COUNTER_META, words, 2,
			 node->str_valueA ? (const void *)node->str_valueA : &node->value,
			 (size_t)words[1]);
}

/* ---- histograms ---------------------------------------------------------------------------- */

void ut_adopt_histogram(__itt_histogram *h)
{
	uint64_t words[2];

	h->extra1 = (int)ut_number_next();
	words[0] = ut_pack((uint32_t)h->extra1, ut_intern_z(h->nameA));
	words[1] = ut_pack(ut_domain_id(h->domain), (uint32_t)h->x_type | (uint32_t)h->y_type << 8);
	ut_number_define(UT_REC_HISTOGRAM_DEF, words, 2, NULL, 0);
}

__itt_histogram *__itt_histogram_create(const __itt_domain *domain, const char *name,
					__itt_metadata_type x_type, __itt_metadata_type y_type)
{
	__itt_histogram *h = ut_mem_alloc(sizeof(*h));
	__itt_string_handle *text = ut_intern_handle(name);

	if (!h || !ut_gate_wake())
		return h;
	h->domain = domain;
	h->nameA = text ? text->strA : NULL;
	h->x_type = x_type;
	h->y_type = y_type;
	ut_adopt_histogram(h);
	return h;
}

static uint64_t bin(__itt_metadata_type type, const void *data, size_t i)
{
	static const unsigned char sizes[] = { 8, 8, 8, 4, 4, 2, 2, 4, 8 };
	size_t size = (unsigned int)type < sizeof(sizes) ? sizes[type] : 8;

	return data ? itt_number_read_value((uint32_t)type, (const char *)data + i * size) : i;
}

void __itt_histogram_submit(__itt_histogram *h, size_t length, void *x_data, void *y_data)
{
	uint64_t values[2 * MOST_BINS], word;
	uint32_t d;
	struct ut_tbuf *t = h ? ut_hook_domain(h->domain, &d) : NULL;

	if (!t || !y_data || h->extra1 <= 0)
		return;
	if (length > MOST_BINS) {
		length = MOST_BINS;
		ut_writer_count_cut();
	}
	for (size_t i = 0; i < length; i++) {
		values[i] = bin(h->x_type, x_data, i);
		values[length + i] = bin(h->y_type, y_data, i);
	}
	word = ut_pack((uint32_t)h->extra1, (uint32_t)length);
	ut_tbuf_record(t, UT_REC_HISTOGRAM, &word, 1, values, 2 * length * sizeof(values[0]));
}

/* ---- clock domains and tracks -------------------------------------------------------------- */

static _Atomic(__itt_clock_domain *) clocks;

static void read_clock(__itt_clock_domain *c)
{
	uint64_t words[4] = { (uint32_t)c->extra1 };

	if (c->fn)
		c->fn(&c->info, c->fn_data);
	words[1] = c->info.clock_freq;
	words[2] = c->info.clock_base;
	words[3] = ut_clock_ticks(ut_writer_clock);
	ut_number_define(UT_REC_CLOCK_DOMAIN, words, 4, NULL, 0);
}

__itt_clock_domain *__itt_clock_domain_create(__itt_get_clock_info_fn fn, void *fn_data)
{
	__itt_clock_domain *c = ut_mem_alloc(sizeof(*c));

	if (!c || !ut_gate_wake())
		return c;
	c->fn = fn;
	c->fn_data = fn_data;
	c->extra1 = (int)ut_number_next();
	read_clock(c);
	c->next = atomic_load(&clocks);
	while (!atomic_compare_exchange_weak(&clocks, &c->next, c))
		;
	return c;
}

void __itt_clock_domain_reset(void)
{
	for (__itt_clock_domain *c = atomic_load(&clocks); c; c = c->next)
		read_clock(c);
}

__itt_track_group *__itt_track_group_create(__itt_string_handle *name, __itt_track_group_type type)
{
	__itt_track_group *group = ut_mem_alloc(sizeof(*group));
	uint64_t word;

	if (!group || !ut_gate_wake())
		return group;
	group->name = name;
	group->tgtype = type;
	group->extra1 = (int)ut_number_next();
	word = ut_pack((uint32_t)group->extra1, ut_string_id(name));
	ut_number_define(UT_REC_TRACK_GROUP, &word, 1, NULL, 0);
	return group;
}

__itt_track *__itt_track_create(__itt_track_group *group, __itt_string_handle *name,
				__itt_track_type type)
{
	__itt_track *track = ut_mem_alloc(sizeof(*track));
	uint64_t words[2];

	if (!track || !ut_gate_wake())
		return track;
	track->name = name;
	track->group = group;
	track->ttype = type;
	track->extra1 = (int)ut_number_next();
	words[0] = ut_pack((uint32_t)track->extra1, group ? (uint32_t)group->extra1 : 0);
	words[1] = ut_pack(ut_string_id(name), (uint32_t)type);
	ut_number_define(UT_REC_TRACK, words, 2, NULL, 0);
	return track;
}

/* NULL: back to the thread's own. */
void __itt_set_track(__itt_track *track)
{
	struct ut_tbuf *t = ut_hook();
	uint64_t word = track && track->extra1 > 0 ? (uint32_t)track->extra1 : 0;

	if (t)
		ut_tbuf_words(t, UT_REC_SET_TRACK, &word, 1);
}
