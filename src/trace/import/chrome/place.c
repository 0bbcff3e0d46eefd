/*
 * place.c - which string, type, process and track the text of an event stands for.
 *
 * Events repeat: the same names, the same few threads. Small caches that are indexed by a cheap
 * hash and that forget the older of two answer nearly all questions without the real tables.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "import/chrome/step.h"
#include "text/source.h"

#define OWN_MOST   4096u /* escaped texts up to here are kept in a cache */
#define STEP_TRIES 4u    /* places where a step may be */

static const char *const words[] = {
#define WORD_TEXT(word, text) text,
	UT_CHROME_WORD_LIST(WORD_TEXT)
#undef WORD_TEXT
};

ssize_t ut_chrome_read_input(void *ctx, void *to, size_t len, struct ut_err *err)
{
	struct ut_chrome_input *in = ctx;
	uint64_t before = in->source->taken;
	ssize_t n;

	if (in->source->seekable)
		n = ut_source_read_at(in->source, to, len, in->offset, err);
	else
		n = ut_source_read(in->source, to, len, err);
	if (n <= 0)
		return n;
	in->offset += (uint64_t)n;
	if (in->progress)
		atomic_fetch_add(in->progress,
				 in->source->seekable ? (uint64_t)n : in->source->taken - before);
	return n;
}

/* Entries of a cache: a small file needs few. A power of two, so that finding one is quick. */
static uint32_t cache_size(uint64_t file)
{
	uint32_t n = 64;

	while (n < UT_CHROME_CACHED && (!file || n < file / 64))
		n *= 2;
	return n;
}

void ut_chrome_init(struct ut_chrome *c, struct ut_chrome_input *input)
{
	*c = (struct ut_chrome){ .input = input, .stop = UINT64_MAX, .rank = -1 };
	ut_build_init(&c->build);
	ut_json_init(&c->json, ut_chrome_read_input, input, input->offset);
	c->cached = cache_size(input->source->size);
	c->names = ut_make(c->cached * sizeof(*c->names));
	c->values = ut_make(c->cached * sizeof(*c->values));
	c->texts = ut_make(c->cached * sizeof(*c->texts));
	c->types = ut_make(c->cached * sizeof(*c->types));
	c->seats = ut_make(UT_CHROME_SEATS * sizeof(*c->seats));
	for (size_t i = 0; i <= UT_STEPS; i++) /* they fit nothing yet */
		c->steps[i] = (struct ut_chrome_step){ .text = { 1 } };
	for (size_t i = 0; i < UT_CHROME_WORDS; i++)
		c->words[i] = ut_strtab_intern_z(&c->build.store.trace.strings, words[i]);
}

/* Mostly none has a text of its own, and large parts of a cache were never touched. */
static void release_texts(const struct ut_chrome *c, struct ut_chrome_text *cache)
{
	for (size_t i = 0; c->owns && i < c->cached; i++)
		free(cache[i].own);
	free(cache);
}

void ut_chrome_release(struct ut_chrome *c)
{
	ut_build_abandon(&c->build);
	ut_json_release(&c->json);
	release_texts(c, c->names);
	release_texts(c, c->values);
	release_texts(c, c->texts);
	free(c->types);
	free(c->seats);
	free(c->places.items);
	ut_hashtab_release(&c->places.lookup);
	free(c->facts);
	free(c->args.items);
	free(c->extra.items);
	free(c->held.args.items);
	free(c->file.items);
	free(c->global.items);
	ut_buf_release(&c->text);
	ut_chrome_free_frames(c);
	*c = (struct ut_chrome){ 0 };
}

/* ---- strings ------------------------------------------------------------------------------- */

static uint64_t chrome_place_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* The first and last bytes tell most texts apart. The window is padded: 8 bytes can be read. */
static inline void ends_of(struct ut_str s, uint64_t *head, uint64_t *tail)
{
	memcpy(head, s.ptr, 8);
	if (s.len >= 8) {
		memcpy(tail, s.ptr + s.len - 8, 8);
	} else {
		*head = s.len ? *head << (64 - 8 * s.len) : 0;
		*tail = 0;
	}
}

/* The slot learns that text is the string id. */
static void chrome_place_learn(struct ut_chrome *c, struct ut_chrome_text *slot, struct ut_str text,
			       uint32_t id)
{
	struct ut_str s = ut_strtab_get(&c->build.store.trace.strings, id);

	slot->id = id;
	slot->len = (uint32_t)text.len;
	slot->raw = s.ptr;
	if (ut_str_eq(s, text))
		return;
	if (text.len > OWN_MOST) {
		slot->len = UINT32_MAX; /* fits nothing */
		return;
	}
	c->owns = true;
	slot->own = ut_grow(slot->own, text.len, &slot->own_cap, 1);
	memcpy(slot->own, text.ptr, text.len);
	slot->raw = slot->own;
}

