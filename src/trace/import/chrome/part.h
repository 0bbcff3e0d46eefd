/*
 * part.h - inside the Chrome importer: one part of a file on its way into a build.
 *
 * A file is read by one struct ut_chrome, or cut into parts that are read by one each and joined
 * afterwards (split.c). The way of an event: event_text.c reads its members,
 * value.c its arguments, row.c makes rows of it; place.c knows which process,
 * track and type that is. chrome.c walks through the file around the events, file.c keeps
 * what that says about itself. One owner, one thread.
 */
#ifndef UT_IMPORT_CHROME_PART_H
#define UT_IMPORT_CHROME_PART_H

#include "base/json.h"
#include "base/str.h"
#include "import/chrome/cache.h"
#include "import/chrome/event_text.h"
#include "import/importer.h"
#include "model/build.h"

struct ut_source;

/* Where the text comes from. */
struct ut_chrome_input {
	struct ut_source *source;
	uint64_t offset;            /* of the next byte, if the source is read at places */
	_Atomic uint64_t *progress; /* may be NULL */
};

/* A fact about a process or a track; they are collected, since a list cannot grow later. */
struct ut_chrome_fact {
	bool track; /* else a process */
	uint32_t index;
	uint32_t number; /* in order of arrival; the elements of an array have the same */
	uint32_t place;  /* in order of arrival */
	struct ut_arg arg;
};

struct ut_chrome {
	struct ut_build build;
	bool complete; /* there are complete events (X) */
	struct ut_chrome_input *input;
	struct ut_json json;
	struct ut_chrome_event event;
	struct ut_chrome_args args, extra; /* of the event: from "args", from other members */
	struct ut_chrome_held held;
	struct ut_chrome_text *names, *values, *texts;
	struct ut_chrome_type *types;
	uint32_t cached; /* entries of each of these */
	bool owns;       /* a text of them has memory of its own */
	struct ut_chrome_seat *seats;
	struct ut_chrome_places places;
	struct ut_chrome_fact *facts;
	size_t fact_count, fact_cap;
	struct ut_chrome_args file;   /* what becomes the trace's file_args */
	struct ut_chrome_args global; /* and its global_args */
	uint32_t dialect;             /* string id: what the file says itself; 0 = nothing */
	struct ut_buf text;           /* scratch */
	uint32_t words[UT_CHROME_WORDS];
	struct ut_json_note odd[UT_CHROME_ODDS];
	char odd_why[96]; /* of the first damaged event */
	unsigned int traits;
	uint64_t events;    /* that were kept */
	int64_t first;      /* smallest ts, if it is negative */
	uint64_t stop;      /* no event that starts here or later is ours; UINT64_MAX = all are */
	int32_t rank;       /* of the whole file; -1 = unknown */
	uint32_t host;      /* of the whole file: string id; 0 = unknown */
	unsigned int lists; /* of events that were met */
	bool any;           /* something but blanks was met */
	bool loose;         /* the events come without a list around them */
	bool in_samples;    /* the list that is being read is that of samples */
	bool sampled;       /* there are some */
	struct ut_chrome_frames *frames;           /* that have been read so far; may be NULL */
	struct ut_chrome_step steps[UT_STEPS + 1]; /* the last is for those that are not kept */
};

/* How far the reading of a list has come. */
enum ut_chrome_walk {
	UT_WALK_CLOSED, /* behind its bracket */
	UT_WALK_STOP,   /* at c->stop or behind it, in front of an event */
	UT_WALK_LOST,   /* the text is no JSON any more, and no further event was found */
	UT_WALK_END,    /* of the input */
	UT_WALK_FAILED, /* the input could not be read */
};

/* list.c: from the cursor, which is inside a list of events, or lost. */
enum ut_chrome_walk ut_chrome_list(struct ut_chrome *c);
bool ut_chrome_recover(struct ut_json *j); /* to the next event; false if there is none */
void ut_chrome_note_damage(struct ut_chrome *c);
bool ut_chrome_looks_like_event(const char *p, const char *end);

/* chrome.c: is there an event, or a list for them? */
bool ut_chrome_is_trace(struct ut_source *source);

/* split.c: the same by several threads; the cursor is where the list ended. */
bool ut_chrome_can_split(const struct ut_chrome *c, const struct ut_import_opts *opts);
enum ut_chrome_walk ut_chrome_split(struct ut_chrome *c, unsigned int threads);

/*
 * An event that starts at or behind offset, by its looks, and is no end of a pair; 0 if none is
 * near.
 */
uint64_t ut_chrome_guess_start(const struct ut_source *s, uint64_t offset);

