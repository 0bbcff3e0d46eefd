/*
 * row.c - what an event means: one row, several (counters, slices with flows) or metadata.
 */
#include <string.h>

#include "import/chrome/part.h"
#include "import/json_id.h"

void ut_chrome_note(struct ut_chrome *c, enum ut_chrome_odd kind, uint64_t offset)
{
	if (!c->odd[kind].count++)
		c->odd[kind].first = offset;
}

static void note_event(struct ut_chrome *c, enum ut_chrome_odd kind)
{
	ut_chrome_note(c, kind, ut_json_offset(&c->json, c->event.start));
}

/* Members that we do not know become arguments, behind those that were given as such. */
static void add_extra(struct ut_chrome *c)
{
	bool wanted = false;

	for (size_t i = 0; i < c->extra.count; i++) {
		const struct ut_arg *arg = &c->extra.items[i];

		/* the elements of an array go the same way */
		if (!i || !(arg[-1].flags & UT_ARG_MORE))
			wanted = !(c->args.seen >> arg->key % 64 & 1) ||
				 !ut_chrome_has(&c->args, arg->key);
		if (wanted)
			ut_chrome_add(&c->args, *arg);
	}
}

static uint32_t list_args(struct ut_chrome *c)
{
	if (c->extra.count)
		add_extra(c);
	return ut_arglists_add(&c->build.store.args, c->args.items, c->args.count);
}

static void row_add_row(struct ut_chrome *c, uint32_t track, uint64_t val, uint32_t type,
			uint32_t args)
{
	const struct ut_chrome_event *e = &c->event;

	c->first = e->ts < c->first ? e->ts : c->first;
	ut_build_add(&c->build, track, (uint64_t)e->ts, val, type, args);
}

static bool same_ref(struct ut_chrome_ref a, struct ut_chrome_ref b)
{
	return a.number == b.number && a.text == b.text;
}

/* Our own exporter says with an argument what is a flag for us. */
static bool take_flag(struct ut_chrome *c, enum ut_chrome_word word)
{
	uint32_t key = c->words[word];
	struct ut_arg *arg;

	if (!(c->args.seen >> key % 64 & 1))
		return false;
	arg = ut_chrome_find(&c->args, key);
	if (!arg || arg->type != UT_ARG_BOOL || arg->flags || !arg->value.u64)
		return false;
	ut_chrome_remove(&c->args, arg);
	return true;
}

static unsigned int span_flags(struct ut_chrome *c)
{
	unsigned int flags = 0;

	if (!c->args.count)
		return 0;
#define TAKE_FLAG(flag, key) flags |= take_flag(c, UT_WORD_##flag) ? UT_EV_##flag : 0u;
	UT_SPAN_FLAG_LIST(TAKE_FLAG)
#undef TAKE_FLAG
	return flags;
}

/* A slice with bind_id is the end of a flow, its start, or both. */
static void take_binding(struct ut_chrome *c, uint32_t track)
{
	const struct ut_chrome_event *e = &c->event;
	unsigned int kind = e->flow_in && e->flow_out ? UT_KIND_FLOW_STEP
			    : e->flow_in              ? UT_KIND_FLOW_IN
						      : UT_KIND_FLOW_OUT;
	uint32_t cat = c->event.cat;
	uint64_t number;

	if (!e->bind.len || (!e->flow_in && !e->flow_out))
		return;
	c->event.cat = c->words[UT_WORD_BIND_ID]; /* slices of any category are bound */
	c->args.count = c->extra.count = 0;
	if (ut_chrome_number(c, e->bind, &number))
		row_add_row(c, track, number, ut_chrome_type(c, 0, c->event.cat, kind, 0),
			    list_args(c));
	c->event.cat = cat;
}

static void take_complete(struct ut_chrome *c)
{
	const struct ut_chrome_event *e = &c->event;
	uint32_t track = ut_chrome_thread(c, e->pid, e->tid);
	unsigned int flags = span_flags(c);
	int64_t dur = e->dur;

	c->complete = true;
	if (!e->has_dur)
		note_event(c, UT_ODD_NO_DUR);
	else if (dur < 0)
		note_event(c, UT_ODD_NEGATIVE_DUR);
	if (!e->has_dur || dur < 0)
		dur = 0;
	row_add_row(c, track, (uint64_t)dur,
		    ut_chrome_type(c, e->name, e->cat, UT_KIND_SPAN, flags), list_args(c));
	if (e->bind.len)
		take_binding(c, track);
}

