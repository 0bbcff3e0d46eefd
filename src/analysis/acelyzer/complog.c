/*
 * complog.c - the compiler's log, line by line.
 */
#include "acelyzer/complog.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "acelyzer/complog_dir.h"
#include "base/grow.h"
#include "base/str.h"
#include "text/shortest.h"
#include "text/source.h"

#define FINGERPRINT 25 /* kernels that tell a table from another (release 1.0) */
#define SUFFIX      " Cmpt Exec"
#define MOST_TEXT   (1u << 30)

static bool complog_has(struct ut_str l, const char *text)
{
	return memmem(l.ptr, l.len, text, strlen(text)) != NULL;
}

static uint32_t complog_intern(const struct ut_ace_complog_reader *r, const char *s, size_t len)
{
	return ut_strtab_intern(&r->table->strings, s, len);
}

static void catmap_init(const struct ut_ace_complog_reader *r, struct ut_ace_catmap *m)
{
	uint32_t other = complog_intern(r, "other", 5);

	*m = (struct ut_ace_catmap){ 0 };
	ut_idmap_init(&m->map, &r->table->arena);
	ut_ace_catmap_add(m, other, other);
}

void ut_ace_catmap_add(struct ut_ace_catmap *m, uint32_t kernel, uint32_t cat)
{
	ut_idmap_put(&m->map, kernel, cat);
	for (size_t i = 0; i < m->count; i++) {
		if (m->cats[i] == cat)
			return;
	}
	m->cats = ut_grow(m->cats, m->count + 1, &m->cap, sizeof(*m->cats));
	m->cats[m->count++] = cat;
}

struct ut_ace_ideal *ut_ace_complog_begin(const struct ut_ace_complog_reader *r,
					  struct ut_ace_complog *log, const char *phase)
{
	struct ut_ace_ideal *t;

	log->tables =
		ut_grow(log->tables, log->table_count + 1, &log->table_cap, sizeof(*log->tables));
	t = &log->tables[log->table_count];
	*t = (struct ut_ace_ideal){ .phase = phase };
	ut_idmap_init(&t->place, &r->table->arena);
	if (r->release >= UT_ACE_1_2) {
		t->cats = UT_NEW(&r->table->arena, struct ut_ace_catmap);
		catmap_init(r, t->cats);
	}
	log->started++;
	return t;
}

void ut_ace_complog_row(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
			struct ut_ace_ideal *t, const struct ut_ace_ideal_row *row)
{
	struct ut_ace_catmap *cats = r->release >= UT_ACE_1_2 ? t->cats : &log->cats;
	uint32_t place = ut_idmap_get(&t->place, row->kernel);
	uint32_t cat = ut_idmap_get(&cats->map, row->kernel);

	t->kernels = ut_grow(t->kernels, t->kernel_count + 1, &t->kernel_cap, sizeof(*t->kernels));
	t->kernels[t->kernel_count++] = row->kernel;
	t->time += row->cycles * (1 / r->core);
	if (!place && row->cycles != 0) {
		t->cycles =
			ut_grow(t->cycles, t->cycle_count + 1, &t->cycle_cap, sizeof(*t->cycles));
		t->cycles[t->cycle_count++] = row->cycles;
		ut_idmap_put(&t->place, row->kernel, (uint32_t)t->cycle_count);
	} else if (place && t->cycles[place - 1] != row->cycles) {
		ut_ace_say(
			r->messages, UT_ACE_WARN,
			"UTL: Kernel already has an entry with different cycle count: %s %.0f %.0f",
			ut_ace_str(r->table, row->kernel).ptr, row->cycles, t->cycles[place - 1]);
	}
	if (!cat)
		ut_ace_catmap_add(cats, row->kernel, row->cat);
	else if (cat != row->cat)
		ut_ace_say(
			r->messages, UT_ACE_WARN,
			"UTL: Kernel->Category map already has an entry with different category: "
			"%s %s %s",
			ut_ace_str(r->table, row->kernel).ptr, ut_ace_str(r->table, row->cat).ptr,
			ut_ace_str(r->table, cat).ptr);
}

/* Do two tables begin with the same kernels (1.0), or hold the same ones (1.2)? */
static bool same_table(const struct ut_ace_complog_reader *r, const struct ut_ace_ideal *x,
		       const struct ut_ace_ideal *y)
{
	size_t n = x->kernel_count, m = y->kernel_count;

	if (r->release < UT_ACE_1_2) {
		n = n < FINGERPRINT ? n : FINGERPRINT;
		m = m < FINGERPRINT ? m : FINGERPRINT;
	}
	return n == m && (r->release < UT_ACE_1_2 || x->time == y->time) &&
	       (!n || !memcmp(x->kernels, y->kernels, n * sizeof(*x->kernels)));
}

