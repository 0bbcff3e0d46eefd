/*
 * verify_files_write.c - the report of -V in release 1.3, for programs and for people.
 */
#include <inttypes.h>
#include <string.h>

#include "acelyzer/verify_files.h"
#include "acelyzer/write_output.h"
#include "acelyzer/write_value.h"
#include "base/str.h"

static const struct {
	const char *key;
	bool error;
} findings[UT_ACE_FINDINGS] = {
	[UT_ACE_FOUND_OVERLAP] = { "overlaps", true },
	[UT_ACE_FOUND_OUTSIDE] = { "kernel_outside_parent", true },
	[UT_ACE_FOUND_ORPHAN_KERNELS] = { "orphan_kernels", false },
	[UT_ACE_FOUND_ORPHAN_PARENTS] = { "orphan_parents", false },
};

enum {
	TESTS = 2
};

static const struct {
	const char *name;
	enum ut_ace_finding first, end; /* what it finds */
} tests[TESTS] = {
	{ "Compute Overlap Check", UT_ACE_FOUND_OVERLAP, UT_ACE_FOUND_OUTSIDE },
	{ "Kernel-Parent Timestamp Check", UT_ACE_FOUND_OUTSIDE, UT_ACE_FINDINGS },
};

/* A report at work. */
struct page {
	const struct ut_ace_verification *v;
	const struct ut_ace_analysis *a;
	struct ut_ace_writer writer;
	struct ut_out *o;
	uint32_t stream; /* the key of that argument */
	bool text, any;
};

enum section {
	ERRORS,
	WARNINGS,
	PASSED,
	SECTIONS,
};

static enum section section_of(const struct page *p, int finding)
{
	return !p->v->count[finding] ? PASSED : findings[finding].error ? ERRORS : WARNINGS;
}

static const char *result_of(const struct page *p, int test)
{
	const char *result = "pass";

	for (int i = (int)tests[test].first; i < (int)tests[test].end; i++) {
		if (section_of(p, i) == ERRORS)
			return "fail";
		if (section_of(p, i) == WARNINGS)
			result = "warn";
	}
	return result;
}

static void verify_files_write_put_key(struct page *p, const char *key)
{
	if (p->text)
		ut_out_fmt(p->o, "%s%s=", p->any ? "  " : "    ", key);
	else
		ut_out_fmt(p->o, "%s\"%s\":", p->any ? "," : "{", key);
	p->any = true;
}

static void verify_files_write_put_string(struct page *p, uint32_t id)
{
	struct ut_str s = ut_ace_str(&p->a->table, id);

	if (p->text)
		ut_out_write(p->o, s.ptr, s.len);
	else
		ut_out_json_str(p->o, s.ptr, s.len);
}

static void put_us(struct page *p, const char *key, double v)
{
	char text[UT_SHORTEST_ROOM];

	verify_files_write_put_key(p, key);
	ut_out_text(p->o, ut_shortest(text, v));
}

static void verify_files_write_put_id(struct page *p, const char *key, uint32_t id)
{
	const struct ut_ace_id *i = &p->a->table.ids[id];
	char *at;

	verify_files_write_put_key(p, key);
	if (i->kind == UT_ACE_ID_STR) {
		verify_files_write_put_string(p, i->str);
	} else if (i->kind == UT_ACE_ID_NONE) {
		ut_out_text(p->o, p->text ? "None" : "null");
	} else {
		at = ut_out_reserve(p->o, ut_ace_id_room(&p->writer, id));
		ut_out_advance(p->o, ut_ace_put_id(&p->writer, at, id));
	}
}

static void put_overlap(struct page *p, const struct ut_ace_event *e)
{
	struct ut_arg arg;

	verify_files_write_put_key(p, "name");
	verify_files_write_put_string(p, e->name);
	verify_files_write_put_id(p, "pid", e->pid);
	verify_files_write_put_id(p, "tid", e->tid);
	verify_files_write_put_key(p, "stream");
	if (!ut_ace_arg(&p->a->table, e->args, p->stream, &arg))
		ut_out_text(p->o, "0");
	else if (arg.type == UT_ARG_STR)
		verify_files_write_put_string(p, arg.value.str);
	else
		ut_ace_put_value(&p->writer, &arg);
	put_us(p, "ts", e->ts);
	put_us(p, "dur", e->dur);
}

