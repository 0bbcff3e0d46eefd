#include "analyze/filter.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "base/grow.h"
#include "base/regex.h"
#include "base/size.h"
#include "base/str.h"

#define BIT(kind) (1u << UT_KIND_##kind)
#define ALL_KINDS ((1u << UT_KIND_COUNT) - 1)

const char ut_filter_kind_words[] = "span instant counter async flow object";

static const struct {
	const char *word;
	uint32_t kinds;
} kind_words[] = {
	{ "span", BIT(SPAN) },
	{ "instant", BIT(INSTANT) },
	{ "counter", BIT(COUNTER) },
	{ "async", BIT(ASYNC_BEGIN) | BIT(ASYNC_END) | BIT(ASYNC_INSTANT) },
	{ "flow", BIT(FLOW_OUT) | BIT(FLOW_IN) | BIT(FLOW_STEP) },
	{ "object", BIT(OBJECT_NEW) | BIT(OBJECT_STATE) | BIT(OBJECT_GONE) },
};

void ut_filter_opts_release(struct ut_filter_opts *o)
{
	ut_opt_list_release(&o->names);
	ut_opt_list_release(&o->not_names);
	ut_opt_list_release(&o->regexes);
	ut_opt_list_release(&o->cats);
	ut_opt_list_release(&o->tracks);
	ut_opt_list_release(&o->pids);
	ut_opt_list_release(&o->ranks);
	ut_opt_list_release(&o->kinds);
}

/* ---- from words ---------------------------------------------------------------------------- */

/* Calls take() for each part of the list's items between commas. */
static int each_word(const struct ut_opt_list *list, struct ut_filter *f,
		     int (*take)(struct ut_filter *f, const char *word, struct ut_err *err),
		     struct ut_err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *at = list->items[i];

		for (;;) {
			size_t len = strcspn(at, ",");
			int rc = take(f, ut_arena_copy(&f->arena, at, len), err);

			if (rc)
				return rc;
			if (!at[len])
				break;
			at += len + 1;
		}
	}
	return 0;
}