/* ---- members without a meaning ------------------------------------------------------------- */

/* A member that means nothing in an event of this kind becomes an argument. */
static void keep_member(struct ut_chrome *c, enum ut_chrome_word key, struct ut_str value)
{
	const char *behind = c->json.at;

	if (!value.len)
		return;
	c->json.at = value.ptr; /* it has been read once, so this cannot fail */
	(void)ut_chrome_value(c, &c->extra, c->words[key]);
	c->json.at = behind;
}

static void keep_letter(struct ut_chrome *c, enum ut_chrome_word key, char letter)
{
	struct ut_arg arg = { .key = c->words[key], .type = UT_ARG_STR };

	if (!letter)
		return;
	arg.value.str = ut_strtab_intern(&c->build.store.trace.strings, &letter, 1);
	ut_chrome_add(&c->extra, arg);
}

static bool is_one_of(char phase, const char *phases)
{
	return strchr(phases, phase) != NULL;
}

/* A quick look: most events have none of the members in question, or need them. */
static inline bool has_unused(const struct ut_chrome_event *e)
{
	return e->id.len || e->id2.len || e->scope.len || e->bind.len || e->reach || e->enclosing ||
	       (e->has_dur && e->phase != 'X');
}

static void keep_unused(struct ut_chrome *c)
{
	const struct ut_chrome_event *e = &c->event;
	struct ut_arg dur = { .key = c->words[UT_WORD_DUR] };

	if (!is_one_of(e->phase, "stfbneSTpFNODC"))
		keep_member(c, UT_WORD_ID, e->id);
	if (!is_one_of(e->phase, "stfbneSTpFNOD")) {
		keep_member(c, UT_WORD_ID2, e->id2);
		keep_member(c, UT_WORD_SCOPE, e->scope);
	}
	if (!is_one_of(e->phase, "XB") || !(e->flow_in || e->flow_out))
		keep_member(c, UT_WORD_BIND_ID, e->bind);
	if (is_one_of(e->phase, "XBEstfbneSTpFNOD"))
		keep_letter(c, UT_WORD_REACH, e->reach);
	if (e->enclosing && e->phase != 'f')
		keep_letter(c, UT_WORD_BP, 'e');
	if (e->has_dur && e->phase != 'X') {
		ut_chrome_double(c, (double)e->dur / 1e3, &dur);
		ut_chrome_add(&c->extra, dur);
	}
}

/* ---- begin and end ------------------------------------------------------------------------- */

/*
 * A begin whose end is the very next event is a span, whatever other spans overlap it: the flex
 * dialect writes such pairs, in no order of time. All others are joined by the build.
 */
static void take_begin(struct ut_chrome *c)
{
	struct ut_chrome_held *held = &c->held;
	struct ut_chrome_args args = held->args;

	held->any = true;
	held->flags = span_flags(c);
	held->event = c->event;
	if (c->extra.count)
		add_extra(c);
	held->args = c->args;
	c->args = args;
	if (c->event.bind.len)
		take_binding(c, ut_chrome_thread(c, c->event.pid, c->event.tid));
}

static void add_held(struct ut_chrome *c, unsigned int kind, uint64_t val)
{
	const struct ut_chrome_held *held = &c->held;
	const struct ut_chrome_event *e = &held->event;

	c->first = e->ts < c->first ? e->ts : c->first;
	ut_build_add(&c->build, ut_chrome_thread(c, e->pid, e->tid), (uint64_t)e->ts, val,
		     ut_chrome_type(c, e->name, e->cat, kind, held->flags),
		     ut_arglists_add(&c->build.store.args, held->args.items, held->args.count));
	c->held.any = false;
}

void ut_chrome_flush(struct ut_chrome *c)
{
	if (c->held.any)
		add_held(c, UT_RAW_BEGIN, 0);
}

