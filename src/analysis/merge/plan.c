#include "merge/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/size.h"
#include "import/inputs.h"
#include "merge/rewrite_number.h"

#define ID_MOST UT_REWRITE_ID_MOST

/* ---- numbers that pair events --------------------------------------------------------------- */

static bool has_numbers(const struct ut_merge_file *f)
{
	return !f->left_out && f->facts.id_first <= f->facts.id_last;
}

/*
 * Every file gets a range of its own. Those taken so far are kept as one range from low to high:
 * a file that lies outside keeps its numbers, others move behind it, or in front if there is no
 * room behind. Where there is none at all the file's numbers become texts.
 */
static void spread_numbers(struct ut_merge_plan *p)
{
	uint64_t low = 1, high = 0; /* empty */

	for (size_t i = 0; i < p->count; i++) {
		struct ut_merge_file *f = &p->files[i];
		uint64_t first = f->facts.id_first, last = f->facts.id_last, add = 0;

		if (!has_numbers(f))
			continue;
		if (low <= high && first <= high && last >= low) {
			if (last - first < ID_MOST - high - 1)
				add = high + 1 - first;
			else
				add = low - 1 - last; /* negative, modulo 2^64 */
			f->plan.id_all = last - first >= ID_MOST - high - 1 && last - first >= low;
			if (f->plan.id_all)
				continue;
		}
		first += add;
		last += add;
		f->plan.id_add = add;
		p->new_ids += add != 0;
		low = low > high || first < low ? first : low;
		high = last > high ? last : high;
	}
}

static bool has_texts(const struct ut_merge_file *f)
{
	return !f->left_out && (f->facts.id_texts || f->plan.id_all);
}

/* "2:" in front of the ids of the second file, if several files have such. */
static void prefix_texts(struct ut_merge_plan *p)
{
	size_t count = 0, frames = 0;

	for (size_t i = 0; i < p->count; i++) {
		count += has_texts(&p->files[i]);
		frames += ut_facts_member(&p->files[i].facts, "stackFrames").len > 2;
	}
	for (size_t i = 0; i < p->count; i++) {
		struct ut_merge_file *f = &p->files[i];

		if (f->left_out)
			continue;
		if ((count > 1 && has_texts(f)) || f->plan.id_all) {
			f->plan.id_prefix = ut_str_fmt(&p->arena, "%zu:", i + 1);
			p->new_ids += !f->plan.id_add;
		}
		if (frames > 1)
			f->plan.sf_prefix = ut_str_fmt(&p->arena, "%zu:", i + 1);
	}
}

void ut_merge_ids(struct ut_merge_plan *p, enum ut_merge_numbers mode)
{
	if (mode == UT_MERGE_KEEP || p->count < 2)
		return;
	spread_numbers(p);
	prefix_texts(p);
}

/* ---- --offset FILE=NS ------------------------------------------------------------------------ */

static int parse_ns(const char *text, int64_t *ns, struct ut_err *err)
{
	bool negative = *text == '-';
	const char *digits = text + (*text == '-' || *text == '+');
	uint64_t value = 0;
	char *end;

	errno = 0;
	value = strtoull(digits, &end, 10);
	if (*digits < '0' || *digits > '9' || errno || *end) {
		/* with a unit; a number without one counts in ns here */
		if (*digits < '0' || *digits > '9' || ut_time_parse(digits, &value, err))
			return ut_err_set(err, -EINVAL, "'%s' is no number of nanoseconds", text);
	}
	if (value > (uint64_t)INT64_MAX / 2)
		return ut_err_set(err, -EINVAL, "'%s' is too large", text);
	*ns = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

/* FILE=NS: how long FILE is, and NS. */
static int parse_offset(const char *word, size_t *len, int64_t *ns, struct ut_err *err)
{
	const char *eq = strrchr(word, '=');
	struct ut_err why = { 0 };
	int rc;

	*len = eq ? (size_t)(eq - word) : 0;
	if (!*len)
		return ut_err_set(err, -EINVAL, "--offset %s: it takes FILE=NS", word);
	rc = parse_ns(eq + 1, ns, &why);
	return rc ? ut_err_set(err, rc, "--offset %s: %s", word, why.text) : 0;
}

/* Is this what the user calls path? Its last part will do. */
static bool plan_is_called(const char *path, const char *word, size_t len)
{
	const char *base = ut_path_base(path);

	return (strlen(path) == len && !memcmp(path, word, len)) ||
	       (strlen(base) == len && !memcmp(base, word, len));
}

static int unknown_file(const char *word, struct ut_err *err)
{
	return ut_err_set(err, -EINVAL, "--offset %s: no input has this name", word);
}

int ut_merge_check_offset(const char *word, const struct ut_inputs *in, struct ut_err *err)
{
	size_t len;
	int64_t ns;
	int rc = parse_offset(word, &len, &ns, err);

	if (rc || !in)
		return rc;
	for (size_t i = 0; i < in->count; i++) {
		if (plan_is_called(strcmp(in->paths[i], "-") ? in->paths[i] : "stdin", word, len))
			return 0;
	}
	return unknown_file(word, err);
}

static int apply_offset(struct ut_merge_plan *p, const char *word, struct ut_err *err)
{
	size_t len, hits = 0;
	int64_t ns;
	int rc = parse_offset(word, &len, &ns, err);

	for (size_t i = 0; !rc && i < p->count; i++) {
		struct ut_merge_file *f = &p->files[i];

		if (!plan_is_called(f->name, word, len))
			continue;
		hits++;
		f->offset += ns;
		f->plan.shift += ns;
		if (f->map.count)
			ut_time_map_shift(&f->map, ns);
	}
	return rc || hits ? rc : unknown_file(word, err);
}

/* ---- all of it ------------------------------------------------------------------------------- */

int ut_merge_plan_make(struct ut_merge_plan *p, struct ut_merge_file *files, size_t count,
		       const struct ut_merge_rules *rules, struct ut_err *err)
{
	int rc = 0;

	*p = (struct ut_merge_plan){ .files = files, .count = count, .clocks = p->clocks };
	ut_merge_align(p, rules->no_align);
	for (size_t i = 0; !rc && i < rules->offsets.count; i++)
		rc = apply_offset(p, rules->offsets.items[i], err);
	ut_merge_processes(p, rules->pids);
	ut_merge_ids(p, rules->ids);
	if (rc)
		ut_merge_plan_release(p);
	return rc;
}

void ut_merge_plan_release(struct ut_merge_plan *p)
{
	ut_arena_release(&p->arena);
	for (size_t i = 0; i < p->count; i++) {
		p->files[i].plan = (struct ut_rewrite_plan){ 0 };
		ut_time_map_release(&p->files[i].map);
	}
}
