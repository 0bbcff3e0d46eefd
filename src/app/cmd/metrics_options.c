#include "cmd/metrics_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "cmd/option_file.h"
#include "cmd/table_options.h"
#include "cmd/words.h"
#include "metrics/stall_report.h"

#define TOP 10u

const struct ut_opt *ut_metrics_options(struct ut_arena *a, struct ut_metrics_given *g)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_flag('l', "list", &g->list,
			    "list devices, metrics and kernels of the file, to -o if given"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &g->output,
					"where the charts go: .pdf, .svg, .png or .html"),
			     "<file>"),
		ut_opt_words(ut_opt_strs('f', "config", "FILE", &g->files,
					 "options from a file, written as on a command line; may "
					 "be repeated"),
			     "<file>"),
		ut_opt_hidden(ut_opt_flag(0, "result-dir", &g->is_folder,
					  "the input is a folder of --result-dir")),
		ut_opt_heading("What is looked at"),
		ut_opt_str('d', "device", "N", &g->device, "the device (0)"),
		ut_opt_str('k', "kernel", "NAME", &g->kernel,
			   "the kernel, as -l lists it (all of the device)"),
		ut_opt_str('i', "instance", "N", &g->instance,
			   "the nth instance of it, or of each kernel; 0: all of them (1)"),
		ut_opt_heading("Charts"),
		ut_opt_strs('m', "metrics", "NAME,...", &g->metrics,
			    "metrics of one chart; may be repeated"),
		ut_opt_strs('b', "bandwidth", "NAME,...", &g->throughputs,
			    "metrics whose throughput is shown, a second; may be repeated"),
		ut_opt_hidden(
			ut_opt_strs(0, "throughput", "NAME,...", &g->throughputs, "the same")),
		ut_opt_strs('y', "ylabel", "TEXT", &g->labels,
			    "label of the y axis, one for each -m (their unit)"),
		ut_opt_str('x', "xlabel", "TEXT", &g->x_label, "label of the x axis"),
		ut_opt_str('t', "title", "TEXT", &g->title, "title of the charts"),
		ut_opt_heading("Stalls"),
		ut_opt_words(ut_opt_str('s', "shaderdump", "DIR", &g->shaders,
					"the code of kernels: shader dumps of Intel's compiler, "
					"modules of NVIDIA's"),
			     "<dir>"),
		ut_opt_words(ut_opt_str('r', "report", "FILE", &g->report,
					"where the report of stalls goes (standard output)"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "annotate", "WHAT", &g->annotate,
					"list the kernel's source, assembly or both with the "
					"samples of each line, instead of the report"),
			     "source assembly both"),
		ut_opt_flag(
			'j', "json", &g->json,
			"print what was found of stalls as JSON: findings, lines, instructions"),
		ut_opt_flag(0, "csv", &g->csv, "print the listing of --annotate as CSV"),
		UT_TABLE_OPT_CSV_SAFE(g),
		ut_opt_str('n', "top", "N", &g->top,
			   "so many stalls of each kind are told; -1: all (10)"),
		ut_opt_hidden(ut_opt_str(0, "numtopstalls", "N", &g->top, "the same")),
		ut_opt_str('g', "demangle", "PROGRAM", &g->demangler,
			   "what turns a symbol into a name (our own)"),
		ut_opt_hidden(ut_opt_str(0, "demangler", "PROGRAM", &g->demangler, "the same")),
		ut_opt_heading("In a browser"),
		ut_opt_flag('q', "http", &g->http,
			    "serve what the links in a timeline point to, until Ctrl-C"),
		ut_opt_flag('p', "https", &g->https, "the same for timelines with https links"),
		ut_opt_range(
			ut_opt_u64(0, "port", "N", &g->port, "the port that the links name (8000)"),
			0, 65535),
		ut_opt_words(ut_opt_str('c', "certificate", "FILE", &g->cert,
					"certificate of -p (one made for this run)"),
			     "<file>"),
		ut_opt_words(ut_opt_str('e', "key", "FILE", &g->key, "its private key"), "<file>"),
		ut_opt_flag('h', "help", &g->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

void ut_metrics_given_release(struct ut_metrics_given *g)
{
	ut_opt_list_release(&g->metrics);
	ut_opt_list_release(&g->throughputs);
	ut_opt_list_release(&g->labels);
	ut_opt_list_release(&g->files);
}

/* ---- option files --------------------------------------------------------------------------- */

/* Those of the file come first, as they would if they were written before the others. */
static void metrics_options_join(struct ut_opt_list *list, const struct ut_opt_list *before)
{
	struct ut_opt_list all = { 0 };

	for (size_t i = 0; i < before->count; i++)
		ut_opt_list_add(&all, before->items[i]);
	for (size_t i = 0; i < list->count; i++)
		ut_opt_list_add(&all, list->items[i]);
	ut_opt_list_release(list);
	*list = all;
}

static void metrics_options_merge(struct ut_metrics_given *to, const struct ut_metrics_given *from)
{
	const char *const values[] = { from->device,  from->kernel,    from->instance, from->output,
				       from->title,   from->x_label,   from->shaders,  from->report,
				       from->top,     from->demangler, from->cert,     from->key,
				       from->annotate };
	const char **const places[] = { &to->device,  &to->kernel,    &to->instance, &to->output,
					&to->title,   &to->x_label,   &to->shaders,  &to->report,
					&to->top,     &to->demangler, &to->cert,     &to->key,
					&to->annotate };

	_Static_assert(sizeof(values) == sizeof(places), "one place for each value");
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (!*places[i])
			*places[i] = values[i];
	}
	metrics_options_join(&to->metrics, &from->metrics);
	metrics_options_join(&to->throughputs, &from->throughputs);
	metrics_options_join(&to->labels, &from->labels);
	to->list |= from->list;
	to->http |= from->http;
	to->https |= from->https;
	to->json |= from->json;
	to->csv |= from->csv;
	to->csv_safe |= from->csv_safe;
	to->port = to->port != UINT64_MAX ? to->port : from->port;
}

