#include "ops/page_runs.h"

#include "text/digits.h"
#include "text/json_text.h"

static char *put_signed(char *p, int64_t value)
{
	if (value < 0)
		*p++ = '-';
	return ut_digits_u64(p, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value);
}

static void put_item(struct ut_page_runs *r)
{
	if (r->kind == UT_PAGE_RUNS_NUMBER)
		ut_buf_advance(&r->text,
			       put_signed(ut_buf_reserve(&r->text, UT_DIGITS_ROOM + 1), r->number));
	else if (r->kind == UT_PAGE_RUNS_NULL)
		ut_buf_text(&r->text, "null");
	else if (r->kind == UT_PAGE_RUNS_DIGITS)
		ut_buf_add(&r->text, r->said.ptr, r->said.len);
	else
		ut_json_text_str(&r->text, r->said.ptr, r->said.len);
}

void ut_page_runs_close(struct ut_page_runs *r)
{
	bool run = r->same >= UT_PAGE_RUNS_LEAST;

	for (; r->same; r->same = run ? 0 : r->same - 1) {
		if (r->text.len)
			ut_buf_char(&r->text, ',');
		if (run)
			ut_buf_fmt(&r->text, "[%llu,", (unsigned long long)r->same);
		put_item(r);
		if (run)
			ut_buf_char(&r->text, ']');
	}
}
