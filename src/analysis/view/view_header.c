#include "view/view_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/path.h"
#include "base/sort.h"
#include "base/str.h"
#include "query/query.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/shell_words.h"
#include "view/answers.h"
#include "view/ask.h"

#define TYPE_PAGE  4096u /* as in web/src/source/contract.ts */
#define WORDS_MOST 5000u
#define CLI_MOST   8u /* names in a command that people still read */

#define FAILURES_MOST 3u /* that are named */
#define FAILURE_NAME  60u

static void view_header_put_str(struct ut_out *out, const char *key, struct ut_str s)
{
	ut_out_text(out, key);
	ut_out_json_str(out, s.ptr ? s.ptr : "", s.len);
}

static void put_z(struct ut_out *out, const char *key, const char *s)
{
	view_header_put_str(out, key, (struct ut_str){ s, strlen(s) });
}

static void view_header_put_number(struct ut_out *out, const char *key, uint64_t value)
{
	ut_out_text(out, key);
	ut_out_u64(out, value);
}

/* ---- info ----------------------------------------------------------------------------------- */

static void view_header_put_title(const struct ut_view *v, const char *key, struct ut_out *out)
{
	struct ut_buf b = { 0 };

	if (v->attached.input)
		ut_buf_text(&b, v->attached.input);
	else if (v->trace_count)
		ut_buf_text(&b, ut_path_base(v->traces[0].path));
	if (!v->attached.input && v->trace_count > 1)
		ut_buf_fmt(&b, " and %zu more", v->trace_count - 1);
	view_header_put_str(out, key, (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
}

static void put_files(const struct ut_view *v, struct ut_out *out)
{
	if (v->attached.subtitle)
		put_z(out, ",\"subtitle\":", v->attached.subtitle);
	ut_out_text(out, ",\"files\":[");
	if (v->attached.input)
		put_z(out, "", v->attached.input);
	for (size_t i = 0; !v->attached.input && i < v->trace_count; i++)
		put_z(out, i ? "," : "", ut_path_base(v->traces[i].path));
	ut_out_text(out, "]");
}

static void put_losses(const struct ut_view *v, struct ut_out *out)
{
	static const char *const texts[UT_LOSSES] = {
#define LOSS_TEXT(name, text) text,
		UT_LOSSES_LIST(LOSS_TEXT)
#undef LOSS_TEXT
	};
	struct ut_losses all = { 0 };
	bool any = false;

	for (size_t i = 0; i < v->trace_count; i++)
		ut_losses_add(&all, &v->traces[i].store->trace.losses);
	ut_out_text(out, ",\"losses\":[");
	for (size_t i = 0; i < UT_LOSSES; i++) {
		if (!all.all[i])
			continue;
		put_z(out, any ? ",{\"name\":" : "{\"name\":", ut_losses_names[i]);
		put_z(out, ",\"text\":", texts[i]);
		view_header_put_number(out, ",\"count\":", all.all[i]);
		ut_out_text(out, "}");
		any = true;
	}
	ut_out_text(out, "]");
}

bool ut_view_header_failures(const struct ut_view *v, struct ut_buf *b)
{
	struct ut_buf how = { 0 };
	uint32_t count = 0;

	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (size_t k = 0; k < t->process_count; k++) {
			const struct ut_process *p = &t->processes[k];
			struct ut_str name = ut_strtab_get(&t->strings, p->name);

			how.len = 0;
			if (!ut_process_failure(t, p, &how) || count++ >= FAILURES_MOST)
				continue;
			ut_buf_text(b, count > 1 ? ", " : "");
			ut_cell_name(b, name.ptr, name.len, FAILURE_NAME);
			ut_buf_fmt(b, " (%" PRIu64 ") failed: %s", p->pid, how.data);
		}
	}
	ut_buf_release(&how);
	if (count > FAILURES_MOST)
		ut_buf_fmt(b, ", and %" PRIu32 " more", count - FAILURES_MOST);
	ut_buf_text(b, count ? "." : "");
	return count > 0;
}

static void put_failures(const struct ut_view *v, struct ut_out *out)
{
	struct ut_buf b = { 0 };

	if (ut_view_header_failures(v, &b))
		put_z(out, ",\"failed\":", b.data);
	ut_buf_release(&b);
}

static void put_recorder(const struct ut_view *v, struct ut_out *out)
{
	uint64_t error = 0;
	bool any = false;

	ut_out_text(out, ",\"notes\":[");
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (size_t n = 0; n < t->note_count; n++, any = true)
			view_header_put_str(out, any ? "," : "",
					    ut_strtab_get(&t->strings, t->notes[n]));
		error = t->clock_error > error ? t->clock_error : error;
	}
	view_header_put_number(out, "],\"clockError\":", error);
}