static uint32_t intern_raw(struct ut_chrome *c, struct ut_str raw)
{
	struct ut_strtab *strings = &c->build.store.trace.strings;

	if (!ut_json_escaped(raw))
		return ut_strtab_intern(strings, raw.ptr, raw.len);
	c->text.data = ut_grow(c->text.data, raw.len, &c->text.cap, 1);
	return ut_strtab_intern(strings, c->text.data, ut_json_decode(raw, c->text.data));
}

/* Names that begin and end alike differ in the middle. */
static inline uint64_t middle_of(struct ut_str s)
{
	uint64_t a, b;

	memcpy(&a, s.ptr + s.len / 4, 8);
	memcpy(&b, s.ptr + s.len / 2, 8);
	return chrome_place_mix(a, b);
}

/* The slot where raw text is, or belongs; *known says which. */
static inline struct ut_chrome_text *find_text(struct ut_chrome_text *cache, uint32_t count,
					       struct ut_str raw, bool *known)
{
	struct ut_chrome_text *slot;
	uint64_t head, tail, hash;

	ends_of(raw, &head, &tail);
	hash = chrome_place_mix(chrome_place_mix(raw.len, head), tail);
	if (raw.len > 16)
		hash = chrome_place_mix(hash, middle_of(raw));
	slot = &cache[hash & (count - 1)];
	*known = slot->head == head && slot->tail == tail && slot->len == raw.len &&
		 (raw.len <= 16 || !memcmp(slot->raw, raw.ptr, raw.len));
	slot->head = head;
	slot->tail = tail;
	return slot;
}

/* The string that raw text between quotes stands for. */
uint32_t ut_chrome_string(struct ut_chrome *c, struct ut_chrome_text *cache, struct ut_str raw)
{
	bool known;
	struct ut_chrome_text *slot = find_text(cache, c->cached, raw, &known);

	if (!known)
		chrome_place_learn(c, slot, raw, intern_raw(c, raw));
	return slot->id;
}

/* A value as strict JSON without blanks; plain: it is that already. */
uint32_t ut_chrome_json(struct ut_chrome *c, struct ut_str value, bool plain)
{
	struct ut_strtab *strings = &c->build.store.trace.strings;

	struct ut_chrome_text *slot;
	uint64_t hash;

	if (plain)
		return ut_strtab_intern(strings, value.ptr, value.len);
	hash = ut_hash_bytes(value.ptr, value.len); /* indented lists differ in a digit somewhere */
	slot = &c->texts[hash & (c->cached - 1)];
	if (slot->head != hash || slot->len != value.len ||
	    memcmp(slot->raw, value.ptr, value.len) != 0) {
		c->text.len = 0;
		ut_json_minify(value, &c->text);
		chrome_place_learn(c, slot, value,
				   ut_strtab_intern(strings, c->text.data, c->text.len));
		slot->head = hash;
	}
	return slot->id;
}

uint32_t ut_chrome_type(struct ut_chrome *c, uint32_t name, uint32_t cat, unsigned int kind,
			unsigned int flags)
{
	struct ut_chrome_type *slot =
		&c->types[chrome_place_mix((uint64_t)name << 32 | cat, kind << 8 | flags) &
			  (c->cached - 1)];
	const struct ut_type type = {
		.name = name, .cat = cat, .kind = (uint8_t)kind, .flags = (uint8_t)flags
	};

	if (slot->known && slot->name == name && slot->cat == cat && slot->kind == kind &&
	    slot->flags == flags)
		return slot->number;
	*slot = (struct ut_chrome_type){ .name = name,
					 .cat = cat,
					 .number = ut_types_intern(&c->build.store.types, &type),
					 .kind = type.kind,
					 .flags = type.flags,
					 .known = true };
	return slot->number;
}

/* ---- steps from key to key ----------------------------------------------------------------- */

/* The text as words and what covers them. */
static void set_text(struct ut_chrome_step *s, const char *text, size_t len)
{
	for (size_t i = 0; i < UT_STEP_WORDS; i++) {
		size_t n = len > 8 * i ? len - 8 * i : 0;

		memcpy(&s->text[i], text + 8 * i, 8);
		s->mask[i] = n >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * n) - 1;
		s->text[i] &= s->mask[i];
	}
	s->len = (uint8_t)len;
}

