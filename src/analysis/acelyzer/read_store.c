#include "acelyzer/read_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/event_arg.h"
#include "base/grow.h"
#include "base/str.h"
#include "export/exporter.h"
#include "import/importer.h"
#include "model/event.h"
#include "text/out.h"
#include "text/shortest.h"

/* A store on its way into a table. */
struct copy {
	struct ut_ace_table *t;
	const struct ut_store *s;
	uint32_t *strings; /* ids of the store's strings in the table + 1; 0 = not copied yet */
	struct ut_arg *args;
	size_t arg_cap;
};

static uint32_t copy_string(struct copy *c, uint32_t id)
{
	struct ut_str s;

	if (id > c->s->trace.strings.count)
		return 0;
	if (!c->strings[id]) {
		s = ut_strtab_get(&c->s->trace.strings, id);
		c->strings[id] = ut_strtab_intern(&c->t->strings, s.ptr, s.len) + 1;
	}
	return c->strings[id] - 1;
}

static struct ut_arg read_store_text_of(struct copy *c, struct ut_arg a)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, a.value.u64);
	a.type = UT_ARG_STR;
	a.value.str = ut_strtab_intern_z(&c->t->strings, text);
	return a;
}

static uint32_t copy_args(struct copy *c, uint32_t list)
{
	size_t n = list ? ut_arglists_get(&c->s->args, list, NULL, 0) : 0, kept = 0;

	if (!n)
		return 0;
	c->args = ut_grow(c->args, n, &c->arg_cap, sizeof(*c->args));
	ut_arglists_get(&c->s->args, list, c->args, n);
	for (size_t i = 0; i < n; i++) {
		struct ut_arg a = c->args[i];

		/* of an array the first element: nothing here looks into arrays */
		if (a.flags & UT_ARG_ARRAY && i && c->args[i - 1].key == a.key)
			continue;
		a.key = copy_string(c, a.key);
		if (a.flags & UT_ARG_TEXT)
			a = read_store_text_of(c, a);
		else if (a.type == UT_ARG_STR || a.type == UT_ARG_JSON)
			a.value.str = copy_string(c, a.value.str);
		a.flags = 0;
		c->args[kept++] = a;
	}
	return ut_arglists_add(&c->t->lists, c->args, kept);
}

/* "python 4711": name and number, as the reference shows processes and threads of such files. */
static uint32_t named_id(struct copy *c, uint32_t name, uint64_t number)
{
	struct ut_str s = ut_strtab_get(&c->s->trace.strings, name);
	struct ut_ace_id id = { .kind = UT_ACE_ID_STR };
	struct ut_buf b = { 0 };

	ut_buf_fmt(&b, "%s %" PRIu64, s.len ? s.ptr : "None", number);
	id.str = ut_strtab_intern(&c->t->strings, b.data, b.len);
	ut_buf_release(&b);
	return ut_ace_id_add(c->t, &id);
}

static double read_store_value_of(const struct ut_event *e)
{
	double v;

	if (e->flags & UT_EV_DOUBLE) {
		memcpy(&v, &e->val, sizeof(v));
		return v;
	}
	return e->flags & UT_EV_SIGNED ? (double)(int64_t)e->val : (double)e->val;
}

static void copy_event(struct copy *c, const struct ut_event *from, uint32_t pid, uint32_t tid)
{
	struct ut_arg value;
	struct ut_ace_event *e;

	if (from->kind != UT_KIND_SPAN && from->kind != UT_KIND_COUNTER)
		return;
	e = ut_ace_event_add(c->t);
	e->ts = (double)from->ts / 1000;
	e->pid = pid;
	e->tid = tid;
	e->name = copy_string(c, from->name);
	e->flags = UT_ACE_HAS_ARGS;
	if (from->kind == UT_KIND_COUNTER) {
		e->ph = 'C';
		value = ut_ace_num_arg(ut_strtab_intern_z(&c->t->strings, "value"),
				       read_store_value_of(from));
		e->args = ut_arglists_add(&c->t->lists, &value, 1);
		return;
	}
	e->ph = 'X';
	e->dur = (double)from->val / 1000;
	e->flags |= UT_ACE_HAS_DUR | UT_ACE_HAS_JOB;
	if (from->cat) {
		e->cat = copy_string(c, from->cat);
		e->flags |= UT_ACE_HAS_CAT;
	}
	e->args = copy_args(c, from->args);
}

static void copy_track(struct copy *c, uint32_t track)
{
	const struct ut_track *t = &c->s->trace.tracks[track];
	const struct ut_process *p = &c->s->trace.processes[t->process];
	const struct ut_rows *rows = &c->s->rows[track];
	uint32_t pid = named_id(c, p->name, p->pid), tid = named_id(c, t->name, t->id);

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			struct ut_event e = ut_block_event(c->s, track, block, i);

			copy_event(c, &e, pid, tid);
		}
	}
}

/* Does the trace come from Chrome's JSON? Its importer tells whose dialect that was. */
static bool was_json(const struct ut_trace *t)
{
	for (const struct ut_arg *a = &t->args[t->file_args]; a->type != UT_ARG_END; a++) {
		if (a->type == UT_ARG_STR &&
		    !strcmp(ut_strtab_get(&t->strings, a->key).ptr, "dialect"))
			return true;
	}
	return false;
}

static int read_as_json(struct ut_ace_part *part, const char *path, struct ut_store *store,
			enum ut_ace_release release, struct ut_err *err)
{
	struct ut_out *o = ut_out_open_memory();
	struct ut_sink *sink = ut_export_chrome.open(o);
	const char *text;
	size_t len;
	int rc;

	ut_store_send(store, 0, sink);
	ut_export_chrome.end_trace(sink, &store->trace);
	ut_export_chrome.close(sink);
	text = ut_out_data(o, &len);
	ut_ace_part_release(part);
	rc = ut_ace_read_text(part, path, text, len, release, err);
	ut_out_abandon(o);
	return rc;
}

int ut_ace_read_store(struct ut_ace_part *part, const char *path, enum ut_ace_release release,
		      struct ut_err *err)
{
	struct ut_store store;
	struct copy c = { .t = &part->table, .s = &store };
	int rc = ut_import(path, NULL, &store, err);

	if (rc)
		return rc;
	if (was_json(&store.trace)) {
		rc = read_as_json(part, path, &store, release, err);
		ut_store_release(&store);
		return rc;
	}
	part->dialect = UT_ACE_TORCH;
	c.strings = ut_make(((size_t)store.trace.strings.count + 1) * sizeof(*c.strings));
	for (size_t i = 0; i < store.trace.track_count; i++) {
		if (store.trace.tracks[i].process < store.trace.process_count)
			copy_track(&c, (uint32_t)i);
	}
	free(c.strings);
	free(c.args);
	ut_store_release(&store);
	return 0;
}