static bool ends_held(const struct ut_chrome *c)
{
	const struct ut_chrome_event *e = &c->event, *begin = &c->held.event;

	return c->held.any && e->name == begin->name && e->name && same_ref(e->pid, begin->pid) &&
	       same_ref(e->tid, begin->tid) && e->ts >= begin->ts;
}

static bool same_keys(const struct ut_chrome_args *a, const struct ut_chrome_args *b)
{
	if (!a->count || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (a->items[i].key != b->items[i].key)
			return false;
	}
	return true;
}

/* Arguments of the end count more than those of the begin. */
static void add_end_args(struct ut_chrome *c)
{
	struct ut_chrome_args *held = &c->held.args;

	if (c->extra.count)
		add_extra(c);
	if (same_keys(held, &c->args)) { /* some writers tell everything twice */
		memcpy(held->items, c->args.items, held->count * sizeof(*held->items));
		return;
	}
	for (size_t i = 0; i < c->args.count; i++) {
		const struct ut_arg *arg = &c->args.items[i];
		bool first = !i || !(arg[-1].flags & UT_ARG_MORE); /* of an array, if it is one */

		if (first && ut_chrome_has(held, arg->key))
			ut_chrome_remove(held, ut_chrome_find(held, arg->key));
		ut_chrome_add(held, *arg);
	}
}

static void take_end(struct ut_chrome *c)
{
	const struct ut_chrome_event *e = &c->event;

	if (ends_held(c)) {
		add_end_args(c);
		add_held(c, UT_KIND_SPAN, (uint64_t)e->ts - (uint64_t)c->held.event.ts);
		return;
	}
	ut_chrome_flush(c);
	row_add_row(c, ut_chrome_thread(c, e->pid, e->tid), 0,
		    ut_chrome_type(c, e->name, e->cat, UT_RAW_END, 0), list_args(c));
}

/* ---- other kinds --------------------------------------------------------------------------- */

static void take_instant(struct ut_chrome *c, bool report_phase)
{
	const struct ut_chrome_event *e = &c->event;
	unsigned int flags = e->reach == 'g'   ? UT_EV_SCOPE_GLOBAL
			     : e->reach == 'p' ? UT_EV_SCOPE_PROCESS
					       : 0;

	if (report_phase && e->phase == '?')
		keep_member(c, UT_WORD_PH, e->long_phase);
	else if (report_phase)
		keep_letter(c, UT_WORD_PH, e->phase);
	row_add_row(c, ut_chrome_thread(c, e->pid, e->tid), 0,
		    ut_chrome_type(c, e->name, e->cat, UT_KIND_INSTANT, flags), list_args(c));
}

/* What cannot be paired is still worth seeing. */
static void take_without_id(struct ut_chrome *c, uint32_t cat)
{
	struct ut_chrome_event *e = &c->event;

	note_event(c, UT_ODD_NO_ID);
	e->cat = cat;
	keep_member(c, UT_WORD_ID2, e->id2);
	keep_member(c, UT_WORD_SCOPE, e->scope);
	keep_letter(c, UT_WORD_BP, e->enclosing && e->phase == 'f' ? 'e' : 0);
	take_instant(c, true);
}

static bool row_is_text(const struct ut_arg *arg)
{
	return !(arg->flags & UT_ARG_ARRAY) &&
	       (arg->type == UT_ARG_STR || arg->type == UT_ARG_PTR || arg->flags & UT_ARG_TEXT);
}

static bool is_global(const struct ut_chrome_event *e)
{
	const char phase[3] = { '"', e->phase, '"' };

	return e->id2.len && ut_id_is_global((struct ut_str){ phase, 3 }, e->id, e->id2);
}

