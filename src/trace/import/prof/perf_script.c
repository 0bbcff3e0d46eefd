/*
 * perf_script.c - what `perf script` prints: a line for each sample, below it a line for each
 * frame, the innermost first.
 *
 *     python  5031/5040 [001] 12345.678901:     250000 cpu-clock:pppH:
 *             7f1e2d3c4b5a PyDict_GetItem+0x1a (/usr/lib/libpython3.11.so.1.0)
 *
 * Columns that are left out (-F) are done without, lines that are something else stepped over.
 */
#include "import/importer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/prof/sample_build.h"
#include "import/prof/text_lines.h"
#include "text/source.h"

#define MOST_DEPTH 4096u

/* The line of a sample, taken apart. */
struct head {
	struct ut_str comm, event, rest; /* rest: what follows the event, a frame perhaps */
	uint64_t pid, tid, ts, period;
};

static bool is_digits(struct ut_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (!isdigit((unsigned char)s.ptr[i]))
			return false;
	}
	return s.len > 0 && s.len < 20;
}

static uint64_t perf_script_number(struct ut_str s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n = n * 10 + (uint64_t)(s.ptr[i] - '0');
	return n;
}

/* The next word of a line, which begins behind it then. */
static struct ut_str perf_script_word(struct ut_str *line)
{
	struct ut_str w;

	while (line->len && (line->ptr[0] == ' ' || line->ptr[0] == '\t')) {
		line->ptr++;
		line->len--;
	}
	w = (struct ut_str){ line->ptr, 0 };
	while (w.len < line->len && line->ptr[w.len] != ' ' && line->ptr[w.len] != '\t')
		w.len++;
	line->ptr += w.len;
	line->len -= w.len;
	return w;
}

/* "12345.678901:" as ns. */
static bool take_time(struct ut_str s, uint64_t *ns)
{
	const char *dot = memchr(s.ptr, '.', s.len);
	struct ut_str whole, part;

	if (!dot || s.ptr[s.len - 1] != ':')
		return false;
	whole = (struct ut_str){ s.ptr, (size_t)(dot - s.ptr) };
	part = (struct ut_str){ dot + 1, s.len - whole.len - 2 };
	if (!is_digits(whole) || whole.len > 9 || !is_digits(part) || part.len > 9)
		return false;
	*ns = perf_script_number(whole) * 1000000000u;
	for (uint64_t n = perf_script_number(part), i = part.len;; n *= 10, i++) {
		if (i == 9) {
			*ns += n;
			return true;
		}
	}
}

/* "5031" or "5031/5040" */
static bool take_who(struct ut_str s, struct head *h)
{
	const char *slash = memchr(s.ptr, '/', s.len);
	struct ut_str pid = { s.ptr, slash ? (size_t)(slash - s.ptr) : s.len };
	struct ut_str tid = slash ? (struct ut_str){ slash + 1, s.len - pid.len - 1 } : pid;

	if (!is_digits(pid) || !is_digits(tid))
		return false;
	h->pid = perf_script_number(pid) & UINT32_MAX;
	h->tid = perf_script_number(tid) & UINT32_MAX;
	return true;
}

static bool is_cpu(struct ut_str s)
{
	return s.len > 2 && s.ptr[0] == '[' && s.ptr[s.len - 1] == ']' &&
	       is_digits((struct ut_str){ s.ptr + 1, s.len - 2 });
}

/* Names of programs may have blanks in them: it is what stands before the numbers. */
static bool take_head(struct ut_str line, struct head *h)
{
	struct ut_str rest = line, w;
	bool who = false;

	*h = (struct head){ .period = 1 };
	if (!line.len || isspace((unsigned char)line.ptr[0]) || line.ptr[0] == '#')
		return false;
	while ((w = perf_script_word(&rest)).len) {
		if (take_time(w, &h->ts))
			break;
		if (take_who(w, h)) {
			h->comm = ut_str_trim(
				(struct ut_str){ line.ptr, (size_t)(w.ptr - line.ptr) });
			who = true;
		} else if (!is_cpu(w)) {
			who = false;
		}
	}
	if (!w.len || !who)
		return false;
	w = perf_script_word(&rest);
	if (is_digits(w)) {
		h->period = perf_script_number(w);
		w = perf_script_word(&rest);
	}
	while (w.len && w.ptr[w.len - 1] == ':')
		w.len--;
	h->event = w;
	h->rest = ut_str_trim(rest);
	return w.len > 0;
}