static void put_command(const struct ut_view *v, struct ut_out *out)
{
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_trace *t = &v->traces[i].store->trace;

		for (size_t n = 0; n < t->process_count; n++) {
			struct ut_str s = ut_strtab_get(&t->strings, t->processes[n].cmdline);

			if (s.len) {
				view_header_put_str(out, ",\"command\":", s);
				return;
			}
		}
	}
}

/*
 * The traces as arguments of a command, to be pasted into a shell; nothing if one of them has no
 * name that would lead there. Files that were opened for us by somebody else are called by full
 * names. No name is taken for an option.
 */
static void put_cli(const struct ut_view *v, struct ut_out *out)
{
	struct ut_buf b = { 0 };
	bool all = !v->paths_go && v->trace_count > 0 && v->trace_count <= CLI_MOST;

	for (size_t i = 0; i < v->trace_count && all; i++) {
		const char *path = v->traces[i].path;
		bool lent = !strncmp(path, "./", 2) || !strncmp(path, "/proc/self/", 11);
		char *full = lent ? realpath(path, NULL) : NULL;

		all = lent ? full != NULL : !access(path, F_OK);
		ut_buf_text(&b, i ? " " : "");
		if (full) {
			ut_shell_quote(&b, full);
		} else {
			ut_buf_text(&b, path[0] == '-' && path[1] ? "./" : "");
			ut_shell_quote(&b, path);
		}
		free(full);
	}
	if (all)
		view_header_put_str(out, ",\"cli\":", (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
}

/* ---- categories and pauses ------------------------------------------------------------------ */

#define CATS_MOST   256u
#define CATS_ROWS   (1u << 21) /* that are looked at, of a trace of any size */
#define PAUSES_MOST 1000u

struct cat {
	struct ut_str name;
	uint64_t count;
};

static int view_header_by_count(const void *a, const void *b)
{
	const struct cat *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return ut_str_cmp(x->name, y->name);
}

/* How often each type occurs, in some of the blocks of rows if there are many. */
static void count_types(const struct ut_view *v, uint64_t *counts)
{
	uint64_t rows = 0, step;

	for (uint32_t i = 0; i < v->track_count; i++)
		rows += v->tracks[i].rows->count;
	step = rows / CATS_ROWS + 1;
	for (uint32_t i = 0; i < v->track_count; i++) {
		const struct ut_view_track *t = &v->tracks[i];

		for (size_t b = 0; b < ut_rows_blocks(t->rows); b += step) {
			const struct ut_block *block = &t->rows->blocks[b];

			for (uint32_t n = 0; n < block->count; n++)
				counts[ut_view_type(t, block->type[n])]++;
		}
	}
}

static void add_cat(struct cat *cats, size_t *count, struct ut_str name, uint64_t n)
{
	size_t i = 0;

	while (i < *count && !ut_str_eq(cats[i].name, name))
		i++;
	if (i == *count && *count == CATS_MOST * 4)
		return;
	if (i == *count)
		cats[(*count)++] = (struct cat){ name, 0 };
	cats[i].count += n;
}

/* Categories of slices, the most frequent first. */
static void put_cats(const struct ut_view *v, struct ut_out *out)
{
	uint64_t *counts = ut_make(((size_t)v->type_count + 1) * sizeof(*counts));
	struct cat *cats = ut_make((size_t)CATS_MOST * 4 * sizeof(*cats));
	size_t count = 0;

	count_types(v, counts);
	for (uint32_t i = 0; i < v->type_count; i++) {
		struct ut_str cat = ut_view_type_cat(v, i);

		if (cat.len && v->classes[i] >= UT_CLASS_WORK && v->classes[i] <= UT_CLASS_ASYNC)
			add_cat(cats, &count, cat, counts[i]);
	}
	ut_sort(cats, count, sizeof(*cats), view_header_by_count);
	ut_out_text(out, ",\"cats\":[");
	for (size_t i = 0; i < count && i < CATS_MOST; i++)
		view_header_put_str(out, i ? "," : "", cats[i].name);
	ut_out_text(out, "]");
	free(cats);
	free(counts);
}

/* Spans of tracks that say when nothing was recorded. */
static void put_pauses(const struct ut_view *v, struct ut_out *out)
{
	const char *between = ",\"paused\":[";
	size_t count = 0;

	for (uint32_t i = 0; i < v->track_count; i++) {
		const struct ut_view_track *t = &v->tracks[i];
		const struct ut_trace *trace = &t->trace->store->trace;
		struct ut_entry e;

		if (!t->rows->count || ut_track_role(&trace->tracks[t->local]) != UT_ROLE_CONTROL)
			continue;
		for (uint64_t n = 0;
		     count < PAUSES_MOST && ut_lane_entry(t->trace->store, t->local, 0, n, &e);
		     n++) {
			if (e.end <= e.ts)
				continue;
			ut_out_fmt(out, "%s[%" PRIu64 ",%" PRIu64 "]", between,
				   ut_view_time(t, e.ts), ut_view_time(t, e.end));
			between = ",";
			count++;
		}
	}
	ut_out_text(out, count ? "]" : "");
}

/* ---- tools ---------------------------------------------------------------------------------- */

static void put_tools(const struct ut_view *v, struct ut_out *out)
{
	const char *before = "";

	ut_out_text(out, v->attached.sheet_count ? ",\"tools\":[" : "");
	for (size_t i = 0; i < v->attached.sheet_count; i++) {
		const struct ut_view_sheet *s = &v->attached.sheets[i];

		if (strcmp(s->tool, before) != 0) {
			put_z(out, i ? "]},{\"id\":" : "{\"id\":", s->tool);
			put_z(out, ",\"title\":", s->title);
			ut_out_text(out, ",\"sheets\":[");
		} else {
			ut_out_text(out, ",");
		}
		put_z(out, "", s->name);
		before = s->tool;
	}
	ut_out_text(out, v->attached.sheet_count ? "]}]" : "");
	if (v->attached.first)
		put_z(out, ",\"first\":", v->attached.first);
}

/* Files that only a server has. */
static void put_links(const struct ut_view *v, struct ut_out *out)
{
	ut_out_text(out, v->attached.link_count ? ",\"links\":[" : "");
	for (size_t i = 0; i < v->attached.link_count; i++) {
		put_z(out, i ? ",{\"href\":" : "{\"href\":", v->attached.links[i].path);
		put_z(out, ",\"title\":", v->attached.links[i].title);
		ut_out_text(out, "}");
	}
	ut_out_text(out, v->attached.link_count ? "]" : "");
}

/* The members of an object that say it. */
static void put_state(const struct ut_view *v, struct ut_out *out)
{
	const struct ut_view_state *s = &v->state;
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&v->state_lock;

	pthread_mutex_lock(lock);
	ut_out_fmt(out, "\"live\":%s", s->live ? "true" : "false");
	if (s->generation)
		view_header_put_number(out, ",\"generation\":", s->generation);
	if (s->read < 1)
		ut_out_fmt(out, ",\"read\":%.4f", s->read > 0 ? s->read : 0);
	if (s->bytes)
		view_header_put_number(out, ",\"bytes\":", s->bytes);
	if (s->ended)
		put_z(out, ",\"ended\":", s->ended);
	if (s->trouble)
		put_z(out, ",\"trouble\":", s->trouble);
	pthread_mutex_unlock(lock);
}

void ut_view_put_state(struct ut_view *v, struct ut_out *out)
{
	ut_out_text(out, "{");
	put_state(v, out);
	ut_out_text(out, "}");
}

void ut_view_header_info(const struct ut_view *v, const struct ut_view_header *header,
			 struct ut_out *out)
{
	view_header_put_title(v, "{\"title\":", out);
	put_files(v, out);
	if (v->before)
		view_header_put_title(v->before, ",\"before\":", out);
	ut_out_fmt(out, ",\"start\":\"%" PRId64 "\"", v->start > 0 ? v->start : 0);
	view_header_put_number(out, ",\"span\":", v->span);
	view_header_put_number(out, ",\"slices\":", header->slices);
	view_header_put_number(out, ",\"samples\":", header->samples);
	view_header_put_number(out, ",\"ranks\":", v->rank_count);
	view_header_put_number(out, ",\"types\":", header->types);
	put_cats(v, out);
	put_pauses(v, out);
	put_losses(v, out);
	put_failures(v, out);
	put_recorder(v, out);
	put_command(v, out);
	if (!v->attached.no_file)
		put_cli(v, out);
	ut_out_text(out, ",");
	put_state(v, out);
	if (header->left)
		put_z(out, ",\"left\":", header->left);
	put_tools(v, out);
	put_links(v, out);
	ut_out_fmt(out, ",\"can\":{\"sql\":%s,\"notes\":%s,\"again\":%s}}",
		   header->sql ? "true" : "false", header->notes ? "true" : "false",
		   v->attached.again ? "true" : "false");
}

int ut_answer_info(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err)
{
	const struct ut_view_header header = { .slices = v->slices,
					       .samples = v->samples,
					       .types = v->type_count,
					       .sql = UT_HAVE_SQLITE,
					       .notes = v->notes != NULL };

	(void)a;
	(void)err;
	ut_view_header_info(v, &header, out);
	return 0;
}

/* ---- places --------------------------------------------------------------------------------- */

#define PROCESS_IDS (UINT32_C(1) << 30) /* above all tracks */
#define RANK_IDS    (UINT32_C(2) << 30)
#define GROUP_IDS   (UINT32_C(3) << 30)

static const char *const place_kinds[UT_PLACE_KINDS] = { "rank",   "process", "device",
							 "thread", "queue",   "lane",
							 "async",  "counter", "group" };
static const char *const lane_kinds[UT_LANE_KINDS] = { "spans", "overlap", "async",
						       "marks", "flows",   "counter" };

static void put_lanes(const struct ut_lanes *lanes, struct ut_out *out)
{
	ut_out_text(out, ",\"lanes\":[");
	for (uint32_t i = 0; lanes && i < lanes->count; i++) {
		uint8_t kind = lanes->lanes[i].kind;

		ut_out_fmt(out, "%s{\"kind\":\"%s\",\"count\":", i ? "," : "",
			   kind < UT_LANE_KINDS ? lane_kinds[kind] : "marks");
		ut_out_u64(out, lanes->lanes[i].count);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "]}");
}

/* Parents come before their children, and those of one side by side. */
static bool is_below(const struct ut_view *v, uint32_t place, uint32_t above)
{
	return v->places[place].parent != UT_NO_PLACE && v->places[place].parent >= above;
}

/*
 * What a place is called by. While a trace grows places come between others, so there they are
 * called by what stays: the track, the first track of all in a process, the rank.
 */
static uint32_t place_id(const struct ut_view *v, uint32_t place)
{
	const struct ut_view_place *p = &v->places[place];
	uint32_t least = UINT32_MAX;

	if (!v->roomy)
		return place;
	if (p->track != UT_NO_TRACK)
		return p->track;
	if (p->kind == UT_PLACE_RANK)
		return RANK_IDS + (uint32_t)p->rank;
	for (uint32_t i = place + 1; i < v->place_count && is_below(v, i, place); i++)
		least = v->places[i].track < least ? v->places[i].track : least;
	return (p->kind == UT_PLACE_GROUP ? GROUP_IDS : PROCESS_IDS) + least;
}

void ut_view_header_place(const struct ut_view *v, uint32_t place, uint32_t track,
			  const struct ut_lanes *lanes, struct ut_out *out)
{
	const struct ut_view_place *p = &v->places[place];

	ut_out_fmt(out, "{\"id\":%" PRIu32 ",\"parent\":%" PRId64 ",\"kind\":\"%s\"",
		   place_id(v, place),
		   p->parent == UT_NO_PLACE ? -1 : (int64_t)place_id(v, p->parent),
		   place_kinds[p->kind]);
	view_header_put_str(out, ",\"name\":", p->name);
	if (p->sub.len)
		view_header_put_str(out, ",\"sub\":", p->sub);
	if (p->unit.len)
		view_header_put_str(out, ",\"unit\":", p->unit);
	if (p->tid)
		ut_out_fmt(out, ",\"tid\":%" PRIu64, p->tid);
	if (p->calls)
		ut_out_fmt(out, ",\"calls\":%" PRIu64, p->calls);
	if (p->cpu >= 0)
		ut_out_fmt(out, ",\"cpu\":%.4f", p->cpu);
	ut_out_fmt(out, ",\"rank\":%" PRId32 ",\"track\":%" PRId64, p->rank,
		   track == UT_NO_TRACK ? -1 : (int64_t)track);
	put_lanes(lanes, out);
}

int ut_answer_places(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err)
{
	(void)a;
	(void)err;
	ut_out_text(out, "[");
	for (uint32_t i = 0; i < v->place_count; i++) {
		uint32_t track = v->places[i].track;

		ut_out_text(out, i ? "," : "");
		ut_view_header_place(v, i, track,
				     track == UT_NO_TRACK ? NULL : v->tracks[track].lanes, out);
	}
	ut_out_text(out, "]");
	return 0;
}

/* ---- types and words ------------------------------------------------------------------------ */

int ut_answer_types(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err)
{
	uint32_t first = a->first < v->type_count ? (uint32_t)a->first : v->type_count;
	uint32_t last = v->type_count - first > TYPE_PAGE ? first + TYPE_PAGE : v->type_count;

	(void)err;
	view_header_put_number(out, "{\"first\":", a->first);
	ut_out_text(out, ",\"names\":[");
	for (uint32_t i = first; i < last; i++)
		view_header_put_str(out, i > first ? "," : "", ut_view_type_name(v, i));
	ut_out_text(out, "],\"cats\":[");
	for (uint32_t i = first; i < last; i++)
		view_header_put_str(out, i > first ? "," : "", ut_view_type_cat(v, i));
	ut_out_text(out, "]}");
	return 0;
}

/* Tables first: there are few of them. */
int ut_answer_words(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err)
{
	bool *said = ut_make((size_t)v->name_count + 1);
	size_t count = 0;

	(void)a;
	(void)err;
	ut_out_text(out, "[");
	for (const char *const *t = ut_query_tables(); *t; t++)
		put_z(out, count++ ? "," : "", *t);
	for (uint32_t i = 0; i < v->type_count && count < WORDS_MOST; i++) {
		if (v->classes[i] == UT_CLASS_NONE || said[v->name_of[i]] ||
		    !ut_view_type_name(v, i).len)
			continue;
		said[v->name_of[i]] = true;
		view_header_put_str(out, count++ ? "," : "", ut_view_type_name(v, i));
	}
	ut_out_text(out, "]");
	free(said);
	return 0;
}