/* place.c */
ssize_t ut_chrome_read_input(void *input, void *to, size_t len, struct ut_err *err);
void ut_chrome_init(struct ut_chrome *c, struct ut_chrome_input *input);
void ut_chrome_release(struct ut_chrome *c); /* also what is left of the build */
void ut_chrome_reindex(struct ut_chrome *c);
uint32_t ut_chrome_string(struct ut_chrome *c, struct ut_chrome_text *cache, struct ut_str raw);
uint32_t ut_chrome_json(struct ut_chrome *c, struct ut_str value, bool plain);
uint32_t ut_chrome_type(struct ut_chrome *c, uint32_t name, uint32_t cat, unsigned int kind,
			unsigned int flags);
uint32_t ut_chrome_process(struct ut_chrome *c, struct ut_chrome_ref pid);
uint32_t ut_chrome_thread(struct ut_chrome *c, struct ut_chrome_ref pid, struct ut_chrome_ref tid);
uint32_t ut_chrome_async_track(struct ut_chrome *c, struct ut_chrome_ref pid, uint32_t cat);
uint32_t ut_chrome_counter(struct ut_chrome *c, uint32_t process, const uint32_t name[3]);
uint32_t *ut_chrome_file_place(struct ut_chrome *c, uint32_t key); /* index + 1 in c->file */

/* value.c: appends the value at the cursor; false as ut_json_skip(). */
bool ut_chrome_value(struct ut_chrome *c, struct ut_chrome_args *to, uint32_t key);
bool ut_chrome_members(struct ut_chrome *c, struct ut_chrome_args *to);
void ut_chrome_add(struct ut_chrome_args *to, struct ut_arg arg);
struct ut_arg *ut_chrome_find(struct ut_chrome_args *args, uint32_t key);
bool ut_chrome_has(struct ut_chrome_args *args, uint32_t key); /* false for very long lists */
void ut_chrome_remove(struct ut_chrome_args *args, struct ut_arg *arg);
void ut_chrome_double(struct ut_chrome *c, double value, struct ut_arg *arg);
uint32_t ut_chrome_text_of(struct ut_chrome *c, const struct ut_arg *arg); /* 0 = none */

/* event_text.c: what a key of an event means, as event_text.c knows it. */
uint8_t ut_chrome_member(struct ut_str key);

/* event_text.c: the object at the cursor into c->event, a pid or tid; false as ut_json_skip(). */
bool ut_chrome_read_event(struct ut_chrome *c);
bool ut_chrome_read_ref(struct ut_chrome *c, struct ut_chrome_ref *ref);

/* id.c: the number of a flow, an async instance or an object; false if it has no id. */
bool ut_chrome_number(struct ut_chrome *c, struct ut_str id, uint64_t *number);
void ut_chrome_part_ids(struct ut_build *b);
void ut_chrome_take_local_ids(struct ut_chrome *c); /* of a file that we have written */

/* async.c: async ends to the track of their begin. */
void ut_chrome_join_async(struct ut_build *b);

/* row.c: c->event into the build. */
void ut_chrome_take_event(struct ut_chrome *c);
void ut_chrome_flush(struct ut_chrome *c);
void ut_chrome_note(struct ut_chrome *c, enum ut_chrome_odd kind, uint64_t offset);

/* file.c: a member of the outermost object; its value is at the cursor, in one piece. */
bool ut_chrome_file_member(struct ut_chrome *c, uint32_t key);
void ut_chrome_keep(struct ut_chrome *c, uint32_t key, struct ut_str value);
void ut_chrome_finish_file(struct ut_chrome *c);

/* samples.c: c->event is a sample; and at the end, when all frames are known. */
void ut_chrome_take_sample(struct ut_chrome *c);
void ut_chrome_finalize_samples(struct ut_chrome *c);
void ut_chrome_free_frames(struct ut_chrome *c);

/* samples.c: frames that are too large to keep, from the mark on, one by one; false for trouble. */
bool ut_chrome_big_frames(struct ut_chrome *c);

/* ours.c: "otherData" if we have written it; false if we have not. */
bool ut_chrome_read_ours(struct ut_chrome *c, struct ut_str value);
void ut_chrome_drop_labels(struct ut_chrome *c);

/* meta.c */
void ut_chrome_metadata(struct ut_chrome *c);
void ut_chrome_fact(struct ut_chrome *c, bool track, uint32_t index, struct ut_arg arg);
void ut_chrome_place_facts(struct ut_chrome *c);
void ut_chrome_gather_facts(struct ut_chrome *c);

#endif
