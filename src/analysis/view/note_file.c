/*
 * note_file.c - notes of whoever looks, kept beside the trace in a small JSON file.
 *
 * The file is a list of {"id", "t0", "t1", "text"} and is written whole or not at all. Without a
 * place for it, and where it cannot be written, that is said and nothing is kept.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/view_parts.h"

#define NOTES_MOST 10000u
#define FILE_MOST  (16u << 20)
#define TEXT_MOST  65536u

struct note {
	struct ut_str id, text;
	double t0, t1;
};

struct notes {
	struct ut_arena arena;
	struct note *items;
	size_t count, cap;
};

/* ---- reading -------------------------------------------------------------------------------- */

/* One object, read as if it came from the page. */
static void add_note(struct notes *n, struct ut_str object)
{
	struct ut_buf text = { 0 };
	struct ut_ask ask;

	ut_buf_text(&text, "{\"note\":");
	ut_buf_add(&text, object.ptr, object.len);
	ut_buf_text(&text, "}");
	if (!ut_ask_read(&ask, text.data, text.len, NULL)) {
		n->items = ut_grow(n->items, n->count + 1, &n->cap, sizeof(*n->items));
		n->items[n->count++] = (struct note){
			{ ut_arena_copy(&n->arena, ask.note.id.len ? ask.note.id.ptr : "",
					ask.note.id.len),
			  ask.note.id.len },
			{ ut_arena_copy(&n->arena, ask.note.text.len ? ask.note.text.ptr : "",
					ask.note.text.len),
			  ask.note.text.len },
			ask.note.t0,
			ask.note.t1,
		};
		ut_ask_release(&ask);
	}
	ut_buf_release(&text);
}

/* A file that is not there has no notes; one that is damaged is not written over. */
static int read_notes(const char *path, struct notes *n, struct ut_err *err)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t len;
	struct ut_json j;
	bool whole;

	if (!f)
		return errno == ENOENT ? 0
				       : ut_err_set(err, -EINVAL, "%s: %s", path, strerror(errno));
	text = ut_make(FILE_MOST + 1);
	len = fread(text, 1, FILE_MOST + 1, f);
	fclose(f);
	ut_json_init_text(&j, text, len <= FILE_MOST ? len : 0);
	whole = ut_json_peek(&j) == '[';
	if (whole) {
		ut_json_enter(&j);
		while (ut_json_element(&j)) {
			struct ut_str object;

			if (!ut_json_skip(&j, &object))
				break;
			add_note(n, object);
		}
		whole = j.trouble == UT_JSON_NONE;
	}
	ut_json_release(&j);
	free(text);
	if (!whole)
		return ut_err_set(err, -EINVAL, "%s: these are no notes of unitrace", path);
	return 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void put_notes(const struct notes *n, const char *end, struct ut_out *out)
{
	ut_out_text(out, "[");
	for (size_t i = 0; i < n->count; i++) {
		const struct note *note = &n->items[i];

		ut_out_text(out, i ? "," : "");
		ut_out_text(out, end[0] ? "\n{\"id\":" : "{\"id\":");
		ut_out_json_str(out, note->id.ptr, note->id.len);
		ut_out_text(out, ",\"t0\":");
		ut_out_json_double(out, note->t0);
		ut_out_text(out, ",\"t1\":");
		ut_out_json_double(out, note->t1);
		ut_out_text(out, ",\"text\":");
		ut_out_json_str(out, note->text.ptr, note->text.len);
		ut_out_text(out, "}");
	}
	ut_out_text(out, end);
	ut_out_text(out, "]");
	ut_out_text(out, end);
}

static int write_notes(const char *path, const struct notes *n, struct ut_err *err)
{
	struct ut_out *file = ut_out_open(path, UT_OUT_OVERWRITE | UT_OUT_RENEW);

	put_notes(n, "\n", file);
	return ut_out_commit(file, err) ? -EINVAL : 0;
}

static void note_file_forget(struct notes *n, struct ut_str id)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->count; i++) {
		if (n->items[i].id.len != id.len ||
		    (id.len && memcmp(n->items[i].id.ptr, id.ptr, id.len) != 0))
			n->items[kept++] = n->items[i];
	}
	n->count = kept;
}

static int change(struct notes *n, const struct ut_ask *a, struct ut_err *err)
{
	if (a->note.text.len > TEXT_MOST || a->note.id.len > 256 || !isfinite(a->note.t0) ||
	    !isfinite(a->note.t1))
		return ut_err_set(err, -EINVAL, "a note of this size is not kept");
	note_file_forget(n, a->note.id);
	if (a->gone)
		return 0;
	if (n->count >= NOTES_MOST)
		return ut_err_set(err, -EINVAL, "there are %u notes, which is enough", NOTES_MOST);
	n->items = ut_grow(n->items, n->count + 1, &n->cap, sizeof(*n->items));
	n->items[n->count++] = (struct note){ a->note.id, a->note.text, a->note.t0, a->note.t1 };
	return 0;
}

/* Views that follow each other have the same file. */
static pthread_mutex_t note_lock = PTHREAD_MUTEX_INITIALIZER;

int ut_answer_notes(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		    struct ut_err *err)
{
	struct notes n = { 0 };
	int rc;

	(void)a;
	pthread_mutex_lock(&note_lock);
	rc = v->notes ? read_notes(v->notes, &n, err) : 0;
	pthread_mutex_unlock(&note_lock);
	put_notes(&n, "", out);
	free(n.items);
	ut_arena_release(&n.arena);
	return rc;
}

int ut_answer_note(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err)
{
	struct notes n = { 0 };
	int rc;

	if (!v->notes)
		return ut_err_set(err, -EINVAL, "there is no place to keep notes of this trace");
	pthread_mutex_lock(&note_lock);
	rc = read_notes(v->notes, &n, err);
	if (!rc)
		rc = change(&n, a, err);
	if (!rc)
		rc = write_notes(v->notes, &n, err);
	pthread_mutex_unlock(&note_lock);
	put_notes(&n, "", out);
	free(n.items);
	ut_arena_release(&n.arena);
	return rc;
}
