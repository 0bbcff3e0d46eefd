#include "view/annotated.h"

#include <string.h>

#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "sample/annotate.h"
#include "sample/hotspots.h"
#include "sample/prof.h"
#include "sample/whose.h"
#include "text/out.h"
#include "text/table_report.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/sample_stacks.h"
#include "view/view_parts.h"

#define MOST_FUNCTIONS 40u   /* of a one-file page */
#define LEAST_SELF     1.0   /* percent that a function has to take to be among them */
#define MOST_ROWS      4000u /* of one function */

/* ---- what may be read ----------------------------------------------------------------------- */

static const char *const sources[] = {
	".c",     ".cc",  ".cpp", ".cxx", ".c++", ".h",   ".hh",  ".hpp", ".hxx",  ".inc",
	".inl",   ".py",  ".pyx", ".pxi", ".pyi", ".f",   ".f77", ".f90", ".f95",  ".f03",
	".f08",   ".for", ".rs",  ".go",  ".s",   ".S",   ".asm", ".cu",  ".cuh",  ".cl",
	".m",     ".mm",  ".d",   ".js",  ".ts",  ".mjs", ".rb",  ".pl",  ".java", ".kt",
	".swift", ".zig", ".nim", ".jl",  ".tcc", ".ipp", ".txx", ".hs",  ".ml",
};

bool ut_is_source(struct ut_str path)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (ut_str_has_end(path, sources[i]))
			return true;
	}
	/* headers of C++'s library have no ending */
	return ut_str_has_start(path, "/usr/include/c++/");
}

static bool is_nothing(struct ut_str path)
{
	(void)path;
	return false;
}

/* ---- one function --------------------------------------------------------------------------- */

void ut_keep_note(void *ctx, enum ut_log_level level, const char *room, const char *text)
{
	struct ut_out *notes = ctx;
	size_t len;

	(void)level;
	(void)room;
	ut_out_data(notes, &len);
	ut_out_text(notes, len ? "," : "");
	ut_out_json_str(notes, text, strlen(text));
}

/* {"rows": [...], "notes": [...]} */
static void annotated_put_code(const struct ut_prof *p, const struct ut_annotate_opts *opts,
			       struct ut_out *out)
{
	const struct ut_report_opts report = { .format = UT_REPORT_JSON,
					       .limit = MOST_ROWS,
					       .open = "[",
					       .first = "",
					       .next = ",",
					       .close = "]" };
	struct ut_out *rows = ut_out_open_memory(), *notes = ut_out_open_memory();
	const struct ut_logger logger = { .line = ut_keep_note, .ctx = notes };
	struct ut_annotate_opts own = *opts;
	struct ut_err err = { 0 };
	size_t len;
	const char *text;

	own.logger = &logger;
	ut_out_text(out, "{\"rows\":");
	if (ut_annotate_print(rows, p, &own, &report, &err)) {
		ut_keep_note(notes, UT_WARN, NULL, err.text);
		ut_out_text(out, "[]");
	} else {
		text = ut_out_data(rows, &len);
		ut_out_write(out, text, len);
	}
	text = ut_out_data(notes, &len);
	ut_out_text(out, ",\"notes\":[");
	ut_out_write(out, text, len);
	ut_out_text(out, "]}");
	ut_out_abandon(rows);
	ut_out_abandon(notes);
}

int ut_answer_annotate(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		       struct ut_err *err)
{
	struct ut_stacks_scope scope = { .view = v, .ask = a };
	struct ut_prof_opts opts = { .event = a->event.len ? a->event.ptr : NULL,
				     .addresses = true };
	const bool assembly = v->code && ut_ask_is(a->kind, "assembly");
	struct ut_annotate_opts what = {
		.function = a->name.ptr ? a->name.ptr : "",
		.module = a->module.ptr ? a->module.ptr : "",
		.source = !assembly,
		.assembly = assembly,
		.context = true,
		.readable = v->code ? ut_is_source : is_nothing,
	};
	struct ut_prof p;

	(void)err;
	ut_view_profile(&p, &opts, &scope);
	annotated_put_code(&p, &what, out);
	ut_prof_release(&p);
	return 0;
}

/* ---- those of a page ------------------------------------------------------------------------ */

/* Of the program's own both; libraries may be huge, and their instructions are of little use. */
static void put_function(const struct ut_prof *p, const struct ut_prof_frame *f, struct ut_out *out)
{
	static const char none[] =
		"{\"rows\":[],\"notes\":[\"this page holds instructions of the program itself "
		"only: unitrace view shows all\"]}";
	struct ut_str name = ut_prof_text(p, f->function), module = ut_prof_text(p, f->module);
	struct ut_annotate_opts what = { .function = name.ptr,
					 .module = module.ptr,
					 .source = true,
					 .context = true,
					 .readable = ut_is_source };

	ut_out_text(out, "{\"function\":");
	ut_out_json_str(out, name.ptr, name.len);
	ut_out_text(out, ",\"module\":");
	ut_out_json_str(out, module.ptr, module.len);
	ut_out_text(out, ",\"source\":");
	annotated_put_code(p, &what, out);
	ut_out_text(out, ",\"assembly\":");
	if (ut_prof_owner(p, f) == UT_OWNER_PROGRAM) {
		what.source = false;
		what.assembly = true;
		annotated_put_code(p, &what, out);
	} else {
		ut_out_text(out, none);
	}
	ut_out_text(out, "}");
}

static bool is_worth(const struct ut_prof *p, const struct ut_hot_row *r)
{
	double self = 100.0 * (double)r->self, total = 100.0 * (double)r->total;
	double least = LEAST_SELF * (double)p->weight;

	return r->frame.function &&
	       (self >= least ||
		(ut_prof_owner(p, &r->frame) == UT_OWNER_PROGRAM && total >= least));
}

static void put_functions(const struct ut_prof *p, struct ut_out *out)
{
	struct ut_hotspots h;
	size_t count = 0;

	ut_hotspots_init(&h, p, UT_HOT_BY_FUNCTION);
	for (size_t i = 0; i < h.count && count < MOST_FUNCTIONS; i++) {
		if (!is_worth(p, &h.rows[i]))
			continue;
		ut_out_text(out, count++ ? "," : "");
		put_function(p, &h.rows[i].frame, out);
	}
	ut_hotspots_release(&h);
}

void ut_make_code_sheet(struct ut_view *v, struct ut_out *out)
{
	struct ut_stacks_scope scope = { .view = v };
	struct ut_prof_opts opts = { .addresses = true };
	struct ut_prof p;

	ut_out_text(out, "{\"functions\":[");
	if (v->code) {
		ut_view_profile(&p, &opts, &scope);
		put_functions(&p, out);
		ut_prof_release(&p);
	}
	ut_out_text(out, "]}");
}
