/*
 * fuzz_json.c - libFuzzer target: any bytes through the JSON reader, whole and in crumbs.
 *
 * The first byte says how long the crumbs are. Both ways must find the same values; what was
 * accepted must be accepted again, without a repair, after it was rewritten.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct crumbs {
	const uint8_t *data;
	size_t size, at, step;
};

static ssize_t read_crumb(void *ctx, void *to, size_t len, struct ut_err *err)
{
	struct crumbs *c = ctx;
	size_t n = c->size - c->at < c->step ? c->size - c->at : c->step;

	(void)err;
	n = n < len ? n : len;
	if (n)
		memcpy(to, c->data + c->at, n);
	c->at += n;
	return (ssize_t)n;
}

static void check_strict(struct ut_str value)
{
	struct ut_buf b = { 0 };
	struct ut_json j;

	ut_json_minify(value, &b);
	ut_json_init_text(&j, b.data, b.len);
	if (!ut_json_skip(&j, NULL) || ut_json_offset(&j, j.at) != b.len)
		abort();
	for (size_t i = 0; i < UT_JSON_REPAIRS; i++) {
		if (j.repairs[i].count)
			abort();
	}
	ut_json_release(&j);
	ut_buf_release(&b);
}

/* Values one after the other; the offset where they end. */
static uint64_t walk(struct ut_json *j, bool strict, uint64_t *repairs)
{
	struct ut_str value;

	while (ut_json_hold(j, &value)) {
		if (strict)
			check_strict(value);
		if (!ut_json_skip(j, NULL))
			abort();
	}
	for (size_t i = 0; i < UT_JSON_REPAIRS; i++)
		*repairs += j->repairs[i].count;
	return ut_json_offset(j, j->mark);
}

static void check_numbers(const char *text, size_t len)
{
	struct ut_str s = { text, len < 64 ? len : 64 };
	struct ut_json_number n;
	char out[64];
	int64_t ns;

	(void)ut_json_number(s, &n);
	(void)ut_json_scaled(s, 3, &ns);
	if (ut_json_decode(s, out) > s.len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct crumbs crumbs = { .step = size ? data[0] % 32 + 1u : 1 };
	uint64_t whole, pieces, repairs[2] = { 0 };
	struct ut_json j;

	if (!size)
		return 0;
	crumbs.data = data + 1;
	crumbs.size = size - 1;
	ut_json_init_text(&j, (const char *)data + 1, size - 1);
	whole = walk(&j, true, &repairs[0]);
	ut_json_release(&j);
	ut_json_init(&j, read_crumb, &crumbs, 0);
	pieces = walk(&j, false, &repairs[1]);
	ut_json_release(&j);
	if (whole != pieces || repairs[0] != repairs[1])
		abort();
	check_numbers((const char *)data, size);
	return 0;
}
