/*
 * nvtx_payload.c - payloads of NVTX: schemas are kept, and what marks carry is read by them.
 *
 * Programs register some schemas as they begin and then name them in each mark. Places are taken
 * under a lock and never given back; whoever reads them sees those that were there when it began.
 */
#include "backend/cuda/nvtx_payload.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define MOST_SCHEMAS  512u  /* further ones are not taken */
#define MOST_FIELDS   4096u /* of all of them */
#define MOST_PAYLOADS 16u   /* of one mark */
#define LONGEST_TEXT  1023u
#define LOCK_TRIES    10000

enum reading {
	SKIPPED,
	SIGNED,
	UNSIGNED,
	REAL,
	TEXT,
	HANDLE,
	NAMED,
	LETTERS
};

struct field {
	__itt_string_handle *name;
	uint64_t type;   /* or the value of a name in an enumeration */
	uint32_t offset; /* in the payload */
	uint32_t size;   /* of what lies there */
	uint8_t reading; /* enum reading */
	bool message;
};

struct schema {
	uint64_t id;
	const __itt_domain *domain;
	uint32_t first, count; /* fields */
	uint32_t size;
	bool names; /* it is an enumeration */
};

static struct schema schemas[MOST_SCHEMAS];
static struct field fields[MOST_FIELDS];
static uint32_t field_count;          /* under the lock */
static _Atomic uint32_t schema_count; /* set when they are whole */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- types --------------------------------------------------------------------------------- */

struct type {
	uint32_t size; /* 0 = unknown */
	enum reading reading;
};

static const struct schema *nvtx_payload_find(const __itt_domain *domain, uint64_t id)
{
	uint32_t count = atomic_load_explicit(&schema_count, memory_order_acquire);

	if (id >= NVTX_FIRST_GIVEN_ID)
		return id - NVTX_FIRST_GIVEN_ID < count ? &schemas[id - NVTX_FIRST_GIVEN_ID] : NULL;
	for (uint32_t i = 0; i < count; i++) {
		if (schemas[i].id == id && schemas[i].domain == domain)
			return &schemas[i];
	}
	return NULL;
}

static struct type nvtx_payload_type_of(const __itt_domain *domain, uint64_t type)
{
	const struct schema *s;

	switch (type) {
#define TYPE(name, number, size, reading)                                                          \
	case number:                                                                               \
		return (struct type){ size, reading };
		NVTX_TYPE_LIST(TYPE)
#undef TYPE
	default:
		s = type >= NVTX_FIRST_OWN_ID ? nvtx_payload_find(domain, type) : NULL;
		return s ? (struct type){ s->size, s->names ? NAMED : SKIPPED }
			 : (struct type){ 0 };
	}
}

/* ---- registering --------------------------------------------------------------------------- */

/* What lies in the payload for an entry; size 0: nobody knows how much that is. */
static struct type lies_there(const __itt_domain *domain, const struct nvtx_entry *e)
{
	struct type one = nvtx_payload_type_of(domain, e->type);

	if (e->flags & (NVTX_ENTRY_POINTER | NVTX_ENTRY_ELSEWHERE))
		return (struct type){ sizeof(void *), SKIPPED };
	if (!(e->flags & NVTX_ENTRY_ARRAY))
		return one;
	if ((e->flags & NVTX_ENTRY_ARRAY) != NVTX_ENTRY_ARRAY_FIXED || e->detail > UINT16_MAX)
		return (struct type){ 0 };
	return (struct type){ one.size * (uint32_t)e->detail,
			      one.size == 1 && one.reading == SIGNED ? LETTERS : SKIPPED };
}

static uint32_t aligned(const __itt_domain *domain, uint32_t at, const struct nvtx_entry *e,
			size_t most)
{
	struct type one = e->flags & (NVTX_ENTRY_POINTER | NVTX_ENTRY_ELSEWHERE)
				  ? (struct type){ sizeof(void *), SKIPPED }
				  : nvtx_payload_type_of(domain, e->type);
	uint32_t align = one.size && !(one.size & (one.size - 1)) ? one.size : 1;

	align = align > 16 ? 8 : align;
	if (most && align > most)
		align = (uint32_t)most;
	return (at + align - 1) / align * align;
}

/* Of fields behind one of unknown size only those are taken that say where they are. */
static void take_fields(const __itt_domain *domain, struct schema *s,
			const struct nvtx_schema *from)
{
	size_t most = from->known & NVTX_SCHEMA_HAS_ALIGN ? from->align : 0;
	uint64_t at = 0;
	bool known = true;

	for (size_t i = 0; i < from->entry_count; i++) {
		const struct nvtx_entry *e = &from->entries[i];
		struct type there = lies_there(domain, e);
		struct field *f = &fields[field_count];

		if (e->offset || !i) {
			at = e->offset;
			known = true;
		} else if (known) {
			at = aligned(domain, (uint32_t)at, e, most);
		}
		if (known && at < UINT32_MAX / 2 && there.size && e->name) {
			*f = (struct field){ __itt_string_handle_create(e->name),
					     e->type,
					     (uint32_t)at,
					     there.size,
					     (uint8_t)(e->flags & NVTX_ENTRY_HIDE ? SKIPPED
										  : there.reading),
					     (e->flags & NVTX_ENTRY_KIND) == NVTX_ENTRY_MESSAGE };
			field_count++;
			s->count++;
		}
		known = known && there.size && at < UINT32_MAX / 2;
		at += there.size;
	}
	s->size = known ? (uint32_t)at : 0;
	if (from->size && from->size < UINT32_MAX)
		s->size = (uint32_t)from->size;
}

