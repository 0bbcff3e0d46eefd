#include "ops/kernel_table.h"

#include <math.h>

#include "ops/kernel_groups.h"
#include "text/out.h"
#include "text/table_report.h"

#define MOST_KERNELS 5u /* of a group, in JSON */

enum column {
	NAME,
	LAUNCHES,
	TOTAL,
	SHARE,
	LOST,
	RULE,
	SENTENCE,
	KERNEL,
	ADVICE,
	EVIDENCE,
	MORE,
	PARTS,
	COLUMNS
};

static const struct ut_report_column columns[COLUMNS] = {
	[NAME] = { .key = "name", .title = "Kernel", .type = UT_REPORT_TEXT, .most = 60 },
	[LAUNCHES] = { .key = "launches", .title = "Launches", .type = UT_REPORT_COUNT },
	[TOTAL] = { .key = "total",
		    .title = "Time",
		    .unit = "ns",
		    .type = UT_REPORT_TIME,
		    .rest = true },
	[SHARE] = { .key = "share", .title = "Share", .unit = "%", .type = UT_REPORT_SHARE },
	[LOST] = { .key = "lost", .title = "Could save", .unit = "ns", .type = UT_REPORT_TIME },
	[RULE] = { .key = "verdict",
		   .title = "Verdict",
		   .type = UT_REPORT_WORD,
		   .readers = UT_FOR_PROGRAMS },
	[SENTENCE] = { .key = "why", .title = "Verdict", .type = UT_REPORT_TEXT },
	[KERNEL] = { .key = "kernel",
		     .title = "of",
		     .type = UT_REPORT_TEXT,
		     .readers = UT_FOR_PROGRAMS },
	[ADVICE] = { .key = "advice",
		     .title = "What helps",
		     .type = UT_REPORT_TEXT,
		     .readers = UT_FOR_PROGRAMS },
	[EVIDENCE] = { .key = "evidence",
		       .title = "Evidence",
		       .type = UT_REPORT_ANY,
		       .readers = UT_FOR_JSON },
	[MORE] = { .key = "also", .title = "Also", .type = UT_REPORT_ANY, .readers = UT_FOR_JSON },
	[PARTS] = { .key = "kernels",
		    .title = "Kernels",
		    .type = UT_REPORT_ANY,
		    .readers = UT_FOR_JSON },
};

int ut_kernel_table_check(const char *sort, struct ut_err *err)
{
	return ut_report_check_sort(
		&(struct ut_report_table){ .columns = columns, .count = COLUMNS }, sort, err);
}

/* ---- JSON inside of cells ------------------------------------------------------------------ */

static void kernel_table_put_text(struct ut_out *o, const char *key, const char *text, size_t len)
{
	ut_out_fmt(o, "%s\"%s\":", key[0] == '{' ? "{" : ",", key[0] == '{' ? key + 1 : key);
	ut_out_json_str(o, text, len);
}

static void kernel_table_put_number(struct ut_out *o, const char *key, double value)
{
	ut_out_fmt(o, ",\"%s\":", key);
	ut_out_json_double(o, value);
}

/* {"dram":{"value":81.2,"unit":"%"}} */
static void put_evidence(struct ut_out *o, const struct ut_classified_kernel *k,
			 const struct ut_kernel_bottleneck *v)
{
	ut_out_text(o, "{");
	for (size_t i = 0; i < v->evidence_count; i++) {
		const struct ut_kernel_fact_info *info = &ut_kernel_fact_info[v->evidence[i]];

		ut_out_fmt(o, "%s\"%s\":{\"value\":", i ? "," : "", info->key);
		ut_out_json_double(o, k->facts.value[v->evidence[i]]);
		if (info->unit[0])
			ut_out_fmt(o, ",\"unit\":\"%s\"", info->unit);
		ut_out_text(o, "}");
	}
	ut_out_text(o, "}");
}

static void put_more(struct ut_out *o, const struct ut_classified_kernel *k)
{
	ut_out_text(o, "[");
	for (size_t i = 1; i < k->bottleneck_count; i++) {
		const struct ut_kernel_bottleneck *v = &k->bottlenecks[i];

		if (i > 1)
			ut_out_text(o, ",");
		ut_out_fmt(o, "{\"verdict\":\"%s\",\"why\":", ut_kernel_rule_key(v->rule));
		ut_out_json_str(o, v->sentence, strlen(v->sentence));
		ut_out_text(o, ",\"evidence\":");
		put_evidence(o, k, v);
		ut_out_text(o, "}");
	}
	ut_out_text(o, "]");
}

