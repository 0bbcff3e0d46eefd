/*
 * read_event.h - between read_input.c (the file) and read_event.c (one event of it).
 */
#ifndef UT_ACELYZER_READ_EVENT_H
#define UT_ACELYZER_READ_EVENT_H

#include "acelyzer/options.h"
#include "acelyzer/read_input.h"
#include "base/json_scan.h"

#define UT_ACE_KEY_CACHE 64

/* Keys of arguments as the event before had them: nearly always the same in the same order. */
struct ut_ace_key_cache {
	struct ut_str text[UT_ACE_KEY_CACHE]; /* raw, in the string table */
	uint32_t id[UT_ACE_KEY_CACHE];
};

/* TS1..TS5 and Power of the event at hand, as far as they came as text. */
struct ut_ace_stamps {
	int64_t value[UT_ACE_STAMPS + 1];
	unsigned int have; /* a bit each */
	bool hex;
};

#define UT_ACE_ID_CACHE 32

struct ut_ace_id_cache {
	char text[24];
	uint32_t len, id;
};

#define UT_ACE_SAME 512

/*
 * The text of the last B up to its time, if that comes last. Its E usually differs only in the
 * phase and the time, and two comparisons step over the rest.
 */
struct ut_ace_same {
	char text[UT_ACE_SAME];
	size_t len; /* up to the time; 0 = nothing to compare with */
	size_t ph;  /* where the letter of the phase is */
};

/* Where the text comes from. */
struct ut_ace_text {
	struct ut_source *source; /* NULL: there is only what the window has */
	uint64_t offset;          /* of the next byte, if the source is seekable */
};

struct ut_ace_reader {
	struct ut_json json;
	struct ut_ace_text text_from;
	unsigned int threads; /* that may read the list of events */
	uint64_t stop;        /* an event that starts here or behind is not ours */
	uint64_t stopped;     /* where such an event was found; 0 = none was */
	struct ut_ace_part *part;
	struct ut_ace_table *table; /* of the part */
	struct ut_ace_key_cache keys;
	struct ut_ace_id_cache ids[UT_ACE_ID_CACHE];
	struct ut_arg *args; /* of the event at hand */
	size_t arg_count, arg_cap;
	struct ut_ace_stamps stamps;
	struct ut_idmap open; /* pid and tid -> the innermost open B + 1 */
	uint32_t last_begin;  /* the event before was this B + 1 */
	struct ut_ace_same same;
	enum ut_ace_release release;
	char *text; /* for strings with escapes */
	size_t text_cap;
};

/* Behind the value at the cursor, of which span becomes the text. */
static inline bool ut_ace_step(struct ut_json *j, struct ut_str *span)
{
	const char *start = j->at, *end;

	if (*start == '{' || *start == '[')
		return ut_json_skip(j, span);
	end = ut_json_scalar(j, start);
	if (!end)
		return false;
	j->at = end;
	*span = (struct ut_str){ start, (size_t)(end - start) };
	return true;
}

void ut_ace_reader_init(struct ut_ace_reader *r, struct ut_ace_part *p, const char *path,
			enum ut_ace_release release);
void ut_ace_reader_release(struct ut_ace_reader *r);

/* Text from that offset of the source on. */
void ut_ace_reader_open(struct ut_ace_reader *r, struct ut_source *source, uint64_t offset);

/*
 * The events of the list that the cursor is in, up to its end or up to stop; what is wrong, as in
 * json.h.
 */
int ut_ace_read_list(struct ut_ace_reader *r);

/* read_split.c: the same by several threads. */
bool ut_ace_can_split(const struct ut_ace_reader *r);
int ut_ace_read_split(struct ut_ace_reader *r);

/* The event at the cursor into the table; false with trouble set as in json.h. */
bool ut_ace_read_event(struct ut_ace_reader *r);

/* The id of a string's raw text. */
uint32_t ut_ace_read_string(struct ut_ace_reader *r, struct ut_str raw);

/* Adds a value to args, or replaces the one that has the key already. */
void ut_ace_read_value(struct ut_ace_reader *r, uint32_t key, struct ut_str value);

/*
 * Adds the members of an object that was stepped over; what is no object becomes one argument,
 * "args".
 */
void ut_ace_read_args(struct ut_ace_reader *r, struct ut_str value);

/* The same for the object at the cursor, which moves behind it; false with trouble set. */
bool ut_ace_read_object(struct ut_ace_reader *r);

/*
 * What becomes of the stamps that were read: *dev is a new row if the event is a span and has five
 * good ones, otherwise they are arguments.
 */
void ut_ace_read_stamps(struct ut_ace_reader *r, bool span, uint32_t *dev);

#endif
