/* intern.c - see intern.h. */
#include "collect/intern.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "collect/gate.h"
#include "collect/mem.h"
#include "collect/number.h"
#include "wire/control.h"

#define STRING_BUCKETS 65536u
#define DOMAIN_BUCKETS 1024u
#define LONGEST        60000u /* a record has to fit a chunk */

struct string {
	struct string *next;
	uint64_t hash;
	uint32_t id;
	uint32_t len;
	__itt_string_handle handle;
	char text[];
};

struct domain {
	struct domain *next;
	uint64_t hash;
	uint32_t id;
	uint32_t string;
	__itt_domain domain;
};

static _Atomic(struct string *) strings[STRING_BUCKETS];
static _Atomic(struct domain *) domains[DOMAIN_BUCKETS];
static _Atomic uint32_t string_count;
static _Atomic uint32_t domain_count;

/* ---- strings ------------------------------------------------------------------------------- */

static void define_string(const struct string *s)
{
	uint64_t word = ut_pack(s->id, s->len);

	ut_writer_define(UT_REC_STRING, &word, 1, s->text, s->len);
}

static struct string *find_string(uint64_t hash, const char *text, size_t len)
{
	struct string *s =
		atomic_load_explicit(&strings[hash % STRING_BUCKETS], memory_order_acquire);

	while (s && (s->hash != hash || s->len != len || memcmp(s->text, text, len) != 0))
		s = s->next;
	return s;
}

/* Two threads may add the same text at once: the second takes what the first has made, and the
 * number it had got is never used. */
static struct string *add_string(uint64_t hash, const char *text, size_t len)
{
	_Atomic(struct string *) *bucket = &strings[hash % STRING_BUCKETS];
	struct string *s = ut_mem_alloc(sizeof(*s) + len + 1);
	struct string *head = atomic_load_explicit(bucket, memory_order_acquire);

	if (!s)
		return NULL;
	s->hash = hash;
	s->len = (uint32_t)len;
	s->id = atomic_fetch_add(&string_count, 1) + 1;
	memcpy(s->text, text, len);
	s->handle.strA = s->text;
	s->handle.extra1 = (int)s->id;
	if (ut_gate_wake()) /* else a forked child would write to its parent's spool */
		define_string(s);
	do {
		struct string *other = find_string(hash, text, len);

		if (other)
			return other;
		s->next = head;
	} while (!atomic_compare_exchange_strong(bucket, &head, s));
	return s;
}

static struct string *intern(const char *text, size_t len)
{
	uint64_t hash;
	struct string *s;

	if (len > LONGEST)
		len = LONGEST;
	hash = ut_hash_bytes(text, len);
	s = find_string(hash, text, len);
	return s ? s : add_string(hash, text, len);
}

uint32_t ut_intern(const char *text, size_t len)
{
	const struct string *s = text ? intern(text, len) : NULL;

	return s ? s->id : 0;
}

uint32_t ut_intern_z(const char *text)
{
	return text ? ut_intern(text, strlen(text)) : 0;
}

uint32_t ut_intern_number(void)
{
	return atomic_fetch_add(&string_count, 1) + 1;
}

__itt_string_handle *ut_intern_handle(const char *name)
{
	static __itt_string_handle spare;
	struct string *s = name ? intern(name, strlen(name)) : NULL;

	return s ? &s->handle : name ? &spare : NULL;
}

void ut_intern_adopt_string(__itt_string_handle *handle)
{
	__atomic_store_n(&handle->extra1, (int)ut_intern_z(handle->strA), __ATOMIC_RELAXED);
}

uint32_t ut_string_id(const __itt_string_handle *handle)
{
	int id;

	if (!handle)
		return 0;
	id = __atomic_load_n(&handle->extra1, __ATOMIC_RELAXED);
	/* Made by a static part after it was adopted: it is found by its text each time, since
	 * the caller promised only to read it. */
	return id > 0 ? (uint32_t)id : ut_intern_z(handle->strA);
}

/* ---- domains ------------------------------------------------------------------------------- */

static void define_domain(const struct domain *d)
{
	uint64_t word = ut_pack(d->id, d->string);

	ut_writer_define(UT_REC_DOMAIN, &word, 1, NULL, 0);
}

static bool wanted(const char *name)
{
	const struct ut_control *control = ut_gate_settings();

	return !control || ut_control_passes(control->include, control->exclude, name);
}

static struct domain *find_domain(uint64_t hash, const char *name)
{
	struct domain *d =
		atomic_load_explicit(&domains[hash % DOMAIN_BUCKETS], memory_order_acquire);

	while (d && (d->hash != hash || strcmp(d->domain.nameA, name) != 0))
		d = d->next;
	return d;
}

static struct domain *add_domain(uint64_t hash, const char *name)
{
	_Atomic(struct domain *) *bucket = &domains[hash % DOMAIN_BUCKETS];
	struct domain *d = ut_mem_alloc(sizeof(*d));
	struct domain *head = atomic_load_explicit(bucket, memory_order_acquire);
	const struct string *s = intern(name, strlen(name));

	if (!d || !s)
		return NULL;
	d->hash = hash;
	d->string = s->id;
	d->domain.nameA = s->text;
	d->domain.flags = wanted(s->text);
	d->id = d->domain.flags ? atomic_fetch_add(&domain_count, 1) + 1 : UT_DOMAIN_UNWANTED;
	d->domain.extra1 = (int)d->id;
	if (d->domain.flags && ut_gate_wake())
		define_domain(d);
	do {
		struct domain *other = find_domain(hash, name);

		if (other)
			return other;
		d->next = head;
	} while (!atomic_compare_exchange_strong(bucket, &head, d));
	return d;
}

static struct domain *intern_domain(const char *name)
{
	uint64_t hash = ut_hash_bytes(name, strlen(name));
	struct domain *d = find_domain(hash, name);

	return d ? d : add_domain(hash, name);
}

__itt_domain *ut_intern_domain(const char *name)
{
	/* libomp 14 and oneTBB 2021.8 crash on NULL. */
	static __itt_domain spare = { .nameA = "", .extra1 = UT_DOMAIN_UNWANTED };
	struct domain *d = name ? intern_domain(name) : NULL;

	return d ? &d->domain : name ? &spare : NULL;
}

void ut_intern_adopt_domain(__itt_domain *domain)
{
	const struct domain *d = domain->nameA ? intern_domain(domain->nameA) : NULL;

	if (!d)
		return;
	__atomic_store_n(&domain->extra1, (int)d->id, __ATOMIC_RELAXED);
	if (!d->domain.flags)
		domain->flags = 0; /* saves the application even the call */
}

uint32_t ut_domain_id_by_name(const char *name)
{
	const struct domain *d = name ? intern_domain(name) : NULL;

	return d ? d->id : 0;
}

uint32_t ut_domain_id(const __itt_domain *domain)
{
	int id;

	if (!domain)
		return 0;
	id = __atomic_load_n(&domain->extra1, __ATOMIC_RELAXED);
	return id > 0 ? (uint32_t)id : ut_domain_id_by_name(domain->nameA);
}

void ut_intern_replay(void)
{
	for (uint32_t i = 0; i < STRING_BUCKETS; i++)
		for (struct string *s = atomic_load(&strings[i]); s; s = s->next)
			define_string(s);
	for (uint32_t i = 0; i < DOMAIN_BUCKETS; i++)
		for (struct domain *d = atomic_load(&domains[i]); d; d = d->next)
			if (d->id != UT_DOMAIN_UNWANTED)
				define_domain(d);
	ut_number_replay();
}
