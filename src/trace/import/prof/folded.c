/*
 * folded.c - folded stacks: "main;work;sort 4711" in each line. What they count the file does not
 * say: the weights are numbers, and the samples follow each other by their weight.
 */
#include "import/importer.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "import/prof/sample_build.h"
#include "import/prof/text_lines.h"
#include "text/source.h"

#define EVENT      "samples"
#define MOST_DEPTH 4096u

/* "STACK COUNT": where the number begins; 0 = it is no such line. */
static size_t count_at(struct ut_str line)
{
	size_t at = line.len;

	while (at && isdigit((unsigned char)line.ptr[at - 1]))
		at--;
	return at > 1 && at < line.len && line.len - at < 20 && line.ptr[at - 1] == ' ' &&
			       line.ptr[0] != ' ' && line.ptr[0] != '\t'
		       ? at
		       : 0;
}

/* All lines of the head are such lines, and one of them has a caller. */
static bool probe_folded(const char *head, size_t len)
{
	bool called = false;
	size_t lines = 0;

	while (len) {
		const char *end = memchr(head, '\n', len);
		struct ut_str line = { head, end ? (size_t)(end - head) : len };

		if (!end && (lines || len == UT_SOURCE_HEAD))
			break; /* cut: nobody knows how it ends */
		len -= end ? line.len + 1 : line.len;
		head += end ? line.len + 1 : line.len;
		if (line.len && line.ptr[line.len - 1] == '\r')
			line.len--;
		if (memchr(line.ptr, '\0', line.len) || (line.len && !count_at(line)))
			return false;
		called |= memchr(line.ptr, ';', line.len) != NULL;
		lines += line.len != 0;
	}
	return lines && called;
}

static uint64_t prof_folded_number(const char *s, const char *end)
{
	uint64_t n = 0;

	for (; s < end; s++) {
		if (n > (UINT64_MAX - 9) / 10)
			return UINT64_MAX;
		n = n * 10 + (uint64_t)(*s - '0');
	}
	return n;
}

/* "[libfoo.so]" is code of a module of which no name is known. */
static struct ut_place_in_code prof_folded_place_of(struct ut_sample_build *b, struct ut_str name)
{
	struct ut_place_in_code place = { 0 };

	if (name.len > 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']' &&
	    !ut_str_is(name, "[unknown]"))
		place.module =
			ut_sample_build_text(b, (struct ut_str){ name.ptr + 1, name.len - 2 });
	else if (name.len && !ut_str_is(name, "[unknown]"))
		place.function = ut_sample_build_text(b, name);
	return place;
}

static uint32_t prof_folded_stack_of(struct ut_sample_build *b, struct ut_str text)
{
	uint32_t stack = 0;

	for (unsigned int depth = 0; text.len && depth < MOST_DEPTH; depth++) {
		const char *end = memchr(text.ptr, ';', text.len);
		struct ut_str name = { text.ptr, end ? (size_t)(end - text.ptr) : text.len };
		struct ut_place_in_code place = prof_folded_place_of(b, name);

		stack = ut_sample_build_frame(b, stack, &place);
		text.len -= name.len + (end ? 1 : 0);
		text.ptr += name.len + (end ? 1 : 0);
	}
	return stack;
}

static void add_line(struct ut_sample_build *b, struct ut_str line, struct ut_sample_added *next)
{
	size_t at = count_at(line);

	if (!at) {
		b->build.store.trace.losses.unread += line.len != 0;
		return;
	}
	next->weight = prof_folded_number(line.ptr + at, line.ptr + line.len);
	next->stack = prof_folded_stack_of(b, (struct ut_str){ line.ptr, at - 1 });
	next->ts += next->weight < UINT64_MAX / 2 - next->ts ? next->weight : 0;
	ut_sample_build_add(b, next);
}

static int load_folded(struct ut_source *source, const struct ut_import_opts *opts,
		       struct ut_store *store, struct ut_err *err)
{
	struct ut_text_lines lines = { .source = source };
	struct ut_sample_added next = { 0 };
	struct ut_sample_build b;
	struct ut_str line;
	int rc;

	ut_sample_build_init(&b);
	next.event = ut_sample_build_text(&b, ut_str_of(EVENT));
	next.track = ut_sample_build_thread(&b, 1, 1);
	b.build.store.trace.processes[0].name =
		ut_sample_build_text(&b, ut_str_of(ut_path_base(source->path)));
	while (ut_text_lines_next(&lines, &line, &rc, err)) {
		add_line(&b, line, &next);
		if (opts->progress)
			atomic_fetch_add(opts->progress, line.len + 1);
	}
	ut_text_lines_release(&lines);
	if (rc)
		ut_sample_build_abandon(&b);
	else
		ut_sample_build_finish(&b, store);
	return rc;
}

const struct ut_importer ut_import_folded = { "folded", probe_folded, load_folded };