static void drop_table(struct ut_ace_ideal *t)
{
	free(t->cycles);
	free(t->kernels);
	if (t->cats)
		free(t->cats->cats);
	*t = (struct ut_ace_ideal){ 0 };
}

static uint32_t fingerprint(const struct ut_ace_ideal *t)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < t->kernel_count && i < FINGERPRINT; i++)
		h = (h ^ t->kernels[i]) * 16777619u;
	return h;
}

bool ut_ace_complog_end(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log)
{
	struct ut_ace_ideal *t = &log->tables[log->table_count];

	for (size_t i = 0; i < log->table_count; i++) {
		if (!same_table(r, &log->tables[i], t))
			continue;
		ut_ace_say(r->messages, UT_ACE_WARN,
			   "UTL: Fingerprint of current table already exists for previous table. "
			   "Duplicated tables? Keeping the previous table only");
		drop_table(t);
		return false;
	}
	log->table_count++;
	if (r->release >= UT_ACE_1_2)
		ut_ace_say(r->messages, UT_ACE_INFO,
			   "UTL: Adding ideal cycles table (%s) with fingerprint: %" PRIu32,
			   t->phase, fingerprint(t));
	else
		ut_ace_say(r->messages, UT_ACE_INFO,
			   "UTL: Adding ideal cycles table with fingerprint: %" PRIu32,
			   fingerprint(t));
	return true;
}

/* "NAME-opCatCATEGORY  123": name and number, blanks between them, nothing else. */
static bool split_row(struct ut_str l, struct ut_str *name, double *cycles)
{
	const char *p = l.ptr, *end = l.ptr + l.len, *digits;

	while (p < end && (isalnum((unsigned char)*p) || *p == '_' || *p == '-'))
		p++;
	*name = (struct ut_str){ l.ptr, (size_t)(p - l.ptr) };
	if (!name->len || p == end || *p != ' ')
		return false;
	while (p < end && *p == ' ')
		p++;
	digits = p;
	*cycles = 0;
	while (p < end && isdigit((unsigned char)*p))
		*cycles = *cycles * 10 + (*p++ - '0');
	if (p == digits)
		return false;
	while (p < end && *p == ' ')
		p++;
	return p == end && !complog_has(l, "Precompute") && !complog_has(l, "-LxPreload");
}

/* Kernel and category of a name: what stands before and behind "-opCat". */
static void name_row(const struct ut_ace_complog_reader *r, struct ut_str name,
		     struct ut_ace_ideal_row *row)
{
	const char *end = name.ptr + name.len, *at = memmem(name.ptr, name.len, "-opCat", 6), *last;
	struct ut_buf b = { 0 };

	if (at) {
		for (last = at; (last = memmem(last + 6, (size_t)(end - last - 6), "-opCat", 6));)
			at = last;
		last = at + 6;
		at = memmem(name.ptr, name.len, "-opCat", 6);
		row->cat = last < end ? complog_intern(r, last, (size_t)(end - last))
				      : complog_intern(r, "NotAvailable", 12);
		name.len = (size_t)(at - name.ptr);
	} else if (ut_str_has_end(name, "-NA")) {
		row->cat = complog_intern(r, "NotAvailable", 12);
		name.len -= 3;
	} else {
		row->cat = complog_intern(r, "Total", 5);
	}
	row->is_total = ut_str_is(name, "Total");
	row->is_empty = !name.len;
	ut_buf_add(&b, name.ptr, name.len);
	ut_buf_text(&b, SUFFIX);
	row->kernel = complog_intern(r, b.data, b.len);
	ut_buf_release(&b);
}

/* A line with nothing but PREFILL or DECODING, blanks before and behind. */
static const char *phase_of(struct ut_str l)
{
	const char *p = l.ptr, *end = l.ptr + l.len;

	while (p < end && isspace((unsigned char)*p))
		p++;
	while (end > p && isspace((unsigned char)end[-1]))
		end--;
	if (p == l.ptr)
		return NULL;
	if (end - p == 7 && !memcmp(p, "PREFILL", 7))
		return "TTFT";
	return end - p == 8 && !memcmp(p, "DECODING", 8) ? "ITL" : NULL;
}

struct scan {
	const char *phase;
	bool inside; /* a table */
};

/* False: the rest of the log does not count. */
static bool scan_line(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
		      struct scan *s, struct ut_str l)
{
	struct ut_ace_ideal_row row;
	struct ut_str name;