static bool same_text(const struct ut_chrome_step *a, const struct ut_chrome_step *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, sizeof(a->text));
}

/* Nothing in the text needs a repair: that would have to be counted every time. */
static bool is_regular(const char *text, const char *end, bool fresh)
{
	size_t commas = 0;

	for (; text < end && *text != '"'; text++) {
		if (!*text || !strchr(" \t\r\n,", *text))
			return false;
		commas += *text == ',';
	}
	for (; text < end; text++) {
		if (*text == '\\' || ((unsigned char)*text < ' ' && !strchr("\t\r\n", *text)))
			return false;
	}
	return commas == !fresh;
}

/* Where this step is kept, or a place for it. */
static size_t step_place(const struct ut_chrome *c, const struct ut_chrome_step *step)
{
	uint64_t hash = step->len;
	size_t home;

	for (size_t i = 0; i < UT_STEP_WORDS; i++)
		hash = chrome_place_mix(hash, step->text[i]);
	home = hash % (UT_STEPS - UT_STEP_FIRST - STEP_TRIES);

	for (size_t i = 0; i < STEP_TRIES; i++) {
		const struct ut_chrome_step *s = &c->steps[UT_STEP_FIRST + home + i];

		if (!s->len || same_text(s, step))
			return UT_STEP_FIRST + home + i;
	}
	return UT_STEP_FIRST + home;
}

/* The latest stands in front. */
static void remember_next(struct ut_chrome_step *from, size_t at)
{
	memmove(from->next + 1, from->next, UT_STEP_WAYS - 1);
	from->next[0] = (uint8_t)at;
}

const struct ut_chrome_step *ut_chrome_step_slow(struct ut_chrome *c,
						 const struct ut_chrome_step *from)
{
	size_t before = (size_t)(from - c->steps), at = UT_STEPS;
	struct ut_chrome_step step = { .fresh = c->json.fresh };
	const char *start = c->json.at;
	struct ut_str key;

	if (*start == '}') {
		c->json.at++;
		c->json.fresh = false;
		return NULL;
	}
	if (!ut_json_member(&c->json, &key))
		return NULL;
	if (c->json.at - start <= 8 * UT_STEP_WORDS && is_regular(start, c->json.at, step.fresh)) {
		set_text(&step, start, (size_t)(c->json.at - start));
		at = step_place(c, &step);
		remember_next(&c->steps[before], at);
		if (same_text(&c->steps[at], &step))
			return &c->steps[at];
	}
	step.member = ut_chrome_member(key);
	step.key = ut_chrome_string(c, c->names, key);
	c->steps[at] = step;
	return &c->steps[at];
}

/* ---- processes and tracks ------------------------------------------------------------------ */

/* Where the index + 1 of a place is kept; 0 = the place is new, and the caller sets it. */
static uint32_t *chrome_place_place_of(struct ut_chrome *c, const uint64_t key[3])
{
	struct ut_chrome_places *p = &c->places;
	uint32_t hash = (uint32_t)chrome_place_mix(
			 chrome_place_mix(chrome_place_mix(1, key[0]), key[1]), key[2]),
		 at = hash, n;

	while ((n = ut_hashtab_next(&p->lookup, hash, &at))) {
		if (!memcmp(p->items[n - 1].key, key, sizeof(p->items->key)))
			return &p->items[n - 1].index;
	}
	p->items = ut_grow(p->items, p->count + 1, &p->cap, sizeof(*p->items));
	memcpy(p->items[p->count++].key, key, sizeof(p->items->key));
	ut_hashtab_add(&p->lookup, hash, (uint32_t)p->count);
	return &p->items[p->count - 1].index;
}

enum place_kind {
	PROCESS = 1,
	THREAD,
	ASYNC,
	COUNTER,
	MEMBER, /* of the file */
};

uint32_t *ut_chrome_file_place(struct ut_chrome *c, uint32_t key)
{
	const uint64_t member[3] = { MEMBER, key, 0 };

	return chrome_place_place_of(c, member);
}

uint32_t ut_chrome_process(struct ut_chrome *c, struct ut_chrome_ref pid)
{
	struct ut_trace *t = &c->build.store.trace;
	const uint64_t key[3] = { PROCESS, pid.number, pid.text };
	uint32_t *index = chrome_place_place_of(c, key);

	if (!*index) {
		*index = ut_trace_add_process(t, 0) + 1;
		t->processes[*index - 1].pid = pid.number;
		t->processes[*index - 1].pid_text = pid.text;
	}
	return *index - 1;
}