static int metrics_options_read_file(struct ut_metrics_given *g, struct ut_arena *a,
				     const char *path, struct ut_err *err)
{
	struct ut_metrics_given own = { .port = UINT64_MAX };
	struct ut_words words = { 0 }, rest = { 0 };
	struct ut_err why = { 0 };
	int rc = ut_option_file_read(&words, a, path, err);

	if (rc)
		return rc;
	rc = ut_words_parse(&rest, a, ut_metrics_options(a, &own), words.count, words.items, &why);
	if (rc)
		rc = ut_err_set(err, rc, "%s: %s", path, why.text);
	else if (rest.count)
		rc = ut_err_set(err, -EINVAL,
				"%s: '%s' is no option: the input file belongs on the command line",
				path, rest.items[0]);
	else if (own.files.count)
		rc = ut_err_set(err, -EINVAL, "%s: -f in an option file", path);
	else
		metrics_options_merge(g, &own);
	ut_metrics_given_release(&own);
	return rc;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* What is below least means all. */
static int metrics_options_number(const char *text, const char *option, long long least,
				  uint64_t all, uint64_t *to, struct ut_err *err)
{
	char *end;
	long long value;

	if (!text)
		return 0;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return ut_err_set(err, -EINVAL, "%s: '%s' is no number", option, text);
	*to = value < least ? all : (uint64_t)value;
	return 0;
}

/* ---- the plan ------------------------------------------------------------------------------- */

struct planning {
	struct ut_str *titles;
	size_t count;
	struct ut_metrics_set *sets;
	size_t set_count;
};

/* "A, B": blanks and line breaks around names do not count. */
static void add_set(struct planning *p, const char *names, const char *label, bool is_throughput)
{
	struct ut_metrics_set *set = &p->sets[p->set_count++];

	*set = (struct ut_metrics_set){ .first = p->count,
					.label = label,
					.is_throughput = is_throughput };
	for (const char *from = names; *from;) {
		size_t len = strcspn(from, ",");
		struct ut_str title = ut_str_trim((struct ut_str){ from, len });

		if (title.len)
			p->titles[p->count++] = title;
		from += len + (from[len] == ',');
	}
	set->count = p->count - set->first;
}

static size_t names_in(const struct ut_opt_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->count; i++) {
		n++;
		for (const char *p = list->items[i]; *p; p++)
			n += *p == ',';
	}
	return n;
}