static void take_flow(struct ut_chrome *c, unsigned int kind)
{
	struct ut_chrome_event *e = &c->event;
	unsigned int flags =
		(kind == UT_KIND_FLOW_IN && !e->enclosing ? (unsigned int)UT_EV_BIND_NEXT : 0) |
		(is_global(e) ? (unsigned int)UT_EV_GLOBAL_ID : 0);
	uint32_t cat = e->cat;
	struct ut_arg *name;
	uint64_t number;

	if (!e->cat)
		e->cat = c->words[UT_WORD_FLOW];
	if (!ut_chrome_number(c, e->id, &number)) {
		take_without_id(c, cat);
		return;
	}
	if (e->name == e->cat && e->cat == c->words[UT_WORD_FLOW]) { /* our exporter's way */
		name = ut_chrome_find(&c->args, c->words[UT_WORD_NAME]);
		e->name = e->cat = 0;
		if (name && row_is_text(name)) {
			e->name = ut_chrome_text_of(c, name);
			ut_chrome_remove(&c->args, name);
		}
	}
	row_add_row(c, ut_chrome_thread(c, e->pid, e->tid), number,
		    ut_chrome_type(c, e->name, e->cat, kind, flags), list_args(c));
}

/* The thread is only worth telling if it is not the main one. */
static void report_thread(struct ut_chrome *c)
{
	const struct ut_chrome_event *e = &c->event;
	struct ut_arg arg = { .key = c->words[UT_WORD_TID], .type = UT_ARG_U64 };

	if (!e->tid.given || same_ref(e->tid, e->pid))
		return;
	arg.value.u64 = e->tid.number;
	if (e->tid.text) {
		arg.type = UT_ARG_JSON;
		arg.value.str = e->tid.text;
	}
	ut_chrome_add(&c->extra, arg);
}

static void take_async(struct ut_chrome *c, unsigned int kind)
{
	struct ut_chrome_event *e = &c->event;
	unsigned int flags = kind == UT_KIND_ASYNC_BEGIN ? span_flags(c) : 0;
	uint32_t cat = e->cat;
	uint64_t number;

	if (!e->cat) /* they are paired by it; our exporter calls it so, too */
		e->cat = c->words[UT_WORD_ASYNC];
	if (!ut_chrome_number(c, e->id, &number)) {
		take_without_id(c, cat);
		return;
	}
	report_thread(c);
	row_add_row(c, ut_chrome_async_track(c, e->pid, e->cat), number,
		    ut_chrome_type(c, e->name, e->cat, kind, flags), list_args(c));
}

static void take_object(struct ut_chrome *c, unsigned int kind)
{
	const struct ut_chrome_event *e = &c->event;
	uint64_t number;

	if (!ut_chrome_number(c, e->id, &number)) {
		take_without_id(c, e->cat);
		return;
	}
	row_add_row(c, ut_chrome_thread(c, e->pid, e->tid), number,
		    ut_chrome_type(c, e->name, e->cat, kind, 0), list_args(c));
}

/* ---- counters ------------------------------------------------------------------------------ */

static bool row_number_of(struct ut_chrome *c, const struct ut_arg *arg, uint64_t *val,
			  unsigned int *flags)
{
	struct ut_json_number n;
	enum ut_json_type type;
	struct ut_str s;

	*val = arg->value.u64;
	if (arg->flags & UT_ARG_ARRAY)
		return false;
	switch ((enum ut_arg_type)arg->type) {
	case UT_ARG_U64:
		*flags = 0;
		return true;
	case UT_ARG_I64:
		*flags = UT_EV_SIGNED;
		return true;
	case UT_ARG_F64:
		*flags = UT_EV_DOUBLE;
		return true;
	case UT_ARG_STR:
	case UT_ARG_JSON: /* "NaN", "12.5", and whole numbers that are too big for one */
		s = ut_strtab_get(&c->build.store.trace.strings, arg->value.str);
		type = ut_json_number((struct ut_str){ s.ptr, s.len }, &n);
		if (type == UT_JSON_NOT)
			return false;
		if (type == UT_JSON_U64) { /* as it will be read from what is written */
			*val = n.u64;
			*flags = 0;
			return true;
		}
		break;
	case UT_ARG_END:
	case UT_ARG_PTR:
	case UT_ARG_BOOL:
		return false;
	}
	memcpy(val, &n.f64, sizeof(*val));
	*flags = UT_EV_DOUBLE;
	return true;
}

static void drop_numbers(struct ut_chrome *c, struct ut_chrome_args *args)
{
	unsigned int flags;
	uint64_t val;
	size_t n = 0;

	for (size_t i = 0; i < args->count; i++) {
		if (!row_number_of(c, &args->items[i], &val, &flags))
			args->items[n++] = args->items[i];
	}
	args->count = n;
}

