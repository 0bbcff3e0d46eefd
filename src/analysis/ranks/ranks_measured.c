/*
 * ranks_measured.c - what a trace says was measured about the clock of its host:
 *
 *	{"id":"9f86d081884c7d65","reference":"e3b0c44298fc1c14","samples":[[AT,ADD,ERROR],...]}
 *
 * At time AT of this clock, ADD had to be added for that of the reference, give or take ERROR; all
 * in ns. The file may be anybody's: what makes no sense is passed over.
 */
#include "base/grow.h"
#include "base/json.h"
#include "ranks/ranks_parts.h"

#define MOST_SAMPLES 65536u
#define LATEST       (INT64_MAX / 4)

static uint32_t ranks_measured_text_of(struct ut_ranks *r, struct ut_json *j)
{
	struct ut_str raw;

	return ut_json_string(j, &raw) ? ut_strtab_intern(&r->strings, raw.ptr, raw.len) : 0;
}

static bool is_sane(int64_t value)
{
	return value > -LATEST && value < LATEST;
}

static bool ranks_measured_read_sample(struct ut_json *j, struct ut_rank *one)
{
	int64_t values[3] = { 0, 0, -1 };
	struct ut_str span;
	size_t n = 0;

	if (ut_json_peek(j) != '[')
		return ut_json_skip(j, &span);
	ut_json_enter(j);
	while (ut_json_element(j) && ut_json_skip(j, &span)) {
		if (n < 3 && ut_json_scaled(span, 0, &values[n]))
			n++;
	}
	if (j->trouble)
		return false;
	if (n < 3 || values[2] < 0 || !is_sane(values[0]) || !is_sane(values[1]) ||
	    !is_sane(values[2]) || one->measured_count == MOST_SAMPLES)
		return true;
	one->measured = ut_grow(one->measured, one->measured_count + 1, &one->measured_cap,
				sizeof(*one->measured));
	one->measured[one->measured_count++] =
		(struct ut_time_knot){ values[0], values[1], (uint64_t)values[2] };
	return true;
}

static bool ranks_measured_read_member(struct ut_ranks *r, struct ut_rank *one, struct ut_json *j,
				       struct ut_str key)
{
	struct ut_str span;

	if (ut_str_is(key, "id") && ut_json_peek(j) == '"') {
		one->clock_id = ranks_measured_text_of(r, j);
	} else if (ut_str_is(key, "reference") && ut_json_peek(j) == '"') {
		one->reference = ranks_measured_text_of(r, j);
	} else if (ut_str_is(key, "samples") && ut_json_peek(j) == '[') {
		ut_json_enter(j);
		while (ut_json_element(j) && ranks_measured_read_sample(j, one))
			;
		return !j->trouble;
	} else {
		return ut_json_skip(j, &span);
	}
	return !j->trouble;
}

void ut_ranks_measured(struct ut_ranks *r, struct ut_rank *one, struct ut_str json)
{
	struct ut_str key;
	struct ut_json j;

	ut_json_init_text(&j, json.ptr, json.len);
	if (ut_json_peek(&j) == '{') {
		ut_json_enter(&j);
		while (ut_json_member(&j, &key) && ranks_measured_read_member(r, one, &j, key))
			;
	}
	ut_json_release(&j);
}
