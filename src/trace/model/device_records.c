#include "model/device_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/str.h"
#include "model/store.h"

/* ---- arguments ----------------------------------------------------------------------------- */

enum field {
	FIELD_NONE,
	FIELD_CORRELATION,
	FIELD_EXTERNAL,
	FIELD_QUEUED,
	FIELD_SUBMITTED,
	FIELD_THREAD,
	FIELD_TASK,
	FIELD_BYTES,
	FIELD_GRID,
	FIELD_BLOCK,
	FIELD_REGISTERS,
	FIELD_STATIC_SHARED,
	FIELD_DYNAMIC_SHARED,
	FIELD_LOCAL,
	FIELD_SPILL,
	FIELD_LANES,
	FIELD_COMPILED,
	FIELD_ARGUMENTS,
};

unsigned int ut_device_field_called(struct ut_str key)
{
	static const struct {
		const char *key;
		enum field field;
	} fields[] = {
		{ "correlation", FIELD_CORRELATION },
		{ "External id", FIELD_EXTERNAL },
		{ "queued", FIELD_QUEUED },
		{ "submitted", FIELD_SUBMITTED },
		{ "thread", FIELD_THREAD },
		{ "task", FIELD_TASK },
		{ "bytes", FIELD_BYTES },
		{ "grid", FIELD_GRID },
		{ "block", FIELD_BLOCK },
		{ "global", FIELD_GRID }, /* OpenCL */
		{ "local", FIELD_BLOCK },
		{ "registers", FIELD_REGISTERS },
		{ "static shared memory", FIELD_STATIC_SHARED },
		{ "dynamic shared memory", FIELD_DYNAMIC_SHARED },
		{ "local memory per thread", FIELD_LOCAL },
		{ "SLM per work group", FIELD_STATIC_SHARED }, /* Level Zero */
		{ "private memory per thread", FIELD_LOCAL },
		{ "spill memory per thread", FIELD_SPILL },
		{ "SIMD", FIELD_LANES },
		{ "compiled", FIELD_COMPILED },
		{ "arguments", FIELD_ARGUMENTS },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (ut_str_is(key, fields[i].key))
			return fields[i].field;
	}
	return FIELD_NONE;
}

static uint64_t device_records_number_of(const struct ut_arg *a)
{
	if (a->type != UT_ARG_F64)
		return a->value.u64;
	return a->value.f64 >= 0 && a->value.f64 < 1e18 ? (uint64_t)a->value.f64 : 0;
}

static uint32_t number32_of(const struct ut_arg *a)
{
	uint64_t number = device_records_number_of(a);

	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* "64x1x1", "(64, 1)", "[64,1,1]": up to three numbers; or a number, or elements of an array. */
static void put_size(uint64_t size[3], const struct ut_strtab *strings, const struct ut_arg *a)
{
	struct ut_str text;
	size_t i = 0;

	if (a->type != UT_ARG_STR && a->type != UT_ARG_JSON) {
		for (int n = 0; n < 3; n++) {
			if (!size[n] || !(a->flags & UT_ARG_ARRAY)) {
				size[n] = device_records_number_of(a);
				return;
			}
		}
		return;
	}
	text = ut_strtab_get(strings, a->value.str);

	memset(size, 0, 3 * sizeof(size[0]));
	for (int n = 0; n < 3; n++) {
		while (i < text.len && (text.ptr[i] < '0' || text.ptr[i] > '9'))
			i++;
		for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) {
			if (size[n] > UINT64_MAX / 10 - 1)
				return;
			size[n] = size[n] * 10 + (uint64_t)(text.ptr[i] - '0');
		}
	}
}

void ut_device_size_text(struct ut_buf *to, const uint64_t size[3])
{
	for (int i = 0; i < 3 && size[i]; i++)
		ut_buf_fmt(to, "%s%" PRIu64, i ? "x" : "", size[i]);
}

