/*
 * cmd_view.c - `unitrace view`: looks at traces in a browser.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "cmd/command_line.h"
#include "cmd/metrics_options.h"
#include "cmd/metrics_serve.h"
#include "cmd/running.h"
#include "cmd/view_save.h"
#include "cmd/view_serve.h"
#include "cmd/view_show.h"
#include "cmd/words.h"
#include "import/inputs.h"

/* Metrics of the kernels of the trace, which their links point to. */
struct view_opts {
	struct ut_view_opts view;
	struct ut_opt_list traces;
	const char *metrics;
	struct ut_metrics_given given;
};

static const struct ut_opt *cmd_view_make_table(struct ut_arena *a, struct view_opts *opts)
{
	struct ut_view_opts *o = &opts->view;
	struct ut_metrics_given *g = &opts->given;
	const struct ut_opt table[] = {
		ut_opt_heading("Options"),
		ut_opt_range(ut_opt_u64('p', "port", "N", &o->port,
					"listen on this port (one that is free)"),
			     0, 65535),
		ut_opt_flag(0, "no-browser", &o->no_browser,
			    "only print the address, do not open a browser"),
		ut_opt_words(ut_opt_str(0, "compare", "BEFORE", &o->compare,
					"the run to compare with: a trace, a directory or a quoted "
					"pattern"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "save", "FILE.html", &o->save,
					"write the viewer and the traces into one file instead, "
					"which any browser opens"),
			     "<file>"),
		ut_opt_flag(0, "once", &o->once, "end when the last page is closed"),
		ut_opt_range(ut_opt_u64(0, "threads", "N", &o->threads,
					"threads that read and search (one per core)"),
			     1, 256),
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_heading("Metrics of its kernels (see unitrace metrics)"),
		ut_opt_words(ut_opt_str('m', "metrics", "FILE", &opts->metrics,
					"serve these, too, at the links that kernels have"),
			     "<file>"),
		ut_opt_words(ut_opt_strs('f', "config", "FILE", &g->files,
					 "options of metrics: which ones (all of them)"),
			     "<file>"),
		ut_opt_words(ut_opt_str('s', "shaderdump", "DIR", &g->shaders,
					"the code of kernels, for the report of stalls"),
			     "<dir>"),
		ut_opt_str('n', "top", "N", &g->top,
			   "so many stalls of each kind are told; -1: all (10)"),
		ut_opt_str('g', "demangle", "PROGRAM", &g->demangler,
			   "what turns a symbol into a name (our own)"),
		ut_opt_range(ut_opt_u64(0, "metrics-port", "N", &g->port,
					"the port that the links name (8000)"),
			     0, 65535),
		ut_opt_hidden(ut_opt_strs('t', "trace", "FILE", &opts->traces, "a trace")),
		ut_opt_hidden(ut_opt_range(
			ut_opt_u64(0, "socket-fd", "N", &o->socket,
				   "for unitrace serve: listen on this descriptor until standard "
				   "input ends"),
			3, 1000)),
		ut_opt_hidden(ut_opt_flag(0, "show-code", &o->code,
					  "for unitrace serve: source and code may be shown")),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int view(const struct ut_view_opts *o, const struct ut_words *words, struct ut_err *err)
{
	struct ut_inputs inputs = { 0 }, before = { 0 };
	struct ut_view_opts opts = *o;
	int rc = ut_inputs_find(&inputs, words->count, words->items, ut_log_stderr(), err);

	if (!rc && o->compare) {
		rc = ut_inputs_find(&before, 1, &o->compare, ut_log_stderr(), err);
		opts.before = &before;
	}
	if (!rc)
		rc = o->save ? ut_view_save(&opts, &inputs, err)
			     : ut_view_serve(&opts, &(struct ut_view_what){ .inputs = &inputs },
					     err);
	ut_inputs_release(&before);
	ut_inputs_release(&inputs);
	if (rc > 0) /* has been told already */
		return UT_EXIT_FAILED;
	return rc ? ut_cmd_fail(&ut_cmd_view, err) : UT_EXIT_OK;
}

/* A recording that is under way: named by its directory or its name, or the one here. */
static const char *find_live(struct ut_arena *a, const struct ut_words *words)
{
	const char *word = words->count == 1 ? words->items[0] : NULL, *dir = NULL;

	if (word && ut_path_exists(word))
		return ut_path_is_dir(word) && ut_show_is_live(word) ? word : NULL;
	if (!words->count || (word && strcmp(word, "-") != 0))
		dir = ut_running_find(a, word);
	if (dir && !word)
		ut_log(UT_INFO, "no trace given: taking the recording that is under way, %s", dir);
	return dir;
}

static int view_live(const struct ut_view_opts *o, const char *session, struct ut_err *err)
{
	const struct ut_view_what what = { .session = session };
	int rc = o->save ? ut_err_set(err, -EBUSY,
				      "%s: is still being recorded; --save it when that is over",
				      session)
			 : ut_view_serve(o, &what, err);

	return rc ? ut_cmd_fail(&ut_cmd_view, err) : UT_EXIT_OK;
}

/* uniview names the trace by -t. */
static void add_traces(struct ut_words *words, struct ut_arena *a, const struct ut_opt_list *traces)
{
	const char **items;

	if (!traces->count)
		return;
	items = UT_NEW_N(a, const char *, (size_t)words->count + traces->count);
	for (int i = 0; i < words->count; i++)
		items[i] = words->items[i];
	for (size_t i = 0; i < traces->count; i++)
		items[words->count++] = traces->items[i];
	words->items = items;
}

static int start_metrics(struct ut_metrics_browser **browser, struct ut_metrics_opts *m,
			 const struct view_opts *o, struct ut_command_line *line)
{
	int rc;

	if (!o->metrics)
		return 0;
	*m = (struct ut_metrics_opts){ .given = o->given, .input = o->metrics };
	for (int i = 0; i < line->words.count && !m->given.https; i++)
		m->given.https = ut_metrics_links_are_https(line->words.items[i]);
	rc = ut_metrics_options_finalize(m, &line->arena, &line->err);
	return rc ? rc : ut_metrics_browser_start(browser, m, &line->err);
}

static int cmd_view_show(struct view_opts *o, struct ut_command_line *line)
{
	const char *live = find_live(&line->arena, &line->words);

	if (live)
		return view_live(&o->view, live, &line->err);
	return ut_command_line_last(line) ? view(&o->view, &line->words, &line->err) : line->status;
}

static int cmd_view(int argc, const char *const *argv)
{
	struct view_opts opts = { .given = { .port = UINT64_MAX } };
	struct ut_metrics_browser *browser = NULL;
	struct ut_command_line line = { 0 };
	struct ut_metrics_opts metrics = { 0 };

	if (ut_command_line_parse(&line, &ut_cmd_view, cmd_view_make_table(&line.arena, &opts),
				  &opts.view.help, argc, argv)) {
		add_traces(&line.words, &line.arena, &opts.traces);
		if (start_metrics(&browser, &metrics, &opts, &line))
			line.status = ut_cmd_fail(&ut_cmd_view, &line.err);
		else
			line.status = cmd_view_show(&opts, &line);
	}
	ut_metrics_browser_stop(browser);
	ut_metrics_given_release(metrics.input ? &metrics.given : &opts.given);
	ut_opt_list_release(&opts.traces);
	return ut_command_line_end(&line);
}

static const struct ut_opt *view_options(struct ut_arena *a)
{
	return cmd_view_make_table(a, UT_NEW(a, struct view_opts));
}

const struct ut_cmd ut_cmd_view = {
	.name = "view",
	.usage = "[OPTIONS] [TRACE|DIRECTORY|PATTERN...]",
	.takes_last = true,
	.summary = "look at traces in a browser: timeline, tables, flame graphs, SQL",
	.description =
		"Opens traces in a browser: a timeline of ranks, processes, threads, devices and\n"
		"counters, with search, tables of any area, flame graphs and SQL. Several traces\n"
		"are shown together, on one clock. Nothing leaves this machine: the server\n"
		"listens on 127.0.0.1 only, and the address it prints works once. From afar, ssh\n"
		"-L 8080:localhost:8080 HOST and --port 8080 bring it to the browser at home.\n"
		"Large files are shown while they are read. A recording that is under way, named\n"
		"by its session directory or by its --session NAME, is shown as it grows, and\n"
		"without a name the one that runs here. The recorded program does not notice.\n"
		"Notes that are made in the page are kept beside the first trace, in a file\n"
		"called as that with .notes.json behind it. With -m the metrics of kernels are\n"
		"served as well: their links in the timeline work until the viewer ends.",
	.examples = "  look at a trace:\n"
		    "    unitrace view app.json\n"
		    "  all ranks together:\n"
		    "    unitrace view ranks/\n"
		    "  as one file, to send to somebody:\n"
		    "    unitrace view --save run.html app.json\n"
		    "  while it runs, from another terminal:\n"
		    "    unitrace view\n"
		    "  what has changed since, name by name, as unitrace diff has it:\n"
		    "    unitrace view --compare before.json after.json\n"
		    "  on a server far away, reached with ssh -L 8080:localhost:8080:\n"
		    "    unitrace view --port 8080 --no-browser app.utr\n",
	.options = view_options,
	.run = cmd_view,
};
