/*
 * split.c - one list of events, read by several threads.
 *
 * The file is cut where an event seems to start. Each part is read up to where the next one begins;
 * only when it ends exactly there was the guess right and the next part is taken, else that one is
 * thrown away and its text is read again from where the list really went on.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_scan.h"
#include "import/chrome/part.h"
#include "text/source.h"

#define PART_LEAST (4u << 20)   /* bytes; less is not worth a thread */
#define LOOK_AT    (256u << 10) /* bytes in which an event should start */
#define TRIES      32u          /* events that are looked at */

struct part {
	struct ut_chrome chrome;
	struct ut_chrome_input input;
	pthread_t thread;
	bool started;
	uint64_t start;
	enum ut_chrome_walk walk;
};

bool ut_chrome_can_split(const struct ut_chrome *c, const struct ut_import_opts *opts)
{
	const struct ut_source *s = c->input->source;
	uint64_t at = ut_json_offset(&c->json, c->json.at);

	return opts->threads > 1 && s->seekable && s->size > at && s->size - at >= 2 * PART_LEAST;
}

/* Is the object at p the end of a pair? It should stay with its begin. */
static bool is_end(const char *p, const char *end)
{
	struct ut_str key, value;
	struct ut_json j;
	bool found = false;

	ut_json_init_text(&j, p, (size_t)(end - p));
	ut_json_enter(&j);
	while (ut_json_member(&j, &key) && ut_json_skip(&j, &value)) {
		if (ut_str_is(key, "ph"))
			found = value.len == 3 && value.ptr[1] == 'E';
	}
	ut_json_release(&j);
	return found;
}

uint64_t ut_chrome_guess_start(const struct ut_source *s, uint64_t offset)
{
	char *text = ut_make(LOOK_AT + UT_JSON_PAD);
	ssize_t n = ut_source_read_at(s, text, LOOK_AT, offset, NULL);
	const char *end = text + (n > 0 ? n : 0), *p = text;
	uint64_t found = 0;
	unsigned int tries = 0;

	for (; !found && tries < TRIES && (p = memchr(p, '}', (size_t)(end - p))); p++) {
		const char *q = p + 1;

		while (q < end && strchr(" \t\r\n", *q) && *q)
			q++;
		if (q >= end || *q++ != ',')
			continue;
		while (q < end && strchr(" \t\r\n", *q) && *q)
			q++;
		if (q >= end || !ut_chrome_looks_like_event(q, end))
			continue;
		tries++;
		if (!is_end(q, end))
			found = offset + (uint64_t)(q - text);
	}
	free(text);
	return found;
}

static void *split_run(void *arg)
{
	struct part *p = arg;

	p->walk = ut_chrome_list(&p->chrome);
	return NULL;
}

static void open_part(struct part *p, const struct ut_chrome *c, uint64_t start, uint64_t stop)
{
	p->start = start;
	p->input = *c->input;
	p->input.offset = start;
	ut_chrome_init(&p->chrome, &p->input);
	p->chrome.stop = stop;
}

static uint64_t split_end_of(const struct ut_chrome *c)
{
	return ut_json_offset(&c->json, c->json.at);
}

static void add_note(struct ut_json_note *to, const struct ut_json_note *from)
{
	if (!to->count)
		to->first = from->first;
	to->count += from->count;
}

/* Takes over what a part has found; it lies behind everything that c has. */
static void absorb(struct ut_chrome *c, struct ut_chrome *part)
{
	if (!c->odd[UT_ODD_DAMAGED].count)
		memcpy(c->odd_why, part->odd_why, sizeof(c->odd_why));
	for (size_t i = 0; i < UT_CHROME_ODDS; i++)
		add_note(&c->odd[i], &part->odd[i]);
	for (size_t i = 0; i < UT_JSON_REPAIRS; i++)
		add_note(&c->json.repairs[i], &part->json.repairs[i]);
	c->traits |= part->traits;
	c->events += part->events;
	c->first = part->first < c->first ? part->first : c->first;
	ut_chrome_place_facts(part);
	ut_build_join(&c->build, &part->build, true);
	c->complete |= part->complete;
}

/* c goes on where part came to its end, with its trouble. */
static void split_go_on(struct ut_chrome *c, const struct ut_chrome *part)
{
	struct ut_json *j = &c->json;

	c->input->offset = split_end_of(part);
	ut_json_seek(j, c->input->offset);
	j->trouble = part->json.trouble;
	j->why = part->json.why;
	j->where = part->json.where;
	j->err = part->json.err;
}

/* Reads again what lies between where the list is and the next good start. */
static enum ut_chrome_walk read_between(struct ut_chrome *c, uint64_t from, uint64_t to)
{
	struct part *p = ut_make(sizeof(*p));
	enum ut_chrome_walk walk;

	open_part(p, c, from, to);
	split_run(p);
	walk = p->walk;
	absorb(c, &p->chrome);
	split_go_on(c, &p->chrome);
	ut_chrome_release(&p->chrome);
	free(p);
	return walk;
}

/* All parts in order; the first was c itself, which ended with walk. */
static enum ut_chrome_walk split_join(struct ut_chrome *c, struct part *parts, size_t count,
				      enum ut_chrome_walk walk)
{
	uint64_t at = split_end_of(c);

	for (size_t i = 0; i < count && walk == UT_WALK_STOP; i++) {
		uint64_t next = i + 1 < count ? parts[i + 1].start : UINT64_MAX;

		if (at == parts[i].start) {
			absorb(c, &parts[i].chrome);
			split_go_on(c, &parts[i].chrome);
			walk = parts[i].walk;
		} else if (at < next) {
			walk = read_between(c, at, next);
		}
		at = split_end_of(c);
	}
	return walk;
}

static size_t plan(const struct ut_chrome *c, unsigned int threads, uint64_t *starts)
{
	const struct ut_source *s = c->input->source;
	uint64_t from = split_end_of(c), size = s->size - from;
	uint64_t last = from;
	size_t n = 0;

	if (threads > size / PART_LEAST)
		threads = (unsigned int)(size / PART_LEAST);
	for (unsigned int i = 1; i < threads; i++) {
		uint64_t start = ut_chrome_guess_start(s, from + size / threads * i);

		if (start > last)
			starts[n++] = last = start;
	}
	return n;
}

enum ut_chrome_walk ut_chrome_split(struct ut_chrome *c, unsigned int threads)
{
	uint64_t *starts = ut_make(threads * sizeof(*starts));
	size_t count = plan(c, threads, starts);
	struct part *parts = ut_make((count + 1) * sizeof(*parts));
	enum ut_chrome_walk walk;

	for (size_t i = 0; i < count; i++) {
		open_part(&parts[i], c, starts[i], i + 1 < count ? starts[i + 1] : UINT64_MAX);
		parts[i].started = !pthread_create(&parts[i].thread, NULL, split_run, &parts[i]);
	}
	c->stop = count ? starts[0] : UINT64_MAX;
	walk = ut_chrome_list(c);
	c->stop = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
		else
			split_run(&parts[i]);
	}
	walk = split_join(c, parts, count, walk);
	for (size_t i = 0; i < count; i++)
		ut_chrome_release(&parts[i].chrome);
	if (count) {
		ut_chrome_gather_facts(c);
		ut_chrome_reindex(c);
	}
	free(parts);
	free(starts);
	return walk;
}