void ut_device_record_put(struct ut_device_record *r, const struct ut_strtab *strings,
			  unsigned int field, const struct ut_arg *a)
{
	bool is_text = a->type == UT_ARG_STR || a->type == UT_ARG_JSON;
	bool wants_text = field == FIELD_TASK || field == FIELD_COMPILED;
	struct ut_device_launch *l = &r->launch;

	if (is_text != wants_text && field != FIELD_GRID && field != FIELD_BLOCK)
		return;
	switch ((enum field)field) {
	case FIELD_CORRELATION:
		r->correlation = device_records_number_of(a);
		break;
	case FIELD_EXTERNAL:
		r->external = device_records_number_of(a);
		break;
	case FIELD_QUEUED:
		r->queued = device_records_number_of(a);
		break;
	case FIELD_SUBMITTED:
		r->submitted = device_records_number_of(a);
		break;
	case FIELD_THREAD:
		r->thread = (uint32_t)device_records_number_of(a);
		break;
	case FIELD_TASK:
		r->task = a->value.str;
		break;
	case FIELD_BYTES:
		r->bytes = device_records_number_of(a);
		break;
	case FIELD_GRID:
		put_size(l->grid, strings, a);
		break;
	case FIELD_BLOCK:
		put_size(l->block, strings, a);
		break;
	case FIELD_REGISTERS:
		l->registers = number32_of(a);
		break;
	case FIELD_STATIC_SHARED:
		l->static_shared = device_records_number_of(a);
		break;
	case FIELD_DYNAMIC_SHARED:
		l->dynamic_shared = device_records_number_of(a);
		break;
	case FIELD_LOCAL:
		l->local = device_records_number_of(a);
		break;
	case FIELD_SPILL:
		l->spill = device_records_number_of(a);
		break;
	case FIELD_LANES:
		l->lanes = number32_of(a);
		break;
	case FIELD_ARGUMENTS:
		l->arguments = number32_of(a);
		break;
	case FIELD_COMPILED:
		l->compiled = a->value.str;
		break;
	case FIELD_NONE:
		break;
	}
}

void ut_device_record_read(struct ut_device_record *r, const struct ut_trace *t, size_t args)
{
	for (size_t i = args; i < t->arg_count && t->args[i].type != UT_ARG_END; i++) {
		struct ut_str key = ut_strtab_get(&t->strings, t->args[i].key);
		unsigned int field = ut_device_field_called(key);

		if (field)
			ut_device_record_put(r, &t->strings, field, &t->args[i]);
	}
}

bool ut_device_record_is_work(const struct ut_device_record *r, bool on_device, bool side)
{
	if (side && (r->kind == UT_DEVICE_SYNC || r->kind == UT_DEVICE_OTHER))
		return false;
	return on_device || r->correlation || r->external;
}

/* ---- launches ------------------------------------------------------------------------------ */

uint32_t ut_device_launches_add(struct ut_device_launches *l, const struct ut_device_launch *of)
{
	static const struct ut_device_launch nothing;
	uint64_t hash;
	uint32_t at;

	if (!l->count && memcmp(of, &nothing, sizeof(nothing)) != 0)
		ut_device_launches_add(l, &nothing);
	if (l->count && !memcmp(&l->items[l->last], of, sizeof(*of)))
		return l->last;
	hash = ut_hash_bytes(of, sizeof(*of));
	for (; (at = ut_idmap_get(&l->of, hash)); hash++) {
		if (!memcmp(&l->items[at - 1], of, sizeof(*of)))
			return l->last = at - 1;
	}
	l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
	l->items[l->count] = *of;
	l->last = (uint32_t)l->count++;
	ut_idmap_put(&l->of, hash, l->last + 1);
	return l->last;
}

void ut_device_launches_release(struct ut_device_launches *l)
{
	free(l->items);
	ut_idmap_release(&l->of);
	*l = (struct ut_device_launches){ 0 };
}

/* ---- columns ------------------------------------------------------------------------------- */

void ut_device_records_map(struct ut_device_records *r, const void *columns, size_t count)
{
	const char *at = columns;

	r->count = count;
#define MAP_COLUMN(type, column, text)                                                             \
	r->column = (const type *)(const void *)at;                                                \
	at += count * sizeof(type);
	UT_DEVICE_COLUMN_LIST(MAP_COLUMN)
#undef MAP_COLUMN
}