static void kernel_table_put_parts(struct ut_out *o, const struct ut_kernel_groups *g,
				   const struct ut_kernel_group *group)
{
	ut_out_text(o, "[");
	for (uint32_t i = 0; i < group->count && i < MOST_KERNELS; i++) {
		const struct ut_kernel_share *s = &g->shares[group->first + i];
		const struct ut_classified_kernel *k = &g->kernels[s->kernel];

		if (i)
			ut_out_text(o, ",");
		kernel_table_put_text(o, "{name", k->facts.name.ptr, k->facts.name.len);
		ut_out_fmt(o, ",\"launches\":");
		ut_out_u64(o, s->launches);
		ut_out_fmt(o, ",\"total_ns\":");
		ut_out_u64(o, s->total);
		if (!isnan(k->blocks))
			kernel_table_put_number(o, "blocks", k->blocks);
		if (!isnan(k->threads))
			kernel_table_put_number(o, "threads", k->threads);
		ut_out_fmt(o, ",\"verdict\":\"%s\"", ut_kernel_rule_key(k->bottlenecks->rule));
		kernel_table_put_text(o, "why", k->bottlenecks->sentence,
				      strlen(k->bottlenecks->sentence));
		ut_out_text(o, "}");
	}
	ut_out_text(o, "]");
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The end of a name that says most: without namespaces in front and parameters behind. */
static struct ut_str kernel_table_short_name(struct ut_str s)
{
	static const char anonymous[] = "(anonymous namespace)::";
	const char *end = ut_str_find(s, "<"), *open, *at;

	while ((at = ut_str_find(s, anonymous)) && (!end || at < end))
		s = ut_str_from(s, at + strlen(anonymous));
	open = ut_str_find(s, "(");
	end = !end || (open && open < end) ? open : end;
	if (end && end > s.ptr)
		s.len = (size_t)(end - s.ptr);
	while ((at = ut_str_find(s, "::")) && at + 2 < s.ptr + s.len)
		s = ut_str_from(s, at + 2);
	return ut_str_has_start(s, "void ") ? ut_str_from(s, s.ptr + strlen("void ")) : s;
}

/* Of a group with other kernels beside, how much of its time the sentence is about. */
static void put_sentence(struct ut_buf *b, const struct ut_kernel_groups *g,
			 const struct ut_kernel_group *group)
{
	const struct ut_classified_kernel *k = &g->kernels[group->kernel];
	double part = group->total ? (double)group->rules[group->rule] / (double)group->total : 1;

	if (group->count > 1 && part < 0.995)
		ut_buf_fmt(b, "%.0f %%: ", 100 * part);
	ut_buf_text(b, k->bottlenecks->sentence);
	if (group->count > 1 && g->by != UT_BY_KERNEL) {
		struct ut_str name = kernel_table_short_name(k->facts.name);

		ut_buf_fmt(b, " (%.*s)", (int)(name.len < 60 ? name.len : 60), name.ptr);
	}
}

struct scratch {
	struct ut_out *evidence, *more, *parts;
	struct ut_buf sentence;
};

static struct ut_report_cell json_cell(struct ut_out *o)
{
	size_t len;
	const char *text = ut_out_data(o, &len);

	return (struct ut_report_cell){ .type = UT_CELL_JSON, .text = { text, len } };
}

static void kernel_table_put_row(struct ut_report *report, const struct ut_kernel_groups *g,
				 const struct ut_kernel_group *group, struct scratch *s)
{
	const struct ut_classified_kernel *k = &g->kernels[group->kernel];
	struct ut_report_cell cells[COLUMNS];

	ut_out_clear(s->evidence);
	ut_out_clear(s->more);
	ut_out_clear(s->parts);
	s->sentence.len = 0;
	put_evidence(s->evidence, k, k->bottlenecks);
	put_more(s->more, k);
	kernel_table_put_parts(s->parts, g, group);
	put_sentence(&s->sentence, g, group);
	cells[NAME] = ut_report_str(ut_strtab_get(&g->texts, group->name));
	cells[LAUNCHES] = ut_report_u64(group->launches);
	cells[TOTAL] = ut_report_u64(group->total);
	cells[SHARE] =
		ut_report_real(g->total ? 100.0 * (double)group->total / (double)g->total : 0);
	cells[LOST] = group->lost > 0 ? ut_report_u64((uint64_t)group->lost) : ut_report_none();
	cells[RULE] = ut_report_text(ut_kernel_rule_key(group->rule));
	cells[SENTENCE] = ut_report_str((struct ut_str){ s->sentence.data, s->sentence.len });
	cells[KERNEL] = ut_report_str(k->facts.name);
	cells[ADVICE] = ut_report_text(k->bottlenecks->advice);
	cells[EVIDENCE] = json_cell(s->evidence);
	cells[MORE] = json_cell(s->more);
	cells[PARTS] = json_cell(s->parts);
	ut_report_add(report, cells);
}

void ut_kernel_table_print(struct ut_out *out, const struct ut_kernel_groups *g,
			   const struct ut_report_opts *opts)
{
	static const char *const titles[] = {
#define BY_TITLE(name, word, title) title,
		UT_KERNEL_BY_LIST(BY_TITLE)
#undef BY_TITLE
	};
	struct ut_report_column own[COLUMNS];
	struct ut_report_table table = { .columns = own, .count = COLUMNS };
	struct scratch s = {
		ut_out_open_memory(), ut_out_open_memory(), ut_out_open_memory(), { 0 }
	};
	struct ut_report *report;

	memcpy(own, columns, sizeof(own));
	own[NAME].title = titles[g->by];
	report = ut_report_start(out, opts, &table);
	for (size_t i = 0; i < g->group_count; i++)
		kernel_table_put_row(report, g, &g->groups[i], &s);
	ut_report_finish(report);
	ut_out_abandon(s.evidence);
	ut_out_abandon(s.more);
	ut_out_abandon(s.parts);
	ut_buf_release(&s.sentence);
}
