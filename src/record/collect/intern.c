/* intern.c - see intern.h. */
#include "collect/intern.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "collect/gate.h"
#include "collect/mem.h"
#include "collect/names.h"
#include "collect/number.h"
#include "wire/control.h"

#define STRING_BITS 16u
#define DOMAIN_BITS 10u
#define LONGEST     60000u     /* a record has to fit a chunk */
#define MOST        (1u << 24) /* names: some 2 GB; what comes then is called BEYOND */
#define BEYOND      "(beyond 16777216 names)"

struct string {
	struct ut_name name;
	uint32_t id;
	uint32_t len;
	__itt_string_handle handle;
	char text[];
};

struct domain {
	struct ut_name name;
	uint32_t id;
	uint32_t string;
	__itt_domain domain;
};

static _Atomic uintptr_t string_slots[1u << STRING_BITS], domain_slots[1u << DOMAIN_BITS];
static _Atomic uint32_t string_count;
static _Atomic uint32_t domain_count;
static _Atomic uint32_t lost;  /* see lost_name(); 0 = not needed yet */
static _Atomic bool undefined; /* a name was made while the spool was being made ready */

static bool string_is(const struct ut_name *name, const char *text, size_t len)
{
	const struct string *s = (const struct string *)name;

	return s->len == len && !memcmp(s->text, text, len);
}

static bool domain_is(const struct ut_name *name, const char *text, size_t len)
{
	const struct domain *d = (const struct domain *)name;

	return !strncmp(d->domain.nameA, text, len) && !d->domain.nameA[len];
}

static const struct ut_names strings = { string_slots, STRING_BITS, string_is };
static const struct ut_names domains = { domain_slots, DOMAIN_BITS, domain_is };

/* May a definition be written? If not, it is when the spool is ready. */
static bool may_define(void)
{
	if (ut_gate_wake()) /* else a forked child would write to its parent's spool */
		return true;
	atomic_store_explicit(&undefined, true, memory_order_relaxed);
	return false;
}

/* ---- strings ------------------------------------------------------------------------------- */

static void define_string(const struct string *s)
{
	uint64_t word = ut_pack(s->id, s->len);

	ut_writer_define(UT_REC_STRING, &word, 1, s->text, s->len);
}

/* Two threads may add the same text at once: the second takes what the first has made, and the
 * number it had got is never used. */
static struct string *add_string(uint64_t hash, const char *text, size_t len)
{
	struct string *s = ut_mem_alloc(sizeof(*s) + len + 1);

	if (!s)
		return NULL;
	s->name.hash = hash;
	s->len = (uint32_t)len;
	s->id = atomic_fetch_add(&string_count, 1) + 1;
	memcpy(s->text, text, len);
	s->handle.strA = s->text;
	s->handle.extra1 = (int)s->id;
	if (may_define())
		define_string(s);
	return (struct string *)ut_names_add(&strings, &s->name, text, len);
}

static struct string *intern_intern(const char *text, size_t len)
{
	bool cut = len > LONGEST;
	uint64_t hash;
	struct ut_name *found;

	if (cut)
		len = LONGEST;
	hash = ut_hash_bytes(text, len);
	found = ut_names_find(&strings, hash, text, len);
	if (found)
		return (struct string *)found;
	if (cut)
		ut_writer_count_cut();
	if (atomic_load_explicit(&string_count, memory_order_relaxed) < MOST)
		return add_string(hash, text, len);
	ut_writer_count_dropped();
	hash = ut_hash_bytes(BEYOND, strlen(BEYOND));
	found = ut_names_find(&strings, hash, BEYOND, strlen(BEYOND));
	return found ? (struct string *)found : add_string(hash, BEYOND, strlen(BEYOND));
}

/* The number of everything whose name found no memory. It is never defined, so that the reader
 * knows: better than no name at all. */
static uint32_t lost_name(void)
{
	uint32_t id = atomic_load(&lost), none = 0;

	if (id)
		return id;
	id = ut_intern_number();
	return atomic_compare_exchange_strong(&lost, &none, id) ? id : none;
}

uint32_t ut_intern(const char *text, size_t len)
{
	const struct string *s = text ? intern_intern(text, len) : NULL;

	return s ? s->id : text ? lost_name() : 0;
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
	struct string *s = name ? intern_intern(name, strlen(name)) : NULL;

	if (name && !s)
		__atomic_store_n(&spare.extra1, (int)lost_name(), __ATOMIC_RELAXED);
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

static struct domain *add_domain(uint64_t hash, const char *name)
{
	struct domain *d = ut_mem_alloc(sizeof(*d));
	const struct string *s = intern_intern(name, strlen(name));

	if (!d || !s)
		return NULL;
	d->name.hash = hash;
	d->string = s->id;
	d->domain.nameA = s->text;
	d->domain.flags = wanted(s->text);
	d->id = d->domain.flags ? atomic_fetch_add(&domain_count, 1) + 1 : UT_DOMAIN_UNWANTED;
	d->domain.extra1 = (int)d->id;
	if (may_define()) /* the unwanted too: who finds nothing is told what there was */
		define_domain(d);
	return (struct domain *)ut_names_add(&domains, &d->name, d->domain.nameA, s->len);
}

static struct domain *intern_domain(const char *name)
{
	size_t len = strnlen(name, LONGEST);
	uint64_t hash = ut_hash_bytes(name, len);
	struct ut_name *found = ut_names_find(&domains, hash, name, len);

	return found ? (struct domain *)found : add_domain(hash, name);
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

static void replay_string(struct ut_name *name)
{
	define_string((const struct string *)name);
}

static void replay_domain(struct ut_name *name)
{
	define_domain((const struct domain *)name);
}

void ut_intern_replay(void)
{
	atomic_store_explicit(&undefined, false, memory_order_relaxed);
	ut_names_each(&strings, replay_string);
	ut_names_each(&domains, replay_domain);
	ut_number_replay();
}

void ut_intern_catch_up(void)
{
	if (atomic_load_explicit(&undefined, memory_order_relaxed))
		ut_intern_replay();
}