struct ut_device_record ut_device_record_get(const struct ut_device_records *r, size_t i)
{
	return (struct ut_device_record){ .correlation = r->correlation[i],
					  .external = r->external[i],
					  .queued = r->queued[i],
					  .submitted = r->submitted[i],
					  .bytes = r->bytes[i],
					  .thread = r->thread[i],
					  .task = r->task[i],
					  .kind = r->kind[i],
					  .launch = r->launches[r->launch[i]] };
}

size_t ut_device_records_check(const struct ut_device_records *r, const struct ut_store *store)
{
	for (size_t i = 0; i < r->count; i++) {
		uint32_t track = r->track[i];

		if (track >= store->trace.track_count || r->row[i] >= store->rows[track].count ||
		    r->launch[i] >= r->launch_count || r->kind[i] > UT_DEVICE_OTHER)
			return i;
		if (i && (track < r->track[i - 1] ||
			  (track == r->track[i - 1] && r->row[i] <= r->row[i - 1])))
			return i;
	}
	return SIZE_MAX;
}

void ut_device_records_free(struct ut_device_records *r)
{
	if (r && r->memory) {
		free(r->memory);
		free((void *)(uintptr_t)r->launches);
	}
	free(r);
}

/* ---- from the rows of a store -------------------------------------------------------------- */

/* What the spans of a type are: 0 = no work, else 1 + enum ut_device_kind. */
struct work_type {
	uint8_t on_device, elsewhere;
};

struct making {
	const struct ut_store *store;
	struct ut_device_records *r;
	struct work_type *types;
	uint8_t *fields; /* by argument of a shape: enum field */
	struct ut_arg *args;
	size_t arg_cap;
	struct ut_device_launches launches;
};

/* Returns if there can be any work at all. */
static bool find_types(struct making *m)
{
	const struct ut_store *s = m->store;
	struct ut_idmap known = { 0 };
	bool any = false;

	m->types = ut_make(((size_t)s->types.count + 1) * sizeof(*m->types));
	for (uint32_t i = 0; i < s->types.count; i++) {
		const struct ut_type *type = &s->types.items[i];
		uint32_t of = ut_idmap_get(&known, type->cat);
		struct ut_category c;
		uint8_t kind;

		if (type->kind != UT_KIND_SPAN || !type->cat || type->flags & UT_EV_NOT_WORK ||
		    of == UT_CATEGORY_PLAIN + 1)
			continue;
		c = ut_classify_category(&s->trace, type->cat);
		if (c.use != UT_CATEGORY_WORK) {
			ut_idmap_put(&known, type->cat, UT_CATEGORY_PLAIN + 1);
			continue;
		}
		kind = c.work;
		if (kind == UT_DEVICE_BY_NAME)
			kind = (uint8_t)ut_classify_work(
				ut_strtab_get(&s->trace.strings, type->name).ptr);
		m->types[i].on_device = (uint8_t)(1 + kind);
		m->types[i].elsewhere = c.anywhere ? (uint8_t)(1 + kind) : 0;
		any = true;
	}
	ut_idmap_release(&known);
	return any;
}

static void find_fields(struct making *m)
{
	const struct ut_arglists *l = &m->store->args;
	struct ut_idmap known = { 0 };

	m->fields = ut_make((size_t)l->shape_arg_count + 1);
	for (uint32_t i = 0; i < l->shape_arg_count; i++) {
		uint32_t key = l->shape_args[i].key, of = ut_idmap_get(&known, key);

		if (!of) {
			of = 1 +
			     ut_device_field_called(ut_strtab_get(&m->store->trace.strings, key));
			ut_idmap_put(&known, key, of);
		}
		m->fields[i] = (uint8_t)(of - 1);
	}
	ut_idmap_release(&known);
}

static void device_records_read_list(struct making *m, uint32_t list, struct ut_device_record *r)
{
	const struct ut_arglists *l = &m->store->args;
	const struct ut_shape *shape = ut_arglists_shape(l, list);
	size_t count;

	if (!shape)
		return;
	m->args = ut_grow_raw(m->args, (size_t)shape->count + 1, &m->arg_cap, sizeof(*m->args));
	count = ut_arglists_get(l, list, m->args, shape->count);
	for (size_t i = 0; i < count && i < shape->count; i++) {
		if (m->fields[shape->first + i])
			ut_device_record_put(r, &m->store->trace.strings,
					     m->fields[shape->first + i], &m->args[i]);
	}
}

