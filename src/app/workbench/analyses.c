#include "workbench/analyses.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "text/json_doc.h"
#include "text/json_write.h"
#include "workbench/data_dir.h"
#include "workbench/folder.h"

#define FOLDER    "analyses"
#define HELP_MOST 2000
#define CUSTOM    "Custom"
#define CPU_STACKS                                                                                 \
	{ "sampling", "1000", true },                                                              \
	{                                                                                          \
		"call-graph", "dwarf", false                                                       \
	}

/* open: what people change from run to run. The rest takes a clone. */
static const struct ut_analysis ours[] = {
	{ .id = "snapshot",
	  .group = "Start here",
	  .title = "Snapshot",
	  .help = "A first look at anything: where the CPU time goes, what devices do and how "
		  "often they wait. "
		  "Cheap enough for a whole run.",
	  .values = { { "sampling", "200", true },
		      { "call-graph", "dwarf", false },
		      { "kernels", "1", false } },
	  .count = 3 },
	{ .id = "itt",
	  .group = "CPU",
	  .title = "ITT timeline",
	  .help = "Tasks, frames, counters and marks of the program and its libraries (PyTorch, "
		  "oneDNN, oneTBB, "
		  "OpenMP) on their threads.",
	  .values = { { "domains", "", true },
		      { "exclude-domains", "", true },
		      { "groups", "", false } },
	  .count = 3 },
	{ .id = "hotspots",
	  .group = "CPU",
	  .title = "Hotspots",
	  .help = "What the program spends its CPU time on: functions, lines, call trees, down to "
		  "Python, beside "
		  "the ITT timeline.",
	  .values = { CPU_STACKS, { "python", "", false } },
	  .count = 3 },
	{ .id = "threads",
	  .group = "CPU",
	  .title = "Threads",
	  .help = "How busy each thread is, which wait and for what: load balance, locks that "
		  "libraries tell of.",
	  .values = { CPU_STACKS, { "groups", "sync", false } },
	  .count = 3 },
	{ .id = "memory",
	  .group = "CPU",
	  .title = "Memory",
	  .help = "How much memory the program had when, whose it was at its peak, and what was "
		  "never "
		  "freed.",
	  .values = { { "memory", "1", false },
		      { "memory-each", "", true },
		      { "python", "", false } },
	  .count = 3 },
	{ .id = "gpu-offload",
	  .group = "GPU",
	  .title = "GPU offload",
	  .help = "Is the device busy, and if not, why: kernels and copies, the calls that submit "
		  "them, the task "
		  "and the line they come from, how long the device waited for the host.",
	  .values = { { "kernels", "1", false },
		      { "sampling", "1000", true },
		      { "call-graph", "dwarf", false },
		      { "calls", "", false },
		      { "devices", "", true },
		      { "unified-memory", "", false },
		      { "python", "", false } },
	  .count = 7 },
	{ .id = "gpu-hotspots",
	  .group = "GPU",
	  .title = "GPU compute hotspots",
	  .help = "Which kernels are slow and why: times, launch geometry, hardware metrics of "
		  "each kernel, the "
		  "memory hierarchy, what bounds it.",
	  .values = { { "kernels", "1", false },
		      { "metric-query", "1", false },
		      { "group", "Memory", true },
		      { "include-kernels", "", true },
		      { "instances", "1-3", true },
		      { "devices", "", true },
		      { "exclude-kernels", "", false },
		      { "calls", "", false },
		      { "python", "", false } },
	  .count = 9 },
	{ .id = "gpu-metrics",
	  .group = "GPU",
	  .title = "GPU metrics over time",
	  .help = "Hardware counters of the device along the timeline, while the program runs as "
		  "it would.",
	  .values = { { "kernels", "1", false },
		      { "metric-sampling", "1", false },
		      { "group", "ComputeBasic", true },
		      { "interval", "100", true },
		      { "devices", "", true } },
	  .count = 5 },
	{ .id = "stalls",
	  .group = "GPU",
	  .title = "Stall analysis",
	  .help = "Which instructions of a kernel wait, and for what: samples per line and per "
		  "instruction.",
	  .values = { { "kernels", "1", false },
		      { "stalls", "1", false },
		      { "include-kernels", "", true },
		      { "interval", "", true },
		      { "devices", "", true } },
	  .count = 5 },
	{ .id = "roofline",
	  .group = "GPU",
	  .title = "Roofline",
	  .help = "How near each kernel is to what the device can do, by its arithmetic intensity.",
	  .values = { { "kernels", "1", false },
		      { "metric-query", "1", false },
		      { "group", "Roofline", false },
		      { "include-kernels", "", true },
		      { "instances", "1-3", true },
		      { "devices", "", true } },
	  .count = 6 },
	{ .id = "mpi",
	  .group = "Jobs",
	  .title = "MPI ranks",
	  .help = "Who waits for whom, how long and in which of its tasks; what is sent where. "
		  "Start it with the "
		  "MPI launcher's line.",
	  .values = { { "mpi", "1", false }, { "kernels", "", true }, { "ccl", "", false } },
	  .count = 3 },
	{ .id = "python",
	  .group = "Jobs",
	  .title = "Python",
	  .help = "Every Python function on the timeline, with the ops and kernels that it leads "
		  "to.",
	  .values = { { "python", "1", false },
		      { "python-modules", "", true },
		      { "python-min-duration", "", true },
		      { "python-c-calls", "", false },
		      { "kernels", "1", true } },
	  .count = 5 },
};