/* ---- frames ---------------------------------------------------------------------------------- */

struct stack {
	struct ut_place_in_code *frames; /* the innermost first */
	size_t count, cap;
};

static bool take_hex(struct ut_str s, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < s.len; i++) {
		int c = tolower((unsigned char)s.ptr[i]);

		if (!isxdigit(c))
			return false;
		*value = *value << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return s.len > 0 && s.len <= 16;
}

/* "symbol+0x1a (module)": the module is the last thing in brackets. */
static void take_symbol(struct ut_sample_build *b, struct ut_str s, struct ut_place_in_code *f)
{
	const char *open = NULL, *plus = NULL;
	struct ut_str module = { "", 0 };

	if (s.len && s.ptr[s.len - 1] == ')') {
		for (size_t i = s.len; i > 1 && !open; i--) {
			if (s.ptr[i - 1] == '(' && s.ptr[i - 2] == ' ')
				open = s.ptr + i - 1;
		}
		if (!open && s.ptr[0] == '(')
			open = s.ptr;
	}
	if (open) {
		module = (struct ut_str){ open + 1, s.len - (size_t)(open - s.ptr) - 2 };
		s.len = (size_t)(open - s.ptr);
	}
	s = ut_str_trim(s);
	for (size_t i = 0; i + 3 < s.len; i++) {
		if (!memcmp(s.ptr + i, "+0x", 3))
			plus = s.ptr + i;
	}
	if (plus)
		s.len = (size_t)(plus - s.ptr);
	if (s.len && !ut_str_is(s, "[unknown]"))
		f->function = ut_code_name(&b->names, s.ptr, s.len);
	if (module.len && !ut_str_is(module, "inlined"))
		f->module = ut_sample_build_text(
			b, ut_str_has_start(module, "[kernel") ? ut_str_of("[kernel]") : module);
}

static void add_frame(struct stack *s, const struct ut_place_in_code *f)
{
	if (s->count == MOST_DEPTH)
		return;
	s->frames = ut_grow_raw(s->frames, s->count + 1, &s->cap, sizeof(*s->frames));
	s->frames[s->count++] = *f;
}

/* "  file.c:123" below a frame, of -F +srcline. */
static bool take_source(struct ut_sample_build *b, struct ut_str line, struct stack *s)
{
	struct ut_str trimmed = ut_str_trim(line);
	const char *colon = memrchr(trimmed.ptr, ':', trimmed.len);
	struct ut_str digits;

	if (!colon || !s->count)
		return false;
	digits = (struct ut_str){ colon + 1, trimmed.len - (size_t)(colon + 1 - trimmed.ptr) };
	if (!is_digits(digits) || digits.len > 9)
		return false;
	s->frames[s->count - 1].file = ut_sample_build_text(
		b, (struct ut_str){ trimmed.ptr, (size_t)(colon - trimmed.ptr) });
	s->frames[s->count - 1].line = (uint32_t)perf_script_number(digits);
	return true;
}