static void make_plan(struct ut_metrics_opts *o, struct ut_arena *a)
{
	const struct ut_metrics_given *g = &o->given;
	struct planning p = { 0 };

	p.titles =
		UT_NEW_N(a, struct ut_str, names_in(&g->metrics) + names_in(&g->throughputs) + 1);
	p.sets = UT_NEW_N(a, struct ut_metrics_set, g->metrics.count + g->throughputs.count + 1);
	for (size_t i = 0; i < g->metrics.count; i++)
		add_set(&p, g->metrics.items[i], g->labels.count ? g->labels.items[i] : NULL,
			false);
	for (size_t i = 0; i < g->throughputs.count; i++)
		add_set(&p, g->throughputs.items[i], NULL, true);
	p.titles[p.count] = ut_str_of(UT_METRICS_TIME_TITLE);
	o->plan = (struct ut_metrics_plan){
		.title = g->title,
		.x_label = g->x_label,
		.titles = p.titles,
		.title_count = p.count + 1,
		.time = p.count,
		.sets = p.sets,
		.set_count = p.set_count,
	};
	o->want.titles = p.titles;
	o->want.count = o->plan.title_count;
	o->want.kernel = g->kernel ? ut_str_of(g->kernel) : (struct ut_str){ NULL, 0 };
}

/* What is listed, and whether that can be done. */
static int finalize_listing(struct ut_metrics_opts *o, struct ut_err *err)
{
	const struct ut_metrics_given *g = &o->given;
	bool both = g->annotate && !strcmp(g->annotate, "both");

	if (g->json && g->csv)
		return ut_err_set(err, -EINVAL, "--json and --csv exclude each other");
	if ((g->annotate || g->json || g->csv) && !g->shaders)
		return ut_err_set(err, -EINVAL, "%s needs the code of the kernel: -s",
				  g->annotate ? "--annotate"
				  : g->json   ? "--json"
					      : "--csv");
	if (!g->annotate)
		return g->csv ? ut_err_set(err, -EINVAL,
					   "--csv is for listings: --annotate source or assembly")
			      : 0;
	o->source = both || !strcmp(g->annotate, "source");
	o->assembly = both || !strcmp(g->annotate, "assembly");
	if (!o->source && !o->assembly)
		return ut_err_set(err, -EINVAL, "--annotate '%s': source, assembly or both",
				  g->annotate);
	if (both && g->csv)
		return ut_err_set(err, -EINVAL, "--csv: one listing at a time");
	return 0;
}

static int metrics_options_check(const struct ut_metrics_given *g, struct ut_err *err)
{
	if (g->http && g->https)
		return ut_err_set(err, -EINVAL,
				  "Options -p and -q cannot be used at the same time");
	if (g->labels.count && g->labels.count != g->metrics.count)
		return ut_err_set(err, -EINVAL,
				  "Number of metric sets does not match number of Y labels: %zu "
				  "of -m, %zu of -y",
				  g->metrics.count, g->labels.count);
	if (!g->cert != !g->key)
		return ut_err_set(err, -EINVAL, "-c and -e belong together");
	return 0;
}

int ut_metrics_options_finalize(struct ut_metrics_opts *o, struct ut_arena *a, struct ut_err *err)
{
	struct ut_metrics_given *g = &o->given;
	int rc = 0;

	o->want.instance = 1;
	o->top = TOP;
	for (size_t i = g->files.count; i-- > 0 && !rc;)
		rc = metrics_options_read_file(g, a, g->files.items[i], err);
	if (!rc)
		rc = metrics_options_check(g, err);
	if (!rc)
		rc = finalize_listing(o, err);
	if (!rc)
		rc = metrics_options_number(g->device, "-d", 0, 0, &o->want.device, err);
	if (!rc)
		rc = metrics_options_number(g->instance, "-i", 1, 0, &o->want.instance, err);
	if (!rc)
		rc = metrics_options_number(g->top, "-n", 0, UT_STALL_TOP_ALL, &o->top, err);
	if (!rc)
		make_plan(o, a);
	return rc;
}
