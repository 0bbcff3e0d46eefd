/*
 * view_serve.h - the server of the viewer's page: for `unitrace view`, which says how far the
 * traces have been read until they are there, and for tools that have made a view with sheets of
 * theirs.
 */
#ifndef UT_CMD_VIEW_SERVE_H
#define UT_CMD_VIEW_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "import/inputs.h"

struct ut_view_opts {
	uint64_t port, threads;
	uint64_t socket;     /* listen there, for the server that has started us; 0 = on a port */
	const char *save;    /* one-file page; NULL = serve */
	const char *compare; /* word of the run to compare with; NULL = none */
	const struct ut_inputs *before; /* its traces */
	bool code; /* with socket: source and machine code may be shown; else they always are */
	bool no_browser, once, overwrite, help;
};

/* What is looked at: files, or a session that is still being recorded. */
struct ut_view_what {
	const struct ut_inputs *inputs; /* NULL = the session */
	const char *session;            /* its directory */
	bool is_ours; /* our own launcher records it: Ctrl-C is the program's until that has ended
		       */
	int launcher; /* its socket (record_view.h); 0 = none */
};

/* Serves until Ctrl-C, or until the last page is gone if that is asked for. 1: some of it could not
 * be read, which the user has been told. */
int ut_view_serve(const struct ut_view_opts *o, const struct ut_view_what *what,
		  struct ut_err *err) UT_MUST_CHECK;

struct ut_view;

/* A file beside the page. */
struct ut_view_file {
	const char *path;    /* behind the slash: "download" */
	const char *title;   /* what the page calls it; NULL = it is not listed there */
	const char *file;    /* where it lies */
	const char *type;    /* Content-Type */
	const char *save_as; /* the name offered for it; NULL = it is shown */
};

struct ut_view_offer {
	const char *name; /* what the line that says the address begins with */
	uint16_t port;
	const struct ut_view_file *files;
	size_t file_count;
	/* Makes everything anew when the page asks for it, with a fresh view that is ready; NULL =
	 * it cannot be asked. On failure *view is not set, and the page shows why. */
	int (*again)(void *ctx, struct ut_view **view, struct ut_err *err);
	void *ctx;
};

/*
 * Serves a view that is ready, which is taken over in any case, until Ctrl-C. As the reports of
 * these tools always were, it is there for every program of this machine, without a token.
 */
int ut_view_offer(const struct ut_view_offer *o, struct ut_view *view,
		  struct ut_err *err) UT_MUST_CHECK;

#endif