/*
 * What is no number stays an argument, of the first value. Numbers that are no arguments (tts, for
 * example) cannot stay: a reader would take them for further counters.
 */
static uint32_t list_rest(struct ut_chrome *c)
{
	drop_numbers(c, &c->args);
	drop_numbers(c, &c->extra);
	return list_args(c);
}

/* Each number among the arguments is a counter of its own. */
static void take_counter(struct ut_chrome *c)
{
	const struct ut_chrome_event *e = &c->event;
	uint32_t process = ut_chrome_process(c, e->pid);
	uint32_t id = e->id.len ? ut_chrome_json(c, e->id, false) : 0;
	uint32_t first[3] = { 0 }; /* track, type, flags: known when the rest of the list is */
	uint64_t first_val = 0;
	size_t found = 0;

	for (size_t i = 0; i < c->args.count; i++) {
		const uint32_t name[3] = { e->name, c->args.items[i].key, id };
		unsigned int flags;
		uint64_t val;
		uint32_t track, type;

		if (!row_number_of(c, &c->args.items[i], &val, &flags))
			continue;
		track = ut_chrome_counter(c, process, name);
		type = ut_chrome_type(c, e->name, e->cat, UT_KIND_COUNTER, flags);
		if (found++) {
			row_add_row(c, track, val, type, 0);
			continue;
		}
		first[0] = track;
		first[1] = type;
		first_val = val;
	}
	if (!found) {
		note_event(c, UT_ODD_NO_VALUE);
		keep_member(c, UT_WORD_ID, e->id);
		take_instant(c, true);
	} else if (found == c->args.count && !c->extra.count) {
		row_add_row(c, first[0], first_val, first[1], 0);
	} else {
		row_add_row(c, first[0], first_val, first[1], list_rest(c));
	}
}

/* ---- all ----------------------------------------------------------------------------------- */

static void take_phase(struct ut_chrome *c)
{
	switch (c->event.phase) {
	case 'X':
		take_complete(c);
		break;
	case 'B':
		take_begin(c);
		break;
	case 'E':
		take_end(c);
		break;
	case 'i':
	case 'I':
	case 'R':
		take_instant(c, false);
		break;
	case 'C':
		take_counter(c);
		break;
	case 's':
		take_flow(c, UT_KIND_FLOW_OUT);
		break;
	case 't':
		take_flow(c, UT_KIND_FLOW_STEP);
		break;
	case 'f':
		take_flow(c, UT_KIND_FLOW_IN);
		break;
	case 'b':
	case 'S':
		take_async(c, UT_KIND_ASYNC_BEGIN);
		break;
	case 'n':
	case 'T':
	case 'p':
		take_async(c, UT_KIND_ASYNC_INSTANT);
		break;
	case 'e':
	case 'F':
		take_async(c, UT_KIND_ASYNC_END);
		break;
	case 'N':
		take_object(c, UT_KIND_OBJECT_NEW);
		break;
	case 'O':
		take_object(c, UT_KIND_OBJECT_STATE);
		break;
	case 'D':
		take_object(c, UT_KIND_OBJECT_GONE);
		break;
	default:
		/* samples, memory dumps, clock syncs, contexts, linked ids: the args say it all */
		if (!strchr("PvVc()=,", c->event.phase))
			note_event(c, UT_ODD_PHASE);
		take_instant(c, true);
	}
}

void ut_chrome_take_event(struct ut_chrome *c)
{
	struct ut_chrome_event *e = &c->event;

	if (c->in_samples) {
		ut_chrome_take_sample(c);
		return;
	}
	if (!e->phase) {
		/* "{}" is what some writers put behind their last comma */
		if (e->name || e->has_ts || c->args.count || c->extra.count)
			note_event(c, UT_ODD_NO_EVENT);
		return;
	}
	c->events++;
	if (c->held.any && (e->phase != 'E' || !e->has_ts))
		ut_chrome_flush(c);
	if (e->phase == 'M') {
		ut_chrome_metadata(c);
	} else if (e->has_ts) {
		if (has_unused(e))
			keep_unused(c);
		take_phase(c);
	} else {
		note_event(c, UT_ODD_NO_TIME);
	}
}