static uint8_t device_records_kind_of(const struct making *m, uint32_t type, bool on_device)
{
	const struct work_type *t = &m->types[type < m->store->types.count ? type : 0];

	return on_device ? t->on_device : t->elsewhere;
}

static size_t device_records_count_rows(const struct making *m)
{
	const struct ut_store *s = m->store;
	size_t count = 0;

	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		bool on_device = ut_is_device(&s->trace, s->trace.tracks[track].process);

		for (size_t b = 0; b < ut_rows_blocks(&s->rows[track]); b++) {
			const struct ut_block *block = &s->rows[track].blocks[b];

			for (uint32_t i = 0; i < block->count; i++)
				count += device_records_kind_of(m, block->type[i], on_device) != 0;
		}
	}
	return count;
}

static void device_records_add_row(struct making *m, uint32_t track, uint64_t row, uint32_t list,
				   uint8_t kind)
{
	const struct ut_trace *t = &m->store->trace;
	struct ut_device_record one = { .kind = (uint8_t)(kind - 1) };
	struct ut_device_records *r = m->r;
	size_t i = r->count;

	if (list)
		device_records_read_list(m, list, &one);
	if (!ut_device_record_is_work(&one, ut_is_device(t, t->tracks[track].process),
				      t->tracks[track].role == UT_ROLE_SIDE))
		return;
#define PUT(type, column, value) ((type *)(uintptr_t)r->column)[i] = (value)
	PUT(uint64_t, row, row);
	PUT(uint64_t, correlation, one.correlation);
	PUT(uint64_t, external, one.external);
	PUT(uint64_t, queued, one.queued);
	PUT(uint64_t, submitted, one.submitted);
	PUT(uint64_t, bytes, one.bytes);
	PUT(uint32_t, track, track);
	PUT(uint32_t, thread, one.thread);
	PUT(uint32_t, task, one.task);
	PUT(uint32_t, launch, ut_device_launches_add(&m->launches, &one.launch));
	PUT(uint8_t, kind, one.kind);
#undef PUT
	r->count++;
}

static void device_records_add_rows(struct making *m)
{
	const struct ut_store *s = m->store;

	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		bool on_device = ut_is_device(&s->trace, s->trace.tracks[track].process);

		for (size_t b = 0; b < ut_rows_blocks(&s->rows[track]); b++) {
			const struct ut_block *block = &s->rows[track].blocks[b];

			for (uint32_t i = 0; i < block->count; i++) {
				uint8_t kind = device_records_kind_of(m, block->type[i], on_device);

				if (kind)
					device_records_add_row(m, track, b * UT_BLOCK_ROWS + i,
							       block->args[i], kind);
			}
		}
	}
}

static void records_make(struct ut_device_records *r, const struct ut_store *store)
{
	struct making m = { .store = store, .r = r };
	size_t rows = find_types(&m) ? device_records_count_rows(&m) : 0;

	ut_device_launches_add(&m.launches, &(struct ut_device_launch){ 0 });
	r->memory = ut_make((rows + 1) * UT_DEVICE_RECORD_BYTES);
	ut_device_records_map(r, r->memory, rows);
	r->count = 0;
	if (rows) {
		find_fields(&m);
		device_records_add_rows(&m);
	}
	r->launches = m.launches.items;
	r->launch_count = m.launches.count;
	ut_idmap_release(&m.launches.of);
	free(m.types);
	free(m.fields);
	free(m.args);
}

/* Two threads may make them at once; the first one's are kept. */
const struct ut_device_records *ut_store_devices(const struct ut_store *store)
{
	struct ut_device_records **kept = (struct ut_device_records **)(uintptr_t)&store->devices;
	struct ut_device_records *none = NULL, *r = __atomic_load_n(kept, __ATOMIC_ACQUIRE);

	if (r)
		return r;
	r = ut_make(sizeof(*r));
	if (store->saved_devices &&
	    ut_device_records_check(store->saved_devices, store) == SIZE_MAX)
		*r = *store->saved_devices;
	else
		records_make(r, store);
	if (__atomic_compare_exchange_n(kept, &none, r, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return r;
	ut_device_records_free(r);
	return none;
}
