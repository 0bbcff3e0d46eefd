/*
 * filter.h - which events of a trace are wanted: by time, name, track, process, length, kind.
 *
 * Three steps: the words of the command line (ut_filter_opts) are compiled once (ut_filter), bound
 * to a store (ut_filter_view: one answer per type and per track), and asked row by row. Analyses
 * that only look use the view; ut_filter_sink stands in front of an exporter and also keeps
 * together what belongs together (filter_sink.h).
 *
 * Names and categories are judged on spans, async spans, instants and counters; a flow stays with
 * the span that it starts from or leads to. A zeroed ut_filter_opts wants everything.
 */
#ifndef UT_ANALYZE_FILTER_H
#define UT_ANALYZE_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "model/store.h"

/* As the user wrote them; the texts are not copied. */
struct ut_filter_opts {
	struct ut_opt_list names, not_names; /* patterns, as shells have them */
	struct ut_opt_list regexes;          /* POSIX extended, anywhere in the name */
	struct ut_opt_list cats;             /* patterns */
	struct ut_opt_list tracks;           /* patterns for a track's name, id or label */
	struct ut_opt_list pids, ranks;      /* "3", "0,2,8-15" */
	struct ut_opt_list kinds;            /* "span,async"; see ut_filter_kind_words */
	const char *from, *to;         /* "1.5s" after the first event; "@1.5s" on its clock */
	const char *min_dur, *max_dur; /* of spans, both included */
	bool clip;                     /* cut spans at the edges of the window */
};

/* The words that --kind takes, for help and completion. */
extern const char ut_filter_kind_words[];

void ut_filter_opts_release(struct ut_filter_opts *o);

struct ut_filter_range {
	uint64_t low, high;
};

struct ut_filter {
	const struct ut_filter_opts *opts;
	struct ut_arena arena;
	regex_t *regexes;
	size_t regex_count;
	struct ut_filter_range *pids, *ranks;
	size_t pid_count, rank_count;
	uint32_t kinds; /* bits of enum ut_kind */
	uint64_t from, to, min_dur, max_dur;
	bool from_is_absolute, to_is_absolute;
	bool has_window;
};

/* opts must outlive the filter. On failure there is nothing to release. */
int ut_filter_init(struct ut_filter *f, const struct ut_filter_opts *opts,
		   struct ut_err *err) UT_MUST_CHECK;
void ut_filter_release(struct ut_filter *f);

/* Is there anything that it would leave out? */
bool ut_filter_is_open(const struct ut_filter *f);

/* The answers for one store, which must outlive it. Any number of threads may ask. */
struct ut_filter_view {
	const struct ut_store *store;
	const struct ut_filter *filter; /* NULL = everything is wanted */
	uint8_t *types;                 /* by number of the type */
	uint8_t *tracks;                /* enum ut_filter_track */
	uint64_t from, to;              /* absolute; [from, to) */
	uint64_t min_dur, max_dur;
	bool rows;      /* window or lengths are limited: every row must be asked */
	bool clip;      /* spans are cut at the window's edges */
	bool by_span;   /* flows depend on the span around them */
	bool by_window; /* the window leaves something out */
};

enum ut_filter_track {
	UT_FILTER_TRACK = 1u << 0,   /* the track is wanted */
	UT_FILTER_COUNTER = 1u << 1, /* a counter of the track's own name is wanted */
};

void ut_filter_view_init(struct ut_filter_view *v, const struct ut_filter *f,
			 const struct ut_store *store);
void ut_filter_view_release(struct ut_filter_view *v);

/* Are rows of this type on this track wanted, as far as type and track can tell? */
bool ut_filter_wants(const struct ut_filter_view *v, uint32_t track, uint32_t type);

/* Is a span of this place and length wanted, as far as that can tell? */
static inline bool ut_filter_wants_span(const struct ut_filter_view *v, uint64_t ts, uint64_t end)
{
	uint64_t length = end - ts;

	return ts < v->to && (end > v->from || ts >= v->from) && length >= v->min_dur &&
	       length <= v->max_dur;
}

static inline bool ut_filter_wants_timestamp(const struct ut_filter_view *v, uint64_t ts)
{
	return ts >= v->from && ts < v->to;
}

/* A counter is known by its track's name, or by its own. */
static inline uint32_t ut_counter_name(const struct ut_trace *t, uint32_t track,
				       const struct ut_type *type)
{
	return t->tracks[track].type == UT_TRACK_COUNTER && t->tracks[track].name
		       ? t->tracks[track].name
		       : type->name;
}

#endif
