/*
 * tally_report.c - the tables of unitrace's reports (-h, -d, -r), the original's and ours, read
 * back.
 *
 * A table has a row of titles, "Kernel, Calls, Time (ns), Time (%), Average (ns), Min (ns),
 * Max (ns)", a line for each name, and an empty line behind it. Names hold commas, quoted or not:
 * the six numbers are told from the right.
 */
#include "category/tally.h"

#include "base/json.h"

#define NUMBERS 6 /* behind a name: calls, time, share, average, least, most */

enum section {
	SECTION_NONE,
	SECTION_HOST,
	SECTION_DEVICE,
	SECTION_COMM,
};

struct report {
	struct ut_tally *tally;
	enum section section;
	bool in_table;
	bool any;                /* something was read */
	struct ut_str process;   /* the process whose collectives follow */
	struct ut_str *reported; /* those whose collectives have been read */
	size_t seen_count, seen_cap;
};

static bool tally_report_has(struct ut_str line, const char *text)
{
	return line.len && memmem(line.ptr, line.len, text, strlen(text));
}

/* Cuts what is behind the last mark off and returns it. False: there is no mark. */
static bool cut_last(struct ut_str *line, char mark, struct ut_str *last)
{
	const char *at = line->len ? memrchr(line->ptr, mark, line->len) : NULL;

	if (!at)
		return false;
	*last = ut_str_trim((struct ut_str){ at + 1, line->len - (size_t)(at + 1 - line->ptr) });
	line->len = (size_t)(at - line->ptr);
	return true;
}

static bool whole_number(struct ut_str text, uint64_t *value)
{
	struct ut_json_number n;

	if (!text.len || ut_json_number(text, &n) != UT_JSON_U64)
		return false;
	*value = n.u64;
	return true;
}

/* A quoted name, its doubled quotes made single, in the arena; another one as it is. */
static struct ut_str tally_report_unquoted(struct ut_arena *a, struct ut_str name)
{
	char *to;
	size_t len = 0;

	if (name.len < 2 || name.ptr[0] != '"' || name.ptr[name.len - 1] != '"')
		return name;
	to = ut_arena_copy(a, name.ptr + 1, name.len - 2);
	for (size_t i = 0; i < name.len - 2; i++) {
		to[len++] = to[i];
		i += to[i] == '"' && i + 1 < name.len - 2 && to[i + 1] == '"';
	}
	return (struct ut_str){ to, len };
}

static void tally_report_add(struct report *r, struct ut_str name, struct ut_tally_value value,
			     bool whole_run)
{
	const struct ut_tally_name entry = {
		.part = r->section == SECTION_COMM ? UT_TALLY_COMM : UT_TALLY_DEVICE,
		.whole_run = whole_run,
		.name = name,
	};

	r->any = true;
	if (r->section == SECTION_DEVICE || r->section == SECTION_COMM)
		ut_tally_add(r->tally, &entry, value);
}

static void tally_report_read_row(struct report *r, struct ut_str line)
{
	struct ut_str fields[NUMBERS];
	struct ut_tally_value value;
	bool ok = true;

	for (size_t i = NUMBERS; ok && i--;)
		ok = cut_last(&line, ',', &fields[i]);
	line = ut_str_trim(line);
	if (ok && line.len && whole_number(fields[0], &value.calls) &&
	    whole_number(fields[1], &value.time))
		tally_report_add(r, tally_report_unquoted(&r->tally->arena, line), value, false);
	else
		r->tally->odd_lines++;
}

/* "Total Execution Time (ns):  123", "Total Device Time for L0 backend (ns):  123" */
static void read_total(struct report *r, struct ut_str line)
{
	struct ut_tally_value value = { .calls = 1 };
	struct ut_str last;

	if (!cut_last(&line, ':', &last) || !whole_number(last, &value.time))
		return;
	if (tally_report_has(line, "Total Execution Time"))
		tally_report_add(r, ut_str_of("Wallclock"), value, true);
	else if (tally_report_has(line, " for L0 backend"))
		tally_report_add(r, ut_str_of("L0_backend"), value, true);
}

/* Some releases print the collectives of a process twice. */
static bool was_seen(struct report *r)
{
	for (size_t i = 0; i < r->seen_count; i++) {
		if (ut_str_eq(r->reported[i], r->process))
			return true;
	}
	if (r->seen_count < r->seen_cap)
		r->reported[r->seen_count++] = r->process;
	return false;
}

static void read_titles(struct report *r, struct ut_str line)
{
	if (!tally_report_has(line, "Calls,") || !tally_report_has(line, "Time (ns),") ||
	    !tally_report_has(line, "Max (ns)"))
		return;
	r->in_table = r->section != SECTION_NONE;
	if (r->section == SECTION_COMM && was_seen(r))
		r->section = SECTION_HOST; /* read, and not counted */
}

static void tally_report_read_line(struct report *r, struct ut_str line)
{
	struct ut_str text = ut_str_trim(line);

	if (r->in_table && text.len) {
		tally_report_read_row(r, text);
	} else if (r->in_table) {
		r->in_table = false;
	} else if (tally_report_has(text, "API Timing Summary")) {
		r->section = SECTION_HOST;
	} else if (tally_report_has(text, "Device Timing Summary")) {
		r->section = SECTION_DEVICE;
	} else if (ut_str_has_start(text, "****")) {
		r->section = SECTION_COMM;
	} else if (r->section == SECTION_COMM && ut_str_has_start(text, "*")) {
		r->process = text;
	} else if (ut_str_has_start(text, "Total ")) {
		read_total(r, text);
	} else if (ut_str_has_start(text, "===")) {
		r->section = SECTION_NONE; /* a table of another kind */
	} else {
		read_titles(r, text);
	}
}

bool ut_tally_report(struct ut_tally *t, struct ut_str text)
{
	struct report r = { .tally = t, .seen_cap = 1024 };

	r.reported = UT_NEW_N(&t->arena, struct ut_str, r.seen_cap);
	while (text.len) {
		const char *end = memchr(text.ptr, '\n', text.len);
		size_t len = end ? (size_t)(end - text.ptr) : text.len;

		tally_report_read_line(&r, (struct ut_str){ text.ptr, len });
		text.ptr += len + (end != NULL);
		text.len -= len + (end != NULL);
	}
	return r.any;
}