static void put_instance(struct page *p, int finding, const struct ut_ace_instance *i)
{
	const struct ut_ace_event *e = &p->a->table.events[i->event];
	const struct ut_ace_corr *c = p->v->corr_count ? &p->v->corrs[i->corr] : NULL;

	p->any = false;
	if (finding == UT_ACE_FOUND_OVERLAP || !c) {
		put_overlap(p, e);
		return;
	}
	verify_files_write_put_key(p, "corr_id");
	if (finding == UT_ACE_FOUND_OUTSIDE) {
		const char *quote = p->text ? "" : "\"";

		ut_out_fmt(p->o, "%s%s0x%" PRIx64 "%s", quote, c->id < 0 ? "-" : "",
			   c->id < 0 ? -c->id : c->id, quote);
		put_us(p, "kernel_start", e->ts);
		put_us(p, "kernel_end", ut_ace_end(e));
		put_us(p, "parent_start", c->begin);
		put_us(p, "parent_end", c->end);
		return;
	}
	ut_out_i64(p->o, c->id);
	if (finding == UT_ACE_FOUND_ORPHAN_KERNELS) {
		verify_files_write_put_key(p, "count");
		ut_out_u64(p->o, c->kernels);
	}
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void verify_files_write_put_finding(struct page *p, int finding)
{
	const struct ut_ace_instances *l = &p->v->found[finding];

	ut_out_fmt(p->o,
		   "{\"finding\":\"%s\",\"is_error\":%s,\"count\":%" PRIu64 ",\"instances\":[",
		   findings[finding].key, findings[finding].error ? "true" : "false",
		   p->v->count[finding]);
	for (size_t i = 0; i < l->count; i++) {
		ut_out_text(p->o, i ? ",\n" : "\n");
		put_instance(p, finding, &l->items[i]);
		ut_out_text(p->o, "}");
	}
	ut_out_text(p->o, "]}");
}

/* What made the report, and what stood around the events. */
static void put_metadata(struct page *p, const struct ut_ace_frame *f)
{
	size_t len = strlen(f->other);

	ut_out_text(p->o, "\"metadata\":");
	ut_out_write(p->o, f->other, len - 1); /* all but the brace */
	for (size_t i = 0; i < f->meta_count; i++) {
		ut_out_text(p->o, ",\n");
		ut_out_json_str(p->o, f->meta[i].key, strlen(f->meta[i].key));
		ut_out_text(p->o, ":");
		ut_out_text(p->o, f->meta[i].json);
	}
	ut_out_text(p->o, "}");
}

static void verify_files_write_put_json(struct page *p, const struct ut_ace_frame *f)
{
	static const char *const keys[SECTIONS] = { "errors", "warnings", "passed" };

	ut_out_fmt(p->o, "{\"version\":\"1.0\",\n\"result\":\"%s\",\n",
		   ut_ace_verification_fails(p->v) ? "FAIL" : "PASS");
	put_metadata(p, f);
	ut_out_text(p->o, ",\n\"test_results\":[");
	for (int i = 0; i < TESTS; i++)
		ut_out_fmt(p->o, "%s{\"test\":\"%s\",\"result\":\"%s\"}", i ? ",\n" : "\n",
			   tests[i].name, result_of(p, i));
	ut_out_text(p->o, "]");
	for (int s = 0; s < SECTIONS; s++) {
		bool any = false;

		ut_out_fmt(p->o, ",\n\"%s\":[", keys[s]);
		for (int i = 0; i < UT_ACE_FINDINGS; i++) {
			if ((int)section_of(p, i) != s)
				continue;
			ut_out_text(p->o, any ? ",\n" : "\n");
			verify_files_write_put_finding(p, i);
			any = true;
		}
		ut_out_text(p->o, "]");
	}
	ut_out_text(p->o, "}\n");
}

/* ---- text ---------------------------------------------------------------------------------- */

static void verify_files_write_put_title(struct ut_out *o, const char *title, int count)
{
	struct ut_buf b = { 0 };

	ut_buf_fmt(&b, "%s (%d)", title, count);
	ut_out_fmt(o, "%s\n", b.data);
	for (size_t i = 0; i < b.len; i++)
		ut_out_text(o, "-");
	ut_out_text(o, "\n");
	ut_buf_release(&b);
}

static void put_section(struct page *p, enum section s)
{
	static const char *const titles[SECTIONS] = { "ERRORS", "WARNINGS", "PASSED" };
	int count = 0;

	for (int i = 0; i < UT_ACE_FINDINGS; i++)
		count += section_of(p, i) == s;
	verify_files_write_put_title(p->o, titles[s], count);
	for (int i = 0; i < UT_ACE_FINDINGS; i++) {
		const struct ut_ace_instances *l = &p->v->found[i];

		if (section_of(p, i) != s)
			continue;
		ut_out_fmt(p->o, "  %s: %" PRIu64 " occurrence(s)\n", findings[i].key,
			   p->v->count[i]);
		for (size_t k = 0; k < l->count; k++) {
			put_instance(p, i, &l->items[k]);
			ut_out_text(p->o, "\n");
		}
	}
	ut_out_text(p->o, "\n");
}

static void verify_files_write_put_text(struct page *p, const char *line)
{
	bool fails = ut_ace_verification_fails(p->v);

	ut_out_fmt(p->o,
		   "Acelyzer Verification Report\n=============================\n"
		   "Input:   %s\n\n",
		   line);
	for (int s = 0; s < SECTIONS; s++)
		put_section(p, (enum section)s);
	verify_files_write_put_title(p->o, "TESTS APPLIED", TESTS);
	for (int i = 0; i < TESTS; i++) {
		const char *r = result_of(p, i);

		ut_out_fmt(p->o, "  %-5s %s\n",
			   *r == 'f'   ? "FAIL"
			   : *r == 'w' ? "WARN"
				       : "PASS",
			   tests[i].name);
	}
	ut_out_fmt(p->o, "\nResult: %s\n", fails ? "FAIL (errors detected)" : "PASS");
}

int ut_ace_verification_write(const struct ut_ace_verification *v, const struct ut_ace_analysis *a,
			      const struct ut_ace_frame *f, const char *path, bool text,
			      struct ut_err *err)
{
	struct page p = { .v = v, .a = a, .text = text };

	p.o = ut_out_open(path, UT_OUT_OVERWRITE);
	p.stream = v->stream;
	ut_ace_writer_init(&p.writer, a, p.o);
	if (text)
		verify_files_write_put_text(&p, f->line);
	else
		verify_files_write_put_json(&p, f);
	ut_ace_writer_release(&p.writer);
	return ut_out_commit(p.o, err);
}
