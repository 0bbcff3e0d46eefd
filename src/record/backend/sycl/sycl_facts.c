/* sycl_facts.c - what the runtime says about an event: its place in the source, its metadata. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/sycl/sycl.h"

#define LONGEST_TEXT  1000u
#define MOST_METADATA 64u
#define KNOWN_KEYS    256u

void ut_sycl_fact(struct ut_sycl_facts *f, uint32_t key, uint32_t type, uint64_t value)
{
	if (!key || !value || f->count >= UT_SYCL_MOST_FACTS)
		return;
	for (size_t i = 0; i < f->count; i++) {
		if (f->items[i].key == key)
			return;
	}
	f->items[f->count++] = (struct ut_fact){ .key = key, .type = type, .value = value };
}

void ut_sycl_fact_range(struct ut_sycl_facts *f, uint32_t key, const size_t range[3])
{
	char text[80];
	int len = snprintf(text, sizeof(text), "%zux%zux%zu", range[0], range[1] ? range[1] : 1,
			   range[2] ? range[2] : 1);

	if (range[0])
		ut_sycl_fact(f, key, UT_VALUE_NAME, ut_sycl.host->name(text, (size_t)len));
}

/* ---- metadata ------------------------------------------------------------------------------ */

/* What the runtime calls it, our key, and the type of the fact. */
#define METADATA(X)                                                                                \
	X("sycl_device_name", device, UT_VALUE_NAME)                                               \
	X("queue_id", queue, UT_VALUE_U64)                                                         \
	X("is_inorder", in_order, UT_VALUE_U64)                                                    \
	X("memory_size", bytes, UT_VALUE_U64)                                                      \
	X("src_memory_ptr", from, UT_VALUE_HEX)                                                    \
	X("dest_memory_ptr", to, UT_VALUE_HEX)                                                     \
	X("memory_ptr", address, UT_VALUE_HEX)                                                     \
	X("memory_object", object, UT_VALUE_HEX)                                                   \
	X("sym_source_file_name", file, UT_VALUE_NAME)                                             \
	X("sym_line_no", line, UT_VALUE_U64)                                                       \
	X("sym_column_no", column, UT_VALUE_U64)                                                   \
	X("sym_function_name", function, UT_VALUE_NAME)

#define LAUNCH_DATA "enqueue_kernel_data"

enum key {
	NOT_LOOKED_AT,
	OF_NO_INTEREST,
	LAUNCH,
	FIRST_KEY,
};

static const char *const names[] = {
#define NAME(text, key, type) text,
	METADATA(NAME)
#undef NAME
};

static uint32_t look_at_key(uint32_t number)
{
	const char *text = ut_sycl.lookup_string(number);

	if (text && !strcmp(text, LAUNCH_DATA))
		return LAUNCH;
	for (uint32_t i = 0; text && i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(text, names[i]))
			return FIRST_KEY + i;
	}
	return OF_NO_INTEREST;
}

/* Numbers of strings are for ever; looking one up takes a lock of the framework's. */
static uint32_t sycl_facts_key_of(uint32_t number)
{
	static _Atomic uint64_t known[KNOWN_KEYS]; /* number and enum key */
	_Atomic uint64_t *at = &known[number % KNOWN_KEYS];
	uint64_t kept = atomic_load_explicit(at, memory_order_relaxed);

	if ((uint32_t)(kept >> 32) != number || !(uint32_t)kept) {
		kept = (uint64_t)number << 32 | look_at_key(number);
		atomic_store_explicit(at, kept, memory_order_relaxed);
	}
	return (uint32_t)kept;
}

static bool is_unknown(const char *text, size_t len)
{
	return !len || text[0] == '<'; /* "<unknown-file>" */
}

static uint64_t sycl_facts_value_of(const struct xpti_object *o, uint32_t type)
{
	uint64_t value = 0;

	if (!o->data || !o->size)
		return 0;
	if (type == UT_VALUE_NAME) {
		size_t len = strnlen(o->data, o->size < LONGEST_TEXT ? o->size : LONGEST_TEXT);

		return o->type == XPTI_STRING && !is_unknown(o->data, len)
			       ? ut_sycl.host->name(o->data, len)
			       : 0;
	}
	if (o->type == XPTI_STRING)
		return 0;
	memcpy(&value, o->data, o->size < sizeof(value) ? o->size : sizeof(value));
	return value;
}