static int take_kind(struct ut_filter *f, const char *word, struct ut_err *err)
{
	for (size_t i = 0; i < sizeof(kind_words) / sizeof(kind_words[0]); i++) {
		if (!strcmp(word, kind_words[i].word)) {
			f->kinds |= kind_words[i].kinds;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "--kind: '%s' is none of: %s", word, ut_filter_kind_words);
}

/* "7" or "0-15". */
static int parse_range(const char *word, struct ut_filter_range *r)
{
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return -EINVAL;
	errno = 0;
	r->low = r->high = strtoull(word, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		r->high = strtoull(end + 1, &end, 10);
	return errno || *end || r->high < r->low ? -EINVAL : 0;
}

static int take_pid(struct ut_filter *f, const char *word, struct ut_err *err)
{
	if (parse_range(word, &f->pids[f->pid_count++]))
		return ut_err_set(err, -EINVAL,
				  "--pid: '%s' is not a number or a range such as "
				  "100-200",
				  word);
	return 0;
}

static int take_rank(struct ut_filter *f, const char *word, struct ut_err *err)
{
	if (parse_range(word, &f->ranks[f->rank_count++]))
		return ut_err_set(err, -EINVAL,
				  "--rank: '%s' is not a number or a range such as "
				  "0-15",
				  word);
	return 0;
}

/* Room for every word of the list. */
static struct ut_filter_range *make_ranges(struct ut_filter *f, const struct ut_opt_list *list)
{
	size_t words = 0;

	for (size_t i = 0; i < list->count; i++) {
		words++;
		for (const char *p = list->items[i]; *p; p++)
			words += *p == ',';
	}
	return UT_NEW_N(&f->arena, struct ut_filter_range, words + 1);
}

static int take_time(const char *option, const char *text, uint64_t *ns, bool *absolute,
		     struct ut_err *err)
{
	struct ut_err inner = { 0 };

	if (!text)
		return 0;
	if (absolute)
		*absolute = text[0] == '@';
	if (ut_time_parse(absolute && text[0] == '@' ? text + 1 : text, ns, &inner))
		return ut_err_set(err, -EINVAL, "%s: %s", option, inner.text);
	return 0;
}

static int compile_regexes(struct ut_filter *f, struct ut_err *err)
{
	const struct ut_opt_list *list = &f->opts->regexes;

	f->regexes = UT_NEW_N(&f->arena, regex_t, list->count + 1);
	for (size_t i = 0; i < list->count; i++) {
		struct ut_err inner = { 0 };

		if (ut_regex_extended(&f->regexes[i], list->items[i], &inner))
			return ut_err_set(err, -EINVAL, "--regex %s", inner.text);
		f->regex_count++;
	}
	return 0;
}

static int compile(struct ut_filter *f, struct ut_err *err)
{
	const struct ut_filter_opts *o = f->opts;
	int rc = each_word(&o->kinds, f, take_kind, err);

	f->pids = make_ranges(f, &o->pids);
	f->ranks = make_ranges(f, &o->ranks);
	rc = rc ? rc : each_word(&o->pids, f, take_pid, err);
	rc = rc ? rc : each_word(&o->ranks, f, take_rank, err);
	rc = rc ? rc : take_time("--from", o->from, &f->from, &f->from_is_absolute, err);
	rc = rc ? rc : take_time("--to", o->to, &f->to, &f->to_is_absolute, err);
	rc = rc ? rc : take_time("--min-dur", o->min_dur, &f->min_dur, NULL, err);
	rc = rc ? rc : take_time("--max-dur", o->max_dur, &f->max_dur, NULL, err);
	if (!rc && f->max_dur < f->min_dur)
		rc = ut_err_set(err, -EINVAL, "--max-dur is less than --min-dur");
	if (!rc && o->from && o->to && f->from_is_absolute == f->to_is_absolute && f->to < f->from)
		rc = ut_err_set(err, -EINVAL, "--to is before --from");
	return rc ? rc : compile_regexes(f, err);
}

int ut_filter_init(struct ut_filter *f, const struct ut_filter_opts *opts, struct ut_err *err)
{
	int rc;

	*f = (struct ut_filter){ .opts = opts, .to = UINT64_MAX, .max_dur = UINT64_MAX };
	f->has_window = opts->from || opts->to;
	rc = compile(f, err);
	if (rc)
		ut_filter_release(f);
	else if (!f->kinds)
		f->kinds = ALL_KINDS;
	return rc;
}

void ut_filter_release(struct ut_filter *f)
{
	for (size_t i = 0; i < f->regex_count; i++)
		regfree(&f->regexes[i]);
	ut_arena_release(&f->arena);
	*f = (struct ut_filter){ 0 };
}

bool ut_filter_is_open(const struct ut_filter *f)
{
	const struct ut_filter_opts *o = f->opts;

	return !o->names.count && !o->not_names.count && !o->regexes.count && !o->cats.count &&
	       !o->tracks.count && !o->pids.count && !o->ranks.count && !f->has_window &&
	       !f->min_dur && f->max_dur == UINT64_MAX && f->kinds == ALL_KINDS;
}

/* ---- bound to a store ---------------------------------------------------------------------- */

/* Brackets in names are common (operator[], arrays): a pattern that is the name itself fits. */
static bool analyze_filter_matches(const struct ut_opt_list *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (!strcmp(patterns->items[i], text) || !fnmatch(patterns->items[i], text, 0))
			return true;
	}
	return false;
}

static bool matches_regex(const struct ut_filter *f, const char *text)
{
	for (size_t i = 0; i < f->regex_count; i++) {
		if (!regexec(&f->regexes[i], text, 0, NULL, 0))
			return true;
	}
	return false;
}

static bool wants_name(const struct ut_filter *f, const struct ut_trace *t, uint32_t name)
{
	const char *text = ut_strtab_get(&t->strings, name).ptr;

	if ((f->opts->names.count || f->regex_count) &&
	    !analyze_filter_matches(&f->opts->names, text) && !matches_regex(f, text))
		return false;
	return !analyze_filter_matches(&f->opts->not_names, text);
}

/* A category may be a list, as Chrome has it: each part and the whole can fit. */
static bool wants_cat(const struct ut_filter *f, const struct ut_trace *t, uint32_t cat)
{
	struct ut_str s = ut_strtab_get(&t->strings, cat);
	bool found = analyze_filter_matches(&f->opts->cats, s.ptr);
	char *copy, *rest, *word;

	if (found || !f->opts->cats.count || !strchr(s.ptr, ','))
		return found || !f->opts->cats.count;
	copy = rest = strdup(s.ptr);
	while (!found && (word = strsep(&rest, ",")))
		found = analyze_filter_matches(&f->opts->cats, word);
	free(copy);
	return found;
}

static bool is_flow(uint8_t kind)
{
	return kind == UT_KIND_FLOW_OUT || kind == UT_KIND_FLOW_IN || kind == UT_KIND_FLOW_STEP;
}

static bool wants_type(const struct ut_filter *f, const struct ut_trace *t,
		       const struct ut_type *type)
{
	if (type->kind >= UT_KIND_COUNT || !(f->kinds >> type->kind & 1))
		return false;
	return is_flow(type->kind) || (wants_name(f, t, type->name) && wants_cat(f, t, type->cat));
}

static bool in_ranges(const struct ut_filter_range *r, size_t count, uint64_t value)
{
	for (size_t i = 0; i < count; i++) {
		if (value >= r[i].low && value <= r[i].high)
			return true;
	}
	return !count;
}

static bool wants_track(const struct ut_filter *f, const struct ut_trace *t, uint32_t track)
{
	const struct ut_track *k = &t->tracks[track];
	const struct ut_process *p = &t->processes[k->process];
	struct ut_buf label = { 0 }, id = { 0 };
	bool wanted = !f->opts->tracks.count;

	if (!in_ranges(f->pids, f->pid_count, p->pid) || (f->pid_count && p->pid_text))
		return false;
	if (f->rank_count &&
	    (p->rank < 0 || !in_ranges(f->ranks, f->rank_count, (uint64_t)p->rank)))
		return false;
	if (!wanted) {
		ut_label_track(&label, t, track);
		ut_label_id(&id, t, k->id, k->id_text);
		wanted = analyze_filter_matches(&f->opts->tracks,
						ut_strtab_get(&t->strings, k->name).ptr) ||
			 analyze_filter_matches(&f->opts->tracks, label.data) ||
			 analyze_filter_matches(&f->opts->tracks, id.data);
	}
	ut_buf_release(&label);
	ut_buf_release(&id);
	return wanted;
}

static void bind_types(struct ut_filter_view *v, const struct ut_filter *f)
{
	const struct ut_types *types = &v->store->types;

	v->types = ut_make(types->count + 1);
	for (uint32_t i = 0; i < types->count; i++)
		v->types[i] = wants_type(f, &v->store->trace, &types->items[i]);
}

static void bind_tracks(struct ut_filter_view *v, const struct ut_filter *f)
{
	const struct ut_trace *t = &v->store->trace;

	v->tracks = ut_make(t->track_count + 1);
	for (uint32_t i = 0; i < t->track_count; i++) {
		if (!wants_track(f, t, i))
			continue;
		v->tracks[i] = UT_FILTER_TRACK;
		if (t->tracks[i].type == UT_TRACK_COUNTER && t->tracks[i].name &&
		    f->kinds & BIT(COUNTER) && !f->opts->cats.count &&
		    wants_name(f, t, t->tracks[i].name))
			v->tracks[i] |= UT_FILTER_COUNTER;
	}
}

static uint64_t first_event(const struct ut_store *s)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < s->trace.track_count; i++) {
		if (s->rows[i].count && s->rows[i].first < first)
			first = s->rows[i].first;
	}
	return first == UINT64_MAX ? 0 : first;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

