/*
 * compat_stall.c - the report of stalls as analyzeperfmetrics prints it, to the byte.
 *
 * For NVIDIA it has the same shape; what Intel's has no place for (shares, registers) is added.
 */
#include <inttypes.h>
#include <string.h>

#include "metrics/stall_parts.h"
#include "text/out.h"

#define WIDE 95

static void rule(struct ut_out *out, char c)
{
	char line[WIDE + 1];

	memset(line, c, WIDE);
	line[WIDE] = '\n';
	ut_out_write(out, line, sizeof(line));
}

/* A line with something in front of each. */
static void compat_stall_put(struct ut_out *out, const char *front, struct ut_str s)
{
	ut_out_text(out, front);
	ut_out_write(out, s.ptr, s.len);
	ut_out_text(out, "\n");
}

void ut_stall_title(struct ut_buf *b, const struct ut_stall_result *r, size_t reason)
{
	struct ut_str s = r->reasons[reason];
	bool upper = true;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (r->maker == UT_STALL_NVIDIA && c == '_')
			c = ' ';
		if (upper && r->maker == UT_STALL_NVIDIA && c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		upper = c == ' ';
		ut_buf_char(b, c);
	}
}

static void begin_reason(struct ut_out *out, const struct ut_stall_result *r, size_t reason)
{
	struct ut_buf title = { 0 };

	ut_stall_title(&title, r, reason);
	rule(out, '*');
	ut_out_write(out, title.data, title.len);
	ut_out_text(out, " Stalls: \n");
	ut_buf_release(&title);
}

/* What only NVIDIA's report has: there is nothing of the original that it could differ from. */
static void put_more(struct ut_out *out, const char *front, const struct ut_stall_place *p)
{
	if (p->call.len) {
		ut_out_text(out, front);
		compat_stall_put(out, "Inlined at: ", p->call);
	}
	if (p->control.len) {
		ut_out_text(out, front);
		compat_stall_put(out, "Control: ", p->control);
	}
}

static void put_stalled(struct ut_out *out, const struct ut_stall_place *p)
{
	ut_out_text(out, "\nInstruction\n");
	compat_stall_put(out, "  ", p->text);
	if (p->source.len) {
		compat_stall_put(out, "  ", p->source);
		if (p->file.len)
			compat_stall_put(out, "  File: ", p->file);
	}
	put_more(out, "  ", p);
}

static void put_cause(struct ut_out *out, const struct ut_stall_result *r,
		      const struct ut_stall_cause *c)
{
	const struct ut_stall_place *p = &c->place;

	ut_out_text(out, "  instruction\n");
	compat_stall_put(out, "    ", p->text);
	if (p->source.len) {
		compat_stall_put(out, "    ", p->source);
		compat_stall_put(out, "    File: ", p->file.len ? p->file : ut_str_of("unknown"));
	}
	put_more(out, "    ", p);
	if (r->maker == UT_STALL_NVIDIA && c->through.len)
		compat_stall_put(out, "    Through: ", c->through);
}

static void compat_stall_put_finding(struct ut_out *out, const struct ut_stall_result *r,
				     const struct ut_stall_finding *f)
{
	put_stalled(out, &f->place);
	if (r->maker == UT_STALL_NVIDIA)
		ut_out_fmt(out, "  Samples: %" PRIu64 " (%.1f %%)\n", f->count, 100 * f->share);
	ut_out_text(out, f->cause_count ? "is stalled potentially by\n" : "is stalled\n");
	for (size_t i = 0; i < f->cause_count; i++)
		put_cause(out, r, &f->causes[i]);
	if (f->others && r->maker == UT_STALL_NVIDIA)
		ut_out_fmt(out, "  and %zu others before it\n", f->others);
}

/* The scoreboard has its heading even if nothing waited for it. */
static bool lacks_scoreboard(const struct ut_stall_result *r)
{
	return r->maker == UT_STALL_INTEL &&
	       (!r->finding_count || !ut_str_is(r->reasons[r->findings[0].reason], "Sbid"));
}

void ut_stall_text(struct ut_out *out, const struct ut_stall_result *r)
{
	compat_stall_put(out, "Kernel: ", r->kernel);
	compat_stall_put(out, "Assembly with instruction addresses: ", r->assembly);
	if (r->top == UT_STALL_TOP_ALL)
		ut_out_text(out, "\nReport of Stalls of Each Type\n");
	else
		ut_out_fmt(out, "\nReport of Top %" PRIu64 " Stalls of Each Type\n", r->top);
	if (lacks_scoreboard(r)) {
		rule(out, '*');
		ut_out_text(out, "Sbid Stalls: \n");
	}
	for (size_t i = 0; i < r->finding_count; i++) {
		const struct ut_stall_finding *f = &r->findings[i];

		if (!i || f->reason != r->findings[i - 1].reason)
			begin_reason(out, r, f->reason);
		compat_stall_put_finding(out, r, f);
	}
	rule(out, '=');
}