/* A frame; false: the line is something else. */
static bool take_frame(struct ut_sample_build *b, struct ut_str line, struct stack *s)
{
	struct ut_place_in_code f = { 0 };
	struct ut_str rest = line, address = perf_script_word(&rest);

	if (!take_hex(address, &f.address))
		return take_source(b, line, s);
	take_symbol(b, ut_str_trim(rest), &f);
	/* what is inlined is told before what it is inlined into, and has its module */
	add_frame(s, &f);
	for (size_t i = s->count;
	     f.module && i > 1 && !s->frames[i - 2].module && s->frames[i - 2].address == f.address;
	     i--)
		s->frames[i - 2].module = f.module;
	return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Clocks tell ns, everything else numbers. */
static uint32_t perf_script_event_of(struct ut_sample_build *b, struct ut_str name)
{
	struct ut_buf text = { 0 };
	uint32_t id;

	if (ut_str_has_start(name, "cpu-clock") || ut_str_has_start(name, "task-clock"))
		return ut_sample_build_text(b, name);
	ut_buf_add(&text, name.ptr, name.len);
	ut_buf_text(&text, UT_SAMPLE_EVENTS);
	id = ut_sample_build_text(b, (struct ut_str){ text.data, text.len });
	ut_buf_release(&text);
	return id;
}

static void perf_script_add_sample(struct ut_sample_build *b, const struct head *h,
				   const struct stack *s)
{
	struct ut_trace *t = &b->build.store.trace;
	struct ut_sample_added a = { .track = ut_sample_build_thread(b, h->pid, h->tid),
				     .event = perf_script_event_of(b, h->event),
				     .ts = h->ts,
				     .weight = h->period };
	uint32_t comm = ut_sample_build_text(b, h->comm);

	t->tracks[a.track].name = comm;
	if (h->pid == h->tid || !t->processes[t->tracks[a.track].process].name)
		t->processes[t->tracks[a.track].process].name = comm;
	for (size_t i = s->count; i; i--)
		a.stack = ut_sample_build_frame(b, a.stack, &s->frames[i - 1]);
	ut_sample_build_add(b, &a);
}

/* The first line that says something is that of a sample. */
static bool probe_perf_script(const char *head, size_t len)
{
	struct head h;

	while (len) {
		const char *end = memchr(head, '\n', len);
		struct ut_str line = { head, end ? (size_t)(end - head) : len };

		if (memchr(line.ptr, '\0', line.len) || !end)
			return false;
		if (line.len && line.ptr[0] != '#')
			return take_head(line, &h);
		len -= line.len + 1;
		head += line.len + 1;
	}
	return false;
}

/* The text of a sample goes from one line to the next: h keeps pieces of it as strings. */
static void perf_script_keep(struct ut_sample_build *b, struct head *h)
{
	h->comm = ut_strtab_get(&b->build.store.trace.strings, ut_sample_build_text(b, h->comm));
	h->event = ut_strtab_get(&b->build.store.trace.strings, ut_sample_build_text(b, h->event));
}

static void perf_script_read_line(struct ut_sample_build *b, struct ut_str line, struct head *h,
				  struct stack *s, bool *open)
{
	struct ut_place_in_code f = { 0 };
	struct ut_str rest;
	struct head next;

	if (*open && line.len && isspace((unsigned char)line.ptr[0]) && take_frame(b, line, s))
		return;
	if (*open && (!line.len || take_head(line, &next))) {
		perf_script_add_sample(b, h, s);
		*open = false;
	}
	if (!take_head(line, &next))
		return;
	*h = next;
	*open = true;
	s->count = 0;
	rest = h->rest;
	if (rest.len && take_hex(perf_script_word(&rest), &f.address)) {
		take_symbol(b, ut_str_trim(rest), &f);
		add_frame(s, &f);
	}
	perf_script_keep(b, h);
}

static int load_perf_script(struct ut_source *source, const struct ut_import_opts *opts,
			    struct ut_store *store, struct ut_err *err)
{
	struct ut_text_lines lines = { .source = source };
	struct ut_sample_build b;
	struct stack stack = { 0 };
	struct head head;
	struct ut_str line;
	bool open = false;
	int rc;

	ut_sample_build_init(&b);
	while (ut_text_lines_next(&lines, &line, &rc, err)) {
		perf_script_read_line(&b, line, &head, &stack, &open);
		if (opts->progress)
			atomic_fetch_add(opts->progress, line.len + 1);
	}
	if (open)
		perf_script_add_sample(&b, &head, &stack);
	ut_text_lines_release(&lines);
	free(stack.frames);
	if (rc)
		ut_sample_build_abandon(&b);
	else
		ut_sample_build_finish(&b, store);
	return rc;
}

const struct ut_importer ut_import_perf_script = { "perf script", probe_perf_script,
						   load_perf_script };