void ut_filter_view_init(struct ut_filter_view *v, const struct ut_filter *f,
			 const struct ut_store *store)
{
	uint64_t first;

	*v = (struct ut_filter_view){ .store = store, .to = UINT64_MAX, .max_dur = UINT64_MAX };
	if (!f || ut_filter_is_open(f))
		return;
	v->filter = f;
	bind_types(v, f);
	bind_tracks(v, f);
	first = f->has_window ? first_event(store) : 0;
	if (f->opts->from)
		v->from = f->from_is_absolute ? f->from : plus(first, f->from);
	if (f->opts->to)
		v->to = f->to_is_absolute ? f->to : plus(first, f->to);
	v->min_dur = f->min_dur;
	v->max_dur = f->max_dur;
	v->by_window = v->from || v->to != UINT64_MAX;
	v->rows = v->by_window || v->min_dur || v->max_dur != UINT64_MAX;
	v->clip = f->opts->clip && v->by_window;
	v->by_span = f->opts->names.count || f->opts->not_names.count || f->regex_count ||
		     f->opts->cats.count || v->min_dur || v->max_dur != UINT64_MAX;
}

void ut_filter_view_release(struct ut_filter_view *v)
{
	free(v->types);
	free(v->tracks);
	*v = (struct ut_filter_view){ 0 };
}

bool ut_filter_wants(const struct ut_filter_view *v, uint32_t track, uint32_t number)
{
	const struct ut_types *types = &v->store->types;
	const struct ut_track *k = &v->store->trace.tracks[track];

	if (!v->filter)
		return true;
	if (!(v->tracks[track] & UT_FILTER_TRACK))
		return false;
	number = number < types->count ? number : 0;
	if (types->items[number].kind == UT_KIND_COUNTER && k->type == UT_TRACK_COUNTER && k->name)
		return v->tracks[track] & UT_FILTER_COUNTER;
	return v->types[number];
}