static void add_launch(struct ut_sycl_facts *f, const struct xpti_object *o)
{
	struct xpti_launch l;

	if (!o->data || o->size < sizeof(l))
		return;
	memcpy(&l, o->data, sizeof(l));
	ut_sycl_fact_range(f, ut_sycl.key.global, l.global);
	ut_sycl_fact_range(f, ut_sycl.key.local, l.local);
	ut_sycl_fact(f, ut_sycl.key.arguments, UT_VALUE_U64, l.arguments);
}

static void add_metadata(struct ut_sycl_facts *f, const struct xpti_pair *p)
{
	const struct {
		uint32_t key, type;
	} ours[] = {
#define OURS(text, name, kind) { ut_sycl.key.name, kind },
		METADATA(OURS)
#undef OURS
	};
	uint32_t key = sycl_facts_key_of(p->key);
	struct xpti_object o;

	if (key == OF_NO_INTEREST)
		return;
	o = ut_sycl.lookup_object(p->value);
	if (key == LAUNCH)
		add_launch(f, &o);
	else
		ut_sycl_fact(f, ours[key - FIRST_KEY].key, ours[key - FIRST_KEY].type,
			     sycl_facts_value_of(&o, ours[key - FIRST_KEY].type));
}

static void sycl_facts_add_place(struct ut_sycl_facts *f, const struct xpti_payload *p)
{
	size_t len = p->file ? strnlen(p->file, LONGEST_TEXT) : 0;

	if (is_unknown(p->file, len))
		return;
	ut_sycl_fact(f, ut_sycl.key.file, UT_VALUE_NAME, ut_sycl.host->name(p->file, len));
	if (p->line != UINT32_MAX)
		ut_sycl_fact(f, ut_sycl.key.line, UT_VALUE_U64, p->line);
	if (p->column != UINT32_MAX)
		ut_sycl_fact(f, ut_sycl.key.column, UT_VALUE_U64, p->column);
}

void ut_sycl_facts_of(struct ut_sycl_facts *f, struct xpti_event *event)
{
	const struct xpti_payload *place = ut_sycl.query_payload(event);
	const struct xpti_map *map = ut_sycl.query_metadata(event);
	const struct xpti_pair *p = map ? map->first : NULL;

	if (place)
		sycl_facts_add_place(f, place);
	for (size_t i = 0; p && i < map->count && i < MOST_METADATA; i++, p = p->next)
		add_metadata(f, p);
}

/* ---- names --------------------------------------------------------------------------------- */

/* Is there nothing but an address in brackets from here on? */
static bool is_address(const char *at, size_t len, uint64_t *address)
{
	uint64_t value = 0;

	if (len < 3 || at[0] != '[' || at[len - 1] != ']')
		return false;
	if (len > 4 && at[1] == '0' && at[2] == 'x') {
		at += 2;
		len -= 2;
	}
	for (size_t i = 1; i < len - 1; i++) {
		char c = at[i];
		uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
							: 16;

		if (digit == 16)
			return false;
		value = value << 4 | digit;
	}
	if (address)
		*address = value;
	return true;
}

/* A kernel is called by the type that it is made from. */
uint32_t ut_sycl_readable(const char *text, uint64_t *address)
{
	static const char type[] = "typeinfo name for ";
	const char *bracket;
	size_t len;

	if (!strncmp(text, type, sizeof(type) - 1))
		text += sizeof(type) - 1;
	len = strnlen(text, LONGEST_TEXT);
	bracket = memrchr(text, '[', len);

	if (bracket && bracket > text &&
	    is_address(bracket, len - (size_t)(bracket - text), address))
		len = (size_t)(bracket - text);
	return ut_sycl.host->name(text, len);
}

uint32_t ut_sycl_event_name(struct xpti_event *event, uint64_t *address)
{
	const struct xpti_payload *p = ut_sycl.query_payload(event);

	return ut_sycl_readable(p && p->name ? p->name : "command group", address);
}