static uint32_t chrome_place_add_track(struct ut_chrome *c, const uint64_t key[3],
				       enum ut_track_type type)
{
	uint32_t *index = chrome_place_place_of(c, key);

	if (*index)
		return *index - 1;
	*index = ut_trace_add_track(&c->build.store.trace, (uint32_t)(key[0] >> 32), type) + 1;
	return *index - 1;
}

static uint32_t find_thread(struct ut_chrome *c, struct ut_chrome_ref pid, struct ut_chrome_ref tid)
{
	const uint64_t process = ut_chrome_process(c, pid);
	const uint64_t key[3] = { process << 32 | THREAD, tid.number, tid.text };
	uint32_t track = chrome_place_add_track(c, key, UT_TRACK_THREAD);

	c->build.store.trace.tracks[track].id = tid.number;
	c->build.store.trace.tracks[track].id_text = tid.text;
	return track;
}

uint32_t ut_chrome_thread(struct ut_chrome *c, struct ut_chrome_ref pid, struct ut_chrome_ref tid)
{
	struct ut_chrome_seat *seat =
		&c->seats[chrome_place_mix(chrome_place_mix(pid.number + pid.text, tid.number),
					   tid.text) %
			  UT_CHROME_SEATS];

	if (seat->known && seat->pid == pid.number && seat->tid == tid.number &&
	    seat->pid_text == pid.text && seat->tid_text == tid.text)
		return seat->track;
	*seat = (struct ut_chrome_seat){ .pid = pid.number,
					 .tid = tid.number,
					 .pid_text = pid.text,
					 .tid_text = tid.text,
					 .track = find_thread(c, pid, tid),
					 .known = true };
	return seat->track;
}

/* Makes known what others (ut_build_join) have added to the trace. */
void ut_chrome_reindex(struct ut_chrome *c)
{
	const struct ut_trace *t = &c->build.store.trace;

	memset(c->seats, 0, UT_CHROME_SEATS * sizeof(*c->seats));
	for (uint32_t i = 0; i < t->process_count; i++) {
		const uint64_t key[3] = { PROCESS, t->processes[i].pid, t->processes[i].pid_text };

		*chrome_place_place_of(c, key) = i + 1;
	}
	for (uint32_t i = 0; i < t->track_count; i++) {
		const struct ut_track *k = &t->tracks[i];
		const uint64_t process = (uint64_t)k->process << 32;
		uint32_t unit = k->unit ? k->unit : c->words[UT_WORD_VALUE];
		const uint64_t thread[3] = { process | THREAD, k->id, k->id_text };
		const uint64_t async[3] = { process | ASYNC, k->name, 0 };
		uint32_t name = k->base ? k->base : k->name;
		const uint64_t counter[3] = { process | COUNTER, (uint64_t)name << 32 | unit,
					      k->id_text };

		*chrome_place_place_of(c, k->type == UT_TRACK_THREAD  ? thread
					  : k->type == UT_TRACK_ASYNC ? async
								      : counter) = i + 1;
	}
}

/*
 * One track per category: begin and end of a pair have the same one, but may come from different
 * threads.
 */
uint32_t ut_chrome_async_track(struct ut_chrome *c, struct ut_chrome_ref pid, uint32_t cat)
{
	const uint64_t process = ut_chrome_process(c, pid);
	const uint64_t key[3] = { process << 32 | ASYNC, cat, 0 };
	uint32_t track = chrome_place_add_track(c, key, UT_TRACK_ASYNC);

	c->build.store.trace.tracks[track].name = cat;
	return track;
}

/* name: of the counter, of its series, and its id as JSON; string ids. */
uint32_t ut_chrome_counter(struct ut_chrome *c, uint32_t process, const uint32_t name[3])
{
	uint32_t series = name[1] ? name[1] : c->words[UT_WORD_VALUE];
	const uint64_t key[3] = { (uint64_t)process << 32 | COUNTER,
				  (uint64_t)name[0] << 32 | series, name[2] };
	uint32_t index = chrome_place_add_track(c, key, UT_TRACK_COUNTER);
	struct ut_track *track = &c->build.store.trace.tracks[index];

	if (track->name) /* known */
		return index;
	track->unit = series == c->words[UT_WORD_VALUE] ? 0 : series;
	track->id_text = name[2];
	ut_trace_name_counter(&c->build.store.trace, index, name[0]);
	return index;
}
