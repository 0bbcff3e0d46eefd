#include "export/event_words.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "model/store.h"
#include "text/out.h"

const char *const ut_kind_words[UT_KIND_COUNT] = {
#define KIND_TEXT(kind, text, val) text,
	UT_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
};

/* In order. */
static const struct {
	enum ut_event_flag flag;
	const char *text;
} flags[] = {
	{ UT_EV_UNFINISHED, "unfinished" }, { UT_EV_IMPLICIT_END, "implicit_end" },
	{ UT_EV_SCOPE_PROCESS, "process" }, { UT_EV_SCOPE_GLOBAL, "global" },
	{ UT_EV_NOT_WORK, "not_work" },     { UT_EV_ASIDE, "aside" },
};

void ut_flag_words(struct ut_out *o, uint8_t set)
{
	bool any = false;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (!(set & flags[i].flag))
			continue;
		if (any)
			ut_out_text(o, "|");
		ut_out_text(o, flags[i].text);
		any = true;
	}
}

/* ---- how deep a span lies ------------------------------------------------------------------ */

static void push_end(struct ut_depth *d, uint64_t end)
{
	size_t i = d->count++;

	d->ends = ut_grow(d->ends, d->count, &d->cap, sizeof(*d->ends));
	for (; i && d->ends[(i - 1) / 2] > end; i = (i - 1) / 2)
		d->ends[i] = d->ends[(i - 1) / 2];
	d->ends[i] = end;
}

static void pop_end(struct ut_depth *d)
{
	uint64_t last = d->ends[--d->count];
	size_t i = 0, child;

	for (; 2 * i + 1 < d->count; i = child) {
		child = 2 * i + 1;
		if (child + 1 < d->count && d->ends[child + 1] < d->ends[child])
			child++;
		if (last <= d->ends[child])
			break;
		d->ends[i] = d->ends[child];
	}
	d->ends[i] = last;
}

void ut_depth_release(struct ut_depth *d)
{
	free(d->ends);
	*d = (struct ut_depth){ 0 };
}

uint64_t ut_depth_of(struct ut_depth *d, const struct ut_event *span)
{
	uint64_t depth;

	while (d->count && d->ends[0] <= span->ts)
		pop_end(d);
	depth = d->count;
	push_end(d, ut_event_end(span));
	return depth;
}