#define OURS (sizeof(ours) / sizeof(ours[0]))

static const struct ut_analysis *find_ours(const char *id)
{
	for (size_t i = 0; i < OURS; i++) {
		if (!strcmp(ours[i].id, id))
			return &ours[i];
	}
	return NULL;
}

unsigned int ut_analysis_level(const struct ut_analysis *a)
{
	unsigned int level = 1;

	for (size_t i = 0; i < a->count; i++) {
		const struct ut_run_option *o = ut_run_option_find(a->values[i].key);

		if (o && a->values[i].value[0] && o->level > level)
			level = o->level;
	}
	return level;
}

/* ---- clones --------------------------------------------------------------------------------- */

/* What JSON has for an option, as our text: true is "1", 100 is "100". */
static const char *value_text(struct ut_arena *a, const struct ut_doc *t)
{
	if (t->kind == UT_DOC_FLAG)
		return t->flag ? "1" : "";
	if (t->kind == UT_DOC_NUMBER)
		return ut_str_fmt(a, "%.0f", t->number);
	return ut_doc_own_text(t);
}

bool ut_analysis_is_of_device(const struct ut_analysis *a)
{
	const struct ut_analysis *base = a->base ? find_ours(a->base) : a;

	return base && !strcmp(base->group, "GPU");
}

/* Every option of the base, and those that the clone adds, all open. */
static int read_clone(struct ut_arena *a, const struct ut_doc *t, struct ut_analysis *to,
		      struct ut_err *err)
{
	const char *title = ut_doc_text(t, "title"), *base_id = ut_doc_text(t, "base");
	const char *help = ut_doc_text(t, "help");
	const struct ut_analysis *base = base_id ? find_ours(base_id) : NULL;
	const struct ut_doc *options = ut_doc_get(t, "options");

	if (!title || !ut_folder_name_fits(title))
		return ut_err_set(err, -EINVAL,
				  "an analysis needs a title that can be the name of a file");
	if (!base)
		return ut_err_set(err, -EINVAL, "\"base\" is none of our analyses");
	if (find_ours(title))
		return ut_err_set(err, -EEXIST, "'%s' is the name of one of ours", title);
	if (help && strlen(help) > HELP_MOST)
		return ut_err_set(err, -E2BIG, "its explanation is too long");
	*to = (struct ut_analysis){ .id = title,
				    .group = CUSTOM,
				    .title = title,
				    .help = help ? help : base->help,
				    .base = base->id };
	for (const struct ut_doc *m = options && options->kind == UT_DOC_OBJECT ? options->first
										: NULL;
	     m; m = m->next) {
		const struct ut_run_option *o = ut_run_option_find(m->key.ptr);
		const char *value = value_text(a, m);
		int rc;

		if (!o || !value || to->count == UT_ANALYSIS_VALUES)
			return ut_err_set(err, -EINVAL, "'%.60s' is no option, or has no value",
					  m->key.ptr);
		rc = ut_run_option_check(o, value, err);
		if (rc)
			return rc;
		to->values[to->count++] = (struct ut_analysis_value){ o->key, value, true };
	}
	return 0;
}

static int open_folder(const struct ut_data_dir *s, struct ut_err *err)
{
	return ut_folder_open(s->own, FOLDER, true, err);
}

static int load_clone(int at, struct ut_arena *a, const char *name, struct ut_analysis *to)
{
	const struct ut_doc *t;
	int rc = ut_folder_read_doc(at, name, UT_SMALL_FILE, a, &t, NULL);

	return rc ? rc : read_clone(a, t, to, NULL);
}

static const char *analyses_file_of(struct ut_arena *a, const char *title)
{
	return ut_str_fmt(a, "%s.json", title);
}

const struct ut_analysis *ut_analysis_find(const struct ut_data_dir *s, struct ut_arena *a,
					   const char *id)
{
	const struct ut_analysis *found = find_ours(id);
	struct ut_analysis *clone;
	int at;

	if (found || !ut_folder_name_fits(id))
		return found;
	at = open_folder(s, NULL);
	if (at < 0)
		return NULL;
	clone = UT_NEW(a, struct ut_analysis);
	if (load_clone(at, a, analyses_file_of(a, id), clone))
		clone = NULL;
	close(at);
	return clone;
}