static void take_names(struct schema *s, const struct nvtx_enum *from)
{
	for (size_t i = 0; i < from->value_count; i++) {
		const struct nvtx_enum_value *v = &from->values[i];

		if (!v->name)
			continue;
		fields[field_count++] = (struct field){ .name = __itt_string_handle_create(v->name),
							.type = v->value };
		s->count++;
	}
	s->size = (uint32_t)from->size;
	s->names = true;
}

/* A place under the lock, with room for its fields; NULL = there is none. */
static struct schema *take_place(const __itt_domain *domain, uint64_t id, size_t wanted)
{
	uint32_t at = atomic_load_explicit(&schema_count, memory_order_relaxed);

	if (at >= MOST_SCHEMAS || wanted > MOST_FIELDS - field_count)
		return NULL;
	schemas[at] = (struct schema){ .id = id ? id : NVTX_FIRST_GIVEN_ID + at,
				       .domain = domain,
				       .first = field_count };
	return &schemas[at];
}

/* The lock may be held for ever: by a thread that was not forked with us. */
static bool take_lock(void)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!pthread_mutex_trylock(&lock))
			return true;
		sched_yield();
	}
	return false;
}

/* Each copy of a library registers its own again. */
static uint64_t nvtx_payload_add(const __itt_domain *domain, uint64_t id,
				 const struct nvtx_schema *schema, const struct nvtx_enum *e)
{
	size_t wanted = schema ? schema->entry_count : e->value_count;
	struct schema *place;
	uint64_t given;

	if (id && (id < NVTX_FIRST_OWN_ID || id >= NVTX_FIRST_GIVEN_ID))
		return 0;
	if (id && nvtx_payload_find(domain, id))
		return id;
	if (!take_lock())
		return 0;
	place = take_place(domain, id, wanted);
	given = place ? place->id : 0;
	if (place) {
		if (schema)
			take_fields(domain, place, schema);
		else
			take_names(place, e);
		atomic_fetch_add_explicit(&schema_count, 1, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return given;
}

uint64_t ut_nvtx_add_schema(const __itt_domain *domain, const struct nvtx_schema *schema)
{
	if (!schema || !schema->entries || schema->type < NVTX_SCHEMA_STATIC ||
	    schema->type > NVTX_SCHEMA_DYNAMIC)
		return 0;
	return nvtx_payload_add(domain, schema->known & NVTX_SCHEMA_HAS_ID ? schema->id : 0, schema,
				NULL);
}

uint64_t ut_nvtx_add_enum(const __itt_domain *domain, const struct nvtx_enum *e)
{
	if (!e || !e->values || !e->size || e->size > sizeof(uint64_t))
		return 0;
	return nvtx_payload_add(domain, e->known & NVTX_ENUM_HAS_ID ? e->id : 0, NULL, e);
}

/* ---- reading ------------------------------------------------------------------------------- */

static uint64_t unsigned_at(const char *at, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size); /* little-endian, as all that CUDA runs on */
	return value;
}

static int64_t signed_at(const char *at, uint32_t size)
{
	uint32_t above = 64 - 8 * size;

	return (int64_t)(unsigned_at(at, size) << above) >> above;
}

static double real_at(const char *at, uint32_t size)
{
	double value;
	float single;

	if (size == sizeof(single)) {
		memcpy(&single, at, sizeof(single));
		return single;
	}
	memcpy(&value, at, sizeof(value));
	return value;
}

static const char *nvtx_payload_text_at(const char *at, const struct field *f, size_t *len)
{
	const char *text;

	if (f->reading == LETTERS) {
		*len = strnlen(at, f->size < LONGEST_TEXT ? f->size : LONGEST_TEXT);
		return at;
	}
	memcpy(&text, at, sizeof(text));
	*len = text ? strnlen(text, LONGEST_TEXT) : 0;
	return text;
}

static const __itt_string_handle *nvtx_payload_name_of(const __itt_domain *domain,
						       const struct field *f, uint64_t value)
{
	const struct schema *s = nvtx_payload_find(domain, f->type);

	for (uint32_t i = 0; s && i < s->count; i++) {
		if (fields[s->first + i].type == value)
			return fields[s->first + i].name;
	}
	return NULL;
}

static void nvtx_payload_add_text(const __itt_domain *domain, __itt_id id, const struct field *f,
				  const char *text, size_t len)
{
	if (text)
		__itt_metadata_str_add(domain, id, f->name, text, len);
}

static void nvtx_payload_add_number(const __itt_domain *domain, __itt_id id, const struct field *f,
				    const char *at)
{
	uint64_t whole = unsigned_at(at, f->size);
	int64_t with_sign = signed_at(at, f->size);

	if (f->reading == UNSIGNED)
		__itt_metadata_add(domain, id, f->name, __itt_metadata_u64, 1, &whole);
	else
		__itt_metadata_add(domain, id, f->name, __itt_metadata_s64, 1, &with_sign);
}

static void add_field(const __itt_domain *domain, __itt_id id, const struct field *f,
		      const char *at)
{
	const __itt_string_handle *name;
	const char *text;
	size_t len;
	double real;

	switch ((enum reading)f->reading) {
	case SIGNED:
	case UNSIGNED:
		nvtx_payload_add_number(domain, id, f, at);
		break;
	case REAL:
		real = real_at(at, f->size);
		__itt_metadata_add(domain, id, f->name, __itt_metadata_double, 1, &real);
		break;
	case TEXT:
	case LETTERS:
		text = nvtx_payload_text_at(at, f, &len);
		nvtx_payload_add_text(domain, id, f, text, len);
		break;
	case HANDLE:
		memcpy(&name, at, sizeof(void *));
		if (name)
			nvtx_payload_add_text(domain, id, f, name->strA, strlen(name->strA));
		break;
	case NAMED:
		name = nvtx_payload_name_of(domain, f, unsigned_at(at, f->size));
		if (name)
			nvtx_payload_add_text(domain, id, f, name->strA, strlen(name->strA));
		else
			nvtx_payload_add_number(domain, id, f, at);
		break;
	case SKIPPED:
		break;
	}
}

/* The fields of a payload: those of its schema, or itself, into *self. */
static const struct field *fields_of(const __itt_domain *domain, const struct nvtx_data *data,
				     struct field *self, uint32_t *count, size_t *size)
{
	const struct schema *s = nvtx_payload_find(domain, data->schema);
	struct type type;

	*size = data->size;
	if (data->schema >= NVTX_FIRST_OWN_ID) {
		*count = s && !s->names ? s->count : 0;
		if (s && data->size == SIZE_MAX)
			*size = s->size;
		return s ? &fields[s->first] : NULL;
	}
	type = nvtx_payload_type_of(domain, data->schema);
	*self = (struct field){ __itt_string_handle_create("payload"),
				data->schema,
				0,
				type.size,
				(uint8_t)type.reading,
				false };
	*count = type.size ? 1 : 0;
	if (data->size == SIZE_MAX)
		*size = type.size;
	return self;
}

/* What is to be done with each field that lies in its payload; true: it was the last one wanted. */
typedef bool field_fn(void *ctx, const struct field *f, const char *at);

static void each_field(const __itt_domain *domain, const struct nvtx_data *data, size_t count,
		       field_fn *visit, void *ctx)
{
	for (size_t i = 0; data && i < count && i < MOST_PAYLOADS; i++) {
		struct field self;
		uint32_t n;
		size_t size;
		const struct field *f = fields_of(domain, &data[i], &self, &n, &size);

		for (uint32_t k = 0; data[i].bytes && k < n; k++) {
			if (f[k].offset + (size_t)f[k].size <= size &&
			    visit(ctx, &f[k], (const char *)data[i].bytes + f[k].offset))
				return;
		}
	}
}

struct range {
	const __itt_domain *domain;
	__itt_id id;
};

static bool nvtx_payload_add_fact(void *ctx, const struct field *f, const char *at)
{
	const struct range *r = ctx;

	if (!f->message)
		add_field(r->domain, r->id, f, at);
	return false;
}

void ut_nvtx_add_payload(const __itt_domain *domain, __itt_id id, const struct nvtx_data *data,
			 size_t count)
{
	struct range r = { domain, id };

	each_field(domain, data, count, nvtx_payload_add_fact, &r);
}

/* Strings are made handles here, since a message is what a range is called. */
static __itt_string_handle *handle_at(const struct field *f, const char *at)
{
	char copy[LONGEST_TEXT + 1];
	__itt_string_handle *handle = NULL;
	const char *text;
	size_t len;

	if (f->reading == HANDLE) {
		memcpy(&handle, at, sizeof(void *));
		return handle;
	}
	if (f->reading != TEXT && f->reading != LETTERS)
		return NULL;
	text = nvtx_payload_text_at(at, f, &len);
	if (!len)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return __itt_string_handle_create(copy);
}

static bool take_message(void *ctx, const struct field *f, const char *at)
{
	__itt_string_handle **message = ctx;

	if (f->message)
		*message = handle_at(f, at);
	return f->message;
}

__itt_string_handle *ut_nvtx_payload_message(const __itt_domain *domain,
					     const struct nvtx_data *data, size_t count)
{
	__itt_string_handle *message = NULL;

	each_field(domain, data, count, take_message, &message);
	return message;
}
