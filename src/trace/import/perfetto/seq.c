#include "import/perfetto/seq.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/perfetto_fields.h"
#include "model/strtab.h"

struct ut_pf_seq *ut_pf_seq(struct ut_pf_seqs *all, uint32_t id)
{
	uint32_t at;

	if (all->last && all->last->id == id)
		return all->last;
	at = ut_idmap_get(&all->by_id, id);
	if (!at) {
		all->items = ut_grow(all->items, all->count + 1, &all->cap, sizeof(void *));
		all->items[all->count] = ut_make(sizeof(struct ut_pf_seq));
		all->items[all->count]->id = id;
		at = (uint32_t)++all->count;
		ut_idmap_put(&all->by_id, id, at);
	}
	return all->last = all->items[at - 1];
}

void ut_pf_seq_clear(struct ut_pf_seq *s)
{
	s->valid = true;
	s->epoch++;
	s->has_track = false;
	s->default_clock = 0;
	s->counters.count = s->doubles.count = 0;
	ut_idmap_clear(&s->names);
	ut_idmap_clear(&s->cats);
	ut_idmap_clear(&s->keys);
	ut_idmap_clear(&s->texts);
	ut_idmap_clear(&s->places);
	ut_pf_code_clear(&s->code);
}

struct ut_pf_place ut_pf_read_place(struct ut_pb place, struct ut_strtab *strings)
{
	struct ut_pf_place result = { 0 };
	struct ut_pb_field f;

	while (ut_pb_next(&place, &f)) {
		if (f.number == PLACE_LINE && f.wire == UT_PB_VARINT)
			result.line = f.value;
		else if (f.number == PLACE_FILE && f.wire == UT_PB_BYTES)
			result.file = ut_strtab_intern(strings, (const char *)f.data, f.value);
		else if (f.number == PLACE_FUNCTION && f.wire == UT_PB_BYTES)
			result.function = ut_strtab_intern(strings, (const char *)f.data, f.value);
	}
	return result;
}

static void intern_text(struct ut_idmap *table, struct ut_pb entry, struct ut_strtab *strings)
{
	struct ut_pb_field f;
	uint64_t iid = 0;
	uint32_t text = 0;

	while (ut_pb_next(&entry, &f)) {
		if (f.number == INTERNED_IID && f.wire == UT_PB_VARINT)
			iid = f.value;
		else if (f.number == INTERNED_TEXT && f.wire == UT_PB_BYTES)
			text = ut_strtab_intern(strings, (const char *)f.data, f.value);
	}
	if (iid)
		ut_idmap_put(table, iid, text + 1);
}

static void intern_place(struct ut_pf_seqs *all, struct ut_pf_seq *s, struct ut_pb entry,
			 struct ut_strtab *strings)
{
	struct ut_pb rest = entry;
	struct ut_pb_field f;
	uint64_t iid = 0;

	while (ut_pb_next(&rest, &f)) {
		if (f.number == INTERNED_IID && f.wire == UT_PB_VARINT)
			iid = f.value;
	}
	if (!iid)
		return;
	all->places =
		ut_grow(all->places, all->place_count + 1, &all->place_cap, sizeof(*all->places));
	all->places[all->place_count++] = ut_pf_read_place(entry, strings);
	ut_idmap_put(&s->places, iid, (uint32_t)all->place_count);
}

void ut_pf_seq_intern(struct ut_pf_seqs *all, struct ut_pf_seq *s, struct ut_pb interned,
		      struct ut_strtab *strings)
{
	struct ut_pb_field f;

	while (ut_pb_next(&interned, &f)) {
		switch (f.number) {
		case INTERNED_NAMES:
			intern_text(&s->names, ut_pb_inside(&f), strings);
			break;
		case INTERNED_CATEGORIES:
			intern_text(&s->cats, ut_pb_inside(&f), strings);
			break;
		case INTERNED_KEYS:
			intern_text(&s->keys, ut_pb_inside(&f), strings);
			break;
		case INTERNED_TEXTS:
			intern_text(&s->texts, ut_pb_inside(&f), strings);
			break;
		case INTERNED_PLACES:
			intern_place(all, s, ut_pb_inside(&f), strings);
			break;
		default:
			break;
		}
	}
}

static void event_defaults(struct ut_pf_seq *s, struct ut_pb m)
{
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		if (f.number == EVENT_TRACK_UUID) {
			s->default_track = f.value;
			s->has_track = true;
		} else if (f.number == EVENT_EXTRA_TRACKS) {
			ut_pf_list_read(&s->counters, &f, UT_PB_VARINT);
		} else if (f.number == EVENT_EXTRA_DOUBLE_TRACKS) {
			ut_pf_list_read(&s->doubles, &f, UT_PB_VARINT);
		}
	}
}

void ut_pf_seq_defaults(struct ut_pf_seq *s, struct ut_pb defaults)
{
	struct ut_pb_field f;

	s->has_track = false;
	s->default_clock = 0;
	s->counters.count = s->doubles.count = 0;
	while (ut_pb_next(&defaults, &f)) {
		if (f.number == DEFAULTS_CLOCK_ID)
			s->default_clock = (uint32_t)f.value;
		else if (f.number == DEFAULTS_EVENT)
			event_defaults(s, ut_pb_inside(&f));
	}
}

void ut_pf_list_add(struct ut_pf_list *l, uint64_t value)
{
	l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
	l->items[l->count++] = value;
}

void ut_pf_list_read(struct ut_pf_list *l, const struct ut_pb_field *f, enum ut_pb_wire wire)
{
	struct ut_pb rest = ut_pb_inside(f);
	uint64_t value;

	while (ut_pb_element(f, &rest, wire, &value))
		ut_pf_list_add(l, value);
}

static void seq_release(struct ut_pf_seq *s)
{
	ut_idmap_release(&s->names);
	ut_idmap_release(&s->cats);
	ut_idmap_release(&s->keys);
	ut_idmap_release(&s->texts);
	ut_idmap_release(&s->places);
	ut_pf_code_release(&s->code);
	free(s->counters.items);
	free(s->doubles.items);
	free(s);
}

void ut_pf_seqs_release(struct ut_pf_seqs *all)
{
	for (size_t i = 0; i < all->count; i++)
		seq_release(all->items[i]);
	free(all->items);
	free(all->places);
	ut_idmap_release(&all->by_id);
	*all = (struct ut_pf_seqs){ 0 };
}