int ut_analyses_save(const struct ut_data_dir *s, const struct ut_doc *t, bool replace,
		     struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	struct ut_analysis clone;
	int rc = read_clone(&arena, t, &clone, err), at = rc ? rc : open_folder(s, err);

	if (at < 0)
		rc = at;
	if (!rc && !replace && ut_analysis_find(s, &arena, clone.title))
		rc = ut_err_set(err, -EEXIST, "there is a '%s' already", clone.title);
	if (!rc) {
		ut_write_doc(&w, NULL, t);
		ut_buf_char(&text, '\n');
		rc = ut_folder_write(at, analyses_file_of(&arena, clone.title),
				     (struct ut_str){ text.data, text.len }, err);
	}
	if (at >= 0)
		close(at);
	ut_buf_release(&text);
	ut_arena_release(&arena);
	return rc;
}

int ut_analyses_remove(const struct ut_data_dir *s, const char *title, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	const struct ut_analysis *found = ut_analysis_find(s, &arena, title);
	int rc, at;

	if (!found)
		rc = ut_err_set(err, -ENOENT, "there is no analysis '%.120s'", title);
	else if (!found->base)
		rc = ut_err_set(err, -EPERM, "'%s' is one of ours, and stays", title);
	else
		rc = 0;
	at = rc ? -1 : open_folder(s, err);
	if (!rc)
		rc = at < 0 ? at : ut_folder_remove(at, analyses_file_of(&arena, title), err);
	if (at >= 0)
		close(at);
	ut_arena_release(&arena);
	return rc;
}

/* ---- telling -------------------------------------------------------------------------------- */

static void write_option(struct ut_json_writer *w, const struct ut_run_option *o)
{
	static const char *const kinds[] = { "flag", "choice", "number", "text" };

	ut_write_open(w, NULL, '{');
	ut_write_text(w, "key", o->key);
	ut_write_text(w, "title", o->title);
	ut_write_text(w, "help", o->help);
	ut_write_text(w, "cost", o->cost ? o->cost : "");
	ut_write_text(w, "kind", kinds[o->kind]);
	ut_write_text(w, "words", o->words);
	ut_write_u64(w, "level", o->level);
	ut_write_flag(w, "attach", o->attach);
	if (o->with)
		ut_write_text(w, "with", o->with);
	if (o->kind == UT_OPTION_NUMBER) {
		ut_write_text(w, "unit", o->unit);
		ut_write_double(w, "low", o->low);
		ut_write_double(w, "high", o->high);
	}
	if (o->kind == UT_OPTION_CHOICE) {
		ut_write_open(w, "choices", '[');
		for (const char *p = o->choices; *p; p += strcspn(p, " "), p += *p == ' ')
			ut_write_bytes(w, NULL, p, strcspn(p, " "));
		ut_write_close(w, ']');
	}
	ut_write_close(w, '}');
}

static void write_analysis(struct ut_json_writer *w, const struct ut_analysis *a)
{
	ut_write_open(w, NULL, '{');
	ut_write_text(w, "id", a->id);
	ut_write_text(w, "group", a->group);
	ut_write_text(w, "title", a->title);
	ut_write_text(w, "help", a->help);
	ut_write_u64(w, "level", ut_analysis_level(a));
	if (a->base)
		ut_write_text(w, "base", a->base);
	ut_write_open(w, "options", '[');
	for (size_t i = 0; i < a->count; i++) {
		ut_write_open(w, NULL, '{');
		ut_write_text(w, "key", a->values[i].key);
		ut_write_text(w, "value", a->values[i].value);
		ut_write_flag(w, "open", a->values[i].open);
		ut_write_close(w, '}');
	}
	ut_write_close(w, ']');
	ut_write_close(w, '}');
}

static bool write_clone(void *ctx, int at, const char *name, unsigned char type)
{
	struct ut_arena arena = { 0 };
	struct ut_analysis clone;

	(void)type;
	if (ut_str_ends(name, ".json") && !load_clone(at, &arena, name, &clone))
		write_analysis(ctx, &clone);
	ut_arena_release(&arena);
	return true;
}

int ut_analyses_write(const struct ut_data_dir *s, struct ut_json_writer *w, struct ut_err *err)
{
	int at = open_folder(s, err), rc;

	if (at < 0)
		return at;
	ut_write_open(w, NULL, '{');
	ut_write_open(w, "options", '[');
	for (size_t i = 0; i < ut_run_option_count; i++)
		write_option(w, &ut_run_options[i]);
	ut_write_close(w, ']');
	ut_write_open(w, "analyses", '[');
	for (size_t i = 0; i < OURS; i++)
		write_analysis(w, &ours[i]);
	rc = ut_folder_each(at, write_clone, w, err);
	ut_write_close(w, ']');
	ut_write_close(w, '}');
	close(at);
	return rc;
}
