/*
 * module.c - the viewer's answers (src/analysis/view) as a WebAssembly module, for a page with its
 * trace inside: web/src/inline/module.ts calls it. One view, one thread.
 *
 * Made of the program's own sources (cmake/wasm.cmake). What needs files or other programs is not
 * in it: those sheets are in the page, SQL needs the server.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"
#include "import/utr_read.h"
#include "model/store.h"
#include "model/utr_planes.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/attached.h"
#include "view/kernel_code.h"
#include "view/view.h"
#include "view/view_kernels.h"

#define EXPORT(name) __attribute__((export_name(#name)))

static struct ut_view *view;
static struct ut_out *answer;
static struct ut_err trouble;
static size_t traces;

/* ---- what only a server knows ---------------------------------------------------------------- */

void ut_view_attach_own(struct ut_view *v)
{
	(void)v;
}

struct ut_view_codes *ut_view_codes_new(void)
{
	return NULL;
}

void ut_view_codes_free(struct ut_view_codes *codes)
{
	(void)codes;
}

void ut_view_kernels_free(struct ut_view_kernels *k)
{
	(void)k;
}

static int needs_server(struct ut_err *err)
{
	return ut_err_set(err, -EINVAL, "this needs the server: unitrace view");
}

int ut_answer_sql(struct ut_view *v, const struct ut_ask *a, struct ut_out *out, struct ut_err *err)
{
	(void)v;
	(void)a;
	(void)out;
	return ut_err_set(err, -EINVAL, "SQL needs the server: unitrace view, or unitrace query");
}

int ut_answer_annotate(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		       struct ut_err *err)
{
	(void)v;
	(void)a;
	(void)out;
	return needs_server(err);
}

int ut_answer_stalls(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err)
{
	(void)v;
	(void)a;
	(void)out;
	return needs_server(err);
}

/* ---- what the page calls --------------------------------------------------------------------- */

/* Memory for a trace. The module has it until the page is closed. */
EXPORT(make_room) void *ut_module_room(size_t size)
{
	void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return room == MAP_FAILED ? NULL : room;
}

/* Memory for a text of size bytes and a NUL, which the page frees. */
EXPORT(make_text) void *ut_module_text(size_t size)
{
	return ut_make(size + 1);
}

EXPORT(free_text) void ut_module_free(void *text)
{
	free(text);
}

/* The bytes of a trace, in room; below 0: see why. */
EXPORT(add_trace) int ut_module_add(void *bytes, size_t size)
{
	struct ut_store store;
	int rc;

	view = view ? view : ut_view_new();
	ut_utr_join_rows(bytes, size);
	rc = ut_utr_open_memory("the trace of this page", bytes, size, &store, &trouble);
	if (!rc) {
		ut_view_add(view, "trace", &store);
		traces++;
	}
	return rc;
}

/* Tracks of the last trace that stand together. */
EXPORT(group_track) void ut_module_group(uint32_t track, const char *group)
{
	if (traces && track < ut_view_store(view, traces - 1)->trace.track_count)
		ut_view_group(view, traces - 1, track, group);
}

EXPORT(make_ready) void ut_module_ready(void)
{
	view = view ? view : ut_view_new();
	ut_view_ready(view, 1);
}

/* 0 = JSON, 1 = columns; below 0: see why. */
EXPORT(ask) int ut_module_ask(const char *method, const char *json, size_t len)
{
	enum ut_answer kind;
	int rc;

	ut_out_abandon(answer);
	answer = ut_out_open_memory();
	trouble = (struct ut_err){ 0 };
	rc = ut_view_ask(view, method, (struct ut_str){ json, len }, answer, &kind, &trouble);
	return rc ? rc : (int)kind;
}

EXPORT(answer_size) size_t ut_module_answer_size(void)
{
	size_t len;

	ut_out_data(answer, &len);
	return len;
}

EXPORT(answer) const char *ut_module_answer(void)
{
	size_t len;

	return ut_out_data(answer, &len);
}

/* A sentence. */
EXPORT(why) const char *ut_module_why(void)
{
	return trouble.text;
}