	if (complog_has(l, "DSM-AutoPilot BEGIN")) {
		if (r->release >= UT_ACE_1_2 && !log->autopilot)
			ut_ace_say(
				r->messages, UT_ACE_WARN,
				"UTL: Detected autopilot=on. Event categorization, cycles table "
				"matching and other utilization-related data might be unreliable.");
		log->autopilot = true;
		return r->release >= UT_ACE_1_2;
	}
	if (complog_has(l, "Ideal Clock Scaling:")) {
		ut_ace_say(r->messages, UT_ACE_WARN,
			   "UTL: Found obsolete 'Ideal Cycle Scaling' setting in logfile. This "
			   "setting "
			   "is ignored. Use '--freq=<soc>:<core>'.");
	} else if (r->release >= UT_ACE_1_2 && phase_of(l)) {
		s->phase = phase_of(l);
	} else if (complog_has(l, " Ideal/Total Cycles ")) {
		if (s->inside)
			drop_table(&log->tables[log->table_count]);
		ut_ace_complog_begin(r, log, s->phase);
		s->inside = true;
	} else if (s->inside && complog_has(l, "====== Perf Summary End ======")) {
		s->inside = false;
		return ut_ace_complog_end(r, log) || r->release >= UT_ACE_1_2;
	} else if (s->inside && split_row(l, &name, &row.cycles)) {
		name_row(r, name, &row);
		if (r->release >= UT_ACE_1_2 ? !row.is_empty : !row.is_total)
			ut_ace_complog_row(r, log, &log->tables[log->table_count], &row);
	}
	return true;
}

void ut_ace_complog_text(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
			 const char *text, size_t len)
{
	struct scan s = { .phase = "UNKN" };
	const char *end = text + len, *next;

	*log = (struct ut_ace_complog){ 0 };
	catmap_init(r, &log->cats);
	for (const char *p = text; p < end; p = next) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		struct ut_str l = { p, (size_t)((eol ? eol : end) - p) };

		next = eol ? eol + 1 : end;
		if (l.len && l.ptr[l.len - 1] == '\r')
			l.len--;
		if (!scan_line(r, log, &s, l))
			break;
	}
	if (s.inside)
		drop_table(&log->tables[log->table_count]);
	log->single = r->release < UT_ACE_1_2 && log->started == 1 && log->table_count == 1;
}

static int complog_read_all(const char *path, struct ut_buf *b, struct ut_err *err)
{
	struct ut_source source;
	char chunk[65536];
	ssize_t n;
	int rc = ut_source_open(&source, path, err);

	if (rc)
		return rc;
	while ((n = ut_source_read(&source, chunk, sizeof(chunk), err)) > 0) {
		if (b->len > MOST_TEXT) {
			n = ut_err_set(err, -EFBIG, "%s: more than a gigabyte of log", path);
			break;
		}
		ut_buf_add(b, chunk, (size_t)n);
	}
	ut_source_close(&source);
	return n < 0 ? (int)n : 0;
}

void ut_ace_complog_read(const struct ut_ace_complog_reader *r, struct ut_ace_complog *log,
			 const char *path)
{
	struct ut_err err = { 0 };
	struct ut_buf text = { 0 };
	struct stat st;
	glob_t found = { 0 };
	int rc;

	if (stat(path, &st) && !glob(path, 0, NULL, &found))
		path = found.gl_pathv[0];
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		*log = (struct ut_ace_complog){ 0 };
		catmap_init(r, &log->cats);
		rc = r->release >= UT_ACE_1_2
			     ? ut_ace_complog_dir(r, log, path, &err)
			     : ut_err_set(&err, -EISDIR,
					  "%s is a directory; --compiler_info reads one", path);
	} else {
		rc = complog_read_all(path, &text, &err);
		ut_ace_complog_text(r, log, text.data ? text.data : "", rc ? 0 : text.len);
	}
	if (rc)
		ut_ace_say(r->messages, r->release >= UT_ACE_1_2 ? UT_ACE_ERROR : UT_ACE_WARN,
			   r->release >= UT_ACE_1_2 ? "UTL: Unable to open/parse log file. %s"
						    : "UTL: Unable to open or parse log file. %s",
			   err.text);
	ut_buf_release(&text);
	globfree(&found);
}

void ut_ace_complog_release(struct ut_ace_complog *log)
{
	for (size_t i = 0; i < log->table_count; i++)
		drop_table(&log->tables[i]);
	free(log->tables);
	free(log->cats.cats);
	*log = (struct ut_ace_complog){ 0 };
}
